use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn names(events: &[SimEvent]) -> BTreeSet<&str> {
    events.iter().filter_map(|e| e.payload["hook_event_name"].as_str()).collect()
}

fn some(config: FleetConfig, count: usize) -> Vec<SimEvent> {
    SimFleet::new(config).take(count).collect()
}

#[test]
fn the_same_seed_gives_the_same_day_and_another_seed_another() {
    let day = |seed| some(FleetConfig { seed, ..FleetConfig::default() }, 2_000);
    assert_eq!(day(3), day(3));
    assert_ne!(day(3), day(4));
}

#[test]
fn events_come_in_order_of_arrival_and_never_before_they_fired() {
    for speed in [1.0, 50.0, 5_000.0] {
        let events = some(FleetConfig { speed, ..FleetConfig::default() }, 5_000);
        assert!(events.is_sorted_by_key(|e| e.at_ms));
        assert!(events.iter().all(|e| e.fired_ms <= e.at_ms));
    }
}

#[test]
fn no_placeholder_is_left_unfilled() {
    for event in some(FleetConfig::default(), 6_000) {
        let text = serde_json::to_string(&event.payload).unwrap();
        assert!(!text.contains("{{"), "{text}");
        assert!(!event.session_id.is_empty());
    }
}

#[test]
fn fifty_four_sessions_sit_in_three_repositories_of_three_worktrees() {
    let fleet = SimFleet::new(FleetConfig::default());
    let places = fleet.places();
    assert_eq!(places.len(), 9);
    let projects: BTreeSet<&str> = places.iter().map(|p| p.project.as_str()).collect();
    assert_eq!(projects, BTreeSet::from(["api", "pipeline", "storefront"]));
    let large = SimFleet::new(FleetConfig { sessions: 5_000, ..FleetConfig::default() });
    let folders: BTreeSet<String> = large.places().into_iter().map(|p| p.cwd).collect();
    assert_eq!(folders.len(), 834);
}

