//! Everything one scenario needs: a lab with the client, a board, and the comparison after each step.

use std::cell::RefCell;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, Tui, wait_for};
use flightdeck_sim::model_api::Seen;
use flightdeck_sim::screen::Screen;
use serde_json::{Value, json};

use super::board::{Board, DaemonBoard, Recorder, SessionView};
use super::expect::{Expect, ask_differs};

/// The board must agree within this time: hooks are processes, some are async, and the machine may be busy.
pub(super) const AGREE: Duration = Duration::from_secs(20);
/// The board must still agree after this time: a late hook must not undo it.
const STAY: Duration = Duration::from_millis(500);
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

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) screens: usize,
    pub(super) boards: usize,
    /// Board checks that were skipped because a recorder has no board.
    pub(super) unjudged: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.screens += other.screens;
        self.boards += other.boards;
        self.unjudged += other.unjudged;
    }
}

impl Tally {
    /// Reads the tally that another process printed.
    pub(super) fn read(text: &str) -> Option<Self> {
        let line = text.lines().rev().find(|line| line.contains("scenarios passed"))?;
        let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        let mut number = || numbers.next();
        Some(Self {
            passed: number()?,
            failed: number()?,
            screens: number()?,
            boards: number()?,
            unjudged: 0,
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} scenarios passed, {} failed; ", self.passed, self.failed)?;
        write!(f, "{} screens read as expected, {} boards agreed", self.screens, self.boards)?;
        if self.unjudged > 0 {
            write!(f, "\nSKIPPED {} board checks: a recorder stands in for the daemon", self.unjudged)?;
        }
        Ok(())
    }
}

/// What a scenario needs before its first step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// Its name.
    pub(super) scenario: &'static str,
    /// Bash, Read and Agent run without asking.
    pub(super) allow_tools: bool,
    /// Hooks are installed before the client starts.
    pub(super) hooks_first: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
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
    board: Box<dyn Board>,
    keep: bool,
    tally: Tally,
    steps: usize,
}

/// A terminal and the session last read from it.
pub(super) struct Seat {
    pub(super) tui: Tui,
    session: RefCell<Option<String>>,
    /// What a key would have changed when the screen was last read, and when that was.
    last_read: RefCell<Option<(String, Instant)>>,
}

impl Seat {
    /// How long its dialog has been on the screen at least.
    fn drawn_for(&self) -> Result<Duration> {
        let now = self.tui.below_output()?;
        let last = self.last_read.borrow();
        let same = last.as_ref().filter(|(before, _)| *before == now);
        Ok(same.map_or(Duration::ZERO, |(_, at)| at.elapsed()))
    }

