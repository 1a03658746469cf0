//! The outbox: effects that must not be lost, until they have been carried out.
//! `docs/decisions/0014-effects-and-the-outbox.md` has the reasons.

use flightdeck_core::effort::Effort;
use flightdeck_core::session::SessionAssignment;

use super::{MessageRow, Result, StoredSession};

pub trait OutboxStore {
    /// Stores the effects that are not in the outbox yet. All or nothing; durable when it returns.
    fn put_outbox(&mut self, effects: &[OutboxEffect]) -> Result<()>;
    /// The effects that have not been carried out, in the order of their events.
    fn outbox(&mut self) -> Result<Vec<OutboxEffect>>;
    /// Marks effects as carried out, and in the same transaction writes the rows that they asked for.
    fn finish_outbox(&mut self, done: &[OutboxKey], rows: &OutboxRows) -> Result<()>;
}

/// The rows that effects of the outbox write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutboxRows {
    pub sessions: Vec<StoredSession>,
    pub assignments: Vec<SessionAssignment>,
    pub efforts: Vec<Effort>,
    pub messages: Vec<MessageRow>,
}

/// Identifies an effect. A replay of the log gives the same effect the same key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboxKey {
    /// The last event that was applied before the effect.
    pub seq: u64,
    pub kind: String,
    /// What the effect is about: a session's id, for example.
    pub subject: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEffect {
    pub key: OutboxKey,
    pub body: String,
    /// Whether the effect may be carried out a second time, if a replay of the whole log produces it again. The outbox does not
    /// store this flag: an effect that is read from the outbox has not been carried out.
    pub repeatable: bool,
}
