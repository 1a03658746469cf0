//! `cargo xtask`: automation that needs only cargo. One subcommand, one file.

#![expect(clippy::print_stdout, reason = "telling the person who ran it is what this program is for")]

mod bench;
mod contract;
mod e2e;
mod generate;
mod proof;
mod soak;
mod test;
mod web;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use e2e::Played;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation for Flightdeck")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure what is promised, side by side with what it is compared to
    Bench(bench::Args),
    /// Drive the real Claude Code client and compare the board with its terminal
    E2e(e2e::Args),
    /// Be the MCP server that the scenarios let the client start
    #[command(hide = true)]
    McpStub { log: std::path::PathBuf },
    /// Say what a client version sends differently from the recorded one
    Contract(contract::Args),
    /// Write what is generated from the code: docs/events.md and the page's types
    Gen(generate::Args),
    /// Write what was measured last into docs/proof.md
    Proof,
    /// Load, faults and fuzzing for longer than anybody waits every day
    Soak(soak::Args),
    /// Run every check and test, and sum up
    Test(test::Args),
    /// Serve the page with hot reload against a running daemon
    Web(web::Args),
}

/// What was asked for could not be tried. Of its own, so that no script takes it for success or for a failure.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::E2e(args) => match e2e::run(&args) {
            Ok(Played::Skipped(_)) => return SKIPPED.into(),
            played => played.map(|played| matches!(played, Played::Held { .. })),
        },
        Command::McpStub { log } => {
            flightdeck_sim::client::mcp::serve(&log, std::io::stdin().lock(), std::io::stdout().lock())
                .map(|()| true)
                .map_err(anyhow::Error::from)
        }
        Command::Contract(args) => contract::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Proof => proof::run(),
        Command::Soak(args) => soak::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Web(args) => web::run(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            println!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}
