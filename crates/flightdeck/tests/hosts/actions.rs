//! A person on a hub acts on a session of another host.

use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Value, json};

use crate::fleet::{Host, assert_same_log, on_the_server, until};

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

/// Sends a request to `mid` as a hub would, and returns its reply.
fn request(url: &str, command: &str, arguments: &Value) -> Value {
    let body = json!({"command": command, "arguments": arguments, "from": "desk", "by": "ann"}).to_string();
    on_the_server(url, async |_| {
        let client = async_nats::connect(url).await.unwrap();
        let reply = client.request("flightdeck.main.mid.ask", body.into()).await.unwrap();
        serde_json::from_slice(&reply.payload).unwrap()
    })
}

#[test]
fn a_request_is_judged_by_the_session_that_its_command_names_and_never_passed_on() {
    let Some(nats) = NatsServer::start() else { return };
    let accept = r#"accept = ["answer", "prompt", "interrupt"]"#;
    let (mid, third) = (Host::with(&nats, "mid", true, accept), Host::with(&nats, "third", false, accept));
    let (_hook, ask) = mid.asks("own", "make");
    let (_other_hook, other_ask) = third.asks("b", "make");
    mid.until_card("b@third", |card| {
        card["owner"]["accepts"].as_array().unwrap().len() == 3 && card["asks"][0]["id"] == other_ask.as_str()
    });
    let deny = json!({"decision": "deny"});
    for (command, arguments) in [
        ("prompt", json!({"ask_id": ask, "session_id": "b@third", "text": "go on"})),
        ("interrupt", json!({"ask_id": ask, "session_id": "b@third", "confirm": true})),
        ("answer", json!({"ask_id": other_ask, "session_id": "own", "answer": deny})),
        ("conversation", json!({"ask_id": ask, "session_id": "b@third"})),
    ] {
        let reply = request(&nats.url(), command, &arguments);
        assert!(reply["refused"].is_object(), "{command}: {reply}");
    }
    let reply = request(&nats.url(), "answer", &json!({"ask_id": ask, "answer": deny}));
    assert_eq!(reply["done"]["how"], "denied", "{reply}");
    let actions = |host: &Host, session: &str| {
        let events = host.daemon().get(&format!("/api/sessions/{session}/events?payload=1")).json();
        let events = events["events"].as_array().unwrap().clone();
        let actions = events.iter().filter(|event| event["name"] == "remote_action");
        actions.map(|event| event["payload"]["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((actions(&mid, "own"), actions(&third, "b")), (vec!["answer".to_owned()], vec![]));
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
