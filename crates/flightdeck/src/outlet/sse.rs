//! `GET /api/live/stream`: a snapshot, then every change, with ids that let a viewer come back.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::changes::Subscription;
use crate::server::App;

/// A proxy or a sleeping laptop shows itself within this.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

pub async fn stream(State(app): State<App>, headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    let Ok(mut subscription) = app.engine.subscribe(last).await else {
        return axum::http::StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let viewer = Viewer { app, waiting: waiting(&mut subscription), subscription };
    let frames = stream::unfold(viewer, |mut viewer| async move {
        let frame = viewer.next().await?;
        Some((Ok::<_, Infallible>(frame), viewer))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(frames)).into_response()
}

struct Viewer {
    app: App,
    subscription: Subscription,
    /// Frames of the past that are still to be sent, last first.
    waiting: Vec<Bytes>,
}

/// Taken out: a viewer must not hold for hours what it was sent first.
fn waiting(subscription: &mut Subscription) -> Vec<Bytes> {
    std::mem::take(&mut subscription.first).iter().rev().map(|change| change.sse.clone()).collect()
}

impl Viewer {
    /// `None` ends the stream: the daemon is stopping.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop() {
                return Some(frame);
            }
            // What is ready by now is gathered into one write where it is sent.
            match timeout(self.app.heartbeat_every, self.subscription.next.recv()).await {
                Err(_) => return Some(HEARTBEAT),
                Ok(Ok(change)) => return Some(change.sse.clone()),
                Ok(Err(RecvError::Closed)) => return None,
                Ok(Err(RecvError::Lagged(_))) => self.start_anew().await?,
            }
        }
    }

    /// It read too slowly: what it missed is gone, so it is told and gets the whole board.
    async fn start_anew(&mut self) -> Option<()> {
        self.app.health.metrics.gaps.fetch_add(1, Ordering::Relaxed);
        self.subscription = self.app.engine.subscribe(Some(String::new())).await.ok()?;
        self.waiting = waiting(&mut self.subscription);
        Some(())
    }
}
