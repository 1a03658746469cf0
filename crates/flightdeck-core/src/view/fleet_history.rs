//! The last hours of every session, as stretches of one state each.

use serde::{Deserialize, Serialize};

use super::lens::{self, Role};
use crate::fleet::{Fleet, PastSession};
use crate::ids::SessionId;
use crate::session::Session;
use crate::session::state_history::StateHistory;
use crate::session::state_name::{Group, StateName};
use crate::time::Timestamp;

/// The last hours of every session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FleetHistory {
    pub sessions: Vec<FleetHistoryRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "FleetHistoryRow"))]
pub struct FleetHistoryRow {
    pub id: SessionId,
    pub title: Option<String>,
    pub project: String,
    pub spans: Vec<FleetSpan>,
}

/// A stretch of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "FleetSpan"))]
pub struct FleetSpan {
    pub from: Timestamp,
    /// `None` while it lasts.
    pub to: Option<Timestamp>,
    pub group: Group,
    pub state: StateName,
    pub role: Role,
    /// The label of the card while the state lasts; for past states only the name of the state.
    pub label: String,
}

/// What every session did since a time, including sessions that left the board or were replaced.
pub fn fleet_history(fleet: &Fleet, since: Timestamp) -> FleetHistory {
    let here = fleet.sessions().map(history_row);
    let left = fleet.past_sessions().filter(|past| fleet.get(&past.id).is_none()).map(past_row);
    let mut sessions: Vec<FleetHistoryRow> = here.chain(left).collect();
    for row in &mut sessions {
        row.spans.retain(|s| s.to.is_none_or(|to| to >= since));
    }
    sessions.retain(|row| !row.spans.is_empty());
    FleetHistory { sessions }
}

fn history_row(session: &Session) -> FleetHistoryRow {
    let mut spans = spans(&session.state_history, session.started_at);
    // The last stretch has the card's own label.
    let began = spans.pop().map_or(session.started_at, |last| last.from);
    let now = StateName::from_state(&session.shown.state);
    spans.push(span(began, session.ended_at, now, lens::session_label(session)));
    FleetHistoryRow {
        id: session.id.clone(),
        title: session.title.clone(),
        project: session.project.name().to_owned(),
        spans,
    }
}

fn past_row(past: &PastSession) -> FleetHistoryRow {
    let mut spans = spans(&past.state_history, past.started_at);
    if let Some(last) = spans.last_mut() {
        last.to = Some(past.ended_at);
    }
    FleetHistoryRow { id: past.id.clone(), title: past.title.clone(), project: past.project.clone(), spans }
}

fn spans(strip: &StateHistory, started_at: Timestamp) -> Vec<FleetSpan> {
    let label = |state: StateName| match state.group() {
        Group::Running => "Working".to_owned(),
        _ => state.title().to_owned(),
    };
    strip.stretches(started_at).map(|(from, to, state)| span(from, to, state, label(state))).collect()
}

fn span(from: Timestamp, to: Option<Timestamp>, state: StateName, label: String) -> FleetSpan {
    FleetSpan { from, to, group: state.group(), state, role: state.role(), label }
}
