//! `flightdeck statusline`: tells the daemon what the client's status line knows, then *becomes* the person's own command.
//!
//! Its process is replaced (exec), so that output, exit code, signals and timing are those of their command. The daemon
//! is told first, without ever waiting for it: nothing it does or does not do can hold up the line. Only the newest line
//! matters, so one that nobody takes is dropped, not spooled.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::wire::statusline;
use serde_json::{Map, Value};

use super::frame::{Frame, Stamp};
use super::limits::{PIPE_BYTES, STATUS_LINE_FED_BYTES_MAX};
use super::{default_line, socket, stdin};
use crate::inlet::frame::parse_body;
use crate::paths::Paths;

/// What a shell says of a command that it could not start.
const NOT_STARTED: u8 = 126;

/// Exits as the person's own command does; without one, always 0.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    // Nothing below is meant to panic; if it does, the line must be printed all the same.
    std::panic::set_hook(Box::new(|_| {}));
    let stamp = Stamp::now();
    let options = Options::of(args);
    let mut input = Vec::new();
    // What a writer that never closes had said until then is what there is.
    stdin::read_to_end(rustix::stdio::stdin(), &mut input, HOOK_BODY_BYTES_MAX);
    let feed = || {
        std::panic::catch_unwind(|| {
            let payload =
                (input.len() <= STATUS_LINE_FED_BYTES_MAX).then(|| parse_body(&input).ok()).flatten();
            let payload = payload?;
            options.feed(&payload, &stamp);
            Some(payload)
        })
    };
    match &options.own {
        Some(own) => {
            // A line we cannot read is theirs to read.
            let _ = feed();
            become_own(own, &input)
        }
        None => {
            if let Ok(Some(payload)) = feed() {
                print(&default_line::line(&payload, default_line::colour_is_wanted()));
            }
            ExitCode::SUCCESS
        }
    }
}

fn print(line: &str) {
    let mut out = io::stdout().lock();
    // The client is gone or does not listen: nobody is left to tell.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Returns only if the shell could not be started.
fn become_own(own: &OsStr, input: &[u8]) -> ExitCode {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(own);
    if let Ok(stdin) = holding(input) {
        shell.stdin(stdin);
    }
    let _error = shell.exec();
    ExitCode::from(NOT_STARTED)
}

/// Something to read `input` from again. What fits goes into a pipe, as the client itself hands it over.
fn holding(input: &[u8]) -> io::Result<OwnedFd> {
    if input.len() <= PIPE_BYTES {
        let (reader, mut writer) = io::pipe()?;
        writer.write_all(input)?;
        return Ok(reader.into());
    }
    let mut file = memory_file()?;
    file.write_all(input)?;
    io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

#[cfg(target_os = "linux")]
fn memory_file() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("statusline", rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> io::Result<File> {
    tempfile::tempfile()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    home: Option<PathBuf>,
    /// The person's own command, for the shell.
    own: Option<OsString>,
}

impl Options {
    /// `[--home DIR] [-- COMMAND]`. Whatever else stands before `--` is passed over, as the hook does.
    fn of(mut args: impl Iterator<Item = OsString>) -> Self {
        let before: Vec<OsString> = args.by_ref().take_while(|arg| arg != "--").collect();
        let words: Vec<OsString> = args.collect();
        let own = words.join(OsStr::new(" "));
        let blank = own.as_bytes().trim_ascii().is_empty();
        Self { home: super::Options::of(before.into_iter()).home, own: (!blank).then_some(own) }
    }

    fn feed(&self, payload: &Map<String, Value>, stamp: &Stamp) -> Option<()> {
        let paths = Paths::resolve(self.home.as_deref(), |name| std::env::var_os(name)).ok()?;
        // Reduced here already: then it always fits into the socket at once.
        let kept = Value::Object(statusline::draft(payload, Map::new()).payload);
        let frame = Frame::of("statusline", &serde_json::to_vec(&kept).ok()?, stamp)?;
        socket::tell(&paths.socket(), frame.as_bytes())
    }
}

/// [`OsStr`] has no join of its own.
trait Join {
    fn join(&self, between: &OsStr) -> OsString;
}

impl Join for Vec<OsString> {
    fn join(&self, between: &OsStr) -> OsString {
        let words: Vec<&[u8]> = self.iter().map(|word| word.as_bytes()).collect();
        OsString::from_vec(words.join(between.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_stands_behind_the_dashes_is_the_persons_command() {
        let of = |args: &[&str]| Options::of(args.iter().map(OsString::from));
        let told = of(&["statusline", "--home", "/h", "--", "jq -r .model --home /x"]);
        assert_eq!((told.home, told.own), (Some("/h".into()), Some("jq -r .model --home /x".into())));
        assert_eq!(of(&["--home=/h", "statusline", "--", "echo", "a"]).own, Some("echo a".into()));
        assert_eq!(of(&["statusline"]), Options::default());
        assert_eq!(of(&["statusline", "--", " "]).own, None);
        assert_eq!(of(&["statusline", "--", "a --", "--"]).own, Some("a -- --".into()));
    }

    #[test]
    fn the_input_can_be_read_again_whatever_its_size() {
        for len in [0, 1, PIPE_BYTES, PIPE_BYTES + 1, 3 << 20] {
            let input: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut again = Vec::new();
            File::from(holding(&input).unwrap()).read_to_end(&mut again).unwrap();
            assert!(again == input, "{len}");
        }
    }
}
