//! Whether an event is too late to move the main agent, or a duplicate.

use super::agent::{Activity, AgentState};
use super::state::Session;
use super::turn::TurnOfPrompt;
use crate::limits::{DISORDER_MAX, TWIN_HOOKS_MAX};
use crate::log::event::{Event, EventKind, Notice, Prompter};
use crate::log::record::Source;
use crate::log::tool::ToolUse;
use crate::rules::Rule;
use crate::time::Timestamp;

/// How an event stands in the order of its session. Determined before the event is applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventOrder {
    /// The event fired before the last change of state.
    pub(super) late: bool,
    /// The event is a prompt that the person typed while a turn was running.
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
            (before && !self.main.has_detail_for(event) && !self.is_an_end(event))
                || self.trails_its_turn(event)
                || self.is_notice_of_the_pause_before(event)
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

    /// Hooks registered both for the user and for a project report each prompt twice, with two event ids. A prompt typed ahead
    /// has the id of the running turn, so an equal id alone is no repetition; the same text within a moment is.
    pub(super) fn is_repeated_prompt(&self, event: &Event) -> bool {
        let EventKind::Prompted { text, by } = &event.kind else { return false };
        let id = event.facts.prompt_id.as_deref();
        if *by == Prompter::Client {
            return id.is_some() && (self.turn.prompt_id.as_deref() == id || self.turn.has_ended(id));
        }
        let again = match id {
            Some(_) => TWIN_HOOKS_MAX,
            None => DISORDER_MAX,
        };
        self.last_user_message.as_ref() == Some(text)
            && (id.is_none() || self.turn.prompt_id.as_deref() == id || self.turn.has_ended(id))
            && self.turn.started_at.is_some_and(|at| (at - event.fired_at).0.abs() <= again.0)
    }

    /// A prompt submitted while the turn runs: the client queues it. Such a prompt has the id of the running turn; without an
    /// id, it is typed ahead if a call runs. It may be the first event that names a turn which began from the queue.
    pub(super) fn is_typed_ahead(&self, event: &Event) -> bool {
        let of_this_turn = event.facts.prompt_id.as_deref().is_some_and(|id| match self.turn.of_prompt(id) {
            TurnOfPrompt::Current => self.turn.prompt_id.as_deref() == Some(id),
            TurnOfPrompt::Unknown => self.turn.unnamed,
            TurnOfPrompt::Over => false,
        });
        (of_this_turn && self.main.state.is_working()) || self.is_using_a_tool()
    }

    /// Begins a new turn at its first event, if no prompt hook announced it. After an Esc the client continues with its queue and no
    /// hook reports that, so the calls of the old turn are over. Returns whether the old turn was cut off.
    pub(super) fn leave_the_turn_before(&mut self, event: &Event) -> bool {
        let of_another = self.turn.is_another(event.facts.prompt_id.as_deref());
        let is_main = event.source == Source::Hook && event.agent_id.is_none();
        if !is_main || !is_sign_of_work(&event.kind) || !of_another {
            return false;
        }
        let cut_off = self.main.state.is_working() && !self.turn.unnamed;
        if self.main.state.is_working() {
            self.begin_queued_turn(event.fired_at);
            if matches!(event.kind, EventKind::ToolStarted(_) | EventKind::PermissionAsked(_)) {
                // A registry entry that is older than this event is about the previous turn.
                self.turn.started_at = self.turn.started_at.max(Some(event.fired_at));
            }
        }
        let old = self.turn.take_name(event.facts.prompt_id.clone());
        self.turn.end_prompt(old);
        self.turn.first_prompt_id = None;
        cut_off
    }

    /// Whether a call that has the prompt id of a turn that seemed to have ended made the main agent work again. A Stop hook of the
    /// person sent Claude on, or the person refused a request and said what to do instead.
    pub(super) fn goes_on_with(&self, event: &Event) -> bool {
        use EventKind as K;
        matches!(
            event.kind,
            K::ToolStarted(_) | K::PermissionAsked(_) | K::ToolEnded { .. } | K::BatchEnded(_)
        ) && event.agent_id.is_none()
            && self.main.moved_by == event.seq
            && self.main.state.is_working()
    }

    /// The turn of this event, which seemed to have ended, goes on.
    pub(super) fn reopen_turn(&mut self, event: &Event) {
        let Some(prompt) = event.facts.prompt_id.as_deref() else { return };
        if self.turn.prompt_id.as_deref() == Some(prompt) && self.turn.has_ended(Some(prompt)) {
            self.turn.reopen(prompt);
        }
    }

    /// Begins the turn of the queued prompts, after the old turn was interrupted. Nothing of the old turn stays open.
    pub(super) fn begin_queued_turn(&mut self, at: Timestamp) {
        self.end_awaited_agents(at);
        self.main.ledger.clear(self.hook_changed_at);
        self.turn.begin_from_queue(at);
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

/// Whether an event of this kind shows that the main agent works on a turn, or has ended one.
pub(super) fn is_sign_of_work(kind: &EventKind) -> bool {
    use EventKind as K;
    matches!(
        kind,
        K::ToolStarted(_)
            | K::PermissionAsked(_)
            | K::ToolEnded { .. }
            | K::BatchEnded(_)
            | K::Stopped { .. }
            | K::StopFailed { .. }
    )
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

    /// Whether a Stop at this time ends the current turn. It does if it follows the calls of the turn, even if their hooks have
    /// later timestamps. An Esc fires no Stop, so if the state counts as interrupted, this Stop was the reason.
    fn is_end_of_this_turn(&self, at: Timestamp) -> bool {
        match self.main.rule {
            Rule::ToolStarted => !self.main.ledger.has_open_call() && self.is_trailed_by_a_call(at),
            Rule::RegistryInterrupted | Rule::StoppedByHook | Rule::PromptBlocked => {
                self.turn.started_at.is_some_and(|began| began < at)
            }
            _ => self.is_trailed_by_a_call(at),
        }
    }

    /// Whether the turn ended without a Stop, so that a call can begin only with another prompt. After a refusal in the terminal the
    /// turn may go on: the person may have said what to do instead.
    fn was_cut_off(&self) -> bool {
        matches!(
            self.main.rule,
            Rule::RegistryInterrupted
                | Rule::RefusedHere
                | Rule::RegistryIdle
                | Rule::RegistryIdleAway
                | Rule::StoppedByHook
                | Rule::PromptBlocked
        )
    }

    /// Whether the client goes on with its queue, and no hook of that turn was heard yet.
    fn went_on_with_queue(&self) -> bool {
        matches!(self.main.rule, Rule::QueueGoesOn | Rule::RegistryNextTurn)
    }

    /// Whether the event is the notice about the pause before this turn, which the client sends a minute after a turn has ended.
    pub(super) fn is_notice_of_the_pause_before(&self, event: &Event) -> bool {
        event.kind == EventKind::Notified(Notice::IdlePrompt)
            && event.envelope.has_fired_at
            && self.turn.started_at.is_some_and(|began| event.fired_at < began + DISORDER_MAX)
    }

    /// Whether the event reports a call after the end of its turn. After a Stop a new call may begin, because a Stop hook of the
    /// person may make Claude continue. After an Esc a call begins only with a prompt, whose event may not have arrived yet: such a
    /// call belongs to the next turn.
    pub(super) fn trails_its_turn(&self, event: &Event) -> bool {
        use EventKind as K;
        let prompt = event.facts.prompt_id.as_deref();
        let of_an_ended_turn = match &event.kind {
            K::ToolEnded { .. } | K::BatchEnded(_) | K::ToolStarted(_) | K::PermissionAsked(_)
                if self.went_on_with_queue() =>
            {
                self.turn.has_ended(prompt)
            }
            // The client reports no batch after an Esc in a dialog. If one comes, the person has said what to do instead.
            K::BatchEnded(_) if self.main.rule == Rule::RefusedInTerminal => false,
            K::ToolEnded { .. } | K::BatchEnded(_) => {
                self.was_cut_off()
                    || matches!(
                        self.main.rule,
                        Rule::RefusedInTerminal | Rule::Stopped | Rule::StoppedWithAgents | Rule::StopFailed
                    )
            }
            K::ToolStarted(_) | K::PermissionAsked(_) => {
                self.was_cut_off() && (prompt.is_none() || self.turn.has_ended(prompt))
            }
            _ => false,
        };
        of_an_ended_turn
            && event.envelope.has_fired_at
            && event.agent_id.is_none()
            && event.fired_at <= self.main.changed_at + DISORDER_MAX
    }
}
