//! Detecting the intent of an agent's message of 4 KB: a long report with lists, code and a question at its end.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use flightdeck_core::assignment::intent::detect;

use crate::{Plan, Series};

const MESSAGE_BYTES: usize = 4096;
/// Messages in one sample.
const MESSAGES: u32 = 64;

const PARAGRAPH: &str = "I've moved the parser into `parse.rs`. It handles all the files of version 2, and the tests pass.\n\n\
     - `src/lib.rs`: exports the new module, and \"parse\" is public now\n\
     - `src/main.rs`: reads the file once instead of twice\n\n\
     ```rust\nlet file = parse(&text)?;\n```\n\n\
     Why was it slow? Each line was read twice.\n\n";

pub(crate) fn measure(plan: &Plan) -> Result<Vec<Series>> {
    let question = "Should I also remove the old parser, or keep it for version 1?";
    let message = PARAGRAPH.repeat(MESSAGE_BYTES / PARAGRAPH.len()) + question;
    let mut series = Series::new("intent", "µs");
    for round in 0..=plan.rounds(100, 1000) {
        let begun = Instant::now();
        for _ in 0..MESSAGES {
            black_box(detect(black_box(&message)));
        }
        // The first round warms up.
        if round > 0 {
            series.samples.push(begun.elapsed().as_secs_f64() * 1e6 / f64::from(MESSAGES));
        }
    }
    Ok(vec![series])
}
