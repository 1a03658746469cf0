//! `hooks.*`: events that scripts send instead of `flightdeck hook`, with exactly the inputs and outputs of the interface.

use serde_json::{Map, Value, json};

use super::{Deck, bash};

/// Arguments in camelCase, as a script sends them.
fn camel(deck: &Deck, session: &str, event: &str, more: Value) -> Value {
    let mut args = json!({"sessionId": session, "transcriptPath": "/t.jsonl", "cwd": deck.dir(), "permissionMode": "default",
        "hookEventName": event});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    args
}

fn keys(reply: &Value) -> Vec<String> {
    let mut keys: Vec<String> = reply.as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys
}

/// Each command, its event, further arguments, and the fields of its reply.
fn commands() -> Vec<(&'static str, &'static str, Value, Vec<&'static str>)> {
    let tool = json!({"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "t1"});
    let with = |more: Value| {
        let mut tool = tool.clone();
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool
    };
    vec![
        (
            "sessionStart",
            "SessionStart",
            json!({"source": "startup"}),
            vec![
                "dehydratedContext",
                "effortId",
                "filesToPreload",
                "found",
                "phase",
                "sessionId",
                "skill",
                "skillConfig",
            ],
        ),
        (
            "userPrompt",
            "UserPromptSubmit",
            json!({"prompt": "go"}),
            vec!["effortId", "heartbeat", "phase", "sessionContext", "sessionId", "skill", "taskDir"],
        ),
        (
            "preToolUse",
            "PreToolUse",
            tool.clone(),
            vec![
                "allow",
                "contextUsage",
                "firedRules",
                "heartbeatCount",
                "overflowWarning",
                "pendingPreloads",
            ],
        ),
        (
            "permissionRequest",
            "PermissionRequest",
            json!({"toolName": "Bash", "toolInput": {"command": "ls"}}),
            vec!["askId", "seatStatus"],
        ),
        (
            "postToolUse",
            "PostToolUse",
            with(json!({"toolResponse": {"stdout": ""}})),
            vec!["dialogueEntry", "heartbeatCount", "pendingInjections"],
        ),
        (
            "postToolUseFailure",
            "PostToolUseFailure",
            with(json!({"error": "exit 1", "toolUseId": "t2"})),
            vec!["messageId", "seatStatus"],
        ),
        (
            "notification",
            "Notification",
            json!({"message": "m", "notificationType": "idle_prompt"}),
            vec!["seatStatus"],
        ),
        (
            "teammateIdle",
            "TeammateIdle",
            json!({"teammateName": "a", "teamName": "b"}),
            vec!["seatStatus", "signalled"],
        ),
        ("taskCompleted", "TaskCompleted", json!({"taskId": "1", "taskSubject": "x"}), vec!["messageId"]),
        (
            "subagentStart",
            "SubagentStart",
            json!({"agentId": "a1", "agentType": "Explore"}),
            vec!["directives", "effortId", "effortMetadata", "logTemplate", "sessionId"],
        ),
        (
            "subagentStop",
            "SubagentStop",
            json!({"stopHookActive": false, "agentId": "a1", "agentType": "Explore",
            "agentTranscriptPath": "/a.jsonl", "lastAssistantMessage": "m"}),
            vec!["mergedFiles", "windowEnded"],
        ),
        ("configChange", "ConfigChange", json!({"source": "project_settings"}), vec!["invalidated"]),
        (
            "stop",
            "Stop",
            json!({"stopHookActive": false, "lastAssistantMessage": "Done."}),
            vec!["contextExhausted", "rateLimited", "seatStatus"],
        ),
        ("preCompact", "PreCompact", json!({"trigger": "auto"}), vec!["action", "windowEnded"]),
        ("sessionEnd", "SessionEnd", json!({"reason": "other"}), vec!["seatStatus", "windowEnded"]),
    ]
}

#[test]
fn all_fifteen_commands_reply_with_their_fields_with_and_without_an_effort() {
    for with_effort in [true, false] {
        let mut deck = Deck::new();
        let id = with_effort.then(|| deck.start());
        for (name, event, more, fields) in commands() {
            let args = camel(&deck, "s", event, more);
            let reply = deck.data(&format!("hooks.{name}"), args);
            assert_eq!(keys(&reply), fields, "{name}: {reply}");
            match name {
                "sessionStart" => {
                    assert_eq!((&reply["found"], &reply["effortId"]), (&json!(with_effort), &json!(id)))
                }
                "preToolUse" => assert_eq!(
                    (&reply["allow"], &reply["heartbeatCount"]),
                    (&json!(true), &json!(u32::from(with_effort)))
                ),
                "userPrompt" => assert_eq!(reply["sessionContext"].is_string(), with_effort),
                "postToolUseFailure" | "taskCompleted" => {
                    assert_eq!(reply["messageId"].is_string(), with_effort, "{reply}")
                }
                "subagentStart" => assert_eq!(reply["effortMetadata"]["skill"] == "implement", with_effort),
                "subagentStop" | "preCompact" => assert_eq!(reply["windowEnded"], with_effort, "{name}"),
                "permissionRequest" => assert_eq!(reply["seatStatus"], "attention"),
                "stop" => assert_eq!(
                    (&reply["rateLimited"], &reply["contextExhausted"]),
                    (&json!(false), &json!(false))
                ),
                _ => {}
            }
        }
    }
}

#[test]
fn the_same_call_by_script_and_by_hook_counts_once() {
    let mut deck = Deck::new();
    let id = deck.start();
    let call = json!({"toolName": "Bash", "toolInput": {"command": "cargo test"}, "toolUseId": "t1"});
    let args = camel(&deck, "s", "PreToolUse", call);
    assert_eq!(deck.data("hooks.preToolUse", args)["heartbeatCount"], 1);
    deck.call("s", "t1");
    deck.call("s", "t2");
    let snake = json!({"session_id": "s", "transcript_path": "/t", "cwd": deck.dir(), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_use_id": "t2"});
    assert_eq!(deck.data("hooks.preToolUse", snake)["heartbeatCount"], 2);
    assert_eq!(deck.show(&id)["heartbeat"], 2);
}

#[test]
fn a_script_is_told_to_stop_at_the_limit_and_gets_injections() {
    let mut deck = Deck::new();
    let id = deck.start_with(json!({"settings": {"heartbeat": 2}}));
    let call = |deck: &mut Deck, n: u32| {
        let more = json!({"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": format!("t{n}")});
        let args = camel(deck, "s", "PreToolUse", more);
        deck.data("hooks.preToolUse", args)
    };
    assert_eq!(call(&mut deck, 1)["allow"], true);
    let denied = call(&mut deck, 2);
    assert!(denied["allow"] == false && denied["reason"].as_str().unwrap().contains(&id), "{denied}");
    deck.data("effort.inject", json!({"id": id, "text": "the key moved"}));
    let done = json!({"toolName": "Bash", "toolInput": {}, "toolUseId": "t1", "toolResponse": "x"});
    let args = camel(&deck, "s", "PostToolUse", done);
    let reply = deck.data("hooks.postToolUse", args);
    let given = &reply["pendingInjections"][0];
    let whole = format!("[Flightdeck injection {}] the key moved", given["id"].as_str().unwrap());
    assert_eq!(given["text"], whole, "the agent recognises a repetition by the id");
    assert_eq!(deck.show(&id)["pending_injections"], 0, "the delivery was recorded after the reply");
}

#[test]
fn an_alias_is_the_command_that_it_stands_for() {
    let mut deck = Deck::new();
    let id = deck.start();
    let window = deck.hook("s", "SessionStart", json!({"source": "startup"}));
    assert!(!window.is_null());
    let window = deck.show(&id)["windows"][0]["id"].clone();
    let ended = deck.data("session.finish", json!({"id": window, "dehydrationPayload": "over to you"}));
    assert_eq!((&ended["end"], &ended["dehydration_payload"]), (&json!("finished"), &json!("over to you")));
    assert_eq!(deck.show(&id)["handoff"]["payload"], "over to you");
    assert_eq!(deck.data("agent.directives.discover", json!({"files": []}))["directives"], json!([]));
}

#[test]
fn an_idle_teammate_is_reported_to_its_parent_seat() {
    let mut deck = Deck::new();
    let lead = deck.start_with(json!({"seat": "lead"}));
    deck.data("seat.claim", json!({"name": "tests", "parent": "lead"}));
    let args = camel(&deck, "s", "TeammateIdle", json!({"teammateName": "tests", "teamName": "api"}));
    let reply =
        deck.socket.ask(&json!({"cmd": "hooks.teammateIdle", "args": args, "env": {"AGENT_ID": "tests"}}));
    assert_eq!(reply["data"]["signalled"], "lead", "{reply}");
    let shown = deck.show(&lead);
    assert_eq!((&shown["pending_injections"], &shown["timeline"][0]["kind"]), (&json!(1), &json!("signal")));
}

/// One small payload of each event, with the fields that the client sends. TeammateIdle follows the client's schema: no run has one.
const PAYLOADS: &str = include_str!("../../data/hook_payloads.jsonl");

#[test]
fn every_payload_of_the_client_is_taken_by_the_command_of_its_event() {
    let mut deck = Deck::new();
    deck.start();
    let mut commands = commands();
    for line in PAYLOADS.lines() {
        let mut payload: Map<String, Value> = serde_json::from_str(line).unwrap();
        payload.insert("cwd".to_owned(), json!(deck.dir()));
        let event = payload["hook_event_name"].clone();
        let (name, .., fields) = commands.iter().find(|(_, of, ..)| event == *of).unwrap().clone();
        let reply = deck.data(&format!("hooks.{name}"), Value::Object(payload));
        assert_eq!(keys(&reply), fields, "{event}: {reply}");
    }
    commands.retain(|(_, event, ..)| !PAYLOADS.contains(&format!("\"hook_event_name\": \"{event}\"")));
    assert!(commands.is_empty(), "no payload of {commands:?}");
}

#[test]
fn what_a_reply_does_not_carry_waits_for_a_hook_that_carries_it() {
    let mut deck = Deck::new();
    std::fs::write(deck.dir().join("plan.md"), "THE PLAN").unwrap();
    std::fs::write(deck.dir().join("AGENTS.md"), "USE TABS").unwrap();
    let id = deck.start_with(json!({"settings": {"preload": ["plan.md"], "logTemplate": "Done: …"}}));
    deck.data("effort.inject", json!({"id": id, "text": "the key moved"}));
    let send = |deck: &mut Deck, session: &str, name: &str, event: &str, more: Value| {
        let args = camel(deck, session, event, more);
        deck.data(&format!("hooks.{name}"), args)
    };
    let touched = |deck: &Deck, id: &str| {
        json!({"toolName": "Read", "toolUseId": id, "toolInput": {"file_path": deck.dir().join("main.rs")},
            "toolResponse": "x"})
    };
    send(&mut deck, "s", "userPrompt", "UserPromptSubmit", json!({"prompt": "go"}));
    let waits = deck.show(&id);
    assert_eq!(waits["pending_injections"], 1, "the reply to a prompt has one line and nothing else");

    let more = touched(&deck, "r1");
    let reply = send(&mut deck, "s", "postToolUse", "PostToolUse", more);
    let texts: Vec<&str> =
        reply["pendingInjections"].as_array().unwrap().iter().map(|i| i["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    for text in ["the key moved", "THE PLAN", "USE TABS"] {
        assert!(texts.iter().any(|told| told.contains(text)), "{text}: {texts:?}");
    }
    let more = touched(&deck, "r2");
    let again = send(&mut deck, "s", "postToolUse", "PostToolUse", more);
    assert_eq!(again["pendingInjections"], json!([]));

    deck.data("effort.dehydrate", json!({"id": id, "payload": "NINE OF FOURTEEN"}));
    deck.data("effort.inject", json!({"id": id, "text": "the door is open"}));
    send(&mut deck, "t", "userPrompt", "UserPromptSubmit", json!({"prompt": "go"}));
    let more = touched(&deck, "r3");
    let reply = send(&mut deck, "t", "postToolUse", "PostToolUse", more);
    assert!(reply["pendingInjections"][0]["text"].as_str().unwrap().ends_with("the door is open"), "{reply}");
    assert_eq!(deck.show(&id)["handoff"]["to"], Value::Null, "no reply has carried it");

    deck.data("effort.inject", json!({"id": id, "text": "the window too"}));
    let reply = send(&mut deck, "u", "sessionStart", "SessionStart", json!({"source": "startup"}));
    assert_eq!(reply["dehydratedContext"], "NINE OF FOURTEEN");
    assert_eq!(reply["skillConfig"]["logTemplate"], "Done: …");
    let files = reply["filesToPreload"].to_string();
    assert!(files.contains("plan.md") && files.contains("AGENTS.md"), "{files}");
    let shown = deck.show(&id);
    assert_eq!((&shown["handoff"]["to"], &shown["pending_injections"]), (&reply["sessionId"], &json!(1)));

    let started = json!({"agentId": "a1", "agentType": "Explore"});
    let reply = send(&mut deck, "u", "subagentStart", "SubagentStart", started);
    assert!(reply["directives"].to_string().contains("AGENTS.md"), "{reply}");
    let call = json!({"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": "t1"});
    send(&mut deck, "u", "preToolUse", "PreToolUse", call);
    assert_eq!(deck.show(&id)["pending_injections"], 1, "the reply before a call has no texts");
}

#[test]
fn the_reply_to_the_second_of_two_twins_names_the_message_of_the_first() {
    let mut deck = Deck::new();
    deck.start();
    let failure = json!({"tool_name": "Bash", "tool_use_id": "f", "tool_input": {}, "error": "exit 1"});
    deck.hook("s", "PostToolUseFailure", failure);
    let more = json!({"toolName": "Bash", "toolUseId": "f", "toolInput": {}, "error": "exit 1"});
    let args = camel(&deck, "s", "PostToolUseFailure", more);
    let reply = deck.data("hooks.postToolUseFailure", args);
    assert!(reply["messageId"].as_str().is_some_and(|id| id.starts_with("m-")), "{reply}");
}

#[test]
fn a_script_whose_event_cannot_be_stored_goes_on_as_without_an_effort() {
    let mut deck = Deck::new();
    deck.start_with(json!({"settings": {"heartbeat": 1}}));
    deck.daemon.block_on(deck.daemon.store().close()).unwrap();
    for (name, event, more, fields) in commands() {
        let args = camel(&deck, "s", event, more);
        let reply = deck.data(&format!("hooks.{name}"), args);
        assert_eq!(keys(&reply), fields, "{name}");
        match name {
            "preToolUse" => assert_eq!(reply["allow"], true),
            "sessionStart" => assert_eq!(reply["found"], false),
            _ => {}
        }
    }
}

#[test]
fn an_error_names_the_field_as_the_script_writes_it() {
    let mut deck = Deck::new();
    let stop = camel(&deck, "s", "Stop", bash("t1", "ls"));
    let other = deck.ask("hooks.preToolUse", stop);
    let message = other["message"].as_str().unwrap();
    assert!(message.contains("`hookEventName`") && message.contains("\"PreToolUse\""), "{message}");
    for (args, field) in
        [(json!({"sessionId": "s"}), "transcriptPath"), (json!({"session_id": "s"}), "transcript_path")]
    {
        let message = deck.ask("hooks.preToolUse", args)["message"].to_string();
        assert!(message.contains(&format!("`{field}`")), "{message}");
    }
}

#[test]
fn a_changed_configuration_drops_the_known_directories() {
    let mut deck = Deck::new();
    deck.start();
    deck.call("s", "t1");
    let payload = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "ConfigChange",
        "source": "user_settings"});
    assert_eq!(deck.data("hooks.configChange", payload)["invalidated"], true);
    let mut idle = Deck::new();
    let args = camel(&idle, "s", "ConfigChange", json!({"source": "user_settings"}));
    assert_eq!(idle.data("hooks.configChange", args)["invalidated"], false, "nothing was known");
}

/// The reply to the end of a call: the ids and texts for the agent.
fn ended(deck: &mut Deck, id: &str) -> Vec<(String, String)> {
    let more = json!({"toolName": "Bash", "toolInput": {}, "toolUseId": id, "toolResponse": "x"});
    let args = camel(deck, "s", "PostToolUse", more);
    let reply = deck.data("hooks.postToolUse", args);
    let text = |given: &Value, field: &str| given[field].as_str().unwrap().to_owned();
    let pending = reply["pendingInjections"].as_array().unwrap();
    pending.iter().map(|given| (text(given, "id"), text(given, "text"))).collect()
}

#[test]
fn the_message_of_a_guard_rule_comes_with_the_end_of_the_call() {
    let mut deck = Deck::new();
    let id = deck.start();
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    for rule in [
        json!({"id": "careful", "when": when, "then": "warn", "message": "CAREFUL", "once": true}),
        json!({"id": "tell", "when": when, "then": "inject", "message": "TELL THE TEAM"}),
    ] {
        deck.data("guard.set", json!({"effort": id, "rule": rule}));
    }
    let call = |deck: &mut Deck, id: &str| {
        let more = json!({"toolName": "Bash", "toolInput": {"command": "ls"}, "toolUseId": id});
        let args = camel(deck, "s", "PreToolUse", more);
        deck.data("hooks.preToolUse", args)
    };
    let first = call(&mut deck, "t1");
    assert_eq!((&first["allow"], &first["firedRules"]), (&json!(true), &json!(["careful", "tell"])));
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let told = ended(&mut deck, "t1");
    assert_eq!(told, [pair("rule:careful", "Warning: CAREFUL"), pair("rule:tell", "TELL THE TEAM")]);
    assert_eq!(ended(&mut deck, "t0"), [], "it was given");
    assert_eq!(call(&mut deck, "t2")["firedRules"], json!(["tell"]), "once in a window");
    assert_eq!(ended(&mut deck, "t2"), [pair("rule:tell", "TELL THE TEAM")]);
}

#[test]
fn a_long_injection_names_its_file_and_has_its_id() {
    let mut deck = Deck::new();
    let id = deck.start();
    deck.data("effort.inject", json!({"id": id, "text": "L".repeat(20_000)}));
    let told = ended(&mut deck, "t1");
    let [(injection, text)] = told.as_slice() else { panic!("{}", told.len()) };
    assert!(text.chars().count() <= 10_000, "{}", text.chars().count());
    assert!(text.starts_with(&format!("[Flightdeck injection {injection}] LLL")), "{}", &text[..80]);
    let file = deck.dir().join(format!(".flightdeck/1_IMPLEMENT_INJECTION_{injection}.md"));
    assert!(text.contains(file.to_str().unwrap()), "{}", &text[text.len() - 200..]);
    assert_eq!(std::fs::read_to_string(file).unwrap().len(), 20_000);
}

#[test]
fn an_idle_teammate_is_reported_once_by_the_ordinary_hook_too() {
    let mut deck = Deck::new();
    let lead = deck.start_with(json!({"seat": "lead"}));
    deck.data("seat.claim", json!({"name": "tests", "parent": "lead"}));
    let idle = json!({"teammate_name": "tests", "team_name": "api"});
    let env = json!({"AGENT_ID": "tests"});
    let dir = deck.dir();
    deck.hook_in(&dir, "s", "TeammateIdle", idle.clone(), env.clone());
    assert_eq!(deck.show(&lead)["pending_injections"], 1);
    let twin = super::payload(&dir, "s", "TeammateIdle", idle);
    let reply = deck.socket.ask(&json!({"cmd": "hooks.teammateIdle", "args": twin, "env": env}));
    assert_eq!(reply["data"]["signalled"], "lead", "{reply}");
    let shown = deck.show(&lead);
    assert_eq!(shown["pending_injections"], 1, "the twin signals nothing more");
    assert_eq!(shown["timeline"].as_array().unwrap().len(), 1);
}

#[test]
fn a_changed_configuration_that_comes_by_both_routes_is_followed_once() {
    let mut deck = Deck::new();
    deck.start();
    let dir = deck.dir();
    let changed = json!({"source": "user_settings"});
    deck.hook_in(&dir, "s", "ConfigChange", changed.clone(), json!({}));
    let twin = super::payload(&dir, "s", "ConfigChange", changed);
    assert_eq!(deck.data("hooks.configChange", Value::Object(twin))["invalidated"], false);
    let other = super::payload(&dir, "s", "ConfigChange", json!({"source": "project_settings"}));
    assert_eq!(deck.data("hooks.configChange", Value::Object(other))["invalidated"], true);
}
