//! Notifications: notes of the outbox on their way to the person. Start reading at `dispatch.rs`.
//!
//! The fold makes a note. The engine stores it in the outbox, once for each target, and hands it to this module.
//! `dispatch.rs` gathers notes, drops those that are no longer wanted (`suppress.rs`) and gives the rest to one worker for
//! each target. A worker sends, and then marks the row as done. Nothing here can delay an event.

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
mod send_error;
pub mod settings;
mod suppress;
mod target;
mod visible_boards;
mod webhook;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use flightdeck_protocol::notify::NotifyTargetStatus;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

pub use self::answer_keys::AnswerKeys;
use self::delivery_log::DeliveryLog;
pub use self::dispatch::Dispatcher;
use self::message::NoteMessage;
pub use self::send_error::SendError;
use self::settings::NotifySettings;
pub use self::visible_boards::VisibleBoards;
use crate::engine::{NoteTargets, QueuedNote};

/// Rows of the outbox that may wait for the dispatcher: 256 notes with the most targets. Further ones stay in the outbox.
const NOTES_WAITING_MAX: usize = 256 * settings::TARGETS_MAX;
/// How long an attempt that is under way may take when the daemon stops.
const LAST_ATTEMPT_MAX: Duration = Duration::from_secs(2);
/// How long the end of the dispatcher may take: the last attempts, and the marks of their rows.
const STOP_MAX: Duration = Duration::from_secs(4);

/// The shared part: what the engine, the use cases and the dispatcher have in common.
#[derive(Debug)]
pub struct Notifier {
    settings: watch::Sender<Arc<NotifySettings>>,
    /// The address of the board on this machine.
    url: String,
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
        let (settings, stopping) = (watch::Sender::new(Arc::new(settings)), watch::Sender::new(false));
        let (deliveries, keys, boards) = Default::default();
        (Arc::new(Self { settings, url: url.to_owned(), queue, stopping, deliveries, keys, boards }), queued)
    }

    pub fn settings(&self) -> Arc<NotifySettings> {
        Arc::clone(&self.settings.borrow())
    }

    /// Uses these settings from now on. Returns whether anything changed. The gate admits only the `public_url` of the start,
    /// so that one stays.
    pub fn use_settings(&self, new: &NotifySettings) -> bool {
        self.settings.send_if_modified(|settings| {
            let new = NotifySettings { public_url: settings.public_url.clone(), ..new.clone() };
            let changed = new != **settings;
            *settings = Arc::new(new);
            changed
        })
    }

    /// The address of the board in notes.
    fn board(&self) -> String {
        let public = self.settings().public_url.as_ref().map(ToString::to_string);
        public.unwrap_or_else(|| self.url.clone())
    }

    pub fn status(&self) -> Vec<NotifyTargetStatus> {
        self.deliveries.status(&self.settings())
    }

    /// One attempt on each target, or on the named one. `None` if there is no target of that name.
    pub async fn test(&self, name: Option<&str>) -> Option<Vec<TestResult>> {
        let mut attempts = JoinSet::new();
        let settings = self.settings();
        let chosen =
            settings.targets.iter().enumerate().filter(|(_, t)| name.is_none_or(|name| t.name == name));
        for (n, target) in chosen {
            let (target, message) = (target.clone(), NoteMessage::test(&self.board()));
            attempts.spawn(async move {
                let result = target::attempt(&target, &message).await;
                (n, TestResult { target: target.name, kind: target.kind.name(), result })
            });
        }
        if attempts.is_empty() && name.is_some() {
            return None;
        }
        let mut results = attempts.join_all().await;
        results.sort_by_key(|(n, _)| *n);
        Some(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Ends the dispatcher. An attempt that is under way gets a moment to finish; what is not sent stays in the outbox.
    pub async fn stop(&self, mut task: JoinHandle<()>) {
        self.stopping.send_replace(true);
        if tokio::time::timeout(STOP_MAX, &mut task).await.is_err() {
            tracing::warn!(
                "notes could not be marked as sent before the end; the next daemon may send them again"
            );
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
