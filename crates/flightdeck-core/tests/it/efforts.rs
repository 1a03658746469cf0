//! Efforts: which one a session works on, the heartbeat, handoffs, injections and guard rules, as a fold over the log.

use flightdeck_core::effort::guard::GuardRule;
use flightdeck_core::effort::{EffortChange, EffortOpening, Given, Judged, SkillSettings};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::EffortId;
use flightdeck_core::limits::EFFORT_ENDED_WINDOWS_MAX;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::hook_question::question;
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::rules::Rules;
use flightdeck_core::view::effort::EffortCard;
use serde_json::{Map, Value, json};

use crate::script::{at, card, record};

/// A fleet, and every record that was applied to it.
struct Case {
    fleet: Fleet,
    log: Vec<Record>,
    seconds: u32,
}

impl Case {
    fn new() -> Self {
        Self { fleet: Fleet::new(Rules::default()), log: Vec::new(), seconds: 0 }
    }

    fn take(&mut self, mut record: Record) -> Vec<Effect> {
        self.seconds += 1;
        record.seq = self.log.len() as u64 + 1;
        stamp(&mut record, at(&self.seconds.to_string()), self.fleet.now());
        self.log.push(record.clone());
        self.fleet.apply(&Event::from_record(&record))
    }

    /// A change of an effort, if the fleet accepts it.
    fn change(&mut self, subject: Subject, change: EffortChange) -> Result<(), String> {
        let id = EventId(1000 + self.log.len() as u128);
        let (name, payload) = change.into_record().unwrap();
        let record = Record::ours(Source::User, &name, subject, payload, id);
        self.fleet
            .check_effort_change(&Event::from_record(&record))
            .map_err(|refused| refused.to_string())?;
        self.take(record);
        Ok(())
    }

    fn start_with(&mut self, dir: &str, seat: Option<&str>, settings: SkillSettings) -> EffortId {
        let id = EffortId::new(format!("e-{}", EventId(1000 + self.log.len() as u128)));
        let opening = EffortOpening {
            workstream: dir.to_owned(),
            skill: "implement".to_owned(),
            mode: None,
            seat: seat.map(str::to_owned),
            title: None,
            settings,
        };
        self.change(Subject::Effort(id.clone()), EffortChange::EffortStarted(opening)).unwrap();
        id
    }

    fn start(&mut self, dir: &str) -> EffortId {
        self.start_with(dir, None, SkillSettings::default())
    }

    fn on(&mut self, id: &EffortId, change: EffortChange) -> Result<(), String> {
        self.change(Subject::Effort(id.clone()), change)
    }

    /// A hook of session `session`, and what it is answered.
    fn hook(&mut self, session: &str, name: &str, fields: Value) -> Option<Judged> {
        self.hook_with(session, name, fields, json!({}), |_| {})
    }

    fn hook_with(
        &mut self,
        session: &str,
        name: &str,
        fields: Value,
        env: Value,
        edit: impl FnOnce(&mut Record),
    ) -> Option<Judged> {
        let mut payload = Map::from_iter([
            ("session_id".to_owned(), json!(session)),
            ("cwd".to_owned(), json!("/w/api/src")),
            ("hook_event_name".to_owned(), json!(name)),
        ]);
        payload.extend(fields.as_object().unwrap().clone());
        let env = env.as_object().unwrap().clone();
        let n = self.log.len() as u64 + 1;
        let mut hook = record(payload, env, n, at(&self.seconds.to_string()), self.fleet.now());
        edit(&mut hook);
        let question = question(&hook, "flightdeck");
        self.take(hook);
        self.fleet.judge(&question?)
    }

    fn call(&mut self, session: &str, id: &str) -> Option<Judged> {
        self.hook(session, "PreToolUse", bash(id, "cargo test"))
    }

    /// The hook has the verdict.
    fn written(&mut self, judged: &Judged) {
        self.written_given(judged.given.clone());
    }

    fn written_given(&mut self, given: Given) {
        self.change("s".into(), EffortChange::VerdictGiven(given)).unwrap();
    }

    fn card(&self, id: &EffortId) -> EffortCard {
        EffortCard::new(self.fleet.effort(id).unwrap(), Some(&self.fleet))
    }
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id})
}

fn rule(json: Value) -> GuardRule {
    serde_json::from_value(json).unwrap()
}

fn denied(judged: Option<Judged>) -> Option<String> {
    judged.unwrap().verdict.deny
}

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
    case.on(&id, EffortChange::EffortLogged { text: "done so far".into() }).unwrap();
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
            ninth = question(case.log.last().unwrap(), "flightdeck");
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

#[test]
fn a_payload_reaches_the_next_window_until_that_is_noted() {
    let mut case = Case::new();
    let id = case.start("/w/api");
    case.hook("s", "SessionStart", json!({"source": "startup"}));
    case.on(&id, EffortChange::EffortDehydrated { payload: "NINE OF FOURTEEN".into() }).unwrap();
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
    case.on(&id, EffortChange::EffortDehydrated { payload: "NINE OF FOURTEEN".into() }).unwrap();
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
    case.on(&id, EffortChange::EffortLogged { text: "trait agreed".into() }).unwrap();
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
        assert_eq!(rule.check(), Ok(()), "{field} {op}");
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
    ];
    for (draft, field) in bad {
        let why = rule(draft.clone()).check().unwrap_err().to_string();
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
    case.on(&id, EffortChange::EffortDehydrated { payload: "p".into() }).unwrap();
    let judged = case.hook("t", "SessionStart", json!({"source": "startup"})).unwrap();
    case.written(&judged);
    case.call("t", "t3");
    let mut again = Fleet::new(Rules::default());
    let mut over_stored = Fleet::new(Rules::default());
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
