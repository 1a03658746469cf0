//! Every way to no verdict: the call goes on, soon, and the reply has the same bytes as without efforts. How long each step may
//! take is tested exactly in `daemon/fail_open_tests.rs`, on a simulated clock; here the whole way is measured.

use std::time::{Duration, Instant};

use flightdeck_hook::ACK_WITHIN;
use serde_json::json;

use super::{Deck, bash, payload};

/// Another process may take the processor while a reply is measured. A reply that waits for a disk or a lock is late each time.
const TRIES: usize = 20;

/// The reply to one call as text, and the time that it took.
fn call(deck: &mut Deck, dir: &std::path::Path, id: &str) -> (String, Duration) {
    let call = payload(dir, "s", "PreToolUse", bash(id, "ls"));
    let begun = Instant::now();
    let text = deck.socket.ask_text(&json!({"cmd": "hook", "args": call, "env": {"waits": true}}));
    (text, begun.elapsed())
}

/// Calls until a reply takes no longer than a hook waits. Each must satisfy `check`.
fn calls_in_time(deck: &mut Deck, dir: &std::path::Path, check: impl Fn(&str) -> bool) {
    let mut shortest = Duration::MAX;
    for n in 0..TRIES {
        let (reply, took) = call(deck, dir, &format!("t{n}"));
        assert!(check(&reply), "{}: {reply}", dir.display());
        shortest = shortest.min(took);
        if shortest <= ACK_WITHIN {
            break;
        }
    }
    assert!(shortest <= ACK_WITHIN, "{shortest:?}");
}

fn is_plain(reply: &str) -> bool {
    let line = format!("{}\n", reply.trim_end());
    flightdeck_hook::is_plain_acknowledgement(line.as_bytes())
}

#[test]
fn without_an_effort_the_reply_has_the_same_bytes_as_ever() {
    let mut deck = Deck::new();
    let dir = deck.dir();
    calls_in_time(&mut deck, &dir, is_plain);
}

#[test]
fn a_directory_without_an_effort_never_notices_one_elsewhere() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let elsewhere = tempfile::tempdir().unwrap();
    let gone = elsewhere.path().join("gone");
    for dir in [elsewhere.path(), gone.as_path(), "relative/path".as_ref()] {
        calls_in_time(&mut deck, dir, is_plain);
    }
    for event in ["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart", "Stop", "SessionEnd"] {
        assert!(deck.hook_in(elsewhere.path(), "s", event, json!({}), json!({})).is_null(), "{event}");
    }
}

#[test]
fn a_finished_effort_says_nothing() {
    let mut deck = Deck::new();
    let id = deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let dir = deck.dir();
    deck.data("effort.finish", json!({ "id": id }));
    calls_in_time(&mut deck, &dir, is_plain);
}

#[test]
fn a_store_that_fails_gives_an_error_and_no_verdict() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let dir = deck.dir();
    deck.daemon.block_on(deck.daemon.store().close()).unwrap();
    calls_in_time(&mut deck, &dir, |reply| reply.contains("HANDLER_ERROR") && !reply.contains("deny"));
    let refused = deck.ask("effort.log", json!({"id": "e-0", "text": "x"}));
    assert_eq!(refused["ok"], false);
}

#[test]
fn a_file_to_read_that_is_gone_is_named_and_no_more() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"preload": ["gone.md"]}}));
    let verdict = deck.hook("s", "SessionStart", json!({"source": "startup"}));
    assert!(super::context(&verdict).contains("gone.md"), "{verdict}");
}
