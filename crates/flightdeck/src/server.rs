//! The HTTP side: which route leads where. Bodies are bounded, every route is guarded.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{IntoMakeService, get, post};
use flightdeck_core::ask::policy::Policy;
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::price::PriceTable;
use tower_service::Service;

use crate::asks::answer;
use crate::asks::holds::{HoldRules, Holds};
use crate::engine::EngineHandle;
use crate::guard::{Guard, harden, set_cookie};
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

/// Where hooks come in, and one of the routes below.
const HOOK_PATH: &str = "/api/live/hook";

/// What every connection speaks to: the guard, and behind it the routes.
#[derive(Clone, Debug)]
pub struct Front(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    guard: Arc<Guard>,
    app: App,
    routes: Router,
}

pub fn front(app: App, guard: Arc<Guard>) -> IntoMakeService<Front> {
    let routes = routes(app.clone());
    axum::ServiceExt::<Request>::into_make_service(Front(Arc::new(Inside { guard, app, routes })))
}

impl Service<Request> for Front {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let inside = Arc::clone(&self.0);
        if let Some(refusal) = inside.guard.refusal(&request) {
            return Box::pin(async { Ok(refusal) });
        }
        let cookie = inside.guard.cookie(&request);
        if cookie.is_none() && is_plain_hook(&request) {
            return Box::pin(async move { Ok(harden(http::plain_hook(&inside.app, request).await)) });
        }
        Box::pin(async move {
            let mut response = harden(inside.routes.clone().call(request).await?);
            if let Some(cookie) = cookie {
                set_cookie(&mut response, cookie);
            }
            Ok(response)
        })
    }
}

/// A thousand of these come for each other request, so they go past the routes, which lead to the same. One that is too
/// large, or does not say how large it is, goes through them and is told there.
fn is_plain_hook(request: &Request) -> bool {
    let bytes = request.body().size_hint().exact();
    request.method() == Method::POST
        && request.uri().path() == HOOK_PATH
        && bytes.is_some_and(|bytes| bytes <= HOOK_BODY_BYTES_MAX as u64)
}

fn routes(app: App) -> Router {
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
        .layer(DefaultBodyLimit::max(HOOK_BODY_BYTES_MAX))
}
