use serde_json::json;

use super::super::FleetConfig;
use super::*;
use crate::rng::Rng;

/// How fast the tests answer: faster than any answer in the script.
const QUICK_MS: i64 = 700;

fn yes() -> SimVerdict {
    SimVerdict::Allow { input: None, mode: None }
}

fn no(interrupt: bool) -> SimVerdict {
    SimVerdict::Deny { message: "not on a Friday".into(), interrupt }
}

fn day() -> SimFleet {
    SimFleet::new(FleetConfig { seed: 5, ..FleetConfig::default() })
}

/// A fleet up to a request, and the same fleet without an answer.
fn asked(tool: &str, decision: CapturedDecision) -> (SimFleet, SimEvent, SimFleet) {
    let (mut fleet, mut twin) = (day(), day());
    let is_it = |e: &SimEvent| {
        e.text("tool_name") == tool && e.request.as_ref().is_some_and(|r| r.captured_decision == decision)
    };
    let ask = fleet.find(is_it).unwrap();
    assert_eq!(twin.find(is_it).as_ref(), Some(&ask));
    (fleet, ask, twin)
}

/// The next events of the seat of `ask`, in script order.
fn next(fleet: SimFleet, ask: &SimEvent, count: usize) -> Vec<SimEvent> {
    let seat = &ask.env["FLIGHTDECK_SEAT"];
    let mut events: Vec<SimEvent> =
        fleet.filter(|e| e.env["FLIGHTDECK_SEAT"] == *seat).take(count + 4).collect();
    events.sort_by_key(|e| e.fired_ms);
    events.truncate(count);
    events
}

/// Times and payloads of the next events, without their internal numbers.
fn day_of(fleet: SimFleet, of: impl Fn(&SimEvent) -> bool) -> Vec<(i64, i64, Map)> {
    fleet.filter(of).take(3_000).map(|e| (e.at_ms, e.fired_ms, e.payload)).collect()
}

fn names(events: &[SimEvent]) -> Vec<&str> {
    events.iter().map(|e| e.text("hook_event_name")).collect()
}

fn payloads(events: &[SimEvent]) -> Vec<&Map> {
    events.iter().map(|e| &e.payload).collect()
}

#[test]
fn after_an_allow_the_script_continues_earlier_and_is_otherwise_unchanged() {
    let (mut fleet, ask, twin) = asked("Bash", CapturedDecision::Runs);
    let now = ask.at_ms + QUICK_MS;
    assert!(fleet.answer(&ask, &yes(), now));
    let (got, script) = (next(fleet, &ask, 12), next(twin, &ask, 14));
    let script: Vec<SimEvent> =
        script.into_iter().filter(|e| e.text("notification_type") != "permission_prompt").take(12).collect();
    assert_eq!(payloads(&got), payloads(&script));
    let earlier = script[0].fired_ms - got[0].fired_ms;
    assert!(earlier > 0 && got[0].fired_ms >= now);
    assert!(got.iter().zip(&script).all(|(g, s)| s.fired_ms - g.fired_ms == earlier));
}

#[test]
fn after_a_refusal_the_call_is_missing_and_the_batch_contains_the_reason() {
    let (mut fleet, ask, twin) = asked("Bash", CapturedDecision::Runs);
    assert!(fleet.answer(&ask, &no(false), ask.at_ms + QUICK_MS));
    let (got, script) = (next(fleet, &ask, 6), next(twin, &ask, 9));
    assert_eq!(got[0].payload["tool_calls"][0]["tool_response"], "not on a Friday");
    let ran = script.iter().position(|e| e.is_named("PostToolBatch")).unwrap();
    assert_eq!(payloads(&got[1..]), payloads(&script[ran + 1..ran + 6]));
    assert!(got[0].fired_ms - ask.fired_ms < QUICK_MS + 500);
}

#[test]
fn a_refusal_with_an_interrupt_ends_the_turn() {
    let (mut fleet, ask, _) = asked("Bash", CapturedDecision::Runs);
    assert!(fleet.answer(&ask, &no(true), ask.at_ms + QUICK_MS));
    let got = next(fleet, &ask, 10);
    assert!(got.iter().all(|e| e.payload.get("prompt_id") != Some(&ask.payload["prompt_id"])));
    assert!(got[0].fired_ms > ask.at_ms + QUICK_MS);
}

