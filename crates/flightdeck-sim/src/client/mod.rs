//! Drives the real Claude Code in a throw-away home against the scripted model.
//!
//! A [`Lab`] owns everything a run needs below one folder: home, settings, a git checkout, Flightdeck's own home, a private
//! tmux server, the model's stand-in. The client gets an environment built from nothing, and [`guard`] refuses to start it
//! if anything in there points elsewhere.

mod guard;
pub mod mcp;
mod tui;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::model_api::ModelApi;
pub use guard::{Unsafe, check_is_isolated};
pub use tui::{Tui, signal};

/// The client version that all expectations were checked with.
pub const PINNED: &str = "2.1.325";

/// A file that marks a folder as a lab, which may be deleted.
const MARKER: &str = ".flightdeck-lab";
/// Not a real key: the client only checks its format.
const DUMMY_KEY: &str = "sk-ant-dummy-lab-key-000000000000";
/// Time between two checks of a condition.
const POLL: Duration = Duration::from_millis(60);
/// A client without a terminal ends within this time (its SessionEnd hooks get 1.5 s).
const GOODBYE: Duration = Duration::from_secs(5);

pub type Env = BTreeMap<String, String>;

/// One throw-away environment. Dropping it ends its tmux server and every client in it.
#[derive(Debug)]
pub struct Lab {
    dir: PathBuf,
    client: PathBuf,
    api: ModelApi,
}

