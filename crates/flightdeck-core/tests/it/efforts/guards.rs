//! Guard rules and exempt commands.

use super::*;

#[test]
fn guard_rules_are_evaluated_by_priority_and_the_first_decision_counts() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let when = json!({"field": "/tool_input/command", "op": "contains", "value": "git push"});
    let force = json!({"field": "/tool_input/command", "op": "regex", "value": "push.*--force"});
    let rules = [
        json!({"id": "tell", "when": when, "then": "inject", "message": "tell the team", "once": true}),
        json!({"id": "never", "when": force, "then": "deny", "message": "no rewriting", "priority": 5}),
        json!({"id": "fine", "when": {"field": "/tool_input/command", "op": "glob", "value": "git push --force mirror*"},
               "then": "allow", "priority": 9}),
    ];
    for draft in rules {
        case.on(&id, EffortChange::GuardSet { rule: rule(draft) }).unwrap();
    }
    let push = |case: &mut Case, command: &str| {
        let n = case.log.len();
        case.hook("s", "PreToolUse", bash(&format!("t{n}"), command)).unwrap()
    };
    let denied = push(&mut case, "git push --force origin");
    assert_eq!(denied.verdict.deny.as_deref(), Some("no rewriting (guard rule never)"));
    case.written(&denied);
    assert_eq!(push(&mut case, "git push --force mirror").verdict.deny, None);
    let told = push(&mut case, "git push");
    assert_eq!(told.verdict.context, ["tell the team"]);
    case.written(&told);
    assert!(push(&mut case, "git push").verdict.is_empty(), "once in a window");
    assert_eq!(case.card(&id).denials[0].rule, "never");
    case.on(&id, EffortChange::GuardRemoved { rule_id: "never".into() }).unwrap();
    assert_eq!(push(&mut case, "git push --force origin").verdict.deny, None);
}

#[test]
fn every_operator_and_every_field_of_a_guard_rule() {
    use flightdeck_core::effort::guard_match::GuardFacts;
    let payload =
        json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /", "n": 3, "list": ["a"], "a/b": 1}});
    let facts = GuardFacts {
        payload: payload.as_object().unwrap(),
        heartbeat: 4,
        context_percent: Some(91.5),
        phase: "2: Build",
        project: "/w/api",
    };
    let holds = [
        ("/tool_name", "eq", json!("Bash"), true),
        ("/tool_name", "ne", json!("Bash"), false),
        ("/missing", "ne", json!("x"), true),
        ("/missing", "eq", json!(null), false),
        ("/tool_input/command", "contains", json!("rm -rf"), true),
        ("/tool_input/list", "contains", json!("a"), true),
        ("/tool_input/command", "glob", json!("rm *"), true),
        ("/tool_input/command", "glob", json!("rm"), false),
        ("/tool_input/command", "regex", json!("^rm\\s"), true),
        ("/tool_input/n", "gt", json!(2), true),
        ("/tool_input/n", "lt", json!(2), false),
        ("/tool_input/a~1b", "eq", json!(1.0), true),
        ("/tool_name", "in", json!(["Read", "Bash"]), true),
        ("/tool_input/command", "exists", json!(null), true),
        ("/missing", "exists", json!(false), true),
        ("window.heartbeat", "gt", json!(3), true),
        ("context.percent", "gt", json!(90), true),
        ("phase", "contains", json!("Build"), true),
        ("project", "eq", json!("/w/api"), true),
    ];
    for (field, op, value, wanted) in holds {
        let condition = json!({"field": field, "op": op, "value": value});
        let rule = rule(json!({"id": "r", "when": condition, "then": "deny"}));
        assert_eq!(rule.validate(), Ok(()), "{field} {op}");
        assert_eq!(rule.when.holds(&facts), wanted, "{field} {op} {value}");
    }
}

