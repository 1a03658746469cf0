//! `cargo xtask intents`: how often the intent detector is right, for each labelled set.

use std::fs;

use anyhow::{Context, Result};
use flightdeck_core::assignment::intent::labelled::{parse, score};
use flightdeck_core::assignment::intent::{Intent, detect};
use flightdeck_e2e::workspace::root;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also print the messages of the tune half that were detected wrongly
    #[arg(long)]
    misses: bool,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    for half in ["tune", "held_out", "first_met", "met_later"] {
        let path = root().join("crates/flightdeck-core/tests/data/intents").join(half).with_extension("txt");
        let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let set = parse(&text);
        println!("{half}: {} messages", set.len());
        for intent in [Intent::Question, Intent::Completion, Intent::EndOfTask, Intent::Progress] {
            let score = score(&set, intent);
            let (precision, recall) = (score.precision() * 100.0, score.recall() * 100.0);
            println!("  {:<12} precision {precision:5.1} %  recall {recall:5.1} %", intent.as_str());
        }
        // A person who reads the other half while changing rules can no longer measure with it.
        for example in set.iter().filter(|_| args.misses && half == "tune") {
            let found = detect(example.message);
            if found.intent != example.intent {
                println!("\n{:?}, not {:?}:\n{}", found, example.intent, example.message);
            }
        }
    }
    Ok(true)
}
