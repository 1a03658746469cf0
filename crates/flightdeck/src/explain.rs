//! "Why is it here": the state of a session, the event and rule behind it, and how it came there.

use bytes::Bytes;
use flightdeck_core::board::on_board;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::lens::{self, Group, Role, StateName};
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
    /// The colour of `to`.
    pub role: Role,
    pub because: Reason,
}

pub(crate) fn explain(session: &Session) -> Explanation {
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
    role: Role,
    /// What the card says while it lasts; of the past only the kind of state is kept.
    label: String,
}

/// The last hours of every session on the board, as stretches of one state: `{"sessions": [{id, …, spans}]}`.
pub(crate) fn history(fleet: &Fleet, since: Timestamp) -> Bytes {
    let rows: Vec<_> = fleet.sessions().filter(|s| on_board(s)).map(|s| row(s, since)).collect();
    let json = serde_json::to_vec(&serde_json::json!({ "sessions": rows }));
    json.map_or_else(|_| Bytes::from_static(b"{\"sessions\":[]}"), Bytes::from)
}

fn row(session: &Session, since: Timestamp) -> Row<'_> {
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
    Row { id: &session.id, title: session.title.as_deref(), project: session.project.name(), spans }
}

fn span(from: Timestamp, to: Option<Timestamp>, state: StateName, label: String) -> Span {
    Span { from, to, group: state.group(), state, role: state.role(), label }
}
