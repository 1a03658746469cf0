//! `GET /api/sessions…`: the board, one session, its events, and why it is where it is.

use std::collections::BTreeSet;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flightdeck_core::event::SEEN;
use flightdeck_core::record::{Record, Source};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::timeline::{EventPage, TimelineEvent};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::clock;
use crate::engine::{NotStored, Stopped};
use crate::server::App;
use crate::store::{EventsOf, PageFrom, SessionCursor, StoreError};
use crate::terminal::Refused;

/// Most rows of one page, whatever was asked for.
pub const PAGE_ROWS_MAX: usize = 1000;
const PAGE_ROWS: usize = 200;
/// How far back the overview looks unless it says otherwise.
const HISTORY_BACK: Millis = Millis::hours(8);

#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("there is no session {0}")]
    NoSession(String),
    #[error("{0}")]
    Bad(String),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotStored(#[from] NotStored),
    /// The state of things does not allow it now.
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("cannot write the answer: {0}")]
    Json(#[from] serde_json::Error),
}

impl ApiError {
    /// As the socket says it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSession(_) => "NOT_FOUND",
            Self::Bad(_) => "VALIDATION_ERROR",
            Self::Refused(_) => "REFUSED",
            _ => "HANDLER_ERROR",
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Refused(refused) = self {
            return (StatusCode::CONFLICT, axum::Json(refused.json())).into_response();
        }
        let status = match self {
            Self::NoSession(_) => StatusCode::NOT_FOUND,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, axum::Json(json!({ "error": self.to_string() }))).into_response()
    }
}

type Answer = Result<Response, ApiError>;

#[derive(Debug, Deserialize)]
pub struct SessionsQuery {
    all: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
}

/// The board; with `all=1` every other session too, a page at a time, the last active first.
pub async fn sessions(State(app): State<App>, Query(query): Query<SessionsQuery>) -> Answer {
    if query.all.is_none_or(|all| all == "0") {
        return Ok(json_response(app.engine.board().await?));
    }
    let page = all_sessions(&app, query.before.as_deref(), query.limit).await?;
    Ok(axum::Json(page).into_response())
}

/// The first page begins with the fleet: its board, and who was replaced there and not yet stored.
async fn all_sessions(app: &App, before: Option<&str>, limit: Option<usize>) -> Result<Value, ApiError> {
    let (board, replaced) = app.engine.everyone().await?;
    let mut whole: Map<String, Value> = serde_json::from_slice(&board)?;
    let mut fleet = match whole.remove("sessions") {
        Some(Value::Array(live)) => live,
        _ => Vec::new(),
    };
    for card in replaced {
        fleet.push(serde_json::from_slice(&card)?);
    }
    let first_page = before.is_none();
    let cursor =
        |text| SessionCursor::parse(text).ok_or_else(|| ApiError::Bad("`before` is not a cursor".into()));
    let before = before.map(cursor).transpose()?;
    let page = app.store.stored_sessions(before, limit.unwrap_or(PAGE_ROWS).min(PAGE_ROWS_MAX)).await?;
    // One that was resumed after it had left is in the fleet again; its old last word is not a second session.
    let known: BTreeSet<&str> = fleet.iter().filter_map(|card| card["id"].as_str()).collect();
    let stored = page.sessions.iter().filter(|s| !known.contains(s.id.as_str()));
    let stored = stored.filter_map(|s| match serde_json::from_str(&s.card) {
        Ok(card) => Some(card),
        Err(error) => {
            // One card that another version wrote, or the disk spoilt, must not hide all the others.
            tracing::warn!(%error, session = s.id, "a stored card cannot be read and is left out");
            None
        }
    });
    let stored: Vec<Value> = stored.collect();
    let sessions: Vec<Value> = fleet.into_iter().filter(|_| first_page).chain(stored).collect();
    whole.insert("sessions".into(), sessions.into());
    whole.insert("next_before".into(), json!(page.next_before.map(|c| c.to_string())));
    Ok(whole.into())
}

/// The board, or with `all` what `?all=1` gives.
pub async fn sessions_json(app: &App, args: &Map<String, Value>) -> Result<Value, ApiError> {
    if !args.get("all").and_then(Value::as_bool).unwrap_or(false) {
        return Ok(serde_json::from_slice(&app.engine.board().await?)?);
    }
    let limit = args.get("limit").and_then(Value::as_u64).map(|n| n as usize);
    all_sessions(app, args.get("before").and_then(Value::as_str), limit).await
}

pub async fn session(State(app): State<App>, Path(id): Path<String>) -> Answer {
    Ok(axum::Json(session_json(&app, &id).await?).into_response())
}

