//! Ends of a session that none of its own hooks reported.

use super::agent::AgentState;
use super::shown::Trigger;
use super::state::Session;
use crate::approval::resolution::AskOutcome;
use crate::log::event::{Background, EndReason, Event};
use crate::rules::Rule;
use crate::time::Timestamp;

impl Session {
    pub(super) fn end_children(&mut self, at: Timestamp) {
        self.children.values_mut().filter(|c| c.ended_at.is_none()).for_each(|c| c.end(at));
    }

    /// Ends the session for a reason that none of its own hooks reported.
    pub(crate) fn end(&mut self, reason: EndReason, rule: Rule, trigger: Trigger) {
        self.main.ledger.clear(trigger.at);
        self.end_children(trigger.at);
        self.end_turn(trigger.at);
        self.main.move_to(AgentState::Ended(reason), rule, trigger);
        self.ended_at = Some(trigger.at);
        self.background = Background::default();
        self.close_asks(AskOutcome::SessionEnded, None, trigger);
        self.show(trigger, true);
    }

    pub(super) fn process_gone(&mut self, pid: u32, proc_start: Option<&str>, event: &Event) -> bool {
        let same_start = match (proc_start, self.seat.proc_start.as_deref()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        // The exit of a process that the session has left changes nothing.
        if self.seat.pid == Some(pid)
            && self.seat.host == event.host
            && same_start
            && !self.main.state.is_ended()
        {
            self.end(EndReason::ProcessDied, Rule::ProcessDied, event.into());
            self.client_died(event.fired_at);
        }
        false
    }
}
