//! A member that pretends to be another one.

use bytes::Bytes;
use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Value, json};

use crate::fleet::{Host, PATIENCE, on_the_server, until};

fn message(host: &str, n: u64) -> Value {
    json!({"host": host, "n": n, "log": "forged", "seq": n, "id": format!("{:032x}", 0xf0_u64 + n), "fired_at": 1, "received_at": 1,
        "source": "hook", "name": "UserPromptSubmit", "subject": "forged", "envelope": {},
        "payload": {"session_id": "forged", "hook_event_name": "UserPromptSubmit", "prompt": "forged"}})
}

fn publish(url: &str, subject: &str, body: &Value) {
    on_the_server(url, async |js| {
        let sent = js.publish(subject.to_owned(), Bytes::from(body.to_string())).await.unwrap();
        sent.await.unwrap();
    });
}

/// The last message of `a` on the server.
fn last_message(url: &str) -> Value {
    on_the_server(url, async |js| {
        let stream = js.get_stream("FLIGHTDECK_main_LOG").await.unwrap();
        let last = stream.direct_get_last_for_subject("flightdeck.main.a.log").await.unwrap();
        serde_json::from_slice(&last.payload).unwrap()
    })
}

#[test]
fn a_forged_message_with_the_next_number_is_refused_and_does_not_silence_the_host() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "real");
    a.until_forwarded();
    hub.until_card("s@a", |card| card["owner"]["accepts"] == json!(["answer"]));
    let next = last_message(&nats.url())["n"].as_u64().unwrap() + 1;
    publish(&nats.url(), "flightdeck.main.a.log", &message("a", next));
    let row = until("the hub refused it", || hub.sees("a").filter(|row| row["refused"] == 1));
    assert_eq!(row["refused_because"], "another machine sends under this name, or the message is forged");
    a.works("s", "go on");
    hub.until_card("s@a", |card| card["last_user_message"] == "go on");
    a.until_forwarded();
    assert_eq!(hub.sees("a").unwrap()["refused"], 1);
    assert!(hub.daemon().board().iter().all(|card| !card["id"].as_str().unwrap().starts_with("forged")));
}

#[test]
fn a_forged_host_and_a_forged_number_are_refused_by_the_hub() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "real");
    hub.until_card("s@a", |_| true);
    // On the subject of `b`, as if it were from `a`.
    publish(&nats.url(), "flightdeck.main.b.log", &message("a", 900));
    let row = until("the hub refused it", || hub.sees("b").filter(|row| row["refused"] == 1));
    assert_eq!(row["refused_because"], "it says that it is from a");
    // On the subject of `a` itself, with a number that was received before.
    let mut again = message("a", 1);
    again["log"] = last_message(&nats.url())["log"].clone();
    again["seq"] = last_message(&nats.url())["seq"].clone();
    publish(&nats.url(), "flightdeck.main.a.log", &again);
    let row = until("the hub refused it", || hub.sees("a").filter(|row| row["refused"] == 1));
    assert_eq!(row["refused_because"], "its number 1 was received before");
    publish(&nats.url(), "flightdeck.main.a.log", &json!({"host": "a"}));
    until("the hub refused what it cannot read", || hub.sees("a").filter(|row| row["refused"] == 2));
    a.works("s", "go on");
    hub.until_card("s@a", |card| card["last_user_message"] == "go on");
    assert!(hub.daemon().board().iter().all(|card| !card["id"].as_str().unwrap().starts_with("forged")));
}

#[test]
fn the_printed_configuration_lets_a_member_publish_under_its_own_name_only() {
    let home = Host::stopped("nats://127.0.0.1:1", "desk", true, "");
    let printed =
        home.home.run(&["hosts", "nats-config", "--hub", "desk", "--host", "a", "--host", "b"]).success();
    let users = &printed[printed.find("authorization").unwrap()..];
    let users = users.replace("FILL IN: a long random text", "secret");
    let Some(nats) = NatsServer::with_config(&users) else { return };
    let url = |user: &str| format!("nats://{user}:secret@127.0.0.1:{}", nats.port());
    let hub = Host::stopped(&url("desk"), "desk", true, "").started();
    let a = Host::stopped(&url("a"), "a", false, "").started();
    let (mut hook, ask) = a.asks("s", "make");
    hub.until_card("s@a", |card| card["asks"][0]["answerable"] == true);
    let said = hub.daemon().post(&format!("/api/asks/{ask}/answer"), r#"{"decision": "allow"}"#);
    assert_eq!(said.status, 200, "{}", said.text());
    hook.line().unwrap();

    // A host that the server's configuration does not name is told why it cannot join.
    let unnamed = hub.home.run(&["hosts", "join", &url("b"), "--name", "unnamed"]);
    assert!(unnamed.code == 1 && unnamed.err.contains("does not permit what unnamed needs"), "{unnamed:?}");

    // `b` may not send as `a`, read its log, act as a hub, or read its replies.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let refusals = runtime.block_on(async {
        let (refused, mut refusals) = tokio::sync::mpsc::unbounded_channel();
        let options = async_nats::ConnectOptions::new()
            .custom_inbox_prefix("_INBOX.main.b")
            .user_and_password("b".into(), "secret".into())
            .event_callback(move |event| {
                let refused = refused.clone();
                async move { drop(refused.send(event.to_string())) }
            });
        let client = options.connect(url("b")).await.unwrap();
        client.publish("flightdeck.main.a.log", "{}".into()).await.unwrap();
        client.publish("flightdeck.main.a.ask", "{}".into()).await.unwrap();
        client.publish("$JS.API.STREAM.MSG.GET.FLIGHTDECK_main_LOG", "{}".into()).await.unwrap();
        let _ours = client.subscribe("_INBOX.main.a.>").await.unwrap();
        client.flush().await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < 4 {
            let event = tokio::time::timeout(PATIENCE, refusals.recv()).await.unwrap().unwrap();
            seen.extend(event.contains("ermissions").then_some(event));
        }
        seen
    });
    assert_eq!(refusals.len(), 4, "{refusals:?}");
    assert_eq!(hub.sees("a").unwrap()["refused"], 0);
}
