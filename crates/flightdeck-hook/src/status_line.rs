//! `flightdeck statusline`: sends the client's status line to the daemon, then *becomes* the person's own command.
//!
//! The process is replaced (exec), so that output, exit code, signals and timing are those of that command. The daemon comes
//! first, but is never waited for, so it cannot delay the line. Only the newest line matters, so a line that cannot be sent
//! is dropped, not spooled.

mod fields;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::delivery::send_without_reply;
use crate::frame::Frame;
use crate::hook;
use crate::limits::{HOOK_BODY_BYTES_MAX, PIPE_BYTES, STATUS_LINE_READ_BYTES_MAX};
use crate::paths::Paths;
use crate::stamp::Stamp;
use crate::stdin;
pub use fields::kept_fields;

/// The exit code of a shell whose command could not be started.
const NOT_STARTED: u8 = 126;

/// Exits as the person's own command does; without such a command, always 0. `draw` makes the line to print for a person
/// without a command of their own.
pub fn run(args: impl Iterator<Item = OsString>, draw: fn(&[u8]) -> String) -> ExitCode {
    // Nothing below should panic. If it does, the line must be printed nevertheless.
    std::panic::set_hook(Box::new(|_| {}));
    let stamp = Stamp::now();
    let options = StatusLineOptions::parse(args);
    let mut input = Vec::new();
    // If the writer never closes stdin, the bytes read until the time limit are used.
    stdin::read_to_end(rustix::stdio::stdin(), &mut input, HOOK_BODY_BYTES_MAX);
    let is_readable = input.len() <= STATUS_LINE_READ_BYTES_MAX;
    // A line that is not JSON is only passed on to the person's own command.
    let _ = std::panic::catch_unwind(|| is_readable.then(|| options.send(&input, &stamp)));
    if let Some(own) = &options.own {
        return become_own(own, &input);
    }
    if let Ok(Some(line)) = std::panic::catch_unwind(|| is_readable.then(|| draw(&input))) {
        hook::print(line.as_bytes());
    }
    ExitCode::SUCCESS
}

/// Returns only if the shell could not be started.
fn become_own(own: &OsStr, input: &[u8]) -> ExitCode {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(own);
    if let Ok(stdin) = readable_again(input) {
        shell.stdin(stdin);
    }
    let _error = shell.exec();
    ExitCode::from(NOT_STARTED)
}

/// A descriptor to read `input` from again: a pipe if it fits, as the client itself passes it.
fn readable_again(input: &[u8]) -> io::Result<OwnedFd> {
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
struct StatusLineOptions {
    home: Option<PathBuf>,
    /// The person's own command, for the shell.
    own: Option<OsString>,
}

impl StatusLineOptions {
    /// `[--home DIR] [-- COMMAND]`. All other arguments before `--` are ignored, as the hook does.
    fn parse(mut args: impl Iterator<Item = OsString>) -> Self {
        let before: Vec<OsString> = args.by_ref().take_while(|arg| arg != "--").collect();
        let words: Vec<OsString> = args.collect();
        let own = words.join(OsStr::new(" "));
        let blank = own.as_bytes().trim_ascii().is_empty();
        Self { home: hook::HookOptions::parse(before.into_iter()).home, own: (!blank).then_some(own) }
    }

    fn send(&self, payload: &[u8], stamp: &Stamp) -> Option<()> {
        let paths = Paths::resolve(self.home.as_deref(), |name| std::env::var_os(name)).ok()?;
        // Reduced before it is sent, so that it always fits into the socket at once.
        let frame = Frame::new("statusline", &kept_fields(payload)?, stamp);
        send_without_reply(&paths.socket(), frame.as_bytes())
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
    fn the_words_after_two_dashes_are_the_persons_command() {
        let of = |args: &[&str]| StatusLineOptions::parse(args.iter().map(OsString::from));
        let parsed = of(&["statusline", "--home", "/h", "--", "jq -r .model --home /x"]);
        assert_eq!((parsed.home, parsed.own), (Some("/h".into()), Some("jq -r .model --home /x".into())));
        assert_eq!(of(&["--home=/h", "statusline", "--", "echo", "a"]).own, Some("echo a".into()));
        assert_eq!(of(&["statusline"]), StatusLineOptions::default());
        assert_eq!(of(&["statusline", "--", " "]).own, None);
        assert_eq!(of(&["statusline", "--", "a --", "--"]).own, Some("a -- --".into()));
    }

    #[test]
    fn input_of_any_size_can_be_read_again() {
        for len in [0, 1, PIPE_BYTES, PIPE_BYTES + 1, 3 << 20] {
            let input: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut again = Vec::new();
            File::from(readable_again(&input).unwrap()).read_to_end(&mut again).unwrap();
            assert!(again == input, "{len}");
        }
    }
}