    fn note_read(&self) {
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
    pub(super) fn new(setup: &Setup, options: &Options, client: &Path, watcher: &Watcher) -> Result<Self> {
        let dir = folder(setup.scenario, options.attempt);
        Self::begin(&dir, setup, options, client, watcher)
            .with_context(|| format!("it could not begin in {}", dir.display()))
    }

    fn begin(dir: &Path, setup: &Setup, options: &Options, client: &Path, watcher: &Watcher) -> Result<Self> {
        let lab = Lab::new(dir, client)?;
        if setup.allow_tools {
            lab.write_settings(&json!({"permissions": {"allow": ["Bash", "Read", "Agent"]}}))?;
        }
        let board: Box<dyn Board> = match watcher {
            Watcher::Daemon(binary) => Box::new(DaemonBoard::start(&lab, binary)?),
            Watcher::Recorder(hooks) => Box::new(Recorder { hooks: hooks.clone() }),
        };
        let stage = Self { lab, board, keep: options.keep, tally: Tally::default(), steps: 0 };
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
    pub(super) fn open_all<const N: usize>(&self, names: [&str; N]) -> Result<[Seat; N]> {
        let started: Vec<Tui> = names
            .iter()
            .map(|name| self.lab.tui(name, &["--permission-mode", "default"], &[]))
            .collect::<Result<_>>()?;
        let seats: Vec<Seat> = started.into_iter().map(|tui| self.ready(tui)).collect::<Result<_>>()?;
        seats.try_into().map_err(|_| anyhow::anyhow!("a terminal is missing"))
    }

    /// An interactive client that asks before it runs a tool.
    pub(super) fn open(&self, name: &str) -> Result<Seat> {
        self.open_with(name, &["--permission-mode", "default"], &[])
    }

    pub(super) fn open_with(&self, name: &str, args: &[&str], env: &[(&str, &str)]) -> Result<Seat> {
        self.ready(self.lab.tui(name, args, env)?)
    }

    fn ready(&self, tui: Tui) -> Result<Seat> {
        tui.wait_ready()?;
        self.seated(tui)
    }

    /// The same client on a second tmux server.
    pub(super) fn open_on_second_server(&self, name: &str) -> Result<Seat> {
        let tui = self.lab.tui_on_second_server(name, &["--permission-mode", "default"], &[])?;
        tui.wait_ready()?;
        self.seated(tui)
    }

    /// Resumes a session that another client holds. If that one is in the middle of a turn, this one shows the turn as
    /// interrupted.
    pub(super) fn open_beside(&self, name: &str, id: &str) -> Result<Seat> {
        let tui = self.lab.tui(name, &["--permission-mode", "default", "--resume", id], &[])?;
        let is_ready = |s: &Screen| matches!(s, Screen::Idle | Screen::Interrupted);
        tui.wait_screen("the prompt box", RESUMED, is_ready)?;
        self.seated(tui)
    }

    fn seated(&self, tui: Tui) -> Result<Seat> {
        let seat = Seat { tui, session: RefCell::new(None), last_read: RefCell::new(None) };
        wait_for("the session in the client's registry", REQUEST, || Ok(self.session(&seat).map(drop)))?;
        Ok(seat)
    }

    /// The session in that terminal, from the client's registry; the last known one once the entry is gone.
    pub(super) fn session(&self, seat: &Seat) -> Option<String> {
        let mut entries = self.lab.registry_entries().into_iter();
        let own = entries.find(|entry| entry["pid"] == seat.tui.pid());
        let now = own.and_then(|entry| entry["sessionId"].as_str().map(str::to_owned));
        let mut known = seat.session.borrow_mut();
        *known = now.or_else(|| known.take());
        known.clone()
    }

    /// What the client in that terminal says of itself in its registry: busy, idle or another word.
    pub(super) fn status(&self, seat: &Seat) -> Option<String> {
        let entries = self.lab.registry_entries();
        let own = entries.iter().find(|entry| entry["pid"] == seat.tui.pid())?;
        own["status"].as_str().map(str::to_owned)
    }

    /// Sends a prompt and waits for the request to the model, so that later events belong to this turn.
    pub(super) fn prompt(&self, seat: &Seat, text: &str) -> Result<()> {
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
    pub(super) fn answer(&self, seat: &Seat, keys: &[&str]) -> Result<()> {
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
    fn requests(&self, seat: &Seat, prompt: &str) -> usize {
        let session = self.session(seat);
        // A request with the prompt in it counts in any case: the first request of a fork has another id.
        let is_told = |r: &Seen| String::from_utf8_lossy(&r.body).contains(prompt);
        let own = |r: &Seen| r.tools > 0 && (Some(&r.session_id) == session.as_ref() || is_told(r));
        self.lab.api().seen().iter().filter(|r| own(r)).count()
    }

    /// Waits until the screen is as expected and the board agrees with it.
    pub(super) fn see(&mut self, seat: &Seat, step: &str, expect: Expect) -> Result<()> {
        // Read first: a client that exits removes its registry entry.
        self.session(seat);
        let read = seat.tui.wait_screen(step, expect.within, |s| *s == expect.screen);
        self.keep_screen(seat, step);
        read.with_context(|| format!("{step}: expected {:?}", expect.screen))?;
        seat.note_read();
        self.tally.screens += 1;
        let id =
            self.session(seat).with_context(|| format!("{step}: the client's registry has no session"))?;
        let verdict = self.agree(step, &id, &expect)?;
        println!("  {step}: screen {:?}, {verdict}", expect.screen);
        Ok(())
    }

    /// The same for a session without a terminal.
    pub(super) fn see_board(&mut self, id: &str, step: &str, states: &'static [&'static str]) -> Result<()> {
        let verdict = self.agree(step, id, &super::expect::exited().board(states))?;
        println!("  {step}: {verdict}");
        Ok(())
    }

    fn agree(&mut self, step: &str, id: &str, expect: &Expect) -> Result<String> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok("board not judged".into());
        }
        let differs = |view: &SessionView| ask_differs(&expect.screen, &view.card);
        let fits =
            |view: &SessionView| expect.states().contains(&view.state.as_str()) && differs(view).is_none();
        let begun = Instant::now();
        let (view, took) = loop {
            let agreed = wait_for("the board", AGREE, || Ok(self.view(id)?.filter(fits)));
            let took = begun.elapsed();
            let Ok(view) = agreed else {
                let view = self.view(id)?;
                if let Some(other) = view.as_ref().and_then(differs) {
                    bail!("{step}: {other}");
                }
                bail!(
                    "{step}: the board says {view:?}, the screen {:?} allows {:?}",
                    expect.screen,
                    expect.states()
                );
            };
            std::thread::sleep(STAY);
            let later = self.view(id)?;
            if later.as_ref().is_some_and(fits) {
                break (view, took.as_millis());
            }
            if !expect.behind || took > AGREE {
                bail!(
                    "{step}: the board said {} and then {later:?}, the screen allows {:?}",
                    view.state,
                    expect.states()
                );
            }
        };
        self.no_ghosts(step)?;
        self.tally.boards += 1;
        Ok(format!("board {} · {} ({}) after {took} ms", view.group, view.state, view.label))
    }

    /// Checks that every card that is not done belongs to a session in the client's registry.
    fn no_ghosts(&self, step: &str) -> Result<()> {
        let ghosts = || -> Result<Vec<SessionView>> {
            let known = self.lab.registry();
            let cards = self.board.sessions()?.unwrap_or_default();
            Ok(cards.into_iter().filter(|c| c.group != "done" && !known.contains_key(&c.id)).collect())
        };
        let none = wait_for("no ghosts", AGREE, || Ok(ghosts()?.is_empty().then_some(())));
        none.map_err(|_| {
            anyhow::anyhow!("{step}: the board shows sessions that are not there: {:?}", ghosts())
        })
    }

    /// Checks that a session whose seat another session took has no card.
    pub(super) fn see_replaced(&mut self, id: &str, step: &str) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        wait_for("the old card to go", AGREE, || Ok(self.view(id)?.is_none().then_some(())))
            .with_context(|| format!("{step}: {:?} is still there", self.view(id)))?;
        self.tally.boards += 1;
        println!("  {step}: its card is replaced");
        Ok(())
    }

