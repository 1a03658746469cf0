//! The assignment of every captured session is consistent after each event and each timer.

use std::collections::BTreeMap;

use flightdeck_core::assignment::Assignment;
use flightdeck_core::assignment::transition::AssignmentState;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::{AssignmentId, SessionId};
use flightdeck_core::session::Session;
use flightdeck_core::session::agent::{Activity, AgentState, IdleReason};
use flightdeck_sim::corpus::scenarios;

use crate::corpus::replay;

/// Whether its spans follow each other and end before the running one.
fn are_in_order(assignment: &Assignment) -> bool {
    let times = assignment.spans.iter().flat_map(|span| [span.from, span.to]);
    let times: Vec<_> = [assignment.opened_at].into_iter().chain(times).chain([assignment.since]).collect();
    times.is_sorted()
}

/// Whether the state of the assignment fits what the session is in.
fn fits(session: &Session, assignment: &Assignment) -> Result<(), String> {
    let (state, reason) = (assignment.state, assignment.reason);
    let fits = match &session.shown.state {
        _ if state == AssignmentState::Complete => {
            assignment.outcome.is_some() && assignment.completed_at.is_some() && reason.is_none()
        }
        AgentState::Ended(_) => false,
        AgentState::Blocked(_) => reason.is_some_and(|reason| reason.is_need()),
        AgentState::Working(Activity::Compacting) => true,
        // A notice of the client may wake a session that still waits for an answer in its text.
        AgentState::Working(_) => reason.is_none_or(|reason| !reason.is_need()),
        AgentState::Idle(IdleReason::Fresh) => !session.beside.is_empty(),
        AgentState::Idle(_) => reason.is_some_and(|reason| !reason.is_need()),
    };
    let awaits = (state == AssignmentState::AwaitingInput) == reason.is_some();
    let times = assignment.opened_at <= assignment.since && are_in_order(assignment);
    match fits && awaits && times && state != AssignmentState::Idle {
        true => Ok(()),
        false => Err(format!("{:?} does not fit {assignment:#?}", session.shown.state)),
    }
}

#[derive(Default)]
struct Watch {
    completed: BTreeMap<AssignmentId, Assignment>,
    newest: BTreeMap<SessionId, AssignmentId>,
    seen: usize,
}

impl Watch {
    fn look(&mut self, fleet: &Fleet) -> Result<(), String> {
        for session in fleet.sessions() {
            let Some(assignment) = session.assignment() else { continue };
            fits(session, assignment)?;
            if let Some(done) = self.completed.get(&assignment.id)
                && done != assignment
            {
                return Err(format!("a complete assignment changed: {done:#?} to {assignment:#?}"));
            }
            let before = self.newest.insert(session.id.clone(), assignment.id.clone());
            if let Some(before) = before.filter(|before| *before != assignment.id)
                && !self.completed.contains_key(&before)
            {
                return Err(format!("{before} was left open for {}", assignment.id));
            }
            if assignment.state == AssignmentState::Complete {
                self.completed.insert(assignment.id.clone(), assignment.clone());
            }
            self.seen += 1;
        }
        Ok(())
    }
}

#[test]
fn the_assignment_of_every_captured_session_fits_its_state() {
    let mut all = 0;
    for scenario in scenarios() {
        let mut watch = Watch::default();
        replay(&scenario, |fleet, t_ms, what| {
            if let Err(why) = watch.look(fleet) {
                panic!("{} after {what} at {t_ms}: {why}", scenario.name);
            }
        });
        all += watch.seen;
    }
    assert!(all > 1000, "only {all} assignments were looked at");
}