#[test]
fn a_rule_that_could_fail_later_is_refused_when_it_is_saved() {
    let unknown = [
        json!({"id": "r", "when": {"field": "/x", "op": "like", "value": 1}, "then": "deny"}),
        json!({"id": "r", "when": {"field": "/x", "op": "eq", "value": 1}, "then": "stop"}),
        json!({"id": "r", "when": {"field": "/x", "op": "eq", "value": 1}, "then": "deny", "unless": 1}),
    ];
    for draft in unknown {
        assert!(serde_json::from_value::<GuardRule>(draft.clone()).is_err(), "{draft}");
    }
    let bad = [
        (json!({"id": "", "when": {"field": "/x", "op": "exists"}, "then": "deny"}), "`id`"),
        (
            json!({"id": "r", "when": {"field": "window.hartbeat", "op": "gt", "value": 1}, "then": "deny"}),
            "`when.field`",
        ),
        (
            json!({"id": "r", "when": {"field": "/x", "op": "regex", "value": "("}, "then": "deny"}),
            "`when.value`",
        ),
        (
            json!({"id": "r", "when": {"field": "/x", "op": "gt", "value": "many"}, "then": "deny"}),
            "`when.value`",
        ),
        (
            json!({"id": "r", "when": {"field": "/x", "op": "in", "value": "a"}, "then": "deny"}),
            "`when.value`",
        ),
        (json!({"id": "r", "when": {"field": "/x", "op": "exists"}, "then": "warn"}), "`message`"),
        (json!({"id": "r", "when": {"field": "/a~2", "op": "exists"}, "then": "deny"}), "`when.field`"),
        (json!({"id": "r", "when": {"field": "/a~", "op": "exists"}, "then": "deny"}), "`when.field`"),
    ];
    for (draft, field) in bad {
        let why = rule(draft.clone()).validate().unwrap_err().to_string();
        assert!(why.contains(field), "{draft}: {why}");
    }
}

#[test]
fn an_exempt_call_is_neither_counted_nor_denied() {
    let mut case = Case::new();
    let id = case.start_with("/w/api", None, SkillSettings { heartbeat: 1, ..SkillSettings::default() });
    for n in 0..3 {
        let log = bash(&format!("x{n}"), "flightdeck effort log e-1 done");
        let judged =
            case.hook_with("s", "PreToolUse", log, json!({}), |record| record.envelope.exempt = true);
        assert!(judged.unwrap().verdict.is_empty());
    }
    assert_eq!(case.card(&id).heartbeat, 0);
    assert!(denied(case.call("s", "t1")).is_some());
}

/// A rule that denies every call of Bash, and one that allows it once.
fn deny_but_once(case: &mut Case, id: &EffortId) {
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    for draft in [
        json!({"id": "never", "when": when, "then": "deny"}),
        json!({"id": "one-exception", "when": when, "then": "allow", "once": true, "priority": 1}),
    ] {
        case.on(id, EffortChange::GuardSet { rule: rule(draft) }).unwrap();
    }
}

#[test]
fn a_rule_that_allows_once_is_used_up_by_the_call_that_it_lets_pass() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    deny_but_once(&mut case, &id);
    let first = case.call("s", "t1").unwrap();
    assert_eq!(first.verdict.deny, None);
    assert_eq!(first.call.fired_rules, ["one-exception"]);
    assert!(!first.given.is_worth_noting(), "it is recorded by itself");
    case.written_given(first.before_reply.unwrap());
    // The same call by a script, and then another call.
    let again = case.call("s", "t1").unwrap();
    assert_eq!((again.verdict.deny, again.before_reply), (None, None));
    assert!(denied(case.call("s", "t2")).is_some());
    // A new window has its own exception.
    case.hook("s", "SessionStart", json!({"source": "clear"}));
    assert_eq!(denied(case.call("s", "t3")), None);
}

#[test]
fn a_call_that_the_heartbeat_denies_does_not_use_up_a_rule() {
    let mut case = Case::new();
    let id = case.start_with("/w/api", None, SkillSettings { heartbeat: 1, ..SkillSettings::default() });
    deny_but_once(&mut case, &id);
    let held = case.call("s", "t1").unwrap();
    assert!(held.verdict.deny.is_some() && held.before_reply.is_none(), "{held:?}");
}

#[test]
fn a_rule_with_once_that_is_removed_and_saved_again_fires_again() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    let once = json!({"id": "o", "when": {"field": "/tool_name", "op": "eq", "value": "Bash"}, "then": "deny", "once": true});
    let set = |case: &mut Case| case.on(&id, EffortChange::GuardSet { rule: rule(once.clone()) }).unwrap();
    set(&mut case);
    let first = case.call("s", "t1").unwrap();
    assert!(first.verdict.deny.is_some());
    case.written(&first);
    assert_eq!(denied(case.call("s", "t2")), None);
    case.on(&id, EffortChange::GuardRemoved { rule_id: "o".into() }).unwrap();
    set(&mut case);
    assert!(denied(case.call("s", "t3")).is_some());
}
