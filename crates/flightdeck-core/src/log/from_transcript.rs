//! What a transcript says about a session's state: that it grew, and that the person interrupted a turn (decision 0016).

use serde_json::{Map, json};

use super::record::{Envelope, EventId, Record, Source};
use crate::ids::SessionId;
use crate::time::Timestamp;

/// Name in the log of a record about a transcript that grew.
pub const TRANSCRIPT_GREW: &str = "transcript_grew";

/// Name in the log of a record about an interrupt marker.
pub const INTERRUPT_MARKED: &str = "interrupt_marked";

/// The record of an interrupt marker: the client wrote a line about an interrupt into the transcript, at this time.
pub fn interrupt_marked(session_id: &SessionId, at: Timestamp, id: EventId) -> Record {
    let envelope = Envelope { has_fired_at: true, ..Envelope::default() };
    Record {
        fired_at: at,
        envelope,
        ..Record::ours(Source::Transcript, INTERRUPT_MARKED, session_id, Map::new(), id)
    }
}

/// The record of a transcript that grew. `at` is the time in its newest line.
pub fn record(session_id: &SessionId, transcript_path: &str, at: Timestamp, id: EventId) -> Record {
    let payload = Map::from_iter([("transcript_path".to_owned(), json!(transcript_path))]);
    let envelope = Envelope { has_fired_at: true, ..Envelope::default() };
    Record {
        fired_at: at,
        envelope,
        ..Record::ours(Source::Transcript, TRANSCRIPT_GREW, session_id, payload, id)
    }
}
