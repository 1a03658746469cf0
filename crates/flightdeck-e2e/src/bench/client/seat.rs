//! One client with one form of hooks, and the turns it plays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::{Lab, Tui, check, wait_for};
use serde_json::{Value, json};

use super::forms::Form;
use crate::testkit::TestDaemon;

/// A turn ends within this time on a busy machine.
const TURN: Duration = Duration::from_secs(60);
/// Between two looks at the screen: the spinner shows a fast hook for about 20 ms.
const LOOK: Duration = Duration::from_millis(10);

pub(super) struct Seat {
    tui: Tui,
    /// Stopped after the client, which sends its last events to it.
    _daemon: Option<TestDaemon>,
    lab: Lab,
    turns: usize,
    /// What the spinner shows for the registered handlers.
    messages: Vec<String>,
}

/// What the client itself reports about a turn.
pub(super) struct Turn {
    pub(super) took_ms: f64,
    /// None without a hook that the client waits for.
    pub(super) stop_hook_ms: Option<f64>,
}

impl Seat {
    /// Starts the client and plays one turn, which is not measured: caches are cold.
    pub(super) fn open(form: &Form, client: &Path, binary: &Path) -> Result<Self> {
        let name: String = form.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let lab = Lab::new(&std::env::temp_dir().join(format!("fd-bench-{}-{name}", std::process::id())), client)?;
        lab.write_settings(&json!({"permissions": {"allow": ["Bash"]}}))?;
        let daemon = if form.without_hooks { None } else { Some(install(&lab, form, binary)?) };
        let messages = messages(&lab.settings()?);
        let tui = lab.tui("bench", &["--permission-mode", "default"], &[])?;
        tui.wait_ready()?;
        let mut seat = Self { tui, _daemon: daemon, lab, turns: 0, messages };
        seat.play()?;
        Ok(seat)
    }

    pub(super) fn play(&mut self) -> Result<Turn> {
        self.submit()?;
        wait_for("the end of the turn", TURN, || self.last_turn())
    }

    /// Plays a turn and returns the share of screens, in percent, on which the spinner showed one of the handlers.
    pub(super) fn play_watched(&mut self) -> Result<f64> {
        self.submit()?;
        let (mut looks, mut seen) = (0_u32, 0_u32);
        while self.last_turn()?.is_none() {
            let screen = self.tui.capture()?;
            looks += 1;
            seen += u32::from(self.shows_a_handler(&screen));
            std::thread::sleep(LOOK);
        }
        if looks == 0 {
            bail!("the turn ended before the first look at the screen");
        }
        Ok(100.0 * f64::from(seen) / f64::from(looks))
    }

    fn submit(&mut self) -> Result<()> {
        self.turns += 1;
        self.tui.submit(&format!("SCRIPT:eleven turn {}", self.turns))
    }

    fn shows_a_handler(&self, screen: &str) -> bool {
        self.messages.iter().any(|message| screen.contains(message))
    }

    /// The turn that was submitted last, if it is over.
    fn last_turn(&self) -> Result<Option<Turn>> {
        let lines = transcript(&self.lab)?;
        let of = |subtype: &'static str| lines.iter().filter(move |line| line["subtype"] == subtype);
        if of("turn_duration").count() < self.turns {
            return Ok(None);
        }
        let took = of("turn_duration").next_back().and_then(|line| line["durationMs"].as_f64());
        let summary = of("stop_hook_summary").nth(self.turns - 1);
        Ok(Some(Turn {
            took_ms: took.context("a turn without a duration")?,
            stop_hook_ms: summary.and_then(|line| line["hookInfos"][0]["durationMs"].as_f64()),
        }))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // A lab that is left behind fills the disk, but is no failure.
        let _ = fs::remove_dir_all(self.lab.dir());
    }
}

/// Starts a daemon and registers its hooks in this form.
fn install(lab: &Lab, form: &Form, binary: &Path) -> Result<TestDaemon> {
    let env = lab.env(&[]);
    check(&env, lab.dir())?;
    let run = |args: &[&str]| {
        let mut command = Command::new(binary);
        command.args(args).current_dir(lab.cwd()).env_clear().envs(&env).stdin(Stdio::null());
        command
    };
    let daemon = TestDaemon::try_start(run(&["up", "--no-hooks", "--port", "0"]), &lab.dir().join("daemon.log"))?;
    let installed = run(&["hooks", "install"]).output()?;
    if !installed.status.success() {
        bail!("flightdeck hooks install: {}", String::from_utf8_lossy(&installed.stderr));
    }
    let mut settings = lab.settings()?;
    form.apply(&mut settings, &format!("http://{}", daemon.addr));
    lab.write_settings(&settings)?;
    Ok(daemon)
}

/// The texts that the spinner shows while one of these handlers runs.
fn messages(settings: &Value) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (event, groups) in settings["hooks"].as_object().into_iter().flatten() {
        let handlers = groups.as_array().into_iter().flatten().filter_map(|group| group["hooks"].as_array()).flatten();
        all.extend(handlers.map(|handler| match handler["statusMessage"].as_str() {
            Some(message) if !message.is_empty() => format!("({message}…"),
            _ => format!("(running {event} hook"),
        }));
    }
    all.sort();
    all.dedup();
    all
}

/// The lines of the client's only transcript; none before its first turn.
fn transcript(lab: &Lab) -> Result<Vec<Value>> {
    let folders = fs::read_dir(lab.config_dir().join("projects")).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let transcripts: Vec<PathBuf> =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    let [path] = transcripts.as_slice() else { return Ok(Vec::new()) };
    let text = fs::read_to_string(path)?;
    // The last line may still be incomplete.
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
