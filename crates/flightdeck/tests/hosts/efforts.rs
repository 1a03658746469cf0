//! An effort belongs to the machine on which it was started.

use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Map, Value, json};

use crate::fleet::Host;

fn ask(host: &Host, cmd: &str, args: &Value) -> Value {
    let reply = host.home.socket().ask(&json!({"cmd": cmd, "args": args}));
    assert_eq!(reply["ok"], true, "{cmd}: {reply}");
    reply["data"].clone()
}

/// A session of the host calls a tool in the directory; returns the verdict.
fn calls(host: &Host, dir: &Value) -> Value {
    host.works("s", "go");
    let call = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": {"command": "cargo test"}, "cwd": dir, "permission_mode": "default"});
    let env = Map::from_iter([("waits".to_owned(), json!(true))]);
    host.home.socket().hook(call.as_object().unwrap(), &env)["data"]["verdict"].clone()
}

#[test]
fn an_effort_of_a_member_does_not_govern_the_hub_and_is_not_listed_as_its_own() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    let dir = tempfile::tempdir().unwrap();
    let dir = json!(dir.path().canonicalize().unwrap());
    let opening = json!({"dir": dir, "skill": "implement", "settings": {"heartbeat": 1}});
    let id = ask(&a, "effort.start", &opening)["id"].clone();
    assert!(!calls(&a, &dir).is_null(), "it governs the session of its own machine");
    hub.until_card("s@a", |card| card["last_user_message"] == "go");
    a.until_forwarded();
    let verdict = calls(&hub, &dir);
    assert!(verdict.is_null(), "the hub's own session in an equal directory: {verdict}");
    assert_eq!(hub.daemon().card("s")["effort"], Value::Null);
    let listed = ask(&hub, "effort.list", &json!({}));
    let listed = listed["efforts"].as_array().unwrap();
    assert!(listed.iter().all(|effort| effort["id"] != id), "{listed:?}");
    // The hub can have one of its own there.
    ask(&hub, "effort.start", &opening);
    assert!(!calls(&hub, &dir).is_null());
}
