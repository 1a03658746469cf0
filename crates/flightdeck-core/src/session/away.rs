//! Turns whose end no hook could report, because Flightdeck's hooks were not registered.

use super::agent::{Activity, AgentState, IdleReason};
use super::child::newest_running;
use super::process::{Process, is_in_a_turn};
use super::registry_view::RegistryView;
use super::shown::StateReason;
use super::state::Session;
use crate::approval::resolution::AskOutcome;
use crate::limits::HOOKS_RELOAD_MAX;
use crate::log::event::Event;
use crate::log::record::Source;
use crate::rules::Rule;
use crate::time::Timestamp;

impl Session {
    /// Whether the shown process works, or waits for the person during work.
    fn is_in_a_turn(&self) -> bool {
        is_in_a_turn(&self.main, &self.children)
    }

    /// Whether any of its processes is in a turn.
    pub(crate) fn has_a_turn(&self) -> bool {
        self.is_in_a_turn() || self.beside.iter().any(Process::is_in_a_turn)
    }

    /// The hooks disappeared: the end of each turn that runs now may not be reported, in whichever process it runs.
    pub(crate) fn hooks_left(&mut self, since: Timestamp) {
        if self.is_in_a_turn() {
            self.main.away_since.get_or_insert(since);
        }
        for process in self.beside.iter_mut().filter(|process| process.is_in_a_turn()) {
            process.main.away_since.get_or_insert(since);
        }
    }

    /// A hook arrived although the settings no longer contain ours. Soon after the removal, the client has not reread its
    /// settings. Later, a project registers our hooks too, and its sessions report every turn.
    pub(crate) fn hook_arrived_while_away(&mut self, since: Timestamp, at: Timestamp) {
        if at <= since + HOOKS_RELOAD_MAX {
            self.hooks_left(since);
        }
    }

    /// A hook about the turn that fired well after the hooks went shows that they are back.
    pub(super) fn hooks_are_back(&mut self, event: &Event) {
        if event.source == Source::Hook
            && event.agent_id.is_none()
            && event.kind.is_about_state()
            && self.main.away_since.is_some_and(|since| event.fired_at > since + HOOKS_RELOAD_MAX)
        {
            self.main.away_since = None;
        }
    }

    /// Whether this turn may have ended without a report. An interrupt marker in the transcript says how it ended.
    pub(super) fn may_have_ended_unreported(&self, view: &RegistryView) -> bool {
        self.main.away_since.is_some() && !self.is_marked_interrupted(view)
    }

    /// The transcript has an interrupt marker from after the turn began, and the turn did not end by itself.
    pub(super) fn is_marked_interrupted(&self, view: &RegistryView) -> bool {
        let began = view.busy_at.max(self.turn.started_at.unwrap_or_default());
        // An Esc while a Stop hook of the person runs is marked too: that turn has ended.
        self.turn.stopped.is_none()
            && began > Timestamp::default()
            && self.turn.interrupted_at.is_some_and(|at| at > began)
            && self.turn.hook_stop.is_none_or(|stop| Some(stop.at) < self.turn.interrupted_at)
    }

    /// How an ask ended that a registry entry closed: "closed while away" if our hooks were away in this turn, otherwise `how`.
    pub(super) fn outcome_unless_away(&self, how: AskOutcome) -> AskOutcome {
        if self.main.away_since.is_some() { AskOutcome::ClosedWhileAway } else { how }
    }

    /// Whether a marker of this time ends the turn. While a subagent runs in the background the client stays busy, and so its registry
    /// does not show that the person interrupted the main agent. A hook from after the marker is of work that goes on.
    fn is_interrupted_beside_an_agent(&self, at: Timestamp) -> bool {
        // A marker does not name its process.
        self.beside.is_empty()
            && self.works_beside_an_agent()
            && self.turn.queued.is_empty()
            && self.turn.started_at.is_some_and(|began| began < at)
            && self.main.changed_at <= at
    }

    pub(super) fn works_beside_an_agent(&self) -> bool {
        let works = matches!(&self.main.state, AgentState::Working(what) if !matches!(what, Activity::Background { .. }));
        works && newest_running(&self.children).is_some()
    }

    /// Ends the turn of a client that stays busy for a subagent.
    pub(super) fn end_marked_turn(&mut self, reason: IdleReason, rule: Rule, event: &Event) {
        let known_by = self.shown.source;
        self.main.ledger.clear(event.fired_at.max(self.hook_changed_at));
        self.end_turn(event.fired_at);
        self.main.move_to(AgentState::Idle(reason), rule, event.into());
        self.close_asks(AskOutcome::RefusedInTerminal, None, event.into());
        self.show(event.into(), true);
        // Only a session that no other source has reported is known by its transcript.
        self.shown.source = self.shown.source.max(known_by);
    }

    /// The transcript has an interrupt marker. It confirms: a turn that was taken for ended was interrupted. Beside a background agent
    /// it also ends the turn.
    pub(super) fn interrupt_marked(&mut self, event: &Event) {
        self.turn.interrupted_at = self.turn.interrupted_at.max(Some(event.fired_at));
        if self.is_interrupted_beside_an_agent(event.fired_at) {
            let interrupted = IdleReason::Interrupted { tool: self.main.tool_in_use() };
            return self.end_marked_turn(interrupted, Rule::InterruptMarked, event);
        }
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

    /// The turn has ended, but in another way than it seemed.
    pub(super) fn correct_end(&mut self, reason: IdleReason, rule: Rule, event: &Event) {
        self.main.move_to(AgentState::Idle(reason), rule, event.into());
        self.show(event.into(), true);
        // The registry says idle too, but only the transcript says why.
        self.shown.because = StateReason { seq: event.seq, rule };
    }

    /// Whether an interrupt marker could still say something new.
    pub(super) fn needs_interrupt_marker(&self, at: Timestamp) -> bool {
        let unreported = self.main.away_since.is_some()
            || self.turn.hook_stop.is_some()
            || !self.main.hooks_reach_us
            || matches!(self.main.rule, Rule::RegistryIdle | Rule::RegistryIdleAway);
        (unreported || self.works_beside_an_agent())
            && self.turn.interrupted_at < Some(at)
            && !self.main.state.is_ended()
    }
}
