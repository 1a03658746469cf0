//! `share = "no_payloads"`: what is left of a record before it is sent. `fields.rs` lists the fields of each event, and `names.rs` the
//! names. Only what they list is sent, so a field, an event or a word that a later client adds is not.

mod fields;
mod names;

use std::collections::BTreeMap;
use std::hash::Hasher;

use flightdeck_core::assignment::intent::{Intent, TurnIntent};
use flightdeck_core::fnv::Fnv;
use flightdeck_core::ids::AgentId;
use flightdeck_core::log::record::{Envelope, EventId, Record, Source};
use flightdeck_core::log::refusal::refusal_beginning;
use flightdeck_core::log::subject::Subject;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::Enrichment;
use flightdeck_core::usage::price::Usage;
use flightdeck_core::wire::client_notices::is_client_notice;
use flightdeck_core::wire::clip;
use serde_json::{Map, Value, json};

use self::fields::{API_ERRORS, Fields, Sent};
use super::settings::Share;
use super::subjects::check_token;

/// Stands for a prompt that the client wrote itself: only that fact is sent.
const CLIENT_NOTICE: &str = "<task-notification>";
/// Stands for a prompt of the person. A card without any text would look as if the prompt had been missed.
const NOT_SHARED: &str = "(not shared)";
/// Stand for a last message. A hub finds the same intent in them as in the message.
const A_QUESTION: &str = "Can you answer me (not shared)?";
const A_COMPLETION: &str = "The task is complete (not shared).";
const AN_OFFER: &str = "Let me know if you need anything else (not shared).";
const A_NEXT_STEP: &str = "Now I will do the next step (not shared).";
/// The name of an event or of a record that has none which may be sent.
const UNKNOWN_EVENT: &str = "UnknownEvent";
const ENTRYPOINTS: [&str; 8] =
    ["cli", "sdk-cli", "sdk-ts", "sdk-py", "claude-vscode", "claude-desktop", "mcp", "remote"];
const SESSION_ID: &str = "session_id";
const EVENT_NAME: &str = "hook_event_name";
const TOOL_INPUT: &str = "tool_input";

/// Removes prompts, commands, paths, titles and outputs from records and numbers.
#[derive(Clone, Debug)]
pub(super) struct PayloadFilter {
    /// A secret of this database: without it, a digest does not confirm a guess.
    keys: (u64, u64),
}

impl PayloadFilter {
    /// `None` if everything is shared. `salt` is a secret of the database.
    pub(super) fn for_share(share: Share, salt: &str) -> Option<Self> {
        (share == Share::NoPayloads).then(|| Self::new(salt))
    }

    fn new(salt: &str) -> Self {
        let half = |which: &str| Fnv::hash_bytes(format!("{which}{salt}").as_bytes());
        let keys = EventId::parse(salt).map(|EventId(key)| ((key >> 64) as u64, key as u64));
        Self { keys: keys.unwrap_or_else(|| (half("a"), half("b"))) }
    }

    pub(super) fn reduce(&self, record: &mut Record) {
        let fields = fields::of_record(record);
        if fields.is_none() && !(record.source == Source::Hook && names::is_event(&record.name)) {
            UNKNOWN_EVENT.clone_into(&mut record.name);
        }
        record.envelope = self.envelope(&record.envelope);
        record.agent_id = record.agent_id.take().map(|id| AgentId::from(self.digest(&id)));
        record.subject = self.subject(&record.subject);
        let mut reduced = Map::new();
        for fields in fields.into_iter().flatten() {
            self.put_fields(&mut reduced, &record.payload, fields);
        }
        if record.source == Source::Hook {
            reduced.insert(EVENT_NAME.into(), record.name.clone().into());
            reduced.extend(record.session_id().map(|id| (SESSION_ID.to_owned(), json!(id))));
        }
        record.payload = reduced;
    }

    /// Tokens, times and names of models. Titles, prompts, paths and branches are left out.
    pub(super) fn numbers(&self, known: Enrichment) -> Enrichment {
        let mut known = known.without_payloads();
        known.usage = by_model(&known.usage);
        known.agents = known.agents.iter().map(|(id, usage)| (self.digest(id), by_model(usage))).collect();
        known.model = known.model.as_deref().map(names::model).map(str::to_owned);
        known
    }

    fn put_fields(&self, reduced: &mut Map<String, Value>, payload: &Map<String, Value>, fields: Fields) {
        for (key, sent) in fields {
            if let Some(value) = payload.get(*key).and_then(|value| self.value(value, *sent)) {
                reduced.insert((*key).to_owned(), value);
            }
        }
        // Of a clipped message the end is missing, and its intent with it.
        if payload.contains_key(clip::MARK) {
            reduced.remove("last_assistant_message");
        }
        let is_call = fields.iter().any(|(_, sent)| matches!(sent, Sent::Tool));
        if is_call && (payload.contains_key(TOOL_INPUT) || payload.contains_key(clip::MARK)) {
            let name = payload.get("tool_name").and_then(Value::as_str).unwrap_or_default();
            let digest = self.digest(&format!("{name}:{:016x}", clip::input_digest(payload)));
            reduced.insert(clip::MARK.into(), json!({ "input_digest": digest }));
        }
    }

