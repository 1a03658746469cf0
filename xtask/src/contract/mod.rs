//! `cargo xtask contract`: what a client sends, against what the recorded version was seen to send.
//!
//! Plays the scenarios of `e2e` with a recorder instead of the daemon and reduces what came to its shape: events, their
//! fields and types, transcript line types, registry fields, and how often each event fired in each scenario.

mod shape;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use flightdeck_sim::client::PINNED;

use crate::e2e;
use shape::Shape;

#[derive(Parser, Debug)]
pub(crate) struct Args {
    /// Scenarios to play; all but the slow ones if none is named
    scenarios: Vec<String>,
    /// The `claude` binary to check; the pinned one if left out
    #[arg(long)]
    client: Option<PathBuf>,
    /// Write what was seen as the new contract instead of comparing
    #[arg(long)]
    record: bool,
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("contract/{PINNED}.json"))
}

/// True if nothing changed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut seen = Shape::default();
    for lab in e2e::record(&args.scenarios, args.client.as_deref())? {
        let (scenario, lab) = lab?;
        seen.learn(&scenario, &lab)?;
        std::fs::remove_dir_all(&lab)?;
    }
    if args.record {
        std::fs::create_dir_all(recorded().parent().unwrap_or(Path::new(".")))?;
        std::fs::write(recorded(), serde_json::to_string_pretty(&seen)? + "\n")?;
        println!("recorded {}", recorded().display());
        return Ok(true);
    }
    let text =
        std::fs::read(recorded()).with_context(|| format!("no contract at {}", recorded().display()))?;
    let mut contract: Shape = serde_json::from_slice(&text)?;
    contract.keep_scenarios(&args.scenarios);
    let changes = contract.changes(&seen, args.scenarios.is_empty());
    for change in &changes {
        println!("{change}");
    }
    println!("{} changes against the contract of {PINNED}", changes.len());
    Ok(changes.is_empty())
}
