//! A throw-away person: a home, a Claude Code folder and a Flightdeck home, and the built binary run with nothing else.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use flightdeck::paths::Paths;
use flightdeck_sim::programs;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::http::{self, Answer};
use crate::socket::Socket;

/// Nothing in a story takes this long, on whatever machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// What a hook is run with so that it waits about as long for the daemon: a loaded machine does not change the story.
pub(crate) const PATIENT_HOOK: [&str; 3] = ["hook", "--ack-ms", "20000"];

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    home: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_home("fd")
    }

    /// `home` is the name of Flightdeck's own folder.
    pub(crate) fn with_home(home: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = Self { home: folder.path().join(home), folder };
        let private = |dir: PathBuf| fs::DirBuilder::new().mode(0o700).create(dir).unwrap();
        private(stage.person());
        private(stage.claude());
        stage
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
    pub(crate) fn person(&self) -> PathBuf {
        self.path().join("person")
    }
    pub(crate) fn claude(&self) -> PathBuf {
        self.path().join("claude")
    }
    pub(crate) fn settings(&self) -> PathBuf {
        self.claude().join("settings.json")
    }
    pub(crate) fn paths(&self) -> Paths {
        Paths::below(&self.home)
    }

    /// The binary in this person's environment and no other.
    pub(crate) fn flightdeck(&self, args: &[&str]) -> Command {
        let mut command = self.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
        command.args(args).env("FLIGHTDECK_HOME", &self.home);
        command
    }

    /// Any program, with an empty environment but for the person's own folders.
    pub(crate) fn bare(&self, program: &Path) -> Command {
        for ours in [self.person(), self.claude(), self.home.clone()] {
            assert!(ours.starts_with(std::env::temp_dir()) && ours.starts_with(self.path()), "{ours:?}");
        }
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.person()).env("CLAUDE_CONFIG_DIR", self.claude());
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        Said::of(self.flightdeck(args).output().unwrap(), self)
    }

    /// What a hook handler does: the event on stdin, silence back.
    pub(crate) fn hook(&self, payload: &str) {
        let mut hook = self.flightdeck(&PATIENT_HOOK);
        feed(&mut hook, payload);
    }

    /// A daemon that leaves Claude Code's settings alone.
    pub(crate) fn daemon(&self) -> Daemon {
        self.up(&["--no-hooks"])
    }

    pub(crate) fn up(&self, args: &[&str]) -> Daemon {
        let mut command = self.flightdeck(&["up", "--port", "0"]);
        command.args(args);
        Daemon::start(command, self)
    }

    pub(crate) fn socket(&self) -> Socket {
        Socket::connect(&self.paths().socket())
    }

    /// Without this run's folder, port and pid in it.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(self.path().to_str().unwrap(), "~")
    }
}

/// Runs a hook and sees that it is silent and content.
pub(crate) fn feed(hook: &mut Command, payload: &str) {
    let (stdin, written) = programs::stdin(payload.into()).unwrap();
    let output = hook.stdin(stdin).output().unwrap();
    written.join().unwrap().unwrap();
    let said = (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(said, (Some(0), "".into(), "".into()));
}

/// What a command said, without this run's folder in it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    fn of(output: Output, stage: &Stage) -> Self {
        let text = |bytes: Vec<u8>| stage.plain(&String::from_utf8(bytes).unwrap());
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.well()).unwrap()
    }
}

/// A running daemon. It is killed if the story ends before it does.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) url: String,
    pub(crate) addr: SocketAddr,
    errors: PathBuf,
    /// Stays open: whoever says more finds a reader.
    _said: BufReader<ChildStdout>,
}

impl Daemon {
    pub(crate) fn start(mut command: Command, stage: &Stage) -> Self {
        let errors = stage.path().join("stderr");
        command.stdout(Stdio::piped()).stderr(fs::File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let Some((_, url)) = line.trim().split_once(" is at ") else {
            let status = child.wait().unwrap();
            panic!("no daemon: {line:?}, {status}, {}", fs::read_to_string(&errors).unwrap());
        };
        let addr = url.strip_prefix("http://").unwrap().parse().unwrap();
        Self { child, url: url.to_owned(), addr, errors, _said: said }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }
    pub(crate) fn get(&self, path: &str) -> Answer {
        http::get(self.addr, path)
    }
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        http::post(self.addr, path, body)
    }
    pub(crate) fn board(&self) -> Vec<Value> {
        let board = self.get("/api/sessions").json();
        board["sessions"].as_array().unwrap().clone()
    }
    pub(crate) fn card(&self, id: &str) -> Value {
        self.get(&format!("/api/sessions/{id}")).json()
    }
    pub(crate) fn events_total(&self) -> u64 {
        self.get("/hook/status").json()["events_total"].as_u64().unwrap()
    }
    /// Resident bytes, now and at most.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|l| l.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
        };
        (field("VmRSS:"), field("VmHWM:"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
    /// As a crash, or the kernel, would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
    pub(crate) fn stop(self) -> ExitStatus {
        self.stop_with(Signal::TERM)
    }
    pub(crate) fn stop_with(mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        until("the daemon has ended", || self.child.try_wait().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Already ended is what most stories leave.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a fact; the pause between two looks is not what makes it true.
#[track_caller]
pub(crate) fn until<T>(fact: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited too long until {fact}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
