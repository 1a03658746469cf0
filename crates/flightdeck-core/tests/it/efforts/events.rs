//! The life of an effort, events that come twice, messages, and other hosts.

use super::*;

#[test]
fn an_event_that_comes_by_a_script_and_by_the_hook_counts_once() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    for (n, first_by_rpc) in [true, false, true].into_iter().enumerate() {
        for rpc in [first_by_rpc, !first_by_rpc] {
            let call = bash(&format!("t{n}"), "ls");
            case.hook_with("s", "PreToolUse", call, json!({}), |record| record.envelope.rpc = rpc);
        }
    }
    assert_eq!(case.card(&id).heartbeat, 3);
    let prompt = json!({"prompt": "go"});
    case.hook_with("s", "UserPromptSubmit", prompt.clone(), json!({}), |record| record.envelope.rpc = true);
    case.hook("s", "UserPromptSubmit", prompt);
    assert_eq!(card(&case.fleet, "s").turn_count, 1);
}

#[test]
fn a_finished_effort_says_nothing_and_refuses_changes() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.call("s", "t1");
    assert_eq!(card(&case.fleet, "s").effort.unwrap().heartbeat, 1);
    case.on(&id, EffortChange::EffortFinished {}).unwrap();
    assert_eq!(card(&case.fleet, "s").effort, None);
    assert_eq!(case.call("s", "t2"), None);
    let refused = case.on(&id, EffortChange::PhaseEntered { phase: "3".into(), proof: None }).unwrap_err();
    assert!(refused.contains("finished"), "{refused}");
    assert!(case.on(&"e-none".into(), EffortChange::EffortFinished {}).unwrap_err().contains("e-none"));
}

#[test]
fn the_second_of_two_equal_phase_changes_is_refused() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let enter =
        || EffortChange::PhaseEntered { phase: "2: Build".into(), proof: Some("plan approved".into()) };
    case.on(&id, enter()).unwrap();
    assert!(case.on(&id, enter()).unwrap_err().contains("already"));
    assert_eq!(case.card(&id).phases.len(), 1);
}

#[test]
fn a_replay_gives_the_same_efforts_and_skips_what_a_stored_effort_has() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.call("s", "t1");
    let stored = case.fleet.effort(&id).unwrap().clone();
    case.call("s", "t2");
    case.on(&id, EffortChange::EffortDehydrated { payload: "p".into(), session_id: None }).unwrap();
    let judged = case.hook("t", "SessionStart", json!({"source": "startup"})).unwrap();
    case.written(&judged);
    case.call("t", "t3");
    let mut again = Fleet::new(FoldSettings::default());
    let mut over_stored = Fleet::new(FoldSettings::default());
    over_stored.remember_effort(stored);
    for record in &case.log {
        again.apply(&Event::from_record(record));
        over_stored.apply(&Event::from_record(record));
    }
    assert_eq!(again.effort(&id), case.fleet.effort(&id));
    assert_eq!(over_stored.effort(&id), case.fleet.effort(&id));
    let copy: Fleet = serde_json::from_str(&serde_json::to_string(&case.fleet).unwrap()).unwrap();
    assert_eq!(copy.effort(&id), case.fleet.effort(&id));
}

#[test]
fn a_dialogue_a_failure_and_a_done_to_do_are_messages_of_the_effort() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.hook("s", "PostToolUse", json!({"tool_name": "AskUserQuestion", "tool_use_id": "q",
        "tool_input": {"questions": [{"question": "Which?"}]}, "tool_response": {"answers": {"Which?": "the second"}}}));
    case.hook(
        "s",
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "f", "tool_input": {}, "error": "exit 1"}),
    );
    case.hook("s", "TaskCompleted", json!({"task_id": "1", "task_subject": "Write it"}));
    let said: Vec<_> = case.card(&id).timeline.iter().map(|m| format!("{}: {}", m.kind, m.text)).collect();
    assert_eq!(said, ["dialogue: Which? → the second", "failure: Bash: exit 1", "todo: Write it"]);
}

