//! Assignments as they go over the wire: whole, and in brief on a card.

use serde::{Deserialize, Serialize};

use super::project::ProjectCard;
use crate::assignment::intent::DetectedIntent;
use crate::assignment::transition::{AssignmentState, Completion};
use crate::assignment::{Assignment, AwaitReason};
use crate::ids::{AssignmentId, SessionId};
use crate::session::SessionAssignment;
use crate::time::Timestamp;
use crate::usage::price::Bill;

/// Shown as the title if work was seen and its prompt was not.
const UNSEEN_PROMPT: &str = "A prompt from before Flightdeck's hooks";

/// What a person asked of a session, and how far it is. Fields may be added; these names stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Assignment"))]
pub struct AssignmentCard {
    pub id: AssignmentId,
    pub session_id: SessionId,
    /// The name or the pane of the place that the session sits at.
    pub seat: Option<String>,
    pub host: Option<String>,
    pub project: ProjectCard,
    pub state: AssignmentState,
    pub reason: Option<AwaitReason>,
    pub outcome: Option<Completion>,
    pub inferred: bool,
    pub title: String,
    pub opened_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// When it last began to work, to wait, or was completed.
    pub since: Timestamp,
    pub turns: u32,
    pub working_seconds: f64,
    pub waiting_seconds: f64,
    /// What the session spent between its opening and its completion; `None` if no transcript was read.
    pub cost: Option<AssignmentCost>,
    pub last_intent: Option<DetectedIntent>,
    /// What the agent said or asked last, on one line.
    pub last_message: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssignmentCost {
    pub usd_micros: u64,
    pub unpriced_models: Vec<String>,
}

impl AssignmentCost {
    pub fn from_bill(bill: &Bill) -> Self {
        Self { usd_micros: bill.total.micros(), unpriced_models: bill.unpriced.clone() }
    }
}

impl AssignmentCard {
    /// `now` ends the time of an assignment that is open. `host` is the name of this machine.
    pub fn new(of: &SessionAssignment, now: Timestamp, host: Option<&str>) -> Self {
        let SessionAssignment { session_id, seat, host: remote, project, assignment } = of;
        let host = if remote.is_this() { host.map(str::to_owned) } else { Some(remote.to_string()) };
        Self {
            id: assignment.id.clone(),
            session_id: session_id.clone(),
            seat: seat.clone(),
            host,
            project: ProjectCard::new(project),
            state: assignment.state,
            reason: assignment.reason,
            outcome: assignment.outcome,
            inferred: assignment.inferred,
            title: title(assignment),
            opened_at: assignment.opened_at,
            completed_at: assignment.completed_at,
            since: assignment.since,
            turns: assignment.turns,
            working_seconds: assignment.worked_until(now).as_seconds(),
            waiting_seconds: assignment.waited_until(now).as_seconds(),
            cost: None,
            last_intent: assignment.last_intent.clone(),
            last_message: assignment.last_message.clone(),
        }
    }
}

/// The newest assignment of a session, on its card. The times grow with `since`, so that an unchanged card stays the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssignmentBrief {
    pub id: AssignmentId,
    pub state: AssignmentState,
    pub reason: Option<AwaitReason>,
    pub outcome: Option<Completion>,
    pub title: String,
    /// When it last began to work, to wait, or was completed.
    pub since: Timestamp,
    /// How long it waited for the person before `since`.
    pub waiting_seconds: f64,
}

impl AssignmentBrief {
    pub fn new(assignment: &Assignment) -> Self {
        Self {
            id: assignment.id.clone(),
            state: assignment.state,
            reason: assignment.reason,
            outcome: assignment.outcome,
            title: title(assignment),
            since: assignment.since,
            waiting_seconds: assignment.spans.sum(true).as_seconds(),
        }
    }
}

fn title(assignment: &Assignment) -> String {
    if assignment.title.is_empty() { UNSEEN_PROMPT.to_owned() } else { assignment.title.clone() }
}
