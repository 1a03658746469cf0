//! Effects that must not be lost. Each is stored in the outbox before it is carried out, and no snapshot is written while one
//! is not stored: after a crash, a replay from an older snapshot then produces it again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::notify::Note;
use flightdeck_core::rules::Rules;
use flightdeck_core::session::Session;
use flightdeck_core::view;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::ports::{NoteTargets, QueuedNote};
use crate::store::{OutboxEffect, OutboxKey, Store, StoreError, StoredSession};

/// After a failure the outbox is tried again after this time: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The kinds of effects in the outbox. Their names are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Write the row of a session that left the board. The row replaces an earlier one, so it may be written again.
    PastSession,
    /// Send a note to one target. A target must not get it twice, so it may not be sent again.
    Notification,
}

impl Kind {
    const ALL: [Self; 2] = [Self::PastSession, Self::Notification];

    fn name(self) -> &'static str {
        match self {
            Self::PastSession => "past_session",
            Self::Notification => "notification",
        }
    }

    fn is_repeatable(self) -> bool {
        match self {
            Self::PastSession => true,
            Self::Notification => false,
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The row of a session that left the board after the event `seq`.
pub(super) fn past_session(seq: u64, session: &Session, rules: &Rules) -> Option<OutboxEffect> {
    let card = view::card(session, rules);
    let row = StoredSession {
        id: card.id.clone(),
        project: Some(card.project.name.clone()),
        title: card.title.clone(),
        started_at: card.started_at,
        last_activity_at: card.last_activity_at,
        ended_at: card.ended_at,
        card: serde_json::to_string(&card).ok()?,
    };
    let kind = Kind::PastSession;
    let key = OutboxKey { seq, kind: kind.name().to_owned(), subject: row.id.to_string() };
    Some(OutboxEffect { key, body: serde_json::to_string(&row).ok()?, repeatable: kind.is_repeatable() })
}

/// A note to one target, as its row in the outbox has it.
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
    /// No target is configured. Rows that an earlier configuration left are dropped.
    Nowhere,
    To(Arc<dyn NoteTargets>),
}

/// The effects on their way through the outbox.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The names of the targets of notes: each note has one row for each of them.
    note_targets: Arc<[String]>,
    note_route: NoteRoute,
    /// Notes that were handed over and are not marked as done yet.
    handed_over: BTreeSet<OutboxKey>,
    /// Not stored yet.
    unsaved: Vec<OutboxEffect>,
    /// Stored, and not carried out yet.
    waiting: Vec<OutboxEffect>,
    /// Set after a failure.
    retry_at: Option<Instant>,
}

impl Outbox {
    /// An outbox that stores each note once for each of these targets.
    pub fn for_targets(note_targets: Arc<[String]>) -> Self {
        Self { note_targets, ..Self::default() }
    }

    /// Hands notes over from now on, also those that an earlier daemon left. Without targets they are dropped.
    pub(super) fn route_notes(&mut self, to: Option<Arc<dyn NoteTargets>>) {
        self.note_route = to.map_or(NoteRoute::Nowhere, NoteRoute::To);
        if !self.waiting.is_empty() {
            self.retry_at = Some(Instant::now());
        }
    }

    pub(super) fn add_note(&mut self, seq: u64, note: &Note) {
        let kind = Kind::Notification;
        for target in self.note_targets.iter() {
            let subject = format!("{} {target}", note.session_id);
            let key = OutboxKey { seq, kind: kind.name().to_owned(), subject };
            let body = NotificationBody { target: target.clone(), note: note.clone() };
            let Ok(body) = serde_json::to_string(&body) else { continue };
            self.unsaved.push(OutboxEffect { key, body, repeatable: kind.is_repeatable() });
        }
    }

    /// Also carries out what an earlier daemon left in the outbox.
    pub(super) async fn recover(&mut self, store: &Store) -> Result<(), StoreError> {
        self.flush(store).await;
        self.read_waiting(store).await?;
        self.flush(store).await;
        Ok(())
    }

    pub(super) fn add(&mut self, effects: impl IntoIterator<Item = OutboxEffect>) {
        self.unsaved.extend(effects);
    }

