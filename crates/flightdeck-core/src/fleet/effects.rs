//! What the fold asks the engine to do. The fold only returns these; a replay drops most of them.

use super::processes::Occupant;
use crate::approval::card::AskCard;
use crate::ids::SessionId;
use crate::log::subject::Subject;
use crate::notify::Note;
use crate::session::Session;

/// One thing to do after an event or a timer was applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A session that was unknown before: viewers receive its card.
    Discovered(SessionId),
    /// The subject may read differently now: its card is compared with what viewers have.
    Changed(Subject),
    /// The session ended [`COMPLETED_AFTER`](crate::limits::COMPLETED_AFTER) ago and leaves the live set.
    Completed(SessionId),
    /// The session sits in this process now: watch for its exit.
    Seated(Occupant),
    /// A person may answer this ask.
    AskOpened(Box<AskCard>),
    /// The ask has ended: its hook need not wait any longer. If a person or the policy answered through Flightdeck, the
    /// sender of the answer still delivers the verdict.
    AskClosed(Box<AskCard>),
    /// The session left the board. This is its final state; it must reach the store.
    Forgotten(Box<Session>),
    /// The person wants to know about this. It must not be lost, and must not be sent twice.
    Notify(Note),
}
