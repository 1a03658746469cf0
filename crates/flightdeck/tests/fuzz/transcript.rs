//! A line of a transcript: valid JSON is always read, both readers agree on the billed usage, and totals add up.

use flightdeck_core::limits::{
    CARD_ANSWER_CHARS_MAX, CARD_PROMPT_CHARS_MAX, MESSAGE_CHARS_MAX, MESSAGES_PER_LINE_MAX,
    QUEUED_PROMPTS_MAX, TODOS_MAX,
};
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::{Enrichment, Summary, TranscriptFile, TranscriptFold};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::view::conversation::messages_of_line;
use flightdeck_core::wire::billed_usage::billed_usage;
use flightdeck_core::wire::transcript::{LineKind, TranscriptLine};
use flightdeck_sim::corpus;
use serde_json::Value;

use crate::hook::CAPTURES;
use crate::{check, check_batch, fuzz};

/// Lines between two checks of the card.
const LOOKED_AT_EVERY: usize = 64;

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
    assert!(known.queued_prompts(Timestamp::default()) as usize <= QUEUED_PROMPTS_MAX);
}

fn assert_messages_bounded(line: &[u8]) {
    let said = messages_of_line(line, 0);
    assert!(said.len() <= MESSAGES_PER_LINE_MAX);
    assert!(said.iter().all(|m| !m.text.is_empty() && m.text.chars().count() <= MESSAGE_CHARS_MAX + 1));
}

/// Encodes and decodes the enrichment, as a restart does.
fn assert_survives(session: &TranscriptFold) {
    let known = session.enrichment().clone();
    assert_bounded(&known);
    let text = serde_json::to_string(&known).unwrap();
    assert_eq!(serde_json::from_str::<Enrichment>(&text).unwrap(), known);
    drop(Summary::with_prices(known, PriceTable::shipped()));
}

fn assert_all_survive(session: &TranscriptFold, lot: &mut Vec<(Vec<u8>, TranscriptFile<'static>)>) {
    let alone = |line: &[u8], from: &TranscriptFile<'_>| {
        let mut session = TranscriptFold::default();
        session.count_line(*from, line);
        assert_survives(&session);
    };
    check_batch(&std::mem::take(lot), || assert_survives(session), alone);
}

#[test]
fn transcript() {
    let mut session = TranscriptFold::default();
    let mut lines = 0;
    let mut lot = Vec::new();
    fuzz("transcript", captured(), |line| {
        let (paid, read) = (billed_usage(line), TranscriptLine::parse(line));
        if serde_json::from_slice::<Value>(line).is_ok_and(|v| v.is_object()) {
            assert!(paid.is_ok() && read.is_ok(), "whole JSON was not read");
        }
        if let Ok(TranscriptLine { kind: LineKind::Assistant { billed: Some(one), .. }, .. }) = &read {
            assert_eq!(paid.unwrap().as_ref(), Some(one));
        }
        assert_messages_bounded(line);
        let from = if lines % 3 == 0 { TranscriptFile::Agent("a1") } else { TranscriptFile::Main };
        session.count_line(from, line);
        lines += 1;
        lot.push((line.to_vec(), from));
        if lot.len() == LOOKED_AT_EVERY {
            assert_all_survive(&session, &mut lot);
        }
        if lines % 4096 == 0 {
            session = TranscriptFold::default();
        }
    });
    check("transcript", &[], || assert_all_survive(&session, &mut lot));
}
