//! Updates what a card shows after an event or a timer.

use super::agent::{Activity, AgentState};
use super::child::Child;
use super::ledger::{Ledger, Need};
use super::shown::{Shown, StateReason, Transition, Trigger};
use super::state::Session;
use super::state_history::StateHistory;
use super::state_name::StateName;
use crate::approval::resolution::NeedKind;
use crate::limits::{DISORDER_MAX, STATE_CHANGES_MAX};
use crate::log::record::Source;
use crate::rules::Rule;
use crate::time::Timestamp;

impl Session {
    /// The most urgent open need of main and subagents, otherwise the state of main.
    fn shown_state(&self) -> AgentState {
        if self.main.state.is_ended() {
            return self.main.state.clone();
        }
        match self.foremost_need() {
            Some(need) => AgentState::Blocked(self.with_its_call(need)),
            None => self.main.state.clone(),
        }
    }

    /// Adds the call to a permission prompt that no hook named, if only one call can have caused it. Without hooks, the calls
    /// that are known may be over.
    fn with_its_call(&self, need: &Need) -> Need {
        let is_unnamed = need.kind == NeedKind::Permission && need.tool.is_none() && !need.of_no_call;
        let ledger = &self.main.ledger;
        let calls_are_known = self.main.hooks_reach_us && self.main.away_since.is_none();
        let is_only_one = calls_are_known && ledger.open_calls() == 1 && !self.has_running_agent();
        let call = ledger.newest_call().filter(|_| is_unnamed && is_only_one && !self.has_begun_its_agent());
        Need { tool: call.or(need.tool.as_ref()).cloned(), ..need.clone() }
    }

    /// Whether an open call started a subagent already. The client does not ask for that call again.
    fn has_begun_its_agent(&self) -> bool {
        let began = |called_at: Timestamp| {
            let is_its = |child: &Child| !child.in_background && called_at <= child.started_at + DISORDER_MAX;
            self.children.values().any(is_its)
        };
        self.main.ledger.agent_calls().any(began)
    }

    /// The most urgent open need of main and subagents.
    pub(super) fn foremost_need(&self) -> Option<&Need> {
        let ledgers = std::iter::once(&self.main.ledger).chain(self.children.values().map(|c| &c.ledger));
        ledgers.filter_map(Ledger::most_urgent).min_by_key(|n| (n.kind, n.opened_at))
    }

    /// Updates the card. `says`: the trigger itself asserts the state that shows, so `since` may move back to it.
    pub(super) fn show(&mut self, trigger: Trigger, says: bool) {
        let state = self.shown_state();
        if self.main.state.is_at_work() {
            self.intent = None;
        }
        if same_to_a_person(&state, &self.shown.state) {
            // The state of main says nothing about the needs of main or a subagent.
            let about_this = says && !state.is_blocked();
            self.shown.state = state;
            if about_this {
                self.confirm(trigger);
            }
            return;
        }
        let because = StateReason { seq: trigger.seq, rule: self.rule_for(&state, trigger.seq) };
        let (from, to) = (StateName::from_state(&self.shown.state), StateName::from_state(&state));
        self.record_step((from, self.shown.since), (to, trigger.at), because);
        // The first event about a session gives its first state: no state was before it.
        let first = self.shown.because == StateReason { seq: trigger.seq, rule: Rule::Created };
        let after = if first { Timestamp::default() } else { self.shown.since };
        self.shown = Shown { state, since: trigger.at, after, source: trigger.source, because };
        self.seen = false;
        // With several processes, `turn_card` decides: the change of one of them may leave the card as it is.
        if self.beside.is_empty() {
            self.parked = None;
        }
        // The client may have written the same earlier, and the entry only had to settle.
        if let Some(view) = self.registry.clone()
            && self.confirms_shown_state(&view)
        {
            self.confirm(Trigger { at: view.status_at, source: Source::Registry, seq: view.seq });
        }
    }

    /// Adds a step to the card's history: a state and when it began, before and now.
    pub(super) fn record_step(
        &mut self,
        (from, since): (StateName, Timestamp),
        (to, at): (StateName, Timestamp),
        because: StateReason,
    ) {
        if self.state_history == StateHistory::default() {
            self.state_history.turn_to(from, since);
        }
        self.state_history.turn_to(to, at);
        if from != to {
            if self.history.len() == STATE_CHANGES_MAX {
                self.history.pop_front();
            }
            self.history.push_back(Transition { at, from, to, because });
        }
    }

    /// Another source reports the same state. The earliest source gives `since`, the most reliable one the reason.
    fn confirm(&mut self, trigger: Trigger) {
        let shown = &mut self.shown;
        if trigger.at < shown.since && trigger.at > shown.after {
            shown.since = trigger.at;
        }
        if trigger.source > shown.source || shown.because.rule == Rule::Created {
            shown.source = shown.source.max(trigger.source);
            shown.because = StateReason { seq: trigger.seq, rule: self.main.rule };
        }
    }

    fn rule_for(&self, state: &AgentState, seq: u64) -> Rule {
        match state {
            AgentState::Blocked(need) => match need.kind {
                _ if need.source == Source::Registry => Rule::RegistryWaiting,
                NeedKind::Permission if need.ask_id.is_none() => Rule::PermissionNotice,
                NeedKind::Permission => Rule::PermissionAsked,
                NeedKind::Question => Rule::QuestionAsked,
                NeedKind::Elicitation => Rule::ElicitationOpened,
                NeedKind::Plan => Rule::PlanReady,
            },
            // Main did not move: only the need was closed.
            _ if self.shown.state.is_blocked() && self.main.moved_by != seq => Rule::NeedClosed,
            _ => self.main.rule,
        }
    }
}

/// Whether two states read the same on a card, so that `since` stays.
pub(super) fn same_to_a_person(a: &AgentState, b: &AgentState) -> bool {
    match (a, b) {
        (AgentState::Working(Activity::Thinking { .. }), AgentState::Working(Activity::Thinking { .. })) => {
            true
        }
        (AgentState::Blocked(a), AgentState::Blocked(b)) => (a.kind, a.opened_at) == (b.kind, b.opened_at),
        _ => a == b,
    }
}
