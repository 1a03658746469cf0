//! Calls tmux: no shell, a bounded time, a bounded answer.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// A server that does not answer in this time is stuck; each call usually takes a few milliseconds.
pub const CALL_MAX: Duration = Duration::from_secs(4);
/// A screen of 500 columns and 200 rows with a colour for every cell is half of this.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux is not installed where the daemon looks for it (its PATH)")]
    NotInstalled,
    #[error("tmux did not answer within {} s", CALL_MAX.as_secs())]
    TooSlow,
    #[error("tmux answered with more than {OUTPUT_BYTES_MAX} bytes")]
    TooMuch,
    /// In tmux's own words.
    #[error("tmux says: {0}")]
    Said(String),
    #[error("tmux could not be run: {0}")]
    Io(#[from] io::Error),
}

/// One call to the server behind a socket.
pub trait Tmux: Send + Sync {
    fn call(
        &self,
        server: &Path,
        args: &[&str],
        input: Option<&[u8]>,
    ) -> impl Future<Output = Result<String, TmuxError>> + Send;
}

/// The real one.
#[derive(Debug, Default)]
pub struct Program;

impl Tmux for Program {
    async fn call(&self, server: &Path, args: &[&str], input: Option<&[u8]>) -> Result<String, TmuxError> {
        match tokio::time::timeout(CALL_MAX, run(command(server, args), input)).await {
            Ok(answer) => answer,
            // Dropping the call kills it.
            Err(_) => Err(TmuxError::TooSlow),
        }
    }
}

fn command(server: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("tmux");
    // -u: names and screens are UTF-8 whatever the daemon was started with.
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
        return Err(TmuxError::Said(flightdeck_core::text::one_line(&complaint, SAID_CHARS_MAX)));
    }
    written?;
    Ok(answer)
}

/// Of what tmux complains about, on one line.
const SAID_CHARS_MAX: usize = 300;

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
