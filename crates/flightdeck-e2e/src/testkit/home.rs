//! A throw-away home, Claude Code folder and Flightdeck home; programs run in it see nothing else of the machine.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use flightdeck_hook::paths::Paths;
use flightdeck_sim::programs;
use serde_json::Value;

use super::{DEADLINE, SocketClient, TestDaemon, must};

/// Arguments of a hook that waits long for the daemon, so that a loaded machine does not change the result.
pub const PATIENT_HOOK: [&str; 3] = ["hook", "--ack-ms", "20000"];

#[derive(Debug)]
pub struct TestHome {
    folder: tempfile::TempDir,
    flightdeck_home: PathBuf,
    binary: PathBuf,
}

impl TestHome {
    /// A home for this flightdeck binary. `name` is the name of Flightdeck's own folder.
    pub fn try_new(binary: &Path, name: &str) -> Result<Self> {
        // A short path: a socket lives below it.
        let folder = tempfile::Builder::new().prefix("fd-").tempdir().context("cannot make a test home")?;
        let home = Self { flightdeck_home: folder.path().join(name), folder, binary: binary.to_owned() };
        for private in [home.person(), home.claude()] {
            fs::DirBuilder::new().mode(0o700).create(private)?;
        }
        Ok(home)
    }

    #[track_caller]
    pub fn new(binary: &Path, name: &str) -> Self {
        must(Self::try_new(binary, name))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `HOME`
    pub fn person(&self) -> PathBuf {
        self.path().join("person")
    }

    /// `CLAUDE_CONFIG_DIR`
    pub fn claude(&self) -> PathBuf {
        self.path().join("claude")
    }

    pub fn settings(&self) -> PathBuf {
        self.claude().join("settings.json")
    }

    /// `FLIGHTDECK_HOME`
    pub fn flightdeck_home(&self) -> &Path {
        &self.flightdeck_home
    }

    /// Where the files of this home are.
    pub fn paths(&self) -> Paths {
        Paths::in_home(&self.flightdeck_home)
    }

    pub fn try_socket(&self, timeout: Duration) -> Result<SocketClient> {
        SocketClient::try_connect(&self.paths().socket(), timeout)
    }

    #[track_caller]
    pub fn socket(&self) -> SocketClient {
        must(self.try_socket(DEADLINE))
    }

    /// The binary in this home's environment and no other.
    #[track_caller]
    pub fn flightdeck(&self, args: &[&str]) -> Command {
        let mut command = self.bare(&self.binary);
        command.args(args).env("FLIGHTDECK_HOME", &self.flightdeck_home);
        command
    }

    /// Any program, with an empty environment except for the home and Claude Code's folder.
    #[track_caller]
    pub fn bare(&self, program: &Path) -> Command {
        for ours in [self.person(), self.claude(), self.flightdeck_home.clone()] {
            assert!(ours.starts_with(std::env::temp_dir()) && ours.starts_with(self.path()), "{ours:?}");
        }
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.person()).env("CLAUDE_CONFIG_DIR", self.claude());
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let output = self.flightdeck(args).output().context("cannot run flightdeck");
        must(output.and_then(|output| CommandOutput::new(output, self)))
    }

    /// Runs the hook with this event on stdin and checks that it prints nothing.
    #[track_caller]
    pub fn hook(&self, payload: &str) {
        run_hook(&mut self.flightdeck(&PATIENT_HOOK), payload);
    }

    /// A daemon that leaves Claude Code's settings alone.
    #[track_caller]
    pub fn daemon(&self) -> TestDaemon {
        self.up(&["--no-hooks"])
    }

    /// A daemon on a free port.
    #[track_caller]
    pub fn up(&self, args: &[&str]) -> TestDaemon {
        must(self.try_up(args))
    }

    pub fn try_up(&self, args: &[&str]) -> Result<TestDaemon> {
        let mut command = self.flightdeck(&["up", "--port", "0"]);
        command.args(args);
        TestDaemon::try_start(command, &self.stderr_file())
    }

    /// The daemon that this command starts.
    #[track_caller]
    pub fn start(&self, command: Command) -> TestDaemon {
        must(TestDaemon::try_start(command, &self.stderr_file()))
    }

    fn stderr_file(&self) -> PathBuf {
        self.path().join("stderr")
    }

    /// The text with `~` for this home's folder.
    pub fn with_tilde(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), "~")
    }
}

/// Runs a hook and checks that it succeeds and prints nothing.
#[track_caller]
pub fn run_hook(hook: &mut Command, payload: &str) {
    let mut run = || -> Result<Output> {
        let (stdin, written) = programs::stdin_with(payload.into())?;
        let output = hook.stdin(stdin).output()?;
        written.join().map_err(|_| anyhow::anyhow!("the writer panicked"))??;
        Ok(output)
    };
    let output = must(run().context("cannot run the hook"));
    let printed = (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(printed, (Some(0), "".into(), "".into()));
}

/// What a command printed, with `~` for the home's folder.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    fn new(output: Output, home: &TestHome) -> Result<Self> {
        let text = |bytes: Vec<u8>| Ok::<_, anyhow::Error>(home.with_tilde(&String::from_utf8(bytes)?));
        let code = output.status.code().context("the command was killed")?;
        Ok(Self { code, out: text(output.stdout)?, err: text(output.stderr)? })
    }

    /// The printed text of a command that must succeed without a complaint.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    #[track_caller]
    pub fn json(self) -> Value {
        must(serde_json::from_str(&self.success()).context("the command printed no JSON"))
    }
}