    pub(super) fn card(&self, seat: &Seat) -> Result<Value> {
        self.board.card(&self.session(seat).context("no session")?)
    }

    /// How many hooks of this name the session in that terminal has sent.
    pub(super) fn heard(&self, seat: &Seat, hook: &str) -> Result<usize> {
        self.heard_of(&self.session(seat).context("no session")?, hook)
    }

    /// The same for a session without a terminal.
    pub(super) fn heard_of(&self, id: &str, hook: &str) -> Result<usize> {
        self.board.heard(&self.lab, id, hook)
    }

    /// How many hooks of any name the session in that terminal has sent.
    pub(super) fn heard_at_all(&self, seat: &Seat) -> Result<usize> {
        let id = self.session(seat).context("no session")?;
        let page = self.get(&format!("/api/sessions/{id}/events"))?;
        let events = page["events"].as_array().context("no events in the answer")?;
        Ok(events.iter().filter(|event| event["source"] == "hook").count())
    }

    /// Waits for at least this many hooks of this name. The state alone proves no hook: it may come from the registry.
    pub(super) fn must_hear(&self, seat: &Seat, hook: &str, times: usize) -> Result<()> {
        self.must_hear_of(&self.session(seat).context("no session")?, hook, times)
    }

    /// The same for a session without a terminal.
    pub(super) fn must_hear_of(&self, id: &str, hook: &str, times: usize) -> Result<()> {
        let heard = || self.heard_of(id, hook);
        wait_for(&format!("{hook} to come"), AGREE, || Ok((heard()? >= times).then_some(())))
            .with_context(|| format!("{hook} came {:?} times of {times} from {id}", heard()))?;
        println!("  heard: {hook}, {} times", heard()?);
        Ok(())
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.board.get(path)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        self.board.post(path, body)
    }

