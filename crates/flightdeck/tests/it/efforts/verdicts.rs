//! What the hooks of a session with an effort are answered, in the client's own format.

use flightdeck::store::Store;
use serde_json::json;

use super::{Deck, bash, context, denial, nothing_waits, payload};

#[test]
fn the_tenth_call_is_denied_and_a_log_entry_lets_the_agent_go_on() {
    let mut deck = Deck::new();
    let id = deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    for n in 1..=9 {
        assert!(deck.call("s", &format!("t{n}")).is_null(), "call {n}");
    }
    let verdict = deck.call("s", "t10");
    let reason = denial(&verdict).unwrap();
    assert!(reason.contains("effort log") && reason.contains(&id), "{reason}");
    assert_eq!(verdict["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    let log = format!("/opt/flightdeck effort log {id} 'nine calls'");
    assert!(deck.hook("s", "PreToolUse", bash("t11", &log)).is_null(), "the command that logs is not denied");
    deck.data("effort.log", json!({"id": id, "text": "nine calls"}));
    assert!(deck.call("s", "t12").is_null());
    let shown = deck.show(&id);
    assert_eq!((&shown["heartbeat"], &shown["log_entries"]), (&json!(1), &json!(1)));
    assert_eq!(shown["denials"], json!([{"rule": "heartbeat", "count": 1}]));
    let timeline = deck.daemon.get("/api/sessions/s/events").json();
    let told: Vec<_> =
        timeline["events"].as_array().unwrap().iter().map(|e| e["summary"].as_str().unwrap()).collect();
    assert!(told.contains(&"Held until the agent logs: Bash: cargo test"), "{told:?}");
    let file = std::fs::read_to_string(deck.dir().join(".flightdeck/1_IMPLEMENT_LOG.md")).unwrap();
    assert!(file.contains("nine calls"), "{file}");
}

#[test]
fn a_session_with_another_seat_in_the_same_directory_is_left_alone() {
    let mut deck = Deck::new();
    deck.start_with(json!({"seat": "backend", "settings": {"heartbeat": 1}}));
    let dir = deck.dir();
    let mut call = |session: &str, env| {
        let verdict = deck.hook_in(&dir, session, "PreToolUse", bash("t1", "ls"), env);
        denial(&verdict).is_some()
    };
    assert!(call("one", json!({"AGENT_ID": "backend"})));
    assert!(!call("two", json!({"AGENT_ID": "tests"})));
    assert!(!call("three", json!({})));
}

#[test]
fn a_link_to_the_directory_is_the_directory() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(deck.dir(), &link).unwrap();
    let verdict = deck.hook_in(&link, "s", "PreToolUse", bash("t1", "ls"), json!({}));
    assert!(denial(&verdict).is_some());
}

#[test]
fn an_async_hook_gets_no_verdict_and_marks_nothing_as_given() {
    let mut deck = Deck::new();
    let id = deck.start();
    deck.data("effort.inject", json!({"id": id, "text": "the key moved"}));
    let done = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}, "tool_response": "x"});
    let async_hook = payload(&deck.dir(), "s", "PostToolUse", done.clone());
    let reply = deck.socket.ask(&json!({"cmd": "hook", "args": async_hook, "env": {}}));
    assert!(reply["data"]["verdict"].is_null());
    let mut done = done;
    done["tool_use_id"] = json!("t2");
    assert!(context(&deck.hook("s", "PostToolUse", done)).contains("the key moved"));
}

