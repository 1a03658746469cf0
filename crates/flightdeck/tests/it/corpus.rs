//! Every captured scenario over HTTP and the socket: after each event the card is the same as in the core.

use std::fs;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_sim::Map;
use flightdeck_sim::corpus::{HookRecord, scenarios};
use serde_json::{Value, json};

use crate::in_process::InProcessDaemon;

/// The core alone, with the same events at the same times.
struct Alone {
    fleet: Fleet,
    seq: u64,
}

impl Alone {
    fn new() -> Self {
        Self { fleet: Fleet::new(FoldSettings::default()), seq: 0 }
    }

    /// Applies the event; returns the card as JSON.
    fn apply_hook(&mut self, hook: &HookRecord, env: Map) -> Value {
        self.seq += 1;
        let bytes = serde_json::to_vec(&hook.event).unwrap().len();
        let draft = HookDraft { name_in_path: None, payload: hook.event.clone(), env, bytes };
        let mut record = draft.into_record(EventId(u128::from(self.seq))).unwrap();
        stamp(&mut record, Timestamp::from_millis(hook.t_ms), self.fleet.now());
        record.seq = self.seq;
        let _ = self.fleet.apply(&Event::from_record(&record));
        let card = self.fleet.get(&hook.session_id().into()).map(|s| view::card(s, self.fleet.settings()));
        serde_json::to_value(card).unwrap()
    }
}

fn card(deck: &InProcessDaemon, id: &str) -> Value {
    deck.get(&format!("/api/sessions/{id}")).json()
}

/// The event as the hook would send it; HTTP handlers have no environment.
fn env(hook: &HookRecord) -> Map {
    let mut env = hook.env.clone();
    if !env.is_empty() {
        env.insert("fired_at".into(), json!(Timestamp::from_millis(hook.t_ms).to_string()));
        env.insert("proc_start".into(), json!("1"));
    }
    env
}

/// Removes generated ids: an event without an id gets a new one, and so do its ask and its assignment.
fn nameless(mut card: Value) -> Value {
    for ask in card["asks"].as_array_mut().into_iter().flatten() {
        ask["id"] = Value::Null;
    }
    if let Some(assignment) = card["assignment"].as_object_mut() {
        assignment.insert("id".into(), Value::Null);
    }
    card
}

/// A held hook waits on its own connection; other events use another.
fn unheld(mut card: Value) -> Value {
    for ask in card["asks"].as_array_mut().into_iter().flatten() {
        ask["expires_at"] = Value::Null;
        ask["answerable"] = Value::Null;
    }
    nameless(card)
}

#[test]
fn every_scenario_over_http_gives_the_cards_of_the_core() {
    for scenario in scenarios() {
        let (deck, mut alone) = (InProcessDaemon::new(), Alone::new());
        for (n, hook) in scenario.hooks.iter().enumerate() {
            deck.set_clock(Timestamp::from_millis(hook.t_ms));
            let answer = deck.post(&serde_json::to_string(&hook.event).unwrap());
            assert_eq!((answer.status, answer.body.len()), (204, 0));
            assert_eq!(answer.header("x-flightdeck-seq"), Some((n + 1).to_string().as_str()));
            let expected = alone.apply_hook(hook, Map::new());
            let shown = nameless(card(&deck, hook.session_id()));
            assert_eq!(shown, nameless(expected), "{} after event {}", scenario.name, n + 1);
        }
    }
}

#[test]
fn every_scenario_through_the_socket_gives_the_cards_of_its_snapshot() {
    for scenario in scenarios() {
        let (deck, mut alone) = (InProcessDaemon::new(), Alone::new());
        let mut held = Vec::new();
        let file = format!(
            "{}/../flightdeck-core/tests/it/snapshots/{}.txt",
            env!("CARGO_MANIFEST_DIR"),
            scenario.name
        );
        let expected = fs::read_to_string(file).unwrap();
        assert_eq!(expected.lines().count(), scenario.hooks.len());
        for (n, (hook, line)) in scenario.hooks.iter().zip(expected.lines()).enumerate() {
            deck.set_clock(Timestamp::from_millis(hook.t_ms));
            let mut socket = deck.socket();
            let answer = socket.hook(&hook.event, &env(hook));
            let seq = n + 1;
            let holds = answer["data"]["hold_ms"].as_u64().unwrap() > 0;
            let asks = hook.event["hook_event_name"] == "PermissionRequest"
                && !hook.event.contains_key("agent_id")
                && hook.env.get("CLAUDE_CODE_ENTRYPOINT") != Some(&json!("sdk-cli"));
            assert_eq!((&answer["data"]["seq"], holds), (&json!(seq), asks), "{answer}");
            if holds {
                held.push(socket);
            }
            let shown = card(&deck, hook.session_id());
            let expected = line.split_once(" → ").unwrap().1;
            assert_eq!(crate::board::short_form(&shown), expected, "{} line {seq}: {line}", scenario.name);
            let expected = unheld(alone.apply_hook(hook, env(hook)));
            assert_eq!(unheld(shown), expected, "{} line {seq}: {line}", scenario.name);
        }
    }
}
