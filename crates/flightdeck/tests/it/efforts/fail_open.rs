//! Every way to no verdict: the call goes on, soon, and the reply has the same bytes as without efforts.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Deck, bash, payload};

/// The shim waits 50 ms. A busy machine may be slower, but a reply that waited for a disk or a lock would take longer than this.
const HOOK_WAITS_MAX: Duration = Duration::from_secs(1);

/// The reply to one call as text, and the time that it took.
fn call(deck: &mut Deck, dir: &std::path::Path, id: &str) -> (String, Duration) {
    let call = payload(dir, "s", "PreToolUse", bash(id, "ls"));
    let begun = Instant::now();
    let text = deck.socket.ask_text(&json!({"cmd": "hook", "args": call, "env": {"waits": true}}));
    (text, begun.elapsed())
}

fn is_plain(reply: &str) -> bool {
    let line = format!("{}\n", reply.trim_end());
    flightdeck_hook::is_plain_acknowledgement(line.as_bytes())
}

#[test]
fn without_an_effort_the_reply_has_the_same_bytes_as_ever() {
    let mut deck = Deck::new();
    let dir = deck.dir();
    let (reply, took) = call(&mut deck, &dir, "t1");
    assert!(is_plain(&reply), "{reply}");
    assert!(took < HOOK_WAITS_MAX, "{took:?}");
}

#[test]
fn a_directory_without_an_effort_never_notices_one_elsewhere() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let elsewhere = tempfile::tempdir().unwrap();
    let gone = elsewhere.path().join("gone");
    for (n, dir) in [elsewhere.path(), gone.as_path(), "relative/path".as_ref()].into_iter().enumerate() {
        let (reply, took) = call(&mut deck, dir, &format!("t{n}"));
        assert!(is_plain(&reply), "{}: {reply}", dir.display());
        assert!(took < HOOK_WAITS_MAX, "{took:?}");
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
    let (reply, took) = call(&mut deck, &dir, "t1");
    assert!(is_plain(&reply), "{reply}");
    assert!(took < HOOK_WAITS_MAX, "{took:?}");
}

#[test]
fn a_store_that_fails_gives_an_error_and_no_verdict() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let dir = deck.dir();
    deck.daemon.block_on(deck.daemon.store().close()).unwrap();
    let (reply, took) = call(&mut deck, &dir, "t1");
    assert!(reply.contains("HANDLER_ERROR") && !reply.contains("deny"), "{reply}");
    assert!(took < HOOK_WAITS_MAX, "{took:?}");
    let refused = deck.ask("effort.log", json!({"id": "e-0", "text": "x"}));
    assert_eq!(refused["ok"], false);
}

#[test]
fn a_file_to_read_that_is_gone_is_named_and_no_more() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"preload": ["gone.md"]}}));
    let begun = Instant::now();
    let verdict = deck.hook("s", "SessionStart", json!({"source": "startup"}));
    assert!(super::context(&verdict).contains("gone.md"), "{verdict}");
    assert!(begun.elapsed() < HOOK_WAITS_MAX);
}
