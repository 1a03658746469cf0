//! Records about a client process: a changed entry of the client's registry, or the end of the process.
//!
//! Only the named fields of an entry are stored, never the messaging socket or anything else that could be a secret.

use serde_json::{Map, Value, json};

use super::record::{Envelope, EventId, Record, Source, Verbatim};
use super::subject::Subject;
use crate::ids::{HostId, SessionId};
use crate::limits::{NAME_CHARS_MAX, PATH_CHARS_MAX, SESSION_ID_BYTES_MAX};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::wire::lenient::{line, text, whole_number};
use crate::wire::registry::millis;

/// Name of a registry entry in the log.
pub const REGISTRY: &str = "registry";

/// Name of a process exit in the log.
pub const PROCESS_GONE: &str = "process_gone";

/// The fields of an entry that are stored.
const STORED_FIELDS: [&str; 11] = [
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

/// The value as it is stored: a text is shortened, a list or an object is left out. The client's file may contain anything.
fn bounded(value: &Value) -> Option<Value> {
    match value {
        Value::String(s) => Some(one_line(s, PATH_CHARS_MAX).into()),
        Value::Array(_) | Value::Object(_) => None,
        value => Some(value.clone()),
    }
}

/// The record of an entry. `None` if the entry has no valid session id, or no status yet.
pub fn registry_record(entry: &Map<String, Value>, id: EventId) -> Option<Record> {
    let session_id = text(entry, "sessionId").filter(|id| id.len() <= SESSION_ID_BYTES_MAX)?;
    text(entry, "status")?;
    let stored = |key: &&str| Some(((*key).to_owned(), bounded(entry.get(*key)?)?));
    let payload: Map<String, Value> = STORED_FIELDS.iter().filter_map(stored).collect();
    let pid = whole_number(entry, "pid").and_then(|pid| u32::try_from(pid).ok());
    let status_at = millis(entry, "statusUpdatedAt").or_else(|| millis(entry, "startedAt"));
    Some(Record {
        seq: 0,
        id,
        fired_at: status_at.unwrap_or_default(),
        received_at: Timestamp::default(),
        source: Source::Registry,
        name: REGISTRY.to_owned(),
        host: HostId::this_machine(),
        subject: Subject::Session(session_id.into()),
        agent_id: None,
        envelope: Envelope {
            pid,
            proc_start: text(entry, "procStart"),
            entrypoint: line(entry, "entrypoint", NAME_CHARS_MAX),
            has_fired_at: status_at.is_some(),
            ..Envelope::default()
        },
        payload,
        verbatim: Verbatim::default(),
    })
}

/// The record of the exit of one process, identified by pid and start time.
pub fn process_gone_record(
    session_id: &SessionId,
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
        ..Record::noticed_here(Source::Process, PROCESS_GONE, session_id, payload, id)
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
        assert_eq!(
            registry_record(&entry(r#"{"pid": 7, "sessionId": "s", "startedAt": 5}"#), EventId(1)),
            None
        );
        assert_eq!(registry_record(&entry(r#"{"pid": 7, "status": "idle"}"#), EventId(1)), None);
    }

    #[test]
    fn no_secret_of_the_entry_reaches_the_log() {
        let record = registry_record(
            &entry(
                r#"{"pid": 7, "sessionId": "s", "status": "busy", "messagingSocketPath": "/x", "peerToken": "t"}"#,
            ),
            EventId(1),
        );
        let keys: Vec<_> = record.unwrap().payload.keys().cloned().collect();
        assert_eq!(keys, ["pid", "sessionId", "status"]);
    }
}
