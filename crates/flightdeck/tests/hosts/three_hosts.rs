//! Three members, a hub and one server: what a person with several machines does in one afternoon.

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::{Host, assert_same_log};

#[test]
fn three_members_share_a_board_and_one_that_is_killed_loses_and_doubles_nothing() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, mut b) = (Host::member(&nats, "a"), Host::member(&nats, "b"));
    let (mut c, mut hub) = (Host::member(&nats, "c"), Host::hub(&nats, "desk"));

    a.works("s", "on a");
    let card = hub.until_card("s@a", |card| card["agent_state"]["state"] == "thinking");
    assert_eq!((&card["host"], &card["last_user_message"]), (&json!("a"), &json!("on a")));

    let (mut hook, ask) = b.asks("s", "make");
    hub.until_card("s@b", |card| card["asks"][0]["answerable"] == true);
    let said =
        hub.daemon().post(&format!("/api/asks/{ask}/answer"), r#"{"decision": "allow", "via": "web"}"#);
    assert_eq!((said.status, &said.json()["how"]), (200, &json!("allowed")), "{}", said.text());
    let verdict = hook.line().unwrap();
    assert_eq!(verdict["data"]["verdict"]["hookSpecificOutput"]["decision"]["behavior"], "allow");
    hub.until_card("s@b", |card| card["agent_state"]["state"] == "acting");

    for round in 0..3 {
        for n in 0..100 {
            let prompt = format!("{round} {n}");
            c.post(&json!({"session_id": format!("s{}", n % 7), "hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        }
        // Some of these are on their way.
        c.kill();
        a.works("s", &format!("while c is gone, {round}"));
        c.start();
    }
    c.works("s1", "c is back");
    hub.until_card("s1@c", |card| card["last_user_message"] == "c is back");
    for host in [&a, &b, &c] {
        host.until_forwarded();
        let last = host.until_card(if host.name == "c" { "s1" } else { "s" }, |_| true);
        let there = format!("{}@{}", last["id"].as_str().unwrap(), host.name);
        hub.until_card(&there, |card| card["last_user_message"] == last["last_user_message"]);
        assert_eq!(hub.sees(&host.name).unwrap()["refused"], 0);
    }
    [&mut a, &mut b, &mut c, &mut hub].into_iter().for_each(Host::stop);
    for member in [&a, &b, &c] {
        assert_same_log(member, &hub);
    }
}
