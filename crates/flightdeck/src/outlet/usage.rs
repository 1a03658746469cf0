//! `GET /api/usage`: what was spent, from what the transcripts' readers have stored.

use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use super::api::ApiError;
use crate::clock;
use crate::server::App;
use crate::usage::{Report, Tally, parse_since};

/// Sessions asked of the store at once: an event waits behind a few thousand rows, not behind all.
const SESSIONS_AT_ONCE: usize = 16;
/// How long a report waits for what is new on disk.
const REFRESH_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Default, Deserialize)]
pub struct UsageQuery {
    /// `today`, `7d`, a date, or an RFC 3339 time.
    since: Option<String>,
}

pub async fn usage(State(app): State<App>, Query(query): Query<UsageQuery>) -> Result<Response, ApiError> {
    Ok(axum::Json(report(&app, query.since.as_deref()).await?).into_response())
}

pub async fn usage_json(app: &App, since: Option<&str>) -> Result<Value, ApiError> {
    Ok(serde_json::to_value(report(app, since).await?)?)
}

async fn report(app: &App, since: Option<&str>) -> Result<Report, ApiError> {
    let (zone, now) = (TimeZone::system(), clock::now());
    let since = match since {
        Some(text) => Some(parse_since(text, now, &zone).ok_or_else(|| {
            ApiError::Bad("`since` is none of: today, 7d, a date, an RFC 3339 time".to_owned())
        })?),
        None => None,
    };
    app.history.refresh(REFRESH_MAX).await;
    let mut tally = Tally::new(&app.prices, zone, since, now);
    let sessions = app.store.transcript_sessions(since.unwrap_or_default()).await?;
    for some in sessions.chunks(SESSIONS_AT_ONCE) {
        let usage = app.store.usage_of(some.iter().map(|s| s.session_id.clone()).collect()).await?;
        for (session, used) in some.iter().zip(usage) {
            used.counted.iter().for_each(|c| tally.add(c.key, c.at, &c.model, &c.usage));
            tally.end_session(session);
        }
    }
    let mut report = tally.report();
    report.indexing = Some(app.history.progress());
    Ok(report)
}
