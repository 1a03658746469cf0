//! The record that a transcript grew: the only thing a transcript says about a session's state.

use serde_json::{Map, json};

use super::record::{Envelope, EventId, Record, Source};
use crate::ids::SessionId;
use crate::time::Timestamp;

/// Name of such a record in the log.
pub const TRANSCRIPT_GREW: &str = "transcript_grew";

/// `at` is the time in its newest line.
pub fn record(session_id: &SessionId, transcript_path: &str, at: Timestamp, id: EventId) -> Record {
    let payload = Map::from_iter([("transcript_path".to_owned(), json!(transcript_path))]);
    let envelope = Envelope { has_fired_at: true, ..Envelope::default() };
    Record {
        fired_at: at,
        envelope,
        ..Record::ours(Source::Transcript, TRANSCRIPT_GREW, session_id, payload, id)
    }
}
