//! Plays an example: brings a fleet to the starting state, sends the event of the example, and compares the card before and
//! after it.

use serde_json::{Map, Value, json};

use super::cases::{DocCase, Start};
use super::wire_name::wire_name;
use crate::fleet::Fleet;
use crate::ids::SessionId;
use crate::limits::BUSY_AFTER_STOP;
use crate::log::approvals::{ANSWERED, ASK_GONE};
use crate::log::event::Event;
use crate::log::from_hook::stamp;
use crate::log::from_transcript::{TurnMark, TurnMarkLine};
use crate::log::hook_presence::{self, HOOKS_SEEN, HookPresence};
use crate::log::record::{EventId, Record, Source};
use crate::log::{from_registry, from_transcript};
use crate::rules::{FoldSettings, Rule};
use crate::session::StateReason;
use crate::time::{Millis, Timestamp};
use crate::view::{self, card::Card};
use crate::wire::hook::HookDraft;

/// 2026-11-15 12:00 UTC, an arbitrary time.
const NOON_MS: i64 = 1_794_744_000_000;
/// The session of every example, unless its payload says otherwise.
pub(super) const SESSION: &str = "s";
/// Card fields that repeat the state, or only give times and order.
const NOT_DATA: [&str; 10] = [
    "agent_state",
    "status",
    "fleet_status",
    "rank",
    "last_activity_at",
    "duration_seconds",
    "started_at",
    "id",
    "current_activity",
    "current_turn_started_at",
];

/// What the event of an example did to the card.
#[derive(Debug)]
pub(super) struct PlayedCase {
    card: Option<Card>,
    /// The state or the label differs from before.
    pub(super) moved: bool,
    /// The rule, if this event is the reason of the state.
    pub(super) because: Option<Rule>,
    /// Other data of the card that changed, such as "`turn_count` 1".
    pub(super) also: Vec<String>,
}

/// Plays an example and says what its event did to the card.
pub(super) fn play(case: &DocCase) -> PlayedCase {
    let mut fleet = Fleet::new(case.settings.clone());
    for (name, payload) in case.from.events() {
        send_event(&mut fleet, name, payload, case.from);
    }
    let before = read_card(&fleet, case.look_at);
    send_event(&mut fleet, case.event, case.payload.clone(), case.from);
    let after = read_card(&fleet, case.look_at);
    let moved = match (&before, &after) {
        (Some((a, _)), Some((b, _))) => shown_state(a) != shown_state(b),
        (None, Some((_, because))) => because.rule != Rule::Created,
        _ => false,
    };
    let is_reason = |because: &StateReason| because.seq == fleet.last_seq();
    PlayedCase {
        moved,
        because: after.as_ref().map(|(_, because)| *because).filter(is_reason).map(|b| b.rule),
        also: changed_data(before.map(|(card, _)| card).as_ref(), after.as_ref().map(|(card, _)| card)),
        card: after.map(|(card, _)| card),
    }
}

/// The card of a session, and the reason of its state.
fn read_card(fleet: &Fleet, id: &str) -> Option<(Card, StateReason)> {
    let session = fleet.get(&id.into())?;
    let (shown, step) = (session.shown.because, session.history.back().map(|step| step.because));
    // If another process is shown now, its own state has an older reason than the step.
    let because = step.filter(|step| step.seq > shown.seq).unwrap_or(shown);
    Some((view::card(session, fleet.settings()), because))
}

fn shown_state(card: &Card) -> (&str, &str, &Option<String>) {
    (card.agent_state.state.as_str(), &card.agent_state.label, &card.status.detail)
}

/// Sends a registry entry and lets it settle.
fn send_registry_entry(fleet: &mut Fleet, payload: &Map<String, Value>, seq: u64, at: Timestamp) {
    let ago = payload.get("seconds_ago").and_then(Value::as_i64).unwrap_or(0);
    // An older entry is read within the second after the Stop, in which `busy` does not count yet.
    let at = if ago > 0 { at - Millis(500) } else { at };
    let started = if payload.contains_key("started_later") { at } else { Timestamp::from_millis(NOON_MS) };
    let mut entry = payload.clone();
    entry.extend(Map::from_iter([
        ("pid".to_owned(), json!(42)),
        ("procStart".to_owned(), json!("1")),
        ("sessionId".to_owned(), json!(SESSION)),
        ("startedAt".to_owned(), json!(started.as_millis())),
        ("statusUpdatedAt".to_owned(), json!((at - Millis::seconds(ago)).as_millis())),
    ]));
    if let Some(record) = from_registry::registry_record(&entry, EventId(u128::from(seq))) {
        apply(fleet, record, seq, at);
        fleet.tick(at + BUSY_AFTER_STOP);
    }
}

/// Sends one of Flightdeck's own records about the open ask: an answer, or the end of its hold.
fn send_ask_record(fleet: &mut Fleet, name: &str, mut payload: Map<String, Value>, seq: u64, at: Timestamp) {
    let open =
        fleet.get(&SESSION.into()).and_then(|session| session.open_asks().last()).map(|ask| ask.id.clone());
    payload.insert("ask_id".into(), json!(open));
    let source = if name == ANSWERED { Source::User } else { Source::Process };
    apply(
        fleet,
        Record::noticed_here(source, name, SessionId::from(SESSION), payload, EventId(u128::from(seq))),
        seq,
        at,
    );
}

fn apply(fleet: &mut Fleet, mut record: Record, seq: u64, at: Timestamp) {
    record.seq = seq;
    stamp(&mut record, at, fleet.now());
    fleet.apply(&Event::from_record(&record));
}

