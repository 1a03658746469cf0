//! Numbers of sessions, and hosts that fall silent.

use std::fs;

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::Host;

#[test]
fn tokens_and_titles_of_a_members_transcripts_are_on_the_hub() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) = (Host::member(&nats, "a"), Host::stopped(&nats.url(), "desk", true, ""));
    let folder = a.home.claude().join("projects/-work-api");
    fs::create_dir_all(&folder).unwrap();
    let session = "0b7f1c7e-2222-4444-8888-00000000abcd";
    let line = json!({"type": "assistant", "sessionId": session, "uuid": "u1", "requestId": "r1", "cwd": "/work/api",
        "timestamp": "2026-11-18T10:00:00.000Z", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": "done"}], "usage": {"input_tokens": 1200, "output_tokens": 34}}});
    let transcript = folder.join(format!("{session}.jsonl"));
    fs::write(&transcript, format!("{line}\n")).unwrap();
    a.post(&json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "count", "cwd": "/work/api",
        "transcript_path": transcript}));
    let own =
        a.until_card(session, |card| card["tokens"]["output"] == 34 || card["context"]["tokens"] == 1200);
    // The hub begins after the numbers were sent: it reads the latest ones.
    let hub = hub.started();
    let there = hub.until_card(&format!("{session}@a"), |card| card["tokens"] == own["tokens"]);
    assert_eq!((&there["cost"], &there["model"]), (&own["cost"], &own["model"]));
    let said = hub.home.run(&["usage"]).success();
    let row =
        said.lines().find(|line| line.trim_start().starts_with("a ")).unwrap_or_else(|| panic!("{said}"));
    assert!(said.contains("Not in these sums") && row.ends_with("1.2k tokens  1 session"), "{said}");
}

#[test]
fn a_host_that_falls_silent_is_marked_and_its_cards_keep_their_state() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "go");
    hub.until_card("s@a", |card| card["owner"]["accepts"] == json!(["answer"]));
    a.kill();
    let marked = hub.until_card("s@a", |card| card["unreachable_since"] != json!(null));
    assert_eq!((&marked["agent_state"]["state"], &marked["takes"]), (&json!("thinking"), &json!(null)));
    assert_eq!(hub.sees("a").unwrap()["unreachable_since"], marked["unreachable_since"]);
    a.start();
    hub.until_card("s@a", |card| card["unreachable_since"] == json!(null));
}
