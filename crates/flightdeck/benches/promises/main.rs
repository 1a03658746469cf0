//! Measures what Flightdeck promises, beside what it is compared to. `cargo xtask bench` builds and runs it and makes the
//! table. Each row is one JSON line on stdout with the raw samples of every series.
//!
//! Everything runs in a throw-away home with an empty environment.

#![allow(missing_debug_implementations, clippy::print_stdout)]

mod append;
mod child;
mod cost;
mod daemon;
mod efforts;
mod fleet_line;
mod hook;
mod idle;
mod ingest;
mod intent;
mod latency;
mod log;
mod restart;
mod status_line;
mod store;
mod tui;
mod usage;
mod world;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Parser;
use serde::Serialize;

#[derive(Parser)]
struct PromiseArgs {
    /// What to measure
    row: String,
    /// The program under test
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The program it is compared to, if it is not on every machine
    #[arg(long)]
    anchor: Option<PathBuf>,
    /// Fewer rounds
    #[arg(long)]
    quick: bool,
    /// cargo passes it to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// The options of a run.
pub(crate) struct PromisePlan {
    binary: PathBuf,
    anchor: Option<PathBuf>,
    quick: bool,
}

impl PromisePlan {
    /// How often, in a quick and in a full run.
    fn rounds(&self, quick: usize, full: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

/// The samples of one measurement. Sample `i` of every series of a row comes from the same round.
#[derive(Serialize)]
pub(crate) struct Series {
    name: String,
    unit: &'static str,
    samples: Vec<f64>,
}

impl Series {
    fn new(name: impl Into<String>, unit: &'static str) -> Self {
        Self { name: name.into(), unit, samples: Vec::new() }
    }
}

fn main() -> Result<()> {
    let args = PromiseArgs::parse();
    let plan =
        PromisePlan { binary: args.binary.unwrap_or_default(), anchor: args.anchor, quick: args.quick };
    let series = match args.row.as_str() {
        "hook" => hook::measure(&plan)?,
        "ingest" => ingest::measure(&plan)?,
        "cost" => cost::measure(&plan)?,
        "efforts" => efforts::measure(&plan)?,
        "latency" => latency::measure(&plan)?,
        "restart" => restart::measure(&plan)?,
        "store" => store::measure(&plan)?,
        "statusline" => status_line::measure(&plan)?,
        "fleetline" => fleet_line::measure(&plan)?,
        "intent" => intent::measure(&plan)?,
        "log" => log::measure(&plan)?,
        "usage" => usage::measure(&plan)?,
        "append" => append::measure(&plan)?,
        "idle" => idle::measure(&plan)?,
        "tui" => tui::measure(&plan)?,
        // Not a row: the handler that rows are compared to.
        "serve-empty" => return ingest::serve_empty(),
        other => bail!("no row {other}: see cargo xtask bench --list"),
    };
    println!("{}", serde_json::json!({ "row": args.row, "series": series }));
    Ok(())
}
