//! `cargo xtask soak`: tests that are too long for a daily run. Ten minutes of load, 10,000 seeds of the fault simulation,
//! new cases for every property, long fuzzing, twenty real clients at once.

mod judge;
mod load;
mod plot;
mod sample;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use crate::workspace::{cargo, root, target};
use sample::{LoadSize, Sample};

#[derive(Parser, Debug)]
pub struct SoakArgs {
    /// Run a small load on a debug build for ten seconds, and check counts but no times
    #[arg(long)]
    smoke: bool,
    /// Run only these parts
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
    /// Events of each session before the measurement begins
    #[arg(long, default_value_t = 200)]
    warm_up: usize,
    /// Seeds of the fault simulation
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// Rounds of the property tests; each round generates other cases
    #[arg(long, default_value_t = 20)]
    property_rounds: u64,
    /// Seconds for each fuzz target
    #[arg(long, default_value_t = 300)]
    fuzz_seconds: u64,
    /// Test this binary instead of building one
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// The modules that have property tests. Each name is passed to `cargo test` as a filter.
const PROPERTIES: [&str; 17] = [
    "any_file",
    "client",
    "clip",
    "enrichment",
    "event_head",
    "fields",
    "frame",
    "json",
    "line_reader",
    "process_properties",
    "properties",
    "queue",
    "queue_properties",
    "repair",
    "replay",
    "stamp",
    "status_line",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Load,
    Faults,
    Properties,
    Fuzz,
    Clients,
}

pub fn run(args: &SoakArgs) -> Result<bool> {
    if args.smoke {
        let load =
            LoadSize { sessions: 200, rate: 300, viewers: 5, seconds: 10, warm_up: 0, keep_megabytes: 1 };
        let binary = match &args.binary {
            Some(binary) => binary.clone(),
            None => build(&["build", "--package", "flightdeck"], "debug")?,
        };
        return load::run(&load, &binary, false);
    }
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    let mut passed = true;
    if wanted(Part::Load) {
        let binary = match &args.binary {
            Some(binary) => binary.clone(),
            None => build(&["build", "--release", "--package", "flightdeck"], "release")?,
        };
        let &SoakArgs { sessions, rate, viewers, seconds, .. } = args;
        // The daemon removes old events for the first time 30 s after its start. By then the log must be larger than this
        // bound, or the run would not measure the removal.
        let load = LoadSize { sessions, rate, viewers, seconds, warm_up: args.warm_up, keep_megabytes: 16 };
        passed &= load::run(&load, &binary, true)?;
    }
    // The first seed depends on the day, and is printed.
    let today = std::time::UNIX_EPOCH.elapsed()?.as_secs() / 86_400 * 1_000_000;
    if wanted(Part::Faults) {
        passed &= succeeds(faults(args.seeds).env("FIRST_SEED", (today + 1).to_string()))?;
    }
    if wanted(Part::Properties) {
        for seed in today..today + args.property_rounds {
            println!("properties: PROPTEST_RNG_SEED={seed}");
            passed &= succeeds(properties(seed))?;
        }
    }
    if wanted(Part::Fuzz) {
        passed &= succeeds(fuzz(args.fuzz_seconds).env("FUZZ_SEED", today.to_string()))?;
    }
    if wanted(Part::Clients) {
        let program = std::env::current_exe()?;
        passed &= succeeds(Command::new(program).args(["e2e", "twenty_at_once", "idle_notification"]))?;
    }
    Ok(passed)
}

/// Draws the samples of a recorded load as an SVG.
pub fn picture(written: &serde_json::Value) -> Result<String> {
    let load = serde_json::from_value(written["load"].clone())?;
    let samples: Vec<Sample> = serde_json::from_value(written["samples"].clone())?;
    Ok(plot::svg(&load, &samples))
}

/// Runs the fault simulation; it uses two threads.
pub fn faults(seeds: u64) -> Command {
    let mut command = cargo();
    // The whole workspace, with the features of the other tests, so that nothing is built twice.
    command.args(["test", "--workspace", "--lib"]);
    command.args(["simulation", "--", "--nocapture"]).env("SEEDS", seeds.to_string());
    command
}

/// Runs every test of the modules that have property tests.
fn properties(seed: u64) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--quiet", "--"]).args(PROPERTIES);
    command.env("PROPTEST_RNG_SEED", seed.to_string());
    command
}

/// Runs two fuzz targets at a time. Files go to memory, because the settings target calls fsync often.
pub fn fuzz(seconds: u64) -> Command {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Module names of the files below a folder that have property tests.
    fn modules_with_properties(folder: &Path, into: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                modules_with_properties(&path, into);
            } else if path.extension().is_some_and(|e| e == "rs")
                && fs::read_to_string(&path).unwrap().lines().any(|line| line.trim() == "proptest! {")
            {
                let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
                let own = name(&path);
                let is_folder = ["mod", "tests"].contains(&own.as_str());
                let module = if is_folder { name(path.parent().unwrap()) } else { own };
                into.push(module.trim_end_matches("_tests").to_owned());
            }
        }
    }

    #[test]
    fn every_module_with_property_tests_is_listed_and_no_other() {
        let mut found = Vec::new();
        modules_with_properties(&root().join("crates"), &mut found);
        found.sort();
        found.dedup();
        assert_eq!(found, PROPERTIES);
    }
}
