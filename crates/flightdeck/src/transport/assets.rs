//! The page, built by `build.rs` from `web/` and embedded in the binary.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// `/` is the page. An unknown path is 404; files of the machine are never served.
pub(super) async fn asset(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    match ASSETS.iter().find(|(name, ..)| *name == path) {
        Some((_, kind, bytes)) => {
            let cache =
                if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
            ([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, cache)], *bytes).into_response()
        }
        None if path == "index.html" => {
            (StatusCode::NOT_FOUND, "this Flightdeck was built without the page (--no-default-features)\n")
                .into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
