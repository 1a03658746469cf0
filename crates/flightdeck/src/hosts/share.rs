//! `share = "no_payloads"`: what is left of a record before it is sent. Only what is listed here passes, so a field that a later
//! client adds is not sent.

use flightdeck_core::fnv::Fnv;
use flightdeck_core::log::record::{Envelope, Record, Source};
use flightdeck_core::wire::client_notices::is_client_notice;
use flightdeck_core::wire::clip;
use serde_json::{Map, Value, json};

/// Words that say what happened: ids, names of tools and models, reasons, states.
const WORDS: [&str; 23] = [
    "session_id",
    "hook_event_name",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
    "source",
    "reason",
    "trigger",
    "notification_type",
    "mcp_server_name",
    "to_model",
    "task_id",
    "status",
    "waitingFor",
    "ask_id",
    "why",
    "procStart",
    "type",
    "action",
    "from",
];
/// Flags, numbers and times.
const NUMBERS: [&str; 11] = [
    "is_interrupt",
    "stop_hook_active",
    "pid",
    "startedAt",
    "statusUpdatedAt",
    "present",
    "at_start",
    "chars",
    "confirmed",
    "remote",
    "until",
];
/// Objects of the status line that hold numbers only.
const STATUS_LINE: [&str; 3] = ["cost", "context_window", "rate_limits"];
/// Paths of which the last part is the name of a project.
const PATHS: [&str; 2] = ["cwd", "new_cwd"];
/// Lists of which each entry is reduced in the same way.
const LISTS: [&str; 2] = ["tool_calls", "background_tasks"];
/// Longest word: a uuid has 36, the name of a tool of a server can be longer.
const WORD_BYTES_MAX: usize = 128;
/// Stands for a prompt that the client wrote itself: only that fact is sent.
const CLIENT_NOTICE: &str = "<task-notification>";
/// Stands for a prompt of the person. A card without any text would look as if the prompt had been missed.
const NOT_SHARED: &str = "(not shared)";

/// Removes prompts, commands, paths, titles and outputs from records.
#[derive(Clone, Debug)]
pub(super) struct PayloadFilter {
    /// Calls are matched by a digest of their input. With a secret in it, the digest does not confirm a guess.
    salt: String,
}

impl PayloadFilter {
    pub(super) fn new(salt: &str) -> Self {
        Self { salt: salt.to_owned() }
    }

    pub(super) fn reduce(&self, record: &mut Record) {
        record.envelope = envelope(&record.envelope);
        let client_wrote_it =
            record.payload.get("prompt").and_then(Value::as_str).is_some_and(is_client_notice);
        let mut reduced = self.fields(&record.payload);
        if record.payload.contains_key("prompt") {
            let stands_for = if client_wrote_it { CLIENT_NOTICE } else { NOT_SHARED };
            reduced.insert("prompt".into(), stands_for.into());
        }
        if record.source == Source::User {
            reduced.extend(shared_answer(&record.payload));
        }
        record.payload = reduced;
    }

    fn fields(&self, payload: &Map<String, Value>) -> Map<String, Value> {
        let mut reduced = Map::new();
        for (key, value) in payload {
            if let Some(kept) = self.field(key, value) {
                reduced.insert(key.clone(), kept);
            }
        }
        if payload.contains_key("tool_input") {
            let digest = format!("{}{:016x}", self.salt, clip::input_digest(payload));
            let mark = json!({ "input_digest": format!("{:016x}", Fnv::hash_bytes(digest.as_bytes())) });
            reduced.insert(clip::MARK.into(), mark);
        }
        reduced
    }

    fn field(&self, key: &str, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) if PATHS.contains(&key) => last_part(text).map(Value::from),
            Value::String(text) if WORDS.contains(&key) && is_word(text) => Some(value.clone()),
            Value::Number(_) | Value::Bool(_) if WORDS.contains(&key) || NUMBERS.contains(&key) => {
                Some(value.clone())
            }
            Value::Array(items) if LISTS.contains(&key) => {
                let entries = items.iter().filter_map(Value::as_object);
                Some(entries.map(|entry| Value::Object(self.fields(entry))).collect())
            }
            Value::Object(fields) if STATUS_LINE.contains(&key) => Some(numbers(fields)),
            // The status line gives the model as an object.
            Value::Object(fields) if key == "model" => {
                let id = fields.get("id").filter(|id| id.as_str().is_some_and(is_word));
                id.map(|id| json!({ "id": id }))
            }
            Value::String(text) if key == "model" && is_word(text) => Some(value.clone()),
            // `{"type": "rate_limit", "message": …}`
            Value::Object(fields) if key == "error" => Some(Value::Object(self.fields(fields))),
            _ => None,
        }
    }
}

