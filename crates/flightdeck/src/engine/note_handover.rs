//! Notes in the outbox: one row for each target. They are handed over to the sender, which marks a row as done once it is sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use flightdeck_core::notify::{Note, NotifyRules};
use serde::{Deserialize, Serialize};

use super::ports::{NoteTargets, QueuedNote};
use crate::store::{OutboxEffect, OutboxKey};

/// The name of these rows in the outbox.
pub(super) const NOTIFICATION: &str = "notification";

/// The settings of notes that the engine needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteSettings {
    /// Which notes the fold makes. `None` if there is no target.
    pub rules: Option<NotifyRules>,
    /// The names of the targets: each note has one row for each of them.
    pub targets: Arc<[String]>,
}

/// A note to one target, as the body of its row in the outbox.
#[derive(Debug, Serialize, Deserialize)]
struct NotificationBody {
    target: String,
    note: Note,
}

/// Where notes go.
#[derive(Clone, Debug, Default)]
enum NoteRoute {
    /// Not known yet: the fleet is being restored.
    #[default]
    Unknown,
    /// There is no sender. Rows that an earlier daemon left are dropped.
    Nowhere,
    To(Arc<dyn NoteTargets>),
}

#[derive(Debug, Default)]
pub(super) struct NoteHandover {
    targets: Arc<[String]>,
    route: NoteRoute,
    /// The rows that were handed over and that the outbox did not list as done when it was last read.
    handed_over: BTreeSet<OutboxKey>,
}

/// What happened to the notes that were offered to the sender.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// The queue of the sender had no room for these. They are offered again later.
    pub(super) left: Vec<OutboxEffect>,
    /// These cannot be read or have no sender, so they can never be sent.
    pub(super) dropped: Vec<OutboxKey>,
    /// The queue of the sender is full.
    pub(super) is_full: bool,
}

impl NoteHandover {
    pub(super) fn new(targets: Arc<[String]>) -> Self {
        Self { targets, ..Self::default() }
    }

    /// From now on each note has one row for each of these targets.
    pub(super) fn set_targets(&mut self, targets: Arc<[String]>) {
        self.targets = targets;
    }

    /// Notes are handed over from now on. Without a sender they are dropped.
    pub(super) fn start(&mut self, to: Option<Arc<dyn NoteTargets>>) {
        self.route = to.map_or(NoteRoute::Nowhere, NoteRoute::To);
    }

    /// A note must not reach a target twice, so its rows are not repeatable.
    pub(super) fn rows(&self, seq: u64, note: &Note) -> Vec<OutboxEffect> {
        let row = |target: &String| {
            let subject = format!("{} {} {target}", note.session_id, note.kind.as_str());
            let key = OutboxKey { seq, kind: NOTIFICATION.to_owned(), subject };
            let body = NotificationBody { target: target.clone(), note: note.clone() };
            Some(OutboxEffect { key, body: serde_json::to_string(&body).ok()?, repeatable: false })
        };
        self.targets.iter().filter_map(row).collect()
    }

    /// Removes the rows that were handed over already. Forgets a handed-over row that is no longer waiting, because it is done.
    pub(super) fn without_handed_over(&mut self, mut waiting: Vec<OutboxEffect>) -> Vec<OutboxEffect> {
        if !self.handed_over.is_empty() {
            let stored: BTreeSet<_> = waiting.iter().map(|effect| &effect.key).collect();
            self.handed_over.retain(|key| stored.contains(key));
            waiting.retain(|effect| !self.handed_over.contains(&effect.key));
        }
        waiting
    }

    pub(super) fn offer(&mut self, waiting: Vec<OutboxEffect>) -> Offered {
        let mut offered = Offered::default();
        match self.route.clone() {
            NoteRoute::Unknown => offered.left = waiting,
            NoteRoute::Nowhere => offered.dropped = waiting.into_iter().map(|effect| effect.key).collect(),
            NoteRoute::To(targets) => {
                waiting.into_iter().for_each(|effect| self.offer_one(&*targets, effect, &mut offered));
            }
        }
        offered
    }

    fn offer_one(&mut self, targets: &dyn NoteTargets, effect: OutboxEffect, offered: &mut Offered) {
        let Some(queued) = queued_note(&effect) else { return offered.dropped.push(effect.key) };
        offered.is_full = offered.is_full || !targets.offer(queued);
        if offered.is_full {
            offered.left.push(effect);
        } else {
            self.handed_over.insert(effect.key);
        }
    }
}

pub(super) fn is_note(effect: &OutboxEffect) -> bool {
    effect.key.kind == NOTIFICATION
}

fn queued_note(effect: &OutboxEffect) -> Option<QueuedNote> {
    match serde_json::from_str(&effect.body) {
        Ok(NotificationBody { target, note }) => Some(QueuedNote { key: effect.key.clone(), target, note }),
        Err(error) => {
            tracing::error!(%error, key = ?effect.key, "a note in the outbox cannot be read and is dropped");
            None
        }
    }
}
