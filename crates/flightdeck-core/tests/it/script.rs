//! Applies a script of events to a fleet and writes down what a person would read on the card.

use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use serde_json::{Map, Value, json};

pub(crate) const NOON: i64 = 1_794_744_000_000;

/// A line is `<seconds>[@<fired seconds>] <Event> key=value …`; `~` stands for a space in a value, `{…}` and `[…]` are
/// JSON. Without `@` the event fired when it arrived; `@-` brings no clock of its own. The session is `s` unless `session_id=` says otherwise.
/// An event is named by its place in the log, unless `event_id=<number>` gives it a name of its own, as the hook does.
pub(crate) fn tell(fleet: &mut Fleet, script: &str) {
    tell_for_effects(fleet, script);
}

/// The same, and returns the effects.
pub(crate) fn tell_for_effects(fleet: &mut Fleet, script: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (n, line) in script.lines().map(str::trim).filter(|l| !l.is_empty()).enumerate() {
        let mut words = line.split_whitespace();
        let clock = words.next().unwrap();
        let (received, fired) = clock.split_once('@').unwrap_or((clock, clock));
        let name = words.next().unwrap();
        if name == "tick" {
            effects.extend(fleet.tick(at_seconds(received)));
            continue;
        }
        let mut payload =
            Map::from_iter([("session_id".into(), json!("s")), ("cwd".into(), json!("/w/api"))]);
        let mut env = Map::new();
        let mut id = None;
        if fired != "-" {
            env.insert("fired_at".into(), json!(at_seconds(fired).to_string()));
        }
        payload.insert("hook_event_name".into(), json!(name));
        for word in words {
            let (key, value) = word.split_once('=').unwrap();
            if key == "event_id" {
                id = Some(EventId(value.parse().unwrap()));
                continue;
            }
            let value = if value.starts_with(['{', '[']) || value == "true" {
                serde_json::from_str(&value.replace('~', " ")).unwrap()
            } else {
                json!(value.replace('~', " "))
            };
            let target = if key.chars().next().unwrap().is_uppercase() || key == "pid" || key == "proc_start"
            {
                &mut env
            } else {
                &mut payload
            };
            target.insert(key.into(), value);
        }
        let seq = fleet.last_seq().max(n as u64) + 1;
        let mut record = record(payload, env, seq, at_seconds(received), fleet.now());
        record.id = id.unwrap_or(record.id);
        effects.extend(fleet.apply(&Event::from_record(&record)));
    }
    effects
}

/// An event of the person, `seconds` after noon.
pub(crate) fn person(fleet: &mut Fleet, seconds: &str, name: &str, fields: &[(&str, Value)]) {
    let mut payload =
        Map::from_iter([("session_id".into(), json!("s")), ("hook_event_name".into(), json!(name))]);
    payload.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let mut action = record(payload, Map::new(), fleet.last_seq() + 1, at_seconds(seconds), fleet.now());
    action.source = Source::User;
    fleet.apply(&Event::from_record(&action));
}

pub(crate) fn at_seconds(seconds: &str) -> Timestamp {
    Timestamp::from_millis(NOON) + Millis((seconds.parse::<f64>().unwrap() * 1000.0) as i64)
}

pub(crate) fn record(
    payload: Map<String, Value>,
    env: Map<String, Value>,
    seq: u64,
    wall: Timestamp,
    last: Timestamp,
) -> Record {
    let bytes = serde_json::to_vec(&payload).unwrap().len();
    let draft = HookDraft { name_in_path: None, payload, env, bytes };
    let mut record = draft.into_record(EventId(u128::from(seq))).unwrap();
    record.seq = seq;
    from_hook::stamp(&mut record, wall, last);
    record
}

/// `needs_you needs_permission "Permission for Bash: ls"`, and what else stands out.
pub(crate) fn read(card: &Card) -> String {
    let s = &card.agent_state;
    let mut line = format!("{} {} {:?}", s.group.as_str(), s.state.as_str(), s.label);
    for child in &card.sub_agents {
        line += &format!(" · {} {:?} {:?}", child.agent_type, child.state, child.label);
    }
    if let Some(failure) = &card.last_failure {
        line += &format!(" · note Failed: {}", failure.tool);
    }
    if card.background.shells > 0 {
        line += &format!(" · {} shells", card.background.shells);
    }
    if card.quiet_since.is_some() {
        line += " · quiet";
    }
    if card.stale {
        line += " · stale";
    }
    line
}

/// Applies `script` to a new fleet and compares the card of session `s`.
#[track_caller]
pub(crate) fn check(script: &str, expect: expect_test::Expect) {
    check_with(FoldSettings::default(), script, expect);
}

#[track_caller]
pub(crate) fn check_with(rules: FoldSettings, script: &str, expect: expect_test::Expect) {
    let mut fleet = Fleet::new(rules);
    tell(&mut fleet, script);
    expect.assert_eq(&read(&card(&fleet, "s")));
}

pub(crate) fn card(fleet: &Fleet, id: &str) -> Card {
    view::card(fleet.get(&id.into()).unwrap(), fleet.settings())
}