#[test]
fn every_kind_of_event_in_the_pieces_turns_up() {
    let events = some(FleetConfig::default(), 15_000);
    let expected = [
        "CwdChanged",
        "InstructionsLoaded",
        "Notification",
        "PermissionRequest",
        "PostCompact",
        "PostModelSwitch",
        "PostToolBatch",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PreModelSwitch",
        "PreToolUse",
        "SessionEnd",
        "SessionStart",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "TaskCompleted",
        "TaskCreated",
        "UserPromptSubmit",
    ];
    let seen = names(&events);
    let missing: Vec<_> = expected.iter().filter(|n| **n != "CwdChanged" && !seen.contains(**n)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// From the events alone: which sessions wait for an answer, which run, which are idle.
fn glance(events: &[SimEvent], now: i64) -> BTreeMap<&'static str, usize> {
    let mut doing: BTreeMap<&str, &'static str> = BTreeMap::new();
    for event in events.iter().filter(|e| e.fired_ms <= now && !e.payload.contains_key("agent_id")) {
        let tool = event.payload.get("tool_name").and_then(|t| t.as_str()).unwrap_or_default();
        let what = match event.payload["hook_event_name"].as_str().unwrap_or_default() {
            "PermissionRequest" if tool == "AskUserQuestion" || tool == "ExitPlanMode" => "asks",
            "PermissionRequest" => "permission",
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "UserPromptSubmit" => {
                "runs"
            }
            "Stop" | "StopFailure" | "SessionStart" => "idle",
            "SessionEnd" => "gone",
            _ => continue,
        };
        doing.insert(&event.session_id, what);
    }
    doing.values().fold(BTreeMap::new(), |mut count, what| {
        *count.entry(*what).or_default() += 1;
        count
    })
}

#[test]
fn at_any_minute_some_ask_and_most_run() {
    let config = FleetConfig { history_ms: 600_000, ..FleetConfig::default() };
    let start = config.start_ms;
    let events: Vec<SimEvent> = SimFleet::new(config).take_while(|e| e.at_ms < start + 1_800_000).collect();
    for minute in 0..30 {
        let seen = glance(&events, start + minute * 60_000);
        let of = |what| seen.get(what).copied().unwrap_or(0);
        println!("minute {minute}: {seen:?}");
        assert!(of("permission") >= 1 && of("asks") + of("permission") >= 3 && of("idle") >= 2);
        assert!(of("runs") * 10 >= 54 * 4 && of("runs") > of("idle"));
    }
    assert!(glance(&events, start).contains_key("gone"));
}

#[test]
fn a_fleet_that_waits_for_a_person_still_moves() {
    let wait = 120_000;
    for speed in [1.0, 8.0] {
        let config =
            FleetConfig { history_ms: 600_000, answer_ms_min: wait as u64, speed, ..FleetConfig::default() };
        let start = config.start_ms;
        let mut fleet = SimFleet::new(config);
        let mut asked = 0;
        let mut events = Vec::new();
        while fleet.next_at().is_some_and(|at| at < start + 1_800_000) {
            let event = fleet.next().unwrap();
            if event.asks() {
                assert!(fleet.waits_until(&event, event.at_ms + wait - 100), "{:?}", event.payload);
                asked += 1;
            }
            events.push(event);
        }
        assert!(asked > 50, "{asked}");
        for minute in (0..30).step_by(5) {
            let seen = glance(&events, start + minute * 60_000);
            println!("speed {speed}, minute {minute}: {seen:?}");
            let of = |what| seen.get(what).copied().unwrap_or(0);
            assert!(of("asks") + of("permission") >= 3 && of("runs") >= 6, "{seen:?}");
        }
    }
}

/// The longest that the simulated terminal takes for two requests that are open at once, beyond the shortest wait.
const TWO_ANSWERS_MS_MAX: i64 = 62_000;

#[test]
fn each_request_waits_for_the_person_once_also_one_of_two_at_once() {
    let wait = 120_000;
    let config = FleetConfig { answer_ms_min: wait as u64, ..FleetConfig::default() };
    let events = some(config, 12_000);
    let mut pairs = 0;
    for (n, ask) in events.iter().enumerate().filter(|(_, e)| e.asks()) {
        let of_session = |e: &&SimEvent| e.session_id == ask.session_id;
        let later = || events[n + 1..].iter().filter(of_session);
        let Some(ended) = later().find(|e| ask.is_ended_by(e)) else { continue };
        let waited = ended.fired_ms - ask.fired_ms;
        assert!((wait..wait + TWO_ANSWERS_MS_MAX).contains(&waited), "{waited} ms: {:?}", ask.payload);
        pairs += usize::from(later().next().is_some_and(SimEvent::asks));
    }
    assert!(pairs > 10, "{pairs}");
}

#[test]
fn async_hooks_overtake_each_other_and_without_jitter_they_do_not() {
    let overtaken = |jitter_ms| {
        let events = some(FleetConfig { jitter_ms, ..FleetConfig::default() }, 6_000);
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        let late = |e: &&SimEvent| {
            last.insert(e.session_id.clone(), e.fired_ms).is_some_and(|before| before > e.fired_ms)
        };
        events.iter().filter(late).count()
    };
    assert_eq!(overtaken(0), 0);
    assert!(overtaken(60) > 10, "{}", overtaken(60));
}

#[test]
fn when_told_to_end_every_session_says_goodbye_and_the_stream_runs_out() {
    for count in [1, 40, 1_500, 4_000] {
        let mut fleet = SimFleet::new(FleetConfig { sessions: 12, ..FleetConfig::default() });
        let mut events: Vec<SimEvent> = fleet.by_ref().take(count).collect();
        fleet.end(events[count - 1].at_ms);
        events.extend(fleet);
        let ids = |name: &str| -> BTreeSet<&str> {
            let named = events.iter().filter(|e| e.payload["hook_event_name"] == name);
            named.map(|e| e.session_id.as_str()).collect()
        };
        assert_eq!(ids("SessionStart"), ids("SessionEnd"), "after {count}");
        assert!(events.is_sorted_by_key(|e| e.at_ms));
    }
}

#[test]
fn a_tool_call_has_the_same_input_wherever_it_is_named() {
    let mut inputs: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    for event in some(FleetConfig::default(), 5_000) {
        let (Some(id), Some(input)) = (event.payload.get("tool_use_id"), event.payload.get("tool_input"))
        else {
            continue;
        };
        if event.payload["tool_name"] == "Bash" {
            assert_eq!(inputs.entry(id.to_string()).or_insert_with(|| input.clone()), input);
        }
    }
    assert!(inputs.len() > 100);
}
