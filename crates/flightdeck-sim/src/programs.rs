//! Programs that a test writes, feeds and runs.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

/// What every pipe takes before anybody reads.
const PIPE_BYTES_MIN: usize = 4096;

/// A shell script that can be run at once. A process of its own writes it: a child that another thread forks meanwhile
/// would inherit our file, open for writing, and nobody can run a program that somebody writes.
pub fn script(path: &Path, body: &str) -> io::Result<()> {
    let (stdin, _) = stdin(format!("#!/bin/sh\n{body}\n").into_bytes())?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"cat > "$1" && chmod 755 "$1""#, "sh"]).arg(path).stdin(stdin);
    match shell.status()?.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("cannot write {}", path.display()))),
    }
}

/// All of this and then the end; a small input is in the pipe before the program starts, so that one which waits only so
/// long for it never has to. Beside it, whether the program took everything.
pub fn stdin(input: Vec<u8>) -> io::Result<(Stdio, JoinHandle<io::Result<()>>)> {
    let (reader, mut writer) = io::pipe()?;
    if input.len() > PIPE_BYTES_MIN {
        return Ok((reader.into(), std::thread::spawn(move || writer.write_all(&input))));
    }
    let written = writer.write_all(&input);
    drop(writer);
    Ok((reader.into(), std::thread::spawn(|| written)))
}
