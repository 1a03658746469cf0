//! The rows of past sessions.

use std::fmt;

use flightdeck_core::ids::SessionId;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Result;

pub trait PastSessions {
    /// A row replaces the earlier row of the same session.
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()>;
    /// The last active first.
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage>;
    fn stored_session(&mut self, id: &SessionId) -> Result<Option<StoredSession>>;
}

/// A session that left the board. Its row is never removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    pub id: SessionId,
    pub project: Option<String>,
    pub title: Option<String>,
    pub started_at: Timestamp,
    pub last_activity_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The last card, as the JSON that goes over the wire.
    pub card: String,
}

impl StoredSession {
    /// The card as this version knows it. Fields that an older version did not store have their defaults.
    pub fn typed_card(&self) -> serde_json::Result<Card> {
        serde_json::from_str(&self.card)
    }

    /// The card as it was stored, perhaps by an older version. An error if the disk damaged it, or if it is nested too deep for a
    /// client's parser.
    pub fn card_json(&self) -> serde_json::Result<Value> {
        serde_json::from_str(&self.card)
    }

    pub(super) fn cursor(&self) -> SessionCursor {
        SessionCursor { last_activity_at: self.last_activity_at, id: self.id.clone() }
    }
}

/// Where a page of stored sessions ended. Clients send its text back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionCursor {
    pub last_activity_at: Timestamp,
    pub id: SessionId,
}

impl SessionCursor {
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, id) = text.split_once('-')?;
        Some(Self { last_activity_at: Timestamp::from_millis(ms.parse().ok()?), id: id.into() })
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.last_activity_at.as_millis(), self.id)
    }
}

/// Stored sessions, the last active first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    pub sessions: Vec<StoredSession>,
    /// Continue before this; `None` at the end.
    pub next_before: Option<SessionCursor>,
}

impl SessionPage {
    /// Takes one session more than the limit, if there is one: it shows that there is another page.
    pub(super) fn from_rows(mut sessions: Vec<StoredSession>, limit: usize) -> Self {
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let next_before = sessions.last().filter(|_| more).map(StoredSession::cursor);
        Self { sessions, next_before }
    }
}
