//! The server or a host is gone for a while: local work goes on, and every log is whole at the end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::{Host, assert_same_log, on_the_server, until};

fn prompt(host: &Host, session: &str, text: &str) {
    host.post(&json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": text}));
}

#[test]
fn a_member_that_is_killed_loses_and_doubles_nothing() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut c, mut hub) = (Host::member(&nats, "c"), Host::hub(&nats, "desk"));
    for round in 0..4 {
        for n in 0..60 {
            prompt(&c, &format!("s{}", n % 5), &format!("{round} {n}"));
        }
        c.kill();
        c.start();
    }
    prompt(&c, "s0", "the last");
    hub.until_card("s0@c", |card| card["last_user_message"] == "the last");
    c.until_forwarded();
    c.stop();
    hub.stop();
    assert_same_log(&c, &hub);
}

/// Events of the load before, during and after an outage.
const EVENTS_IN_EACH_PHASE: usize = 60;

/// Ends the load, also when the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_server_is_killed_under_load_and_the_backlog_is_drained_when_it_is_back() {
    let Some(mut nats) = NatsServer::start() else { return };
    let (mut a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    let (sent, ends) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _load_ends = SetOnDrop(&ends);
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                let n = sent.load(Ordering::Relaxed);
                prompt(&a, "s", &n.to_string());
                sent.store(n + 1, Ordering::Relaxed);
            }
        });
        let more_are_sent = || {
            let before = sent.load(Ordering::Relaxed);
            until("local work goes on", || {
                (sent.load(Ordering::Relaxed) >= before + EVENTS_IN_EACH_PHASE).then_some(())
            });
        };
        hub.until_card("s@a", |_| true);
        for _ in 0..2 {
            more_are_sent();
            nats.kill();
            until("the member says that there is no connection", || {
                (a.link()["connected"] == false).then_some(())
            });
            more_are_sent();
            nats.run();
        }
        more_are_sent();
    });
    let last = (sent.load(Ordering::Relaxed) - 1).to_string();
    hub.until_card("s@a", |card| card["last_user_message"] == last.as_str());
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

