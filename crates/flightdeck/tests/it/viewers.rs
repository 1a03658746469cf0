//! Viewers on the socket that come and go.

use flightdeck::inlet::socket::CONNECTIONS_MAX;
use serde_json::json;

use crate::deck::Deck;

#[test]
fn viewers_that_leave_a_quiet_board_give_their_places_back() {
    let deck = Deck::new();
    for _ in 0..=CONNECTIONS_MAX {
        let mut viewer = deck.socket();
        viewer.send(&json!({"cmd": "subscribe"})).unwrap();
        // Whatever it says after that is not heard.
        viewer.send(&json!({"cmd": "ping"})).unwrap();
        assert_eq!(viewer.line().unwrap()["event"], "snapshot");
    }
    assert_eq!(deck.socket().ask(&json!({"cmd": "ping"}))["ok"], true);
}

#[test]
fn a_viewer_may_spell_its_last_event_either_way() {
    let deck = Deck::new();
    deck.post(r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    // A card is numbered once somebody asks for it.
    deck.board();
    deck.post(r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}"#);
    deck.board();
    let last = format!("{}-1", deck.health.boot);
    for spelt in ["last_event_id", "lastEventId"] {
        let mut viewer = deck.socket();
        viewer.send(&json!({"cmd": "subscribe", "args": {spelt: last}})).unwrap();
        assert_eq!(viewer.line().unwrap()["event"], "session_updated", "{spelt}");
    }
}
