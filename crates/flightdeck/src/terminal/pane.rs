//! Finds a session's tmux pane and checks that the session's process is in it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::refusal::RefusalReason;
use super::tmux::{Tmux, TmuxError};
use crate::process;

/// The pane and process of a session, as the hooks reported them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaneAddress {
    /// The tmux server's socket.
    pub server: PathBuf,
    /// `%5`
    pub pane: String,
    pub pid: u32,
    /// Tells the process from a later one with the same pid.
    pub proc_start: Option<String>,
}

/// The tmux session and window of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// `$1`
    pub session: String,
    /// `@3`
    pub window: String,
}

/// Processes between a pane and the client in it: `sh -c`, `env`, a wrapper, a debugger.
const ANCESTORS_MAX: usize = 64;

const FORMAT: &str = "#{pane_id},#{session_id},#{window_id},#{pane_pid},#{pane_dead},#{pane_in_mode},#{pane_input_off},#{pane_synchronized}";

/// Finds the pane and checks that it is the session's.
pub async fn find(tmux: &impl Tmux, place: &PaneAddress) -> Result<Pane, RefusalReason> {
    Ok(inspect(tmux, place).await?.0)
}

/// Like [`find`], and checks that typed keys reach this session only.
pub async fn find_for_typing(tmux: &impl Tmux, place: &PaneAddress) -> Result<Pane, RefusalReason> {
    let (pane, flags) = inspect(tmux, place).await?;
    let name = || place.pane.clone();
    // Suspended (Ctrl-Z) or behind an editor: another program reads the keys.
    if process::stat(place.pid).is_some_and(|client| !client.in_front) {
        return Err(RefusalReason::Suspended { pane: name() });
    }
    match flags {
        PaneFlags { in_mode: true, .. } => Err(RefusalReason::PaneInMode { pane: name() }),
        PaneFlags { input_off: true, .. } => Err(RefusalReason::PaneDeaf { pane: name() }),
        PaneFlags { synchronized: true, .. } => Err(RefusalReason::PaneSynchronized { pane: name() }),
        _ => Ok(pane),
    }
}

/// What the pane shows: its rows without control characters, without blanks at their ends and without empty rows at the end.
pub async fn rows(tmux: &impl Tmux, place: &PaneAddress) -> Result<Vec<String>, RefusalReason> {
    find(tmux, place).await?;
    let capture = tmux.call(&place.server, &["capture-pane", "-p", "-t", &place.pane], None).await?;
    let row = |row: &str| flightdeck_core::text::without_controls(row).trim_end().to_owned();
    Ok(capture.trim_end().lines().map(row).collect())
}

struct PaneFlags {
    in_mode: bool,
    input_off: bool,
    synchronized: bool,
}

async fn inspect(tmux: &impl Tmux, place: &PaneAddress) -> Result<(Pane, PaneFlags), RefusalReason> {
    check_own_socket(&place.server)?;
    let name = || place.pane.clone();
    // tmux would search for anything but an id among names.
    if !place.pane.strip_prefix('%').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        return Err(RefusalReason::PaneGone { pane: name(), said: "that is not a pane id".into() });
    }
    let args = ["display-message", "-p", "-t", &place.pane, FORMAT];
    let line = match tmux.call(&place.server, &args, None).await {
        Err(TmuxError::Failed(said)) => return Err(RefusalReason::PaneGone { pane: name(), said }),
        answer => answer?,
    };
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    let [id, session, window, pid, dead, in_mode, input_off, synchronized] = fields.as_slice() else {
        return Err(RefusalReason::PaneGone { pane: name(), said: "tmux printed nothing about it".into() });
    };
    // An older tmux describes another pane if it does not find this one.
    if *id != place.pane {
        return Err(RefusalReason::PaneGone { pane: name(), said: "tmux does not know it".into() });
    }
    // An unset flag is `0` or empty.
    let is_set = |flag: &str| !matches!(flag, "" | "0");
    if is_set(dead) {
        return Err(RefusalReason::PaneDead { pane: name() });
    }
    check_contains_process(pid.parse().ok(), place)?;
    let flags = PaneFlags {
        in_mode: is_set(in_mode),
        input_off: is_set(input_off),
        synchronized: is_set(synchronized),
    };
    Ok((Pane { session: (*session).to_owned(), window: (*window).to_owned() }, flags))
}

