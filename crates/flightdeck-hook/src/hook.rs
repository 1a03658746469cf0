//! `flightdeck hook`: reads one event from Claude Code on stdin and delivers it to the daemon.
//!
//! The client waits for this command, so it is fast, silent and never fails. It has no async runtime, reads no configuration
//! and does not parse the payload. If delivery fails, it writes the event to the spool. The exit code is always 0.
//!
//! Order: `stdin` → `frame` (with the facts of `client`) → `delivery` → stdout, or `spool`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::delivery::{Delivery, deliver, more_time_for};
use crate::frame::Frame;
use crate::limits;
use crate::paths::Paths;
use crate::spool;
use crate::stamp::Stamp;

/// Always exits 0, and prints exactly the verdict or nothing.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    // Nothing below should panic. If it does, the client must not see the message nor a failed exit code.
    std::panic::set_hook(Box::new(|_| {}));
    let options = HookOptions::parse(args);
    let _ = std::panic::catch_unwind(|| forward(&options));
    ExitCode::SUCCESS
}

fn forward(options: &HookOptions) -> Option<()> {
    let stamp = Stamp::now();
    let paths = Paths::resolve(options.home.as_deref(), |name| std::env::var_os(name)).ok()?;
    let frame = Frame::from_stdin(&stamp, options.hold_s, options.verdict)?;
    match deliver(&paths.socket(), frame.as_bytes(), options.ack_within(frame.as_bytes().len())) {
        Delivery::Answered(verdict) => {
            if print(&verdict.json) {
                verdict.confirm_printed();
            }
        }
        // A refused event is not spooled: the daemon would refuse it again.
        Delivery::Acknowledged | Delivery::Refused => {}
        // If the spool cannot be written either (full disk, folder of another user), the event is lost.
        Delivery::Failed => drop(spool::write(&paths.spool(), &stamp, frame.as_bytes())),
    }
    Some(())
}

/// False if the client has ended or closed the pipe: then the text has no reader.
pub(crate) fn print(text: &[u8]) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text).and_then(|()| out.flush()).is_ok()
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HookOptions {
    pub(crate) home: Option<PathBuf>,
    /// How long the daemon may take to acknowledge, instead of [`limits::ACK_WITHIN`]. For hooks that may be held: without an
    /// acknowledgement in time the person could not answer them.
    ack_ms: Option<u64>,
    /// Seconds until the client ends this hook. Only hooks that may be held have it.
    hold_s: Option<u32>,
    /// Whether the client waits for the reply, because an effort may deny the tool call or add context to it.
    verdict: bool,
}

impl HookOptions {
    /// `--home DIR`, `--ack-ms N`, `--hold-s N`, or with `=`, and `--verdict`. All other arguments are ignored, so that a handler that another
    /// version wrote still delivers.
    pub(crate) fn parse(mut args: impl Iterator<Item = OsString>) -> Self {
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
                b"--verdict" => options.verdict = true,
                _ => {}
            }
        }
        options
    }

    /// Longest wait for the acknowledgement of a frame with this many bytes.
    fn ack_within(&self, bytes: usize) -> Duration {
        let within =
            self.ack_ms.map_or(limits::ACK_WITHIN, Duration::from_millis).min(limits::ACK_WITHIN_MAX);
        // The client waits at each tool call: a large event that is late is spooled, and the call goes on.
        if self.verdict { within } else { within + more_time_for(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_both_spellings_and_among_unknown_ones() {
        let of = |args: &[&str]| HookOptions::parse(args.iter().map(OsString::from));
        assert_eq!(of(&["--home", "/h"]).home, Some("/h".into()));
        assert_eq!(of(&["--new", "x", "--home=/h=", "--ack-ms", "9"]).home, Some("/h=".into()));
        assert_eq!(of(&["--ack-ms=9", "--hold-s", "600"]).hold_s, Some(600));
        assert_eq!(of(&["--home"]), HookOptions::default());
        assert_eq!(of(&[]), HookOptions::default());
    }

    #[test]
    fn the_acknowledgement_time_has_a_bound() {
        let ack = |ms: &str| HookOptions::parse(["--ack-ms", ms].iter().map(OsString::from)).ack_within(0);
        assert_eq!(ack("300"), Duration::from_millis(300));
        assert_eq!(ack("999999999999999"), limits::ACK_WITHIN_MAX);
        assert_eq!(ack("soon"), limits::ACK_WITHIN);
    }

    #[test]
    fn only_a_tool_call_that_waits_for_a_verdict_gets_no_more_time_for_its_size() {
        let of = |args: &[&str]| HookOptions::parse(args.iter().map(OsString::from)).ack_within(20 << 20);
        assert_eq!(of(&["--verdict"]), limits::ACK_WITHIN);
        assert_eq!(of(&[]), limits::ACK_WITHIN + Duration::from_millis(500));
    }
}
