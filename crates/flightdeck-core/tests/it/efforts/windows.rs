//! Windows that begin late or end early, seats, files and workstreams.

use super::*;

#[test]
fn a_subagent_whose_start_was_missed_is_guarded_too() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let deny =
        json!({"id": "r", "when": {"field": "/tool_name", "op": "eq", "value": "Bash"}, "then": "deny"});
    case.on(&id, EffortChange::GuardSet { rule: rule(deny) }).unwrap();
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    let mut call = bash("t1", "ls");
    call["agent_id"] = json!("a");
    assert!(denied(case.hook("s", "PreToolUse", call.clone())).is_some());
    call["session_id"] = json!("without a window");
    assert_eq!(case.hook("without a window", "PreToolUse", call), None, "its parent has no effort");
}

#[test]
fn a_compaction_of_the_main_agent_leaves_the_windows_of_its_subagents() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.hook("s", "SubagentStart", json!({"agent_id": "a", "agent_type": "Explore"}));
    case.hook("s", "PreCompact", json!({"trigger": "auto"}));
    case.hook("s", "SessionStart", json!({"source": "compact"}));
    let open: Vec<_> = case
        .card(&id)
        .windows
        .iter()
        .map(|window| (window.agent_id.is_some(), window.ended_at.is_some()))
        .collect();
    assert_eq!(open, [(false, true), (true, false), (false, false)]);
}

#[test]
fn a_session_leaves_an_effort_that_another_seat_claims() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.call("s", "t1");
    case.hook("s", "SubagentStart", json!({"agent_id": "a", "agent_type": "Explore"}));
    case.on(&id, EffortChange::SeatClaimed { seat: "backend".into() }).unwrap();
    assert_eq!(case.call("s", "t2"), None);
    assert!(case.card(&id).windows.iter().all(|window| window.ended_at.is_some()));
    assert_eq!(card(&case.fleet, "s").effort, None);
    let refused = case.on(&id, EffortChange::SeatReleased { seat: Some("tests".into()) }).unwrap_err();
    assert!(refused.contains("backend") && refused.contains("tests"), "{refused}");
    case.on(&id, EffortChange::SeatReleased { seat: Some("backend".into()) }).unwrap();
    assert!(case.call("s", "t3").is_some());
}

#[test]
fn a_session_leaves_the_effort_of_a_directory_that_it_left_for_certain() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.call("s", "t1");
    let elsewhere = |case: &mut Case, n: u32, unknown: bool| {
        let mut call = bash(&format!("e{n}"), "ls");
        call["cwd"] = json!("/elsewhere");
        case.hook_with("s", "PreToolUse", call, json!({}), |record| record.envelope.dir_unknown = unknown)
    };
    assert!(elsewhere(&mut case, 1, true).is_some(), "the directory could not be looked up");
    assert_eq!(case.card(&id).heartbeat, 1);
    assert_eq!(elsewhere(&mut case, 2, false), None);
    assert!(case.card(&id).windows[0].ended_at.is_some());
}

#[test]
fn an_agent_that_has_handed_over_is_not_told_to_hand_over() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let call = |case: &mut Case, session: &str, n: u32| {
        let payload = bash(&format!("t{n}"), "ls");
        let full = |record: &mut Record| record.envelope.context_permille = Some(950);
        case.hook_with(session, "PreToolUse", payload, json!({}), full).unwrap()
    };
    let warned = call(&mut case, "s", 1);
    assert!(warned.given.warned);
    case.written(&warned);
    case.on(&id, EffortChange::EffortDehydrated { payload: "p".into(), session_id: None }).unwrap();
    assert!(!call(&mut case, "s", 2).given.warned);
    assert!(call(&mut case, "other", 3).given.warned, "another session has not handed over");
}

#[test]
fn a_directive_of_a_phase_that_is_found_too_is_given_once() {
    let mut case = Case::new();
    let phase =
        SkillPhase::WithDirectives { name: "1: Build".into(), directives: vec!["./docs/build.md".into()] };
    let settings = SkillSettings { phases: vec![phase], ..SkillSettings::default() };
    let id = case.start_with("/w/api", None, settings);
    case.on(&id, EffortChange::DirectivesFound { files: vec!["/w/api/docs/build.md".into()] }).unwrap();
    let start = case.hook("s", "SessionStart", json!({"source": "startup"})).unwrap();
    assert_eq!(start.verdict.files, ["/w/api/docs/build.md"]);
}

