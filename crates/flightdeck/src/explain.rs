//! "Why is it here": the state of a session, the event and rule behind it, and how it came there.

use bytes::Bytes;
use flightdeck_core::board::on_board;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::lens::{self, Group, StateName};
use flightdeck_core::session::{Because, Session};
use flightdeck_core::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Clone, Debug, Serialize)]
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
pub struct Reason {
    pub seq: u64,
    /// The event's name and payload, filled in from the store.
    pub name: Option<String>,
    pub rule: &'static str,
    pub payload: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Step {
    pub at: Timestamp,
    pub from: StateName,
    pub to: StateName,
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
            .map(|t| Step { at: t.at, from: t.from, to: t.to, because: reason(t.because) })
            .collect(),
    }
}

fn reason(because: Because) -> Reason {
    Reason { seq: because.seq, name: None, rule: because.rule.sentence(), payload: None }
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    title: Option<&'a str>,
    project: &'a str,
    spans: Vec<Span>,
}

#[derive(Serialize)]
struct Span {
    from: Timestamp,
    /// `None` while it lasts.
    to: Option<Timestamp>,
    group: Group,
    state: StateName,
}

/// The last hours of every session on the board, as stretches of one state: `{"sessions": [{id, …, spans}]}`.
pub fn history(fleet: &Fleet, since: Timestamp) -> Bytes {
    let rows: Vec<_> = fleet.sessions().filter(|s| on_board(s)).map(|s| row(s, since)).collect();
    let json = serde_json::to_vec(&serde_json::json!({ "sessions": rows }));
    json.map_or_else(|_| Bytes::from_static(b"{\"sessions\":[]}"), Bytes::from)
}

fn row(session: &Session, since: Timestamp) -> Row<'_> {
    let mut spans = Vec::new();
    let mut begin = (session.started_at, session.history.front().map(|t| t.from));
    for step in &session.history {
        if let (from, Some(state)) = begin {
            spans.push(Span { from, to: Some(step.at), group: state.group(), state });
        }
        begin = (step.at, Some(step.to));
    }
    let now = StateName::of(&session.shown.state);
    spans.push(Span { from: begin.0, to: session.ended_at, group: now.group(), state: now });
    spans.retain(|s| s.to.is_none_or(|to| to >= since));
    Row { id: &session.id, title: session.title.as_deref(), project: session.project.name(), spans }
}
