//! `cargo xtask test`: runs all steps in order, also after a failure, and prints a summary.

mod steps;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Parser;

use flightdeck_e2e::workspace::is_ci;
use steps::{STEPS, Step};

#[derive(Parser, Debug)]
pub(crate) struct TestArgs {
    /// Only these steps
    #[arg(long, num_args = 1.., value_name = "STEP")]
    only: Vec<String>,
    /// All but these steps
    #[arg(long, num_args = 1.., value_name = "STEP")]
    skip: Vec<String>,
    /// Print the steps and end
    #[arg(long)]
    list: bool,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StepOutcome {
    Passed,
    /// Passed, but something needed a second try.
    Retried(String),
    /// Could not run; the reason. A failure where `CI=true`, because a skipped step is easily overlooked there.
    Skipped(String),
    /// Could not run for lack of an optional tool; never a failure.
    MissingTool(String),
    Failed(String),
}

struct Done {
    name: &'static str,
    outcome: StepOutcome,
    took: Duration,
}

pub(crate) fn run(args: &TestArgs) -> Result<bool> {
    if args.list {
        STEPS.iter().for_each(|step| println!("{:<10} {}", step.name, step.about));
        return Ok(true);
    }
    let done: Vec<Done> = chosen(args)?.into_iter().map(perform_step).collect();
    println!("\n== summary");
    for Done { name, outcome, took } in &done {
        let word = match outcome {
            StepOutcome::Passed => "passed".to_owned(),
            StepOutcome::Retried(what) => format!("passed, BUT {what}"),
            StepOutcome::Skipped(why) | StepOutcome::MissingTool(why) => format!("SKIPPED: {why}"),
            StepOutcome::Failed(why) => format!("FAILED: {why}"),
        };
        println!("{name:<10} {:>7.1} s  {word}", took.as_secs_f32());
    }
    let count = |wanted: fn(&StepOutcome) -> bool| done.iter().filter(|d| wanted(&d.outcome)).count();
    let failed = count(|o| matches!(o, StepOutcome::Failed(_)));
    let again = count(|o| matches!(o, StepOutcome::Retried(_)));
    let skipped = count(|o| matches!(o, StepOutcome::Skipped(_) | StepOutcome::MissingTool(_)));
    let mut total = format!("{} passed, {failed} failed", count(|o| *o == StepOutcome::Passed) + again);
    for (count, what) in [(skipped, "SKIPPED"), (again, "NEEDED A SECOND TRY")] {
        if count > 0 {
            total += &format!(", {count} {what}");
        }
    }
    println!("{total}");
    Ok(failed == 0)
}

fn chosen(args: &TestArgs) -> Result<Vec<&'static Step>> {
    for name in args.only.iter().chain(&args.skip) {
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("no step {name}: see cargo xtask test --list");
        }
    }
    let named = |names: &[String], step: &Step| names.iter().any(|name| name == step.name);
    let wanted = |step: &&Step| args.only.is_empty() || named(&args.only, step);
    Ok(STEPS.iter().filter(wanted).filter(|step| !named(&args.skip, step)).collect())
}

fn perform_step(step: &'static Step) -> Done {
    println!("\n== {}: {}", step.name, step.about);
    let begun = Instant::now();
    let outcome = match (step.run)() {
        Ok(StepOutcome::Skipped(why)) if is_ci() => StepOutcome::Failed(format!("skipped in CI: {why}")),
        Ok(outcome) => outcome,
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    };
    let took = begun.elapsed();
    match &outcome {
        StepOutcome::Passed => println!("-- {} passed in {:.1} s", step.name, took.as_secs_f32()),
        StepOutcome::Retried(what) => {
            println!("-- {} passed in {:.1} s, BUT {what}", step.name, took.as_secs_f32())
        }
        StepOutcome::Skipped(why) | StepOutcome::MissingTool(why) => {
            println!("-- {} SKIPPED: {why}", step.name)
        }
        StepOutcome::Failed(why) => {
            println!("-- {} FAILED after {:.1} s: {why}", step.name, took.as_secs_f32())
        }
    }
    Done { name: step.name, outcome, took }
}
