//! Why a session is in its state: the event and rule behind it, and the states before.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::card::{ProcessCard, processes};
use super::lens::{self, Role};
use crate::assignment::intent::DetectedIntent;
use crate::ids::SessionId;
use crate::session::state_name::{Group, StateName};
use crate::session::{Session, StateReason};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Explanation {
    pub id: SessionId,
    pub state: StateName,
    pub group: Group,
    pub label: String,
    pub since: Timestamp,
    pub because: ExplainedReason,
    /// Why the label says "Asks" or "Finished".
    #[serde(default)]
    pub intent: Option<DetectedIntent>,
    pub history: Vec<StateChange>,
    /// Every process that holds the session, if there are several: the reason above is about the shown one.
    #[serde(default)]
    pub processes: Vec<ProcessCard>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Because"))]
pub struct ExplainedReason {
    pub seq: u64,
    /// The event's name and payload, filled in from the store.
    pub name: Option<String>,
    pub rule: Cow<'static, str>,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown> | null"))]
    pub payload: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "HistoryStep"))]
pub struct StateChange {
    pub at: Timestamp,
    pub from: StateName,
    pub to: StateName,
    /// The colour of `to`.
    pub role: Role,
    pub because: ExplainedReason,
}

pub fn explain(session: &Session) -> Explanation {
    let state = StateName::from_state(&session.shown.state);
    Explanation {
        id: session.id.clone(),
        state,
        group: state.group(),
        label: lens::session_label(session),
        since: session.shown.since,
        because: reason(session.shown.because),
        intent: session.idle_intent().cloned(),
        history: session
            .history
            .iter()
            .map(|t| StateChange {
                at: t.at,
                from: t.from,
                to: t.to,
                role: t.to.role(),
                because: reason(t.because),
            })
            .collect(),
        processes: processes(session),
    }
}

fn reason(because: StateReason) -> ExplainedReason {
    ExplainedReason { seq: because.seq, name: None, rule: because.rule.sentence().into(), payload: None }
}
