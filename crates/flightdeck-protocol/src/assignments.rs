//! Assignments, their messages, and the digest of a stretch of time.

use flightdeck_core::assignment::AssignmentMessage;
use flightdeck_core::ids::AssignmentId;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::assignment::AssignmentCard;
use serde::{Deserialize, Serialize};

use crate::arguments;

/// A page of assignments, the newest first: first the open ones, then the completed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListAssignments {
    /// The name or the folder of a project.
    pub project: Option<String>,
    /// commanded, processing, awaiting_input, complete, or open for every state but complete.
    pub state: Option<String>,
    /// Assignments that were open then or later: lunch, 9:00, yesterday, 2h, today, 7d, a date, or an RFC 3339 time.
    pub since: Option<String>,
    /// Assignments that were opened before then.
    pub until: Option<String>,
    /// Words that all occur in the title, the last message, the project, the worktree or the seat. A page then may have fewer rows
    /// than its limit, or none, although `next_before` leads to more.
    pub text: Option<String>,
    /// `next_before` of the page before.
    pub before: Option<String>,
    #[serde(deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssignmentList {
    pub assignments: Vec<AssignmentCard>,
    /// `None` on the last page.
    pub next_before: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetAssignment {
    pub id: AssignmentId,
}

/// The messages of one assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListMessages {
    pub id: AssignmentId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageList {
    /// Oldest first.
    pub messages: Vec<AssignmentMessage>,
    /// Messages between the first and the second that were dropped.
    pub dropped: u32,
}

/// What happened since a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetDigest {
    /// lunch, 9:00, yesterday, 2h, today, 7d, a date, or an RFC 3339 time; the start of today unless given.
    pub since: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Digest {
    pub since: Timestamp,
    pub until: Timestamp,
    /// Sums over all projects.
    pub total: DigestSums,
    /// The projects that waited longest for the person come first.
    pub projects: Vec<ProjectDigest>,
    /// Open assignments that wait for the person, those that wait longest first.
    pub waiting: Vec<AssignmentCard>,
    /// The newest completed assignments, the newest first; `total` counts all.
    pub completed: Vec<AssignmentCard>,
}

/// Numbers of assignments. A completed assignment counts at the time of its completion, an open one at the present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DigestSums {
    pub completed: u64,
    /// Completed because the session ended.
    pub ended: u64,
    /// Completed because the process died.
    pub died: u64,
    /// Open and at work now.
    pub working: u64,
    /// Open and waiting for the person now.
    pub waiting: u64,
    pub working_seconds: f64,
    pub waiting_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ProjectDigest {
    pub project: String,
    pub sums: DigestSums,
    /// One row for each day of the person's time zone on which something was completed or is open, oldest first.
    pub days: Vec<DayDigest>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DayDigest {
    /// `2026-11-18`
    pub day: String,
    pub assignments: u64,
    pub working_seconds: f64,
    /// How long agents waited for the person.
    pub waiting_seconds: f64,
}