/// A hook payload can name any socket, so only sockets of this user are used.
pub(crate) fn check_own_socket(path: &Path) -> Result<(), RefusalReason> {
    let foreign = || RefusalReason::ForeignSocket(path.display().to_string());
    let meta = std::fs::metadata(path).map_err(|_| foreign())?;
    let ours = meta.uid() == rustix::process::geteuid().as_raw() && meta.file_type().is_socket();
    if ours { Ok(()) } else { Err(foreign()) }
}

/// Checks that the pane's first process is the session's process or an ancestor of it.
fn check_contains_process(pane_pid: Option<u32>, place: &PaneAddress) -> Result<(), RefusalReason> {
    let elsewhere = || RefusalReason::NotInPane { pane: place.pane.clone(), pid: place.pid };
    let pane_pid = pane_pid.ok_or_else(elsewhere)?;
    check_process_runs(place)?;
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

fn check_process_runs(place: &PaneAddress) -> Result<(), RefusalReason> {
    let gone = || RefusalReason::ProcessGone { pid: place.pid };
    match (&place.proc_start, process::start_time(place.pid)) {
        (Some(then), Some(now)) if *then == now => Ok(()),
        // Without start times only the pid can be compared.
        (_, None) if cfg!(not(target_os = "linux")) && process::exists(place.pid) => Ok(()),
        _ => Err(gone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::fake_tmux::{FakeTmux, pane_of_this_process};

    async fn found(answer: &str) -> String {
        let tmux = FakeTmux::new();
        tmux.answer("display-message", answer);
        match find_for_typing(&tmux, &pane_of_this_process(&tmux)).await {
            Ok(pane) => format!("{} {}", pane.session, pane.window),
            Err(refused) => refused.code().as_str().to_owned(),
        }
    }

    #[tokio::test]
    async fn a_pane_belongs_to_the_session_if_its_process_is_in_it() {
        let me = std::process::id();
        assert_eq!(found(&format!("%5,$1,@3,{me},0,0,0,0\n")).await, "$1 @3");
        // The parent runs in the pane, as a shell does around the client.
        let parent = process::parent(me).unwrap();
        assert_eq!(found(&format!("%5,$1,@3,{parent},,0,,0\n")).await, "$1 @3");
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(found(&format!("%5,$1,@3,{},0,0,0,0\n", other.id())).await, "not_in_pane");
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[tokio::test]
    async fn a_pane_that_is_dead_or_does_not_get_keys_alone_is_refused() {
        let me = std::process::id();
        for (flags, code) in [
            ("1,0,0,0", "pane_gone"),
            ("0,1,0,0", "pane_not_free"),
            ("0,0,1,0", "pane_not_free"),
            ("0,0,0,1", "pane_not_free"),
        ] {
            assert_eq!(found(&format!("%5,$1,@3,{me},{flags}\n")).await, code, "{flags}");
        }
        assert_eq!(found(&format!("%6,$1,@3,{me},0,0,0,0\n")).await, "pane_gone");
        assert_eq!(found("").await, "pane_gone");
    }

    #[tokio::test]
    async fn a_reused_pid_is_not_the_session() {
        let tmux = FakeTmux::new();
        tmux.answer("display-message", &format!("%5,$1,@3,{},0,0,0,0\n", std::process::id()));
        let place = PaneAddress { proc_start: Some("1".into()), ..pane_of_this_process(&tmux) };
        assert_eq!(find(&tmux, &place).await.unwrap_err().code().as_str(), "not_in_pane");
    }

    #[tokio::test]
    async fn only_pane_ids_and_sockets_of_this_user_are_used() {
        let tmux = FakeTmux::new();
        for pane in ["", "%", "5", "%5;kill-server", "-t", "main:1"] {
            let place = PaneAddress { pane: pane.into(), ..pane_of_this_process(&tmux) };
            assert_eq!(find(&tmux, &place).await.unwrap_err().code().as_str(), "pane_gone", "{pane}");
        }
        for server in ["/nowhere", "/dev/null", "/tmp"] {
            let place = PaneAddress { server: server.into(), ..pane_of_this_process(&tmux) };
            assert_eq!(find(&tmux, &place).await.unwrap_err().code().as_str(), "tmux", "{server}");
        }
        assert_eq!(tmux.calls(), Vec::<String>::new());
    }
}