    /// Waits until the card fulfils the condition.
    pub(super) fn see_card(&mut self, seat: &Seat, step: &str, what: fn(&Value) -> bool) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        let id =
            self.session(seat).with_context(|| format!("{step}: the client's registry has no session"))?;
        let card = || -> Result<Option<Value>> { Ok(self.view(&id)?.map(|view| view.card)) };
        wait_for("the card", AGREE, || Ok(card()?.filter(what)))
            .with_context(|| format!("{step}: the card says {:?}", card()))?;
        self.tally.boards += 1;
        println!("  {step}: on the card");
        Ok(())
    }

    /// Checks that this rule changed the card at some point, perhaps too briefly to be observed.
    pub(super) fn see_past(&mut self, seat: &Seat, step: &str, rule: &str) -> Result<()> {
        if self.board.sessions()?.is_none() {
            self.tally.unjudged += 1;
            return Ok(());
        }
        let id = self.session(seat).context("no session")?;
        let explained = self.get(&format!("/api/sessions/{id}/explain"))?;
        let mut steps = explained["history"].as_array().into_iter().flatten();
        if !steps.any(|step| step["because"]["rule"] == rule) {
            bail!("{step}: nothing says {rule:?}: {explained}");
        }
        self.tally.boards += 1;
        println!("  {step}: in the card's history");
        Ok(())
    }

    /// Waits until the client's registry says what it waits for: it is written a moment after the screen is drawn.
    pub(super) fn see_waiting(&self, seat: &Seat, step: &str, waiting_for: &str) -> Result<()> {
        let id = self.session(seat).context("no session")?;
        let says_so = || self.lab.registry().get(&id).is_some_and(|entry| entry["waitingFor"] == waiting_for);
        wait_for(&format!("{step}: {waiting_for} in the registry"), DRAWN, || Ok(says_so().then_some(())))?;
        self.keep_registry();
        println!("  {step}: in the registry");
        Ok(())
    }

    /// The lines of the session's transcript so far.
    pub(super) fn transcript(&self, seat: &Seat) -> Result<Vec<Value>> {
        let id = self.session(seat).context("no session")?;
        let mut lines = Vec::new();
        // There is no transcript before the first prompt.
        for project in fs::read_dir(self.lab.config_dir().join("projects")).into_iter().flatten().flatten() {
            let Ok(text) = fs::read_to_string(project.path().join(format!("{id}.jsonl"))) else { continue };
            lines.extend(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
        }
        Ok(lines)
    }

    /// Waits for a transcript line of this subtype. The client writes some of them late.
    pub(super) fn see_line(&self, seat: &Seat, step: &str, subtype: &str) -> Result<()> {
        let written = || Ok(self.transcript(seat)?.into_iter().find(|line| line["subtype"] == subtype));
        wait_for(&format!("{step}: a line {subtype} in the transcript"), DRAWN, written)?;
        println!("  {step}: in the transcript");
        Ok(())
    }

    fn view(&self, id: &str) -> Result<Option<SessionView>> {
        Ok(self.board.sessions()?.into_iter().flatten().find(|s| s.id == id))
    }

    fn keep_screen(&mut self, seat: &Seat, step: &str) {
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
    fn keep_registry(&self) {
        let folder = self.lab.dir().join("registry");
        // Only for the person who reads the run later: a missing copy fails no scenario.
        let _ = fs::create_dir_all(&folder);
        for (id, entry) in self.lab.registry() {
            let _ = fs::write(folder.join(format!("{:02}-{id}.json", self.steps)), entry.to_string());
        }
    }

    /// Stops everything. The lab is deleted unless it is to be kept or the scenario failed.
    pub(super) fn close(self, played: Result<()>) -> Result<Tally> {
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
        played.map(|()| Tally { passed: 1, ..tally })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_try_keeps_the_folder_of_the_first() {
        assert_ne!(folder("turn", 1), folder("turn", 2));
    }

    #[test]
    fn a_tally_is_read_as_it_is_printed() {
        let tally = Tally { passed: 3, failed: 1, screens: 12, boards: 9, unjudged: 0 };
        let read = Tally::read(&format!("  it passed in 9 s\n\n{tally}\n")).unwrap();
        assert_eq!((read.passed, read.failed, read.screens, read.boards), (3, 1, 12, 9));
        assert!(Tally::read("it broke").is_none());
    }
}
