//! What an effort needs to know of a hook, beside what a session needs.

use serde_json::{Map, Value};

use super::record::{Record, Source};
use crate::fnv::Fnv;
use crate::limits::{CARD_PROMPT_CHARS_MAX, EFFORT_TEXT_BYTES_MAX, PATH_CHARS_MAX, TWIN_FIELD_BYTES_MAX};
use crate::text::{lines, one_line};
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{borrowed_text, line, list, object, text};

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
    /// A hash by which the same event is recognised if it arrives twice, by a hook and by a `hooks.*` command. The flag is true
    /// if the hash was made of an id; then equal hashes certainly mean the same event.
    pub twin: Option<(u64, bool)>,
}

impl EffortFacts {
    /// `None` if the record is not a hook event.
    pub fn from_record(record: &Record) -> Option<Self> {
        let name = HookName::parse(&record.name).filter(|_| record.source == Source::Hook)?;
        let p = &record.payload;
        let ended = name == HookName::PostToolUse;
        Some(Self {
            file: object(p, "tool_input")
                .filter(|_| ended)
                .and_then(|input| line(input, "file_path", PATH_CHARS_MAX)),
            dialogue: if ended { dialogue(p) } else { None },
            auto_compaction: name == HookName::PreCompact && borrowed_text(p, "trigger") == Some("auto"),
            todo: text(p, "task_subject")
                .filter(|_| name == HookName::TaskCompleted)
                .map(|subject| one_line(&subject, CARD_PROMPT_CHARS_MAX)),
            twin: twin(name, record),
        })
    }
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

/// Hashes the id of a call or of a prompt. An event without an id is recognised by its whole payload.
fn twin(name: HookName, record: &Record) -> Option<(u64, bool)> {
    let p = &record.payload;
    let session = record.session_id()?;
    let agent = record.agent_id.as_deref().unwrap_or_default();
    let id = match name {
        HookName::PreToolUse | HookName::PostToolUse | HookName::PostToolUseFailure => {
            borrowed_text(p, "tool_use_id")
        }
        HookName::UserPromptSubmit => borrowed_text(p, "prompt_id"),
        _ => None,
    };
    let mut hash = Fnv::default();
    for part in [session.as_str(), name.as_str(), agent, id.unwrap_or_default()] {
        hash.add(part.as_bytes());
    }
    match id {
        Some(_) => Some((hash.finish(), true)),
        None => {
            Some((hash.finish().wrapping_add(p.iter().map(fingerprint).fold(0, u64::wrapping_add)), false))
        }
    }
}

/// Hashes the name of a field, and the length and the beginning of its text. Hashing whole messages would cost more than folding
/// the event. Two different events with the same hash would have to arrive within two seconds, one by a hook and one by `hooks.*`,
/// and differ only after the hashed beginning. The caller adds up the fingerprints, so the order of the fields does not matter.
fn fingerprint((name, value): (&String, &Value)) -> u64 {
    let text = value.as_str().unwrap_or_default().as_bytes();
    let mut hash = Fnv::default();
    hash.add(name.as_bytes());
    hash.add(&text.len().to_le_bytes());
    hash.add(text.get(..TWIN_FIELD_BYTES_MAX).unwrap_or(text));
    hash.finish()
}
