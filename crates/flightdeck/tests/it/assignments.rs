//! Assignments over HTTP and the socket, over restarts, and after their events were removed.

use std::path::Path;

use flightdeck::store::{RetentionPolicy, SessionRead, Store, TranscriptBatch};
use flightdeck_core::ids::AgentId;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::CountedMessage;
use flightdeck_core::usage::price::Usage;
use flightdeck_core::wire::billed_usage::MessageKey;
use flightdeck_e2e::testkit::{TestDaemon, until};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::in_process::{InProcessDaemon, noon};

/// Passes on one hook event, a second after the last one.
fn hook(deck: &InProcessDaemon, session: &str, name: &str, more: Value) {
    deck.pass(Millis::seconds(1));
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(deck.post(&payload.to_string()).status, 204);
    deck.board();
}

fn prompt(deck: &InProcessDaemon, session: &str, text: &str) {
    hook(deck, session, "UserPromptSubmit", json!({ "prompt": text }));
}

fn stop(deck: &InProcessDaemon, session: &str, message: &str) {
    hook(deck, session, "Stop", json!({ "last_assistant_message": message }));
}

const ASKS: &str = "Should I keep `a.rs` or `b.rs`?";
const DONE: &str = "Fixed. All tests pass.";

fn listed(deck: &InProcessDaemon, query: &str) -> Vec<String> {
    let list = deck.get(&format!("/api/assignments{query}")).json();
    let told = |a: &Value| format!("{} {}", a["title"].as_str().unwrap(), a["state"].as_str().unwrap());
    list["assignments"].as_array().unwrap().iter().map(told).collect()
}

#[test]
fn an_assignment_is_listed_from_its_prompt_to_its_completion_and_after() {
    let deck = InProcessDaemon::new();
    prompt(&deck, "s", "fix the parser");
    assert_eq!(listed(&deck, ""), ["fix the parser commanded"]);
    stop(&deck, "s", ASKS);
    assert_eq!(listed(&deck, "?state=awaiting_input"), ["fix the parser awaiting_input"]);
    assert_eq!(listed(&deck, "?state=open&project=api"), ["fix the parser awaiting_input"]);
    assert_eq!(listed(&deck, "?project=web"), Vec::<String>::new());
    prompt(&deck, "s", "keep a.rs");
    stop(&deck, "s", DONE);
    prompt(&deck, "t", "write docs");
    assert_eq!(listed(&deck, ""), ["write docs commanded", "fix the parser complete"]);
    assert_eq!(listed(&deck, "?state=complete&since=2026-11-15T00:00:00Z"), ["fix the parser complete"]);
    assert_eq!(listed(&deck, "?until=2026-11-15T00:00:00Z"), Vec::<String>::new());
    let list = deck.get("/api/assignments?limit=1").json();
    let next = list["next_before"].as_str().unwrap();
    assert_eq!(listed(&deck, &format!("?limit=1&before={next}")), ["fix the parser complete"]);
}

#[test]
fn one_assignment_has_its_numbers_and_its_messages() {
    let deck = InProcessDaemon::new();
    prompt(&deck, "s", "fix the parser");
    stop(&deck, "s", ASKS);
    prompt(&deck, "s", "keep a.rs");
    stop(&deck, "s", DONE);
    let id = deck.get("/api/assignments").json()["assignments"][0]["id"].as_str().unwrap().to_owned();
    let one = deck.get(&format!("/api/assignments/{id}")).json();
    assert!(id.starts_with("a-"));
    assert_eq!(
        [&one["outcome"], &one["turns"], &one["working_seconds"], &one["waiting_seconds"], &one["cost"]],
        [&json!("completed"), &json!(2), &json!(2.0), &json!(1.0), &json!(null)]
    );
    assert_eq!(one["last_intent"]["intent"], "completion");
    let told = |messages: &Value| {
        let message = |m: &Value| format!("{} {}: {}", m["actor"], m["intent"], m["text"]).replace('"', "");
        messages["messages"].as_array().unwrap().iter().map(message).collect::<Vec<_>>()
    };
    let expected = [
        "user command: fix the parser",
        "agent question: Should I keep `a.rs` or `b.rs`?",
        "user answer: keep a.rs",
        "agent completion: Fixed. All tests pass.",
    ];
    assert_eq!(told(&deck.get(&format!("/api/assignments/{id}/messages")).json()), expected);
    let mut socket = deck.socket();
    assert_eq!(
        told(&socket.ask(&json!({"cmd": "assignment.messages", "args": json!({ "id": id })}))["data"]),
        expected
    );
    assert_eq!(socket.ask(&json!({"cmd": "assignment.show", "args": json!({ "id": id })}))["data"]["id"], id);
    assert_eq!(
        socket.ask(&json!({"cmd": "assignment.list", "args": json!({})}))["data"]["assignments"][0]["id"],
        id
    );
    for path in ["/api/assignments/a-none", "/api/assignments/a-none/messages"] {
        assert_eq!(deck.get(path).status, 404, "{path}");
    }
    assert_eq!(deck.get("/api/assignments?state=lost").status, 400);
    assert_eq!(deck.get("/api/assignments?since=someday").status, 400);
    assert_eq!(deck.get("/api/digest?since=someday").status, 400);
}

