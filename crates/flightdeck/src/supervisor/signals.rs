//! The signals that the supervisor receives itself. Keys typed in the terminal go to the client's process group instead (`interrupts.rs`).

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::time::Instant;

use crate::process;

/// Two interrupts within this time end the client and the supervisor.
const TWICE_WITHIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Signals {
    interrupt: unix::Signal,
    quit: unix::Signal,
    terminate: unix::Signal,
    /// `None` under nohup.
    hangup: Option<unix::Signal>,
    goes_on: unix::Signal,
    last_interrupt: Option<Instant>,
}

/// What a signal to the supervisor means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalMeaning {
    /// The client gets it too.
    PassOn(Signal),
    /// The client gets it too, and both end.
    End(Signal),
    /// A shell continued this job.
    Continue,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let hangup = match process::outlives_its_terminal() {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
            goes_on: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            last_interrupt: None,
        })
    }

    pub(super) async fn next(&mut self) -> SignalMeaning {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => self.interrupted(Instant::now()),
            _ = self.quit.recv() => SignalMeaning::PassOn(Signal::QUIT),
            _ = self.terminate.recv() => SignalMeaning::End(Signal::TERM),
            () = hangup => SignalMeaning::End(Signal::HUP),
            _ = self.goes_on.recv() => SignalMeaning::Continue,
        }
    }

    fn interrupted(&mut self, now: Instant) -> SignalMeaning {
        match self.is_second_interrupt(now) {
            true => SignalMeaning::End(Signal::TERM),
            false => SignalMeaning::PassOn(Signal::INT),
        }
    }

    /// Notes an interrupt of the supervisor or of the client. Whether there was another one within a second before it.
    pub(super) fn is_second_interrupt(&mut self, now: Instant) -> bool {
        let before = self.last_interrupt.replace(now);
        before.is_some_and(|before| now - before < TWICE_WITHIN)
    }
}
