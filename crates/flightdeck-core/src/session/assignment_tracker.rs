//! The newest assignment of a session, and what is needed to follow it. `assignment_drivers.rs` says what moves it.

use serde::{Deserialize, Serialize};

use crate::approval::resolution::NeedKind;
use crate::assignment::intent::Intent;
use crate::assignment::transition::{Actor, AssignmentState, StepRefused};
use crate::assignment::{Assignment, AwaitReason, Opening};
use crate::ids::{AssignmentId, HostId, SessionId};
use crate::limits::REFUSED_STEPS_MAX;
use crate::project::Project;
use crate::time::Timestamp;

/// The newest assignment of a session, and what is needed to follow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssignmentTracker {
    pub(super) current: Option<Box<Assignment>>,
    /// Grows with every change, so that the fleet notices it.
    #[serde(default)]
    pub(super) revision: u64,
    /// The client woke itself in this turn: work in it was not asked for by the person.
    #[serde(default)]
    pub(super) woken: bool,
    /// The need that the assignment waits for: its kind, and when it opened.
    #[serde(default)]
    pub(super) asked: Option<(NeedKind, Timestamp)>,
    /// Steps that were refused since the fleet last looked.
    #[serde(skip)]
    pub(super) refused: Vec<RefusedStep>,
}

/// A step that the table refused. The assignment stays as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedStep {
    pub assignment: AssignmentId,
    pub state: AssignmentState,
    pub actor: Actor,
    pub intent: Intent,
    pub reason: StepRefused,
}

/// An assignment and the session that it belongs to, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionAssignment {
    pub session_id: SessionId,
    /// The name of the place that the session sits at.
    pub seat: Option<String>,
    #[serde(default, skip_serializing_if = "HostId::is_this")]
    pub host: HostId,
    pub project: Project,
    pub assignment: Assignment,
}

impl AssignmentTracker {
    pub fn current(&self) -> Option<&Assignment> {
        self.current.as_deref()
    }
    pub fn open(&self) -> Option<&Assignment> {
        self.current().filter(|assignment| assignment.is_open())
    }
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
    pub(crate) fn take_refused(&mut self) -> Vec<RefusedStep> {
        std::mem::take(&mut self.refused)
    }

    /// The open assignment, for a change.
    pub(super) fn change(&mut self) -> Option<&mut Assignment> {
        let open = self.current.as_deref_mut().filter(|assignment| assignment.is_open())?;
        self.revision += 1;
        Some(open)
    }

    pub(super) fn begin(&mut self, opening: Opening) {
        self.current = Some(Box::new(Assignment::open(opening)));
        (self.asked, self.woken) = (None, false);
        self.revision += 1;
    }

    /// One step of the table. A refused one is kept for the log of the daemon.
    pub(super) fn step(&mut self, actor: Actor, intent: Intent, at: Timestamp) {
        let Some(open) = self.current.as_deref_mut().filter(|assignment| assignment.is_open()) else {
            return;
        };
        match open.step(actor, intent, at) {
            Ok(()) => self.revision += 1,
            Err(reason) if self.refused.len() < REFUSED_STEPS_MAX => {
                let (assignment, state) = (open.id.clone(), open.state);
                self.refused.push(RefusedStep { assignment, state, actor, intent, reason });
            }
            Err(_) => {}
        }
    }

    pub(super) fn state(&self) -> Option<AssignmentState> {
        self.open().map(|open| open.state)
    }

    pub(super) fn waits_for_a_need(&self) -> bool {
        self.open().and_then(|open| open.reason).is_some_and(AwaitReason::is_need)
    }
}