#[test]
fn a_handoff_reaches_the_next_session_and_survives_a_daemon_that_dies_before() {
    let store = Store::in_memory().unwrap();
    let mut deck = Deck::on(store.clone());
    let id = deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    deck.data("effort.dehydrate", json!({"id": id, "payload": "NINE OF FOURTEEN"}));
    deck.data("effort.inject", json!({"id": id, "text": "the key moved"}));
    let file = deck.dir().join(".flightdeck/1_IMPLEMENT_HANDOFF_1.md");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "NINE OF FOURTEEN");
    // Nothing was stopped properly: the next daemon replays the log.
    let dir = deck.dir;
    let daemon = crate::in_process::InProcessDaemon::builder().store(store).start();
    let socket = daemon.socket();
    let mut deck = Deck { daemon, dir, socket };
    let first = context(&deck.hook("t", "SessionStart", json!({"source": "startup"})));
    assert!(first.contains("NINE OF FOURTEEN") && first.contains("the key moved"), "{first}");
    // The verdict is noted after it was written, and then not given again.
    let noted = || nothing_waits(&deck, &id);
    flightdeck_e2e::testkit::until("the verdict is noted", || noted().then_some(()));
    let second = context(&deck.hook("u", "SessionStart", json!({"source": "startup"})));
    assert!(!second.contains("NINE OF FOURTEEN") && !second.contains("the key moved"), "{second}");
}