/// From the fleet, else from what is kept for ever.
pub async fn session_json(app: &App, id: &str) -> Result<Value, ApiError> {
    if let Some(card) = app.engine.card(id).await? {
        return Ok(serde_json::from_slice(&card)?);
    }
    match app.store.stored_session(id).await? {
        Some(stored) => Ok(serde_json::from_str(&stored.card)?),
        None => Err(ApiError::NoSession(id.to_owned())),
    }
}

#[derive(Debug, Deserialize)]
pub struct EventsQuery {
    after: Option<u64>,
    before: Option<u64>,
    limit: Option<usize>,
    payload: Option<String>,
}

pub async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
) -> Answer {
    let wanted = EventsOf {
        session_id: id,
        from: page_from(query.after, query.before),
        limit: query.limit.unwrap_or(PAGE_ROWS).min(PAGE_ROWS_MAX),
        with_payload: query.payload.is_some_and(|p| p != "0"),
    };
    Ok(axum::Json(event_page(&app, wanted).await?).into_response())
}

pub async fn events_json(app: &App, id: &str, args: &Map<String, Value>) -> Result<Value, ApiError> {
    let number = |key: &str| args.get(key).and_then(Value::as_u64);
    let wanted = EventsOf {
        session_id: id.to_owned(),
        from: page_from(number("after"), number("before")),
        limit: number("limit").map_or(PAGE_ROWS, |n| n as usize).min(PAGE_ROWS_MAX),
        with_payload: args.get("payload").and_then(Value::as_bool).unwrap_or(false),
    };
    Ok(serde_json::to_value(event_page(app, wanted).await?)?)
}

/// `before` reads from the end: a drawer wants the newest first.
fn page_from(after: Option<u64>, before: Option<u64>) -> PageFrom {
    before.map_or(PageFrom::After(after.unwrap_or(0)), PageFrom::Before)
}

async fn event_page(app: &App, wanted: EventsOf) -> Result<EventPage, ApiError> {
    let (with_payload, from) = (wanted.with_payload, wanted.from);
    // The summary is made from the payload, so it is read in any case and left out of the answer.
    let page = app.store.events_of(EventsOf { with_payload: true, ..wanted }).await?;
    let (next_after, next_before) = match from {
        PageFrom::After(_) => (Some(page.next), None),
        PageFrom::Before(_) => (None, Some(page.next)),
    };
    let events = page.records.into_iter().map(|r| TimelineEvent::of(r, with_payload)).collect();
    Ok(EventPage { events, next_after, next_before })
}

pub async fn explain(State(app): State<App>, Path(id): Path<String>) -> Answer {
    Ok(axum::Json(explain_json(&app, &id).await?).into_response())
}

/// With the event behind the state, as it was written.
pub async fn explain_json(app: &App, id: &str) -> Result<Value, ApiError> {
    let found = app.engine.explain(id).await?;
    let mut explanation = found.ok_or_else(|| ApiError::NoSession(id.to_owned()))?;
    if let Some(record) = app.store.event(explanation.because.seq).await? {
        explanation.because.name = Some(record.name);
        explanation.because.payload = Some(record.payload);
    }
    Ok(serde_json::to_value(explanation)?)
}

pub async fn seen(State(app): State<App>, Path(id): Path<String>) -> Answer {
    see(&app, &id).await?;
    Ok(StatusCode::ACCEPTED.into_response())
}

/// The person opened the card: an event in the log like any other.
pub async fn see(app: &App, id: &str) -> Result<Value, ApiError> {
    if app.engine.card(id).await?.is_none() {
        return Err(ApiError::NoSession(id.to_owned()));
    }
    let seq = by_person(app, id, SEEN, Map::new()).await?;
    Ok(json!({ "seq": seq }))
}

/// What the person did here, in the log.
pub(super) async fn by_person(
    app: &App,
    id: &str,
    name: &str,
    payload: Map<String, Value>,
) -> Result<u64, ApiError> {
    let record = Record::ours(Source::User, name, id, payload, clock::fresh_id());
    let appended = app.engine.append(vec![record]).await?;
    Ok(appended.first().map_or(0, |a| a.seq))
}

pub async fn fleet(State(app): State<App>) -> Answer {
    Ok(axum::Json(app.engine.overview().await?).into_response())
}

#[derive(Debug, Deserialize)]
pub struct HistoryQuery {
    since: Option<String>,
}

/// What every session on the board did in the last hours, for the overview.
pub async fn history(State(app): State<App>, Query(query): Query<HistoryQuery>) -> Answer {
    let since = match query.since {
        Some(text) => {
            Timestamp::parse(&text).ok_or_else(|| ApiError::Bad("`since` is not an RFC 3339 time".into()))?
        }
        None => clock::now() - HISTORY_BACK,
    };
    Ok(json_response(app.engine.history(since).await?))
}

fn json_response(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
