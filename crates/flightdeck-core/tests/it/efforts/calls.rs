//! Which calls count, for which effort.

use super::*;

#[test]
fn nine_calls_are_allowed_the_tenth_is_denied_and_a_log_entry_lets_the_next_go_on() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    for call in 1..=9 {
        assert_eq!(denied(case.call("s", &format!("t{call}"))), None, "call {call}");
    }
    let reason = denied(case.call("s", "t10")).unwrap();
    assert!(reason.contains(&format!("flightdeck effort log {id}")), "{reason}");
    assert!(denied(case.call("s", "t11")).is_some(), "until it logs");
    case.on(&id, EffortChange::EffortLogged { text: "done so far".into(), session_id: None }).unwrap();
    assert_eq!(denied(case.call("s", "t12")), None);
    assert_eq!((case.card(&id).heartbeat, case.card(&id).log_entries), (1, 1));
}

#[test]
fn a_limit_of_five_denies_the_fifth_call_and_zero_denies_none() {
    for (limit, first_denied) in [(5, Some(5)), (0, None), (1, Some(1))] {
        let mut case = Case::new();
        case.start_with("/w/api", None, SkillSettings { heartbeat: limit, ..SkillSettings::default() });
        let at = (1..=30).find(|n| denied(case.call("s", &format!("t{n}"))).is_some());
        assert_eq!(at, first_denied, "limit {limit}");
    }
}

#[test]
fn a_hundred_sessions_on_one_effort_each_keep_their_heartbeat() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    for n in 1..=10 {
        for session in 0..100 {
            let judged = case.call(&format!("s{session}"), &format!("t{session}-{n}"));
            assert_eq!(denied(judged).is_some(), n == 10, "call {n} of session {session}");
        }
    }
    assert_eq!(case.card(&id).windows.len(), 100);
}

#[test]
fn above_the_bound_ended_windows_are_dropped_and_open_ones_stay() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.call("open", "t0");
    for n in 0..=EFFORT_ENDED_WINDOWS_MAX {
        case.call(&format!("s{n}"), &format!("t{n}"));
        case.hook(&format!("s{n}"), "SessionEnd", json!({"reason": "exit"}));
    }
    case.call("newest", "t1");
    let card = case.card(&id);
    let sessions: Vec<_> = card.windows.iter().map(|window| window.session_id.as_str()).collect();
    assert_eq!((sessions[0], sessions[1]), ("open", "s1"));
    assert_eq!((card.windows.len(), card.windows_dropped), (EFFORT_ENDED_WINDOWS_MAX + 2, 1));
}

#[test]
fn a_verdict_that_is_asked_late_is_about_its_own_call() {
    let mut case = Case::new();
    case.start("/w/api");
    let mut ninth = None;
    for n in 1..=12 {
        let payload = bash(&format!("t{n}"), "ls");
        case.hook("s", "PreToolUse", payload.clone());
        if n == 9 {
            ninth = hook_question(case.log.last().unwrap(), "flightdeck");
        }
    }
    assert_eq!(denied(case.fleet.judge(&ninth.unwrap())), None);
}

#[test]
fn subagents_in_parallel_never_move_the_counter_of_their_parent() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.call("s", "t1");
    for agent in ["a", "b"] {
        let started = case.hook("s", "SubagentStart", json!({"agent_id": agent, "agent_type": "Explore"}));
        assert!(started.unwrap().verdict.context[0].contains("effort implement 1"));
    }
    for n in 0..15 {
        for agent in ["a", "b"] {
            let mut call = bash(&format!("{agent}{n}"), "ls");
            call["agent_id"] = json!(agent);
            assert_eq!(denied(case.hook("s", "PreToolUse", call)), None);
        }
    }
    case.hook(
        "s",
        "PostToolUse",
        json!({"agent_id": "a", "tool_name": "Read", "tool_use_id": "r",
        "tool_input": {"file_path": "/w/api/a.rs"}, "tool_response": "x"}),
    );
    case.hook("s", "SubagentStop", json!({"agent_id": "a"}));
    let card = case.card(&id);
    let beats: Vec<_> =
        card.windows.iter().map(|w| (w.agent_id.as_deref().map(str::to_owned), w.heartbeat)).collect();
    assert_eq!(beats, [(None, 1), (Some("a".into()), 15), (Some("b".into()), 15)]);
    assert!(card.windows[1].ended_at.is_some() && card.windows[2].ended_at.is_none());
    assert_eq!(card.windows[0].loaded_files, ["/w/api/a.rs"], "merged into the window of the parent");
}

#[test]
fn a_seat_has_its_own_effort_or_none() {
    let mut case = Case::new();
    let seated = case.start_with("/w/api", Some("backend"), SkillSettings::default());
    let of = |case: &mut Case, session: &str, seat: Option<&str>| {
        let env = seat.map_or(json!({}), |seat| json!({"AGENT_ID": seat}));
        let judged = case.hook_with(session, "UserPromptSubmit", json!({"prompt": "go"}), env, |_| {});
        judged.map(|judged| judged.effort)
    };
    assert_eq!(of(&mut case, "one", Some("backend")), Some(seated.clone()));
    assert_eq!(of(&mut case, "two", Some("tests")), None, "another seat in the same directory");
    assert_eq!(of(&mut case, "three", None), None, "an effort with a seat is not for the others");
    let open = case.start("/w/api");
    assert_eq!(of(&mut case, "three", None), Some(open));
    assert_eq!(of(&mut case, "two", Some("tests")), None, "a seat without an effort has none");
    assert_eq!(of(&mut case, "one", Some("backend")), Some(seated));
}

#[test]
fn the_nearest_directory_and_in_it_the_newest_effort_count() {
    let mut case = Case::new();
    let ask = |case: &mut Case, session: &str, dir: &str| {
        let env = json!({"CLAUDE_PROJECT_DIR": dir});
        let judged = case.hook_with(session, "UserPromptSubmit", json!({"prompt": "go"}), env, |_| {});
        judged.map(|judged| judged.effort)
    };
    assert_eq!(ask(&mut case, "none", "/w/api"), None);
    let outer = case.start("/w");
    let inner = case.start("/w/api");
    assert_eq!(ask(&mut case, "a", "/w/api/src"), Some(inner));
    assert_eq!(ask(&mut case, "b", "/w/web"), Some(outer.clone()));
    assert_eq!(ask(&mut case, "c", "/w/apix"), Some(outer), "no ancestor by name only");
    assert_eq!(ask(&mut case, "d", "/elsewhere"), None);
    let newer = case.start("/w/api");
    assert_eq!(ask(&mut case, "a", "/w/api"), Some(newer));
}

#[test]
fn the_real_path_of_a_directory_counts() {
    let mut case = Case::new();
    let id = case.start("/data/api");
    let judged = case.hook_with("s", "UserPromptSubmit", json!({"prompt": "go"}), json!({}), |record| {
        record.envelope.real_dir = Some("/data/api/src".to_owned());
    });
    assert_eq!(judged.unwrap().effort, id);
}
