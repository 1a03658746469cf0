//! What the engine needs from modules that are built on top of it.

use std::fmt::Debug;

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::notify::Note;
use flightdeck_core::session::Session;
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::pane_status::PaneKey;

use crate::store::OutboxKey;

/// Reads the transcripts of sessions. The engine says which sessions to read. Neither call may block.
pub trait TranscriptWatch: Debug + Send + Sync {
    /// Something happened to the session: its transcript may have grown.
    fn touched(&self, session: &Session);
    /// The session left the board.
    fn forget(&self, session_id: &SessionId);
}

/// Hooks whose reply is held open for an ask. The engine says when a hook need not wait any longer.
pub trait HookHolds: Debug + Send + Sync {
    /// The ask ended without an answer through this daemon. Its hook returns. It gets a verdict only if the client would otherwise ask
    /// again.
    fn ended_elsewhere(&self, ask: &AskCard);
    /// There is no such ask: its hook returns without a verdict.
    fn release(&self, ask_id: &AskId);
}

/// Sends notes to the person. The engine hands over what is in the outbox; the receiver marks a row there as done once it is
/// sent, or once it need not be sent any more. No call may block.
pub trait NoteTargets: Debug + Send + Sync {
    /// Returns false if the queue is full: the engine offers the note again later.
    fn offer(&self, note: QueuedNote) -> bool;
}

/// A note on its way to one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedNote {
    /// The row in the outbox.
    pub key: OutboxKey,
    /// The name of the target.
    pub target: String,
    pub note: Note,
}

/// Shows the status of sessions in their tmux panes. No call may block.
pub trait PaneDisplay: Debug + Send + Sync {
    /// Whether the person has switched the display on. If not, no status is computed.
    fn is_wanted(&self) -> bool;
    /// The panes of a session and their status; empty if it has left them.
    fn changed(&self, session_id: &SessionId, panes: Vec<(PaneKey, FleetStatus)>);
    /// Every session may have changed.
    fn all_changed(&self);
}

/// No pane shows anything.
#[derive(Debug)]
pub(super) struct NoPanes;

impl PaneDisplay for NoPanes {
    fn is_wanted(&self) -> bool {
        false
    }
    fn changed(&self, _: &SessionId, _: Vec<(PaneKey, FleetStatus)>) {}
    fn all_changed(&self) {}
}

/// No transcript is read.
#[derive(Debug)]
pub(super) struct NoTranscripts;

impl TranscriptWatch for NoTranscripts {
    fn touched(&self, _: &Session) {}
    fn forget(&self, _: &SessionId) {}
}

/// No hook is held.
#[derive(Debug)]
pub(super) struct NoHolds;

impl HookHolds for NoHolds {
    fn ended_elsewhere(&self, _: &AskCard) {}
    fn release(&self, _: &AskId) {}
}
