//! Runs a program that shows or sends a note, with a time limit and without a shell.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines, Take};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::send_error::SendError;

/// Longest run time. A program that shows a note and waits until it is closed would hold up the next one.
const RUN_MAX: Duration = Duration::from_secs(10);
/// Most bytes read of the output, and of the error output.
const OUTPUT_BYTES_MAX: u64 = 4 * 1024;
/// Longest part of the error output that is shown.
const ERROR_CHARS_MAX: usize = 200;
/// How long to wait for the end of the error output after the program ended: a child process of it may keep the pipe open.
const LEFT_OPEN_MAX: Duration = Duration::from_millis(200);

/// A program that printed its first line and still runs. Dropping this kills the program.
#[derive(Debug)]
pub(super) struct RunningProgram {
    _child: Child,
    lines: Lines<BufReader<Take<ChildStdout>>>,
}

impl RunningProgram {
    /// Waits for the next line. `None` if the program ended without one.
    pub(super) async fn next_line(&mut self) -> Option<String> {
        self.lines.next_line().await.ok().flatten()
    }
}

/// Runs the command with `input` on standard input. Fails if the program does not exit with success.
pub(super) async fn run(mut command: Command, input: &[u8]) -> Result<(), SendError> {
    let name = prepare(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let ended = timeout(RUN_MAX, async {
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        tokio::join!(write(stdin, input), wait_for_end(child)).1
    });
    explain(&name, ended.await.map_err(|_| late(&name))?)
}

/// Runs the command until it prints a line. `None` if it ended with success without one.
pub(super) async fn run_until_line(mut command: Command) -> Result<Option<RunningProgram>, SendError> {
    let name = prepare(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| could_not_run(&name, &error))?;
    let Some(stdout) = child.stdout.take() else { return Ok(None) };
    let mut lines = BufReader::new(stdout.take(OUTPUT_BYTES_MAX)).lines();
    let first = timeout(RUN_MAX, lines.next_line()).await.map_err(|_| late(&name))?;
    if first.is_ok_and(|line| line.is_some()) {
        return Ok(Some(RunningProgram { _child: child, lines }));
    }
    let ended = timeout(RUN_MAX, wait_for_end(child)).await.map_err(|_| late(&name))?;
    explain(&name, ended).map(|()| None)
}

/// Sets what both ways to run have in common, and returns the name of the program.
fn prepare(command: &mut Command) -> String {
    // The token of the board is not for other programs.
    command.env_remove("FLIGHTDECK_TOKEN").kill_on_drop(true).stderr(Stdio::piped());
    command.as_std().get_program().to_string_lossy().into_owned()
}

async fn write(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // Fails if the program closes its input without reading it, which is not an error.
        let _ = stdin.write_all(input).await;
    }
}

/// Waits until the program exits. Returns `None` on success, otherwise its error output or its exit status.
async fn wait_for_end(mut child: Child) -> io::Result<Option<String>> {
    // Dropping the set ends the reading, even if a child process keeps the error output open.
    let mut errors = JoinSet::new();
    errors.spawn(read(child.stderr.take()));
    let ended = child.wait().await?;
    if ended.success() {
        return Ok(None);
    }
    let said = timeout(LEFT_OPEN_MAX, errors.join_next()).await.ok().flatten();
    let said = said.and_then(Result::ok).unwrap_or_default();
    let said = flightdeck_core::text::one_line(&String::from_utf8_lossy(&said), ERROR_CHARS_MAX);
    Ok(Some(if said.is_empty() { ended.to_string() } else { said }))
}

async fn read(stderr: Option<ChildStderr>) -> Vec<u8> {
    let mut said = Vec::new();
    if let Some(stderr) = stderr {
        // If reading fails, the part that was read is shown.
        let _ = stderr.take(OUTPUT_BYTES_MAX).read_to_end(&mut said).await;
    }
    said
}

fn explain(name: &str, ended: io::Result<Option<String>>) -> Result<(), SendError> {
    match ended {
        Ok(None) => Ok(()),
        Ok(Some(said)) => Err(SendError::Final(format!("{name} failed: {said}"))),
        Err(error) => Err(could_not_run(name, &error)),
    }
}

fn could_not_run(name: &str, error: &io::Error) -> SendError {
    SendError::Final(match error.kind() {
        io::ErrorKind::NotFound => format!("{name} was not found on the daemon's PATH"),
        _ => format!("{name} could not be run: {error}"),
    })
}

/// The program may have shown the note before it hung.
fn late(name: &str) -> SendError {
    SendError::Unclear(format!("{name} did not end within {} s and was stopped", RUN_MAX.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        command
    }

    #[tokio::test]
    async fn a_failure_says_what_the_program_said() {
        assert_eq!(run(shell("cat > /dev/null"), b"x").await, Ok(()));
        let failed = |why: &str| Err(SendError::Final(why.to_owned()));
        assert_eq!(run(shell("echo no bus >&2; exit 3"), b"").await, failed("/bin/sh failed: no bus"));
        assert_eq!(run(shell("exit 3"), b"").await, failed("/bin/sh failed: exit status: 3"));
        let missing = "no-such-notifier was not found on the daemon's PATH";
        assert_eq!(run(Command::new("no-such-notifier"), b"").await, failed(missing));
    }

    #[tokio::test]
    async fn a_program_left_behind_does_not_delay_the_failure() {
        let started = std::time::Instant::now();
        assert!(run(shell("sleep 60 & exit 1"), b"").await.is_err());
        assert!(started.elapsed() < RUN_MAX);
    }

    #[tokio::test]
    async fn a_program_that_waits_for_a_click_is_done_once_it_printed_a_line() {
        let mut shown = run_until_line(shell("echo 7; read line; echo default")).await.unwrap().unwrap();
        assert_eq!(shown.next_line().await.as_deref(), Some("default"));
        assert!(run_until_line(shell("exit 0")).await.unwrap().is_none());
        let failed = run_until_line(shell("echo Unknown option --print-id >&2; exit 1")).await;
        assert!(failed.unwrap_err().to_string().contains("Unknown option"));
    }
}
