//! How the daemon is doing.

use std::sync::atomic::Ordering;

use flightdeck_core::usage::totals::Indexing;
use flightdeck_protocol::daemon::{
    DaemonStatus, GetHealth, GetOpenApi, GetStatus, HealthReport, OpenApi, Ping, Pong,
};
use flightdeck_protocol::hooks::{GetHookStatus, HookStatus, SpoolStatus};
use flightdeck_protocol::openapi;
use flightdeck_protocol::usage::ControlIndexing;

use super::{App, AppError, Handle, Reply};

impl Handle<Ping> for App {
    async fn handle(&self, _: Ping) -> Result<Reply<Pong>, AppError> {
        Ok(Pong { version: env!("CARGO_PKG_VERSION").to_owned(), pid: std::process::id() }.into())
    }
}

impl Handle<GetHealth> for App {
    async fn handle(&self, _: GetHealth) -> Result<Reply<HealthReport>, AppError> {
        Ok(self.health_report().into())
    }
}

impl Handle<GetHookStatus> for App {
    async fn handle(&self, _: GetHookStatus) -> Result<Reply<HookStatus>, AppError> {
        Ok(self.hook_status().await.into())
    }
}

impl Handle<ControlIndexing> for App {
    async fn handle(&self, request: ControlIndexing) -> Result<Reply<Indexing>, AppError> {
        if let Some(pause) = request.pause {
            self.history.pause(pause);
        }
        Ok(self.history.progress().into())
    }
}

impl Handle<GetOpenApi> for App {
    async fn handle(&self, _: GetOpenApi) -> Result<Reply<OpenApi>, AppError> {
        Ok(openapi::document().into())
    }
}

impl Handle<GetStatus> for App {
    async fn handle(&self, _: GetStatus) -> Result<Reply<DaemonStatus>, AppError> {
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
            notify: self.notifier.status(),
        };
        Ok(status.into())
    }
}

impl App {
    pub fn health_report(&self) -> HealthReport {
        HealthReport::new(self.health.reasons())
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
