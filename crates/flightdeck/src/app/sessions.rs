//! The board, one session, its events and numbers, and why it is in its state.

use std::collections::BTreeSet;

use flightdeck_core::ids::SessionId;
use flightdeck_core::log::event::{PARKED, SEEN, UNPARKED};
use flightdeck_core::log::record::Record;
use flightdeck_core::usage::numbers::{Numbers, points_of_messages, points_of_status_lines, thinned_points};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::explain::Explanation;
use flightdeck_core::view::timeline::{EventPage, TimelineEvent};
use flightdeck_core::view::waiting::WaitKind;
use flightdeck_protocol::sessions::{
    ExplainSession, GetNumbers, GetSession, ListEvents, ListSessions, Logged, MarkSeen, ParkSession,
    SessionList,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{App, AppError, AppReply, Encoded, Handle};
use crate::clock;
use crate::store::{EventsOf, PageFrom, SessionCursor, StoredSession};
use crate::terminal::RefusalReason;

/// Most rows of one page, whatever limit the request names.
const PAGE_ROWS_MAX: usize = 1000;
/// Rows of a page if the request names no limit: more than a screen shows.
const PAGE_ROWS: usize = 200;

/// A session as it is listed: from the fleet, or as it was stored. A stored card may be of an older version, so it is
/// passed on as it is.
#[derive(Serialize)]
#[serde(untagged)]
enum ListedSession {
    Live(Box<Card>),
    Stored(Value),
}

/// A [`SessionList`] with stored cards in it.
#[derive(Serialize)]
struct Page {
    boot: String,
    n: u64,
    sessions: Vec<ListedSession>,
    next_before: Option<String>,
}

impl Handle<ListSessions> for App {
    async fn handle(&self, request: ListSessions) -> Result<AppReply<SessionList>, AppError> {
        if !request.all {
            return Ok(Encoded::new(self.engine.board().await?).into());
        }
        let page = self.all_sessions(request).await?;
        Ok(Encoded::new(serde_json::to_vec(&page)?).into())
    }
}

impl Handle<GetSession> for App {
    async fn handle(&self, request: GetSession) -> Result<AppReply<Card>, AppError> {
        let id = &request.session_id;
        if let Some(card) = self.engine.card(id).await? {
            return Ok(AppReply::Typed(card));
        }
        let stored = self.stored_session(id).await?;
        stored.card_json()?;
        Ok(Encoded::new(stored.card).into())
    }
}

impl Handle<ListEvents> for App {
    async fn handle(&self, request: ListEvents) -> Result<AppReply<EventPage>, AppError> {
        let ListEvents { session_id, after, before, limit, payload } = request;
        let limit = limit.unwrap_or(PAGE_ROWS).min(PAGE_ROWS_MAX);
        let from = before.map_or(PageFrom::After(after.unwrap_or(0)), PageFrom::Before);
        // The summary of an event is made from its payload, so the payload is read even if the request does not want it.
        let session_id = session_id.clone();
        let page = self.store.events_of(EventsOf { session_id, from, limit, with_payload: true }).await?;
        let (next_after, next_before) = match from {
            PageFrom::After(_) => (Some(page.next), None),
            PageFrom::Before(_) => (None, Some(page.next)),
        };
        let events =
            page.records.into_iter().map(|record| TimelineEvent::from_record(record, payload)).collect();
        Ok(EventPage { events, next_after, next_before }.into())
    }
}

impl Handle<ExplainSession> for App {
    async fn handle(&self, request: ExplainSession) -> Result<AppReply<Explanation>, AppError> {
        let found = self.engine.explain(&request.session_id).await?;
        let mut explanation = found.ok_or(AppError::NoSession(request.session_id))?;
        if let Some(record) = self.store.event(explanation.because.seq).await? {
            explanation.because.name = Some(record.name);
            explanation.because.payload = Some(record.payload);
        }
        Ok(explanation.into())
    }
}

impl Handle<GetNumbers> for App {
    async fn handle(&self, request: GetNumbers) -> Result<AppReply<Numbers>, AppError> {
        let id = request.session_id;
        let usage = self.store.usage_of(vec![id.clone()]).await?;
        let counted = usage.into_iter().flat_map(|of| of.counted).collect();
        let mut points = points_of_messages(counted, &self.prices_now());
        if points.is_empty() {
            self.check_session(&id).await?;
            points = points_of_status_lines(&self.newest_events(&id).await?);
        }
        Ok(Numbers { points: thinned_points(points) }.into())
    }
}

impl Handle<MarkSeen> for App {
    async fn handle(&self, request: MarkSeen) -> Result<AppReply<Logged>, AppError> {
        let id = request.session_id;
        if self.engine.card(&id).await?.is_none() {
            return Err(AppError::NoSession(id));
        }
        let seq = self.append_user_action(&id, SEEN, Map::new()).await?;
        Ok(Logged { seq }.into())
    }
}

impl Handle<ParkSession> for App {
    async fn handle(&self, request: ParkSession) -> Result<AppReply<Logged>, AppError> {
        let ParkSession { session_id: id, until, parked } = request;
        let card = self.engine.card(&id).await?.ok_or_else(|| AppError::NoSession(id.clone()))?;
        let waits = card.waiting.is_some_and(|waiting| waiting.kind != WaitKind::Blocks);
        if parked && !waits {
            return Err(RefusalReason::NotParkable { label: card.agent_state.label }.into());
        }
        if let Some(until) = until.filter(|until| parked && *until <= clock::now()) {
            let why = format!("a session cannot be parked until {until}: that time is over");
            return Err(AppError::Pointless(why));
        }
        let payload = until.map(|until| ("until".to_owned(), Value::from(until.to_string())));
        let name = if parked { PARKED } else { UNPARKED };
        let seq = self.append_user_action(&id, name, Map::from_iter(payload)).await?;
        Ok(Logged { seq }.into())
    }
}

impl App {
    /// A page of all sessions. The first page begins with the sessions of the fleet: those on the board, and those that another session
    /// replaced and that are not stored yet.
    async fn all_sessions(&self, request: ListSessions) -> Result<Page, AppError> {
        let fleet = self.engine.all_cards().await?;
        let first_page = request.before.is_none();
        let cursor = |text: String| {
            SessionCursor::parse(&text).ok_or_else(|| AppError::Invalid("`before` is not a cursor".into()))
        };
        let before = request.before.map(cursor).transpose()?;
        let limit = request.limit.unwrap_or(PAGE_ROWS).min(PAGE_ROWS_MAX);
        let page = self.store.stored_sessions(before, limit).await?;
        // A resumed session is in the fleet again; its stored card is not a second session.
        let known: BTreeSet<&str> = fleet.cards.iter().map(|card| &*card.id).collect();
        let stored = page.sessions.into_iter().filter(|s| !known.contains(&*s.id));
        let stored: Vec<ListedSession> = stored.filter_map(listed).collect();
        let live =
            fleet.cards.into_iter().filter(|_| first_page).map(|card| ListedSession::Live(Box::new(card)));
        let sessions = live.chain(stored).collect();
        let next_before = page.next_before.map(|cursor| cursor.to_string());
        Ok(Page { boot: fleet.boot, n: fleet.n, sessions, next_before })
    }

    /// The card of a session, from the fleet or, if the session left it, from the store.
    pub(super) async fn card(&self, id: &SessionId) -> Result<Card, AppError> {
        match self.engine.card(id).await? {
            Some(card) => Ok(card),
            None => Ok(self.stored_session(id).await?.typed_card()?),
        }
    }

    async fn check_session(&self, id: &SessionId) -> Result<(), AppError> {
        if self.engine.card(id).await?.is_none() {
            self.stored_session(id).await?;
        }
        Ok(())
    }

    async fn stored_session(&self, id: &SessionId) -> Result<StoredSession, AppError> {
        let stored = self.store.stored_session(id).await?;
        stored.ok_or_else(|| AppError::NoSession(id.clone()))
    }

    async fn newest_events(&self, session_id: &SessionId) -> Result<Vec<Record>, AppError> {
        let from = PageFrom::Before(u64::MAX);
        let session_id = session_id.clone();
        let wanted = EventsOf { session_id, from, limit: PAGE_ROWS_MAX, with_payload: true };
        Ok(self.store.events_of(wanted).await?.records)
    }
}

fn listed(stored: StoredSession) -> Option<ListedSession> {
    match stored.card_json() {
        Ok(card) => Some(ListedSession::Stored(card)),
        Err(error) => {
            tracing::warn!(%error, session = %stored.id, "a stored card cannot be read; it is left out of the list");
            None
        }
    }
}
