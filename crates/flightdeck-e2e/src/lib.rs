//! Test suites that need a whole machine: the real client, load, measurements. `cargo xtask` runs them as its subcommands.

#![expect(clippy::print_stdout, reason = "each suite reports to the person who started it")]

pub mod bench;
pub mod contract;
pub mod dist;
pub mod e2e;
pub mod intents;
mod machine;
pub mod marked_parts;
mod measured_daemon;
pub mod npm;
mod plugin;
pub mod proof;
pub mod soak;
pub mod testkit;
pub mod workspace;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

/// The subcommands. Suites start `current_exe` again with `e2e` and `mcp-stub`, so the program must offer all of them.
#[derive(Debug, Subcommand)]
pub enum Suite {
    /// Measure every promised number, side by side with its reference
    Bench(bench::BenchArgs),
    /// Drive the real Claude Code client and compare the board with its terminal
    E2e(e2e::ScenarioArgs),
    /// Be the MCP server that the scenarios let the client start
    #[command(hide = true)]
    McpStub { log: PathBuf },
    /// Compare the events of a client version with the recorded ones
    Contract(contract::ContractArgs),
    /// Print how often the intent detector is right on labelled messages
    Intents(intents::IntentsArgs),
    /// Make a tarball, a Debian package and a Claude Code plugin
    Dist(dist::DistArgs),
    /// Load, faults and fuzzing for longer than a daily run
    Soak(soak::SoakArgs),
}

/// How a suite ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteOutcome {
    Passed,
    Failed,
    /// The suite could not run here, for example because the client cannot be installed.
    Skipped,
}

impl Suite {
    pub fn run(&self) -> Result<SuiteOutcome> {
        let passed = match self {
            Self::Bench(args) => bench::run(args)?,
            Self::E2e(args) => match e2e::run(args)? {
                e2e::Played::Skipped(_) => return Ok(SuiteOutcome::Skipped),
                played => matches!(played, e2e::Played::Held { .. }),
            },
            Self::McpStub { log } => serve_mcp(log)?,
            Self::Contract(args) => contract::run(args)?,
            Self::Intents(args) => intents::run(args)?,
            Self::Dist(args) => dist::run(args)?,
            Self::Soak(args) => soak::run(args)?,
        };
        Ok(if passed { SuiteOutcome::Passed } else { SuiteOutcome::Failed })
    }
}

fn serve_mcp(log: &std::path::Path) -> Result<bool> {
    flightdeck_sim::client::mcp::serve(log, std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(true)
}