#[test]
fn the_cost_is_what_the_session_spent_between_opening_and_completion() {
    let store = Store::in_memory().unwrap();
    let deck = InProcessDaemon::builder().store(store.clone()).start();
    prompt(&deck, "s", "a");
    stop(&deck, "s", DONE);
    // Opened at second 1, completed at second 2. A thousand tokens of output cost two cents.
    let counted = |n: i64, ms: i64| CountedMessage {
        key: MessageKey(n as u128),
        model: "claude-opus-5-5".to_owned(),
        agent: AgentId::default(),
        at: noon() + Millis(ms),
        usage: Usage { output: 1000, ..Usage::default() },
    };
    let batch = TranscriptBatch {
        session: SessionRead { session_id: "s".into(), ..SessionRead::default() },
        counted: vec![counted(1, 500), counted(2, 1500), counted(3, 2000), counted(4, 2500)],
        ..TranscriptBatch::default()
    };
    deck.block_on(store.put_transcripts(vec![batch])).unwrap();
    let list = deck.get("/api/assignments").json();
    assert_eq!(list["assignments"][0]["cost"]["usd_micros"], 40_000, "{list:#}");
}

#[test]
fn the_digest_sums_by_project_and_lists_what_waits() {
    let deck = InProcessDaemon::new();
    prompt(&deck, "s", "a");
    stop(&deck, "s", DONE);
    prompt(&deck, "t", "b");
    stop(&deck, "t", ASKS);
    let digest = deck.get("/api/digest?since=2026-11-15T00:00:00Z").json();
    let total = &digest["total"];
    assert_eq!(
        [&total["completed"], &total["waiting"], &total["died"]],
        [1, 1, 0].map(Value::from).each_ref()
    );
    assert_eq!(
        (&digest["waiting"][0]["title"], &digest["completed"][0]["title"]),
        (&json!("b"), &json!("a"))
    );
    let project = &digest["projects"][0];
    assert_eq!((&project["project"], &project["sums"]), (&json!("api"), total));
    let days = project["days"].as_array().unwrap();
    let sum = |field: &str| days.iter().map(|day| day[field].as_f64().unwrap()).sum::<f64>();
    assert_eq!(sum("assignments"), 2.0, "one was completed and one waits: {days:#?}");
    assert!((sum("waiting_seconds") - total["waiting_seconds"].as_f64().unwrap()).abs() < 0.01, "{days:#?}");
    let empty = deck.get("/api/digest?since=now").json();
    assert_eq!(empty["total"]["completed"], 0);
    assert_eq!(
        deck.socket().ask(&json!({"cmd": "digest", "args": json!({"since": "2026-11-15T00:00:00Z"})}))["data"]
            ["total"]["completed"],
        1
    );
}

