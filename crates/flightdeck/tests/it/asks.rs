//! A hook is held, a person answers and the hook gets its verdict; and every other way a hold can end.

use std::time::Duration;

use flightdeck_core::time::Millis;
use flightdeck_e2e::testkit::http::{self, HttpRequest, Response};
use flightdeck_e2e::testkit::{SocketClient, until};
use flightdeck_sim::Map;
use serde_json::{Value, json};

use crate::home::test_home;
use crate::in_process::InProcessDaemon;

pub(crate) fn object(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

pub(crate) fn bash(session: &str, name: &str) -> Map {
    let suggestion = json!({"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "make"}]});
    object(json!({"session_id": session, "hook_event_name": name, "tool_name": "Bash",
        "tool_input": {"command": "make"}, "permission_suggestions": [suggestion]}))
}

pub(crate) fn tell(deck: &InProcessDaemon, payload: &Map) {
    assert_eq!(deck.post(&Value::Object(payload.clone()).to_string()).status, 204);
}

/// A prompt, a tool call and its permission request, which is held.
fn asked(deck: &InProcessDaemon, session: &str) -> (SocketClient, String) {
    tell(
        deck,
        &object(json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "go"})),
    );
    let mut call = bash(session, "PreToolUse");
    call.insert("tool_use_id".into(), json!("t1"));
    tell(deck, &call);
    held(deck, &bash(session, "PermissionRequest"))
}

pub(crate) fn held(deck: &InProcessDaemon, request: &Map) -> (SocketClient, String) {
    held_with(deck, request, &Map::new())
}

fn held_with(deck: &InProcessDaemon, request: &Map, env: &Map) -> (SocketClient, String) {
    let mut hook = deck.socket();
    let first = hook.hook(request, env);
    assert!(first["data"]["hold_ms"].as_u64().unwrap() > 0, "{first}");
    let session = request["session_id"].as_str().unwrap();
    let asks = card(deck, session)["asks"].as_array().unwrap().clone();
    (hook, asks.last().unwrap()["id"].as_str().unwrap().to_owned())
}

pub(crate) fn card(deck: &InProcessDaemon, session: &str) -> Value {
    deck.get(&format!("/api/sessions/{session}")).json()
}

pub(crate) fn state(deck: &InProcessDaemon, session: &str) -> String {
    card(deck, session)["agent_state"]["state"].as_str().unwrap().to_owned()
}

pub(crate) fn answer(deck: &InProcessDaemon, ask: &str, body: Value) -> Response {
    http::post(deck.addr, &format!("/api/asks/{ask}/answer"), &body.to_string())
}

pub(crate) fn how(deck: &InProcessDaemon, ask: &str) -> Value {
    deck.get(&format!("/api/asks/{ask}")).json()["resolution"]["how"].clone()
}

pub(crate) fn decision(frame: &Value) -> &Value {
    &frame["data"]["verdict"]["hookSpecificOutput"]["decision"]
}

#[test]
fn an_answer_reaches_the_held_hook() {
    let deck = InProcessDaemon::new();
    let (mut hook, ask) = asked(&deck, "s");
    let shown = &card(&deck, "s")["asks"][0];
    assert_eq!((&shown["kind"], &shown["tool_input"]["command"]), (&json!("permission"), &json!("make")));
    assert_eq!((&shown["answerable"], &shown["resolution"]), (&json!(true), &Value::Null));

    let said = answer(&deck, &ask, json!({"decision": "allow", "via": "web"}));
    assert_eq!(
        (said.status, &said.json()["how"], &said.json()["by"]),
        (200, &json!("allowed"), &json!("web"))
    );
    let frame = hook.line().unwrap();
    assert_eq!(decision(&frame), &json!({"behavior": "allow"}));
    assert_eq!(state(&deck, "s"), "acting");

    let late = answer(&deck, &ask, json!({"decision": "deny", "via": "cli"}));
    assert_eq!(late.status, 409);
    assert_eq!(late.json()["resolution"]["how"], "allowed");
    assert_eq!(late.json()["message"], "this was already decided: allowed (web)");

    deck.pass(Millis::seconds(61));
    until("it to leave the card", || (card(&deck, "s")["asks"] == json!([])).then_some(()));
    assert_eq!(answer(&deck, &ask, json!({"decision": "allow"})).status, 409, "but its end is still told");
    assert_eq!(answer(&deck, "unknown", json!({"decision": "allow"})).status, 404);
}

#[test]
fn the_asks_of_a_session_are_listed_over_http_and_the_socket() {
    let deck = InProcessDaemon::new();
    let (_hook, ask) = asked(&deck, "s");
    let listed = deck.get("/api/sessions/s/asks").json();
    assert_eq!((&listed["asks"][0]["id"], listed["asks"].as_array().unwrap().len()), (&json!(ask), 1));
    assert_eq!(listed["asks"], card(&deck, "s")["asks"]);
    let reply = deck.socket().ask(&json!({"cmd": "asks", "args": {"sessionId": "s"}}));
    assert_eq!(reply, json!({"ok": true, "data": listed}));
    let unknown = deck.socket().ask(&json!({"cmd": "asks", "args": {"session_id": "none"}}));
    assert_eq!(unknown["error"], "NOT_FOUND");
}

#[test]
fn a_refusal_lets_claude_continue_and_an_interrupt_ends_the_turn() {
    let deck = InProcessDaemon::new();
    let (mut hook, ask) = asked(&deck, "s");
    assert_eq!(answer(&deck, &ask, json!({"decision": "deny", "message": "use just"})).status, 200);
    assert_eq!(decision(&hook.line().unwrap()), &json!({"behavior": "deny", "message": "use just"}));
    assert_eq!(state(&deck, "s"), "thinking");

    let (mut hook, ask) = asked(&deck, "t");
    assert_eq!(answer(&deck, &ask, json!({"decision": "deny", "interrupt": true})).status, 200);
    assert_eq!(decision(&hook.line().unwrap())["interrupt"], true);
    assert_eq!(
        (state(&deck, "t").as_str(), how(&deck, &ask)),
        ("interrupted", json!("denied_and_interrupted"))
    );
}

#[test]
fn an_answer_that_is_not_json_is_refused_before_its_ask_is_looked_for() {
    let deck = InProcessDaemon::new();
    let (_hook, ask) = asked(&deck, "s");
    for id in [ask.as_str(), "nowhere"] {
        let said = http::post(deck.addr, &format!("/api/asks/{id}/answer"), "{\"decision\":\n oops}");
        assert_eq!(said.status, 400, "{id}");
        assert!(said.json()["message"].as_str().unwrap().contains("line 2 column 2"), "{}", said.text());
    }
    assert_eq!(answer(&deck, "nowhere", json!({"decision": "perhaps"})).status, 404);
    assert_eq!(state(&deck, "s"), "needs_permission");
}

#[test]
fn an_invalid_answer_changes_nothing() {
    let deck = InProcessDaemon::new();
    let (mut hook, ask) = asked(&deck, "s");
    for (body, why) in [
        (json!({"decision": "cancel"}), "only an elicitation can be cancelled; allow or deny"),
        (
            json!({"decision": "allow", "answers": {"q": "a"}}),
            "`answers` is not a field for this kind of request and this decision",
        ),
        (json!({"decision": "perhaps"}), "unknown variant `perhaps`"),
        (json!({"decision": "deny", "reason": "no"}), "an answer has no field `reason`"),
        (json!({"decision": "allow", "updatedPermission": []}), "an answer has no field `updatedPermission`"),
    ] {
        let said = answer(&deck, &ask, body);
        assert_eq!(said.status, 422);
        assert!(said.json()["message"].as_str().unwrap().contains(why), "{}", said.text());
    }
    assert_eq!(state(&deck, "s"), "needs_permission");
    let suggestion = card(&deck, "s")["asks"][0]["suggestions"][0].clone();
    let said = answer(&deck, &ask, json!({"decision": "allow", "updated_permissions": [suggestion]}));
    assert_eq!(said.status, 200);
    assert_eq!(decision(&hook.line().unwrap())["updatedPermissions"], json!([suggestion]));
}

#[test]
fn the_terminal_may_answer_first() {
    let deck = InProcessDaemon::new();
    let (mut hook, ask) = asked(&deck, "s");
    let mut done = bash("s", "PostToolUse");
    done.insert("tool_use_id".into(), json!("t1"));
    tell(&deck, &done);
    assert_eq!(hook.line().unwrap()["data"]["verdict"], Value::Null, "the hook returns without a verdict");
    assert_eq!(how(&deck, &ask), "answered_in_terminal");
    assert_eq!(answer(&deck, &ask, json!({"decision": "allow"})).status, 409);
}

#[test]
fn a_hook_ended_by_the_client_counts_as_refused_in_the_terminal() {
    let deck = InProcessDaemon::new();
    let (hook, ask) = asked(&deck, "s");
    drop(hook);
    until("the refusal", || (how(&deck, &ask) == "refused_in_terminal").then_some(()));
    assert_eq!(state(&deck, "s"), "interrupted");

    // Over HTTP the client closes the connection.
    let request = HttpRequest::new("POST", "/api/live/hook").host(deck.addr).header("x-flightdeck-hold", "1");
    let open = request.json(&Value::Object(bash("t", "PermissionRequest")).to_string()).open(deck.addr);
    let ask = until("the ask", || card(&deck, "t")["asks"][0]["id"].as_str().map(str::to_owned));
    drop(open);
    until("the refusal", || (how(&deck, &ask) == "refused_in_terminal").then_some(()));
}

#[test]
fn over_http_a_request_is_held_only_if_it_asks_for_it() {
    let deck = InProcessDaemon::new();
    tell(&deck, &bash("s", "PermissionRequest"));
    let shown = card(&deck, "s")["asks"][0].clone();
    assert_eq!((&shown["answerable"], &shown["expires_at"]), (&json!(false), &Value::Null));
    let said = answer(&deck, shown["id"].as_str().unwrap(), json!({"decision": "allow"}));
    assert_eq!(said.status, 409);
    assert!(said.text().contains("answer it in the terminal"));

    let held = std::thread::spawn({
        let addr = deck.addr;
        move || {
            let request = HttpRequest::new("POST", "/hook/permission-request")
                .host(addr)
                .header("x-flightdeck-hold", "1");
            request.json(&Value::Object(bash("t", "PermissionRequest")).to_string()).send(addr)
        }
    });
    let ask = until("the ask", || card(&deck, "t")["asks"][0]["id"].as_str().map(str::to_owned));
    assert_eq!(answer(&deck, &ask, json!({"decision": "allow"})).status, 200);
    let said = held.join().unwrap();
    assert_eq!(
        (said.status, said.json()["hookSpecificOutput"]["hookEventName"].clone()),
        (200, json!("PermissionRequest"))
    );
}

#[test]
fn after_the_hold_time_the_hook_returns_and_the_terminal_still_asks() {
    let deck = InProcessDaemon::builder().hold_rules(|rules| rules.hold = Duration::from_secs(2)).start();
    let (mut hook, ask) = asked(&deck, "s");
    assert_eq!(hook.line().unwrap()["data"]["verdict"], Value::Null);
    assert_eq!((how(&deck, &ask), state(&deck, "s").as_str()), (json!("timed_out"), "needs_permission"));
    assert_eq!(card(&deck, "s")["asks"][0]["answerable"], false);
}

#[test]
fn two_asks_of_one_session_are_answered_separately() {
    let deck = InProcessDaemon::new();
    let (mut first, ask_one) = asked(&deck, "s");
    let mut other = bash("s", "PermissionRequest");
    other.insert("tool_input".into(), json!({"command": "make test"}));
    let (mut second, ask_two) = held(&deck, &other);
    assert_eq!(answer(&deck, &ask_two, json!({"decision": "deny"})).status, 200);
    assert_eq!(decision(&second.line().unwrap())["behavior"], "deny");
    assert_eq!(state(&deck, "s"), "needs_permission", "the other one still waits");
    assert_eq!(answer(&deck, &ask_one, json!({"decision": "allow"})).status, 200);
    assert_eq!(decision(&first.line().unwrap())["behavior"], "allow");
    assert_eq!(state(&deck, "s"), "acting");
}

#[test]
fn one_of_two_simultaneous_answers_wins() {
    let deck = InProcessDaemon::new();
    for round in 0..20 {
        let (mut hook, ask) = asked(&deck, &format!("s{round}"));
        let racers: Vec<_> = ["allow", "deny"]
            .into_iter()
            .map(|decision| {
                let (addr, path) = (deck.addr, format!("/api/asks/{ask}/answer"));
                std::thread::spawn(move || {
                    (decision, http::post(addr, &path, &json!({"decision": decision}).to_string()).status)
                })
            })
            .collect();
        let said: Vec<(&str, u16)> = racers.into_iter().map(|r| r.join().unwrap()).collect();
        let winners: Vec<&str> = said.iter().filter(|(_, status)| *status == 200).map(|(d, _)| *d).collect();
        assert_eq!((winners.len(), said.iter().filter(|(_, s)| *s == 409).count()), (1, 1), "{said:?}");
        assert_eq!(decision(&hook.line().unwrap())["behavior"], winners[0]);
    }
}

#[test]
fn a_print_session_is_not_held() {
    let deck = InProcessDaemon::new();
    let env = object(json!({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}));
    let first = deck.socket().hook(&bash("s", "PermissionRequest"), &env);
    assert_eq!(first["data"]["hold_ms"], 0);
    assert_eq!(card(&deck, "s")["asks"], json!([]));
}

/// The client shows no dialog for a subagent's request while its hook runs, so a held one could not be answered in the terminal.
#[test]
fn an_ask_of_a_subagent_is_shown_and_left_to_the_terminal() {
    let deck = InProcessDaemon::new();
    let mut request = bash("s", "PermissionRequest");
    request.insert("agent_id".into(), json!("a1"));
    request.insert("agent_type".into(), json!("Explore"));
    assert_eq!(deck.socket().hook(&request, &Map::new())["data"]["hold_ms"], 0);
    let ask = card(&deck, "s")["asks"][0].clone();
    assert_eq!((&ask["agent_id"], &ask["answerable"]), (&json!("a1"), &json!(false)));
}

#[test]
fn a_form_is_checked_before_it_is_passed_on() {
    let deck = InProcessDaemon::builder().hold_rules(|rules| rules.elicitation = true).start();
    let request = object(
        json!({"session_id": "s", "hook_event_name": "Elicitation", "mcp_server_name": "jira",
        "message": "Which?", "mode": "form",
        "requested_schema": {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}}}}),
    );
    let (mut hook, ask) = held_with(&deck, &request, &object(json!({"hold_s": 600})));
    assert_eq!(card(&deck, "s")["asks"][0]["requested_schema"]["required"], json!(["key"]));
    assert_eq!(answer(&deck, &ask, json!({"decision": "allow"})).status, 422);
    assert_eq!(answer(&deck, &ask, json!({"decision": "allow", "content": {"key": "API"}})).status, 200);
    let output = hook.line().unwrap()["data"]["verdict"]["hookSpecificOutput"].clone();
    assert_eq!(
        output,
        json!({"hookEventName": "Elicitation", "action": "accept", "content": {"key": "API"}})
    );
    // A handler installed before `hold_elicitation` was set: the client does not wait for it.
    let first = deck.socket().hook(&request, &Map::new());
    assert_eq!(first["data"]["hold_ms"], 0, "{first}");
}

