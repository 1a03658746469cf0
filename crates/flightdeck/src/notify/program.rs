//! Runs a program for a note: with a time limit, without a shell, and without its output.

use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::target::SendError;

/// Longest run time. A program that shows a note and waits until it is closed would hold up the next one.
const RUN_MAX: Duration = Duration::from_secs(10);
/// Most bytes read of the error output.
const ERROR_BYTES_MAX: u64 = 4 * 1024;
/// Longest part of the error output that is shown.
const ERROR_CHARS_MAX: usize = 200;

/// Runs the command with this on standard input. Fails if the program does not end with success.
pub(super) async fn run(mut command: Command, input: &[u8]) -> Result<(), SendError> {
    let name = name(&command);
    // The token of the board is not for other programs.
    command.env_remove("FLIGHTDECK_TOKEN").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let ended = tokio::time::timeout(RUN_MAX, run_to_end(command, input)).await;
    // The program may have shown the note before it hung.
    let ended = ended.map_err(|_| {
        SendError::Unclear(format!("{name} did not end within {} s and was stopped", RUN_MAX.as_secs()))
    })?;
    match ended {
        Ok((true, _)) => Ok(()),
        Ok((false, said)) => Err(SendError::Final(format!("{name} failed: {said}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(SendError::Final(format!("{name} was not found on the daemon's PATH")))
        }
        Err(error) => Err(SendError::Final(format!("{name} could not be run: {error}"))),
    }
}

fn name(command: &Command) -> String {
    let program: &OsStr = command.as_std().get_program();
    program.to_string_lossy().into_owned()
}

async fn run_to_end(mut command: Command, input: &[u8]) -> io::Result<(bool, String)> {
    let mut child = command.spawn()?;
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input closes it; that is no failure.
            let _ = stdin.write_all(input).await;
        }
    };
    let read = async {
        let mut said = Vec::new();
        if let Some(stderr) = stderr {
            // What was read before an error is shown.
            let _ = stderr.take(ERROR_BYTES_MAX).read_to_end(&mut said).await;
        }
        said
    };
    let wait = async { child.wait().await };
    // Not until the error output is closed: a program may leave another one behind that keeps it open.
    let mut said = Vec::new();
    let ended = {
        let mut reading = std::pin::pin!(async { tokio::join!(write, read).1 });
        let mut waiting = std::pin::pin!(wait);
        tokio::select! {
            ended = &mut waiting => {
                if let Ok(text) = tokio::time::timeout(Duration::from_millis(200), &mut reading).await {
                    said = text;
                }
                ended?
            }
            text = &mut reading => {
                said = text;
                waiting.await?
            }
        }
    };
    let said = flightdeck_core::text::one_line(&String::from_utf8_lossy(&said), ERROR_CHARS_MAX);
    let said = if said.is_empty() { ended.to_string() } else { said };
    Ok((ended.success(), said))
}
