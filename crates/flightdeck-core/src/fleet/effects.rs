//! What the fold asks the engine to do. The fold only returns these; a replay drops most of them.

use super::processes::Occupant;
use crate::approval::card::AskCard;
use crate::effort::EffortMessage;
use crate::ids::{EffortId, SessionId};
use crate::log::subject::Subject;
use crate::notify::Note;
use crate::session::{RefusedStep, Session, SessionAssignment};

/// One thing to do after an event or a timer was applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A session that was unknown before: viewers receive its card.
    Discovered(SessionId),
    /// The card of the subject may have changed: the engine compares it with the last card that viewers received.
    Changed(Subject),
    /// The session ended [`COMPLETED_AFTER`](crate::limits::COMPLETED_AFTER) ago and leaves the live set.
    Completed(SessionId),
    /// The session occupies this process now: the engine watches for the exit of the process.
    Seated(Occupant),
    /// An ask that a person may answer now.
    AskOpened(Box<AskCard>),
    /// The ask has ended: its hook need not wait any longer. If a person or the policy answered through Flightdeck, the
    /// sender of the answer still delivers the verdict.
    AskClosed(Box<AskCard>),
    /// The assignment of a session changed. A completed one must reach the store.
    AssignmentChanged(Box<SessionAssignment>),
    /// A session was dropped to make room, with an open assignment: it must reach the store as it is.
    AssignmentLeft(Box<SessionAssignment>),
    /// An effort changed: viewers get it, and it must reach the store. A change of numbers only goes with the next change.
    EffortChanged { id: EffortId, numbers_only: bool },
    /// A message of an effort, for the store.
    EffortMessage(EffortId, Box<EffortMessage>),
    /// A step of an assignment was refused: for the daemon's log.
    StepRefused(SessionId, RefusedStep),
    /// The session left the board. This is its final state; it must reach the store.
    Forgotten(Box<Session>),
    /// A note to the person. It must not be lost, and must not be sent twice.
    Notify(Note),
}