/// Only numbers, at any depth.
fn numbers(fields: &Map<String, Value>) -> Value {
    let kept = fields.iter().filter_map(|(key, value)| match value {
        Value::Number(_) => Some((key.clone(), value.clone())),
        Value::Object(inner) => Some((key.clone(), numbers(inner))),
        _ => None,
    });
    Value::Object(kept.collect())
}

/// Of an answer, the decision and where it was made.
fn shared_answer(payload: &Map<String, Value>) -> Option<(String, Value)> {
    let answer = payload.get("answer")?.as_object()?;
    let word = |key: &str| answer.get(key).filter(|v| v.as_str().is_some_and(is_word)).cloned();
    let kept = ["decision", "via"].into_iter().filter_map(|key| Some((key.to_owned(), word(key)?)));
    Some(("answer".to_owned(), Value::Object(kept.collect())))
}

/// Processes and names stay; folders and terminals do not. Without a terminal, no prompt can be typed from a hub.
fn envelope(envelope: &Envelope) -> Envelope {
    Envelope {
        tmux_socket: None,
        pane: None,
        tty: None,
        seat: envelope.seat.clone().filter(|seat| is_word(seat)),
        project_dir: envelope.project_dir.as_deref().and_then(last_part),
        ..envelope.clone()
    }
}

/// `/home/dev/work/api` becomes `/api`: the name of the project, without the way to it.
fn last_part(path: &str) -> Option<String> {
    let name = path.trim_end_matches('/').rsplit('/').next().filter(|name| is_word(name))?;
    Some(format!("/{name}"))
}

/// One word or a short name: no path and no sentence of a command.
fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@' | ' ');
    !text.is_empty()
        && text.len() <= WORD_BYTES_MAX
        && text.chars().all(fits)
        && text.split(' ').count() <= WORDS_IN_A_NAME_MAX
}

/// `permission prompt`, `prompt input exit`.
const WORDS_IN_A_NAME_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use flightdeck_core::ids::SessionId;
    use flightdeck_core::log::record::EventId;

    fn reduced(payload: Value) -> Value {
        let Value::Object(payload) = payload else { unreachable!() };
        let mut record =
            Record::noticed_here(Source::Hook, "PreToolUse", SessionId::from("s"), payload, EventId(1));
        record.envelope.project_dir = Some("/home/person/SECRET/api".into());
        record.envelope.tmux_socket = Some("/tmp/SECRET".into());
        PayloadFilter::new("salt").reduce(&mut record);
        let text = format!("{:?}{:?}", record.payload, record.envelope);
        assert!(!text.contains("SECRET"), "{text}");
        Value::Object(record.payload)
    }

    #[test]
    fn a_command_is_gone_and_its_call_can_still_be_matched() {
        let call = |command: &str| {
            reduced(json!({
                "session_id": "s", "tool_name": "Bash", "tool_use_id": "t1", "cwd": "/home/SECRET/api",
                "tool_input": {"command": command}, "tool_response": {"stdout": "SECRET"}, "a_new_field": "SECRET",
                "transcript_path": "/SECRET", "reason": "SECRET/with/a/slash",
                "tool_calls": [{"tool_name": "Bash", "tool_input": {"command": command}}],
                "background_tasks": [{"type": "shell", "status": "running", "command": "SECRET"}],
            }))
        };
        let [once, again, other] = [call("SECRET"), call("SECRET"), call("SECRET 2")];
        assert_eq!(once, again);
        assert_ne!(once[clip::MARK], other[clip::MARK]);
        assert_eq!((&once["tool_name"], &once["cwd"]), (&json!("Bash"), &json!("/api")));
        assert_eq!(once["background_tasks"][0], json!({"type": "shell", "status": "running"}));
        let unsalted = format!("{:016x}", clip::digest(Some(&json!({"command": "SECRET"}))));
        assert_ne!(once[clip::MARK]["input_digest"], json!(unsalted));
    }

    #[test]
    fn of_a_prompt_only_its_author_is_sent() {
        assert_eq!(reduced(json!({"prompt": "SECRET"})), json!({"prompt": "(not shared)"}));
        assert_eq!(
            reduced(json!({"prompt": "<task-notification>SECRET"})),
            json!({"prompt": "<task-notification>"})
        );
    }

    #[test]
    fn of_a_status_line_the_numbers_stay() {
        let line = reduced(json!({
            "model": {"id": "claude-opus-5-5", "display_name": "SECRET"}, "workspace": {"current_dir": "/SECRET"},
            "cost": {"total_cost_usd": 0.5, "note": "SECRET"}, "rate_limits": {"five_hour": {"used_percentage": 3}},
        }));
        let kept = json!({
            "model": {"id": "claude-opus-5-5"}, "cost": {"total_cost_usd": 0.5},
            "rate_limits": {"five_hour": {"used_percentage": 3}},
        });
        assert_eq!(line, kept);
    }
}
