//! The record of a session that left the board, for the overview.

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::session::Session;
use crate::session::state_history::StateHistory;
use crate::time::Timestamp;

/// A session that left the board, as the overview shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastSession {
    pub id: SessionId,
    pub title: Option<String>,
    pub project: String,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    #[serde(rename = "strip")]
    pub state_history: StateHistory,
}

impl PastSession {
    /// `None` for a session that has not ended and was only dropped to make room.
    pub(crate) fn from_session(session: &Session) -> Option<Self> {
        Some(Self {
            id: session.id.clone(),
            title: session.title.clone(),
            project: session.project.name().to_owned(),
            started_at: session.started_at,
            ended_at: session.ended_at?,
            state_history: session.state_history.clone(),
        })
    }
}
