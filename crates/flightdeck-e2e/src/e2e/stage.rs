//! Everything one scenario needs: a lab with the client, a board, and the comparison after each step.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, Tui, wait_for};
use flightdeck_sim::model_api::SeenRequest;
use flightdeck_sim::screen::Screen;
use serde_json::json;

use super::board::{Board, DaemonBoard, Recorder, SessionView};
use super::tally::ScenarioTally;

/// The board must agree within this time: hooks are processes, some are async, and the machine may be busy.
pub(super) const AGREE: Duration = Duration::from_secs(20);
/// The board must still agree after this time: a late hook must not undo it.
pub(super) const STAY: Duration = Duration::from_millis(500);
/// A dialog ignores keys for about 0.15 s after it is drawn; longer on a busy machine.
pub(super) const DEAF: Duration = Duration::from_millis(800);
/// An accepted key changes the screen within this time.
const TAKEN: Duration = Duration::from_secs(15);
/// How often a dialog may ignore the same key.
const SWALLOWED_MAX: usize = 4;
/// The client has drawn its screen within this time, on a busy machine too.
pub(super) const DRAWN: Duration = Duration::from_secs(20);
/// A client that resumes a session has drawn it within this time.
const RESUMED: Duration = Duration::from_secs(40);
/// A sent prompt becomes a request to the model within this time.
const REQUEST: Duration = Duration::from_secs(20);

/// What a scenario needs before its first step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// The name of the scenario.
    pub(super) scenario: &'static str,
    /// Bash, Read and Agent run without asking.
    pub(super) allow_tools: bool,
    /// Hooks are installed before the client starts.
    pub(super) hooks_first: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StageOptions {
    pub(super) keep: bool,
    /// Each attempt has its own folder: the first one is kept for inspection.
    pub(super) attempt: usize,
}

/// What observes the sessions.
#[derive(Clone, Debug)]
pub(super) enum Watcher {
    /// Our daemon; the path of its binary.
    Daemon(PathBuf),
    /// A recorder that registers these hooks.
    Recorder(Vec<String>),
}

pub(super) struct Stage {
    pub(super) lab: Lab,
    pub(super) board: Box<dyn Board>,
    keep: bool,
    pub(super) tally: ScenarioTally,
    steps: usize,
}

/// A terminal and the session last read from it.
pub(super) struct ClientSeat {
    pub(super) tui: Tui,
    session: RefCell<Option<String>>,
    /// What a key would have changed when the screen was last read, and when that was.
    last_read: RefCell<Option<(String, Instant)>>,
}

impl ClientSeat {
    /// How long its dialog has been on the screen at least.
    fn drawn_for(&self) -> Result<Duration> {
        let now = self.tui.below_output()?;
        let last = self.last_read.borrow();
        let same = last.as_ref().filter(|(before, _)| *before == now);
        Ok(same.map_or(Duration::ZERO, |(_, at)| at.elapsed()))
    }

    pub(super) fn note_read(&self) {
        // A terminal that was closed has no screen.
        let shown = self.tui.below_output().ok();
        *self.last_read.borrow_mut() = shown.map(|shown| (shown, Instant::now()));
    }
}

/// A short path, because sockets live below it.
fn folder(scenario: &str, attempt: usize) -> PathBuf {
    let mut name = format!("fd-e2e-{}-{scenario}", std::process::id());
    if attempt > 1 {
        name += &format!("-{attempt}");
    }
    std::env::temp_dir().join(name)
}

impl Stage {
    pub(super) fn new(
        setup: &Setup,
        options: &StageOptions,
        client: &Path,
        watcher: &Watcher,
    ) -> Result<Self> {
        let dir = folder(setup.scenario, options.attempt);
        Self::begin(&dir, setup, options, client, watcher)
            .with_context(|| format!("it could not begin in {}", dir.display()))
    }

    fn begin(
        dir: &Path,
        setup: &Setup,
        options: &StageOptions,
        client: &Path,
        watcher: &Watcher,
    ) -> Result<Self> {
        let lab = Lab::new(dir, client)?;
        if setup.allow_tools {
            lab.write_settings(&json!({"permissions": {"allow": ["Bash", "Read", "Agent"]}}))?;
        }
        let board: Box<dyn Board> = match watcher {
            Watcher::Daemon(binary) => Box::new(DaemonBoard::start(&lab, binary)?),
            Watcher::Recorder(hooks) => Box::new(Recorder { hooks: hooks.clone() }),
        };
        let stage = Self { lab, board, keep: options.keep, tally: ScenarioTally::default(), steps: 0 };
        if setup.hooks_first {
            stage.install_hooks()?;
        }
        Ok(stage)
    }