/// Memory that 200 held hooks may add. Most of it belongs to the 200 sessions.
const BYTES_FOR_200_MAX: u64 = 24 << 20;

#[test]
fn two_hundred_held_hooks_cost_no_thread_each_and_little_memory() {
    let home = test_home();
    let daemon = home.daemon();
    let hold = |n: usize| {
        let mut hook = home.socket();
        let first = hook.hook(&bash(&format!("s{n}"), "PermissionRequest"), &Map::new());
        assert!(first["data"]["hold_ms"].as_u64().unwrap() > 0, "{first}");
        hook
    };
    let threads = || std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).map_or(0, Iterator::count);
    // The first hold allocates pages and threads that stay.
    let warm = hold(200);
    let (threads_before, (before, _)) = (threads(), daemon.memory());
    let hooks: Vec<SocketClient> = (0..200).map(hold).collect();
    let (threads_after, (after, _)) = (threads(), daemon.memory());
    let grown = after.saturating_sub(before);
    println!(
        "200 held hooks: {before} bytes and then {after}, {threads_before} threads and then {threads_after}"
    );
    assert!(threads_after < threads_before + 20, "{threads_before} threads and then {threads_after}");
    assert!(grown < BYTES_FOR_200_MAX, "{before} bytes before, {after} with 200 hooks");
    for (n, mut hook) in hooks.into_iter().enumerate() {
        let ask = daemon.card(&format!("s{n}"))["asks"][0]["id"].as_str().unwrap().to_owned();
        let said = daemon.post(&format!("/api/asks/{ask}/answer"), &json!({"decision": "allow"}).to_string());
        assert_eq!(said.status, 200);
        assert_eq!(decision(&hook.line().unwrap())["behavior"], "allow");
    }
    drop(warm);
}

