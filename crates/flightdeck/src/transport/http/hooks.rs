//! Hook payloads over HTTP: `POST /api/live/hook` and `POST /hook/<kebab-event>`.

use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::log::record::Verbatim;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_core::wire::hook_name::HookName;
use flightdeck_core::wire::lenient::text;
use serde_json::{Map, json};

use super::requests::{failed, refuse};
use crate::app::{App, AppError, IncomingHook};
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

/// An event name in the path that we do not know is kept as the event's name.
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
    let hook = match incoming(app, event, headers, body) {
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
    app: &App,
    event: Option<String>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<IncomingHook, AppError> {
    let unreadable = |error| AppError::Invalid(format!("the body is not a JSON object: {error}"));
    let (mut payload, mut verbatim) = parse_verbatim(body).map_err(unreadable)?;
    let name_in_path = event.as_deref().and_then(HookName::from_kebab);
    if name_in_path.is_none()
        && let Some(unknown) = event
        && text(&payload, "hook_event_name").is_none()
    {
        payload.insert("hook_event_name".to_owned(), json!(unknown));
        verbatim = Verbatim::default();
    }
    let draft = HookDraft { name_in_path, payload, env: Map::new(), bytes: body.len() };
    let waits = headers.get(HOLD).is_some_and(|value| value == "1");
    Ok(IncomingHook { draft, verbatim, hold: waits.then(|| app.hold_rules_now()) })
}
