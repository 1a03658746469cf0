//! The HTTP side: which route leads where. Bodies are bounded, every route is guarded.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};
use flightdeck_core::ask::policy::Policy;
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::price::PriceTable;

use crate::asks::answer;
use crate::asks::holds::{HoldRules, Holds};
use crate::engine::EngineHandle;
use crate::guard::{Guard, guard};
use crate::health::Health;
use crate::inlet::http;
use crate::inlet::tail::history::History;
use crate::outlet::{api, assets, numbers, observe, openapi, sse, terminal, usage};
use crate::registration::Registrar;
use crate::store::Store;
use crate::terminal::Terminals;

/// What a handler may use. Cloning it clones handles.
#[derive(Clone, Debug)]
pub struct App {
    pub engine: EngineHandle,
    pub store: Store,
    pub health: Arc<Health>,
    pub registrar: Arc<Registrar>,
    /// How often a silent stream says that it lives: [`sse::HEARTBEAT_EVERY`].
    pub heartbeat_every: Duration,
    pub history: Arc<History>,
    pub prices: Arc<PriceTable>,
    pub holds: Arc<Holds>,
    pub hold_rules: HoldRules,
    /// As it was read at the start.
    pub policy: Arc<Policy>,
    pub terminals: Arc<Terminals>,
}

pub fn router(app: App, allowed: Arc<Guard>) -> Router {
    Router::new()
        .route("/api/live/hook", post(http::live_hook))
        .route("/hook/{event}", post(http::named_hook))
        .route("/hook/status", get(observe::hook_status))
        .route("/api/live/stream", get(sse::stream))
        .route("/api/sessions", get(api::sessions))
        .route("/api/sessions/{id}", get(api::session))
        .route("/api/sessions/{id}/events", get(api::events))
        .route("/api/sessions/{id}/explain", get(api::explain))
        .route("/api/sessions/{id}/numbers", get(numbers::numbers))
        .route("/api/sessions/{id}/seen", post(api::seen))
        .route("/api/asks/{id}", get(answer::get_ask))
        .route("/api/asks/{id}/answer", post(answer::post_answer))
        .route("/api/sessions/{id}/prompt", post(terminal::post_prompt))
        .route("/api/sessions/{id}/interrupt", post(terminal::post_interrupt))
        .route("/api/sessions/{id}/focus", post(terminal::post_focus))
        .route("/api/fleet", get(api::fleet))
        .route("/api/fleet/history", get(api::history))
        .route("/api/usage", get(usage::usage))
        .route("/healthz", get(observe::healthz))
        .route("/metrics", get(observe::metrics))
        .route("/api/openapi.json", get(openapi::document))
        .fallback(get(assets::asset))
        .with_state(app)
        // In one layer, the guard outermost: each layer of its own would cost every hook an allocation more.
        .layer((middleware::from_fn_with_state(allowed, guard), DefaultBodyLimit::max(HOOK_BODY_BYTES_MAX)))
}
