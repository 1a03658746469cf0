//! Notifications: a test, what was delivered, an answer by a button, and which boards are visible.

use flightdeck_core::ids::SessionId;
use flightdeck_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Sends a test to every target, or to one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestNotify {
    #[serde(default)]
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifyTests {
    pub results: Vec<NotifyTest>,
}

/// The result of a test for one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifyTest {
    pub target: String,
    pub kind: String,
    /// `None` if it was delivered.
    pub error: Option<String>,
}

/// What was sent to one target since the daemon started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifyTargetStatus {
    pub name: String,
    pub kind: String,
    pub sent: u64,
    pub undelivered: u64,
    pub last_undelivered: Option<Undelivered>,
}

/// A note that could not be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undelivered {
    pub at: Timestamp,
    pub title: String,
    pub error: String,
}

/// Answers an ask with the key of a button. The key names the ask and the decision, and works once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AnswerByKey {
    pub key: String,
}

/// Reports whether the person can see a page, and which sessions the page shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ReportVisibility {
    /// An id that the page chose for itself.
    pub viewer: String,
    pub visible: bool,
    /// `None`: every session of the board.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(type = "Array<string> | null"))]
    pub sessions: Option<Vec<SessionId>>,
}

/// The reply to a page that reported which sessions it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct VisibilityNoted {
    /// False if no notes are sent: the page may report less often.
    pub wanted: bool,
}
