//! `cargo xtask soak`: what takes too long for every day. Load for ten minutes, 10,000 seeds of the fault simulation, new
//! cases for every property, the fuzz targets for longer, twenty real clients at once.

pub(crate) mod daemon;
mod judge;
mod load;
mod plot;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use crate::workspace::{cargo, root, target};
use load::Load;

#[derive(Parser, Debug)]
pub(crate) struct Args {
    /// Ten seconds of a small load on a debug build, judged without a clock
    #[arg(long)]
    smoke: bool,
    /// Only these parts
    #[arg(long, num_args = 1.., value_enum)]
    only: Vec<Part>,
    /// Sessions of the simulated fleet
    #[arg(long, default_value_t = 5_000)]
    sessions: usize,
    /// Events a second
    #[arg(long, default_value_t = 2_000)]
    rate: u64,
    /// Viewers of the event stream
    #[arg(long, default_value_t = 20)]
    viewers: usize,
    /// How long the load lasts
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Events of each session before it is judged
    #[arg(long, default_value_t = 200)]
    warm_up: usize,
    /// Seeds of the fault simulation
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// Rounds of the properties, each with other cases
    #[arg(long, default_value_t = 20)]
    property_rounds: u64,
    /// Seconds for each fuzz target
    #[arg(long, default_value_t = 300)]
    fuzz_seconds: u64,
    /// Load this binary instead of a fresh build
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Where the properties are.
const PROPERTIES: [&str; 11] = [
    "replay::",
    "properties::",
    "any::",
    "clip",
    "enrichment::",
    "statusline::",
    "status_line::",
    "frame::",
    "pick::",
    "repair::",
    "tail::file",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Load,
    Faults,
    Properties,
    Fuzz,
    Clients,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    if args.smoke {
        let load = Load { sessions: 200, rate: 300, viewers: 5, seconds: 10, warm_up: 0, keep_megabytes: 1 };
        let binary = match &args.binary {
            Some(binary) => binary.clone(),
            None => build(&["build", "--package", "flightdeck"], "debug")?,
        };
        return load::run(&load, &binary, false);
    }
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    let mut held = true;
    if wanted(Part::Load) {
        let binary = match &args.binary {
            Some(binary) => binary.clone(),
            None => build(&["build", "--release", "--package", "flightdeck"], "release")?,
        };
        let &Args { sessions, rate, viewers, seconds, .. } = args;
        // The daemon looks for old events half a minute after its start: there must be more than this by then.
        let load = Load { sessions, rate, viewers, seconds, warm_up: args.warm_up, keep_megabytes: 16 };
        held &= load::run(&load, &binary, true)?;
    }
    // Another stretch of seeds every day; the number is printed.
    let today = std::time::UNIX_EPOCH.elapsed()?.as_secs() / 86_400 * 1_000_000;
    if wanted(Part::Faults) {
        held &= succeeds(faults(args.seeds).env("FIRST_SEED", (today + 1).to_string()))?;
    }
    if wanted(Part::Properties) {
        for seed in today..today + args.property_rounds {
            println!("properties: PROPTEST_RNG_SEED={seed}");
            held &= succeeds(properties(seed))?;
        }
    }
    if wanted(Part::Fuzz) {
        held &= succeeds(fuzz(args.fuzz_seconds).env("FUZZ_SEED", today.to_string()))?;
    }
    if wanted(Part::Clients) {
        let program = std::env::current_exe()?;
        held &= succeeds(Command::new(program).args(["e2e", "twenty_at_once", "idle_notification"]))?;
    }
    Ok(held)
}

/// The picture of a load that was written down.
pub(crate) fn picture(written: &serde_json::Value) -> Result<String> {
    let load = serde_json::from_value(written["load"].clone())?;
    let samples: Vec<load::Sample> = serde_json::from_value(written["samples"].clone())?;
    Ok(plot::svg(&load, &samples))
}

/// The fault simulation; two hands are busy with it.
pub(crate) fn faults(seeds: u64) -> Command {
    let mut command = cargo();
    // The whole workspace, as the stories are built: then nothing is built twice.
    command.args(["test", "--workspace", "--lib"]);
    command.args(["simulation", "--", "--nocapture"]).env("SEEDS", seeds.to_string());
    command
}

/// Every story of the modules that have properties, by their names.
fn properties(seed: u64) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--quiet", "--"]).args(PROPERTIES);
    command.env("PROPTEST_RNG_SEED", seed.to_string());
    command
}

/// Two targets at a time. A disk of memory makes the settings' many fsyncs cheap.
pub(crate) fn fuzz(seconds: u64) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--test", "fuzz"]);
    command.args(["--", "--nocapture", "--test-threads=2"]).env("FUZZ_SECONDS", seconds.to_string());
    if std::path::Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    command
}

fn succeeds(mut command: impl std::borrow::BorrowMut<Command>) -> Result<bool> {
    Ok(command.borrow_mut().current_dir(root()).status()?.success())
}

fn build(args: &[&str], profile: &str) -> Result<PathBuf> {
    println!("building flightdeck");
    if !cargo().args(args).arg("--quiet").status()?.success() {
        bail!("flightdeck does not build");
    }
    Ok(target().join(profile).join("flightdeck").canonicalize()?)
}
