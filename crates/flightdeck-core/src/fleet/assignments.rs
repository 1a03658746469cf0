//! Which assignments changed while a session changed.

use super::effects::Effect;
use crate::session::Session;

/// Reports the assignment if it changed since `revision`, and the steps that were refused.
pub(super) fn report_assignment(session: &mut Session, revision: u64, effects: &mut Vec<Effect>) {
    let refused = session.tracker.take_refused();
    effects.extend(refused.into_iter().map(|step| Effect::StepRefused(session.id.clone(), step)));
    if session.tracker.revision() != revision {
        effects
            .extend(session.session_assignment().map(|changed| Effect::AssignmentChanged(Box::new(changed))));
    }
}
