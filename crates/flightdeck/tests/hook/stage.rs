//! A temporary home, a fake daemon in it, and the hook run with an empty environment.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flightdeck::frame::EventFrame;
use flightdeck::ingest::spool;
use flightdeck::paths::{Paths, socket_of};
use flightdeck_sim::programs;

pub(crate) const ACK: &str = r#"{"ok":true,"data":{"seq":1,"hold_ms":0,"verdict":null}}"#;
/// No test takes this long, on any machine.
const DEADLINE: Duration = Duration::from_secs(20);
/// The timeout of a handler. A daemon that does not reply costs 50 ms; the rest is for a loaded machine.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a patient hook waits to be acknowledged.
const PATIENT: Duration = Duration::from_secs(15);

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    home: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let stage = Self { folder, home };
        let socket = stage.socket();
        std::fs::create_dir(stage.home()).unwrap();
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        stage
    }
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }
    pub(crate) fn spool(&self) -> PathBuf {
        Paths::in_home(&self.home).spool()
    }
    pub(crate) fn socket(&self) -> PathBuf {
        socket_of(&self.home)
    }

    pub(crate) fn spooled(&self) -> Vec<EventFrame> {
        spool::list(&self.spool()).unwrap().iter().map(|f| spool::read(f).unwrap()).collect()
    }
    pub(crate) fn nothing_spooled(&self) -> bool {
        self.names_in_spool().is_empty()
    }
    /// Including temporary files, without the counter that one hook in 64 creates.
    pub(crate) fn names_in_spool(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.spool()) else { return Vec::new() };
        let names = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "dropped").collect()
    }

    pub(crate) fn listen(&self) -> UnixListener {
        UnixListener::bind(self.socket()).unwrap()
    }

    /// Accepts one connection, reads one line, runs `answer`, and returns the line.
    pub(crate) fn daemon(&self, answer: impl FnOnce(&mut Client) + Send + 'static) -> JoinHandle<String> {
        let listener = self.listen();
        std::thread::spawn(move || {
            let mut client = Client(BufReader::new(listener.accept().unwrap().0));
            let mut line = String::new();
            client.0.read_line(&mut line).unwrap();
            assert!(line.ends_with('\n'));
            answer(&mut client);
            line
        })
    }

    /// A listener with a full backlog, and the connections that fill it.
    pub(crate) fn listen_with_full_backlog(&self) -> (OwnedFd, Vec<OwnedFd>) {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};
        let new = || socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let address = SocketAddrUnix::new(self.socket()).unwrap();
        let listener = new();
        bind(&listener, &address).unwrap();
        listen(&listener, 0).unwrap();
        let filling = std::iter::from_fn(|| {
            let client = new();
            rustix::io::ioctl_fionbio(&client, true).unwrap();
            connect(&client, &address).is_ok().then_some(client)
        });
        let filling = filling.collect();
        (listener, filling)
    }

    /// `None` where the test may not change the owner of a folder.
    pub(crate) fn folder_of_another_user(&self) -> Option<PathBuf> {
        let theirs = self.folder.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        self.give_away(&theirs).then_some(theirs)
    }
    pub(crate) fn give_away(&self, path: &Path) -> bool {
        assert!(path.starts_with(self.folder.path()));
        std::os::unix::fs::chown(path, Some(12345), None).is_ok()
    }

    pub(crate) fn hook(&self) -> Hook {
        self.command(Command::new(env!("CARGO_BIN_EXE_flightdeck")))
    }

    /// The hook, started by a shell script that runs its arguments.
    pub(crate) fn hook_in_shell(&self, script: &str) -> Hook {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{script} \"$@\""), "sh", env!("CARGO_BIN_EXE_flightdeck")]);
        let mut hook = self.command(shell);
        hook.env("PATH", "/usr/bin:/bin");
        hook
    }

    fn command(&self, mut command: Command) -> Hook {
        assert!(self.home.starts_with(std::env::temp_dir()), "a test never touches a real home");
        command.arg("hook").arg("--home").arg(&self.home).env_clear().env("HOME", self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Hook(command)
    }
}

pub(crate) struct Client(BufReader<UnixStream>);

impl Client {
    pub(crate) fn reply(&mut self, line: &str) {
        // The hook may have given up; the test then checks the spool.
        let _ = self.0.get_mut().write_all(format!("{line}\n").as_bytes());
    }
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }
    pub(crate) fn wait_for_end(&mut self) {
        assert_eq!(self.0.read(&mut [0; 1]).unwrap(), 0);
    }
}

pub(crate) struct Hook(Command);

impl Hook {
    pub(crate) fn env(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.0.env(name, value);
    }

    /// Waits so long for the daemon that a loaded machine does not change the result.
    pub(crate) fn patient(self) -> Self {
        self.waiting(PATIENT)
    }
    pub(crate) fn waiting(mut self, time: Duration) -> Self {
        self.0.args(["--ack-ms", &time.as_millis().to_string()]);
        self
    }

    /// As the handler of a tool call while an effort is active.
    pub(crate) fn waiting_for_a_verdict(mut self) -> Self {
        self.0.arg("--verdict");
        self
    }

    pub(crate) fn run(&mut self, payload: impl Into<String>) -> Ended {
        let (stdin, written) = programs::stdin_with(payload.into().into()).unwrap();
        self.0.stdin(stdin);
        let (began, child) = self.start();
        let ended = Ended::wait_for(began, child);
        // The hook reads the whole payload in every case.
        written.join().unwrap().unwrap();
        ended
    }

    pub(crate) fn run_unclosed(&mut self, payload: &str) -> Ended {
        let (began, mut child) = self.start();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(payload.as_bytes()).unwrap();
        let ended = Ended::wait_for(began, child);
        drop(stdin);
        ended
    }

    pub(crate) fn run_and_stop_listening(&mut self, payload: &str) {
        self.0.stdin(programs::stdin_with(payload.into()).unwrap().0);
        let (began, mut child) = self.start();
        child.stdout = None;
        Ended::wait_for(began, child).said_nothing();
    }

    /// The reader of the output is gone from the start.
    pub(crate) fn run_without_listener(&mut self, payload: &str) {
        let (_, output) = std::io::pipe().unwrap();
        self.0.stdin(programs::stdin_with(payload.into()).unwrap().0).stdout(output);
        let (began, child) = self.start();
        Ended::wait_for(began, child).said_nothing();
    }

    fn start(&mut self) -> (Instant, Child) {
        (Instant::now(), self.0.spawn().unwrap())
    }
}

pub(crate) struct Ended(Output, Duration);

impl Ended {
    fn wait_for(began: Instant, child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        let took = began.elapsed();
        assert!(took < DEADLINE, "took {took:?}");
        Self(output, took)
    }
    pub(crate) fn at_once(self) -> Self {
        assert!(self.1 < HANDLER_TIMEOUT, "took {:?}", self.1);
        self
    }
    pub(crate) fn said_nothing(self) {
        self.printed("");
    }
    pub(crate) fn printed(self, expected: &str) {
        let Output { status, stdout, stderr } = self.0;
        let said = (status.code(), String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!(said, (Some(0), expected.into(), "".into()));
    }
}

/// Field 22 of `/proc/<pid>/stat`, read in another way than the program does.
pub(crate) fn start_time_by_cut(pid: u32) -> String {
    let script = format!("sed 's/.*) //' /proc/{pid}/stat | cut -d' ' -f20");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
