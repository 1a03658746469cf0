//! One client with one form of hooks, and the turns it plays.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, Tui, check_is_isolated, wait_for};
use serde_json::{Value, json};

use super::forms::Form;
use super::transcript;
use crate::machine::processor_ms;
use crate::testkit::TestDaemon;

/// A turn ends within this time on a busy machine.
const TURN: Duration = Duration::from_secs(90);
/// Between two looks at the screen: the spinner shows a fast hook for about 20 ms.
const LOOK: Duration = Duration::from_millis(10);
/// An event that was not stored by then is lost: the client has ended, and the spool is read within a second.
const HEARD: Duration = Duration::from_secs(5);
/// Frames with any of the handlers' messages.
const SPINNER: &str = "spinner";
/// The series of frames that show our name, and the text that they show.
const OUR_NAME: &str = "our name";
const NAME_SHOWN: &str = "(Flightdeck…";

pub(super) struct BenchSeat {
    tui: Tui,
    daemon: Option<TestDaemon>,
    lab: Lab,
    session: String,
    turns: usize,
    /// What the spinner shows for the registered handlers.
    messages: Vec<String>,
    /// The handlers report to the daemon.
    reports: bool,
    /// Dropped last: the lab waits for its clients.
    _folder: Folder,
}

/// The folder of a lab, removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What remains of a throw-away folder is no failure.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One turn, by the client's own clock.
pub(super) struct BenchTurn {
    pub(super) took_ms: f64,
    /// Of the client and the processes that it started.
    pub(super) processor_ms: f64,
    /// `None` if the client waits for no hook.
    pub(super) stop_hook_ms: Option<f64>,
}

/// One run of `claude -p`.
pub(super) struct Print {
    pub(super) stop_hook_ms: Option<f64>,
    /// Whether the daemon has stored its Stop. `None` if the handlers report nothing.
    pub(super) stop_heard: Option<bool>,
}

impl BenchSeat {
    /// Starts the client and plays one turn, which is not measured: caches are cold.
    pub(super) fn open(form: &Form, client: &Path, binary: &Path) -> Result<Self> {
        let name: String = form.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let folder = std::env::temp_dir().join(format!("fd-bench-{}-{name}", std::process::id()));
        let lab = Lab::new(&folder, client)?;
        lab.write_settings(&json!({"permissions": {"allow": ["Bash"]}}))?;
        let daemon = if form.without_hooks { None } else { Some(install(&lab, form, binary)?) };
        let messages = messages(&lab.settings()?);
        let tui = lab.tui("bench", &["--permission-mode", "default"], &[])?;
        tui.wait_ready()?;
        let session = wait_for("the session in the client's registry", TURN, || {
            Ok(lab.registry().into_iter().find(|(_, entry)| entry["pid"] == tui.pid()).map(|(id, _)| id))
        })?;
        let reports = form.reports();
        let mut seat =
            Self { tui, daemon, lab, session, turns: 0, messages, reports, _folder: Folder(folder) };
        seat.play()?;
        Ok(seat)
    }

    pub(super) fn play(&mut self) -> Result<BenchTurn> {
        let before = processor_ms(self.tui.pid())?;
        self.submit()?;
        let (took_ms, stop_hook_ms) = wait_for("the end of the turn", TURN, || Ok(self.last_turn()))?;
        Ok(BenchTurn { took_ms, processor_ms: processor_ms(self.tui.pid())? - before, stop_hook_ms })
    }

    /// Plays a turn and returns the share of screens, in percent, on which the spinner showed each message of the handlers.
    pub(super) fn play_watched(&mut self) -> Result<BTreeMap<String, f64>> {
        self.submit()?;
        let mut looks = 0_u32;
        let names = self.messages.iter().map(String::as_str).chain([SPINNER, OUR_NAME]);
        let mut seen: BTreeMap<&str, u32> = names.map(|name| (name, 0)).collect();
        while self.last_turn().is_none() {
            let screen = self.tui.capture()?;
            looks += 1;
            let message = self.messages.iter().find(|message| screen.contains(*message));
            let name = screen.contains(NAME_SHOWN).then_some(OUR_NAME);
            for shown in message.into_iter().flat_map(|message| [SPINNER, message.as_str()]).chain(name) {
                *seen.entry(shown).or_default() += 1;
            }
            std::thread::sleep(LOOK);
        }
        if looks == 0 {
            bail!("the turn ended before the first look at the screen");
        }
        let share = |n: u32| 100.0 * f64::from(n) / f64::from(looks);
        Ok(seen.into_iter().map(|(name, n)| (name.to_owned(), share(n))).collect())
    }

