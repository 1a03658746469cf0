//! `flightdeck notify test`: sends a test to the targets of notifications.

use std::io::Write;

use clap::Subcommand;
use flightdeck_protocol::notify::TestNotify;

use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct NotifyArgs {
    #[command(subcommand)]
    command: NotifyCommand,
}

#[derive(Debug, Subcommand)]
enum NotifyCommand {
    /// Send a test to every target of `[notify]` in config.toml, or to one
    Test {
        /// Only this target
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Exits 1 if the test failed for a target, or if there is none.
pub(super) fn run(args: &NotifyArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let NotifyCommand::Test { target, json } = &args.command;
    let reply = BlockingClient::connect(paths)?.call_raw(&TestNotify { target: target.clone() })?;
    let tests = reply.decode()?;
    if *json {
        out.json(&reply.json()?)?;
    } else if tests.results.is_empty() {
        writeln!(out, "There is no target: add one to [notify] in {}", paths.config.display())?;
    }
    for result in tests.results.iter().filter(|_| !json) {
        match &result.error {
            None => writeln!(out, "{}: delivered", result.target)?,
            Some(error) => writeln!(out, "{}: not delivered: {error}", result.target)?,
        }
    }
    let failed = tests.results.is_empty() || tests.results.iter().any(|result| result.error.is_some());
    Ok(u8::from(failed))
}
