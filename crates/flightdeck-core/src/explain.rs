//! "Why is it here": the state of a session, the event and rule behind it, and how it came there.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fleet::Fleet;
use crate::lens::{self, Group, Role, StateName};
use crate::session::{Because, Session};
use crate::strip::{Past, Strip};
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

/// The last hours of every session.
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

/// Every session that was there since then, also those that left the board or were replaced.
pub fn history(fleet: &Fleet, since: Timestamp) -> FleetHistory {
    let here = fleet.sessions().map(row);
    let left = fleet.past().filter(|past| fleet.get(&past.id).is_none()).map(past_row);
    let mut sessions: Vec<Row> = here.chain(left).collect();
    for row in &mut sessions {
        row.spans.retain(|s| s.to.is_none_or(|to| to >= since));
    }
    sessions.retain(|row| !row.spans.is_empty());
    FleetHistory { sessions }
}

fn row(session: &Session) -> Row {
    let mut spans = spans(&session.strip, session.started_at);
    // The last stretch is what the card says now.
    let began = spans.pop().map_or(session.started_at, |last| last.from);
    let now = StateName::of(&session.shown.state);
    spans.push(span(began, session.ended_at, now, lens::label(&session.shown.state)));
    Row {
        id: session.id.clone(),
        title: session.title.clone(),
        project: session.project.name().to_owned(),
        spans,
    }
}

fn past_row(past: &Past) -> Row {
    let mut spans = spans(&past.strip, past.started_at);
    if let Some(last) = spans.last_mut() {
        last.to = Some(past.ended_at);
    }
    Row { id: past.id.clone(), title: past.title.clone(), project: past.project.clone(), spans }
}

fn spans(strip: &Strip, started_at: Timestamp) -> Vec<Span> {
    let label = |state: StateName| match state.group() {
        Group::Running => "Working".to_owned(),
        _ => state.title().to_owned(),
    };
    strip.stretches(started_at).map(|(from, to, state)| span(from, to, state, label(state))).collect()
}

fn span(from: Timestamp, to: Option<Timestamp>, state: StateName, label: String) -> Span {
    Span { from, to, group: state.group(), state, role: state.role(), label }
}