#[test]
fn the_agent_is_warned_when_the_status_line_says_that_the_context_is_nearly_full() {
    let mut deck = Deck::new();
    let id = deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    let line = json!({"session_id": "s", "model": {"id": "claude-opus-5-5"}, "context_window": {
        "context_window_size": 1000, "current_usage": {"input_tokens": 930, "output_tokens": 0,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}});
    deck.data("statusline", line);
    let text = context(&deck.call("s", "t1"));
    assert!(text.contains("93 % full") && text.contains(&format!("effort dehydrate {id}")), "{text}");
    deck.data("ping", json!({}));
    flightdeck_e2e::testkit::until("the warning is noted", || {
        deck.daemon.get("/api/sessions/s/events").text().contains("Told that the context").then_some(())
    });
    assert!(deck.call("s", "t2").is_null(), "once in a window");
    let chip = deck.daemon.get("/api/sessions/s").json()["effort"].clone();
    assert_eq!(
        [&chip["skill"], &chip["heartbeat"], &chip["window"]],
        [&json!("implement"), &json!(2), &json!(1)]
    );
}

#[test]
fn a_guard_denies_a_forced_push_over_http_too() {
    let mut deck = Deck::new();
    let id = deck.start();
    let rule = json!({"id": "no-force-push", "then": "deny", "message": "Do not rewrite history.",
        "when": {"field": "/tool_input/command", "op": "contains", "value": "push --force"}});
    deck.data("guard.set", json!({"effort": id, "rule": rule}));
    let push = payload(&deck.dir(), "s", "PreToolUse", bash("t1", "git push --force"));
    let url = format!("http://{}/api/live/hook?via=flightdeck-hook", deck.daemon.addr);
    let post = |body: &serde_json::Map<String, serde_json::Value>| {
        deck.daemon.block_on(async {
            let response = reqwest::Client::new().post(&url).json(body).send().await.unwrap();
            (response.status().as_u16(), response.text().await.unwrap())
        })
    };
    let (status, body) = post(&push);
    assert_eq!(status, 200);
    let verdict = serde_json::from_str(&body).unwrap();
    assert_eq!(denial(&verdict).unwrap(), "Do not rewrite history. (guard rule no-force-push)");
    flightdeck_e2e::testkit::until("the denial is noted", || {
        let shown = deck.daemon.get(&format!("/api/efforts/{id}")).json();
        (shown["denials"][0]["count"] == 1).then_some(())
    });
    let pull = payload(&deck.dir(), "s", "PreToolUse", bash("t2", "git pull"));
    assert_eq!(post(&pull), (204, String::new()));
}

#[test]
fn directives_and_files_to_read_are_given_once_in_a_window() {
    let mut deck = Deck::new();
    std::fs::create_dir(deck.dir().join("src")).unwrap();
    std::fs::write(deck.dir().join("src/AGENTS.md"), "USE TABS").unwrap();
    std::fs::write(deck.dir().join("plan.md"), "THE PLAN").unwrap();
    deck.start_with(json!({"settings": {"preload": ["plan.md"]}}));
    assert!(context(&deck.hook("s", "SessionStart", json!({"source": "startup"}))).contains("THE PLAN"));
    let file = deck.dir().join("src/main.rs");
    let mut read = |id: &str| {
        let done = json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": file}, "tool_response": "x"});
        context(&deck.hook("s", "PostToolUse", done))
    };
    assert!(read("r1").contains("USE TABS"));
    assert!(!read("r2").contains("USE TABS"));
}

#[test]
fn a_slash_command_opens_an_effort_where_efforts_are_wanted() {
    let mut deck = Deck::new();
    let expand = json!({"command_name": "implement", "command_args": "the tax engine", "prompt": "/implement the tax engine"});
    let bare = json!({"command_name": "fix", "command_args": "", "prompt": "/fix"});
    let elsewhere = tempfile::tempdir().unwrap();
    deck.hook_in(elsewhere.path(), "t", "UserPromptExpansion", expand.clone(), json!({}));
    std::fs::create_dir(deck.dir().join(".flightdeck")).unwrap();
    deck.hook("s", "UserPromptExpansion", expand);
    let opened = flightdeck_e2e::testkit::until("the effort is there", || {
        let efforts = deck.daemon.get("/api/efforts").json()["efforts"].clone();
        efforts.get(0).cloned()
    });
    assert_eq!((&opened["skill"], &opened["title"]), (&json!("implement"), &json!("the tax engine")));
    deck.hook("s", "UserPromptExpansion", bare);
    let bare = flightdeck_e2e::testkit::until("the second effort is there", || {
        let efforts = deck.daemon.get("/api/efforts").json()["efforts"].clone();
        efforts.as_array()?.iter().find(|effort| effort["skill"] == "fix").cloned()
    });
    assert_eq!(bare["title"], "fix 2", "no title yet");
    let dirs: Vec<_> = deck.data("effort.list", json!({}))["efforts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effort| effort["workstream"].clone())
        .collect();
    assert_eq!(dirs, vec![json!(deck.dir()); 2], "none in a directory that never had one");
}

#[test]
fn a_rule_that_allows_once_stays_used_up_after_a_restart() {
    let store = Store::in_memory().unwrap();
    let mut deck = Deck::on(store.clone());
    let id = deck.start();
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    for rule in [
        json!({"id": "never", "when": when, "then": "deny"}),
        json!({"id": "one-exception", "when": when, "then": "allow", "once": true, "priority": 1}),
    ] {
        deck.data("guard.set", json!({"effort": id, "rule": rule}));
    }
    assert!(deck.call("s", "t1").is_null());
    assert!(denial(&deck.call("s", "t2")).is_some(), "it is stored before the reply");
    let timeline = deck.daemon.get("/api/sessions/s/events").text();
    assert!(timeline.contains("Allowed once by guard rule one-exception: Bash: cargo test"), "{timeline}");
    let dir = deck.dir;
    let daemon = crate::in_process::InProcessDaemon::builder().store(store).start();
    let socket = daemon.socket();
    let mut deck = Deck { daemon, dir, socket };
    assert!(denial(&deck.call("s", "t3")).is_some());
}

#[test]
fn a_directory_that_had_an_effort_opens_the_next_one_with_a_slash_command() {
    let mut deck = Deck::new();
    let id = deck.start();
    assert!(deck.dir().join(".flightdeck/.gitignore").exists());
    deck.data("effort.finish", json!({ "id": id }));
    deck.hook(
        "s",
        "UserPromptExpansion",
        json!({"command_name": "fix", "command_args": "", "prompt": "/fix"}),
    );
    flightdeck_e2e::testkit::until("the next effort is there", || {
        let efforts = deck.daemon.get("/api/efforts").json()["efforts"].clone();
        efforts.as_array()?.iter().any(|effort| effort["skill"] == "fix").then_some(())
    });
}
