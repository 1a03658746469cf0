//! What a card shows of a session's state, since when, and why.

use serde::{Deserialize, Serialize};

use super::agent::AgentState;
use super::state_name::StateName;
use crate::log::event::Event;
use crate::log::record::Source;
use crate::rules::Rule;
use crate::time::Timestamp;

/// A state as the card shows it: since when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub state: AgentState,
    pub since: Timestamp,
    /// When the previous state began. An event that fired earlier is about another state.
    pub after: Timestamp,
    pub source: Source,
    pub because: StateReason,
}

/// What moved a session: an event, or a registry entry that has settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trigger {
    pub(crate) at: Timestamp,
    pub(crate) source: Source,
    pub(crate) seq: u64,
}

impl From<&Event> for Trigger {
    fn from(event: &Event) -> Self {
        Self { at: event.fired_at, source: event.source, seq: event.seq }
    }
}

/// The event and rule behind a state. `seq` is zero if a timer caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateReason {
    pub seq: u64,
    pub rule: Rule,
}

/// One change of the shown state. Snapshots store transitions without field names: a large fleet has hundreds of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FlatTransition", into = "FlatTransition")]
pub struct Transition {
    pub at: Timestamp,
    pub from: StateName,
    pub to: StateName,
    pub because: StateReason,
}

type FlatTransition = (Timestamp, StateName, StateName, u64, Rule);

impl From<FlatTransition> for Transition {
    fn from((at, from, to, seq, rule): FlatTransition) -> Self {
        Self { at, from, to, because: StateReason { seq, rule } }
    }
}

impl From<Transition> for FlatTransition {
    fn from(step: Transition) -> Self {
        (step.at, step.from, step.to, step.because.seq, step.because.rule)
    }
}
