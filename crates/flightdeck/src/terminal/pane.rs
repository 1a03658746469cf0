//! Finds a session's pane and makes sure that it is the session's.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::refused::Refused;
use super::tmux::{Tmux, TmuxError};
use crate::process;

/// Where a session sits: everything the hooks told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The tmux server's socket.
    pub server: PathBuf,
    /// `%5`
    pub pane: String,
    pub pid: u32,
    /// Without it a process cannot be told from a later one with its number.
    pub proc_start: Option<String>,
}

/// Where the pane is among the windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// `$1`
    pub session: String,
    /// `@3`
    pub window: String,
}

/// Shells between a pane and the client in it: `sh -c`, `env`, a wrapper, a debugger.
const ANCESTORS_MAX: usize = 64;

const FORMAT: &str = "#{pane_id},#{session_id},#{window_id},#{pane_pid},#{pane_dead},#{pane_in_mode},#{pane_input_off},#{pane_synchronized}";

/// The pane, if it is the session's.
pub async fn find(tmux: &impl Tmux, place: &Place) -> Result<Pane, Refused> {
    Ok(look(tmux, place).await?.0)
}

/// The pane, if it is the session's and what is typed there reaches the session and nobody else.
pub async fn find_free(tmux: &impl Tmux, place: &Place) -> Result<Pane, Refused> {
    let (pane, says) = look(tmux, place).await?;
    let name = || place.pane.clone();
    // Suspended (Ctrl-Z), or behind an editor: its pane belongs to somebody else for now.
    if process::stat(place.pid).is_some_and(|client| !client.in_front) {
        return Err(Refused::Suspended { pane: name() });
    }
    match says {
        Says { in_mode: true, .. } => Err(Refused::PaneInMode { pane: name() }),
        Says { input_off: true, .. } => Err(Refused::PaneDeaf { pane: name() }),
        Says { synchronized: true, .. } => Err(Refused::PaneSynchronized { pane: name() }),
        _ => Ok(pane),
    }
}

struct Says {
    in_mode: bool,
    input_off: bool,
    synchronized: bool,
}

async fn look(tmux: &impl Tmux, place: &Place) -> Result<(Pane, Says), Refused> {
    is_our_socket(&place.server)?;
    let name = || place.pane.clone();
    // Anything but an id would be searched for among names.
    if !place.pane.strip_prefix('%').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        return Err(Refused::PaneGone { pane: name(), said: "that is no pane id".into() });
    }
    let args = ["display-message", "-p", "-t", &place.pane, FORMAT];
    let line = match tmux.call(&place.server, &args, None).await {
        Err(TmuxError::Said(said)) => return Err(Refused::PaneGone { pane: name(), said }),
        answer => answer?,
    };
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    let [id, session, window, pid, dead, in_mode, input_off, synchronized] = fields.as_slice() else {
        return Err(Refused::PaneGone { pane: name(), said: "tmux told nothing about it".into() });
    };
    // An older tmux answers for another pane where it does not find this one.
    if *id != place.pane {
        return Err(Refused::PaneGone { pane: name(), said: "tmux does not know it".into() });
    }
    // A flag that is not set is `0` or empty.
    let is_set = |flag: &str| !matches!(flag, "" | "0");
    if is_set(dead) {
        return Err(Refused::PaneDead { pane: name() });
    }
    holds(pid.parse().ok(), place)?;
    let says =
        Says { in_mode: is_set(in_mode), input_off: is_set(input_off), synchronized: is_set(synchronized) };
    Ok((Pane { session: (*session).to_owned(), window: (*window).to_owned() }, says))
}

/// Whoever may write hooks could name any socket; only one of the person's own is spoken to.
fn is_our_socket(path: &Path) -> Result<(), Refused> {
    let foreign = || Refused::ForeignSocket(path.display().to_string());
    let meta = std::fs::metadata(path).map_err(|_| foreign())?;
    let ours = meta.uid() == rustix::process::geteuid().as_raw() && meta.file_type().is_socket();
    if ours { Ok(()) } else { Err(foreign()) }
}

