//! A session that comes back in the very moment that it leaves: nobody looked at the clock in between.

use flightdeck_core::time::Millis;
use serde_json::{Value, json};

use crate::deck::Deck;

fn tell(deck: &Deck, name: &str, more: (&str, &str)) {
    let mut payload = json!({"session_id": "s", "hook_event_name": name, "cwd": "/w/api"});
    payload[more.0] = more.1.into();
    assert_eq!(deck.post(&payload.to_string()).status, 204);
}

fn ids(board: &Value) -> Vec<&str> {
    board["sessions"].as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap()).collect()
}

/// Ends a session, and resumes it after so long: the event that resumes it is the first that the engine hears of the time.
fn resumed_after(deck: &Deck, time: Millis) {
    tell(deck, "SessionStart", ("source", "startup"));
    tell(deck, "SessionEnd", ("reason", "other"));
    deck.set_clock(deck.now() + time);
    tell(deck, "SessionStart", ("source", "resume"));
}

#[test]
fn a_session_resumed_after_it_should_have_left_is_on_the_board() {
    let deck = Deck::new();
    resumed_after(&deck, Millis::minutes(31));
    assert_eq!(ids(&deck.get("/api/sessions").json()), ["s"]);
    assert_eq!(ids(&deck.get("/api/sessions?all=1").json()), ["s"]);
}

#[test]
fn a_viewer_is_not_told_that_one_left_who_is_back() {
    for time in [Millis::seconds(11), Millis::minutes(31)] {
        let deck = Deck::new();
        let mut viewer = deck.socket();
        viewer.send(&json!({"cmd": "subscribe"})).unwrap();
        assert_eq!(viewer.line().unwrap()["event"], "snapshot");
        resumed_after(&deck, time);
        let mut last = Value::Null;
        for event in ["session_discovered", "session_updated", "session_updated"] {
            last = viewer.line().unwrap();
            assert_eq!(last["event"], event, "{last}");
        }
        tell(&deck, "UserPromptSubmit", ("prompt", "go on"));
        let next = viewer.line().unwrap();
        assert_eq!(next["event"], "session_updated", "after {last}: {next}");
        assert_eq!(next["data"]["session"]["agent_state"]["state"], "thinking");
    }
}
