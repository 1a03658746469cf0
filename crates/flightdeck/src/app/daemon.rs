//! The status of the daemon.

use std::sync::atomic::{AtomicU64, Ordering};

use flightdeck_core::usage::totals::Indexing;
use flightdeck_protocol::daemon::{
    ConfigReport, DaemonStatus, GetHealth, GetOpenApi, GetStatus, HealthReport, OpenApi, Ping, Pong,
};
use flightdeck_protocol::hooks::{GetHookStatus, HookStatus, SpoolStatus};
use flightdeck_protocol::openapi;
use flightdeck_protocol::usage::ControlIndexing;

use super::{App, AppError, AppReply, Handle};

impl Handle<Ping> for App {
    async fn handle(&self, _: Ping) -> Result<AppReply<Pong>, AppError> {
        Ok(Pong { version: env!("CARGO_PKG_VERSION").to_owned(), pid: std::process::id() }.into())
    }
}

impl Handle<GetHealth> for App {
    async fn handle(&self, _: GetHealth) -> Result<AppReply<HealthReport>, AppError> {
        Ok(self.health_report().into())
    }
}

impl Handle<GetHookStatus> for App {
    async fn handle(&self, _: GetHookStatus) -> Result<AppReply<HookStatus>, AppError> {
        Ok(self.hook_status().await.into())
    }
}

impl Handle<ControlIndexing> for App {
    async fn handle(&self, request: ControlIndexing) -> Result<AppReply<Indexing>, AppError> {
        if let Some(pause) = request.pause {
            self.history.pause(pause);
        }
        Ok(self.history.progress().into())
    }
}

impl Handle<GetOpenApi> for App {
    async fn handle(&self, _: GetOpenApi) -> Result<AppReply<OpenApi>, AppError> {
        Ok(openapi::openapi_document().into())
    }
}

impl Handle<GetStatus> for App {
    async fn handle(&self, _: GetStatus) -> Result<AppReply<DaemonStatus>, AppError> {
        let metrics = &self.health.metrics;
        let status = DaemonStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            url: self.url.to_string(),
            started_at: self.health.started_at,
            health: self.health_report(),
            sessions: metrics.sessions.load(Ordering::Relaxed),
            viewers: metrics.viewers.load(Ordering::Relaxed),
            store_bytes: self.store.size_bytes().await.unwrap_or(0),
            history: self.history.progress(),
            hooks: self.hook_status().await,
            config: self.config_report(),
            notify: self.notifier.status(),
        };
        Ok(status.into())
    }
}

/// One number about the daemon, for `GET /metrics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub kind: MetricKind,
    /// The sentence that describes the number to a reader of the metrics.
    pub help: &'static str,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A counter: it only grows while the daemon runs.
    Counter,
    Gauge,
}

impl App {
    pub async fn metrics(&self) -> Vec<Metric> {
        let m = &self.health.metrics;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counter = |name, help, value| Metric { name, kind: MetricKind::Counter, help, value };
        let gauge = |name, help, value| Metric { name, kind: MetricKind::Gauge, help, value };
        let store_bytes = self.store.size_bytes().await.unwrap_or(0);
        let healthy = u64::from(self.health.reasons().is_empty());
        let (files_left, bytes_read) = (self.history.files_left(), self.history.bytes_read());
        vec![
            counter("events_total", "Events stored and applied since start.", read(&m.events)),
            counter("events_duplicate_total", "Events that were in the log already.", read(&m.duplicates)),
            counter("events_spooled_total", "Events taken from the spool.", read(&m.spooled)),
            counter("store_failures_total", "Batches the store refused.", read(&m.store_failures)),
            counter("requests_refused_total", "HTTP requests refused by the gate.", read(&m.refused)),
            counter(
                "viewer_gaps_total",
                "Viewers that read too slowly and got a new snapshot.",
                read(&m.gaps),
            ),
            gauge("sessions", "Sessions in the fleet.", read(&m.sessions)),
            gauge("viewers", "Open event streams.", read(&m.viewers)),
            gauge("history_files_left", "Transcripts that were not read to their end yet.", files_left),
            counter("history_bytes_total", "Transcript bytes read in the background.", bytes_read),
            gauge("store_bytes", "Size of the event log.", store_bytes),
            gauge("healthy", "1 while nothing is wrong.", healthy),
        ]
    }

    pub fn health_report(&self) -> HealthReport {
        HealthReport::new(self.health.reasons())
    }

    fn config_report(&self) -> ConfigReport {
        let (problem, needs_restart) = self.config.report();
        ConfigReport { problem, needs_restart }
    }

    async fn hook_status(&self) -> HookStatus {
        let registrar = self.registrar.clone();
        let looked = tokio::task::spawn_blocking(move || (registrar.status(), registrar.spool()));
        let (hooks, spool) = looked.await.unwrap_or_default();
        let by_event = self.store.counts_by_name().await.unwrap_or_default();
        HookStatus {
            hooks,
            simulated: self.registrar.is_simulated(),
            program: self.registrar.program().to_owned(),
            last_event_at: self.health.metrics.last_event_at(),
            events_total: by_event.values().sum(),
            by_event,
            spool: SpoolStatus { files: spool.files, bytes: spool.bytes, dropped: spool.dropped },
        }
    }
}
