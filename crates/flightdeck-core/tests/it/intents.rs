//! The intent detector on messages that a person labelled. `docs/decisions/0017` says how each set was written and which of them
//! were read while rules changed.

use flightdeck_core::assignment::intent::labelled::{Labelled, parse, score};
use flightdeck_core::assignment::intent::{Intent, detect};

const TUNE: &str = include_str!("../data/intents/tune.txt");
const HELD_OUT: &str = include_str!("../data/intents/held_out.txt");
/// Messages in other styles, read while rules were changed.
const FIRST_MET: &str = include_str!("../data/intents/first_met.txt");
const MET_LATER: &str = include_str!("../data/intents/met_later.txt");
const SECOND_TUNE: &str = include_str!("../data/intents/second_tune.txt");
const THIRD_TUNE: &str = include_str!("../data/intents/third_tune.txt");
/// Held out until it had been measured, and read after that.
const THIRD_HELD_OUT: &str = include_str!("../data/intents/third_held_out.txt");
const FOURTH_TUNE: &str = include_str!("../data/intents/fourth_tune.txt");
/// Written by another author than the rules. Held out until it had been measured, and read after that.
const FOURTH_HELD_OUT: &str = include_str!("../data/intents/fourth_held_out.txt");
const FIFTH_TUNE: &str = include_str!("../data/intents/fifth_tune.txt");
/// Held out until each had been measured, and read after that.
const SIXTH_TUNE: &str = include_str!("../data/intents/sixth_tune.txt");
const SEVENTH_TUNE: &str = include_str!("../data/intents/seventh_tune.txt");
const EIGHTH_TUNE: &str = include_str!("../data/intents/eighth_tune.txt");
/// Answers, explanations and lists in eight languages. Each half was measured before it was read.
const NINTH_TUNE: &str = include_str!("../data/intents/ninth_tune.txt");
const NINTH_HELD_OUT: &str = include_str!("../data/intents/ninth_held_out.txt");
/// Both halves, because each of them is small.
const TENTH: &str = concat!(
    include_str!("../data/intents/tenth_tune.txt"),
    "\n",
    include_str!("../data/intents/tenth_held_out.txt"),
);
/// By two authors who had not seen the rules. Their other halves are held out.
const ELEVENTH_TUNE: &str = include_str!("../data/intents/eleventh_tune.txt");
const TWELFTH_TUNE: &str = include_str!("../data/intents/twelfth_tune.txt");
/// Written before the rules were last changed and not read meanwhile. Do not tune the rules on it.
const SECOND_HELD_OUT: &str = include_str!("../data/intents/second_held_out.txt");

/// Written before the rules were last changed, and measured once after that. Do not tune the rules on it.
const FIFTH_HELD_OUT: &str = include_str!("../data/intents/fifth_held_out.txt");

/// The sets that were read while rules changed and that know which turns changed files.
const READ_WITH_TURNS: [&str; 14] = [
    SECOND_TUNE,
    THIRD_TUNE,
    THIRD_HELD_OUT,
    FOURTH_TUNE,
    FOURTH_HELD_OUT,
    FIFTH_TUNE,
    SIXTH_TUNE,
    SEVENTH_TUNE,
    EIGHTH_TUNE,
    NINTH_TUNE,
    NINTH_HELD_OUT,
    TENTH,
    ELEVENTH_TUNE,
    TWELFTH_TUNE,
];

fn is_finished(intent: Intent) -> bool {
    matches!(intent, Intent::Completion | Intent::EndOfTask)
}

#[track_caller]
fn is_detected(set: &[Labelled<'_>], intent: Intent) {
    let score = score(set, intent);
    assert!(score.precision() > 0.95 && score.recall() > 0.95, "{intent:?} {score:?}");
}

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
fn questions_and_completions_of_the_held_out_halves_are_detected() {
    for set in [HELD_OUT, SECOND_HELD_OUT, FIFTH_HELD_OUT].map(parse) {
        is_detected(&set, Intent::Question);
        is_detected(&set, Intent::Completion);
    }
}

#[test]
fn questions_in_every_style_are_detected() {
    for set in [TUNE, FIRST_MET, MET_LATER].into_iter().chain(READ_WITH_TURNS).map(parse) {
        is_detected(&set, Intent::Question);
    }
}

/// The sets of other authors than that of the first rules know which turns changed files.
#[test]
fn completions_in_every_style_are_detected() {
    for set in READ_WITH_TURNS.map(parse) {
        is_detected(&set, Intent::Completion);
        is_detected(&set, Intent::EndOfTask);
    }
}

/// A completion that only describes the new state reads like an explanation, so by its text alone it may be missed. What is called
/// finished must be finished.
#[test]
fn by_the_text_alone_what_is_called_finished_is_finished() {
    let sets = [FIRST_MET, MET_LATER, SECOND_HELD_OUT].into_iter().chain(READ_WITH_TURNS);
    for set in sets.map(parse) {
        let called = set.iter().filter(|m| is_finished(detect(m.message).intent));
        let wrong: Vec<_> = called.filter(|m| !is_finished(m.intent)).map(|m| m.message).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