    /// Runs `claude -p` once.
    pub(super) fn print(&self) -> Result<Print> {
        let printed = self.lab.print("SCRIPT:hello in print mode", &["--output-format", "json"], &[])?;
        let result: Value = serde_json::from_str(&printed.stdout)
            .with_context(|| format!("claude -p: {} {}", printed.stdout, printed.stderr))?;
        let session = result["session_id"].as_str().context("claude -p named no session")?;
        let reports = transcript::read(&self.lab.config_dir(), session);
        let daemon = self.daemon.as_ref().filter(|_| self.reports);
        let stop_heard = daemon.map(|daemon| is_heard(daemon, session, "Stop"));
        Ok(Print { stop_hook_ms: reports.stop_hooks_ms.last().copied(), stop_heard })
    }

    fn submit(&mut self) -> Result<()> {
        self.turns += 1;
        self.tui.submit(&format!("SCRIPT:eleven turn {}", self.turns))
    }

    /// The turn that was submitted last and its Stop hook, if it is over.
    fn last_turn(&self) -> Option<(f64, Option<f64>)> {
        let reports = transcript::read(&self.lab.config_dir(), &self.session);
        let took = reports.turns_ms.get(self.turns - 1).copied()?;
        Some((took, reports.stop_hooks_ms.get(self.turns - 1).copied()))
    }
}

/// Starts a daemon and registers its hooks in this form.
fn install(lab: &Lab, form: &Form, binary: &Path) -> Result<TestDaemon> {
    let env = lab.env(&[]);
    check_is_isolated(&env, lab.dir())?;
    let run = |args: &[&str]| {
        let mut command = Command::new(binary);
        command.args(args).current_dir(lab.cwd()).env_clear().envs(&env).stdin(Stdio::null());
        command
    };
    let up = run(&["up", "--no-hooks", "--port", "0"]);
    let daemon = TestDaemon::try_start(up, &lab.dir().join("daemon.log"))?;
    let installed = run(&["hooks", "install"]).output()?;
    if !installed.status.success() {
        bail!("flightdeck hooks install: {}", String::from_utf8_lossy(&installed.stderr));
    }
    let mut settings = lab.settings()?;
    form.apply(&mut settings, &format!("http://{}", daemon.addr));
    lab.write_settings(&settings)?;
    Ok(daemon)
}

fn is_heard(daemon: &TestDaemon, session: &str, hook: &str) -> bool {
    wait_for(hook, HEARD, || {
        let page = daemon.api().get_json(&format!("/api/sessions/{session}/events?limit=100"))?;
        let is_it = |event: &Value| event["source"] == "hook" && event["name"] == hook;
        Ok(page["events"].as_array().is_some_and(|events| events.iter().any(is_it)).then_some(()))
    })
    .is_ok()
}

/// The texts that the spinner shows while one of these handlers runs.
fn messages(settings: &Value) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
        all.extend(handlers.map(|handler| match handler["statusMessage"].as_str() {
            Some(message) if !message.is_empty() => format!("({message}…"),
            _ => format!("(running {event} hook"),
        }));
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spinner_shows_a_handlers_message_or_the_name_of_its_event() {
        let settings = json!({"hooks": {
            "Stop": [{"hooks": [{"command": "true"}, {"command": "x", "statusMessage": "Deck"}]}],
            "Setup": [{"hooks": [{"command": "y", "statusMessage": "Deck"}]}],
        }});
        assert_eq!(messages(&settings), ["(Deck…", "(running Stop hook"]);
    }
}
