//! A turn: from a prompt to its stop, and which turns are over.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Session;
use crate::agent::IdleReason;
use crate::event::{Event, EventKind};
use crate::limits::{DISORDER_MAX, ENDED_TURNS_MAX};
use crate::rules::Rule;
use crate::time::{Millis, Timestamp};
use crate::tool::ToolUse;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub count: u32,
    pub started_at: Option<Timestamp>,
    /// It runs: its time is not frozen yet.
    pub open: bool,
    /// Frozen when the turn ends.
    pub last: Option<Millis>,
    pub prompt_id: Option<String>,
    /// How the turn ended, if its own hook said so.
    pub stopped: Option<IdleReason>,
    /// Turns that are over, for events that bring no clock of their own.
    pub ended_prompts: VecDeque<String>,
}

impl Turn {
    pub(super) fn end_prompt(&mut self, prompt: Option<String>) {
        let Some(prompt) = prompt else { return };
        if self.ended_prompts.contains(&prompt) {
            return;
        }
        if self.ended_prompts.len() == ENDED_TURNS_MAX {
            self.ended_prompts.pop_front();
        }
        self.ended_prompts.push_back(prompt);
    }

    pub(super) fn has_ended(&self, prompt: Option<&str>) -> bool {
        prompt.is_some_and(|p| self.ended_prompts.iter().any(|e| e == p))
    }
}

/// Where the clock gives way to the order of the client itself (decision 0013). The hook of a call is a process of its own,
/// nobody waits for it, and it looks at the clock a moment after the call: by then the turn may be over.
impl Session {
    /// What the client said at that time, it said after the calls that changed the state last.
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

    /// Said in this turn, and a moment before the last hook that changed something at most.
    pub(super) fn is_of_this_turn_and_moment(&self, said_at: Timestamp) -> bool {
        self.turn.started_at.is_some_and(|began| began < said_at)
            && self.hook_changed_at <= said_at + DISORDER_MAX
    }

    /// What ends something comes after it, within a moment of what the clocks say.
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

    /// The turn's own end: told of after its calls, however late those looked at the clock. An Esc fires none, so what
    /// looked like one was it.
    fn is_end_of_this_turn(&self, at: Timestamp) -> bool {
        match self.main.rule {
            Rule::ToolStarted => !self.main.ledger.has_open_call() && self.is_trailed_by_a_call(at),
            Rule::RegistryInterrupted => self.turn.started_at.is_some_and(|began| began < at),
            _ => self.is_trailed_by_a_call(at),
        }
    }

    /// A call, heard of only after the end of its turn. After a Stop a new one may begin: a Stop hook of the person's own
    /// sends Claude on. After an Esc none does without a prompt, and that may be on its way: then it is not of this turn.
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
