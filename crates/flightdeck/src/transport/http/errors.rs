//! Every error of the interface has a JSON body, also those that the router and its extractors make themselves.

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use serde_json::json;

/// Whether programs call this path; others belong to the page.
pub(super) fn is_interface(path: &str) -> bool {
    let below =
        |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below("/api") || below("/hook") || ["/healthz", "/metrics"].contains(&path)
}

/// The response, with a JSON body if it is an error without one.
pub(super) fn with_json_body(method: &Method, path: &str, mut response: Response) -> Response {
    let status = response.status();
    let json = HeaderValue::from_static("application/json");
    if !(status.is_client_error() || status.is_server_error())
        || response.headers().get(header::CONTENT_TYPE) == Some(&json)
    {
        return response;
    }
    let allowed = response.headers().get(header::ALLOW).and_then(|allow| allow.to_str().ok());
    let body = json!({ "error": sentence(status, method, path, allowed) }).to_string();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, json);
    *response.body_mut() = Body::from(body);
    response
}

fn sentence(status: StatusCode, method: &Method, path: &str, allowed: Option<&str>) -> String {
    match status {
        StatusCode::NOT_FOUND => format!("there is nothing at {path}; /api/openapi.json lists all paths"),
        StatusCode::METHOD_NOT_ALLOWED => {
            format!("{method} is not possible at {path}; possible: {}", allowed.unwrap_or("nothing"))
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("the body is larger than {} MB", HOOK_BODY_BYTES_MAX / (1024 * 1024))
        }
        status => status.canonical_reason().unwrap_or("the request failed").to_lowercase(),
    }
}
