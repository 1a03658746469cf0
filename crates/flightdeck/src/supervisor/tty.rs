//! The controlling terminal: given to the client while it runs, and taken back with the settings it had before.

use std::fs::File;
use std::io::{self, Write};

use nix::sys::signal::{SigSet, SigmaskHow, Signal as NixSignal};
use rustix::process::{Pid, getpgrp};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

/// Ends what a client that was killed left switched on: the alternate screen, a hidden cursor, bracketed paste, mouse and focus
/// reports, the extended keyboard, colours.
const RESET: &[u8] =
    b"\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[0m";

#[derive(Debug)]
pub(super) struct Tty {
    device: File,
    /// The settings before the client changed them.
    ours: Termios,
    /// The client that has the terminal, or had it when it was stopped.
    given: Option<ForegroundClient>,
}

#[derive(Debug)]
struct ForegroundClient {
    group: Pid,
    /// The settings of the terminal when the client was stopped.
    settings: Option<Termios>,
}

impl Tty {
    /// `None` without a controlling terminal.
    pub(super) fn open() -> Option<Self> {
        let device = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let ours = tcgetattr(&device).ok()?;
        Some(Self { device, ours, given: None })
    }

    /// Makes the group of this process the foreground. A client calls it before it becomes the client.
    pub(super) fn come_to_front(&self) -> io::Result<()> {
        without_ttou(|| tcsetpgrp(&self.device, getpgrp()))
    }

    /// Whether this process is in the foreground. A background job must not take the terminal from its shell.
    pub(super) fn is_in_front(&self) -> bool {
        self.foreground_group() == Some(getpgrp())
    }

    fn foreground_group(&self) -> Option<Pid> {
        tcgetpgrp(&self.device).ok()
    }

    /// Makes the client's process group the foreground, with the settings it had when it was stopped.
    pub(super) fn give_to(&mut self, group: Pid) -> io::Result<()> {
        let stopped = self.given.take().filter(|given| given.group == group).and_then(|given| given.settings);
        if let Some(settings) = &stopped {
            self.set(settings)?;
        }
        self.given = Some(ForegroundClient { group, settings: None });
        without_ttou(|| tcsetpgrp(&self.device, group))
    }

    /// Makes this process the foreground again, unless a shell has taken the terminal meanwhile. Restores the settings.
    pub(super) fn take_back(&mut self) -> io::Result<()> {
        let Some(given) = &mut self.given else { return Ok(()) };
        // Without a group in the foreground the client has ended.
        if tcgetpgrp(&self.device).is_ok_and(|front| front != given.group) {
            return Ok(());
        }
        given.settings = tcgetattr(&self.device).ok();
        without_ttou(|| tcsetpgrp(&self.device, getpgrp()))?;
        self.set(&self.ours)
    }

    fn set(&self, settings: &Termios) -> io::Result<()> {
        without_ttou(|| tcsetattr(&self.device, OptionalActions::Now, settings))
    }

    /// After a client was killed, which could not tidy up.
    pub(super) fn reset(&mut self) -> io::Result<()> {
        self.device.write_all(RESET)
    }
}

/// Changes the terminal although this process is in the background: the kernel would stop it with SIGTTOU.
fn without_ttou<T>(change: impl FnOnce() -> rustix::io::Result<T>) -> io::Result<T> {
    let mut ttou = SigSet::empty();
    ttou.add(NixSignal::SIGTTOU);
    let before = ttou.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(io::Error::from)?;
    let changed = change();
    before.thread_set_mask().map_err(io::Error::from)?;
    Ok(changed?)
}
