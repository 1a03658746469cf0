//! What one context window leaves to the next, injections and the overflow warning.

use super::*;

#[test]
fn a_payload_reaches_the_next_window_until_that_is_noted() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.on(&id, EffortChange::EffortDehydrated { payload: "NINE OF FOURTEEN".into(), session_id: None })
        .unwrap();
    assert!(case.card(&id).windows[0].ended_at.is_some());
    case.hook("s", "SessionEnd", json!({"reason": "other"}));
    let lost = case.hook("t", "SessionStart", json!({"source": "startup"})).unwrap();
    assert!(lost.verdict.context[0].contains("NINE OF FOURTEEN"));
    // The daemon crashed before the verdict was written: the next start gives it again.
    let second = case.hook("u", "SessionStart", json!({"source": "startup"})).unwrap();
    assert!(second.verdict.context[0].contains("NINE OF FOURTEEN") && second.given.handoff);
    case.written(&second);
    let card = case.card(&id);
    assert!(card.windows[0].handed_over && card.handoff.unwrap().to == Some(second.window));
    let third = case.hook("v", "SessionStart", json!({"source": "startup"})).unwrap();
    assert!(!third.verdict.context[0].contains("NINE OF FOURTEEN"));
}

#[test]
fn a_session_that_goes_on_does_not_take_the_handoff_it_left() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.on(&id, EffortChange::EffortDehydrated { payload: "NINE OF FOURTEEN".into(), session_id: None })
        .unwrap();
    let same = case.hook("s", "UserPromptSubmit", json!({"prompt": "go on"})).unwrap();
    assert!(!same.given.handoff && !same.verdict.context.concat().contains("handoff"), "{same:?}");
    case.written(&same);
    let other = case.hook("t", "UserPromptSubmit", json!({"prompt": "go on"})).unwrap();
    assert!(other.given.handoff && other.verdict.context.concat().contains("NINE OF FOURTEEN"), "{other:?}");
}

#[test]
fn without_a_payload_the_next_window_gets_what_is_known() {
    let mut case = Case::new();
    let settings = SkillSettings {
        phases: vec![flightdeck_core::effort::SkillPhase::Name("1: Plan".into())],
        preload: vec!["docs/tax.md".into()],
        ..SkillSettings::default()
    };
    let id = case.start_with("/w/api", None, settings);
    let first = case.hook("s", "SessionStart", json!({"source": "startup"})).unwrap();
    assert_eq!(
        (first.verdict.files.clone(), first.given.preloads.len()),
        (vec!["docs/tax.md".to_owned()], 1)
    );
    case.hook(
        "s",
        "PostToolUse",
        json!({"tool_name": "Read", "tool_use_id": "r",
        "tool_input": {"file_path": "/w/api/rules.rs"}, "tool_response": "x"}),
    );
    case.on(&id, EffortChange::EffortLogged { text: "trait agreed".into(), session_id: None }).unwrap();
    case.hook("s", "PreCompact", json!({"trigger": "auto"}));
    let next = case.hook("s", "SessionStart", json!({"source": "compact"})).unwrap();
    let text = &next.verdict.context[0];
    for known in ["1: Plan", "trait agreed", "/w/api/rules.rs", "1_IMPLEMENT_LOG.md"] {
        assert!(text.contains(known), "{known}: {text}");
    }
    assert_eq!(case.card(&id).windows.len(), 2);
}

#[test]
fn a_compaction_that_the_person_asked_for_keeps_the_window() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.hook("s", "PreCompact", json!({"trigger": "manual"}));
    case.hook("s", "SessionStart", json!({"source": "compact"}));
    assert_eq!(case.card(&id).windows.len(), 1);
    case.hook("s", "SessionStart", json!({"source": "resume"}));
    let windows = case.card(&id).windows;
    assert_eq!(windows.len(), 2, "a window is never resumed");
    assert_eq!(windows[1].previous.as_ref(), Some(&windows[0].id));
}

#[test]
fn an_injection_is_given_until_it_is_noted_and_then_never_again() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.call("s", "t1");
    case.on(&id, EffortChange::InjectionAdded { text: "the key moved".into() }).unwrap();
    let end = |case: &mut Case, n: u32| {
        let done = json!({"tool_name": "Bash", "tool_use_id": format!("e{n}"), "tool_input": {}, "tool_response": "x"});
        case.hook("s", "PostToolUse", done).unwrap()
    };
    let first = end(&mut case, 1);
    let second = end(&mut case, 2);
    assert_eq!(first.verdict, second.verdict, "a crash before the note gives it again");
    let text = second.verdict.context.last().unwrap();
    assert!(text.contains("the key moved") && text.contains(&*second.given.injections[0]), "{text}");
    case.written(&second);
    assert!(end(&mut case, 3).verdict.is_empty());
    assert_eq!(case.card(&id).pending_injections, 0);
}

#[test]
fn the_agent_is_warned_once_when_the_context_is_nearly_full() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let call = |case: &mut Case, n: u32, permille: u16| {
        let payload = bash(&format!("t{n}"), "ls");
        case.hook_with("s", "PreToolUse", payload, json!({}), |r| {
            r.envelope.context_permille = Some(permille)
        })
        .unwrap()
    };
    assert!(call(&mut case, 1, 899).verdict.is_empty());
    let warned = call(&mut case, 2, 912);
    assert!(
        warned.verdict.context[0].contains(&format!("effort dehydrate {id}"))
            && warned.verdict.deny.is_none()
    );
    case.written(&warned);
    let again = call(&mut case, 3, 950);
    assert!(again.verdict.is_empty() && again.call.overflow);
    assert_eq!(case.card(&id).windows[0].context_percent, Some(95.0));
}
