//! Hook payloads over HTTP: `POST /api/live/hook` and `POST /hook/<kebab-event>`.

use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::record::{Record, Verbatim};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_core::wire::hook_name::HookName;
use flightdeck_core::wire::lenient::text;
use serde_json::{Map, json};

use crate::asks::holds::Held;
use crate::asks::policy;
use crate::clock;
use crate::inlet::frame::parse_verbatim;
use crate::server::App;

/// Where in the log the event is.
const SEQ: HeaderName = HeaderName::from_static("x-flightdeck-seq");

pub async fn live_hook(State(app): State<App>, headers: HeaderMap, body: Bytes) -> Response {
    take(&app, None, &headers, &body).await
}

/// The same for a request whose size is known and within bounds.
pub async fn plain_hook(app: &App, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match to_bytes(body, HOOK_BODY_BYTES_MAX).await {
        Ok(body) => take(app, None, &head.headers, &body).await,
        // Most often the client is gone, and nobody reads this.
        Err(error) => refuse(StatusCode::BAD_REQUEST, format!("the body broke off: {error}")),
    }
}

/// A name we do not know yet is the event's name all the same.
pub async fn named_hook(
    State(app): State<App>,
    Path(event): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    take(&app, Some(event), &headers, &body).await
}

/// A request that wants to be held says so; other http hooks are answered at once.
const HOLD: &str = "x-flightdeck-hold";

/// 204 with an empty body, or the verdict: anything else lands in the client's transcript.
async fn take(app: &App, event: Option<String>, headers: &HeaderMap, body: &[u8]) -> Response {
    let (mut payload, mut verbatim) = match parse_verbatim(body) {
        Ok(parsed) => parsed,
        Err(error) => {
            return refuse(StatusCode::BAD_REQUEST, format!("the body is not a JSON object: {error}"));
        }
    };
    let name_in_path = event.as_deref().and_then(HookName::from_kebab);
    if name_in_path.is_none()
        && let Some(unknown) = event
        && text(&payload, "hook_event_name").is_none()
    {
        payload.insert("hook_event_name".to_owned(), json!(unknown));
        verbatim = Verbatim::default();
    }
    let draft = HookDraft { name_in_path, payload, env: Map::new(), bytes: body.len() };
    let mut record = match draft.into_record(clock::fresh_id()) {
        Ok(record) => Record { verbatim, ..record },
        Err(error) => return refuse(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let wants_hold = headers.get(HOLD).is_some_and(|value| value == "1");
    let held = wants_hold.then(|| app.holds.open(&mut record, &app.hold_rules, &app.engine)).flatten();
    let ruled = policy::consider(app, &record, held.as_ref());
    let appended = match app.engine.append(vec![record]).await {
        Ok(appended) => appended,
        Err(error) => {
            held.into_iter().for_each(Held::forget);
            return refuse(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
        }
    };
    let (seq, duplicate) = appended.first().map_or((0, false), |a| (a.seq, a.duplicate));
    let seq = [(SEQ, HeaderValue::from(seq))];
    let verdict = match held {
        Some(held) if duplicate => {
            held.forget();
            None
        }
        // A client that hangs up drops this, and with it the hold.
        Some(mut held) => {
            policy::say(app, &held, ruled);
            held.verdict().await
        }
        None => None,
    };
    match verdict {
        Some(verdict) => (seq, [(header::CONTENT_TYPE, "application/json")], verdict).into_response(),
        None => (StatusCode::NO_CONTENT, seq).into_response(),
    }
}

pub fn refuse(status: StatusCode, why: String) -> Response {
    (status, axum::Json(json!({ "error": why }))).into_response()
}
