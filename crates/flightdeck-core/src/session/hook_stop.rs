//! Turns that a hook of the person ended, and prompts that one blocked. The client then fires no Stop; only the transcript tells
//! such an end from an interrupt (decision 0033).

use super::agent::{AgentState, IdleReason};
use super::state::Session;
use super::turn::{HookStop, Turn};
use crate::limits::DISORDER_MAX;
use crate::log::event::Event;
use crate::log::from_transcript::TurnMark;
use crate::rules::Rule;
use crate::time::{Millis, Timestamp};

impl HookStop {
    /// `None` if the line is about an interrupt.
    pub(super) fn from_mark(mark: TurnMark, at: Timestamp) -> Option<Self> {
        match mark {
            TurnMark::Interrupted => None,
            TurnMark::StoppedByHook => Some(Self { at, blocked_prompt: false }),
            TurnMark::PromptBlocked => Some(Self { at, blocked_prompt: true }),
        }
    }

    /// Whether the line is from before a turn. If another hook blocks the prompt, the client does not wait for ours, which may
    /// then read the clock after the line was written.
    fn is_before(self, began: Timestamp) -> bool {
        let late = if self.blocked_prompt { DISORDER_MAX } else { Millis(0) };
        self.at + late <= began
    }
}

impl Turn {
    /// Whether the line can be about this turn.
    pub(super) fn may_end_by(&self, stop: HookStop) -> bool {
        let began = self.started_at.max(self.unheard_since).max(self.woken_at);
        self.stopped.is_none() && began.is_some_and(|began| !stop.is_before(began))
    }

    /// How the turn ended if a hook of the person stopped it, and the person did not interrupt it after that.
    pub(super) fn stopped_by_hook(&self) -> Option<IdleReason> {
        let stop = self.hook_stop?;
        let interrupted_later = self.interrupted_at.is_some_and(|interrupted| interrupted > stop.at);
        let reason = IdleReason::StoppedByHook { blocked_prompt: stop.blocked_prompt };
        (self.may_end_by(stop) && !interrupted_later).then_some(reason)
    }
}

impl Session {
    /// The transcript has a line about the end of a turn of this process.
    pub(super) fn turn_marked(&mut self, mark: TurnMark, event: &Event) {
        match HookStop::from_mark(mark, event.fired_at) {
            None => self.interrupt_marked(event),
            Some(stop) => self.hook_stopped(stop, event),
        }
    }

    fn hook_stopped(&mut self, stop: HookStop, event: &Event) {
        if self.turn.hook_stop.is_none_or(|last| last.at <= stop.at) {
            self.turn.hook_stop = Some(stop);
        }
        let Some(reason) = self.turn.stopped_by_hook() else { return };
        if self.is_stopped_beside_an_agent(event.fired_at) {
            self.end_marked_turn(reason.clone(), rule_of_hook_stop(&reason), event);
        } else if self.seems_to_have_ended() {
            self.correct_end(reason.clone(), rule_of_hook_stop(&reason), event);
        }
    }

    /// While a subagent runs in the background the client stays busy, and its registry does not show the end of the turn.
    fn is_stopped_beside_an_agent(&self, at: Timestamp) -> bool {
        // With several processes, the subagent may be of another one.
        self.beside.is_empty()
            && self.facts().works_beside_an_agent()
            && !self.main.ledger.has_open_call()
            && self.turn.queued.is_empty()
            && self.main.changed_at <= at + DISORDER_MAX
    }

    /// The registry said that the turn was over, and no hook said how.
    fn seems_to_have_ended(&self) -> bool {
        matches!(self.main.rule, Rule::RegistryInterrupted | Rule::RegistryIdle | Rule::RegistryIdleAway)
            && matches!(
                self.main.state,
                AgentState::Idle(
                    IdleReason::Interrupted { .. } | IdleReason::TurnEnded | IdleReason::EndedAway
                )
            )
    }

    /// Whether a line of the transcript about the end of a turn could still say something new.
    pub(crate) fn needs_turn_mark(&self, mark: TurnMark, event: &Event) -> bool {
        let Some(new) = HookStop::from_mark(mark, event.fired_at) else { return self.needs_marker(event) };
        let turns = || std::iter::once(&self.turn).chain(self.beside.iter().map(|process| &process.turn));
        let is_known = turns().any(|turn| turn.hook_stop.is_some_and(|stop| stop.at >= new.at));
        // The hook of a blocked prompt may arrive after the line about it. A Stop that was heard says more than such a line.
        let may_be_news = |turn: &Turn| match new.blocked_prompt {
            true => turn.started_at.is_none_or(|began| !new.is_before(began)),
            false => turn.may_end_by(new),
        };
        !is_known && turns().any(may_be_news) && !self.main.state.is_ended()
    }
}

/// The rule behind such an end.
pub(super) fn rule_of_hook_stop(reason: &IdleReason) -> Rule {
    match reason {
        IdleReason::StoppedByHook { blocked_prompt: true } => Rule::PromptBlocked,
        _ => Rule::StoppedByHook,
    }
}
