//! Hook payloads over HTTP: `POST /api/live/hook` and `POST /hook/<kebab-event>`.

use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::wire::hook::HookDraft;
use serde_json::Map;

use super::requests::{failed, refuse};
use crate::app::{App, AppError, HookWaits, IncomingHook};
use crate::frame::parse_verbatim;

/// Where in the log the event is.
const SEQ: HeaderName = HeaderName::from_static("x-flightdeck-seq");
/// A hook with this header waits for a verdict; other HTTP hooks are answered at once.
const HOLD: &str = "x-flightdeck-hold";

pub(super) async fn live_hook(State(app): State<App>, headers: HeaderMap, body: Bytes) -> Response {
    receive(&app, None, &headers, &body).await
}

/// The same for a request whose size is known and within bounds.
pub(super) async fn plain_hook(app: &App, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match to_bytes(body, HOOK_BODY_BYTES_MAX).await {
        Ok(body) => receive(app, None, &head.headers, &body).await,
        // Usually the client has closed the connection and does not read this.
        Err(error) => refuse(StatusCode::BAD_REQUEST, format!("the body broke off: {error}")),
    }
}

/// The path names the event.
pub(super) async fn named_hook(
    State(app): State<App>,
    Path(event): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    receive(&app, Some(event), &headers, &body).await
}

/// 204 with an empty body, or the verdict: any other body would land in the client's transcript.
async fn receive(app: &App, event: Option<String>, headers: &HeaderMap, body: &[u8]) -> Response {
    let hook = match incoming(event, headers, body) {
        Ok(hook) => hook,
        Err(error) => return failed(error),
    };
    let received = match app.receive_hook(hook).await {
        Ok(received) => received,
        Err(error) => return failed(error),
    };
    let seq = [(SEQ, HeaderValue::from(received.seq))];
    let verdict = match received.hold {
        // If the client closes the connection, this future is dropped, and the hold with it.
        Some(mut hold) => hold.verdict().await,
        None => None,
    };
    match verdict {
        Some(verdict) => (seq, [(header::CONTENT_TYPE, "application/json")], verdict).into_response(),
        None => (StatusCode::NO_CONTENT, seq).into_response(),
    }
}

fn incoming(
    name_in_path: Option<String>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<IncomingHook, AppError> {
    let unreadable = |error| AppError::Invalid(format!("the body is not a JSON object: {error}"));
    let (payload, verbatim) = parse_verbatim(body).map_err(unreadable)?;
    let draft = HookDraft { name_in_path, payload, env: Map::new(), bytes: body.len() };
    let waits = match headers.get(HOLD) {
        Some(value) if value == "1" => HookWaits::AsConfigured,
        _ => HookWaits::No,
    };
    Ok(IncomingHook { draft, verbatim, waits })
}
