//! Ctrl-C while the client has the terminal. The kernel sends the signal to the process group in the foreground, which is the client's, so
//! the supervisor does not get it. A small process in that group, the reporter, writes a byte to the supervisor for each signal. A client
//! that reads the key itself, in raw mode, causes no signal: then it decides alone what Ctrl-C means.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};

/// Signals to the group that must neither end nor stop the reporter. It ends when the supervisor closes its standard input.
const IGNORED: [Signal; 6] =
    [Signal::TERM, Signal::HUP, Signal::QUIT, Signal::TSTP, Signal::TTIN, Signal::TTOU];

/// The reporter of one client. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct InterruptReporter {
    command: Vec<OsString>,
    group: Pid,
    running: Option<(Child, ChildStdout)>,
}

impl InterruptReporter {
    /// Starts the reporter in the client's process group. `None` as the command: no signal is reported.
    pub(super) fn start(command: Option<&[OsString]>, group: Pid) -> Self {
        let mut reporter = Self { command: command.unwrap_or_default().to_vec(), group, running: None };
        reporter.run();
        reporter
    }

    fn run(&mut self) {
        if self.command.is_empty() {
            return;
        }
        self.running = match spawn(&self.command, self.group) {
            Ok(running) => Some(running),
            // The client may have ended, and its group with it.
            Err(error) => {
                tracing::warn!(%error, "Ctrl-C in the client's terminal is not noticed");
                None
            }
        };
    }

    /// Returns when the client's group got SIGINT. May be cancelled.
    pub(super) async fn next(&mut self) {
        while let Some((child, reports)) = &mut self.running {
            match reports.read(&mut [0]).await {
                Ok(1..) => return,
                Ok(0) | Err(_) => {
                    let ended = child.wait().await.ok().and_then(|status| status.signal());
                    self.running = None;
                    // The signal came before the process could handle it.
                    if ended == Some(Signal::INT.as_raw()) {
                        self.run();
                        return;
                    }
                }
            }
        }
        std::future::pending().await
    }
}

fn spawn(command: &[OsString], group: Pid) -> io::Result<(Child, ChildStdout)> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).process_group(group.as_raw_nonzero().get());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
    let reports = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((child, reports))
}

/// The reporter itself: writes a byte for each SIGINT, until the supervisor has ended.
pub async fn report_interrupts() -> io::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    // A handler replaces what the signal does otherwise, and stays after the stream is dropped.
    for ignored in IGNORED {
        drop(signal(SignalKind::from_raw(ignored.as_raw()))?);
    }
    let mut supervisor = pipe::Receiver::from_owned_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    let mut reports = pipe::Sender::from_owned_fd(std::io::stdout().as_fd().try_clone_to_owned()?)?;
    let mut nothing = [0];
    loop {
        tokio::select! {
            _ = interrupts.recv() => reports.write_all(b"i").await?,
            // Nothing is ever written to it.
            _ = supervisor.read(&mut nothing) => return Ok(()),
        }
    }
}
