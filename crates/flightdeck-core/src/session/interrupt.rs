//! The interrupt marker of the transcript: which process and which turn it is about, and what it changes (decision 0016).

use super::agent::{Activity, AgentState, IdleReason};
use super::process::ProcessFacts;
use super::shown::StateReason;
use super::state::Session;
use super::turn::{Turn, TurnOfPrompt};
use crate::approval::ask::Ask;
use crate::approval::resolution::AskOutcome;
use crate::limits::DISORDER_MAX;
use crate::log::event::Event;
use crate::rules::Rule;
use crate::time::Timestamp;

/// Which turn a marker is about. A marker from before its prompt was stored names none.
fn turn_of_marker(turn: &Turn, event: &Event) -> TurnOfPrompt {
    event.facts.prompt_id.as_deref().map_or(TurnOfPrompt::Unknown, |prompt| turn.of_prompt(prompt))
}

/// Whether the ask seemed answered in the terminal just after the marker was written. The registry went from waiting to busy: Esc in
/// the dialog did that, because the client continued with its queue.
fn was_refused_by(ask: &Ask, at: Timestamp) -> bool {
    let answered_at =
        ask.resolution.as_ref().filter(|r| r.how == AskOutcome::AnsweredInTerminal).map(|r| r.at);
    let by_this = |answered: Timestamp| at <= answered && answered <= at + DISORDER_MAX;
    ask.agent_id.is_none() && !ask.taken && ask.opened_at < at && answered_at.is_some_and(by_this)
}

impl ProcessFacts<'_> {
    /// Whether the main agent works while a subagent runs. The client then stays busy when the person interrupts the main agent.
    pub(super) fn works_beside_an_agent(&self) -> bool {
        let works = matches!(&self.main.state, AgentState::Working(what) if !matches!(what, Activity::Background { .. }));
        works && self.children.values().any(|child| child.ended_at.is_none())
    }

    /// Whether the marker ends the running turn: where the registry does not show that, because a subagent keeps the client busy or
    /// because the client continues with its queue. Without a prompt in the marker, its time decides.
    pub(super) fn is_cut_off_by(&self, event: &Event) -> bool {
        let at = event.fired_at;
        let works = self.main.state.is_working() && self.turn.stopped.is_none();
        match turn_of_marker(self.turn, event) {
            TurnOfPrompt::Over => false,
            TurnOfPrompt::Current => works && (self.works_beside_an_agent() || self.goes_on_after(event)),
            TurnOfPrompt::Unknown => {
                let is_nameless =
                    self.turn.unnamed || self.turn.prompt_id.is_none() || self.turn.unheard_since.is_some();
                (event.facts.prompt_id.is_none() || is_nameless)
                    && self.works_beside_an_agent()
                    && (self.turn.queued.is_empty() || self.turn.unnamed)
                    && self.turn.started_at.is_some_and(|began| began < at)
                    && self.main.changed_at <= at
            }
        }
    }

    /// Whether the client continues with its queue after the turn that the marker ends.
    pub(super) fn goes_on_after(&self, event: &Event) -> bool {
        !self.turn.queued.is_empty() || event.facts.next_prompt_id.is_some()
    }

    /// Whether the marker could still say something new about this process.
    pub(super) fn needs_marker(&self, event: &Event) -> bool {
        let unheard = self.main.away_since.is_some()
            || self.turn.hook_stop.is_some()
            || !self.main.hooks_reach_us
            || matches!(self.main.rule, Rule::RegistryIdle | Rule::RegistryIdleAway);
        let may_move = unheard || self.is_cut_off_by(event);
        let is_new = self.turn.interrupted_at < Some(event.fired_at) && !self.main.state.is_ended();
        is_new && (may_move || self.asks.iter().any(|ask| was_refused_by(ask, event.fired_at)))
    }
}

