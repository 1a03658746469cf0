//! What sessions cost, from the billed usage that the transcript readers have stored.

use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::usage::totals::Report;
use flightdeck_protocol::usage::GetUsage;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

use super::{App, AppError, AppReply, Handle};
use crate::clock;
use crate::usage::{GroupBy, UsageTally, parse_since};

/// Sessions read from the store at a time, so that an event waits behind a few thousand rows at most.
const SESSIONS_AT_ONCE: usize = 16;
/// Longest wait of a report until new transcript bytes are read.
const REFRESH_MAX: Duration = Duration::from_secs(2);

impl Handle<GetUsage> for App {
    async fn handle(&self, request: GetUsage) -> Result<AppReply<Report>, AppError> {
        let (zone, now) = (TimeZone::system(), clock::now());
        let by = request.by.as_deref().map(parse_by).transpose()?;
        let since =
            request.since.as_deref().map(|text| parse_since_argument(text, now, &zone)).transpose()?;
        if request.refresh {
            self.history.refresh(REFRESH_MAX).await;
        } else {
            self.history.refresh_if_unread(REFRESH_MAX).await;
        }
        let prices = self.prices_now();
        let mut report = self.tally(UsageTally::new(&prices, zone, since, now).group_by(by), since).await?;
        report.rate_limits = self.engine.overview().await?.rate_limits;
        report.rows = report.rows.map(|rows| {
            let limit = request.limit.unwrap_or(usize::MAX);
            rows.into_iter().skip(request.offset.unwrap_or(0)).take(limit).collect()
        });
        report.indexing = Some(self.history.progress());
        Ok(report.into())
    }
}

impl App {
    /// The present prices. The receiver is notified whenever they change.
    pub fn price_changes(&self) -> watch::Receiver<Arc<PriceTable>> {
        self.prices.subscribe()
    }

    pub(crate) fn prices_now(&self) -> Arc<PriceTable> {
        Arc::clone(&self.prices.borrow())
    }

    async fn tally(&self, mut tally: UsageTally<'_>, since: Option<Timestamp>) -> Result<Report, AppError> {
        let sessions = self.store.transcript_sessions(since.unwrap_or_default()).await?;
        for some in sessions.chunks(SESSIONS_AT_ONCE) {
            let usage = self.store.usage_of(some.iter().map(|s| s.session_id.clone()).collect()).await?;
            for (session, used) in some.iter().zip(usage) {
                used.counted.iter().for_each(|c| tally.add(c.key, c.at, &c.model, &c.usage));
                tally.end_session(session);
            }
        }
        Ok(tally.report())
    }
}

fn parse_by(word: &str) -> Result<GroupBy, AppError> {
    GroupBy::deserialize(Value::from(word))
        .map_err(|_| AppError::Invalid("`by` is not one of: hour, day, project, model, session".into()))
}

fn parse_since_argument(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, AppError> {
    parse_since(text, now, zone)
        .ok_or_else(|| AppError::Invalid("`since` is not one of: today, 7d, a date, an RFC 3339 time".into()))
}
