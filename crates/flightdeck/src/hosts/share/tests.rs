use flightdeck_core::ids::SessionId;

use super::*;

fn reduced(name: &str, payload: Value) -> Value {
    let Value::Object(payload) = payload else { unreachable!() };
    let mut record = Record::noticed_here(Source::Hook, name, SessionId::from("s"), payload, EventId(1));
    record.envelope = Envelope {
        project_dir: Some("/home/person/SECRET/api".into()),
        tmux_socket: Some("/tmp/SECRET".into()),
        real_dir: Some("/real/SECRET".into()),
        pid_ns: Some("pid:[SECRET]".into()),
        proc_start: Some("SECRET".into()),
        entrypoint: Some("SECRET".into()),
        seat: Some("my SECRET seat".into()),
        ..Envelope::default()
    };
    PayloadFilter::new("salt").reduce(&mut record);
    let text = format!("{record:?}");
    assert!(!text.contains("SECRET"), "{text}");
    Value::Object(record.payload)
}

#[test]
fn a_command_is_gone_and_its_call_can_still_be_matched() {
    let call = |command: &str| {
        reduced(
            "PostToolUse",
            json!({
                "session_id": "s", "tool_name": "Bash", "tool_use_id": "SECRET", "cwd": "/home/SECRET/api",
                "tool_input": {"command": command}, "tool_response": {"stdout": "SECRET"}, "a_new_field": "SECRET",
                "transcript_path": "/SECRET", "reason": "SECRET",
            }),
        )
    };
    let [once, again, other] = [call("SECRET"), call("SECRET"), call("SECRET 2")];
    assert_eq!(once, again);
    assert_ne!(once[clip::MARK], other[clip::MARK]);
    assert_eq!((&once["tool_name"], &once["cwd"]), (&json!("Bash"), &json!("/api")));
    let unsalted = format!("{:016x}", clip::digest(Some(&json!({"command": "SECRET"}))));
    assert_ne!(once[clip::MARK]["input_digest"], json!(unsalted));
    assert!(once["tool_use_id"].is_string());
}

#[test]
fn a_reason_in_words_is_gone_and_a_word_of_the_client_stays() {
    let denied = reduced("PermissionDenied", json!({"tool_name": "Bash", "reason": "SECRET is not allowed"}));
    assert_eq!(denied["reason"], Value::Null);
    assert_eq!(reduced("SessionEnd", json!({"reason": "SECRET"}))["reason"], Value::Null);
    assert_eq!(reduced("SessionEnd", json!({"reason": "logout"}))["reason"], "logout");
}

#[test]
fn of_an_unknown_event_only_its_session_and_a_name_of_the_clients_form_are_sent() {
    let fields = json!({"session_id": "s", "reason": "SECRET", "type": "SECRET", "cwd": "/SECRET", "pid": 7});
    let named = reduced("FutureEvent", fields.clone());
    assert_eq!(named, json!({"session_id": "s", "hook_event_name": "FutureEvent"}));
    for odd in ["my SECRET", "SECRET7", "secret-event-SECRET"] {
        assert_eq!(reduced(odd, fields.clone())["hook_event_name"], "UnknownEvent");
    }
}

#[test]
fn of_a_prompt_only_its_author_is_sent() {
    let prompt = |text: &str| reduced("UserPromptSubmit", json!({ "prompt": text }))["prompt"].clone();
    assert_eq!(prompt("SECRET"), "(not shared)");
    assert_eq!(prompt("<task-notification>SECRET"), "<task-notification>");
}

#[test]
fn what_stands_for_a_last_message_has_its_intent() {
    for message in [
        "SECRET. Should I delete it or keep it?",
        "I fixed the SECRET bug and all tests pass. Done.",
        "The answer is SECRET. Let me know if you have any other questions.",
        "SECRET is read. Now I will run the tests.",
        "SECRET",
    ] {
        let intents = |text: &str| [true, false].map(|files| TurnIntent::detect(text).for_turn(files).intent);
        let sent = reduced("Stop", json!({ "last_assistant_message": message }));
        let sent = sent["last_assistant_message"].as_str().unwrap().to_owned();
        assert!(sent.ends_with("(not shared)") || sent.contains(" (not shared)"), "{sent}");
        assert_eq!(intents(&sent), intents(message), "{message} was sent as {sent}");
    }
}

#[test]
fn a_list_keeps_the_types_and_states_of_its_entries_and_a_refusal() {
    let stopped = reduced(
        "Stop",
        json!({"background_tasks": [
            {"type": "shell", "status": "running", "command": "SECRET", "id": "SECRET"},
            {"type": "SECRET", "status": "SECRET"},
        ]}),
    );
    let tasks = &stopped["background_tasks"];
    assert_eq!(
        (&tasks[0]["type"], &tasks[0]["status"], &tasks[1]),
        (&json!("shell"), &json!("running"), &json!({}))
    );
    let batch = reduced(
        "PostToolBatch",
        json!({"tool_calls": [{"tool_name": "Bash", "tool_use_id": "SECRET", "tool_response":
            "The user doesn't want to proceed with this tool use. SECRET"}]}),
    );
    assert_eq!(
        batch["tool_calls"][0]["tool_response"],
        "The user doesn't want to proceed with this tool use"
    );
}

#[test]
fn of_a_status_line_the_numbers_stay() {
    let line = reduced(
        "StatusLine",
        json!({
            "model": {"id": "claude-opus-5-5", "display_name": "SECRET"}, "workspace": {"current_dir": "/SECRET"},
            "cost": {"total_cost_usd": 0.5, "SECRET": 1}, "rate_limits": {"five_hour": {"used_percentage": 3}},
            "worktree": {"name": "SECRET", "branch": "SECRET"}, "version": "SECRET",
        }),
    );
    let kept = json!({
        "session_id": "s", "hook_event_name": "StatusLine",
        "model": {"id": "claude-opus-5-5"}, "cost": {"total_cost_usd": 0.5},
        "rate_limits": {"five_hour": {"used_percentage": 3}},
    });
    assert_eq!(line, kept);
}

#[test]
fn of_an_answer_the_decision_is_sent_and_whether_it_ended_the_turn() {
    let ask = EventId(7).to_string();
    let payload = json!({"ask_id": ask, "answer":
        {"decision": "deny", "via": "web", "interrupt": true, "message": "SECRET", "rule": "SECRET"}});
    let Value::Object(payload) = payload else { unreachable!() };
    let mut record =
        Record::noticed_here(Source::User, "answered", SessionId::from("s"), payload, EventId(1));
    PayloadFilter::new("salt").reduce(&mut record);
    let kept = json!({"ask_id": ask, "answer": {"decision": "deny", "via": "web", "interrupt": true}});
    assert_eq!(Value::Object(record.payload), kept);
}

#[test]
fn numbers_are_of_known_models_and_agents_are_digests() {
    let usage = BTreeMap::from([("my SECRET model".to_owned(), Usage { input: 2, ..Usage::default() })]);
    let mut known = Enrichment::default();
    known.usage.clone_from(&usage);
    known.agents = BTreeMap::from([("SECRET".to_owned(), usage)]);
    known.model = Some("SECRET".into());
    known.ai_title = Some("SECRET".into());
    known.git_branch = Some("SECRET".into());
    let sent = PayloadFilter::new("salt").numbers(known);
    assert!(!format!("{sent:?}").contains("SECRET"), "{sent:?}");
    assert_eq!(sent.usage["another model"].input, 2);
}
