//! `GET /metrics`: the daemon's counters as Prometheus text.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let m = &app.health.metrics;
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let store_bytes = app.store.size_bytes().await.unwrap_or(0);
    let healthy = u64::from(app.health.reasons().is_empty());
    let (files_left, bytes_read) = (app.history.files_left(), app.history.bytes_read());
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("events_total", "counter", "Events stored and applied since start.", read(&m.events)),
        ("events_duplicate_total", "counter", "Events that were in the log already.", read(&m.duplicates)),
        ("events_spooled_total", "counter", "Events taken from the spool.", read(&m.spooled)),
        ("store_failures_total", "counter", "Batches the store refused.", read(&m.store_failures)),
        ("requests_refused_total", "counter", "HTTP requests turned away at the door.", read(&m.refused)),
        ("viewer_gaps_total", "counter", "Viewers that read too slowly and started anew.", read(&m.gaps)),
        ("sessions", "gauge", "Sessions in the fleet.", read(&m.sessions)),
        ("viewers", "gauge", "Open event streams.", read(&m.viewers)),
        ("history_files_left", "gauge", "Transcripts that were not read to their end yet.", files_left),
        ("history_bytes_total", "counter", "Transcript bytes read in the background.", bytes_read),
        ("store_bytes", "gauge", "Size of the event log.", store_bytes),
        ("healthy", "gauge", "1 while nothing is wrong.", healthy),
    ] {
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "# HELP flightdeck_{name} {help}\n# TYPE flightdeck_{name} {kind}\nflightdeck_{name} {value}\n"
        );
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
