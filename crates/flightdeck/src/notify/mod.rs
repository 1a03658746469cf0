//! Notifications: notes of the outbox on their way to the person. Start reading at `dispatch.rs`.
//!
//! The fold decides that a note arises, the engine stores it in the outbox, once for each target, and hands it over here.
//! `dispatch.rs` gathers notes, drops those that are no longer wanted and gives the rest to one worker for each target. A
//! worker sends, and then marks the row as done. Nothing here can delay an event.

mod answer_keys;
mod command;
mod delivery_log;
mod desktop;
mod dispatch;
mod http_client;
mod message;
mod ntfy;
mod program;
mod quiet;
pub mod settings;
mod target;
mod visible_boards;
mod webhook;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use flightdeck_protocol::notify::NotifyTargetStatus;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub use self::answer_keys::AnswerKeys;
use self::delivery_log::DeliveryLog;
pub use self::dispatch::Dispatcher;
use self::message::Message;
use self::settings::NotifySettings;
use self::target::SendError;
pub use self::visible_boards::VisibleBoards;
use crate::engine::{NoteTargets, QueuedNote};

/// Notes that may wait for the dispatcher. Further ones stay in the outbox.
const NOTES_WAITING_MAX: usize = 256;
/// How long an attempt that is under way may take when the daemon stops.
const STOP_MAX: Duration = Duration::from_secs(2);

/// The shared part: what the engine, the use cases and the dispatcher have in common.
#[derive(Debug)]
pub struct Notifier {
    settings: NotifySettings,
    /// The address of the board in notes.
    board: String,
    queue: mpsc::Sender<QueuedNote>,
    stopping: watch::Sender<bool>,
    deliveries: DeliveryLog,
    pub keys: AnswerKeys,
    pub boards: VisibleBoards,
}

/// How one target took a test.
#[derive(Clone, Debug)]
pub struct TestResult {
    pub target: String,
    pub kind: &'static str,
    pub result: Result<(), SendError>,
}

impl Notifier {
    /// `url` is the address of the board on this machine. The receiver is for the [`Dispatcher`].
    pub fn new(settings: NotifySettings, url: &str) -> (Arc<Self>, mpsc::Receiver<QueuedNote>) {
        let (queue, queued) = mpsc::channel(NOTES_WAITING_MAX);
        let board = settings.public_url.as_ref().map_or_else(|| url.to_owned(), ToString::to_string);
        let board = board.trim_end_matches('/').to_owned();
        let (stopping, _) = watch::channel(false);
        let (deliveries, keys, boards) = Default::default();
        (Arc::new(Self { settings, board, queue, stopping, deliveries, keys, boards }), queued)
    }

    /// Without targets there is nothing to send.
    pub fn has_targets(&self) -> bool {
        !self.settings.targets.is_empty()
    }

    pub fn status(&self) -> Vec<NotifyTargetStatus> {
        self.deliveries.status(&self.settings)
    }

    /// One attempt on each target, or on the named one. `None` if there is no target of that name.
    pub async fn test(&self, name: Option<&str>) -> Option<Vec<TestResult>> {
        let chosen = self.settings.targets.iter().filter(|t| name.is_none_or(|name| t.name == name));
        let attempts: Vec<_> = chosen
            .cloned()
            .map(|target| {
                let message = Message::test(&self.board);
                let attempt = async move { target::attempt(&target, &message).await };
                tokio::spawn(attempt)
            })
            .collect();
        if attempts.is_empty() && name.is_some() {
            return None;
        }
        let mut results = Vec::new();
        let chosen = self.settings.targets.iter().filter(|t| name.is_none_or(|name| t.name == name));
        for (target, attempt) in chosen.zip(attempts) {
            let result = attempt.await.unwrap_or_else(|error| Err(SendError::Final(error.to_string())));
            results.push(TestResult { target: target.name.clone(), kind: target.kind.name(), result });
        }
        Some(results)
    }

    /// Ends the dispatcher. An attempt that is under way gets a moment to finish; what is not sent stays in the outbox.
    pub async fn stop(&self, mut task: JoinHandle<()>) {
        self.stopping.send_replace(true);
        if tokio::time::timeout(STOP_MAX, &mut task).await.is_err() {
            tracing::warn!("a note was still being sent at the end; the next daemon may send it again");
            task.abort();
        }
    }
}

impl NoteTargets for Notifier {
    fn offer(&self, note: QueuedNote) -> bool {
        self.queue.try_send(note).is_ok()
    }
}

/// Ends when the daemon stops.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // If the sender is gone, the daemon has stopped as well.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