#[test]
fn viewers_get_every_change_of_an_assignment() {
    let deck = InProcessDaemon::new();
    let mut viewer = deck.socket();
    viewer.ask(&json!({"cmd": "subscribe", "args": {}}));
    prompt(&deck, "s", "a");
    stop(&deck, "s", DONE);
    let mut states = Vec::new();
    while states.last().map(String::as_str) != Some("complete") {
        let frame = viewer.line().unwrap();
        if frame["event"] == "assignment_updated" {
            states.push(frame["data"]["assignment"]["state"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(states, ["commanded", "complete"]);
    assert_eq!(deck.board()["sessions"][0]["assignment"]["state"], "complete");
}

fn open(path: &Path) -> InProcessDaemon {
    let store = Store::open(path).unwrap().store;
    InProcessDaemon::builder().store(store).now(noon() + Millis::minutes(1)).start()
}

#[test]
fn a_restart_changes_nothing_and_a_replay_gives_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flightdeck.db");
    let all = |deck: &InProcessDaemon| {
        without_running_time(deck.get("/api/assignments").json()["assignments"].clone())
    };
    let before = {
        let deck = open(&path);
        prompt(&deck, "s", "a");
        stop(&deck, "s", DONE);
        prompt(&deck, "s", "b");
        stop(&deck, "s", ASKS);
        // Not stopped: the daemon is gone without a snapshot.
        let before = all(&deck);
        deck.block_on(async { deck.store().close().await }).unwrap();
        before
    };
    assert_eq!(before.as_array().unwrap().len(), 2);
    let deck = open(&path);
    assert_eq!(all(&deck), before);
    deck.stop();
    deck.block_on(async { deck.store().close().await }).unwrap();
    drop(deck);
    assert_eq!(all(&open(&path)), before, "from a snapshot");
}

#[test]
fn assignments_outlive_their_events() {
    let store = Store::in_memory().unwrap();
    let deck = InProcessDaemon::builder().store(store.clone()).start();
    prompt(&deck, "s", "a");
    stop(&deck, "s", DONE);
    let before = deck.get("/api/assignments").json();
    prompt(&deck, "t", "b");
    let policy = RetentionPolicy { max_age: Millis(0), keep_after_seq: 2, ..RetentionPolicy::default() };
    deck.block_on(store.retain(Timestamp::from_millis(i64::MAX / 2), policy)).unwrap();
    assert_eq!(deck.block_on(store.oldest()).unwrap().unwrap().seq, 3);
    // The next start reads a log without the beginning.
    let again = InProcessDaemon::builder().store(store).start();
    let after = again.get("/api/assignments?state=complete").json();
    assert_eq!(after["assignments"], before["assignments"]);
}

#[test]
fn kill_9_in_the_middle_of_awaiting_assignments_changes_nothing() {
    let home = test_home();
    let daemon = home.daemon();
    let send = |session: &str, name: &str, more: Value| {
        let mut args = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(home.socket().ask(&json!({"cmd": "hook", "args": args, "env": {}}))["ok"], true);
    };
    send("s", "UserPromptSubmit", json!({"prompt": "fix the parser"}));
    send("s", "Stop", json!({"last_assistant_message": ASKS}));
    send("t", "UserPromptSubmit", json!({"prompt": "deploy it"}));
    send("t", "PreToolUse", json!({"tool_name": "Bash", "tool_use_id": "b"}));
    send("t", "Notification", json!({"notification_type": "permission_prompt"}));
    let read = |daemon: &TestDaemon| {
        let list = daemon.get("/api/assignments").json()["assignments"].clone();
        let ids = list.as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned());
        let messages: Vec<_> =
            ids.map(|id| daemon.get(&format!("/api/assignments/{id}/messages")).json()).collect();
        (without_running_time(list), messages)
    };
    let reasons = |list: &Value| {
        let reason = |a: &Value| a["reason"].as_str().unwrap_or_default().to_owned();
        list.as_array().unwrap().iter().map(reason).collect::<Vec<_>>()
    };
    let before = until("both wait", || {
        let (list, messages) = read(&daemon);
        (reasons(&list) == ["permission", "asked"]).then_some((list, messages))
    });
    daemon.kill();
    let daemon = home.daemon();
    assert_eq!(read(&daemon), before);
    send("s", "UserPromptSubmit", json!({"prompt": "keep a.rs"}));
    send("s", "Stop", json!({"last_assistant_message": DONE}));
    let after = until("it is complete", || {
        let list = daemon.get("/api/assignments?state=complete").json()["assignments"].clone();
        list[0]["id"].is_string().then_some(list)
    });
    assert_eq!((&after[0]["id"], &after[0]["turns"]), (&before.0[1]["id"], &json!(2)));
    daemon.stop();
}

/// Without the time that an open assignment waits or works until now.
fn without_running_time(mut list: Value) -> Value {
    for card in list.as_array_mut().unwrap().iter_mut().filter(|card| card["completed_at"].is_null()) {
        let running = if card["state"] == "awaiting_input" { "waiting_seconds" } else { "working_seconds" };
        card.as_object_mut().unwrap().remove(running);
    }
    list
}

#[test]
fn log_and_digest_print_what_was_asked() {
    let home = test_home();
    let daemon = home.daemon();
    let send = |payload: Value| home.socket().ask(&json!({"cmd": "hook", "args": payload, "env": {}}));
    send(
        json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/w/api", "prompt": "fix the parser"}),
    );
    send(
        json!({"session_id": "s", "hook_event_name": "Stop", "cwd": "/w/api", "last_assistant_message": DONE}),
    );
    send(
        json!({"session_id": "t", "hook_event_name": "UserPromptSubmit", "cwd": "/w/web", "prompt": "draw it"}),
    );
    send(
        json!({"session_id": "t", "hook_event_name": "Stop", "cwd": "/w/web", "last_assistant_message": ASKS}),
    );
    until("both are applied", || {
        let log = home.run(&["log", "--json"]).json();
        (log["assignments"].as_array()?.len() == 2).then_some(())
    });
    let log = home.run(&["log"]).success();
    let lines: Vec<_> = log.lines().skip(1).collect();
    assert!(
        lines[0].contains("web") && lines[0].contains("asks you") && lines[0].ends_with("draw it"),
        "{log}"
    );
    assert!(lines[1].contains("completed") && lines[1].ends_with("fix the parser"), "{log}");
    assert_eq!(home.run(&["log", "--project", "api"]).success().lines().count(), 2);
    let digest = home.run(&["digest", "--since", "2h"]).success();
    assert!(digest.contains("1 completed, 1 waiting for you"), "{digest}");
    let refused = home.run(&["digest", "--since", "someday"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("try lunch, 9:00"), "{}", refused.err);
    daemon.stop();
}
