//! Detecting the intent of an agent's message of 4 KB that the detector has not met. It builds states for new words, so a message that is
//! repeated would be measured too fast: each text is measured once, after other messages were read.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use flightdeck_core::assignment::intent::labelled::parse;
use flightdeck_core::assignment::intent::{detect, prepare};

use crate::{Plan, Series};

const MESSAGE_BYTES: usize = 4096;

/// Read before, as a daemon has read other messages.
const BEFORE: &[&str] = &[include_str!("../../../flightdeck-core/tests/data/intents/tune.txt")];
const NEW: &[&str] = &[
    include_str!("../../../flightdeck-core/tests/data/intents/first_met.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/met_later.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/second_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/third_tune.txt"),
    include_str!("../../../flightdeck-core/tests/data/intents/fourth_tune.txt"),
];

/// The number of samples is the number of texts, in a quick run too.
pub(crate) fn measure(_plan: &Plan) -> Result<Vec<Series>> {
    let mut series = Series::new("intent", "µs");
    prepare();
    for text in texts(BEFORE) {
        black_box(detect(black_box(&text)));
    }
    for text in texts(NEW) {
        let begun = Instant::now();
        black_box(detect(black_box(&text)));
        series.samples.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(vec![series])
}

/// The messages of the sets, joined to texts of 4 KB.
fn texts(sets: &[&str]) -> Vec<String> {
    let (mut texts, mut text) = (Vec::new(), String::new());
    for message in sets.iter().flat_map(|set| parse(set)) {
        text.push_str(message.message);
        text.push_str("\n\n");
        if text.len() >= MESSAGE_BYTES {
            texts.push(std::mem::take(&mut text));
        }
    }
    texts
}
