//! Calls tmux without a shell, with a time limit and an output limit.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Longest call. A call usually takes a few milliseconds; a server that takes longer than this is stuck.
pub const CALL_MAX: Duration = Duration::from_secs(4);
/// Largest output. A screen of 500 columns and 200 rows with a colour for every cell needs half of this.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error(
        "tmux was not found on the daemon's PATH: install it, or start the daemon with a PATH that has it"
    )]
    NotInstalled,
    #[error("tmux did not reply within {} s", CALL_MAX.as_secs())]
    TooSlow,
    #[error("tmux printed more than {OUTPUT_BYTES_MAX} bytes")]
    TooMuch,
    /// tmux failed with this error message.
    #[error("tmux says: {0}")]
    Failed(String),
    #[error("tmux could not be run: {0}")]
    Io(#[from] io::Error),
}

/// Makes one call to the tmux server behind a socket.
pub trait Tmux: Send + Sync {
    fn call(
        &self,
        server: &Path,
        args: &[&str],
        input: Option<&[u8]>,
    ) -> impl Future<Output = Result<String, TmuxError>> + Send;
}

/// The tmux program on PATH.
#[derive(Debug, Default)]
pub struct TmuxProgram;

impl Tmux for TmuxProgram {
    async fn call(&self, server: &Path, args: &[&str], input: Option<&[u8]>) -> Result<String, TmuxError> {
        match tokio::time::timeout(CALL_MAX, run(command(server, args), input)).await {
            Ok(answer) => answer,
            // Dropping the call kills the process.
            Err(_) => Err(TmuxError::TooSlow),
        }
    }
}

fn command(server: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("tmux");
    // -u: names and screens are UTF-8 in any locale of the daemon.
    command.arg("-u").arg("-S").arg(server).args(args).env_clear().kill_on_drop(true);
    for name in ["PATH", "HOME"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
}

async fn run(mut command: Command, input: Option<&[u8]>) -> Result<String, TmuxError> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let spawned = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => TmuxError::NotInstalled,
        _ => TmuxError::Io(e),
    })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            stdin.write_all(input).await?;
        }
        io::Result::Ok(())
    };
    let (written, answer, complaint) = tokio::join!(write, read(stdout), read(stderr));
    let (answer, complaint) = (answer?, complaint?);
    if !child.wait().await?.success() {
        return Err(TmuxError::Failed(flightdeck_core::text::one_line(&complaint, ERROR_CHARS_MAX)));
    }
    written?;
    Ok(answer)
}

/// Longest part of tmux's error message that is shown.
const ERROR_CHARS_MAX: usize = 300;

async fn read(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> Result<String, TmuxError> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).await?;
    }
    if bytes.len() > OUTPUT_BYTES_MAX {
        return Err(TmuxError::TooMuch);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
