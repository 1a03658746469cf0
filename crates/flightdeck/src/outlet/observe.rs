//! How it is going: `/healthz`, `/metrics`, `/hook/status`, and the `status` command.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use flightdeck_core::answers::{HookStatus, SpoolStatus};
use serde_json::{Value, json};

use crate::server::App;

/// 200 while events can be stored, else 503 with what is wrong.
pub async fn healthz(State(app): State<App>) -> Response {
    let reasons = app.health.reasons();
    let (code, status) = match reasons.is_empty() {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "degraded"),
    };
    (code, axum::Json(json!({ "status": status, "reasons": reasons }))).into_response()
}

/// Whether our hooks are in place, and what came through them.
pub async fn hook_status(State(app): State<App>) -> Response {
    axum::Json(hook_status_now(&app).await).into_response()
}

async fn hook_status_now(app: &App) -> HookStatus {
    let registrar = app.registrar.clone();
    let looked = tokio::task::spawn_blocking(move || (registrar.status(), registrar.spool()));
    let (hooks, spool) = looked.await.unwrap_or_default();
    let by_event = app.store.counts_by_name().await.unwrap_or_default();
    HookStatus {
        hooks,
        simulated: app.registrar.is_simulated(),
        program: app.registrar.program().to_owned(),
        last_event_at: app.health.metrics.last_event_at(),
        events_total: by_event.values().sum(),
        by_event,
        spool: SpoolStatus { files: spool.files, bytes: spool.bytes, dropped: spool.dropped },
    }
}

pub async fn status_json(app: &App) -> Value {
    let health = &app.health;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "url": app.registrar.url(),
        "started_at": health.started_at,
        "status": if health.reasons().is_empty() { "ok" } else { "degraded" },
        "reasons": health.reasons(),
        "sessions": health.metrics.sessions.load(Ordering::Relaxed),
        "viewers": health.metrics.viewers.load(Ordering::Relaxed),
        "store_bytes": app.store.size_bytes().await.unwrap_or(0),
        "history": app.history.progress(),
        "hooks": hook_status_now(app).await,
    })
}

/// Prometheus text.
pub async fn metrics(State(app): State<App>) -> Response {
    let m = &app.health.metrics;
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
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
        (
            "history_files_left",
            "gauge",
            "Transcripts that were not read to their end yet.",
            app.history.files_left(),
        ),
        (
            "history_bytes_total",
            "counter",
            "Transcript bytes read in the background.",
            app.history.bytes_read(),
        ),
        ("store_bytes", "gauge", "Size of the event log.", app.store.size_bytes().await.unwrap_or(0)),
        ("healthy", "gauge", "1 while nothing is wrong.", u64::from(app.health.reasons().is_empty())),
    ] {
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "# HELP flightdeck_{name} {help}\n# TYPE flightdeck_{name} {kind}\nflightdeck_{name} {value}\n"
        );
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
