//! `cargo xtask intents`: how often the intent detector is right, for each labelled set.

use std::fs;

use anyhow::{Context, Result};
use flightdeck_core::assignment::intent::Intent;
use flightdeck_core::assignment::intent::labelled::{Labelled, parse, score};

use crate::workspace::root;

/// Sets whose misses may be printed. A person who reads the others while changing rules can no longer measure with them.
/// `third_held_out`, `fourth_held_out` and those after `fifth_tune` are of them since they were measured and then read.
const TUNE: [&str; 18] = [
    "tune",
    "first_met",
    "met_later",
    "second_tune",
    "third_tune",
    "third_held_out",
    "fourth_tune",
    "fourth_held_out",
    "fifth_tune",
    "sixth_tune",
    "seventh_tune",
    "eighth_tune",
    "ninth_tune",
    "ninth_held_out",
    "tenth_tune",
    "tenth_held_out",
    "eleventh_tune",
    "twelfth_tune",
];
const HELD_OUT: [&str; 5] =
    ["held_out", "second_held_out", "fifth_held_out", "eleventh_held_out", "twelfth_held_out"];

#[derive(Debug, clap::Args)]
pub struct IntentsArgs {
    /// Also print the messages of the tune sets that were detected wrongly
    #[arg(long)]
    misses: bool,
    /// Judge by the text alone, as if no tool had changed a file
    #[arg(long)]
    text_only: bool,
}

pub fn run(args: &IntentsArgs) -> Result<bool> {
    for name in TUNE.iter().chain(&HELD_OUT) {
        let path = root().join("crates/flightdeck-core/tests/data/intents").join(name).with_extension("txt");
        let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let mut set = parse(&text);
        set.iter_mut().for_each(|example| example.changed_files &= !args.text_only);
        print_scores(name, &set);
        if args.misses && TUNE.contains(name) {
            print_misses(&set);
        }
    }
    Ok(true)
}

fn print_scores(name: &str, set: &[Labelled<'_>]) {
    println!("{name}: {} messages", set.len());
    for intent in [Intent::Question, Intent::Completion, Intent::EndOfTask, Intent::Progress] {
        let score = score(set, intent);
        let (precision, recall) = (score.precision() * 100.0, score.recall() * 100.0);
        println!("  {:<12} precision {precision:5.1} %  recall {recall:5.1} %", intent.as_str());
    }
}

fn print_misses(set: &[Labelled<'_>]) {
    for example in set {
        let found = example.detect();
        if found.intent != example.intent {
            println!("\n{:?}, not {:?}:\n{}", found, example.intent, example.message);
        }
    }
}
