//! Which note the present state of a session calls for.

use super::agent::{AgentState, IdleReason};
use super::state::Session;
use crate::approval::resolution::NeedKind;
use crate::assignment::intent::Intent;
use crate::notify::NoteKind;

impl Session {
    /// `None` for a state that no person is notified about. An interrupt is the person's own doing.
    pub fn note_kind(&self) -> Option<NoteKind> {
        match &self.shown.state {
            AgentState::Blocked(need) => Some(match need.kind {
                NeedKind::Permission => NoteKind::NeedsPermission,
                NeedKind::Question | NeedKind::Plan | NeedKind::Elicitation => NoteKind::Asks,
            }),
            AgentState::Idle(IdleReason::Failed { .. }) => Some(NoteKind::Failed),
            AgentState::Idle(IdleReason::TurnEnded) if self.ended_with_a_question() => Some(NoteKind::Asks),
            AgentState::Idle(
                IdleReason::TurnEnded | IdleReason::EndedAway | IdleReason::StoppedByHook { .. },
            ) => Some(NoteKind::Completed),
            AgentState::Idle(IdleReason::Fresh | IdleReason::Interrupted { .. }) => None,
            AgentState::Working(_) | AgentState::Ended(_) => None,
        }
    }

    /// The transcript is not asked: a note depends on events only.
    fn ended_with_a_question(&self) -> bool {
        self.idle_intent().is_some_and(|found| found.intent == Intent::Question)
    }
}
