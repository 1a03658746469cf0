//! The intent detector on messages that a person labelled. `tune.txt` was read while the rules were written, `held_out.txt`
//! was written before and was not.

use flightdeck_core::assignment::intent::Intent;
use flightdeck_core::assignment::intent::labelled::{parse, score};

const TUNE: &str = include_str!("../data/intents/tune.txt");
const HELD_OUT: &str = include_str!("../data/intents/held_out.txt");

#[test]
fn the_sets_are_large_and_contain_every_intent() {
    let (tune, held_out) = (parse(TUNE), parse(HELD_OUT));
    assert!(tune.len() + held_out.len() >= 300);
    for set in [tune, held_out] {
        for intent in [Intent::Question, Intent::Completion, Intent::EndOfTask, Intent::Progress] {
            assert!(set.iter().filter(|example| example.intent == intent).count() >= 15, "{intent:?}");
        }
    }
}

#[test]
fn questions_and_completions_of_the_held_out_half_are_detected() {
    let held_out = parse(HELD_OUT);
    for intent in [Intent::Question, Intent::Completion] {
        let score = score(&held_out, intent);
        assert!(score.precision() > 0.95 && score.recall() > 0.95, "{intent:?} {score:?}");
    }
}
