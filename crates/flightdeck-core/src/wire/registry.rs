//! The client's own list of live sessions, `sessions/<pid>.json`: what it thinks of itself right now.
//!
//! It sees what hooks cannot: an Esc, a session older than our hooks. A change of the file becomes a [`Record`]; only the
//! named fields travel, never the messaging socket or anything else that could be a secret.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::limits::{NAME_CHARS_MAX, PATH_CHARS_MAX, SESSION_ID_BYTES_MAX};
use crate::record::{Envelope, EventId, Record, Source, Verbatim};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::wire::lenient::{text, whole};

/// The name of such a record in the log.
pub const REGISTRY: &str = "registry";

/// What is kept of an entry.
const KEPT: [&str; 11] = [
    "pid",
    "procStart",
    "sessionId",
    "cwd",
    "startedAt",
    "version",
    "kind",
    "entrypoint",
    "status",
    "waitingFor",
    "statusUpdatedAt",
];

/// The client's word about one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub status: Status,
    /// When the client set it, by its own clock.
    pub status_at: Timestamp,
    pub started_at: Timestamp,
}

impl Word {
    /// The client writes a last `idle` a few milliseconds after its end; only work, or a new process, is a return.
    pub fn is_life_after(&self, ended: Timestamp) -> bool {
        let works = matches!(self.status, Status::Busy | Status::Waiting(_));
        self.started_at > ended || (works && self.status_at > ended)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Idle,
    /// Idle, but a background shell runs.
    Shell,
    Busy,
    Waiting(WaitingFor),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    Permission,
    Input,
    /// Some dialog: perhaps one that the person opened.
    Dialog,
}

/// All that is kept is a number or a short text; the file is not ours, and may hold anything.
fn small(value: &Value) -> Option<Value> {
    match value {
        Value::String(s) => Some(one_line(s, PATH_CHARS_MAX).into()),
        Value::Array(_) | Value::Object(_) => None,
        value => Some(value.clone()),
    }
}

/// A record of an entry that says something, or `None`: without a session or a status it says nothing yet.
pub fn record(entry: &Map<String, Value>, id: EventId) -> Option<Record> {
    let session_id = text(entry, "sessionId").filter(|id| id.len() <= SESSION_ID_BYTES_MAX)?;
    text(entry, "status")?;
    let payload: Map<String, Value> =
        KEPT.iter().filter_map(|key| Some(((*key).to_owned(), small(entry.get(*key)?)?))).collect();
    let pid = whole(entry, "pid").and_then(|pid| u32::try_from(pid).ok());
    let status_at = millis(entry, "statusUpdatedAt").or_else(|| millis(entry, "startedAt"));
    Some(Record {
        seq: 0,
        id,
        fired_at: status_at.unwrap_or_default(),
        received_at: Timestamp::default(),
        source: Source::Registry,
        name: REGISTRY.to_owned(),
        session_id,
        agent_id: None,
        envelope: Envelope {
            pid,
            proc_start: text(entry, "procStart"),
            entrypoint: text(entry, "entrypoint").map(|e| one_line(&e, NAME_CHARS_MAX)),
            has_fired_at: status_at.is_some(),
            ..Envelope::default()
        },
        payload,
        verbatim: Verbatim::default(),
    })
}

/// The word in a stored payload.
pub fn word(payload: &Map<String, Value>) -> Option<Word> {
    let status = match text(payload, "status")?.as_str() {
        "idle" => Status::Idle,
        "shell" => Status::Shell,
        "busy" => Status::Busy,
        "waiting" => Status::Waiting(match text(payload, "waitingFor").as_deref() {
            Some("permission prompt" | "sandbox request") => WaitingFor::Permission,
            Some("input needed") => WaitingFor::Input,
            _ => WaitingFor::Dialog,
        }),
        // A status we do not know yet changes nothing.
        _ => return None,
    };
    let started_at = millis(payload, "startedAt").unwrap_or_default();
    Some(Word { status, status_at: millis(payload, "statusUpdatedAt").unwrap_or(started_at), started_at })
}

fn millis(map: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    whole(map, name).and_then(|ms| i64::try_from(ms).ok()).map(Timestamp::from_millis)
}

/// The name under which "this process is gone" stands in the log.
pub const PROCESS_GONE: &str = "process_gone";

/// A record of a death: of exactly this process, by pid and start.
pub fn process_gone(
    session_id: &str,
    pid: u32,
    proc_start: Option<&str>,
    at: Timestamp,
    id: EventId,
) -> Record {
    let payload =
        Map::from_iter([("pid".to_owned(), json!(pid)), ("procStart".to_owned(), json!(proc_start))]);
    Record {
        fired_at: at,
        envelope: Envelope { has_fired_at: true, ..Envelope::default() },
        ..Record::ours(Source::Process, PROCESS_GONE, session_id, payload, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_entry_without_a_status_says_nothing() {
        assert_eq!(record(&entry(r#"{"pid": 7, "sessionId": "s", "startedAt": 5}"#), EventId(1)), None);
        assert_eq!(record(&entry(r#"{"pid": 7, "status": "idle"}"#), EventId(1)), None);
    }

    #[test]
    fn no_secret_of_the_entry_reaches_the_log() {
        let record = record(
            &entry(
                r#"{"pid": 7, "sessionId": "s", "status": "busy", "messagingSocketPath": "/x", "peerToken": "t"}"#,
            ),
            EventId(1),
        );
        let keys: Vec<_> = record.unwrap().payload.keys().cloned().collect();
        assert_eq!(keys, ["pid", "sessionId", "status"]);
    }

    #[test]
    fn what_it_waits_for_is_read_and_an_unknown_status_is_nothing() {
        let says = |text: &str| word(&entry(text)).map(|w| w.status);
        let waiting = |what: &str| says(&format!(r#"{{"status": "waiting", "waitingFor": "{what}"}}"#));
        assert_eq!(waiting("permission prompt"), Some(Status::Waiting(WaitingFor::Permission)));
        assert_eq!(waiting("sandbox request"), Some(Status::Waiting(WaitingFor::Permission)));
        assert_eq!(waiting("input needed"), Some(Status::Waiting(WaitingFor::Input)));
        assert_eq!(waiting("dialog open"), Some(Status::Waiting(WaitingFor::Dialog)));
        assert_eq!(says(r#"{"status": "levitating"}"#), None);
    }
}
