//! A database, by concern. It is called from one thread only, and may block.

use super::{Assignments, Efforts, EventLog, Outbox, PastSessions, Snapshots, Transcripts};

/// Everything the store needs of a database.
pub trait Backend:
    EventLog + Snapshots + PastSessions + Assignments + Efforts + Outbox + Transcripts + Send
{
}

impl<T: EventLog + Snapshots + PastSessions + Assignments + Efforts + Outbox + Transcripts + Send> Backend
    for T
{
}
