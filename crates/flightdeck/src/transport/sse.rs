//! `GET /api/live/stream`: a snapshot, then every change, with ids that let a viewer reconnect.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::app::{App, Subscription};

/// How often a heartbeat is sent. If nothing arrives for four times this time, the page says that the daemon does not respond.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

pub(super) async fn stream(State(app): State<App>, headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    let Ok(mut subscription) = app.subscribe(last).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let viewer = SseViewer { app, unsent: first_frames(&mut subscription), subscription };
    let frames = stream::unfold(viewer, |mut viewer| async move {
        let frame = viewer.next().await?;
        Some((Ok::<_, Infallible>(frame), viewer))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(frames)).into_response()
}

struct SseViewer {
    app: App,
    subscription: Subscription,
    /// The first frames that are still to be sent, in reverse order.
    unsent: Vec<Bytes>,
}

/// Moved out of the subscription, so that a viewer does not keep its first snapshot in memory.
fn first_frames(subscription: &mut Subscription) -> Vec<Bytes> {
    std::mem::take(&mut subscription.first).iter().rev().map(|change| change.sse.clone()).collect()
}

impl SseViewer {
    /// `None` ends the stream: the daemon is stopping.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.unsent.pop() {
                return Some(frame);
            }
            // The HTTP server gathers the frames that are ready into one write.
            match timeout(self.app.heartbeat_every, self.subscription.next.recv()).await {
                Err(_) => return Some(HEARTBEAT),
                Ok(Ok(change)) => return Some(change.sse.clone()),
                Ok(Err(RecvError::Closed)) => return None,
                Ok(Err(RecvError::Lagged(_))) => self.start_again().await?,
            }
        }
    }

    /// The viewer read too slowly and changes were dropped: it is sent `gap` and the whole board.
    async fn start_again(&mut self) -> Option<()> {
        self.subscription = self.app.resubscribe_after_gap().await.ok()?;
        self.unsent = first_frames(&mut self.subscription);
        Some(())
    }
}
