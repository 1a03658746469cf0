//! A database, by concern. It is called from one thread only, and may block.

use super::{Assignments, EventLog, HostStates, Outbox, PastSessions, Snapshots, Transcripts};

/// Everything the store needs of a database.
pub trait Backend:
    EventLog + Snapshots + PastSessions + Assignments + Outbox + Transcripts + HostStates + Send
{
}

impl<T: EventLog + Snapshots + PastSessions + Assignments + Outbox + Transcripts + HostStates + Send> Backend
    for T
{
}