impl Session {
    /// The transcript has an interrupt marker of this process. It confirms: a turn that was taken for ended was interrupted. Where
    /// the registry shows no interruption, it also ends the turn.
    pub(super) fn interrupt_marked(&mut self, event: &Event) {
        let at = event.fired_at;
        for ask in self.asks.iter_mut().filter(|ask| was_refused_by(ask, at)) {
            ask.was_decided_in_terminal(AskOutcome::RefusedInTerminal, at, event.seq);
        }
        let cuts_off = self.facts().is_cut_off_by(event);
        if !cuts_off && self.is_of_the_turn_before(event) {
            return;
        }
        self.turn.interrupted_at = self.turn.interrupted_at.max(Some(at));
        if cuts_off && self.turn.unnamed && event.facts.prompt_id.is_some() {
            let before = self.turn.take_name(event.facts.prompt_id.clone());
            self.turn.end_prompt(before);
        }
        if cuts_off && self.facts().goes_on_after(event) {
            return self.leave_turn_for_queue(event);
        }
        if cuts_off {
            let interrupted = IdleReason::Interrupted { tool: self.main.tool_in_use() };
            return self.end_marked_turn(interrupted, Rule::InterruptMarked, event);
        }
        self.confirm_interrupt(event);
    }

    /// Whether the marker is of a turn that this process has left.
    fn is_of_the_turn_before(&self, event: &Event) -> bool {
        let next = event.facts.next_prompt_id.as_deref();
        let is_over = turn_of_marker(&self.turn, event) == TurnOfPrompt::Over;
        next.is_some_and(|next| self.turn.of_prompt(next) != TurnOfPrompt::Unknown)
            || is_over && (self.turn.unnamed || self.turn.prompt_id != event.facts.prompt_id)
    }

    /// The turn was taken for ended, or for ended by a hook.
    fn confirm_interrupt(&mut self, event: &Event) {
        let taken_for_ended = matches!(
            self.main.rule,
            Rule::RegistryIdle | Rule::RegistryIdleAway | Rule::StoppedByHook | Rule::PromptBlocked
        ) && matches!(
            self.main.state,
            AgentState::Idle(
                IdleReason::TurnEnded | IdleReason::EndedAway | IdleReason::StoppedByHook { .. }
            )
        );
        if taken_for_ended && self.registry.clone().is_some_and(|view| self.is_marked_interrupted(&view)) {
            self.correct_end(IdleReason::Interrupted { tool: None }, Rule::InterruptMarked, event);
        }
    }

    /// Ends the turn of a client that stays busy for a subagent.
    pub(super) fn end_marked_turn(&mut self, reason: IdleReason, rule: Rule, event: &Event) {
        self.end_awaited_agents(event.fired_at);
        self.main.ledger.clear(event.fired_at.max(self.hook_changed_at));
        self.end_turn(event.fired_at);
        self.main.move_to(AgentState::Idle(reason), rule, event.into());
        self.show_after_mark(event);
    }

    /// The person interrupted the turn, and the client goes on with its queue.
    fn leave_turn_for_queue(&mut self, event: &Event) {
        self.begin_queued_turn(event.fired_at);
        if event.facts.next_prompt_id.is_some() {
            self.turn.take_name(event.facts.next_prompt_id.clone());
        }
        self.main.guess(event.into(), Rule::QueueGoesOn);
        self.show_after_mark(event);
    }

    fn show_after_mark(&mut self, event: &Event) {
        let known_by = self.shown.source;
        self.close_asks(AskOutcome::RefusedInTerminal, None, event.into());
        self.show(event.into(), true);
        // Only a session that no other source has reported is known by its transcript.
        self.shown.source = self.shown.source.max(known_by);
    }

    /// The turn has ended, but in another way than it seemed.
    pub(super) fn correct_end(&mut self, reason: IdleReason, rule: Rule, event: &Event) {
        self.main.move_to(AgentState::Idle(reason), rule, event.into());
        self.show(event.into(), true);
        // The registry says idle too, but only the transcript says why.
        self.shown.because = StateReason { seq: event.seq, rule };
    }
}
