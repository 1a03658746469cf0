//! `flightdeck run`: runs Claude Code, and starts it fresh when its context is full.

use std::ffi::OsString;

use crate::paths::Paths;
use crate::supervisor::{self, RESTARTS_MAX, RunOptions};

/// Longest name of a seat: it is a name on a card.
const SEAT_CHARS_MAX: usize = 64;

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Name of the seat: only efforts that were started for this seat apply
    #[arg(long, value_parser = seat_name)]
    seat: Option<String>,
    /// Restarts in a row without five minutes of work in between; after that Claude Code compacts its context itself
    #[arg(long, value_name = "N", default_value_t = RESTARTS_MAX)]
    max_restarts: u32,
    /// Come to the foreground of the terminal and become the command; `run` starts its client so
    #[arg(long, hide = true)]
    become_client: bool,
    /// Report each SIGINT on standard output; `run` starts this in the process group of its client
    #[arg(long, hide = true)]
    report_interrupts: bool,
    /// The command, usually `claude` and its options
    #[arg(last = true, required_unless_present = "report_interrupts", value_name = "COMMAND")]
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
    if args.report_interrupts {
        runtime()?.block_on(supervisor::report_interrupts())?;
        return Ok(0);
    }
    let usual = Paths::resolve(None, |name| std::env::var_os(name)).ok();
    let options = RunOptions {
        command: args.command,
        becomes_client: own_command(&["run", "--become-client", "--"]),
        reports_interrupts: own_command(&["run", "--report-interrupts"]),
        named_home: Some(paths.home.clone()).filter(|_| usual.as_ref() != Some(&paths)),
        paths,
        seat: args.seat,
        restarts_max: args.max_restarts,
    };
    // On this thread: the kernel stops it before the call that stops the job returns.
    let runtime = runtime()?;
    let code = runtime.block_on(supervisor::run(&options));
    // The thread that waits for the client may still block.
    runtime.shutdown_background();
    code
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// A command of this program. `None` if the program was replaced while it ran; the client is then started directly.
fn own_command(args: &[&str]) -> Option<Vec<OsString>> {
    let program = std::env::current_exe().ok().filter(|program| program.exists())?;
    Some(std::iter::once(program.into()).chain(args.iter().map(OsString::from)).collect())
}