/// An event of a host that never sends a presence.
fn send_event_of_a_silent_host(url: &str) {
    let message = json!({"host": "c", "n": 1, "log": "x", "seq": 1, "id": format!("{:032x}", 7), "fired_at": 1, "received_at": 1,
        "source": "hook", "name": "UserPromptSubmit", "subject": "s", "envelope": {},
        "payload": {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go"}});
    on_the_server(url, async |js| {
        js.publish("flightdeck.main.c.log", message.to_string().into()).await.unwrap().await.unwrap();
    });
}

#[test]
fn without_the_server_every_card_of_another_host_is_marked_also_by_a_hub_that_starts_then() {
    let Some(mut nats) = NatsServer::start() else { return };
    let (a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "go");
    hub.works("own", "go");
    send_event_of_a_silent_host(&nats.url());
    hub.until_card("s@c", |_| true);
    hub.until_card("s@a", |card| card["owner"]["accepts"] == json!(["answer"]));
    let seen = hub.sees("a").unwrap()["last_seen"].clone();
    nats.kill();
    let mark = |hub: &Host, id: &str| {
        hub.until_card(id, |card| card["unreachable_since"] != json!(null))["unreachable_since"].clone()
    };
    let marks = [mark(&hub, "s@a"), mark(&hub, "s@c")];
    assert!(marks[0].as_str() >= seen.as_str(), "since its last presence: {marks:?}");
    assert_eq!(hub.daemon().card("s@a")["agent_state"]["state"], "thinking", "the state stays");
    assert_eq!(hub.daemon().card("own")["unreachable_since"], json!(null));

    hub.stop();
    hub.start();
    assert_eq!(mark(&hub, "s@a"), marks[0]);
    let back = hub.daemon().card("s@a");
    assert_eq!(back["owner"]["accepts"], json!(["answer"]), "it knows what the host accepts");
    mark(&hub, "s@c");
    let row = hub.sees("a").unwrap();
    assert_eq!((&row["unreachable_since"], &row["last_seen"]), (&marks[0], &marks[0]));

    nats.run();
    hub.until_card("s@a", |card| card["unreachable_since"] == json!(null));
    assert_ne!(hub.daemon().card("s@c")["unreachable_since"], json!(null), "it is still silent");
}

#[test]
fn the_backlog_of_a_hub_is_its_own_events_only() {
    let Some(mut nats) = NatsServer::start() else { return };
    let (a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    hub.works("own", "before");
    hub.until_forwarded();
    for n in 0..30 {
        prompt(&a, "s", &n.to_string());
    }
    hub.until_card("s@a", |card| card["last_user_message"] == "29");
    nats.kill();
    until("the hub has no connection", || (hub.link()["connected"] == false).then_some(()));
    prompt(&hub, "own", "during");
    assert_eq!(hub.link()["backlog"], 1);
    hub.stop();
    hub.start();
    until("it was counted", || (hub.link()["problem"].is_string()).then_some(()));
    assert_eq!(hub.link()["backlog"], 1);
    prompt(&hub, "own", "after");
    assert_eq!(hub.link()["backlog"], 2);
    nats.run();
    hub.until_forwarded();
    let next = Host::hub(&nats, "next");
    next.until_card("own@desk", |card| card["last_user_message"] == "after");
}

#[test]
fn a_member_that_was_offline_for_ten_thousand_events_catches_up() {
    let Some(mut nats) = NatsServer::start() else { return };
    nats.kill();
    let mut a = Host::member(&nats, "a");
    let mut hub = Host::hub(&nats, "desk");
    let mut hook = a.home.socket();
    let mut prompt = |n: u32| {
        let payload = json!({"session_id": format!("s{}", n % 10), "hook_event_name": "UserPromptSubmit", "prompt": n.to_string()});
        hook.hook(payload.as_object().unwrap(), &serde_json::Map::new());
    };
    (0..10_000).for_each(&mut prompt);
    until("the member says why there is no connection", || a.link()["problem"].as_str().map(str::to_owned));
    let link = a.link();
    assert!(link["connected"] == false && link["backlog"].as_u64().unwrap() >= 10_000, "{link}");
    nats.run();
    // The log grows while it is forwarded.
    (10_000..11_000).for_each(prompt);
    hub.until_card("s9@a", |card| card["last_user_message"] == "10999");
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

#[test]
fn a_server_that_is_full_holds_nothing_up_and_gets_the_rest_later() {
    // The whole store is smaller than what is sent: the server refuses until there is room.
    let Some(nats) = NatsServer::start() else { return };
    let mut a = Host::member(&nats, "a");
    a.until_forwarded();
    let full = |bytes: i64| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let js = async_nats::jetstream::new(async_nats::connect(nats.url()).await.unwrap());
            let mut stream = js.get_stream("FLIGHTDECK_main_LOG").await.unwrap();
            let mut config = stream.info().await.unwrap().config.clone();
            config.max_bytes = bytes;
            config.discard = async_nats::jetstream::stream::DiscardPolicy::New;
            js.update_stream(config).await.unwrap();
        });
    };
    full(4_000);
    for n in 0..50 {
        prompt(&a, "s", &format!("{n} {}", "x".repeat(500)));
    }
    until("the server refuses", || {
        a.link()["problem"].as_str().filter(|p| p.contains("did not acknowledge")).map(drop)
    });
    assert!(a.daemon().card("s")["last_user_message"].as_str().unwrap().starts_with("49 "));
    full(-1);
    let mut hub = Host::hub(&nats, "desk");
    hub.until_card("s@a", |card| card["last_user_message"].as_str().is_some_and(|m| m.starts_with("49 ")));
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}