#[test]
fn efforts_and_sessions_of_another_host_stay_there() {
    let mut case = Case::new();
    let opening = EffortOpening {
        workstream: "/w/api".to_owned(),
        skill: "implement".to_owned(),
        mode: None,
        seat: None,
        title: None,
        settings: SkillSettings::default(),
        about: WorkstreamAbout::default(),
        metadata: Map::new(),
    };
    let (name, payload) = EffortChange::EffortStarted(opening).into_record().unwrap();
    let mut foreign =
        Record::noticed_here(Source::User, &name, Subject::Effort("e-1@laptop".into()), payload, EventId(1));
    foreign.host = "laptop".into();
    case.append(foreign);
    assert_eq!(case.fleet.efforts().count(), 0);
    assert_eq!(case.call("s", "t1"), None, "a session of this host in an equal path");
    let id = case.start("/w/api");
    case.hook_with("s@laptop", "PreToolUse", bash("t2", "ls"), json!({}), |record| {
        record.host = "laptop".into();
    });
    assert_eq!(case.card(&id).windows, [], "a session of the other host in an equal path");
}

/// The same event, first by the ordinary hook and then by a script.
fn by_both_routes(case: &mut Case, session: &str, name: &str, fields: Value, by_script: Value, env: &Value) {
    case.hook_with(session, name, fields, env.clone(), |_| {});
    case.hook_with(session, name, by_script, env.clone(), |record| record.envelope.rpc = true);
}

#[test]
fn two_requests_that_differ_only_inside_a_value_are_two_also_by_two_routes() {
    let mut case = Case::new();
    let asked = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let long = |end: &str| format!("cd /a/long/path/to/the/worktree/of/this/project && cargo test -p {end}");
    let none = json!({});
    by_both_routes(&mut case, "s", "PermissionRequest", asked("AAA"), asked("BBB"), &none);
    by_both_routes(&mut case, "t", "PermissionRequest", asked(&long("a")), asked(&long("b")), &none);
    let edits =
        |last: u32| json!({"tool_name": "Edit", "tool_input": {"edits": [{"line": 1}, {"line": last}]}});
    by_both_routes(&mut case, "u", "PermissionRequest", edits(2), edits(3), &none);
    for session in ["s", "t", "u"] {
        assert_eq!(card(&case.fleet, session).asks.len(), 2, "{session}");
    }
    // The same request, as another program writes it.
    let one = json!({"tool_name": "Edit", "tool_input": {"line": 1, "text": "x", "all": false}});
    let same = json!({"tool_input": {"all": false, "text": "x", "line": 1.0}, "tool_name": "Edit"});
    by_both_routes(&mut case, "v", "PermissionRequest", one, same, &none);
    assert_eq!(card(&case.fleet, "v").asks.len(), 1);
}

#[test]
fn an_idle_teammate_is_reported_to_its_parent_once_by_any_route() {
    let mut case = Case::new();
    let lead = case.start_with("/w/api", Some("lead"), SkillSettings::default());
    let parent = EffortChange::SeatParent { seat: "tests".into(), parent: "lead".into() };
    case.change(Subject::Seat("tests".into()), parent).unwrap();
    let idle = json!({"teammate_name": "tests", "team_name": "api"});
    let env = json!({"AGENT_ID": "tests"});
    case.hook_with("s", "TeammateIdle", idle.clone(), env.clone(), |_| {});
    let told = |case: &Case| {
        let card = case.card(&lead);
        let signals = card.timeline.iter().filter(|message| message.kind == "signal").count();
        (card.pending_injections, signals)
    };
    assert_eq!(told(&case), (1, 1), "by the ordinary hook");
    case.hook_with("s", "TeammateIdle", idle.clone(), env.clone(), |record| record.envelope.rpc = true);
    assert_eq!(told(&case), (1, 1), "its twin");
    case.hook_with("s", "TeammateIdle", idle, json!({"AGENT_ID": "other"}), |_| {});
    assert_eq!(told(&case), (1, 1), "a seat without a parent");
    let text = &case.card(&lead).timeline[0].text;
    assert_eq!(text, "Teammate tests of team api has nothing to do.");
}
