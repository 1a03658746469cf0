//! Several scenarios at a time, each in its own process, so that their output does not mix. A client mostly waits, for the
//! model or for its screen.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::scenarios::Scenario;
use super::stage::Watcher;
use super::tally::ScenarioTally;
use super::{FAILED_ONCE, Played, ScenarioArgs};

/// How many of the longest scenarios are named.
const TOLD_MAX: usize = 8;

pub(super) fn run(
    chosen: &[&Scenario],
    args: &ScenarioArgs,
    client: &Path,
    watcher: &Watcher,
) -> Result<Played> {
    let program = std::env::current_exe().context("cannot find myself")?;
    let waiting = Mutex::new(chosen.iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let told = Mutex::new((ScenarioTally::default(), Vec::new()));
    let times = Mutex::new(Vec::new());
    let play = |scenario: &Scenario| -> Result<()> {
        let mut command = command(&program, scenario, args, client, watcher);
        let begun = Instant::now();
        let output = command.output().with_context(|| format!("cannot play {}", scenario.name))?;
        times.lock().unwrap_or_else(PoisonError::into_inner).push((begun.elapsed(), scenario.name));
        let text = String::from_utf8_lossy(&output.stdout);
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        print!("{text}{}", String::from_utf8_lossy(&output.stderr));
        // A process without its last line failed, regardless of its other output.
        let failed = ScenarioTally { failed: 1, ..ScenarioTally::default() };
        told.0.add(
            &ScenarioTally::read(&text)
                .filter(|t| (t.failed == 0) == output.status.success())
                .unwrap_or(failed),
        );
        told.1.extend(text.lines().filter_map(|line| line.strip_prefix(FAILED_ONCE)).map(str::to_owned));
        Ok(())
    };
    std::thread::scope(|scope| {
        let hands = (0..args.jobs).map(|_| {
            scope.spawn(|| -> Result<()> {
                while let Some(scenario) = next() {
                    play(scenario)?;
                }
                Ok(())
            })
        });
        let hands: Vec<_> = hands.collect();
        hands
            .into_iter()
            .try_for_each(|hand| hand.join().unwrap_or_else(|_| anyhow::bail!("a scenario panicked")))
    })?;
    tell_longest(times.into_inner().unwrap_or_else(PoisonError::into_inner));
    let (total, again) = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Played::report("ALL TOGETHER: ", &total, again))
}

/// The command that plays one scenario in a process of its own.
fn command(
    program: &Path,
    scenario: &Scenario,
    args: &ScenarioArgs,
    client: &Path,
    watcher: &Watcher,
) -> Command {
    let mut command = Command::new(program);
    command.args(["e2e", scenario.name, "--jobs", "1", "--client"]).arg(client);
    match watcher {
        Watcher::Daemon(binary) => command.arg("--flightdeck").arg(binary),
        Watcher::Recorder(_) => command.args(["--board", "recorder"]),
    };
    if args.keep {
        command.arg("--keep");
    }
    command
}

/// Prints the scenarios that took longest: they decide how long the whole takes.
fn tell_longest(mut times: Vec<(Duration, &str)>) {
    times.sort_by(|a, b| b.cmp(a));
    let sum: Duration = times.iter().map(|(time, _)| *time).sum();
    let named = times.iter().take(TOLD_MAX).map(|(time, name)| format!("{name} {:.1} s", time.as_secs_f32()));
    println!("\n{} s of scenarios; the longest: {}", sum.as_secs(), named.collect::<Vec<_>>().join(", "));
}
