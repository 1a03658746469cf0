//! `GET /metrics`: the daemon's counters as Prometheus text.

use std::fmt::Write;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Metric, MetricKind};

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let mut text = String::new();
    for Metric { name, kind, help, value } in app.metrics().await {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        };
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "# HELP flightdeck_{name} {help}\n# TYPE flightdeck_{name} {kind}\nflightdeck_{name} {value}\n"
        );
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
