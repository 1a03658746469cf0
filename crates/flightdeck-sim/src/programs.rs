//! Programs that a test writes, feeds and runs.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

/// Every pipe buffers at least this much.
const PIPE_BYTES_MIN: usize = 4096;

/// Writes a shell script that can be run at once. A separate process writes it: a child forked by another thread meanwhile
/// would inherit our open file, and a program that is open for writing cannot be run.
pub fn write_script(path: &Path, body: &str) -> io::Result<()> {
    let (stdin, _) = stdin_with(format!("#!/bin/sh\n{body}\n").into_bytes())?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"cat > "$1" && chmod 755 "$1""#, "sh"]).arg(path).stdin(stdin);
    match shell.status()?.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("cannot write {}", path.display()))),
    }
}

/// A stdin with this input and then its end. A small input is in the pipe before the program starts, so a program with a
/// read timeout never waits. The thread returns whether the program read everything.
pub fn stdin_with(input: Vec<u8>) -> io::Result<(Stdio, JoinHandle<io::Result<()>>)> {
    let (reader, mut writer) = io::pipe()?;
    if input.len() > PIPE_BYTES_MIN {
        return Ok((reader.into(), std::thread::spawn(move || writer.write_all(&input))));
    }
    let written = writer.write_all(&input);
    drop(writer);
    Ok((reader.into(), std::thread::spawn(|| written)))
}
