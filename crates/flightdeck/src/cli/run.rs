//! `flightdeck run`: runs Claude Code, and starts it fresh when its context is full.

use std::ffi::OsString;

use crate::paths::Paths;
use crate::supervisor::{self, RESTARTS_MAX, RunOptions};

/// Longest name of a seat: it is a name on a card.
const SEAT_CHARS_MAX: usize = 64;

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Name of the seat: efforts that were started for this seat apply, and no others
    #[arg(long, value_parser = seat_name)]
    seat: Option<String>,
    /// Restarts in a row without five minutes of work in between; after that Claude Code compacts its context itself
    #[arg(long, value_name = "N", default_value_t = RESTARTS_MAX)]
    max_restarts: u32,
    /// Come to the foreground of the terminal and become the command; `run` starts its client so
    #[arg(long, hide = true)]
    become_client: bool,
    /// The command, usually `claude` and its options
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn seat_name(name: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.len() <= SEAT_CHARS_MAX && name.chars().all(fits) {
        true => Ok(name.to_owned()),
        false => Err(format!("a seat has 1 to {SEAT_CHARS_MAX} letters, digits, '-', '_' or '.'")),
    }
}

pub(super) fn run(args: RunArgs, paths: Paths) -> anyhow::Result<u8> {
    if args.become_client {
        return Ok(supervisor::become_client(&args.command));
    }
    let usual = Paths::resolve(None, |name| std::env::var_os(name)).ok();
    let options = RunOptions {
        command: args.command,
        becomes_client: becomes_client(),
        named_home: Some(paths.home.clone()).filter(|_| usual.as_ref() != Some(&paths)),
        paths,
        seat: args.seat,
        restarts_max: args.max_restarts,
    };
    // On this thread: the kernel stops it before the call that stops the job returns.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(supervisor::run(&options));
    // The thread that waits for the client may still block.
    runtime.shutdown_background();
    code
}

/// `None` if this program was replaced while it ran; the client is then started directly.
fn becomes_client() -> Option<Vec<OsString>> {
    let program = std::env::current_exe().ok().filter(|program| program.exists())?;
    Some(vec![program.into(), "run".into(), "--become-client".into(), "--".into()])
}
