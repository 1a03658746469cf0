//! Payloads nested nearly as deep as the parser allows: they are accepted, and every view of them can be read.

use flightdeck_core::time::Millis;
use flightdeck_e2e::testkit::{DEADLINE, TestDaemon};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::in_process::InProcessDaemon;

/// A request whose input is an object with nested lists, with this total depth.
fn request(session: &str, depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(
        r#"{{"session_id":"{session}","hook_event_name":"PermissionRequest","tool_name":"mcp__lab__sort","tool_input":{{"tree":{open}1{close}}}}}"#
    )
}

#[test]
fn a_deep_payload_is_clipped_and_every_view_of_it_can_be_read() {
    let home = test_home();
    let daemon = home.daemon();
    assert_eq!(daemon.post("/api/live/hook", &request("http", 124)).status, 204);
    assert_eq!(daemon.post("/api/live/hook", &request("deeper", 128)).status, 400);
    let hook = |id: &str, depth: usize| {
        let mut hook = home.socket();
        let said = hook.ask_raw(&format!(r#"{{"cmd":"hook","args":{}}}"#, request(id, depth)));
        assert_eq!(said["ok"], true, "{said}");
        hook
    };
    let _held = (hook("hook", 124), hook("deepest", 5000));
    let all = ["deepest", "hook", "http"];
    let look = |daemon: &TestDaemon| {
        for id in all {
            let card = daemon.card(id);
            assert_eq!(card["agent_state"]["state"], "needs_permission");
            let input = card["asks"][0]["tool_input"].to_string();
            assert!(input.contains("nested too deep"), "{input}");
            home.run(&["show", id]).success();
        }
        let ids = |sessions: &Value| {
            let cards = sessions["sessions"].as_array().unwrap();
            let mut ids: Vec<_> = cards.iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&daemon.get("/api/sessions").json()), all);
        assert_eq!(ids(&daemon.get("/api/sessions?all=1").json()), all);
        assert_eq!(home.run(&["ls", "--json"]).json().as_array().unwrap().len(), 3);
        home.run(&["policy", "log"]).success();
        assert_eq!(daemon.get("/api/sessions/http/events?payload=1").status, 200);
    };
    look(&daemon);
    assert!(daemon.stop().success());
    let daemon = home.daemon();
    look(&daemon);
    assert!(daemon.stop().success());
    let log = home.paths().logs;
    let said: String = std::fs::read_dir(log)
        .unwrap()
        .map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap())
        .collect();
    assert!(!said.contains("cannot be read"), "{said}");
}

#[test]
fn an_unreadable_stored_card_does_not_hide_others() {
    let store = flightdeck::store::Store::in_memory().unwrap();
    let deck = InProcessDaemon::builder().store(store.clone()).heartbeat_every(DEADLINE).start();
    let stored = |id: &str, card: String| flightdeck::store::StoredSession {
        id: id.into(),
        project: None,
        title: None,
        started_at: crate::in_process::noon(),
        last_activity_at: crate::in_process::noon() - Millis::hours(1),
        ended_at: None,
        card,
    };
    let spoilt = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let cards = vec![stored("a", json!({"id": "a"}).to_string()), stored("b", spoilt)];
    deck.block_on(store.put_sessions(cards)).unwrap();
    let page = deck.get("/api/sessions?all=1").json();
    assert_eq!(page["sessions"], json!([{"id": "a"}]));
}
