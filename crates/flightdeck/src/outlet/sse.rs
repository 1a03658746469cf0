//! `GET /api/live/stream`: a snapshot, then every change, with ids that let a viewer come back.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;

use crate::changes::{Change, Subscription};
use crate::server::App;

/// A proxy or a sleeping laptop shows itself within this.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

pub async fn stream(State(app): State<App>, headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    let Ok(subscription) = app.engine.subscribe(last).await else {
        return axum::http::StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let viewer = Viewer { app, waiting: waiting(&subscription), subscription };
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

fn waiting(subscription: &Subscription) -> Vec<Bytes> {
    subscription.first.iter().rev().map(Change::sse).collect()
}

impl Viewer {
    /// `None` ends the stream: the daemon is stopping.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop() {
                return Some(frame);
            }
            match tokio::time::timeout(self.app.heartbeat_every, self.subscription.next.recv()).await {
                Err(_) => return Some(HEARTBEAT),
                Ok(Ok(change)) => return Some(self.together(change)),
                Ok(Err(RecvError::Closed)) => return None,
                Ok(Err(RecvError::Lagged(_))) => self.start_anew().await?,
            }
        }
    }

    /// What is ready by now goes out in one write.
    fn together(&mut self, first: Arc<Change>) -> Bytes {
        let mut frames = vec![first.sse()];
        while let Ok(change) = self.subscription.next.try_recv() {
            frames.push(change.sse());
            if frames.len() == 64 {
                break;
            }
        }
        if frames.len() == 1 { frames.remove(0) } else { frames.concat().into() }
    }

    /// It read too slowly: what it missed is gone, so it is told and gets the whole board.
    async fn start_anew(&mut self) -> Option<()> {
        self.app.health.metrics.gaps.fetch_add(1, Ordering::Relaxed);
        self.subscription = self.app.engine.subscribe(Some(String::new())).await.ok()?;
        self.waiting = waiting(&self.subscription);
        Some(())
    }
}