#[test]
fn a_request_that_the_script_refuses_can_be_allowed() {
    for script in [CapturedDecision::Refused, CapturedDecision::Cut] {
        let (mut fleet, ask, twin) = asked("Bash", script);
        assert!(fleet.answer(&ask, &yes(), ask.at_ms + QUICK_MS));
        let got = next(fleet, &ask, 6);
        assert_eq!(names(&got)[..2], ["PostToolUse", "PostToolBatch"]);
        assert_eq!(got[0].payload["tool_input"], ask.payload["tool_input"]);
        assert_eq!(got[1].payload["tool_calls"][0]["tool_use_id"], got[0].payload["tool_use_id"]);
        let scripted = next(twin, &ask, 6);
        let same = if script == CapturedDecision::Cut {
            assert_eq!((names(&got)[2], &got[2].payload["prompt_id"]), ("Stop", &ask.payload["prompt_id"]));
            (payloads(&got[3..]), payloads(&scripted[..3]))
        } else {
            (payloads(&got[2..]), payloads(&scripted[1..5]))
        };
        assert_eq!(same.0, same.1);
    }
}

#[test]
fn a_request_that_the_script_refuses_can_be_refused_by_the_hook() {
    for script in [CapturedDecision::Refused, CapturedDecision::Cut] {
        let (mut fleet, ask, _) = asked("Bash", script);
        assert!(fleet.answer(&ask, &no(false), ask.at_ms + QUICK_MS));
        let got = next(fleet, &ask, 4);
        assert_eq!(got[0].payload["tool_calls"][0]["tool_response"], "not on a Friday");
        assert!(script == CapturedDecision::Refused || names(&got)[1] == "Stop", "{:?}", names(&got));
    }
}

#[test]
fn the_picked_options_of_a_question_are_in_its_result() {
    let (mut fleet, ask, _) = asked("AskUserQuestion", CapturedDecision::Runs);
    let questions = &ask.payload["tool_input"]["questions"];
    let text = questions[0]["question"].as_str().unwrap();
    let label = questions[0]["options"][1]["label"].as_str().unwrap();
    assert!(!fleet.answer(&ask, &yes(), ask.at_ms + 1), "a bare yes is ignored");
    let decision =
        json!({"behavior": "allow", "updatedInput": {"questions": questions, "answers": {text: label}}});
    let printed = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    assert!(fleet.answer(&ask, &SimVerdict::printed(&printed).unwrap(), ask.at_ms + QUICK_MS));
    let got = next(fleet, &ask, 2);
    assert_eq!(names(&got), ["PostToolUse", "PostToolBatch"]);
    assert_eq!(got[0].fired_ms, ask.at_ms + QUICK_MS);
    assert_eq!(got[0].payload["tool_input"]["answers"][text], label);
    let told = format!(
        "Your questions have been answered: \"{text}\"=\"{label}\". You can now continue with these answers in mind."
    );
    assert_eq!(got[1].payload["tool_calls"][0]["tool_response"], told);
}

#[test]
fn an_approved_plan_sets_the_chosen_mode_and_a_refused_plan_does_not() {
    let mode = |verdict: &SimVerdict| {
        let (mut fleet, ask, _) = asked("ExitPlanMode", CapturedDecision::Runs);
        assert!(fleet.answer(&ask, verdict, ask.at_ms + QUICK_MS));
        let got = next(fleet, &ask, 2);
        (names(&got)[0].to_owned(), got[0].payload["permission_mode"].clone())
    };
    let input = Some(Map::new());
    let approved = |mode| SimVerdict::Allow { input: input.clone(), mode };
    assert_eq!(mode(&approved(None)), ("PostToolUse".into(), json!("default")));
    assert_eq!(mode(&approved(Some("acceptEdits"))), ("PostToolUse".into(), json!("acceptEdits")));
    assert_eq!(mode(&no(false)), ("PostToolBatch".into(), json!("plan")));
}

#[test]
fn of_two_requests_at_once_each_has_its_own_answer() {
    let (mut fleet, first, _) = asked("Read", CapturedDecision::Runs);
    let other = |e: &SimEvent| e.session_id == first.session_id && e.asks();
    let second = fleet.find(other).unwrap();
    assert!(fleet.answer(&first, &no(false), second.at_ms + QUICK_MS));
    assert!(fleet.answer(&second, &yes(), second.at_ms + 2 * QUICK_MS));
    let got = next(fleet, &first, 2);
    assert_eq!(names(&got), ["PostToolUse", "PostToolBatch"]);
    assert_eq!(got[0].payload["tool_input"], second.payload["tool_input"]);
    let told = got[1].payload["tool_calls"].as_array().unwrap();
    assert_eq!(told.iter().filter(|call| call["tool_response"] == "not on a Friday").count(), 1);
}

