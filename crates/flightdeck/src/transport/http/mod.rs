//! The HTTP side. The routes are those of the table in `flightdeck-protocol`; bodies are bounded, and the gate is in front.

mod errors;
mod hooks;
mod metrics;
mod requests;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{IntoMakeService, get, post};
use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_protocol::types::*;
use tower_service::Service;

use super::assets;
use super::gate::{Gate, harden, set_cookie};
use crate::app::App;

/// The path of hook payloads; the table of `flightdeck-protocol` has the same route.
const HOOK_PATH: &str = "/api/live/hook";

/// The service of every HTTP connection: the gate, then the routes.
#[derive(Clone, Debug)]
pub struct HttpService(Arc<HttpServiceParts>);

#[derive(Debug)]
struct HttpServiceParts {
    gate: Arc<Gate>,
    app: App,
    routes: Router,
}

pub fn http_service(app: App, gate: Arc<Gate>) -> IntoMakeService<HttpService> {
    let routes = routes(app.clone());
    axum::ServiceExt::<Request>::into_make_service(HttpService(Arc::new(HttpServiceParts {
        gate,
        app,
        routes,
    })))
}

impl Service<Request> for HttpService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let inside = Arc::clone(&self.0);
        if let Some(refusal) = inside.gate.refusal(&request) {
            return Box::pin(async { Ok(refusal) });
        }
        let cookie = inside.gate.cookie(&request);
        if cookie.is_none() && is_plain_hook(&request) {
            return Box::pin(async move { Ok(harden(hooks::plain_hook(&inside.app, request).await)) });
        }
        let called = (request.method().clone(), request.uri().path().to_owned());
        Box::pin(async move {
            let mut response = harden(inside.routes.clone().call(request).await?);
            if errors::is_interface(&called.1) {
                response = errors::with_json_body(&called.0, &called.1, response);
            }
            if let Some(cookie) = cookie {
                set_cookie(&mut response, cookie);
            }
            Ok(response)
        })
    }
}

/// Hooks are a thousand times as frequent as other requests, so they skip the router. A body that is too large or has no
/// length goes through the router, which refuses it.
fn is_plain_hook(request: &Request) -> bool {
    let bytes = request.body().size_hint().exact();
    request.method() == Method::POST
        && request.uri().path() == HOOK_PATH
        && bytes.is_some_and(|bytes| bytes <= HOOK_BODY_BYTES_MAX as u64)
}

/// One route for each `http` line of the table.
macro_rules! routes {
    ($(
        $request:ident -> $reply:ty, $summary:literal {
            $(socket $command:literal $(by $special:ident)?, example $example:tt;)?
            $(http $method:ident $path:literal $(by $handler:ident)? $(, $about:literal)? [$($responses:tt)*];)*
        }
    )*) => {
        Router::new()$($(.route($path, $method(handler!($request $($handler)?))))*)*
    };
}

macro_rules! handler {
    ($request:ident) => {
        requests::call::<$request>
    };
    ($request:ident live_hook) => {
        hooks::live_hook
    };
    ($request:ident named_hook) => {
        hooks::named_hook
    };
    ($request:ident stream) => {
        super::sse::stream
    };
    ($request:ident metrics) => {
        metrics::metrics
    };
    ($request:ident $handler:ident) => {
        requests::$handler
    };
}

fn routes(app: App) -> Router {
    flightdeck_protocol::endpoints!(routes)
        .fallback(get(assets::asset))
        .with_state(app)
        .layer(DefaultBodyLimit::max(HOOK_BODY_BYTES_MAX))
}
