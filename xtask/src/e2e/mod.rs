//! `cargo xtask e2e`: the real client in a throw-away home, our hooks, our daemon, and after every step the question
//! whether the board says what the terminal shows.

mod board;
mod expect;
mod install;
mod scenarios;
mod side_by_side;
mod stage;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

use scenarios::Scenario;
use stage::{Options, Stage, Tally};

#[derive(Parser, Debug)]
pub(crate) struct Args {
    /// Scenarios to run; all but the slow ones if none is named
    scenarios: Vec<String>,
    /// Print the scenarios and end
    #[arg(long)]
    list: bool,
    /// Leave the throw-away homes where they are, with the screen after every step
    #[arg(long)]
    keep: bool,
    /// Run the slow scenarios too
    #[arg(long)]
    slow: bool,
    /// What is compared with the screen
    #[arg(long, value_enum, default_value_t = BoardKind::Daemon)]
    board: BoardKind,
    /// Another client than the pinned one: a path to its `claude` binary
    #[arg(long)]
    client: Option<PathBuf>,
    /// Scenarios at a time: a client mostly waits
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Our own binary, if it is built already
    #[arg(long, hide = true)]
    flightdeck: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoardKind {
    /// Our daemon with our hooks
    Daemon,
    /// No daemon: hooks are only written down, and only the screen is judged
    Recorder,
}

/// True if nothing failed. What was skipped is said, and is a failure where `CI=true`.
pub(crate) fn run(args: &Args) -> Result<bool> {
    if args.list {
        for s in scenarios::ALL {
            println!("{:<24} {}{}", s.name, s.about, if s.slow { " (slow)" } else { "" });
        }
        return Ok(true);
    }
    let mut chosen = choose(&args.scenarios, args.slow)?;
    chosen.retain(|scenario| !scenario.acts || args.board == BoardKind::Daemon);
    let ci = std::env::var("CI").is_ok_and(|v| v == "true");
    let tools = install::tools(args.client.as_deref()).and_then(|client| {
        let flightdeck = match (args.board, &args.flightdeck) {
            (BoardKind::Recorder, _) => None,
            (BoardKind::Daemon, Some(built)) => Some(built.clone()),
            (BoardKind::Daemon, None) => Some(install::flightdeck()?),
        };
        Ok((client, flightdeck))
    });
    let (client, flightdeck) = match tools {
        Ok(tools) => tools,
        Err(e) => {
            println!("SKIPPED all {} scenarios against the real client: {e:#}", chosen.len());
            return Ok(!ci);
        }
    };
    let left_out = scenarios::ALL.len() - chosen.len();
    let held = if chosen.len() > 1 && args.jobs > 1 {
        side_by_side::run(&chosen, args, &client, flightdeck.as_deref())?
    } else {
        one_by_one(&chosen, args, &client, flightdeck.as_deref())
    };
    if args.scenarios.is_empty() && left_out > 0 {
        println!("SKIPPED {left_out} slow scenarios: run them with --slow");
    }
    Ok(held)
}

fn one_by_one(chosen: &[&Scenario], args: &Args, client: &Path, flightdeck: Option<&Path>) -> bool {
    let mut total = Tally::default();
    let mut again = Vec::new();
    for scenario in chosen {
        let play = || perform(scenario, args, client, flightdeck);
        let first = play();
        if first.failed == 0 {
            total.add(&first);
            continue;
        }
        // A real terminal on a shared machine: what fails twice is ours, what fails once is said.
        println!("{} failed once; once more", scenario.name);
        total.add(&play());
        again.push(scenario.name);
    }
    if !again.is_empty() {
        println!("\n{FAILED_ONCE}{}", again.join(", "));
    }
    println!("\n{total}");
    total.failed == 0
}

const FAILED_ONCE: &str = "FAILED ONCE, a place to look: ";

/// Every scenario's name and what happens in it.
pub(crate) fn about() -> impl Iterator<Item = (&'static str, &'static str)> {
    scenarios::ALL.iter().map(|s| (s.name, s.about))
}

/// What was recorded of a scenario.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) scenario: &'static str,
    /// Where it lies, as far as it came; `None` if it could not even begin.
    pub(crate) lab: Option<PathBuf>,
    pub(crate) played: Result<()>,
}

/// What can be played with a recorder, and is not too slow for it.
#[cfg(test)]
pub(crate) fn recordable() -> impl Iterator<Item = &'static str> {
    scenarios::ALL.iter().filter(|s| !s.acts && !s.slow).map(|s| s.name)
}

/// Plays scenarios with a recorder, one after the other, and gives back what each left behind.
pub(crate) fn record(names: &[String], client: Option<&Path>) -> Result<impl Iterator<Item = Recorded>> {
    let mut chosen = choose(names, false)?;
    chosen.retain(|scenario| !scenario.acts);
    let client = install::tools(client)?;
    Ok(chosen.into_iter().map(move |scenario| {
        println!("{} — {}", scenario.name, scenario.about);
        let mut stage = match Stage::new(scenario, &Options { keep: true }, &client, None) {
            Ok(stage) => stage,
            Err(error) => return Recorded { scenario: scenario.name, lab: None, played: Err(error) },
        };
        let lab = Some(stage.lab.dir().to_owned());
        let played = (scenario.run)(&mut stage);
        Recorded { scenario: scenario.name, lab, played: stage.close(played).map(drop) }
    }))
}

fn choose(names: &[String], slow: bool) -> Result<Vec<&'static Scenario>> {
    if names.is_empty() {
        return Ok(scenarios::ALL.iter().filter(|s| slow || !s.slow).collect());
    }
    let find = |name: &String| match scenarios::ALL.iter().find(|s| s.name == name) {
        Some(scenario) => Ok(scenario),
        None => bail!("no scenario {name}: see cargo xtask e2e --list"),
    };
    names.iter().map(find).collect()
}

fn perform(
    scenario: &Scenario,
    args: &Args,
    client: &std::path::Path,
    flightdeck: Option<&std::path::Path>,
) -> Tally {
    println!("\n{} — {}", scenario.name, scenario.about);
    let begun = Instant::now();
    let options = Options { keep: args.keep };
    let outcome = Stage::new(scenario, &options, client, flightdeck).and_then(|mut stage| {
        let played = (scenario.run)(&mut stage);
        stage.close(played)
    });
    match outcome {
        Ok(tally) => {
            println!("  passed in {:.1} s", begun.elapsed().as_secs_f32());
            tally
        }
        Err(e) => {
            println!("  FAILED after {:.1} s: {e:#}", begun.elapsed().as_secs_f32());
            Tally { failed: 1, ..Tally::default() }
        }
    }
}
