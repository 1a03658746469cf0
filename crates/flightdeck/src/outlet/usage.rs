//! `GET /api/usage`: what was spent, from what the transcripts' readers have stored.

use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::api::ApiError;
use crate::clock;
use crate::server::App;
use crate::usage::{By, Report, Tally, parse_since};

/// Sessions asked of the store at once: an event waits behind a few thousand rows, not behind all.
const SESSIONS_AT_ONCE: usize = 16;
/// How long a report waits for what is new on disk.
const REFRESH_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Default, Deserialize)]
pub struct UsageQuery {
    /// `today`, `7d`, a date, or an RFC 3339 time.
    since: Option<String>,
    /// What `rows` are: hour, day, project, model, session.
    by: Option<String>,
    /// A page of the rows.
    offset: Option<usize>,
    limit: Option<usize>,
    /// Look at the disk first, even where nothing was heard of a change.
    #[serde(default)]
    refresh: bool,
}

pub async fn usage(State(app): State<App>, Query(query): Query<UsageQuery>) -> Result<Response, ApiError> {
    Ok(axum::Json(report(&app, &query).await?).into_response())
}

pub async fn usage_json(app: &App, args: &Map<String, Value>) -> Result<Value, ApiError> {
    let query =
        UsageQuery::deserialize(Value::Object(args.clone())).map_err(|e| ApiError::Bad(e.to_string()))?;
    Ok(serde_json::to_value(report(app, &query).await?)?)
}

async fn report(app: &App, query: &UsageQuery) -> Result<Report, ApiError> {
    let (zone, now) = (TimeZone::system(), clock::now());
    let bad = |sentence: &str| ApiError::Bad(sentence.to_owned());
    let by = match &query.by {
        Some(word) => Some(
            By::deserialize(Value::from(word.as_str()))
                .map_err(|_| bad("`by` is none of: hour, day, project, model, session"))?,
        ),
        None => None,
    };
    let since = match &query.since {
        Some(text) => Some(
            parse_since(text, now, &zone)
                .ok_or_else(|| bad("`since` is none of: today, 7d, a date, an RFC 3339 time"))?,
        ),
        None => None,
    };
    if query.refresh {
        app.history.refresh(REFRESH_MAX).await;
    } else {
        app.history.refresh_if_heard(REFRESH_MAX).await;
    }
    let mut tally = Tally::new(&app.prices, zone, since, now).by(by);
    let sessions = app.store.transcript_sessions(since.unwrap_or_default()).await?;
    for some in sessions.chunks(SESSIONS_AT_ONCE) {
        let usage = app.store.usage_of(some.iter().map(|s| s.session_id.clone()).collect()).await?;
        for (session, used) in some.iter().zip(usage) {
            used.counted.iter().for_each(|c| tally.add(c.key, c.at, &c.model, &c.usage));
            tally.end_session(session);
        }
    }
    let mut report = tally.report();
    report.rate_limits = app.engine.overview().await?.rate_limits;
    report.rows = report.rows.map(|rows| {
        rows.into_iter().skip(query.offset.unwrap_or(0)).take(query.limit.unwrap_or(usize::MAX)).collect()
    });
    report.indexing = Some(app.history.progress());
    Ok(report)
}
