//! A usage report over half a gigabyte of transcripts: the first, against ccusage on the same files, and one after a restart.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::child::{self, Took};
use crate::daemon::Daemon;
use crate::world::World;
use crate::{PromisePlan, Series};

const BYTES: u64 = 500_000_000;
const SEED: u64 = 1;

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let anchor = plan.anchor.as_ref().context("no ccusage was given: --anchor PATH")?;
    let world = World::new(plan)?;
    let written =
        flightdeck_sim::transcripts::write_transcripts(&world.home().claude().join("projects"), BYTES, SEED)?;
    let expected = [written.input, written.output, written.cache_read, written.cache_write];
    let names = ["ccusage", "flightdeck"];
    let mut series: Vec<Series> = Vec::new();
    for (what, unit) in [("", "ms"), (": processor", "ms"), (": peak memory", "MB")] {
        series.extend(names.map(|name| Series::new(format!("{name}{what}"), unit)));
    }
    for round in 0..=plan.rounds(3, 9) {
        let theirs = child::run(command(&world, anchor, &["claude", "daily", "--json", "--offline"]))?;
        let ours = child::run(command(&world, &plan.binary, &["usage", "--json", "--no-daemon"]))?;
        let money = [their_totals(&theirs, expected)?, our_totals(&ours.stdout, expected)?];
        if (money[0] - money[1]).abs() > 0.000_001 {
            bail!("ccusage counts ${}, we count ${}", money[0], money[1]);
        }
        // The first round reads the files into the page cache, for both.
        if round > 0 {
            for (place, took) in [theirs, ours].iter().enumerate() {
                series[place].samples.push(took.wall_ms);
                series[2 + place].samples.push(took.cpu_ms);
                series[4 + place].samples.push(took.peak_mb);
            }
        }
    }
    series.extend(after_restart(plan, &world, expected)?);
    Ok(series)
}

fn command(world: &World, program: &std::path::Path, args: &[&str]) -> std::process::Command {
    let mut command = world.command(program);
    command.args(args);
    command
}

/// The daemon has read everything and is started again: how much it reads then, and how long a report takes.
fn after_restart(plan: &PromisePlan, world: &World, expected: [u64; 4]) -> Result<Vec<Series>> {
    let first = Daemon::start(world)?;
    while first.get("/api/usage")?["indexing"]["files_left"] != 0 {
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    drop(first);
    let mut report = Series::new("flightdeck, after a restart", "ms");
    let mut read = Series::new("bytes read after a restart", "bytes");
    for _ in 0..plan.rounds(2, 5) {
        let daemon = Daemon::start(world)?;
        let took = child::run(command(world, &plan.binary, &["usage", "--json"]))?;
        our_totals(&took.stdout, expected)?;
        report.samples.push(took.wall_ms);
        let progress = daemon.get("/api/usage")?;
        read.samples.push(progress["indexing"]["bytes_read"].as_f64().context("no progress")?);
    }
    Ok(vec![report, read])
}

fn their_totals(took: &Took, expected: [u64; 4]) -> Result<f64> {
    let report: Value = serde_json::from_slice(&took.stdout).context("ccusage printed no JSON")?;
    let t = &report["totals"];
    let keys = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"];
    same("ccusage", keys.map(|key| t[key].as_u64()), expected)?;
    t["totalCost"].as_f64().context("ccusage tells no cost")
}

fn our_totals(stdout: &[u8], expected: [u64; 4]) -> Result<f64> {
    let report: Value = serde_json::from_slice(stdout).context("flightdeck printed no JSON")?;
    let t = &report["total"]["tokens"];
    let keys = ["input", "output", "cache_read", "cache_creation_5m"];
    same("flightdeck", keys.map(|key| t[key].as_u64()), expected)?;
    Ok(report["total"]["usd_micros"].as_f64().context("no cost")? / 1e6)
}

fn same(who: &str, counted: [Option<u64>; 4], expected: [u64; 4]) -> Result<()> {
    if counted != expected.map(Some) {
        bail!("{who} counts {counted:?}, but {expected:?} was written");
    }
    Ok(())
}
