//! The client's process group: starts it, watches it, sends it signals and ends it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use tokio::sync::mpsc;

/// Most events that wait to be handled. A client stops and continues only as fast as a person types.
const EVENTS_MAX: usize = 16;

/// What happened to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientEvent {
    /// The client has ended, with the exit code that a shell would report.
    Ended(u8),
    /// The client was stopped, for example by Ctrl-Z.
    Stopped,
}

/// A running client, the leader of a process group of its own.
#[derive(Debug)]
pub(super) struct ClientProcess {
    group: Pid,
    events: mpsc::Receiver<ClientEvent>,
}

impl ClientProcess {
    /// Starts a command in a new process group. `variables` are added to the environment.
    pub(super) fn start(command: &[OsString], variables: &[(&str, OsString)]) -> io::Result<Self> {
        let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let variables = variables.iter().map(|(name, value)| (name, value));
        let child = Command::new(program).args(args).envs(variables).process_group(0).spawn()?;
        let group = Pid::from_child(&child);
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        // `waitpid` blocks; tokio's own wait does not report that a process was stopped.
        std::thread::spawn(move || watch(group, &sender));
        Ok(Self { group, events })
    }

    pub(super) fn group(&self) -> Pid {
        self.group
    }

    pub(super) async fn next_event(&mut self) -> ClientEvent {
        // The watching thread sends the end before it drops the sender.
        self.events.recv().await.unwrap_or(ClientEvent::Ended(1))
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        // Fails if the group has ended; then the event of its end follows.
        let _ = kill_process_group(self.group, signal);
    }

    /// Asks the client to end, also if it is stopped.
    pub(super) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }
}

fn watch(client: Pid, events: &mpsc::Sender<ClientEvent>) {
    loop {
        let event = match waitpid(Some(client), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => ClientEvent::Stopped,
            Ok(Some((_, status))) => ClientEvent::Ended(exit_code(status)),
            Ok(None) | Err(Errno::INTR) => continue,
            // Another part of this process has waited for the client, so its status is unknown.
            Err(_) => ClientEvent::Ended(1),
        };
        // Fails when the supervisor has ended; then its process is ending too.
        if events.blocking_send(event).is_err() || event != ClientEvent::Stopped {
            return;
        }
    }
}

/// The exit code as a shell reports it: 128 plus the signal, if a signal ended the process.
fn exit_code(status: WaitStatus) -> u8 {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(by_signal).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
