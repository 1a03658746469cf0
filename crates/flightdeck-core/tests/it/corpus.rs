//! Every captured scenario, event by event. The snapshots are the story a person at the board would have seen.

use std::collections::BTreeMap;
use std::fmt::Write;

use flightdeck_core::board;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use flightdeck_sim::corpus::{HookRecord, scenarios};

use crate::story;

#[test]
fn every_scenario_of_the_corpus_reads_as_its_story() {
    for scenario in scenarios() {
        let mut fleet = Fleet::new(Rules::default());
        let start = scenario.hooks.first().map_or(0, |h| h.t_ms);
        let mut names = BTreeMap::new();
        let mut told = String::new();
        for (i, hook) in scenario.hooks.iter().enumerate() {
            apply(&mut fleet, hook, i as u64 + 1);
            let next = names.len() + 1;
            let name = names.entry(hook.session_id().to_owned()).or_insert_with(|| format!("s{next}"));
            let card = fleet.get(hook.session_id()).map(|s| board::card(s, fleet.rules()));
            let reads = card.map_or("(not on the board)".to_owned(), |card| story::read(&card));
            let what = describe(hook);
            writeln!(told, "{:>6} {name:<3} {what:<46} → {reads}", hook.t_ms - start).unwrap();
        }
        let file = format!("{}/tests/it/snapshots/{}.txt", env!("CARGO_MANIFEST_DIR"), scenario.name);
        expect_test::expect_file![file].assert_eq(&told);
    }
}

fn apply(fleet: &mut Fleet, hook: &HookRecord, seq: u64) {
    let at = Timestamp::from_millis(hook.t_ms);
    let mut env = hook.env.clone();
    if !env.is_empty() {
        env.insert("fired_at".into(), at.to_string().into());
        env.insert("proc_start".into(), "1".into());
    }
    fleet.apply(&Event::from_record(&story::record(hook.event.clone(), env, seq, at, fleet.now())));
}

/// The event with the one word that tells it from its siblings.
fn describe(hook: &HookRecord) -> String {
    let word = ["tool_name", "source", "reason", "notification_type", "error", "trigger"]
        .iter()
        .find_map(|key| hook.event.get(*key)?.as_str());
    let agent = hook.event.get("agent_type").and_then(|t| t.as_str()).map(|t| format!(" in {t:?}"));
    format!("{} {}{}", hook.name(), word.unwrap_or_default(), agent.unwrap_or_default()).trim_end().to_owned()
}
