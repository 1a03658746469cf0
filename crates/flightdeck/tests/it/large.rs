//! A Write of a large file: 20 MB through the socket and over HTTP, clipped before it is stored.

use std::time::Instant;

use crate::home::test_home;
use flightdeck_e2e::testkit::{TestDaemon, until};
use serde_json::{Value, json};

const MB: usize = 20;

fn payload(session: &str) -> String {
    let half = "x".repeat(MB << 19);
    let input = json!({"file_path": "/w/big.txt", "content": half});
    json!({
        "session_id": session, "hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": "Write", "tool_use_id": "t1",
        "tool_input": input, "tool_response": {"filePath": "/w/big.txt", "content": half},
    })
    .to_string()
}

fn begin(daemon: &TestDaemon, session: &str) {
    for event in [
        json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "write it"}),
        json!({"session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t1",
               "tool_input": {"file_path": "/w/big.txt", "content": "…"}}),
    ] {
        daemon.post("/api/live/hook", &event.to_string());
    }
    assert_eq!(daemon.card(session)["agent_state"]["state"], "acting");
}

fn stored(daemon: &TestDaemon, session: &str) -> Value {
    let page = daemon.get(&format!("/api/sessions/{session}/events?payload=1")).json();
    page["events"][2]["payload"].clone()
}

#[test]
fn twenty_megabytes_through_hook_and_http_are_clipped_and_use_little_memory() {
    let home = test_home();
    let daemon = home.daemon();
    let (start, _) = daemon.memory();
    for door in ["http", "hook"] {
        begin(&daemon, door);
        let body = payload(door);
        let began = Instant::now();
        match door {
            "http" => assert_eq!(daemon.post("/api/live/hook", &body).status, 204),
            _ => home.hook(&body),
        }
        let took = began.elapsed();
        let shown = until("it has arrived", || {
            let card = daemon.card(door);
            (card["agent_state"]["state"] == "thinking").then_some(card)
        });
        assert_eq!(shown["agent_state"]["label"], "Thinking");
        let (now, most) = daemon.memory();
        eprintln!(
            "{MB} MB by {door}: {took:?}; resident {} MB at start, {} now, {} at most",
            start >> 20,
            now >> 20,
            most >> 20
        );

        let stored = stored(&daemon, door);
        assert!(stored.to_string().len() < 16 * 1024);
        assert!(stored["flightdeck_clipped"]["bytes"].as_u64().unwrap() as usize >= body.len());
        assert!(stored["tool_response"]["content"].as_str().unwrap().ends_with("bytes clipped]"));
        assert!(stored["tool_input"]["content"].as_str().unwrap().ends_with("bytes clipped]"));
    }
    let (_, most) = daemon.memory();
    // The frame, plus its strings while it is parsed; frames do not queue up.
    assert!(most - start < 200 << 20, "{most}");
}
