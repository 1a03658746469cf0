//! A person on a hub acts on a session of another host.

use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Value, json};

use crate::fleet::{Host, assert_same_log, until};

fn answer(hub: &Host, ask: &str, body: &Value) -> (u16, Value) {
    let reply = hub.daemon().post(&format!("/api/asks/{ask}/answer"), &body.to_string());
    (reply.status, reply.json())
}

#[test]
fn a_permission_that_is_allowed_on_the_hub_releases_the_hook_on_its_host() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, mut hub) = (Host::member(&nats, "build-1"), Host::hub(&nats, "desk"));
    let (mut hook, ask) = a.asks("s", "make");
    hub.until_card("s@build-1", |card| card["asks"][0]["answerable"] == true);
    let (status, said) = answer(&hub, &ask, &json!({"decision": "allow", "via": "web"}));
    assert_eq!((status, &said["how"], &said["by"]), (200, &json!("allowed"), &json!("web")), "{said}");
    let verdict = hook.line().unwrap();
    assert_eq!(verdict["data"]["verdict"]["hookSpecificOutput"]["decision"]["behavior"], "allow");
    hub.until_card("s@build-1", |card| card["agent_state"]["state"] == "acting");

    let (status, late) = answer(&hub, &ask, &json!({"decision": "deny"}));
    assert_eq!((status, &late["message"]), (409, &json!("this was already decided: allowed (web)")));
    assert_eq!(late["resolution"]["how"], "allowed");

    let events = a.daemon().get("/api/sessions/s/events?payload=1").json();
    let noted =
        events["events"].as_array().unwrap().iter().find(|event| event["name"] == "remote_action").cloned();
    let noted = noted.expect("the action is in the owner's log");
    assert_eq!((&noted["payload"]["action"], &noted["payload"]["from"]), (&json!("answer"), &json!("desk")));
    assert_eq!(noted["payload"]["accepted"], true);
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

#[test]
fn a_host_that_accepts_nothing_refuses_in_its_own_words_and_notes_it() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) = (Host::with(&nats, "a", false, "accept = []"), Host::hub(&nats, "desk"));
    let (_hook, ask) = a.asks("s", "make");
    hub.until_card("s@a", |card| {
        card["owner"]["accepts"] == json!([]) && card["asks"][0]["answerable"] == true
    });
    let (status, said) = answer(&hub, &ask, &json!({"decision": "allow"}));
    assert_eq!(
        (status, &said["message"]),
        (409, &json!("a does not accept `answer` from other hosts")),
        "{said}"
    );
    let prompt = hub.daemon().post("/api/sessions/s@a/prompt", r#"{"text": "go on"}"#);
    assert_eq!(
        (prompt.status, &prompt.json()["message"]),
        (409, &json!("a does not accept `prompt` from other hosts"))
    );
    let events = a.daemon().get("/api/sessions/s/events?payload=1").json();
    let refused =
        events["events"].as_array().unwrap().iter().filter(|event| event["payload"]["accepted"] == false);
    assert_eq!(refused.count(), 2);
    assert_eq!(a.daemon().card("s")["asks"][0]["resolution"], Value::Null);
}

#[test]
fn a_host_that_is_gone_cannot_be_asked_and_the_hub_says_so() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    let (_hook, ask) = a.asks("s", "make");
    hub.until_card("s@a", |card| card["asks"][0]["id"] == ask.as_str());
    a.kill();
    let said = until("the server knows that the host is gone", || {
        let (status, said) = answer(&hub, &ask, &json!({"decision": "allow"}));
        (status == 503).then_some(said)
    });
    let message = said["message"].as_str().unwrap();
    assert!(message.starts_with("a is not connected"), "{message}");
}