#[test]
fn a_notebook_that_was_read_is_a_loaded_file() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let read = json!({"tool_name": "NotebookEdit", "tool_use_id": "n", "tool_response": "x",
        "tool_input": {"notebook_path": "/w/api/a.ipynb"}});
    case.hook("s", "PostToolUse", read);
    assert_eq!(case.card(&id).windows[0].loaded_files, ["/w/api/a.ipynb"]);
}

#[test]
fn a_workstream_keeps_its_title_and_its_numbers() {
    let mut case = Case::new();
    case.start("/w/api");
    case.hook("s", "UserPromptSubmit", json!({"prompt": "Split the tax engine"}));
    let title = |fleet: &Fleet| fleet.workstreams().next().unwrap().1.about.title.clone();
    assert_eq!(title(&case.fleet).as_deref(), Some("Split the tax engine"), "that of its first effort");
    let second = case.start("/w/api");
    let mut restored = Fleet::new(FoldSettings::default());
    restored.remember_effort(case.fleet.effort(&second).unwrap().clone());
    assert_eq!(title(&restored), title(&case.fleet));
    let mut trimmed = Fleet::new(FoldSettings::default());
    let about = WorkstreamAbout { title: None, keywords: vec!["tax".into()] };
    trimmed.remember_workstream("/w/api".into(), 7, about);
    let mut case = Case { fleet: trimmed, ..Case::new() };
    let next = case.start("/w/api");
    assert_eq!(case.card(&next).ordinal, 8);
    assert_eq!(case.fleet.effort(&next).unwrap().about.keywords, ["tax"]);
}

#[test]
fn the_second_of_two_twins_is_answered_with_the_first() {
    let mut case = Case::new();
    case.start("/w/api");
    let failed = json!({"tool_name": "Bash", "tool_use_id": "f", "tool_input": {}, "error": "exit 1"});
    case.hook("s", "PostToolUseFailure", failed.clone());
    let first = case.log.last().unwrap().id;
    case.hook_with("s", "PostToolUseFailure", failed, json!({}), |record| record.envelope.rpc = true);
    let second = case.log.last().unwrap().id;
    assert_ne!(first, second);
    assert_eq!((case.fleet.applied_instead_of(second), case.fleet.applied_instead_of(first)), (first, first));
}

#[test]
fn a_session_that_logs_resets_its_own_heartbeat_and_one_that_hands_over_ends_its_own_window() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    for (session, calls) in [("one", 2), ("two", 3)] {
        (0..calls).for_each(|n| drop(case.call(session, &format!("{session}-{n}"))));
    }
    let heartbeats = |case: &Case| {
        let windows = case.card(&id).windows;
        windows.iter().map(|window| (window.heartbeat, window.ended_at.is_some())).collect::<Vec<_>>()
    };
    let log = |session: Option<&str>| EffortChange::EffortLogged {
        text: "done so far".into(),
        session_id: session.map(Into::into),
    };
    case.on(&id, log(Some("one"))).unwrap();
    assert_eq!(heartbeats(&case), [(0, false), (3, false)]);
    let dehydrated =
        EffortChange::EffortDehydrated { payload: "over to you".into(), session_id: Some("one".into()) };
    case.on(&id, dehydrated).unwrap();
    assert_eq!(heartbeats(&case), [(0, true), (3, false)]);
    // A session without a window here: its agent must be able to go on all the same.
    case.on(&id, log(Some("one"))).unwrap();
    assert_eq!(heartbeats(&case), [(0, true), (0, false)]);
    case.call("two", "two-3");
    case.on(&id, log(None)).unwrap();
    assert_eq!(heartbeats(&case), [(0, true), (0, false)]);
}

#[test]
fn an_agent_is_told_to_name_its_session_if_a_shell_takes_the_id_as_one_word() {
    for (session, named) in [("0b5e-1", true), ("a b", false), ("$(x)", false), ("-x", false)] {
        let mut case = Case::new();
        let id = case.start("/w/api");
        let start = case.hook(session, "SessionStart", json!({"source": "startup"})).unwrap();
        let told = start.verdict.context.concat();
        assert_eq!(told.contains(&format!("effort log {id} --session {session} ")), named, "{told}");
        assert!(told.contains(&format!("flightdeck effort log {id}")), "{told}");
    }
}
