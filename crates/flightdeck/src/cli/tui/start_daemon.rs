//! Starts a daemon if none runs for this home. It stays when the TUI ends.

use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use flightdeck_protocol::daemon::GetStatus;

use crate::client::{BlockingClient, ClientError};
use crate::paths::Paths;

/// Longest start of a daemon, with a large log on a slow disk.
const START_MAX: Duration = Duration::from_secs(30);
/// Time between two tries to reach it.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest error output that is shown.
const ERROR_CHARS_MAX: usize = 2000;

/// Starts a daemon if none runs. Returns a sentence for the person, or `None` if one runs already.
pub(super) fn ensure(paths: &Paths) -> anyhow::Result<Option<String>> {
    match BlockingClient::connect(paths) {
        Ok(_) => Ok(None),
        Err(ClientError::NotRunning { .. }) => start(paths).map(Some),
        Err(error) => Err(error.into()),
    }
}

fn start(paths: &Paths) -> anyhow::Result<String> {
    let mut errors = tempfile::tempfile().context("cannot create a file for the daemon's errors")?;
    let mut daemon = Command::new(std::env::current_exe()?)
        .arg("--home")
        .arg(&paths.home)
        .arg("up")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors.try_clone()?)
        // Ctrl-C and the end of this terminal reach only this program.
        .process_group(0)
        .spawn()
        .context("cannot start the daemon")?;
    let deadline = Instant::now() + START_MAX;
    while Instant::now() < deadline {
        if let Ok(mut client) = BlockingClient::connect(paths) {
            let url = client.call(&GetStatus {}).map(|status| status.url).unwrap_or_default();
            return Ok(format!("started a daemon (pid {}, {url}); it stays when you leave", daemon.id()));
        }
        if let Some(status) = daemon.try_wait()? {
            bail!("the daemon did not start ({status}): {}", read(&mut errors));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    stop(&mut daemon);
    bail!("the daemon did not answer within {} s: {}", START_MAX.as_secs(), read(&mut errors))
}

fn stop(daemon: &mut Child) {
    // The daemon did not answer. How it ends does not matter.
    let _ = daemon.kill();
}

fn read(errors: &mut std::fs::File) -> String {
    let mut text = String::new();
    // Without the text, the message above still says what failed.
    let _ = errors.rewind().and_then(|()| errors.read_to_string(&mut text));
    flightdeck_core::text::one_line(&text, ERROR_CHARS_MAX)
}
