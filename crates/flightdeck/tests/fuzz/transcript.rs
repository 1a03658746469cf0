//! A line of a transcript: whole JSON is always read, both readers agree on what was bought, and sums stay sums.

use flightdeck_core::enrichment::{Enrichment, Fold, From, Summary};
use flightdeck_core::limits::{CARD_ANSWER_CHARS_MAX, CARD_PROMPT_CHARS_MAX, QUEUE_MAX, TODOS_MAX};
use flightdeck_core::price::PriceTable;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::transcript::{Line, LineKind, bought};
use flightdeck_sim::corpus;
use serde_json::Value;

use crate::fuzz;
use crate::hook::CAPTURES;

fn captured() -> Vec<Vec<u8>> {
    let files = CAPTURES.iter().flat_map(|s| s.transcripts.iter());
    let lines = files.flat_map(|path| {
        let text = corpus::transcript(path);
        text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    lines.collect()
}

fn assert_bounded(known: &Enrichment) {
    let chars = |text: &Option<String>| text.as_ref().map_or(0, |t| t.chars().count());
    assert!(chars(&known.last_answer) <= CARD_ANSWER_CHARS_MAX + 1);
    assert!(chars(&known.last_prompt) <= CARD_PROMPT_CHARS_MAX + 1);
    assert!(known.todos.len() <= TODOS_MAX);
    assert!(known.queued_prompts(Timestamp::default()) as usize <= QUEUE_MAX);
}

#[test]
fn transcript() {
    let prices = PriceTable::shipped();
    let mut session = Fold::default();
    let mut lines = 0;
    fuzz("transcript", captured(), |line| {
        let (paid, read) = (bought(line), Line::parse(line));
        if serde_json::from_slice::<Value>(line).is_ok_and(|v| v.is_object()) {
            assert!(paid.is_ok() && read.is_ok(), "whole JSON was not read");
        }
        if let Ok(Line { kind: LineKind::Assistant { bought: Some(one), .. }, .. }) = &read {
            assert_eq!(paid.unwrap().as_ref(), Some(one));
        }
        session.take(if lines % 3 == 0 { From::Agent("a1") } else { From::Main }, line);
        lines += 1;
        // A card is made and put away now and then, as a restart does.
        if lines % 64 == 0 {
            let known = session.known().clone();
            assert_bounded(&known);
            let text = serde_json::to_string(&known).unwrap();
            assert_eq!(serde_json::from_str::<Enrichment>(&text).unwrap(), known);
            drop(Summary::of(known, prices));
        }
        if lines % 4096 == 0 {
            session = Fold::default();
        }
    });
}
