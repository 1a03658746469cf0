//! Hook payloads over HTTP: `POST /api/live/hook` and `POST /hook/<kebab-event>`.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_core::wire::hook_name::HookName;
use serde_json::{Map, json};

use crate::clock;
use crate::inlet::frame::parse_body;
use crate::server::App;

/// Where in the log the event is.
const SEQ: HeaderName = HeaderName::from_static("x-flightdeck-seq");

pub async fn live_hook(State(app): State<App>, body: Bytes) -> Response {
    take(app, None, &body).await
}

/// A name we do not know yet is the event's name all the same.
pub async fn named_hook(State(app): State<App>, Path(event): Path<String>, body: Bytes) -> Response {
    take(app, Some(event), &body).await
}

/// 204 with an empty body: anything else lands in the client's transcript.
async fn take(app: App, event: Option<String>, body: &[u8]) -> Response {
    let mut payload = match parse_body(body) {
        Ok(payload) => payload,
        Err(error) => {
            return refuse(StatusCode::BAD_REQUEST, format!("the body is not a JSON object: {error}"));
        }
    };
    let name_in_path = event.as_deref().and_then(HookName::from_kebab);
    if let (Some(unknown), None, None) = (event, name_in_path, payload.get("hook_event_name")) {
        payload.insert("hook_event_name".to_owned(), json!(unknown));
    }
    let draft = HookDraft { name_in_path, payload, env: Map::new(), bytes: body.len() };
    let record = match draft.into_record(clock::fresh_id()) {
        Ok(record) => record,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, error.to_string()),
    };
    match app.engine.append(vec![record]).await {
        Ok(appended) => {
            let seq = appended.first().map_or(0, |a| a.seq);
            (StatusCode::NO_CONTENT, [(SEQ, HeaderValue::from(seq))]).into_response()
        }
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    }
}

pub fn refuse(status: StatusCode, why: String) -> Response {
    (status, axum::Json(json!({ "error": why }))).into_response()
}
