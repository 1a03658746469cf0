//! The intent detector on messages that a person labelled. `tune.txt` was read while the rules were written, `held_out.txt`
//! was written before and was not.

use flightdeck_core::assignment::intent::{Intent, detect};
use flightdeck_core::assignment::intent::labelled::{parse, score};

const TUNE: &str = include_str!("../data/intents/tune.txt");
/// Written before the rules of version 16, and read while they were written.
const FIRST_MET: &str = include_str!("../data/intents/first_met.txt");
/// Written after the rules of version 16. Do not tune the rules on it.
const MET_LATER: &str = include_str!("../data/intents/met_later.txt");
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

#[test]
fn questions_of_messages_in_other_styles_are_detected() {
    for set in [FIRST_MET, MET_LATER].map(parse) {
        let score = score(&set, Intent::Question);
        assert!(score.precision() > 0.95 && score.recall() > 0.95, "{score:?}");
    }
}

/// A completion that only describes the new state reads like an explanation, so many are not detected. What is called finished
/// must be finished.
#[test]
fn what_is_called_finished_in_other_styles_is_finished() {
    let met_later = parse(MET_LATER);
    let done = |intent| matches!(intent, Intent::Completion | Intent::EndOfTask);
    let called = met_later.iter().filter(|m| done(detect(m.message).intent));
    let wrong: Vec<_> = called.filter(|m| !done(m.intent)).map(|m| m.message).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let score = score(&parse(FIRST_MET), Intent::Completion);
    assert!(score.precision() > 0.95 && score.recall() > 0.95, "{score:?}");
}
