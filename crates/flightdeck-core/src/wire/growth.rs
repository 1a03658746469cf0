//! "Its transcript grew": all that a transcript may say about a session's state, where nobody else says anything.

use serde_json::{Map, json};

use crate::record::{Envelope, EventId, Record, Source};
use crate::time::Timestamp;

/// The name of such a record in the log.
pub const TRANSCRIPT_GREW: &str = "transcript_grew";

/// `at` is the time in its newest line.
pub fn record(session_id: &str, transcript_path: &str, at: Timestamp, id: EventId) -> Record {
    Record {
        seq: 0,
        id,
        fired_at: at,
        received_at: Timestamp::default(),
        source: Source::Transcript,
        name: TRANSCRIPT_GREW.to_owned(),
        session_id: session_id.to_owned(),
        agent_id: None,
        payload: Map::from_iter([("transcript_path".to_owned(), json!(transcript_path))]),
        envelope: Envelope { has_fired_at: true, ..Envelope::default() },
    }
}
