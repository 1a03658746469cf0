//! What a person is notified about, and how often.

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// Why a person is notified. The names are those of `events` in the `[notify]` part of config.toml.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A tool call waits for permission.
    NeedsPermission,
    /// The session asks: a question, a plan to approve, a form of an MCP server, or a turn that ended with a question.
    Asks,
    /// The turn failed.
    Failed,
    /// The turn ended without a question and the session waits for the next prompt.
    Completed,
}

impl NoteKind {
    pub const ALL: [Self; 4] = [Self::NeedsPermission, Self::Asks, Self::Failed, Self::Completed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsPermission => "needs_permission",
            Self::Asks => "asks",
            Self::Failed => "failed",
            Self::Completed => "completed",
        }
    }
}

/// The part of the `[notify]` settings that the fold needs. It changes no state, only which notes are made. So it is not part of
/// [`fold_version`](crate::rules::FoldSettings::fold_version), and a changed setting does not replay the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRules {
    pub kinds: Vec<NoteKind>,
    /// How long a state must last before a note about it is made.
    pub settle: Millis,
    /// The shortest time between two notes about one session.
    pub again_after: Millis,
}

/// A note to the person: one session entered a state that the person wants to know about, and the state has settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: NoteKind,
    pub session_id: SessionId,
    /// Since when the card shows the state.
    pub since: Timestamp,
    /// When the note was made.
    pub at: Timestamp,
}

/// What the fold remembers about the notes of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteMark {
    /// When the session entered its present state. `None` once a note about it was made.
    pub entered_at: Option<Timestamp>,
    /// When the last note was made.
    pub noted_at: Option<Timestamp>,
}

impl NoteMark {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
