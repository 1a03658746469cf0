//! Every captured scenario, event by event. The snapshots hold what a person at the board would have seen.

use std::collections::BTreeMap;
use std::fmt::Write;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::EventId;
use flightdeck_core::log::{from_hook, from_registry};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view;
use flightdeck_sim::corpus::{CapturedScenario, HookRecord, RegistryRecord, scenarios};

use crate::script;

#[test]
fn every_scenario_of_the_corpus_matches_its_snapshot() {
    for scenario in scenarios() {
        let mut fleet = Fleet::new(FoldSettings::default());
        let start = scenario.hooks.first().map_or(0, |h| h.t_ms);
        let mut names = BTreeMap::new();
        let mut told = String::new();
        for (i, hook) in scenario.hooks.iter().enumerate() {
            apply(&mut fleet, hook, i as u64 + 1);
            let next = names.len() + 1;
            let name = names.entry(hook.session_id().to_owned()).or_insert_with(|| format!("s{next}"));
            let card = fleet.get(&hook.session_id().into()).map(|s| view::card(s, fleet.settings()));
            let reads = card.map_or("(not on the board)".to_owned(), |card| script::read(&card));
            let what = describe(hook);
            writeln!(told, "{:>6} {name:<3} {what:<46} → {reads}", hook.t_ms - start).unwrap();
        }
        let file = format!("{}/tests/it/snapshots/{}.txt", env!("CARGO_MANIFEST_DIR"), scenario.name);
        expect_test::expect_file![file].assert_eq(&told);
    }
}

/// The events of one moment.
enum Told<'a> {
    Hook(&'a HookRecord),
    Registry(&'a RegistryRecord),
}

/// Hooks and registry by time, with the timers between them: what a person at that terminal saw.
#[test]
fn every_scenario_with_the_clients_own_registry_matches_its_snapshot() {
    for scenario in scenarios() {
        let mut script = Changes::new(first_ms(&scenario));
        replay(&scenario, |fleet, t_ms, what| script.tell(fleet, t_ms, what));
        let file = format!("{}/tests/it/with_registry/{}.txt", env!("CARGO_MANIFEST_DIR"), scenario.name);
        expect_test::expect_file![file].assert_eq(&script.text);
    }
}

fn first_ms(scenario: &CapturedScenario) -> i64 {
    let hooks = scenario.hooks.iter().map(|h| h.t_ms);
    hooks.chain(scenario.registry.iter().map(|r| r.t_ms)).min().unwrap_or_default()
}

/// Plays hooks and registry by time, and every timer at its moment; `see` is shown the fleet after each.
pub(crate) fn replay(scenario: &CapturedScenario, mut see: impl FnMut(&Fleet, i64, &str)) {
    let hooks = scenario.hooks.iter().map(|h| (h.t_ms, Told::Hook(h)));
    let registry = scenario.registry.iter().map(|r| (r.t_ms, Told::Registry(r)));
    let mut all: Vec<_> = hooks.chain(registry).collect();
    all.sort_by_key(|(at, _)| *at);
    let mut fleet = Fleet::new(FoldSettings::default());
    let until = |fleet: &mut Fleet, t_ms: i64, see: &mut dyn FnMut(&Fleet, i64, &str)| {
        while let Some(due) = fleet.next_wake().filter(|due| due.as_millis() < t_ms) {
            let _ = fleet.tick(due);
            see(fleet, due.as_millis(), "(a timer)");
        }
    };
    for (i, (t_ms, told)) in all.iter().enumerate() {
        until(&mut fleet, *t_ms, &mut see);
        let what = match told {
            Told::Hook(hook) => {
                apply(&mut fleet, hook, i as u64 + 1);
                describe(hook)
            }
            Told::Registry(entry) => {
                hear(&mut fleet, entry, i as u64 + 1);
                describe_entry(entry)
            }
        };
        see(&fleet, *t_ms, &what);
    }
    until(&mut fleet, all.last().map_or(0, |(at, _)| at + 2000), &mut see);
}

/// Writes a line whenever a card reads differently.
struct Changes {
    start: i64,
    names: BTreeMap<String, String>,
    last: BTreeMap<String, String>,
    text: String,
}

impl Changes {
    fn new(start: i64) -> Self {
        Self { start, names: BTreeMap::new(), last: BTreeMap::new(), text: String::new() }
    }

    fn tell(&mut self, fleet: &Fleet, t_ms: i64, what: &str) {
        for session in fleet.sessions() {
            let reads = script::read(&view::card(session, fleet.settings()));
            let next = self.names.len() + 1;
            let name = self.names.entry(session.id.to_string()).or_insert_with(|| format!("s{next}"));
            if self.last.get(session.id.as_str()) != Some(&reads) {
                writeln!(self.text, "{:>6} {name:<3} {what:<46} → {reads}", t_ms - self.start).unwrap();
                self.last.insert(session.id.to_string(), reads);
            }
        }
    }
}

fn hear(fleet: &mut Fleet, entry: &RegistryRecord, seq: u64) {
    let Some(content) = &entry.content else { return };
    let Some(mut record) = from_registry::registry_record(content, EventId(u128::from(seq))) else { return };
    record.seq = seq;
    record.envelope.proc_start = Some("1".into());
    from_hook::stamp(&mut record, Timestamp::from_millis(entry.t_ms), fleet.now());
    fleet.apply(&Event::from_record(&record));
}

fn describe_entry(entry: &RegistryRecord) -> String {
    let word = |key: &str| entry.content.as_ref().and_then(|c| c.get(key)?.as_str());
    format!("registry {} {}", word("status").unwrap_or("-"), word("waitingFor").unwrap_or_default())
}

fn apply(fleet: &mut Fleet, hook: &HookRecord, seq: u64) {
    let at = Timestamp::from_millis(hook.t_ms);
    let mut env = hook.env.clone();
    if !env.is_empty() {
        env.insert("fired_at".into(), at.to_string().into());
        env.insert("proc_start".into(), "1".into());
    }
    fleet.apply(&Event::from_record(&script::record(hook.event.clone(), env, seq, at, fleet.now())));
}

/// The event with the one word that tells it from its siblings.
fn describe(hook: &HookRecord) -> String {
    let word = ["tool_name", "source", "reason", "notification_type", "error", "trigger"]
        .iter()
        .find_map(|key| hook.event.get(*key)?.as_str());
    let agent = hook.event.get("agent_type").and_then(|t| t.as_str()).map(|t| format!(" in {t:?}"));
    format!("{} {}{}", hook.name(), word.unwrap_or_default(), agent.unwrap_or_default()).trim_end().to_owned()
}
