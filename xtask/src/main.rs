//! `cargo xtask`: automation that needs only cargo. One subcommand, one file; the suites are in `flightdeck-e2e`.

#![expect(clippy::print_stdout, reason = "this program reports to the person who started it")]

mod generate;
mod map;
mod proof;
mod test;
mod web;
mod words;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use flightdeck_e2e::{Suite, SuiteOutcome};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Automation for Flightdeck")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Suite(Suite),
    /// Write what is generated from the code: docs/events.md, the page's types, the map in ARCHITECTURE.md
    Gen(generate::GenerateArgs),
    /// Write the last measurements into docs/proof.md
    Proof,
    /// Run every check and test, and sum up
    Test(test::TestArgs),
    /// Serve the page with hot reload against a running daemon
    Web(web::WebArgs),
}

/// The suite could not run here. A code of its own, so that a script takes it neither for success nor for a failure.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(SuiteOutcome::Passed) => ExitCode::SUCCESS,
        Ok(SuiteOutcome::Failed) => ExitCode::FAILURE,
        Ok(SuiteOutcome::Skipped) => SKIPPED.into(),
        Err(e) => {
            println!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<SuiteOutcome> {
    let passed = match command {
        Command::Suite(suite) => return suite.run(),
        Command::Gen(args) => generate::run(args)?,
        Command::Proof => proof::run()?,
        Command::Test(args) => test::run(args)?,
        Command::Web(args) => web::run(args)?,
    };
    Ok(if passed { SuiteOutcome::Passed } else { SuiteOutcome::Failed })
}
