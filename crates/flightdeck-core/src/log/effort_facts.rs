//! The facts of a hook that only efforts use, and the key by which a hook that arrives twice is recognised. Nearly every hook belongs to no
//! effort, so the common case must cost next to nothing.

use serde_json::{Map, Value};

use super::record::{Record, Source};
use crate::fnv::QuickHash;
use crate::limits::{
    CARD_PROMPT_CHARS_MAX, EFFORT_TEXT_BYTES_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX, TWIN_FIELD_BYTES_MAX,
    TWIN_VALUES_MAX,
};
use crate::text::lines;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{borrowed_text, line, list, object};

/// The fields of a hook that only efforts use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffortFacts {
    /// The file that a call read or changed.
    pub file: Option<String>,
    /// The questions and answers of an AskUserQuestion.
    pub dialogue: Option<String>,
    /// Whether the client compacts by itself, not at the person's request.
    pub auto_compaction: bool,
    /// The to-do that was completed.
    pub todo: Option<String>,
    /// What the parent seat of an idle teammate is told.
    pub idle: Option<String>,
}

impl EffortFacts {
    /// `None` if the record is not a hook event, or has none of these facts.
    pub fn from_record(record: &Record) -> Option<Self> {
        let name = HookName::parse(&record.name).filter(|_| record.source == Source::Hook)?;
        let p = &record.payload;
        let facts = match name {
            HookName::PostToolUse => Self {
                file: object(p, "tool_input").and_then(touched_file),
                dialogue: dialogue(p),
                ..Self::default()
            },
            HookName::PreCompact => {
                Self { auto_compaction: borrowed_text(p, "trigger") == Some("auto"), ..Self::default() }
            }
            HookName::TaskCompleted => {
                Self { todo: line(p, "task_subject", CARD_PROMPT_CHARS_MAX), ..Self::default() }
            }
            HookName::TeammateIdle => Self { idle: Some(idle_teammate(p)), ..Self::default() },
            _ => return None,
        };
        Some(facts).filter(|facts| *facts != Self::default())
    }
}

/// Recognises an event that arrives twice: from `flightdeck hook` and from a command of `hooks.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwinKey {
    /// Equal for both copies of the event.
    pub hash: u64,
    /// Whether the hash was made from the id of a call or of a prompt. Otherwise it was made from the payload, and another event may have
    /// the same hash.
    pub certain: bool,
}

fn touched_file(input: &Map<String, Value>) -> Option<String> {
    ["file_path", "notebook_path"].into_iter().find_map(|field| line(input, field, PATH_CHARS_MAX))
}

fn idle_teammate(p: &Map<String, Value>) -> String {
    let who = line(p, "teammate_name", NAME_CHARS_MAX).unwrap_or_default();
    let team = line(p, "team_name", NAME_CHARS_MAX).unwrap_or_default();
    format!("Teammate {who} of team {team} has nothing to do.")
}

/// One question and its answer on each line.
fn dialogue(p: &Map<String, Value>) -> Option<String> {
    if borrowed_text(p, "tool_name") != Some("AskUserQuestion") {
        return None;
    }
    let answers = object(p, "tool_response").and_then(|response| object(response, "answers"));
    let questions = list(object(p, "tool_input")?, "questions").iter().filter_map(Value::as_object);
    let asked = questions.filter_map(|question| borrowed_text(question, "question"));
    let said = asked.map(|question| {
        let answer = answers.and_then(|answers| answers.get(question));
        let answer = answer.map_or("no answer".to_owned(), |answer| {
            answer.as_str().map_or_else(|| answer.to_string(), str::to_owned)
        });
        format!("{question} → {answer}")
    });
    let text = said.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| lines(&text, EFFORT_TEXT_BYTES_MAX / 4))
}

impl TwinKey {
    /// Hashes the id of a call or of a prompt. An event without an id is recognised by its whole payload. `None` if the record is not
    /// a hook event.
    pub fn from_record(record: &Record) -> Option<Self> {
        let name = HookName::parse(&record.name).filter(|_| record.source == Source::Hook)?;
        let p = &record.payload;
        let id = match name {
            HookName::PreToolUse | HookName::PostToolUse | HookName::PostToolUseFailure => {
                borrowed_text(p, "tool_use_id")
            }
            HookName::UserPromptSubmit => borrowed_text(p, "prompt_id"),
            _ => None,
        };
        let mut hash = QuickHash::default();
        hash.add(record.session_id()?.as_bytes());
        hash.add(name.as_str().as_bytes());
        hash.add(record.agent_id.as_deref().unwrap_or_default().as_bytes());
        hash.add(id.unwrap_or_default().as_bytes());
        let said = match id {
            Some(_) => 0,
            None => p.iter().map(fingerprint).fold(0, u64::wrapping_add),
        };
        Some(Self { hash: hash.finish().wrapping_add(said), certain: id.is_some() })
    }
}

/// Hashes the name of a field and its value. The caller adds up the fingerprints, so the order of the fields does not matter. Two different
/// events are mistaken for one only if they differ in nothing that is hashed and arrive within two seconds, one by a hook and one by
/// `hooks.*`.
fn fingerprint((name, value): (&String, &Value)) -> u64 {
    let mut hash = QuickHash::default();
    hash.add(name.as_bytes());
    match value {
        Value::String(text) => add_text(&mut hash, text),
        other => {
            let mut left = TWIN_VALUES_MAX;
            hash.mix(value_hash(other, &mut left));
        }
    }
    hash.finish()
}

/// Hashes the length, the beginning and the end of a text. Hashing whole messages would cost more than folding the event.
fn add_text(hash: &mut QuickHash, text: &str) {
    let text = text.as_bytes();
    let (beginning, rest) = text.split_at(text.len().min(TWIN_FIELD_BYTES_MAX));
    hash.add(beginning);
    if !rest.is_empty() {
        hash.add(&rest[rest.len().saturating_sub(TWIN_FIELD_BYTES_MAX)..]);
    }
    hash.mix(text.len() as u64);
}

/// Hashes a value with what it contains, at most `left` values. A number counts as the same however it is written, and the fields of an
/// object in any order.
fn value_hash(value: &Value, left: &mut usize) -> u64 {
    let mut hash = QuickHash::default();
    *left = left.saturating_sub(1);
    match value {
        Value::Null => hash.mix(0),
        Value::Bool(flag) => hash.mix(1 + u64::from(*flag)),
        Value::Number(number) => hash.mix(number.as_f64().unwrap_or_default().to_bits()),
        Value::String(text) => add_text(&mut hash, text),
        Value::Array(items) => {
            hash.mix(items.len() as u64);
            for item in items {
                if *left == 0 {
                    break;
                }
                hash.mix(value_hash(item, left));
            }
        }
        Value::Object(fields) => {
            let mut sum = fields.len() as u64;
            for (name, value) in fields {
                if *left == 0 {
                    break;
                }
                let mut field = QuickHash::default();
                field.add(name.as_bytes());
                field.mix(value_hash(value, left));
                sum = sum.wrapping_add(field.finish());
            }
            hash.mix(sum);
        }
    }
    hash.finish()
}