#[test]
fn after_an_answer_to_one_of_two_requests_the_other_still_has_its_time() {
    let wait = 120_000;
    for verdict in [yes(), no(false)] {
        for answers_first in [true, false] {
            let mut fleet =
                SimFleet::new(FleetConfig { seed: 5, answer_ms_min: wait, ..FleetConfig::default() });
            let first = fleet.find(|e| e.asks() && e.text("tool_name") == "Read").unwrap();
            let second = fleet.find(|e| e.session_id == first.session_id && e.asks()).unwrap();
            let (answered, open) = if answers_first { (&first, &second) } else { (&second, &first) };
            assert!(fleet.answer(answered, &verdict, second.at_ms + QUICK_MS));
            let ended = fleet.find(|e| open.is_ended_by(e)).unwrap();
            let waited = ended.fired_ms - open.fired_ms;
            assert!((wait as i64..wait as i64 + 62_000).contains(&waited), "{verdict:?}: {waited} ms");
        }
    }
}

#[test]
fn an_answer_that_comes_too_late_changes_nothing() {
    for script in [CapturedDecision::Runs, CapturedDecision::Refused, CapturedDecision::Cut] {
        let (mut fleet, ask, mut twin) = asked("Bash", script);
        let goes_on = |e: &SimEvent| e.session_id == ask.session_id && !e.is_named("Notification");
        let next = fleet.find(goes_on).unwrap();
        assert_eq!(twin.find(goes_on).as_ref(), Some(&next));
        assert!(!fleet.answer(&ask, &no(false), next.at_ms));
        assert!(day_of(fleet, |_| true) == day_of(twin, |_| true), "{script:?}");
    }
}

#[test]
fn an_unanswered_session_follows_the_script() {
    let (mut fleet, ask, twin) = asked("Bash", CapturedDecision::Runs);
    assert!(fleet.answer(&ask, &no(true), ask.at_ms + QUICK_MS));
    let another = |e: &SimEvent| e.env["FLIGHTDECK_SEAT"] != ask.env["FLIGHTDECK_SEAT"];
    assert!(day_of(fleet, another) == day_of(twin, another));
}

#[test]
fn however_requests_are_answered_events_stay_in_order_and_whole() {
    for speed in [1.0, 300.0] {
        let mut fleet = SimFleet::new(FleetConfig { speed, sessions: 12, ..FleetConfig::default() });
        let (mut rng, mut taken, mut events) = (Rng::new(9), 0, Vec::new());
        let mut open: Vec<(i64, SimEvent)> = Vec::new();
        while events.len() < 12_000 {
            let next_at = fleet.next_at().unwrap();
            if let Some(at) = open.iter().position(|(at, _)| *at <= next_at) {
                let (at, ask) = open.remove(at);
                let input = Some(Map::new()).filter(|_| rng.percent(80));
                let allow =
                    SimVerdict::Allow { input, mode: Some("acceptEdits").filter(|_| rng.percent(20)) };
                let verdict = if rng.percent(50) { allow } else { no(rng.percent(30)) };
                taken += usize::from(fleet.answer(&ask, &verdict, at));
                continue;
            }
            let event = fleet.next().unwrap();
            assert_eq!(event.at_ms, next_at);
            if event.asks() && rng.percent(80) {
                open.push((event.at_ms + rng.between(0, 20_000) as i64 / speed as i64, event.clone()));
                open.sort_by_key(|(at, _)| *at);
            }
            events.push(event);
        }
        assert!(taken > 100, "{taken}");
        assert!(events.is_sorted_by_key(|e| e.at_ms));
        assert!(events.iter().all(|e| !serde_json::to_string(&e.payload).unwrap().contains("{{")));
        let mut here = std::collections::BTreeSet::new();
        for event in &events {
            let id = event.session_id.as_str();
            match event.text("hook_event_name") {
                "SessionStart" | "InstructionsLoaded" => drop(here.insert(id)),
                "SessionEnd" => assert!(here.remove(id), "{event:?}"),
                _ => assert!(here.contains(id), "{event:?}"),
            }
        }
    }
}

#[test]
fn a_request_waits_until_the_script_goes_on() {
    for script in [CapturedDecision::Runs, CapturedDecision::Refused, CapturedDecision::Cut] {
        let (mut fleet, ask, twin) = asked("Bash", script);
        let goes_on = |e: &SimEvent| e.session_id == ask.session_id && !e.is_named("Notification");
        let answered = { twin }.find(goes_on).unwrap().at_ms;
        assert!(fleet.waits_until(&ask, ask.at_ms) && fleet.waits_until(&ask, answered - 1), "{script:?}");
        assert!(!fleet.waits_until(&ask, answered), "{script:?}");
    }
}
