//! The board, one session, its events, and why it is where it is.

use flightdeck_core::ids::SessionId;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::timeline::present_or_null;
use serde::{Deserialize, Serialize};

use crate::arguments;

/// The board; with `all` every other session too, a page at a time, the last active first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListSessions {
    #[serde(deserialize_with = "arguments::flag")]
    pub all: bool,
    /// `next_before` of the page before.
    pub before: Option<String>,
    #[serde(deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
}

/// The board, and where a page of all sessions goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SessionList {
    /// Names this run of the daemon.
    pub boot: String,
    /// The number of the last change in it.
    pub n: u64,
    pub sessions: Vec<Card>,
    /// Absent unless all sessions were asked for; `null` on the last page.
    #[serde(default, deserialize_with = "present_or_null", skip_serializing_if = "Option::is_none")]
    pub next_before: Option<Option<String>>,
}

/// The whole board, at the beginning of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Snapshot {
    /// Names this run of the daemon.
    pub boot: String,
    /// The number of the last change in it.
    pub n: u64,
    pub sessions: Vec<Card>,
}

/// One session, on the board or stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSession {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// A page of a session's events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEvents {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
    /// Events after this `seq`, oldest first.
    #[serde(default, deserialize_with = "arguments::number")]
    pub after: Option<u64>,
    /// The newest events before this `seq`. Wins over `after`.
    #[serde(default, deserialize_with = "arguments::number")]
    pub before: Option<u64>,
    #[serde(default, deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
    /// With the payload of each event.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub payload: bool,
}

/// A page of what was said in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetConversation {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
    /// `next_before` of the page before. Without it: the newest messages.
    #[serde(default, deserialize_with = "arguments::number")]
    pub before: Option<u64>,
    #[serde(default, deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
}

/// Why a session is in its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainSession {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// The context and cost of a session over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetNumbers {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// The person opened the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MarkSeen {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// The person puts an idle session aside, or takes it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct ParkSession {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
    /// When it comes back. Without it: with its next change.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// False takes it back.
    #[serde(default = "parked")]
    pub parked: bool,
}

const fn parked() -> bool {
    true
}

/// Where in the log the event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Logged {
    pub seq: u64,
}
