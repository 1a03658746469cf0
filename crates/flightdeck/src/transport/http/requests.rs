//! Requests over HTTP: arguments from path, query and body; the reply and the error as a response.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_protocol::asks::{AnswerAsk, SentAnswer};
use flightdeck_protocol::daemon::HealthStatus;
use flightdeck_protocol::sessions::MarkSeen;
use flightdeck_protocol::terminal::{TerminalRefusal, TerminalRefusalCode};
use flightdeck_protocol::{ApiRequest, AskRefusal, ErrorCode, PlainError};
use serde_json::{Map, Value};

use crate::app::{App, AppError, AskError, Handle};

/// Names of an id in a body or a query. They are ignored if the path contains the id.
const ID_NAMES: [&str; 5] = ["id", "session_id", "sessionId", "ask_id", "askId"];

type PathParts = Path<HashMap<String, String>>;

/// Handles every request of the table that has no handler of its own.
pub(super) async fn call<R: ApiRequest>(
    State(app): State<App>,
    Path(path): PathParts,
    uri: Uri,
    body: Bytes,
) -> Response
where
    App: Handle<R>,
{
    let request = match arguments(path, &uri, &body).and_then(read::<R>) {
        Ok(request) => request,
        Err(error) => return failed(error),
    };
    let status = R::ENDPOINT.routes.first().map_or(200, |route| route.success());
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let reply = app.handle(request).await.and_then(|reply| Ok(reply.into_json()?));
    match reply {
        Ok(json) => (status, [(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => failed(error),
    }
}

fn arguments(path: HashMap<String, String>, uri: &Uri, body: &[u8]) -> Result<Map<String, Value>, AppError> {
    let mut args = match body.is_empty() {
        true => Map::new(),
        false => serde_json::from_slice::<Option<Map<String, Value>>>(body)
            .map_err(|error| AppError::Invalid(format!("the body is not understood: {error}")))?
            .unwrap_or_default(),
    };
    let query = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|error| AppError::Invalid(format!("the query is not understood: {error}")))?;
    args.extend(query.0.into_iter().map(|(name, value)| (name, value.into())));
    if path.contains_key("id") {
        args.retain(|name, _| !ID_NAMES.contains(&name.as_str()));
    }
    args.extend(path.into_iter().map(|(name, value)| (name, value.into())));
    Ok(args)
}

fn read<R: ApiRequest>(args: Map<String, Value>) -> Result<R, AppError> {
    R::deserialize(Value::Object(args))
        .map_err(|error| AppError::Invalid(format!("the request is not understood: {error}")))
}

/// Marks a session as seen. The reply has no body.
pub(super) async fn seen(State(app): State<App>, Path(session_id): Path<SessionId>) -> Response {
    match app.handle(MarkSeen { session_id }).await {
        Ok(_) => StatusCode::ACCEPTED.into_response(),
        Err(error) => failed(error),
    }
}

/// Answers an ask. The body of the request is the answer itself.
pub(super) async fn answer(State(app): State<App>, Path(ask_id): Path<AskId>, body: Bytes) -> Response {
    let answer = match serde_json::from_slice(if body.is_empty() { b"null" } else { &body }) {
        Ok(json) => SentAnswer::parse(json),
        Err(error) => return ask_failed(&AskError::Malformed(error.to_string())),
    };
    let reply = app.handle(AnswerAsk { ask_id, answer }).await.and_then(|reply| Ok(reply.into_json()?));
    match reply {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => failed(error),
    }
}

/// 200 while events can be stored, else 503 with what is wrong.
pub(super) async fn healthz(State(app): State<App>) -> Response {
    let report = app.health_report();
    let status = match report.status {
        HealthStatus::Ok => StatusCode::OK,
        HealthStatus::Degraded => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, axum::Json(report)).into_response()
}

/// The error as a response. The shape of the body depends on the kind of error, because clients rely on these shapes.
pub(super) fn failed(error: AppError) -> Response {
    match error {
        AppError::Refused(refused) => (StatusCode::CONFLICT, axum::Json(refused.details())).into_response(),
        AppError::Ask(error) => ask_failed(&error),
        AppError::Owner(ref owner) if owner.code() == ErrorCode::Refused => {
            let other = || TerminalRefusal::new(TerminalRefusalCode::Other, error.to_string());
            (StatusCode::CONFLICT, axum::Json(error.details().unwrap_or_else(other))).into_response()
        }
        AppError::Pointless(why) => refuse(StatusCode::UNPROCESSABLE_ENTITY, why),
        error => refuse(status(error.code()), error.to_string()),
    }
}

fn ask_failed(error: &AskError) -> Response {
    let status = match error {
        AskError::DoesNotFit(_) | AskError::Unreadable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        error => status(error.code()),
    };
    let (message, resolution) = (error.to_string(), error.resolution().cloned());
    let body = AskRefusal { error: error.code(), message, resolution };
    (status, axum::Json(body)).into_response()
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::NotFound | ErrorCode::UnknownCommand => StatusCode::NOT_FOUND,
        ErrorCode::ValidationError => StatusCode::BAD_REQUEST,
        ErrorCode::AlreadyEnded | ErrorCode::Refused => StatusCode::CONFLICT,
        ErrorCode::HandlerError | ErrorCode::Other => StatusCode::SERVICE_UNAVAILABLE,
    }
}

pub(super) fn refuse(status: StatusCode, error: String) -> Response {
    (status, axum::Json(PlainError { error })).into_response()
}
