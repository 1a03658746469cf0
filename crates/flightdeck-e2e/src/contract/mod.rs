//! `cargo xtask contract`: compares what a client version sends with the recorded contract.
//!
//! The command plays the scenarios of `e2e` with a recorder instead of the daemon and reduces the recordings to their shape: events,
//! their fields and types, transcript line types, registry fields, and how often each event fired in each scenario. Events
//! that no scenario triggers are compared by name, with the list inside the client's program. The program must also contain
//! the texts by which the core recognises the client's own notices.

mod notices;
mod shape;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use flightdeck_sim::client::PINNED;

use crate::e2e::{self, Recorded, Recording};
use shape::Shape;

#[derive(Parser, Debug)]
pub struct ContractArgs {
    /// Scenarios to play; without names, all that a recorder can play and that add something to the contract
    scenarios: Vec<String>,
    /// The client to check: its version, or a path to its `claude` binary; the pinned one if left out
    #[arg(long, value_name = "VERSION|PATH")]
    client: Option<PathBuf>,
    /// Record the new contract instead of comparing; named scenarios are merged into the existing one
    #[arg(long)]
    record: bool,
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("contract/{PINNED}.json"))
}

/// True if the client still keeps the contract.
pub fn run(args: &ContractArgs) -> Result<bool> {
    let Recording { client, listed, scenarios } = e2e::record(&args.scenarios, args.client.as_deref())?;
    let mut changes = notices::gone(&client)?;
    if listed.is_none() {
        changes.push("the client's program has no list of its hook events any more".to_owned());
    }
    let mut seen = Shape::of_client(listed);
    for Recorded { scenario, lab, played } in scenarios {
        // A scenario that fails is compared up to its failure, because a new client differs most there.
        let learned = lab.as_ref().map_or(Ok(()), |lab| seen.learn(scenario, lab));
        match (played.and(learned), lab) {
            (Ok(()), Some(lab)) => std::fs::remove_dir_all(lab)?,
            (Ok(()), None) => {}
            (Err(error), _) => changes.push(format!("scenario {scenario} could not be played: {error:#}")),
        }
    }
    let unseen = seen.unseen().join(", ");
    if !unseen.is_empty() {
        println!(
            "the client also lists these events; no scenario triggers them, so only their names are compared: {unseen}"
        );
    }
    if args.record {
        return record(args, seen, &changes);
    }
    let mut contract = contract()?;
    contract.keep_scenarios(&args.scenarios);
    changes.extend(contract.changes(&seen, args.scenarios.is_empty()));
    for change in &changes {
        println!("{change}");
    }
    println!("{} changes against the contract of {PINNED}", changes.len());
    Ok(changes.is_empty())
}

fn contract() -> Result<Shape> {
    let text =
        std::fs::read(recorded()).with_context(|| format!("no contract at {}", recorded().display()))?;
    Ok(serde_json::from_slice(&text)?)
}

fn record(args: &ContractArgs, seen: Shape, broken: &[String]) -> Result<bool> {
    if !broken.is_empty() {
        broken.iter().for_each(|one| println!("{one}"));
        println!("nothing was recorded");
        return Ok(false);
    }
    let mut shape = if args.scenarios.is_empty() { Shape::default() } else { contract()? };
    shape.add(seen);
    std::fs::create_dir_all(recorded().parent().unwrap_or(Path::new(".")))?;
    std::fs::write(recorded(), serde_json::to_string_pretty(&shape)? + "\n")?;
    println!("recorded {}", recorded().display());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_knows_every_event_that_the_recorded_client_lists() {
        let contract = contract().unwrap();
        assert_eq!(contract.unknown_events(), Vec::<&str>::new());
    }

    #[test]
    fn every_scenario_that_is_played_is_in_the_contract() {
        let contract = contract().unwrap();
        let missing: Vec<_> = e2e::recordable().filter(|name| !contract.has(name)).collect();
        let again = format!("cargo xtask contract --record {}", missing.join(" "));
        assert!(missing.is_empty(), "not recorded: {again}");
    }
}