/// Sends an event one second after the last one: a hook, unless the name is that of another kind of record.
fn send_event(fleet: &mut Fleet, name: &str, mut payload: Map<String, Value>, from: Start) {
    let seq = fleet.last_seq() + 1;
    let pid = if payload.remove("second_terminal").is_some() { 43 } else { 42 };
    let at = Timestamp::from_millis(NOON_MS) + Millis::seconds(seq as i64);
    let id = EventId(u128::from(seq));
    let record = match name {
        from_registry::REGISTRY => return send_registry_entry(fleet, &payload, seq, at),
        ANSWERED | ASK_GONE => return send_ask_record(fleet, name, payload, seq, at),
        from_registry::PROCESS_GONE => {
            Some(from_registry::process_gone_record(&SESSION.into(), pid, Some("1"), at, id))
        }
        HOOKS_SEEN => {
            let present = payload.get("present") == Some(&json!(true));
            Some(hook_presence::hooks_seen_record(HookPresence { present, at_start: false }, id))
        }
        name if let Some(mark) = TurnMark::parse(name) => {
            // The client wrote the line when the turn ended, which was before this event is read.
            let prompt_id = payload.get("prompt_id").and_then(Value::as_str).map(str::to_owned);
            let line = TurnMarkLine { mark, at: at - Millis(1500), prompt_id, next_prompt_id: None };
            Some(from_transcript::turn_mark_record(&line, &SESSION.into(), id))
        }
        from_transcript::TRANSCRIPT_GREW => {
            Some(from_transcript::growth_record(&SESSION.into(), "/t.jsonl", at, id))
        }
        hook => {
            payload.insert("hook_event_name".into(), json!(hook));
            hook_record(payload, pid, at, from, id)
        }
    };
    if let Some(record) = record {
        apply(fleet, record, seq, at);
    }
}

/// The record of a hook with this payload, in the session and the directory of the page.
fn hook_record(
    mut payload: Map<String, Value>,
    pid: u32,
    at: Timestamp,
    from: Start,
    id: EventId,
) -> Option<Record> {
    payload.entry("session_id").or_insert_with(|| json!(SESSION));
    payload.entry("cwd").or_insert_with(|| json!("/work/api"));
    let mut env = Map::from_iter([
        ("fired_at".into(), json!(at.to_string())),
        ("pid".into(), json!(pid)),
        ("proc_start".into(), json!("1")),
    ]);
    if from == Start::PrintMode {
        env.insert("CLAUDE_CODE_ENTRYPOINT".into(), json!("sdk-cli"));
    }
    HookDraft { name_in_path: None, payload, env, bytes: 0 }.into_record(id).ok()
}

/// Data on the card that is new or has changed, such as "`turn_count` 1".
fn changed_data(before: Option<&Card>, after: Option<&Card>) -> Vec<String> {
    let fields = |card: Option<&Card>| match card.map(serde_json::to_value) {
        Some(Ok(Value::Object(fields))) => fields,
        _ => Map::new(),
    };
    let (before, after) = (fields(before), fields(after));
    let differs = |key: &str, value: &Value| match before.get(key) {
        // The list counts only if the card has several processes: the state of a single one is the state of the card.
        Some(old) if key == "processes" => count(old) != count(value) && count(old).max(count(value)) > 1,
        Some(old) => old != value,
        // All fields of a new card are new. Only `continues` is worth a mention: it names the session before this one.
        None => key == "continues" && !value.is_null(),
    };
    let data = after.iter().filter(|(key, value)| !NOT_DATA.contains(&key.as_str()) && differs(key, value));
    data.map(|(key, value)| format!("`{key}`{}", in_brief(value))).collect()
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

fn in_brief(value: &Value) -> String {
    match value {
        Value::Null => " none".to_owned(),
        Value::Array(items) => items.last().map(in_brief).unwrap_or_else(|| " empty".to_owned()),
        Value::Object(fields) => {
            let shown_fields = [
                "type",
                "kind",
                "intent",
                "resolution",
                "how",
                "by",
                "state",
                "tool",
                "error",
                "title",
                "status",
                "shells",
                "agents",
            ];
            let words = shown_fields.iter().filter_map(|key| Some((*key, fields.get(*key)?)));
            words.map(|(key, value)| format!(" {key}{}", in_brief(value))).collect::<Vec<_>>().join(",")
        }
        Value::String(text) if text.ends_with('Z') && text.contains('T') => String::new(),
        other => format!(" {}", wire_name(other)),
    }
}

impl PlayedCase {
    pub(super) fn state_names(&self) -> String {
        let state = self.card.as_ref().map(|card| &card.agent_state);
        state.map_or(String::new(), |s| format!("{} · {}", s.group.as_str(), s.state.as_str()))
    }

    pub(super) fn new_state(&self) -> String {
        let Some(card) = &self.card else { return "no session".to_owned() };
        if !self.moved {
            return format!("no change: {}", card.agent_state.state.as_str());
        }
        let state = &card.agent_state;
        format!("**{}** ({}, {})", self.state_names(), state.icon, wire_name(&state.role))
    }

    pub(super) fn says(&self) -> String {
        let Some(card) = &self.card else { return String::new() };
        let status = card.status.detail.as_ref().or(card.status.reason.as_ref());
        format!("{:?} · {}", card.agent_state.label, status.map_or("none", String::as_str))
    }
}

impl Default for DocCase {
    fn default() -> Self {
        Self {
            event: "",
            variant: "",
            from: Start::Unknown,
            payload: Map::new(),
            settings: FoldSettings::default(),
            look_at: SESSION,
        }
    }
}