    fn value(&self, value: &Value, sent: Sent) -> Option<Value> {
        let text = text_of(value);
        let text = text.as_deref();
        Some(match sent {
            Sent::Number => return number(value),
            Sent::Time => Timestamp::parse(text?)?.to_string().into(),
            Sent::OneOf(words) => one_of(words, text?)?.into(),
            Sent::Id => self.digest(text?).into(),
            Sent::AskId => EventId::parse(text?)?.to_string().into(),
            Sent::Host => text.filter(|name| check_token(name).is_ok())?.into(),
            Sent::Tool => names::tool(text?).into(),
            Sent::AgentType => names::agent_type(text?).into(),
            Sent::Model => names::model(text?).into(),
            Sent::Project => names::project(text?)?.into(),
            Sent::ProcessStart => self.process_mark(text?).into(),
            Sent::Prompt => match is_client_notice(text.unwrap_or_default()) {
                true => CLIENT_NOTICE.into(),
                false => NOT_SHARED.into(),
            },
            Sent::LastMessage => stands_for_message(text?).into(),
            Sent::ApiError => {
                let kind = value.get("type").and_then(Value::as_str).or(text);
                one_of(API_ERRORS, kind?)?.into()
            }
            Sent::Refusal => refusal_beginning(text?)?.into(),
            Sent::Object(fields) => self.object(value.as_object()?, fields),
            Sent::List(fields) => value
                .as_array()?
                .iter()
                .filter_map(Value::as_object)
                .map(|o| self.object(o, fields))
                .collect(),
        })
    }

    fn object(&self, object: &Map<String, Value>, fields: Fields) -> Value {
        let mut reduced = Map::new();
        self.put_fields(&mut reduced, object, fields);
        Value::Object(reduced)
    }

    /// Processes and seats stay; folders and terminals do not. Without a terminal, no prompt can be typed from a hub. Every field is
    /// named, so that a new one is not sent by accident.
    fn envelope(&self, envelope: &Envelope) -> Envelope {
        let mark = |text: &String| self.process_mark(text);
        Envelope {
            pid: envelope.pid,
            proc_start: envelope.proc_start.as_ref().map(mark),
            pid_ns: envelope.pid_ns.as_ref().map(mark),
            tmux_socket: None,
            pane: None,
            tty: None,
            seat: envelope.seat.as_deref().map(|seat| self.seat(seat).into()),
            project_dir: envelope.project_dir.as_deref().and_then(names::project),
            entrypoint: envelope.entrypoint.clone().filter(|from| ENTRYPOINTS.contains(&from.as_str())),
            hold_ms: envelope.hold_ms,
            has_fired_at: envelope.has_fired_at,
            real_dir: None,
            dir_unknown: envelope.dir_unknown,
            context_permille: envelope.context_permille,
            exempt: envelope.exempt,
            rpc: envelope.rpc,
            clock_back: envelope.clock_back,
            clock_ahead_ms: envelope.clock_ahead_ms,
        }
    }

    fn subject(&self, subject: &Subject) -> Subject {
        match subject {
            Subject::Effort(id) => Subject::Effort(self.digest(id).into()),
            Subject::Seat(id) => Subject::Seat(self.seat(id).into()),
            Subject::Session(_) | Subject::Host(_) | Subject::None => subject.clone(),
        }
    }

    fn seat(&self, name: &str) -> String {
        if names::is_seat(name) { name.to_owned() } else { self.digest(name) }
    }

    /// A count of the system stays, such as the start of a process. Any other text becomes its digest, and can still be compared.
    fn process_mark(&self, text: &str) -> String {
        let is_count = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_count { text.to_owned() } else { self.digest(text) }
    }

    fn digest(&self, text: &str) -> String {
        #[expect(
            deprecated,
            reason = "the only keyed hash of the standard library; the other hashes here can be reversed"
        )]
        let mut hash = std::hash::SipHasher::new_with_keys(self.keys.0, self.keys.1);
        hash.write(text.as_bytes());
        format!("{:016x}", hash.finish())
    }
}

fn by_model(usage: &BTreeMap<String, Usage>) -> BTreeMap<String, Usage> {
    let mut sum = BTreeMap::<String, Usage>::new();
    for (model, usage) in usage {
        sum.entry(names::model(model).to_owned()).or_default().add(usage);
    }
    sum
}

/// A client may write a number where it wrote a text before.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Also of a text that is a number or a flag.
fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) | Value::Bool(_) => Some(value.clone()),
        Value::String(text) => match text.parse::<u64>() {
            Ok(number) => Some(number.into()),
            Err(_) => text.parse::<bool>().ok().map(Value::from),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn one_of(words: &'static [&'static str], text: &str) -> Option<&'static str> {
    words.iter().find(|word| **word == text).copied()
}

/// A text with the same intent, for a turn that changed files and for one that did not.
fn stands_for_message(message: &str) -> &'static str {
    let found = TurnIntent::detect(message);
    match [false, true].map(|changed_files| found.for_turn(changed_files).intent) {
        [Intent::Question, _] => A_QUESTION,
        [Intent::Completion, _] => A_COMPLETION,
        [Intent::EndOfTask, _] => AN_OFFER,
        [Intent::Progress, Intent::Progress] => A_NEXT_STEP,
        _ => NOT_SHARED,
    }
}

#[cfg(test)]
mod tests;