#[test]
fn a_hook_with_a_client_timeout_returns_before_it() {
    let deck = InProcessDaemon::new();
    let mut hook = deck.socket();
    let env = object(json!({"hold_s": 8}));
    let first = hook.hook(&bash("s", "PermissionRequest"), &env);
    let hold_ms = first["data"]["hold_ms"].as_u64().unwrap();
    assert!((1..=3000).contains(&hold_ms), "{first}");
    assert_eq!(hook.line().unwrap()["data"]["verdict"], Value::Null);
    let ask = card(&deck, "s")["asks"][0].clone();
    assert_eq!(ask["resolution"]["how"], "timed_out");
    assert_eq!(state(&deck, "s"), "needs_permission");
    // Too short for a hold.
    let first = hook.hook(&bash("t", "PermissionRequest"), &object(json!({"hold_s": 5})));
    assert_eq!(first["data"]["hold_ms"], 0);
}

#[test]
fn a_daemon_that_restarts_leaves_the_terminal_to_answer() {
    let home = test_home();
    let daemon = home.up(&["--no-hooks"]);
    let mut hook = home.socket();
    let first = hook.hook(&bash("s", "PermissionRequest"), &Map::new());
    assert_eq!(first["data"]["hold_ms"].as_u64().map(|ms| ms > 590_000), Some(true), "{first}");
    daemon.kill();
    assert!(hook.line().is_none(), "the hook's connection ends");
    let daemon = home.up(&["--no-hooks"]);
    let card = daemon.get("/api/sessions/s").json();
    assert_eq!(card["agent_state"]["state"], "needs_permission");
    assert_eq!(card["asks"][0]["resolution"]["how"], "answer_in_terminal");
    assert_eq!(card["asks"][0]["answerable"], false);
    // A proper stop is no refusal either.
    let mut hook = home.socket();
    hook.hook(&bash("t", "PermissionRequest"), &Map::new());
    daemon.stop();
    let daemon = home.up(&["--no-hooks"]);
    let card = daemon.get("/api/sessions/t").json();
    assert_eq!(card["asks"][0]["resolution"]["how"], "answer_in_terminal");
    assert_eq!(card["agent_state"]["state"], "needs_permission");
    // After an answer in the terminal the card shows it.
    home.socket().hook(&bash("t", "PostToolUse"), &Map::new());
    let card = daemon.get("/api/sessions/t").json();
    let resolution = &card["asks"][0]["resolution"];
    assert_eq!((&resolution["how"], &resolution["by"]), (&json!("answered_in_terminal"), &json!("terminal")));
    assert_eq!(card["agent_state"]["state"], "thinking");
}
