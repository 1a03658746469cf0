//! Detecting the intent of an agent's message of 4 KB, for several kinds of text. The texts are read in turn, so what the processor has in
//! its caches is mostly of other texts, as in a daemon. A sample is one text: the median of all rounds, because the machine interrupts some.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use flightdeck_core::assignment::intent::labelled::{Labelled, parse};
use flightdeck_core::assignment::intent::{detect, prepare};

use crate::{PromisePlan, Series};

const MESSAGE_BYTES: usize = 4096;
/// The length of a sentence that has as many cues as it has clauses.
const LONG_SENTENCE_BYTES: usize = 250;

const SETS: &[&str] = &[
    include_str!("../../../flightdeck-core/tests/data/intents/tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/first_met.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/met_later.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/second_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/third_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/third_held_out.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/fourth_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/fifth_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/sixth_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/seventh_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/eighth_tune.txt"),
];
const DOCUMENTS: &[&str] = &[
    include_str!("../../../../README.md"),
    include_str!("../../../../CONTRIBUTING.md"),
    include_str!("../../../../docs/efforts.md"),
    include_str!("../../../../docs/glossary.md"),
];

struct KindOfText {
    name: &'static str,
    texts: Vec<String>,
}

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    prepare();
    let kinds = kinds();
    let mut times: Vec<Vec<Vec<f64>>> = kinds.iter().map(|kind| vec![Vec::new(); kind.texts.len()]).collect();
    for _ in 0..plan.rounds(15, 61) {
        for (kind, times) in kinds.iter().zip(&mut times) {
            for (text, times) in kind.texts.iter().zip(times) {
                let begun = Instant::now();
                black_box(detect(black_box(text)));
                times.push(begun.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let series = |(kind, times): (&KindOfText, Vec<Vec<f64>>)| Series {
        samples: times.into_iter().map(median).collect(),
        ..Series::new(kind.name, "µs")
    };
    Ok(kinds.iter().zip(times).map(series).collect())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn kinds() -> Vec<KindOfText> {
    let messages: Vec<Labelled<'_>> = SETS.iter().flat_map(|set| parse(set)).collect();
    let all = || messages.iter().map(|labelled| labelled.message);
    let is_foreign =
        |message: &&str| message.chars().filter(|c| c.is_alphabetic() && !c.is_ascii()).count() >= 3;
    let documents = DOCUMENTS.iter().flat_map(|document| document.split("\n\n"));
    vec![
        KindOfText { name: "reports and questions", texts: joined(all(), "\n\n", MESSAGE_BYTES) },
        KindOfText {
            name: "other languages",
            texts: joined(all().filter(is_foreign), "\n\n", MESSAGE_BYTES),
        },
        KindOfText { name: "documents", texts: joined(documents, "\n\n", MESSAGE_BYTES) },
        KindOfText { name: "a cue in every clause", texts: dense(all()) },
    ]
}

/// Lines that are one long sentence each, made of the sentences of messages.
fn dense<'a>(messages: impl Iterator<Item = &'a str>) -> Vec<String> {
    let clauses = messages.flat_map(|message| message.split(['.', '?', '!', ':', '\n', '。', '？']));
    let clauses = clauses.map(str::trim).filter(|clause| !clause.is_empty() && !clause.contains(['`', '|']));
    let lines = joined(clauses, ", ", LONG_SENTENCE_BYTES);
    joined(lines.iter().map(String::as_str), ".\n", MESSAGE_BYTES)
}

/// Texts of at least this length, of parts in their order.
fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str, bytes: usize) -> Vec<String> {
    let (mut texts, mut text) = (Vec::new(), String::new());
    for part in parts {
        text.push_str(part);
        text.push_str(between);
        if text.len() >= bytes {
            texts.push(std::mem::take(&mut text));
        }
    }
    texts
}
