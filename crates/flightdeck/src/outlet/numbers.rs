//! `GET /api/sessions/{id}/numbers`: its context and cost over time, back to its first message.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use flightdeck_core::numbers::{Numbers, of_messages, of_status_lines, thinned};
use flightdeck_core::record::Record;

use super::api::{self, ApiError, PAGE_ROWS_MAX};
use crate::server::App;
use crate::store::{EventsOf, PageFrom};

pub async fn numbers(State(app): State<App>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let usage = app.store.usage_of(vec![id.clone()]).await?;
    let counted = usage.into_iter().flat_map(|of| of.counted).collect();
    let mut points = of_messages(counted, &app.prices);
    if points.is_empty() {
        // Nobody is told of a session that is not there that it cost nothing.
        api::session_json(&app, &id).await?;
        points = of_status_lines(&newest_events(&app, id).await?);
    }
    Ok(axum::Json(Numbers { points: thinned(points) }).into_response())
}

async fn newest_events(app: &App, session_id: String) -> Result<Vec<Record>, ApiError> {
    let from = PageFrom::Before(u64::MAX);
    let wanted = EventsOf { session_id, from, limit: PAGE_ROWS_MAX, with_payload: true };
    Ok(app.store.events_of(wanted).await?.records)
}
