//! Efforts: which one a session works on, the heartbeat, handoffs, injections and guard rules, as a fold over the log.

use flightdeck_core::effort::guard::GuardRule;
use flightdeck_core::effort::{
    Carries, EffortChange, EffortOpening, Given, Judged, SkillPhase, SkillSettings, WorkstreamAbout,
};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::EffortId;
use flightdeck_core::limits::{EFFORT_ENDED_WINDOWS_MAX, INJECTION_CHARS_MAX};
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
            about: WorkstreamAbout::default(),
            metadata: Map::new(),
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

/// The length of the context that the client gets.
fn context_chars(judged: &Judged) -> usize {
    let json = judged.verdict.to_json(judged.event.as_str()).unwrap();
    json["hookSpecificOutput"]["additionalContext"].as_str().unwrap().chars().count()
}

fn ended_call(id: &str) -> Value {
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": "x"})
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
        Record::ours(Source::User, &name, Subject::Effort("e-1@laptop".into()), payload, EventId(1));
    foreign.host = "laptop".into();
    case.take(foreign);
    assert_eq!(case.fleet.efforts().count(), 0);
    assert_eq!(case.call("s", "t1"), None, "a session of this host in an equal path");
    let id = case.start("/w/api");
    case.hook_with("s@laptop", "PreToolUse", bash("t2", "ls"), json!({}), |record| {
        record.host = "laptop".into();
    });
    assert_eq!(case.card(&id).windows, [], "a session of the other host in an equal path");
}

#[test]
fn a_handoff_fits_beside_a_long_template_and_many_phases() {
    let mut case = Case::new();
    let phases = (0..64).map(|n| SkillPhase::Name(format!("{n}: {}", "p".repeat(90)))).collect();
    let settings =
        SkillSettings { phases, log_template: Some("t".repeat(16_000)), ..SkillSettings::default() };
    let id = case.start_with("/w/api", None, settings);
    let payload = format!("{}END", "h".repeat(5_900));
    case.on(&id, EffortChange::EffortDehydrated { payload }).unwrap();
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
    let mut asked = question(case.log.last().unwrap(), "flightdeck").unwrap();
    assert!(case.fleet.judge(&asked).unwrap().given.is_worth_noting());
    asked.carries = Carries::NOTHING;
    let judged = case.fleet.judge(&asked).unwrap();
    assert!(!judged.given.is_worth_noting(), "{:?}", judged.given);
    assert_eq!(judged.verdict.context, [judged.call.session_context]);
}

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
    case.on(&id, EffortChange::EffortDehydrated { payload: "p".into() }).unwrap();
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
    let mut restored = Fleet::new(Rules::default());
    restored.remember_effort(case.fleet.effort(&second).unwrap().clone());
    assert_eq!(title(&restored), title(&case.fleet));
    let mut trimmed = Fleet::new(Rules::default());
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
    assert_eq!((case.fleet.applied(second), case.fleet.applied(first)), (first, first));
}
