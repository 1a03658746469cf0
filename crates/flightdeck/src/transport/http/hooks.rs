//! Hook payloads over HTTP: `POST /api/live/hook` and `POST /hook/<kebab-event>`.

use std::convert::Infallible;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::wire::hook::{HookDraft, set_waits};
use futures_util::{StreamExt, stream};
use serde_json::Map;

use super::requests::{failed, refuse};
use crate::app::{
    App, AppError, EffortVerdict, HookOutcome, HookWaits, IncomingHook, is_query_of_http_handler,
};
use crate::frame::parse_verbatim;

/// The header with the position of the event in the log.
const SEQ: HeaderName = HeaderName::from_static("x-flightdeck-seq");
/// A hook with this header waits for a verdict; other HTTP hooks are answered at once.
const HOLD: &str = "x-flightdeck-hold";

pub(super) async fn live_hook(State(app): State<App>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    receive(&app, None, Sender::from_request(&uri, &headers), &body).await
}

/// Receives a hook whose body size is known and within bounds.
pub(super) async fn plain_hook(app: &App, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match to_bytes(body, HOOK_BODY_BYTES_MAX).await {
        Ok(body) => receive(app, None, Sender::from_request(&head.uri, &head.headers), &body).await,
        // Usually the client has closed the connection and does not read this.
        Err(error) => refuse(StatusCode::BAD_REQUEST, format!("the body broke off: {error}")),
    }
}

/// Receives a hook whose event is named by the path.
pub(super) async fn named_hook(
    State(app): State<App>,
    Path(event): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    receive(&app, Some(event), Sender::from_request(&uri, &headers), &body).await
}

/// What the headers and the address of the request say about its sender.
#[derive(Clone, Copy)]
struct Sender {
    /// The sender waits until a person has decided.
    holds: bool,
    /// The sender reads a verdict that is given at once, even for an event whose hook usually does not wait.
    hears_verdict: bool,
}

impl Sender {
    fn from_request(uri: &Uri, headers: &HeaderMap) -> Self {
        let holds = headers.get(HOLD).is_some_and(|value| value == "1");
        Self { holds, hears_verdict: holds || uri.query().is_some_and(is_query_of_http_handler) }
    }
}

/// Answers 204 with an empty body, or the verdict. The client would write any other body into its transcript.
async fn receive(app: &App, event: Option<String>, sender: Sender, body: &[u8]) -> Response {
    let hook = match incoming(event, sender, body) {
        Ok(hook) => hook,
        Err(error) => return failed(error),
    };
    let received = match app.receive_hook(hook).await {
        Ok(received) => received,
        Err(error) => return failed(error),
    };
    let seq = [(SEQ, HeaderValue::from(received.seq))];
    let verdict = match received.outcome {
        HookOutcome::Nothing => None,
        HookOutcome::Verdict(verdict) => Some(body_that_notes_verdict(app, *verdict)),
        HookOutcome::Restart(restart) => {
            restart.wait_until_accepted().await;
            None
        }
        // If the client closes the connection, this future is dropped, and the hold with it.
        HookOutcome::Hold(mut hold) => hold.verdict().await.map(Body::from),
    };
    match verdict {
        Some(verdict) => (seq, [(header::CONTENT_TYPE, "application/json")], verdict).into_response(),
        None => (StatusCode::NO_CONTENT, seq).into_response(),
    }
}

/// The verdict as a response body. It is recorded as given after the HTTP server has sent all of it.
fn body_that_notes_verdict(app: &App, mut verdict: EffortVerdict) -> Body {
    let app = app.clone();
    let json = Bytes::from(std::mem::take(&mut verdict.json));
    let first = stream::once(async move { Ok::<_, Infallible>(json) });
    let then = stream::once(async move {
        app.note_verdict(verdict).await;
        Ok(Bytes::new())
    });
    Body::from_stream(first.chain(then))
}

fn incoming(name_in_path: Option<String>, sender: Sender, body: &[u8]) -> Result<IncomingHook, AppError> {
    let unreadable = |error| AppError::Invalid(format!("the body is not a JSON object: {error}"));
    let (payload, verbatim) = parse_verbatim(body).map_err(unreadable)?;
    let mut draft = HookDraft { name_in_path, payload, env: Map::new(), bytes: body.len() };
    if sender.hears_verdict {
        set_waits(&mut draft.env);
    }
    let waits = if sender.holds { HookWaits::AsConfigured } else { HookWaits::No };
    Ok(IncomingHook { draft, verbatim, waits })
}
