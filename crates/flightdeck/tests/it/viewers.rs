//! Viewers that connect to the socket and leave.

use flightdeck::transport::socket::CONNECTIONS_MAX;
use serde_json::json;

use crate::in_process::InProcessDaemon;

#[test]
fn viewers_that_leave_a_quiet_board_free_their_connections() {
    let deck = InProcessDaemon::new();
    for _ in 0..=CONNECTIONS_MAX {
        let mut viewer = deck.socket();
        viewer.send(&json!({"cmd": "subscribe"})).unwrap();
        // Later lines of a subscriber are ignored.
        viewer.send(&json!({"cmd": "ping"})).unwrap();
        assert_eq!(viewer.line().unwrap()["event"], "snapshot");
    }
    assert_eq!(deck.socket().ask(&json!({"cmd": "ping"}))["ok"], true);
}

#[test]
fn a_viewer_may_spell_its_last_event_either_way() {
    let deck = InProcessDaemon::new();
    deck.post(r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    // Changes are numbered once the board has been read.
    deck.board();
    deck.post(r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"<task-notification>x</task-notification>"}"#);
    deck.board();
    let last = format!("{}-1", deck.health.boot);
    for spelt in ["last_event_id", "lastEventId"] {
        let mut viewer = deck.socket();
        viewer.send(&json!({"cmd": "subscribe", "args": {spelt: last}})).unwrap();
        assert_eq!(viewer.line().unwrap()["event"], "session_updated", "{spelt}");
    }
}
