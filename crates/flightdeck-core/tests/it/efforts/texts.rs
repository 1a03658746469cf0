//! What fits into the texts for an agent.

use super::*;

#[test]
fn a_handoff_fits_beside_a_long_template_and_many_phases() {
    let mut case = Case::new();
    let phases = (0..64).map(|n| SkillPhase::Name(format!("{n}: {}", "p".repeat(90)))).collect();
    let settings =
        SkillSettings { phases, log_template: Some("t".repeat(16_000)), ..SkillSettings::default() };
    let id = case.start_with("/w/api", None, settings);
    let payload = format!("{}END", "h".repeat(5_900));
    case.on(&id, EffortChange::EffortDehydrated { payload, session_id: None }).unwrap();
    for event in ["SessionStart", "UserPromptSubmit"] {
        let judged = case.hook(event, event, json!({"source": "startup", "prompt": "go"})).unwrap();
        assert!(judged.given.introduced && judged.given.handoff, "{event}");
        assert!(judged.verdict.context.concat().contains("hhEND"), "{event}");
        assert!(context_chars(&judged) <= INJECTION_CHARS_MAX, "{event}: {}", context_chars(&judged));
    }
}

#[test]
fn texts_without_room_wait_and_none_is_cut_without_a_word() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let start = case.hook("s", "SessionStart", json!({"source": "startup"})).unwrap();
    case.written(&start);
    for n in 0..12 {
        let text = format!("{n} {}", "x".repeat(1_500));
        case.on(&id, EffortChange::InjectionAdded { text }).unwrap();
    }
    let mut given = Vec::new();
    for n in 0.. {
        let judged = case.hook("s", "PostToolUse", ended_call(&format!("e{n}"))).unwrap();
        if judged.verdict.is_empty() {
            break;
        }
        assert!(context_chars(&judged) <= INJECTION_CHARS_MAX);
        let told = judged.verdict.context.concat();
        for injection in &judged.given.injections {
            assert!(told.contains(&**injection));
        }
        assert_eq!(told.matches(&"x".repeat(1_500)).count(), judged.given.injections.len());
        given.extend(judged.given.injections.clone());
        case.written(&judged);
    }
    assert_eq!(given.len(), 12);
}

#[test]
fn guard_messages_without_room_are_given_with_a_later_call() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    for n in 0..8 {
        let when = json!({"field": "/tool_name", "op": "exists"});
        let told = json!({"id": format!("r{n}"), "when": when, "then": "inject", "message": "m".repeat(2_000), "once": true});
        case.on(&id, EffortChange::GuardSet { rule: rule(told) }).unwrap();
    }
    let first = case.call("s", "t1").unwrap();
    assert_eq!((first.given.rules.len(), first.verdict.context.len()), (4, 4));
    assert!(context_chars(&first) <= INJECTION_CHARS_MAX);
    case.written(&first);
    let second = case.call("s", "t2").unwrap();
    assert_eq!(second.given.rules, ["r4", "r5", "r6", "r7"]);
}

#[test]
fn a_long_injection_is_whole_if_it_fits_and_otherwise_names_its_file() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let start = case.hook("s", "SessionStart", json!({"source": "startup"})).unwrap();
    case.written(&start);
    let text = format!("{}END", "y".repeat(9_900));
    case.on(&id, EffortChange::InjectionAdded { text }).unwrap();
    let whole = case.hook("s", "PostToolUse", ended_call("e1")).unwrap();
    assert!(whole.verdict.context[0].ends_with("END") && context_chars(&whole) <= INJECTION_CHARS_MAX);
    let beside = case.hook("s", "UserPromptSubmit", json!({"prompt": "go"})).unwrap();
    let told = beside.verdict.context.last().unwrap();
    assert!(told.contains("Read all of it in /w/api/.flightdeck/1_IMPLEMENT_INJECTION_"), "{told}");
    assert_eq!((beside.given.injections.len(), context_chars(&beside)), (1, INJECTION_CHARS_MAX));
}

#[test]
fn a_reply_that_carries_nothing_gives_nothing() {
    let mut case = Case::new();
    let settings = SkillSettings { preload: vec!["plan.md".into()], ..SkillSettings::default() };
    let id = case.start_with("/w/api", None, settings);
    case.on(&id, EffortChange::InjectionAdded { text: "the key moved".into() }).unwrap();
    case.on(&id, EffortChange::DirectivesFound { files: vec!["/w/api/AGENTS.md".into()] }).unwrap();
    case.hook("s", "UserPromptSubmit", json!({"prompt": "go"}));
    let mut asked = hook_question(case.log.last().unwrap(), "flightdeck").unwrap();
    assert!(case.fleet.judge(&asked).unwrap().given.is_worth_noting());
    asked.carries = Carries::NOTHING;
    let judged = case.fleet.judge(&asked).unwrap();
    assert!(!judged.given.is_worth_noting(), "{:?}", judged.given);
    assert_eq!(judged.verdict.context, [judged.call.session_context]);
}

#[test]
fn a_message_that_a_reply_cannot_carry_is_given_with_a_later_hook() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let start = case.hook("s", "SessionStart", json!({"source": "startup"})).unwrap();
    case.written(&start);
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    for draft in [
        json!({"id": "careful", "when": when, "then": "warn", "message": "CAREFUL", "once": true}),
        json!({"id": "tell", "when": when, "then": "inject", "message": "TELL THE TEAM"}),
    ] {
        case.on(&id, EffortChange::GuardSet { rule: rule(draft) }).unwrap();
    }
    let call = |case: &mut Case, id: &str| {
        case.call("s", id);
        let mut asked = hook_question(case.log.last().unwrap(), "flightdeck").unwrap();
        asked.carries = Carries::NOTHING;
        let judged = case.fleet.judge(&asked).unwrap();
        judged.before_reply.clone().into_iter().for_each(|given| case.written_given(given));
        assert!(!judged.given.is_worth_noting(), "the reply gave nothing: {:?}", judged.given);
        judged.call.fired_rules
    };
    assert_eq!(call(&mut case, "t1"), ["careful", "tell"]);
    assert_eq!(call(&mut case, "t2"), ["tell"], "once in a window");
    // Until the hook has it, it is given again.
    for end in ["e1", "e2"] {
        let judged = case.hook("s", "PostToolUse", ended_call(end)).unwrap();
        assert_eq!(judged.verdict.context, ["Warning: CAREFUL", "TELL THE TEAM"], "{end}");
        let texts: Vec<_> = judged.call.texts.iter().map(|given| (&*given.id, &*given.text)).collect();
        assert_eq!(texts, [("rule:careful", "Warning: CAREFUL"), ("rule:tell", "TELL THE TEAM")]);
        if end == "e2" {
            case.written(&judged);
        }
    }
    assert!(case.hook("s", "PostToolUse", ended_call("e3")).unwrap().verdict.is_empty());
    // A subagent gets the message of its own call.
    let mut by_subagent = bash("t3", "ls");
    by_subagent["agent_id"] = json!("a");
    case.hook("s", "PreToolUse", by_subagent);
    let mut asked = hook_question(case.log.last().unwrap(), "flightdeck").unwrap();
    asked.carries = Carries::NOTHING;
    let judged = case.fleet.judge(&asked).unwrap();
    case.written_given(judged.before_reply.unwrap());
    let mut ended = ended_call("t3");
    ended["agent_id"] = json!("a");
    assert_eq!(case.hook("s", "PostToolUse", ended).unwrap().verdict.context.len(), 2);
    assert!(case.hook("s", "PostToolUse", ended_call("e4")).unwrap().verdict.is_empty());
}