/// The pane's first process is the session's own or an ancestor of it.
fn holds(pane_pid: Option<u32>, place: &Place) -> Result<(), Refused> {
    let elsewhere = || Refused::NotInPane { pane: place.pane.clone(), pid: place.pid };
    let pane_pid = pane_pid.ok_or_else(elsewhere)?;
    alive(place)?;
    let mut pid = place.pid;
    for _ in 0..ANCESTORS_MAX {
        if pid == pane_pid {
            return Ok(());
        }
        match process::parent(pid) {
            Some(parent) if parent > 1 => pid = parent,
            _ => break,
        }
    }
    Err(elsewhere())
}

fn alive(place: &Place) -> Result<(), Refused> {
    let gone = || Refused::ProcessGone { pid: place.pid };
    match (&place.proc_start, process::start_time(place.pid)) {
        (Some(then), Some(now)) if *then == now => Ok(()),
        // Where the kernel does not tell, the number is all there is.
        (_, None) if cfg!(not(target_os = "linux")) && process::exists(place.pid) => Ok(()),
        _ => Err(gone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::fake::{FakeTmux, place};

    async fn looked(answer: &str) -> String {
        let tmux = FakeTmux::new();
        tmux.answer("display-message", answer);
        match find_free(&tmux, &place(&tmux)).await {
            Ok(pane) => format!("{} {}", pane.session, pane.window),
            Err(refused) => refused.code().to_owned(),
        }
    }

    #[tokio::test]
    async fn a_pane_is_the_sessions_if_its_process_is_there() {
        let me = std::process::id();
        assert_eq!(looked(&format!("%5,$1,@3,{me},0,0,0,0\n")).await, "$1 @3");
        // Its parent runs in the pane: the client below a shell.
        let parent = process::parent(me).unwrap();
        assert_eq!(looked(&format!("%5,$1,@3,{parent},,0,,0\n")).await, "$1 @3");
        let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(looked(&format!("%5,$1,@3,{},0,0,0,0\n", stranger.id())).await, "not_in_pane");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }

    #[tokio::test]
    async fn a_pane_that_would_not_take_keys_alone_is_refused() {
        let me = std::process::id();
        for (flags, code) in [
            ("1,0,0,0", "pane_gone"),
            ("0,1,0,0", "pane_not_free"),
            ("0,0,1,0", "pane_not_free"),
            ("0,0,0,1", "pane_not_free"),
        ] {
            assert_eq!(looked(&format!("%5,$1,@3,{me},{flags}\n")).await, code, "{flags}");
        }
        assert_eq!(looked(&format!("%6,$1,@3,{me},0,0,0,0\n")).await, "pane_gone");
        assert_eq!(looked("").await, "pane_gone");
    }

    #[tokio::test]
    async fn a_reused_number_is_not_the_session() {
        let tmux = FakeTmux::new();
        tmux.answer("display-message", &format!("%5,$1,@3,{},0,0,0,0\n", std::process::id()));
        let place = Place { proc_start: Some("1".into()), ..place(&tmux) };
        assert_eq!(find(&tmux, &place).await.unwrap_err().code(), "not_in_pane");
    }

    #[tokio::test]
    async fn only_an_id_is_looked_for_and_only_on_a_socket_of_ours() {
        let tmux = FakeTmux::new();
        for pane in ["", "%", "5", "%5;kill-server", "-t", "main:1"] {
            let place = Place { pane: pane.into(), ..place(&tmux) };
            assert_eq!(find(&tmux, &place).await.unwrap_err().code(), "pane_gone", "{pane}");
        }
        for server in ["/nowhere", "/dev/null", "/tmp"] {
            let place = Place { server: server.into(), ..place(&tmux) };
            assert_eq!(find(&tmux, &place).await.unwrap_err().code(), "tmux", "{server}");
        }
        assert_eq!(tmux.calls(), Vec::<String>::new());
    }
}
