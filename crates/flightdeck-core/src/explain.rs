//! "Why is it here": the state of a session, the event and rule behind it, and how it came there.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::board::on_board;
use crate::fleet::Fleet;
use crate::lens::{self, Group, Role, StateName};
use crate::session::{Because, Session};
use crate::time::Timestamp;

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Explanation {
    pub id: String,
    pub state: StateName,
    pub group: Group,
    pub label: String,
    pub since: Timestamp,
    pub because: Reason,
    pub history: Vec<Step>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Because"))]
pub struct Reason {
    pub seq: u64,
    /// The event's name and payload, filled in from the store.
    pub name: Option<String>,
    pub rule: &'static str,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown> | null"))]
    pub payload: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "HistoryStep"))]
pub struct Step {
    pub at: Timestamp,
    pub from: StateName,
    pub to: StateName,
    /// The colour of `to`.
    pub role: Role,
    pub because: Reason,
}

pub fn explain(session: &Session) -> Explanation {
    let state = StateName::of(&session.shown.state);
    Explanation {
        id: session.id.clone(),
        state,
        group: state.group(),
        label: lens::label(&session.shown.state),
        since: session.shown.since,
        because: reason(session.shown.because),
        history: session
            .history
            .iter()
            .map(|t| Step { at: t.at, from: t.from, to: t.to, role: t.to.role(), because: reason(t.because) })
            .collect(),
    }
}

fn reason(because: Because) -> Reason {
    Reason { seq: because.seq, name: None, rule: because.rule.sentence(), payload: None }
}

/// The last hours of every session on the board.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FleetHistory {
    pub sessions: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "FleetHistoryRow"))]
pub struct Row {
    pub id: String,
    pub title: Option<String>,
    pub project: String,
    pub spans: Vec<Span>,
}

/// A stretch of one state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "FleetSpan"))]
pub struct Span {
    pub from: Timestamp,
    /// `None` while it lasts.
    pub to: Option<Timestamp>,
    pub group: Group,
    pub state: StateName,
    pub role: Role,
    /// What the card says while it lasts; of the past only the kind of state is kept.
    pub label: String,
}

pub fn history(fleet: &Fleet, since: Timestamp) -> FleetHistory {
    FleetHistory { sessions: fleet.sessions().filter(|s| on_board(s)).map(|s| row(s, since)).collect() }
}

fn row(session: &Session, since: Timestamp) -> Row {
    let mut spans = Vec::new();
    let mut begin = (session.started_at, session.history.front().map(|t| t.from));
    for step in &session.history {
        if let (from, Some(state)) = begin {
            spans.push(span(from, Some(step.at), state, state.title().to_owned()));
        }
        begin = (step.at, Some(step.to));
    }
    let now = StateName::of(&session.shown.state);
    spans.push(span(begin.0, session.ended_at, now, lens::label(&session.shown.state)));
    spans.retain(|s| s.to.is_none_or(|to| to >= since));
    Row {
        id: session.id.clone(),
        title: session.title.clone(),
        project: session.project.name().to_owned(),
        spans,
    }
}

fn span(from: Timestamp, to: Option<Timestamp>, state: StateName, label: String) -> Span {
    Span { from, to, group: state.group(), state, role: state.role(), label }
}
