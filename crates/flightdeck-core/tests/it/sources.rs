//! Hooks, the registry and the transcript tell of the same session: in whatever order, it is one card.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::EventId;
use flightdeck_core::log::{from_hook, from_transcript};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::usage::enrichment::{Summary, TranscriptFile, TranscriptFold};
use flightdeck_core::usage::price::PriceTable;
use serde_json::{Value, json};

use crate::registry::{hear, tell_all};
use crate::script::{at_seconds, card, read, tell};

/// The transcript of session `s` was read at one moment and its newest line is from another.
fn grew(fleet: &mut Fleet, received: &str, written: &str) {
    let mut record =
        from_transcript::growth_record(&"s".into(), "/t/s.jsonl", at_seconds(written), EventId(1));
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds(received), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
    let mut fold = TranscriptFold::default();
    for line in [
        json!({"type": "user", "timestamp": at_seconds("0.5").to_string(), "cwd": "/w/api", "gitBranch": "main",
            "origin": {"kind": "human"}, "message": {"content": "fix it"}}),
        json!({"type": "assistant", "timestamp": at_seconds(written).to_string(), "requestId": "r", "cwd": "/w/api",
            "message": {"id": "m", "model": "claude-opus-5-5", "content": [{"type": "text", "text": "Done."}],
                "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 1000}}}),
    ] {
        let _ = fold.count_line(TranscriptFile::Main, line.to_string().as_bytes());
    }
    let _ = fleet.enrich(&"s".into(), Summary::with_prices(fold.enrichment().clone(), PriceTable::shipped()));
}

/// What the three sources say of one moment: the hook, the registry's word and when it was written, the newest line.
const MOMENTS: [(&str, &str, &str, &str); 14] = [
    ("SessionStart source=startup model=claude-opus-5-5", "idle", "1.05", "0.9"),
    ("UserPromptSubmit prompt=fix~it prompt_id=p", "busy", "1.05", "1.2"),
    ("UserPromptSubmit prompt=fix~it prompt_id=p", "busy", "0.95", "1.2"),
    ("PreToolUse tool_name=Bash tool_use_id=a", "busy", "0.8", "1.1"),
    ("PermissionRequest tool_name=Bash", "waiting:permission~prompt", "0.95", "0.9"),
    ("PreToolUse tool_name=AskUserQuestion tool_use_id=q", "waiting:input~needed", "1.1", "1.0"),
    ("PreToolUse tool_name=AskUserQuestion tool_use_id=q", "waiting:input~needed", "0.9", "1.0"),
    ("PreToolUse tool_name=Bash tool_use_id=a", "busy", "1.05", "0.9"),
    ("PreToolUse tool_name=Bash tool_use_id=a", "waiting:permission~prompt", "1.05", "0.9"),
    ("PermissionRequest tool_name=Bash", "waiting:permission~prompt", "1.05", "0.9"),
    ("PostToolUse tool_name=Bash tool_use_id=a", "busy", "0.5", "0.9"),
    ("Stop", "idle", "1.05", "1.02"),
    ("StopFailure error=rate_limit", "idle", "1.05", "1.02"),
    ("SessionEnd reason=prompt_input_exit", "idle", "1.005", "1.01"),
];

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

#[test]
fn three_sources_in_all_six_orders_are_one_card_with_the_same_json() {
    for (event, status, written, line) in MOMENTS {
        // Close together, and so far apart that the registry's word settles in between.
        for step in [0.01, 2.0] {
            let cards: Vec<Value> =
                ORDERS.iter().map(|order| play(*order, step, event, status, written, line)).collect();
            for (order, card) in ORDERS.iter().zip(&cards) {
                let (a, b) = (serde_json::to_string_pretty(&cards[0]), serde_json::to_string_pretty(card));
                assert_eq!(
                    a.unwrap(),
                    b.unwrap(),
                    "{event} and {status}, every {step} s, in order {order:?}"
                );
            }
        }
    }
}

fn play(order: [usize; 3], step: f64, event: &str, status: &str, written: &str, line: &str) -> Value {
    let mut fleet = Fleet::new(FoldSettings::default());
    for (n, source) in order.into_iter().enumerate() {
        let received = format!("{}", 5.0 + n as f64 * step);
        match source {
            0 => tell(
                &mut fleet,
                &format!(
                    "{received}@1 {event} event_id=9 transcript_path=/t/s.jsonl CLAUDE_PROJECT_DIR=/w/api CLAUDE_PID=7 proc_start=1"
                ),
            ),
            1 => hear(&mut fleet, &format!("{received}@{written}"), status, &[]),
            _ => grew(&mut fleet, &received, line),
        }
    }
    let _ = fleet.tick(at_seconds("15"));
    assert_eq!(fleet.len(), 1);
    serde_json::to_value(card(&fleet, "s")).unwrap()
}

#[test]
fn a_growing_transcript_discovers_a_session_as_working_and_says_nothing_more() {
    let mut fleet = Fleet::new(FoldSettings::default());
    grew(&mut fleet, "2", "1");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card(&fleet, "s")));
    let found = card(&fleet, "s");
    assert_eq!((found.agent_state.source.as_str(), found.agent_state.since), ("transcript", at_seconds("1")));
    assert_eq!((found.project.name.as_str(), found.title.as_deref()), ("api", Some("fix it")));
    let _ = fleet.tick(at_seconds("62"));
    expect![[r#"running thinking "Thinking" · quiet"#]].assert_eq(&read(&card(&fleet, "s")));
    grew(&mut fleet, "70", "69");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(card(&fleet, "s").agent_state.since, at_seconds("1"));
}

#[test]
fn a_source_with_more_detail_counts_at_once() {
    let mut fleet = Fleet::new(FoldSettings::default());
    grew(&mut fleet, "2", "1");
    tell_all(&mut fleet, "3@0.5 registry idle");
    expect![[r#"needs_you idle "Ready""#]].assert_eq(&read(&card(&fleet, "s")));
    grew(&mut fleet, "20", "19");
    expect![[r#"needs_you idle "Ready""#]].assert_eq(&read(&card(&fleet, "s")));
}

#[test]
fn a_transcript_is_a_sign_of_life_and_moves_no_session_that_other_sources_report() {
    for (script, expect) in [
        ("1 UserPromptSubmit prompt=x", expect![[r#"running thinking "Thinking""#]]),
        ("1 InstructionsLoaded", expect![[r#"needs_you idle "Ready""#]]),
        ("1 Stop", expect![[r#"needs_you idle "Waiting for your next prompt""#]]),
        ("1 SessionEnd reason=other", expect![[r#"done session_ended "Session closed""#]]),
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, script);
        grew(&mut fleet, "50", "49");
        let _ = fleet.tick(at_seconds("100"));
        expect.assert_eq(&read(&card(&fleet, "s")));
    }
}

#[test]
fn only_growth_that_says_something_is_news() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let is_news = |fleet: &Fleet, written: &str| {
        fleet.is_news(&Event::from_record(&from_transcript::growth_record(
            &"s".into(),
            "/t/s.jsonl",
            at_seconds(written),
            EventId(1),
        )))
    };
    assert!(is_news(&fleet, "1"), "no source reported it");
    grew(&mut fleet, "1", "1");
    assert!(!is_news(&fleet, "5"));
    assert!(is_news(&fleet, "12"), "it may be taken for quiet");
    tell(&mut fleet, "20 Stop");
    assert!(!is_news(&fleet, "60"), "an idle session needs no sign of life");
    tell(&mut fleet, "21 SessionEnd reason=other");
    let _ = fleet.tick(at_seconds("4000"));
    assert!(fleet.is_empty() && !is_news(&fleet, "4000"), "it ended, and its last lines come late");
}