    pub(super) fn install_hooks(&self) -> Result<()> {
        self.board.install_hooks(&self.lab)
    }

    /// Restarts the daemon with this `config.toml` and installs the hooks again.
    pub(super) fn configure(&mut self, config: &str) -> Result<()> {
        fs::write(self.lab.flightdeck_home().join("config.toml"), config)?;
        self.restart()?;
        self.install_hooks()
    }

    pub(super) fn binary(&self) -> Option<&Path> {
        self.board.binary()
    }

    pub(super) fn kill_daemon(&mut self) -> Result<()> {
        self.board.kill()
    }

    /// Sends a signal (`STOP`, `CONT`) to the daemon.
    pub(super) fn signal_daemon(&self, signal: &str) -> Result<()> {
        self.board.signal(signal)
    }

    pub(super) fn restart(&mut self) -> Result<()> {
        self.board.restart(&self.lab)
    }

    /// Runs `flightdeck` with these arguments, as a person would in another terminal; returns its output.
    pub(super) fn run(&self, words: &[&str]) -> Result<String> {
        self.board.run(&self.lab, words)
    }

    /// `flightdeck tui` in a terminal of its own.
    pub(super) fn open_deck(&self) -> Result<Tui> {
        let binary = self.board.binary().context("a recorder has no TUI")?;
        self.lab.terminal("deck", binary, &["tui"])
    }

    /// The path of our own program.
    pub(super) fn program(&self) -> Result<String> {
        let binary = self.board.binary().context("a recorder has no program")?;
        Ok(binary.display().to_string())
    }

    /// Several terminals, started at the same time.
    pub(super) fn open_all<const N: usize>(&self, names: [&str; N]) -> Result<[ClientSeat; N]> {
        let started: Vec<Tui> = names
            .iter()
            .map(|name| self.lab.tui(name, &["--permission-mode", "default"], &[]))
            .collect::<Result<_>>()?;
        let seats: Vec<ClientSeat> = started.into_iter().map(|tui| self.ready(tui)).collect::<Result<_>>()?;
        seats.try_into().map_err(|_| anyhow::anyhow!("a terminal is missing"))
    }

    /// An interactive client that asks before it runs a tool.
    pub(super) fn open(&self, name: &str) -> Result<ClientSeat> {
        self.open_with(name, &["--permission-mode", "default"], &[])
    }

    pub(super) fn open_with(&self, name: &str, args: &[&str], env: &[(&str, &str)]) -> Result<ClientSeat> {
        self.ready(self.lab.tui(name, args, env)?)
    }

    fn ready(&self, tui: Tui) -> Result<ClientSeat> {
        tui.wait_ready()?;
        self.seated(tui)
    }

    /// The same client on a second tmux server.
    pub(super) fn open_on_second_server(&self, name: &str) -> Result<ClientSeat> {
        let tui = self.lab.tui_on_second_server(name, &["--permission-mode", "default"], &[])?;
        tui.wait_ready()?;
        self.seated(tui)
    }

    /// Resumes a session that another client holds. If that one is in the middle of a turn, this one shows the turn as
    /// interrupted.
    pub(super) fn open_beside(&self, name: &str, id: &str) -> Result<ClientSeat> {
        self.open_resumed(name, &["--permission-mode", "default", "--resume", id])
    }

    /// A client that resumes or forks a session. It may show the last turn of that session as interrupted.
    pub(super) fn open_resumed(&self, name: &str, args: &[&str]) -> Result<ClientSeat> {
        let tui = self.lab.tui(name, args, &[])?;
        let is_ready = |s: &Screen| matches!(s, Screen::Idle | Screen::Interrupted);
        tui.wait_screen("the prompt box", RESUMED, is_ready)?;
        self.seated(tui)
    }

    fn seated(&self, tui: Tui) -> Result<ClientSeat> {
        let seat = ClientSeat { tui, session: RefCell::new(None), last_read: RefCell::new(None) };
        wait_for("the session in the client's registry", REQUEST, || Ok(self.session(&seat).map(drop)))?;
        Ok(seat)
    }

    /// The session in that terminal, from the client's registry; the last known one once the entry is gone.
    pub(super) fn session(&self, seat: &ClientSeat) -> Option<String> {
        let mut entries = self.lab.registry_entries().into_iter();
        let own = entries.find(|entry| entry["pid"] == seat.tui.pid());
        let now = own.and_then(|entry| entry["sessionId"].as_str().map(str::to_owned));
        let mut known = seat.session.borrow_mut();
        *known = now.or_else(|| known.take());
        known.clone()
    }

