//! `flightdeck hook`: takes one event from Claude Code on stdin and hands it to the daemon.
//!
//! It runs inside somebody's turn, so it is quick, silent and never fails: no runtime, no configuration, and the
//! payload is not even parsed. Whatever goes wrong, the event lies in the spool and the exit code is 0.
//!
//! The way: [`stdin`] → [`frame`] (with the facts of [`client`]) → [`socket`] → stdout, or [`spill`].

mod client;
mod default_line;
pub(crate) mod frame;
mod limits;
mod pick;
mod socket;
pub(crate) mod spill;
pub mod status_line;
mod stdin;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::paths::Paths;
use frame::{Frame, Stamp};
use socket::Outcome;

/// Always exits 0, and prints exactly the verdict or nothing.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    // Nothing below is meant to panic; if it does, the client must neither see it nor stop for it.
    std::panic::set_hook(Box::new(|_| {}));
    let options = Options::of(args);
    let _ = std::panic::catch_unwind(|| pass_on(&options));
    ExitCode::SUCCESS
}

fn pass_on(options: &Options) -> Option<()> {
    let stamp = Stamp::now();
    let paths = Paths::resolve(options.home.as_deref(), |name| std::env::var_os(name)).ok()?;
    let frame = Frame::from_stdin(&stamp, options.hold_s)?;
    match socket::deliver(&paths.socket(), frame.as_bytes(), options.ack_within()) {
        Outcome::Taken { verdict: Some(verdict) } => print(verdict.get().as_bytes()),
        // A refusal is final: spooled, it would only be refused again.
        Outcome::Taken { verdict: None } | Outcome::Refused => {}
        // A disk that is full or not ours leaves nothing more to do.
        Outcome::NotTaken => drop(spill::write(&paths.spool(), &stamp, frame.as_bytes())),
    }
    Some(())
}

fn print(verdict: &[u8]) {
    let mut out = std::io::stdout().lock();
    // The client is gone or does not listen: nobody is left to tell.
    let _ = out.write_all(verdict).and_then(|()| out.flush());
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    home: Option<PathBuf>,
    /// How long the daemon may take to acknowledge, instead of [`limits::ACK_WITHIN`]: for a hook that is going to be
    /// held anyway, where a late acknowledgement would cost the person the answer.
    ack_ms: Option<u64>,
    /// When the client ends this hook, for one that may be held.
    hold_s: Option<u32>,
}

impl Options {
    /// `--home DIR`, `--ack-ms N`, `--hold-s N`, or with `=`. Anything else is passed over: a handler written by another version still
    /// delivers.
    fn of(mut args: impl Iterator<Item = OsString>) -> Self {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.as_bytes().iter().position(|b| *b == b'=') {
                Some(at) => {
                    (&arg.as_bytes()[..at], Some(OsStr::from_bytes(&arg.as_bytes()[at + 1..]).to_owned()))
                }
                None => (arg.as_bytes(), None),
            };
            match name {
                b"--home" => options.home = value.or_else(|| args.next()).map(PathBuf::from),
                b"--ack-ms" => {
                    options.ack_ms = value.or_else(|| args.next()).and_then(|v| v.to_str()?.parse().ok())
                }
                b"--hold-s" => {
                    options.hold_s = value.or_else(|| args.next()).and_then(|v| v.to_str()?.parse().ok())
                }
                _ => {}
            }
        }
        options
    }

    fn ack_within(&self) -> Duration {
        self.ack_ms.map_or(limits::ACK_WITHIN, Duration::from_millis).min(limits::ACK_WITHIN_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_both_spellings_and_among_unknown_ones() {
        let of = |args: &[&str]| Options::of(args.iter().map(OsString::from));
        assert_eq!(of(&["--home", "/h"]).home, Some("/h".into()));
        assert_eq!(of(&["--new", "x", "--home=/h=", "--ack-ms", "9"]).home, Some("/h=".into()));
        assert_eq!(of(&["--ack-ms=9", "--hold-s", "600"]).hold_s, Some(600));
        assert_eq!(of(&["--home"]), Options::default());
        assert_eq!(of(&[]), Options::default());
    }

    #[test]
    fn patience_is_bounded_whatever_a_handler_asks_for() {
        let ack = |ms: &str| Options::of(["--ack-ms", ms].iter().map(OsString::from)).ack_within();
        assert_eq!(ack("300"), Duration::from_millis(300));
        assert_eq!(ack("999999999999999"), limits::ACK_WITHIN_MAX);
        assert_eq!(ack("soon"), limits::ACK_WITHIN);
    }
}
