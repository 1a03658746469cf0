//! One task for each target: a target that hangs holds up no other.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::message::NoteMessage;
use super::settings::TargetSettings;
use super::target::deliver;
use super::{Notifier, stopped};
use crate::clock::Clock;
use crate::store::{OutboxKey, OutboxRows, Store};

/// Messages that may wait for one target. Further ones are not delivered: a target that is so far behind hangs.
pub(super) const DELIVERIES_WAITING_MAX: usize = 16;
/// Attempts to mark a row of the outbox as done, with a pause between them. A row that stays is sent again after a restart.
const MARK_ATTEMPTS_MAX: usize = 5;
const MARK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// A message, and the rows of the outbox that it carries out.
#[derive(Debug)]
pub(super) struct NoteDelivery {
    pub(super) keys: Vec<OutboxKey>,
    pub(super) message: NoteMessage,
}

#[derive(Clone, Debug)]
pub(super) struct TargetWorker {
    pub(super) notifier: Arc<Notifier>,
    pub(super) store: Store,
    pub(super) clock: Clock,
}

impl TargetWorker {
    /// Sends every message of its queue, until the daemon stops.
    pub(super) async fn run(self, target: TargetSettings, mut queue: mpsc::Receiver<NoteDelivery>) {
        let mut stopping = self.notifier.stopping.subscribe();
        loop {
            let next = tokio::select! {
                biased;
                () = stopped(&mut stopping) => return,
                next = queue.recv() => next,
            };
            let Some(NoteDelivery { keys, message }) = next else { return };
            let Some(result) = deliver(&target, &message, &mut stopping).await else { return };
            match result {
                Ok(()) => self.notifier.deliveries.sent(&target.name),
                Err(error) => self.give_up(&target.name, &message, error.to_string()),
            }
            self.mark_done(keys).await;
        }
    }

    pub(super) fn give_up(&self, target: &str, message: &NoteMessage, error: String) {
        tracing::warn!(
            target,
            error,
            title = message.title,
            "a note could not be delivered; it is not tried again"
        );
        self.notifier.deliveries.undelivered(target, self.clock.now(), &message.title, error);
    }

    pub(super) async fn mark_done(&self, keys: Vec<OutboxKey>) {
        for attempt in 1..=MARK_ATTEMPTS_MAX {
            match self.store.finish_outbox(keys.clone(), OutboxRows::default()).await {
                Ok(()) => return,
                Err(error) if attempt == MARK_ATTEMPTS_MAX => {
                    tracing::error!(%error, "notes could not be marked as sent; a restart may send them again");
                }
                Err(_) => tokio::time::sleep(MARK_AGAIN_AFTER).await,
            }
        }
    }
}