    /// Whether a snapshot may be written.
    pub(super) fn is_saved(&self) -> bool {
        self.unsaved.is_empty()
    }

    /// How long until a failed step is tried again.
    pub(super) fn until_retry(&self) -> Duration {
        self.retry_at.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }

    /// Stores and carries out, unless the last attempt failed a moment ago.
    pub(super) async fn flush_if_due(&mut self, store: &Store) {
        let idle = self.unsaved.is_empty() && self.waiting.is_empty();
        if !idle && self.retry_at.is_none_or(|at| at <= Instant::now()) {
            self.flush(store).await;
        }
    }

    pub(super) async fn flush(&mut self, store: &Store) {
        self.retry_at = None;
        if let Err(error) = self.advance(store).await {
            let effects = self.unsaved.len() + self.waiting.len();
            tracing::error!(%error, effects, "effects could not be stored; the engine tries again");
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
    }

    async fn advance(&mut self, store: &Store) -> Result<(), StoreError> {
        if !self.unsaved.is_empty() {
            store.put_outbox(self.unsaved.clone()).await?;
            // Some may have been carried out before a restart. Only the outbox knows which.
            self.unsaved.clear();
            self.read_waiting(store).await?;
        }
        let is_note = |effect: &OutboxEffect| Kind::parse(&effect.key.kind) == Some(Kind::Notification);
        if self.waiting.iter().any(|effect| !is_note(effect)) {
            let rows = self.waiting.iter().filter(|effect| !is_note(effect));
            let (keys, rows) =
                (rows.clone().map(|e| e.key.clone()).collect(), rows.filter_map(row).collect());
            store.finish_outbox(keys, rows).await?;
            self.waiting.retain(is_note);
        }
        if !self.waiting.is_empty() {
            self.hand_over_notes(store).await?;
        }
        Ok(())
    }

    async fn read_waiting(&mut self, store: &Store) -> Result<(), StoreError> {
        let mut waiting = store.outbox().await?;
        if !self.handed_over.is_empty() {
            let stored: BTreeSet<_> = waiting.iter().map(|effect| effect.key.clone()).collect();
            self.handed_over.retain(|key| stored.contains(key));
            waiting.retain(|effect| !self.handed_over.contains(&effect.key));
        }
        self.waiting = waiting;
        Ok(())
    }

    /// The receiver marks a note as done once it is sent. Notes without a target are marked here.
    async fn hand_over_notes(&mut self, store: &Store) -> Result<(), StoreError> {
        let targets = match &self.note_route {
            NoteRoute::Unknown => return Ok(()),
            NoteRoute::Nowhere => None,
            NoteRoute::To(targets) => Some(Arc::clone(targets)),
        };
        let mut dropped = Vec::new();
        let mut full = false;
        for effect in std::mem::take(&mut self.waiting) {
            let queued = targets.is_some().then(|| queued_note(&effect)).flatten();
            let (Some(targets), Some(queued)) = (&targets, queued) else {
                dropped.push(effect.key);
                continue;
            };
            full = full || !targets.offer(queued);
            if full {
                self.waiting.push(effect);
            } else {
                self.handed_over.insert(effect.key);
            }
        }
        if full {
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
        if !dropped.is_empty() {
            store.finish_outbox(dropped, Vec::new()).await?;
        }
        Ok(())
    }
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

/// The row that an effect writes. An effect that cannot be read is dropped, because it would stay in the outbox for ever.
fn row(effect: &OutboxEffect) -> Option<StoredSession> {
    let read = match Kind::parse(&effect.key.kind) {
        Some(Kind::PastSession) => serde_json::from_str(&effect.body).map_err(|e| e.to_string()),
        Some(Kind::Notification) | None => Err("unknown kind".to_owned()),
    };
    match read {
        Ok(row) => Some(row),
        Err(error) => {
            tracing::error!(error, key = ?effect.key, "an effect in the outbox cannot be read and is dropped");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::log::event::Event;
    use flightdeck_core::log::record::Record;

    use super::super::restore::restore;
    use super::super::testing::hook_at;
    use super::*;
    use crate::store::faulty::{Fault, Faulty, Switch, Written};
    use crate::store::{Backend, Memory};

    /// A disk that survives each daemon, and counts how often each effect was carried out.
    struct Disk {
        memory: Memory,
        switch: Switch,
        finished: Vec<OutboxKey>,
    }

    impl Disk {
        fn new() -> Self {
            Self { memory: Memory::default(), switch: Switch::default().keep_written(), finished: Vec::new() }
        }

        /// The store of a new daemon.
        fn open(&self) -> Store {
            let memory: Box<dyn Backend> = Box::new(self.memory.clone());
            Store::with_backend(Box::new(Faulty::reopened(memory, self.switch.clone()).unwrap())).unwrap()
        }

        fn finished(&mut self) -> &[OutboxKey] {
            for written in self.switch.take_written() {
                if let Written::Finished(keys) = written {
                    self.finished.extend(keys);
                }
            }
            &self.finished
        }
    }

    /// A session that ends, and an event so much later that the session has left the board.
    fn records() -> Vec<Record> {
        let later = Rules::default().done_keeps.0 + 60_000;
        let mut other = hook_at("SessionStart", later);
        other.subject = "other".into();
        vec![hook_at("UserPromptSubmit", 1), hook_at("SessionEnd", 2), other]
    }

    /// The fleet of a daemon that has stored and applied the records, and the effect of the last one.
    fn left(records: &[Record]) -> OutboxEffect {
        let mut fleet = flightdeck_core::fleet::Fleet::new(Rules::default());
        let mut effects = Vec::new();
        for (seq, record) in (1..).zip(records) {
            let event = Event { seq, ..Event::from_record(record) };
            effects.extend(super::super::effects::apply(&mut fleet, &event));
        }
        let forgotten = effects.into_iter().find_map(|caused| match caused.effect {
            flightdeck_core::fleet::Effect::Forgotten(session) => Some((caused.seq, session)),
            _ => None,
        });
        let (seq, session) = forgotten.unwrap();
        past_session(seq, &session, fleet.rules()).unwrap()
    }

    /// The daemon stores events, meets the fault while it carries out their effect, and is killed.
    async fn daemon_meets(disk: &Disk, fault: Fault, at_finish: bool) {
        let (store, records) = (disk.open(), records());
        store.append(records.clone()).await.unwrap();
        let mut outbox = Outbox::default();
        outbox.add([left(&records)]);
        if at_finish {
            store.put_outbox(outbox.unsaved.clone()).await.unwrap();
        }
        disk.switch.set(fault, 1);
        outbox.flush(&store).await;
        disk.switch.kill();
    }

    #[tokio::test]
    async fn a_row_is_written_exactly_once_if_the_daemon_is_killed_at_any_point() {
        for fault in [Fault::DieBeforeCommit, Fault::DieAfterCommit, Fault::DiskFull] {
            for at_finish in [false, true] {
                let mut disk = Disk::new();
                daemon_meets(&disk, fault, at_finish).await;
                for _start in 1..=2 {
                    let store = disk.open();
                    restore(&store, Rules::default()).await.unwrap();
                    let rows = store.stored_sessions(None, 10).await.unwrap().sessions;
                    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
                    assert_eq!(ids, ["s"], "{fault:?}, at_finish: {at_finish}");
                    assert_eq!(store.outbox().await.unwrap(), []);
                }
                assert_eq!(disk.finished().len(), 1, "{fault:?}, at_finish: {at_finish}");
            }
        }
    }

    #[tokio::test]
    async fn an_effect_that_is_not_stored_is_tried_again_and_holds_back_snapshots() {
        let disk = Disk::new();
        let store = disk.open();
        let mut outbox = Outbox::default();
        outbox.add([left(&records())]);
        disk.switch.set(Fault::DiskFull, 1);
        outbox.flush(&store).await;
        assert!(!outbox.is_saved() && outbox.until_retry() <= RETRY_AFTER);
        outbox.flush_if_due(&store).await;
        assert!(!outbox.is_saved(), "tried again too early");
        outbox.flush(&store).await;
        assert!(outbox.is_saved() && outbox.until_retry() == Duration::MAX);
        assert!(store.stored_session("s").await.unwrap().is_some());
    }
}
