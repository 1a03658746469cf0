//! The database behind the store, with one trait per concern. Its methods may block, and are called from one thread only.

use super::{
    Assignments, EffortStore, EventLog, HostStates, OutboxStore, PastSessions, Snapshots, Transcripts,
};

/// Everything the store needs of a database.
pub trait Backend:
    EventLog
    + Snapshots
    + PastSessions
    + Assignments
    + EffortStore
    + OutboxStore
    + Transcripts
    + HostStates
    + Send
{
}

impl<T> Backend for T where
    T: EventLog
        + Snapshots
        + PastSessions
        + Assignments
        + EffortStore
        + OutboxStore
        + Transcripts
        + HostStates
        + Send
{
}
