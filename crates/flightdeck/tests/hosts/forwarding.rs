//! A member's log reaches a hub: once, in order, under its own name.

use std::collections::BTreeSet;

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::{Host, assert_same_log, until};

#[test]
fn a_session_of_a_member_is_on_the_hub_with_the_name_of_its_host() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, mut hub) = (Host::member(&nats, "build-1"), Host::hub(&nats, "desk"));
    a.works("s1", "fix the rounding");
    let card = hub.until_card("s1@build-1", |card| card["agent_state"]["state"] == "thinking");
    assert_eq!((&card["host"], &card["seat"]["host"]), (&json!("build-1"), &json!("build-1")));
    assert_eq!(
        (&card["last_user_message"], &card["project"]["name"]),
        (&json!("fix the rounding"), &json!("api"))
    );
    let own = a.daemon().card("s1");
    assert_eq!(
        (&own["host"], &own["owner"], &own["unreachable_since"]),
        (&json!("build-1"), &json!(null), &json!(null))
    );
    assert_eq!(card["agent_state"]["since"], own["agent_state"]["since"], "by the owner's clock");

    let row = until("the hub knows what the host accepts", || {
        hub.sees("build-1").filter(|row| row["sessions"] == 1 && row["accepts"] == json!(["answer"]))
    });
    assert_eq!((&row["unreachable_since"], &row["shares_payloads"]), (&json!(null), &json!(true)));
    assert_eq!(
        hub.until_card("s1@build-1", |c| c["owner"]["accepts"] == json!(["answer"]))["owner"]["shares_payloads"],
        true
    );
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

#[test]
fn equal_session_ids_on_two_hosts_never_meet_and_two_hubs_agree() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, b) = (Host::member(&nats, "a"), Host::member(&nats, "b"));
    let (desk, late) = (Host::hub(&nats, "desk"), Host::stopped(&nats.url(), "late", true, ""));
    a.works("same", "of a");
    b.works("same", "of b");
    b.post(&json!({"session_id": "same", "hook_event_name": "Stop"}));
    desk.works("same", "of the hub itself");
    desk.until_card("same@a", |card| card["last_user_message"] == "of a");
    desk.until_card("same@b", |card| {
        card["agent_state"]["state"] == "finished" || card["agent_state"]["group"] == "needs_you"
    });
    assert_eq!(desk.daemon().card("same")["last_user_message"], "of the hub itself");
    // A hub that begins with nothing replays the stream.
    let late = late.started();
    late.until_card("same@desk", |card| card["last_user_message"] == "of the hub itself");
    let shown = |hub: &Host, id: &str| {
        let card = hub.until_card(id, |_| true);
        let state = &card["agent_state"];
        json!([
            card["host"],
            state["state"],
            state["since"],
            state["label"],
            card["title"],
            card["turn_count"],
            card["started_at"]
        ])
    };
    for id in ["same@a", "same@b"] {
        late.until_card(id, |_| true);
        until("both hubs show the same", || (shown(&desk, id) == shown(&late, id)).then_some(()));
    }
    let ids: BTreeSet<String> =
        desk.daemon().board().iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, BTreeSet::from(["same".into(), "same@a".into(), "same@b".into()]));
}

#[test]
fn a_payload_over_the_servers_limit_is_clipped_and_the_whole_request_is_fetched_from_its_owner() {
    let Some(nats) = NatsServer::with_config("max_payload: 48KB") else { return };
    let (a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    let command = format!("echo {}", "x".repeat(100_000));
    let (_hook, ask) = a.asks("s", &command);
    hub.until_card("s@a", |card| card["asks"][0]["id"] == ask.as_str());
    let events = hub.daemon().get("/api/sessions/s@a/events?payload=1").text();
    assert!(
        events.contains("bytes clipped]") && events.contains("flightdeck_clipped"),
        "the hub has it clipped"
    );
    let whole = hub.daemon().get(&format!("/api/asks/{ask}")).json();
    assert_eq!(
        (whole["tool_input"]["command"].as_str().unwrap().len(), &whole["session_id"]),
        (command.len(), &json!("s@a"))
    );
}

#[test]
fn a_hub_that_is_killed_goes_on_where_it_was() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    for n in 0..200 {
        a.post(&json!({"session_id": format!("s{}", n % 7), "hook_event_name": "UserPromptSubmit", "prompt": n.to_string()}));
        if n == 60 || n == 120 {
            hub.until_card("s1@a", |_| true);
            hub.kill();
        }
        if n == 90 || n == 150 {
            hub.start();
        }
    }
    hub.until_card("s3@a", |card| card["last_user_message"] == "199");
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}
