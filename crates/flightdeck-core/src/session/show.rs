//! What the card shows, since when, and why.

use serde::{Deserialize, Serialize};

use super::Session;
use crate::agent::{Activity, AgentState};
use crate::event::Event;
use crate::ledger::{Ledger, Need, NeedKind};
use crate::lens::StateName;
use crate::limits::HISTORY_MAX;
use crate::record::Source;
use crate::rules::Rule;
use crate::strip::Strip;
use crate::time::Timestamp;

/// What the card shows, since when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub state: AgentState,
    pub since: Timestamp,
    /// When the state before it began: a word from before that is about another state.
    pub after: Timestamp,
    pub source: Source,
    pub because: Because,
}

/// What makes a session move: an event, or a word of the registry that has settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    pub(crate) at: Timestamp,
    pub(crate) source: Source,
    pub(crate) seq: u64,
}

impl From<&Event> for Cause {
    fn from(event: &Event) -> Self {
        Self { at: event.fired_at, source: event.source, seq: event.seq }
    }
}

/// The event and rule behind a state. `seq` is zero where a timer did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Because {
    pub seq: u64,
    pub rule: Rule,
}

/// In a snapshot without the names of its fields: a large fleet has hundreds of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FlatTransition", into = "FlatTransition")]
pub struct Transition {
    pub at: Timestamp,
    pub from: StateName,
    pub to: StateName,
    pub because: Because,
}

type FlatTransition = (Timestamp, StateName, StateName, u64, Rule);

impl From<FlatTransition> for Transition {
    fn from((at, from, to, seq, rule): FlatTransition) -> Self {
        Self { at, from, to, because: Because { seq, rule } }
    }
}

impl From<Transition> for FlatTransition {
    fn from(step: Transition) -> Self {
        (step.at, step.from, step.to, step.because.seq, step.because.rule)
    }
}

impl Session {
    /// The most urgent open need of main and children, else what main does.
    fn shown_state(&self) -> AgentState {
        if self.main.state.is_ended() {
            return self.main.state.clone();
        }
        match self.foremost_need() {
            Some(need) => AgentState::Blocked(need.clone()),
            None => self.main.state.clone(),
        }
    }

    /// The most urgent open need of main and children.
    pub(super) fn foremost_need(&self) -> Option<&Need> {
        let ledgers = std::iter::once(&self.main.ledger).chain(self.children.values().map(|c| &c.ledger));
        ledgers.filter_map(Ledger::foremost).min_by_key(|n| (n.kind, n.opened_at))
    }

    /// Brings the card up to date. `says`: the cause itself asserts the state that shows, so "since" may reach back to it.
    pub(super) fn show(&mut self, cause: Cause, says: bool) {
        let state = self.shown_state();
        if same_to_a_person(&state, &self.shown.state) {
            // What main does says nothing about what it or a child waits for.
            let about_this = says && !state.is_blocked();
            self.shown.state = state;
            if about_this {
                self.confirm(cause);
            }
            return;
        }
        let because = Because { seq: cause.seq, rule: self.rule_for(&state, cause.seq) };
        let (from, to) = (StateName::of(&self.shown.state), StateName::of(&state));
        if self.strip == Strip::default() {
            self.strip.turn_to(from, self.shown.since);
        }
        self.strip.turn_to(to, cause.at);
        if from != to {
            if self.history.len() == HISTORY_MAX {
                self.history.pop_front();
            }
            self.history.push_back(Transition { at: cause.at, from, to, because });
        }
        // What the first word about a session says is its first state: nothing came before it.
        let first = self.shown.because == Because { seq: cause.seq, rule: Rule::Created };
        let after = if first { Timestamp::default() } else { self.shown.since };
        self.shown = Shown { state, since: cause.at, after, source: cause.source, because };
        self.seen = false;
        // The client may have said it first, and only waited to be believed.
        if let Some(view) = self.registry.clone()
            && self.says_the_same(&view)
        {
            self.confirm(Cause { at: view.status_at, source: Source::Registry, seq: view.seq });
        }
    }

    /// Another source says the same. Whoever was first tells since when, whoever is surest gives the reason.
    fn confirm(&mut self, cause: Cause) {
        let shown = &mut self.shown;
        if cause.at < shown.since && cause.at > shown.after {
            shown.since = cause.at;
        }
        if cause.source > shown.source || shown.because.rule == Rule::Created {
            shown.source = shown.source.max(cause.source);
            shown.because = Because { seq: cause.seq, rule: self.main.rule };
        }
    }

    fn rule_for(&self, state: &AgentState, seq: u64) -> Rule {
        match state {
            AgentState::Blocked(need) => match need.kind {
                _ if need.source == Source::Registry => Rule::RegistryWaiting,
                NeedKind::Permission if need.tool.is_none() => Rule::PermissionNotice,
                NeedKind::Permission => Rule::PermissionAsked,
                NeedKind::Question => Rule::QuestionAsked,
                NeedKind::Elicitation => Rule::ElicitationOpened,
                NeedKind::Plan => Rule::PlanReady,
            },
            // Main did not move: only the need went.
            _ if self.shown.state.is_blocked() && self.main.moved_by != seq => Rule::NeedClosed,
            _ => self.main.rule,
        }
    }
}

/// Whether two states read the same on a card, so that "since" runs on.
fn same_to_a_person(a: &AgentState, b: &AgentState) -> bool {
    match (a, b) {
        (AgentState::Working(Activity::Thinking { .. }), AgentState::Working(Activity::Thinking { .. })) => {
            true
        }
        (AgentState::Blocked(a), AgentState::Blocked(b)) => (a.kind, a.opened_at) == (b.kind, b.opened_at),
        _ => a == b,
    }
}