    /// What the client in that terminal says of itself in its registry: busy, idle or another word.
    pub(super) fn status(&self, seat: &ClientSeat) -> Option<String> {
        let entries = self.lab.registry_entries();
        let own = entries.iter().find(|entry| entry["pid"] == seat.tui.pid())?;
        own["status"].as_str().map(str::to_owned)
    }

    /// Sends a prompt and waits for the request to the model, so that later events belong to this turn.
    pub(super) fn prompt(&self, seat: &ClientSeat, text: &str) -> Result<()> {
        // Keys typed into a dialog that is about to close are lost.
        let has_box =
            |s: &Screen| matches!(s, Screen::Idle | Screen::Interrupted | Screen::Error | Screen::Background);
        seat.tui.wait_screen("the prompt box", DRAWN, has_box)?;
        // Between a dialog and the call that it allows, the screen may look as if the turn had ended.
        let is_over = || Ok((self.status(seat).as_deref() != Some("busy")).then_some(()));
        wait_for("the end of the turn in the client's registry", DRAWN, is_over)?;
        let before = self.requests(seat, text);
        seat.tui.submit(text)?;
        let sent = || Ok((self.requests(seat, text) > before).then_some(()));
        wait_for(&format!("a request for {text:?}"), REQUEST, sent)
    }

    /// Lets a waiting script continue.
    pub(super) fn go(&self) -> Result<()> {
        Ok(fs::write(self.lab.cwd().join("go"), "")?)
    }

    /// Answers a dialog. The client ignores keys just after it opened a dialog and does not show when that ends, so the keys
    /// are pressed again while the dialog stays the same. A spinner that turns above it is no sign that a key was taken.
    pub(super) fn answer(&self, seat: &ClientSeat, keys: &[&str]) -> Result<()> {
        std::thread::sleep(DEAF.saturating_sub(seat.drawn_for()?));
        for _ in 0..SWALLOWED_MAX {
            let before = seat.tui.below_output()?;
            seat.tui.press(keys)?;
            let changed = || Ok((seat.tui.below_output()? != before).then_some(()));
            if wait_for("the screen to change", TAKEN, changed).is_ok() {
                return Ok(());
            }
            println!("  {keys:?} were ignored; once more");
        }
        bail!("{keys:?} change nothing on the screen:\n{}", seat.tui.capture()?)
    }

    /// Requests of the conversation in that terminal. Those of others do not count.
    fn requests(&self, seat: &ClientSeat, prompt: &str) -> usize {
        let session = self.session(seat);
        // A request with the prompt in it counts in any case: the first request of a fork has another id.
        let is_told = |r: &SeenRequest| String::from_utf8_lossy(&r.body).contains(prompt);
        let own = |r: &SeenRequest| r.tools > 0 && (Some(&r.session_id) == session.as_ref() || is_told(r));
        self.lab.api().seen().iter().filter(|r| own(r)).count()
    }

    pub(super) fn view(&self, id: &str) -> Result<Option<SessionView>> {
        Ok(self.board.sessions()?.into_iter().flatten().find(|s| s.id == id))
    }

    pub(super) fn keep_screen(&mut self, seat: &ClientSeat, step: &str) {
        self.steps += 1;
        self.keep_registry();
        let name: String = step.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let folder = self.lab.dir().join("screens");
        let text = seat.tui.capture().unwrap_or_default();
        // Best effort: only useful to a person who keeps the lab.
        let _ = fs::create_dir_all(&folder);
        let _ = fs::write(folder.join(format!("{:02}-{}-{name}.txt", self.steps, seat.tui.name())), text);
    }

    /// Copies the registry: the client removes its entry when it exits.
    pub(super) fn keep_registry(&self) {
        let folder = self.lab.dir().join("registry");
        // Only for the person who reads the run later: a missing copy fails no scenario.
        let _ = fs::create_dir_all(&folder);
        for (id, entry) in self.lab.registry() {
            let _ = fs::write(folder.join(format!("{:02}-{id}.json", self.steps)), entry.to_string());
        }
    }

    /// Stops everything. The lab is deleted unless it is to be kept or the scenario failed.
    pub(super) fn close(self, played: Result<()>) -> Result<ScenarioTally> {
        let Self { lab, board, keep, tally, .. } = self;
        let dir = lab.dir().to_owned();
        drop(lab);
        drop(board);
        if keep || played.is_err() {
            println!("  kept in {}", dir.display());
        } else {
            // A hook that outlived its client may still be spooling its event.
            wait_for(&format!("{} to go", dir.display()), DRAWN, || Ok(fs::remove_dir_all(&dir).ok()))?;
        }
        played.map(|()| ScenarioTally { passed: 1, ..tally })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_try_keeps_the_folder_of_the_first() {
        assert_ne!(folder("turn", 1), folder("turn", 2));
    }
}
