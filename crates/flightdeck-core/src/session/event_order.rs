//! Whether an event is too late to move the main agent, or a duplicate.

use super::agent::{Activity, AgentState};
use super::ledger::within_a_moment;
use super::state::Session;
use crate::limits::DISORDER_MAX;
use crate::log::event::{Event, EventKind};
use crate::log::tool::ToolUse;
use crate::rules::Rule;
use crate::time::Timestamp;

/// Facts about the session from before an event is applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) late: bool,
    pub(super) typed_ahead: bool,
}

impl Session {
    /// A main-agent event that fired before the last change moves nothing, but its data counts. Within [`DISORDER_MAX`] the
    /// client's own order counts more than the clocks, because slow hooks read the clock late.
    pub(super) fn is_late(&self, event: &Event) -> bool {
        if event.envelope.clock_back {
            false
        } else if matches!(event.kind, EventKind::SessionEnded { .. }) && event.envelope.has_fired_at {
            // The session's own SessionEnd beats the process table and the registry, however late it arrives.
            event.fired_at < self.began_at
        } else if event.envelope.has_fired_at {
            let before = event.fired_at < self.main.changed_at;
            (before && !self.main.knows_better(event) && !self.is_an_end(event))
                || self.trails_its_turn(event)
        } else {
            self.is_of_an_ended_turn(event)
        }
    }

    /// For events without a clock: a tool event after its turn's end, or any event of a turn that another turn followed.
    pub(super) fn is_of_an_ended_turn(&self, event: &Event) -> bool {
        use EventKind as K;
        let prompt = event.facts.prompt_id.as_deref();
        let followed = prompt != self.turn.prompt_id.as_deref();
        self.turn.has_ended(prompt)
            && match event.kind {
                K::ToolStarted(_) | K::ToolEnded { .. } | K::BatchEnded(_) | K::PermissionAsked(_) => true,
                K::SessionStarted { .. } | K::SessionEnded { .. } => false,
                _ => followed,
            }
    }

    /// Hooks registered both for the user and for a project report each prompt twice, with two event ids.
    pub(super) fn is_told_twice(&self, event: &Event) -> bool {
        let EventKind::Prompted { text, .. } = &event.kind else { return false };
        match &event.facts.prompt_id {
            Some(id) => self.turn.prompt_id.as_ref() == Some(id) || self.turn.has_ended(Some(id)),
            // A person does not submit the same prompt twice within a moment.
            None => {
                self.last_user_message.as_ref() == Some(text)
                    && self.turn.started_at.is_some_and(|at| within_a_moment(at, event.fired_at))
            }
        }
    }

    /// A call or an awaited subagent runs and no need is open: a prompt submitted now is typed ahead.
    pub(super) fn is_using_a_tool(&self) -> bool {
        let runs = match self.main.state {
            AgentState::Working(Activity::Tool { .. }) => true,
            AgentState::Working(Activity::Delegating { .. }) => self.main.ledger.has_open_call(),
            _ => false,
        };
        runs && self.foremost_need().is_none()
    }
}

/// Where the client's own order counts more than the clock (decision 0013). The hook of a call is a process of its own.
/// The client does not wait for it, and it reads the clock a moment after the call: by then the turn may be over.
impl Session {
    /// Whether the client wrote this after the calls that last changed the state, although their hooks have later times.
    pub(super) fn is_trailed_by_a_call(&self, said_at: Timestamp) -> bool {
        let by_a_call = matches!(
            self.main.rule,
            Rule::ToolStarted
                | Rule::PermissionAsked
                | Rule::ToolEnded
                | Rule::OtherToolRuns
                | Rule::SubagentStarted
                | Rule::SubagentStopped
                | Rule::LastSubagentStopped
        );
        by_a_call && self.is_of_this_turn_and_moment(said_at)
    }

    /// Within this turn, and at most a moment before the last hook that changed something.
    pub(super) fn is_of_this_turn_and_moment(&self, said_at: Timestamp) -> bool {
        self.turn.started_at.is_some_and(|began| began < said_at)
            && self.hook_changed_at <= said_at + DISORDER_MAX
    }

    /// Whether the event ends something that is open. An end follows what it ends, even if the clocks disagree by a moment.
    pub(super) fn is_an_end(&self, event: &Event) -> bool {
        let open = |tool: &ToolUse| event.agent_id.is_none() && self.main.ledger.is_open(tool);
        let ends = match &event.kind {
            EventKind::ToolEnded { tool, .. } => open(tool),
            EventKind::BatchEnded(calls) => calls.iter().any(open),
            EventKind::Stopped { .. } | EventKind::StopFailed { .. } => {
                self.is_end_of_this_turn(event.fired_at)
            }
            _ => false,
        };
        ends && self.main.changed_at <= event.fired_at + DISORDER_MAX
    }

    /// Whether a Stop at this time ends the current turn: it follows the turn's calls, however late their hooks read the
    /// clock. An Esc fires no Stop, so a state taken for an Esc was this Stop.
    fn is_end_of_this_turn(&self, at: Timestamp) -> bool {
        match self.main.rule {
            Rule::ToolStarted => !self.main.ledger.has_open_call() && self.is_trailed_by_a_call(at),
            Rule::RegistryInterrupted => self.turn.started_at.is_some_and(|began| began < at),
            _ => self.is_trailed_by_a_call(at),
        }
    }

    /// A call reported after the end of its turn. After a Stop a new call may begin, because a Stop hook of the person may send
    /// Claude on. After an Esc no call begins without a prompt, which may still be on its way: such a call is of the next turn.
    pub(super) fn trails_its_turn(&self, event: &Event) -> bool {
        use EventKind as K;
        let of_an_ended_turn = match &event.kind {
            K::ToolEnded { .. } | K::BatchEnded(_) => matches!(
                self.main.rule,
                Rule::RegistryInterrupted | Rule::Stopped | Rule::StoppedWithAgents | Rule::StopFailed
            ),
            K::ToolStarted(_) | K::PermissionAsked(_) => {
                let prompt = event.facts.prompt_id.as_deref();
                self.main.rule == Rule::RegistryInterrupted
                    && (prompt.is_none() || self.turn.has_ended(prompt))
            }
            _ => false,
        };
        of_an_ended_turn
            && event.envelope.has_fired_at
            && event.agent_id.is_none()
            && event.fired_at <= self.main.changed_at + DISORDER_MAX
    }
}