/// The result of a `-p` run.
#[derive(Debug)]
pub struct Printed {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Lab {
    /// Creates `dir` (which must be new or an old lab) and everything in it. `client` is the `claude` binary.
    pub fn new(dir: &Path, client: &Path) -> Result<Self> {
        if dir.exists() && !dir.join(MARKER).exists() {
            bail!("{} exists and is not a lab: refusing to fill it", dir.display());
        }
        // Files of an old lab must not affect this run.
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir).with_context(|| format!("cannot make the lab {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        fs::write(dir.join(MARKER), "throw-away\n")?;
        let lab = Self { dir, client: client.to_owned(), api: ModelApi::start()? };
        for folder in [lab.config_dir(), lab.cwd().join("sub"), lab.flightdeck_home(), lab.dir.join("tmux")] {
            fs::create_dir_all(folder)?;
        }
        lab.make_project()?;
        lab.make_trusted()?;
        lab.write_settings(&json!({}))?;
        Ok(lab)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub fn config_dir(&self) -> PathBuf {
        self.home().join(".claude")
    }

    pub fn flightdeck_home(&self) -> PathBuf {
        self.dir.join("fd")
    }

    /// The git checkout sessions start in.
    pub fn cwd(&self) -> PathBuf {
        self.home().join("work/demo")
    }

    pub fn api(&self) -> &ModelApi {
        &self.api
    }

    /// The whole environment of a client or of our own binary in this lab.
    pub fn env(&self, extra: &[(&str, &str)]) -> Env {
        let path = |p: PathBuf| p.display().to_string();
        let fixed = [
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("HOME", path(self.home())),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("SHELL", "/bin/sh".into()),
            ("CLAUDE_CONFIG_DIR", path(self.config_dir())),
            ("FLIGHTDECK_HOME", path(self.flightdeck_home())),
            ("ANTHROPIC_BASE_URL", self.api.url()),
            ("ANTHROPIC_API_KEY", DUMMY_KEY.into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ];
        let extra = extra.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        fixed.into_iter().map(|(k, v)| (k.to_owned(), v)).chain(extra).collect()
    }

    /// Runs `claude -p` to its end.
    pub fn print(&self, prompt: &str, args: &[&str], extra: &[(&str, &str)]) -> Result<Printed> {
        let env = self.env(extra);
        check_is_isolated(&env, &self.dir)?;
        let output = Command::new(&self.client)
            .arg("-p")
            .arg(prompt)
            .args(args)
            .current_dir(self.cwd())
            .env_clear()
            .envs(env)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", self.client.display()))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Printed {
            success: output.status.success(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }

    /// Starts an interactive client in its own terminal.
    pub fn tui(&self, name: &str, args: &[&str], extra: &[(&str, &str)]) -> Result<Tui> {
        Tui::start(self, (tui::SERVER, name), &[], args, extra)
    }

    /// Like [`tui`](Self::tui), but on a tmux server of its own, whose panes have the same ids as those of the first server.
    pub fn tui_on_second_server(&self, name: &str, args: &[&str], extra: &[(&str, &str)]) -> Result<Tui> {
        Tui::start(self, (tui::SECOND_SERVER, name), &[], args, extra)
    }

    /// Starts an interactive client by another program, in its own terminal. `before` is the command line up to the client's own.
    pub fn tui_by(&self, name: &str, before: &[&str], args: &[&str], extra: &[(&str, &str)]) -> Result<Tui> {
        Tui::start(self, (tui::SERVER, name), before, args, extra)
    }

    /// Starts another program in a terminal of its own, beside the clients.
    pub fn terminal(&self, name: &str, program: &Path, args: &[&str]) -> Result<Tui> {
        Tui::start_program(self, (tui::SERVER, name), program, args, &[])
    }

    /// The version that the client reports.
    pub fn version(&self) -> Result<String> {
        let env = self.env(&[]);
        check_is_isolated(&env, &self.dir)?;
        let output = Command::new(&self.client).arg("--version").env_clear().envs(env).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
    }

    pub fn write_settings(&self, settings: &Value) -> Result<()> {
        fs::write(self.config_dir().join("settings.json"), serde_json::to_vec_pretty(settings)?)?;
        Ok(())
    }

    pub fn settings(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&fs::read(self.config_dir().join("settings.json"))?)?)
    }

    /// The client's own live registry, by session id.
    pub fn registry(&self) -> BTreeMap<String, Value> {
        let entries = self.registry_entries().into_iter();
        entries.filter_map(|e| Some((e["sessionId"].as_str()?.to_owned(), e))).collect()
    }

    /// The entry of each client. Several may hold the same session.
    pub fn registry_entries(&self) -> Vec<Value> {
        let files = fs::read_dir(self.config_dir().join("sessions")).into_iter().flatten().flatten();
        let json = files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
        json.filter_map(|p| serde_json::from_slice(&fs::read(p).ok()?).ok()).collect()
    }

    fn make_project(&self) -> Result<()> {
        let cwd = self.cwd();
        fs::write(cwd.join("README.md"), "# demo\n\nA lab project.\n")?;
        fs::write(cwd.join("CLAUDE.md"), "Be brief.\n")?;
        fs::write(cwd.join("sub/a.txt"), "a\n")?;
        for (folder, file) in [("outside", "a.txt"), ("outside2", "b.txt")] {
            fs::create_dir_all(self.home().join(folder))?;
            fs::write(self.home().join(folder).join(file), "x\n")?;
        }
        let steps: [&[&str]; 4] = [
            &["init", "-q", "-b", "main"],
            &["add", "-A"],
            &["commit", "-qm", "init"],
            &["checkout", "-qb", "feature/lab"],
        ];
        for step in steps {
            self.git(step)?;
        }
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let who = ["AUTHOR", "COMMITTER"]
            .map(|r| [(format!("GIT_{r}_NAME"), "Dev"), (format!("GIT_{r}_EMAIL"), "dev@example.invalid")]);
        let status = Command::new("git")
            .args(args)
            .current_dir(self.cwd())
            .env_clear()
            .envs([
                ("PATH", "/usr/bin:/bin"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ])
            .envs(who.into_iter().flatten())
            .status()
            .context("cannot run git")?;
        if !status.success() {
            bail!("git {} failed in the lab", args.join(" "));
        }
        Ok(())
    }

    /// Writes the settings that answer all questions of a first start.
    fn make_trusted(&self) -> Result<()> {
        let project = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []});
        let state = json!({
            "hasCompletedOnboarding": true, "lastOnboardingVersion": PINNED, "theme": "dark", "numStartups": 20,
            "customApiKeyResponses": {"approved": [&DUMMY_KEY[DUMMY_KEY.len() - 20..]], "rejected": []},
            "hasSeenTasksHint": true, "bypassPermissionsModeAccepted": true, "autoUpdates": false,
            "projects": {self.cwd().display().to_string(): project},
        });
        fs::write(self.config_dir().join(".claude.json"), serde_json::to_vec_pretty(&state)?)?;
        Ok(())
    }
}

impl Drop for Lab {
    /// A client still writes for a while after its terminal is gone; this waits until all have ended.
    fn drop(&mut self) {
        let clients = tui::pids(self);
        tui::kill_servers(self);
        let gone = || Ok(clients.iter().all(|pid| !tui::is_alive(*pid)).then_some(()));
        if wait_for("the clients to be gone", GOODBYE, gone).is_err() {
            for pid in clients.iter().filter(|pid| tui::is_alive(**pid)) {
                // The client may have ended just now.
                let _ = tui::signal(*pid, "KILL");
            }
        }
    }
}

/// Waits until the condition gives a value. `what` names the condition in the error.
pub fn wait_for<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(fact) = look()? {
            return Ok(fact);
        }
        if Instant::now() > end {
            bail!("waited {} s for {what}", deadline.as_secs_f32());
        }
        std::thread::sleep(POLL);
    }
}
