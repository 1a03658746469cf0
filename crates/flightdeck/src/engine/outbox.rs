//! Effects that must not be lost. Each is stored in the outbox before it is carried out, and no snapshot is written while one
//! is not stored: after a crash, a replay from an older snapshot then produces it again.

use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::effort::{Effort, EffortMessage};
use flightdeck_core::fleet::Effect;
use flightdeck_core::ids::EffortId;
use flightdeck_core::notify::Note;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::{Session, SessionAssignment};
use flightdeck_core::view;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::note_handover::{NoteHandover, Offered, is_note};
use super::ports::NoteTargets;
use crate::store::{MessageRow, OutboxEffect, OutboxKey, OutboxRows, Store, StoreError, StoredSession};

/// After a failure the outbox is tried again after this time: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The kinds of effects that write a row. Their names are stored. Notifications are another kind: see `note_handover.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectKind {
    /// Write the row of a session that left the board. The row replaces an earlier one, so it may be written again.
    PastSession,
    /// Write the row of an assignment that was completed. Its id is derived from the event that opened it, so the row replaces
    /// itself.
    Assignment,
    /// Write the row of an effort, with its windows. A later row replaces it.
    Effort,
    /// Write a message of an effort. Its id is derived from the event that added it.
    EffortMessage,
}

impl EffectKind {
    const ALL: [Self; 4] = [Self::PastSession, Self::Assignment, Self::Effort, Self::EffortMessage];

    fn name(self) -> &'static str {
        match self {
            Self::PastSession => "past_session",
            Self::Assignment => "assignment",
            Self::Effort => "effort",
            Self::EffortMessage => "effort_message",
        }
    }

    fn is_repeatable(self) -> bool {
        match self {
            Self::PastSession | Self::Assignment | Self::Effort | Self::EffortMessage => true,
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The row of a session that left the board after the event `seq`.
pub(super) fn past_session_row(seq: u64, session: &Session, settings: &FoldSettings) -> Option<OutboxEffect> {
    let card = view::card(session, settings);
    let row = StoredSession {
        id: card.id.clone(),
        project: Some(card.project.name.clone()),
        title: card.title.clone(),
        started_at: card.started_at,
        last_activity_at: card.last_activity_at,
        ended_at: card.ended_at,
        card: serde_json::to_string(&card).ok()?,
    };
    let kind = EffectKind::PastSession;
    let key = OutboxKey { seq, kind: kind.name().to_owned(), subject: row.id.to_string() };
    Some(OutboxEffect { key, body: serde_json::to_string(&row).ok()?, repeatable: kind.is_repeatable() })
}

/// The row of an assignment that the fleet no longer changes after the event `seq`.
pub(super) fn assignment_row(seq: u64, row: &SessionAssignment) -> Option<OutboxEffect> {
    let kind = EffectKind::Assignment;
    let key = OutboxKey { seq, kind: kind.name().to_owned(), subject: row.assignment.id.to_string() };
    Some(OutboxEffect { key, body: serde_json::to_string(row).ok()?, repeatable: kind.is_repeatable() })
}

/// The row of an effort as it is after the event `seq`, or later.
pub(super) fn effort_row(seq: u64, effort: &Effort) -> Option<OutboxEffect> {
    let kind = EffectKind::Effort;
    let key = OutboxKey { seq, kind: kind.name().to_owned(), subject: effort.id.to_string() };
    Some(OutboxEffect { key, body: serde_json::to_string(effort).ok()?, repeatable: kind.is_repeatable() })
}

/// The row of a message that the event `seq` added.
pub(super) fn effort_message_row(
    seq: u64,
    effort: &EffortId,
    message: &EffortMessage,
) -> Option<OutboxEffect> {
    let kind = EffectKind::EffortMessage;
    let row = MessageRow { effort: effort.clone(), message: message.clone() };
    let key = OutboxKey { seq, kind: kind.name().to_owned(), subject: row.message.id.to_string() };
    Some(OutboxEffect { key, body: serde_json::to_string(&row).ok()?, repeatable: kind.is_repeatable() })
}

/// The assignment whose row an effect writes. `None` while the assignment is open.
pub(super) fn final_assignment(effect: &Effect) -> Option<&SessionAssignment> {
    match effect {
        Effect::AssignmentChanged(changed) if !changed.assignment.is_open() => Some(changed),
        Effect::AssignmentLeft(left) => Some(left),
        _ => None,
    }
}

/// The effects that are not carried out yet.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Not stored yet.
    unsaved: Vec<OutboxEffect>,
    /// Stored, and not carried out yet.
    waiting: Vec<OutboxEffect>,
    /// Set after a failure.
    retry_at: Option<Instant>,
    notes: NoteHandover,
}

impl Outbox {
    /// An outbox that stores each note once for each of these targets.
    pub fn for_note_targets(targets: Arc<[String]>) -> Self {
        Self { notes: NoteHandover::new(targets), ..Self::default() }
    }

    /// From now on each note is stored once for each of these targets.
    pub(super) fn set_note_targets(&mut self, targets: Arc<[String]>) {
        self.notes.set_targets(targets);
    }

    /// Hands notes to `sender` from now on, including those that an earlier daemon left. Without a sender the notes are dropped.
    pub(super) fn hand_over_notes_to(&mut self, sender: Option<Arc<dyn NoteTargets>>) {
        self.notes.start(sender);
        if !self.waiting.is_empty() {
            self.retry_at = Some(Instant::now());
        }
    }

    pub(super) fn add_note(&mut self, seq: u64, note: &Note) {
        self.unsaved.extend(self.notes.rows(seq, note));
    }

    /// Also carries out what an earlier daemon left in the outbox.
    pub(super) async fn recover(&mut self, store: &Store) -> Result<(), StoreError> {
        self.flush(store).await;
        self.waiting = self.notes.without_handed_over(store.outbox().await?);
        self.flush(store).await;
        Ok(())
    }

    pub(super) fn add(&mut self, effects: impl IntoIterator<Item = OutboxEffect>) {
        self.unsaved.extend(effects);
    }

    /// Adds the effects of another outbox that has not stored them.
    pub(super) fn absorb(&mut self, other: Self) {
        self.unsaved.extend(other.unsaved);
    }

    /// Whether a snapshot may be written.
    pub(super) fn is_saved(&self) -> bool {
        self.unsaved.is_empty()
    }

    /// How long until effects must be stored, or a failed attempt is repeated.
    pub(super) fn until_due(&self) -> Duration {
        let without_failure = if self.unsaved.is_empty() { Duration::MAX } else { Duration::ZERO };
        self.retry_at.map_or(without_failure, |at| at.saturating_duration_since(Instant::now()))
    }

    /// Stores the effects and carries them out, unless the last attempt failed less than [`RETRY_AFTER`] ago.
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
            tracing::error!(%error, effects, "effects could not be stored or carried out; the engine tries again");
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
    }

    async fn advance(&mut self, store: &Store) -> Result<(), StoreError> {
        if !self.unsaved.is_empty() {
            store.put_outbox(self.unsaved.clone()).await?;
            // Some may have been carried out before a restart. Only the outbox knows which.
            self.unsaved.clear();
            self.waiting = self.notes.without_handed_over(store.outbox().await?);
        }
        self.write_rows(store).await?;
        self.offer_notes(store).await
    }

    async fn write_rows(&mut self, store: &Store) -> Result<(), StoreError> {
        let due: Vec<_> = self.waiting.iter().filter(|effect| !is_note(effect)).cloned().collect();
        if !due.is_empty() {
            store.finish_outbox(due.iter().map(|e| e.key.clone()).collect(), rows(&due)).await?;
            self.waiting.retain(is_note);
        }
        Ok(())
    }

    async fn offer_notes(&mut self, store: &Store) -> Result<(), StoreError> {
        let Offered { left, dropped, is_full } = self.notes.offer(std::mem::take(&mut self.waiting));
        self.waiting = left;
        if is_full {
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
        }
        if !dropped.is_empty() {
            store.finish_outbox(dropped, OutboxRows::default()).await?;
        }
        Ok(())
    }
}

/// The rows that effects write. An effect that cannot be read is dropped, because it would stay in the outbox for ever.
fn rows(effects: &[OutboxEffect]) -> OutboxRows {
    let mut rows = OutboxRows::default();
    for effect in effects {
        let added = match EffectKind::parse(&effect.key.kind) {
            Some(EffectKind::PastSession) => add_to(&mut rows.sessions, &effect.body),
            Some(EffectKind::Assignment) => add_to(&mut rows.assignments, &effect.body),
            Some(EffectKind::Effort) => add_to(&mut rows.efforts, &effect.body),
            Some(EffectKind::EffortMessage) => add_to(&mut rows.messages, &effect.body),
            None => Err("unknown kind".to_owned()),
        };
        if let Err(error) = added {
            tracing::error!(error, key = ?effect.key, "an effect in the outbox cannot be read and is dropped");
        }
    }
    rows
}

fn add_to<T: DeserializeOwned>(rows: &mut Vec<T>, body: &str) -> Result<(), String> {
    rows.push(serde_json::from_str(body).map_err(|error| error.to_string())?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use flightdeck_core::ids::SessionId;
    use flightdeck_core::log::event::Event;
    use flightdeck_core::log::record::Record;

    use super::super::restore::restore;
    use super::super::testing::hook_at;
    use super::*;
    use crate::store::faulty::{Fault, FaultSwitch, Faulty, StoreWrite};
    use crate::store::{AssignmentsWanted, Backend, Memory};

    /// A disk that survives each daemon, and counts how often each effect was carried out.
    struct Disk {
        memory: Memory,
        switch: FaultSwitch,
        finished: Vec<OutboxKey>,
    }

    impl Disk {
        fn new() -> Self {
            Self {
                memory: Memory::default(),
                switch: FaultSwitch::default().keep_written(),
                finished: Vec::new(),
            }
        }

        /// The store of a new daemon.
        fn open(&self) -> Store {
            let memory: Box<dyn Backend> = Box::new(self.memory.clone());
            Store::with_backend(Box::new(Faulty::reopened(memory, self.switch.clone()).unwrap())).unwrap()
        }

        fn finished(&mut self) -> &[OutboxKey] {
            for written in self.switch.take_written() {
                if let StoreWrite::Finished(keys) = written {
                    self.finished.extend(keys);
                }
            }
            &self.finished
        }
    }

    /// A session that ends, and an event so much later that the session has left the board.
    fn records() -> Vec<Record> {
        let later = FoldSettings::default().done_keeps.0 + 60_000;
        let mut other = hook_at("SessionStart", later);
        other.subject = SessionId::from("other").into();
        vec![hook_at("UserPromptSubmit", 1), hook_at("SessionEnd", 2), other]
    }

    /// The effects that a daemon has to carry out once it has stored and applied the records: the rows of the assignment and of the
    /// session.
    fn left(records: &[Record]) -> [OutboxEffect; 2] {
        let mut fleet = flightdeck_core::fleet::Fleet::new(FoldSettings::default());
        let mut effects = Vec::new();
        for (seq, record) in (1..).zip(records) {
            let event = Event { seq, ..Event::from_record(record) };
            effects.extend(super::super::effects::apply(&mut fleet, &event));
        }
        let completed = effects.iter().find_map(|c| Some((c.seq, final_assignment(&c.effect)?))).unwrap();
        let completed = assignment_row(completed.0, completed.1).unwrap();
        let forgotten = effects.into_iter().find_map(|caused| match caused.effect {
            Effect::Forgotten(session) => Some((caused.seq, session)),
            _ => None,
        });
        let (seq, session) = forgotten.unwrap();
        [completed, past_session_row(seq, &session, fleet.settings()).unwrap()]
    }

    /// The daemon stores events, meets the fault while it carries out their effect, and is killed.
    async fn daemon_meets(disk: &Disk, fault: Fault, at_finish: bool) {
        let (store, records) = (disk.open(), records());
        store.append(records.clone()).await.unwrap();
        let mut outbox = Outbox::default();
        outbox.add(left(&records));
        if at_finish {
            store.put_outbox(outbox.unsaved.clone()).await.unwrap();
        }
        disk.switch.inject(fault, 1);
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
                    restore(&store, FoldSettings::default()).await.unwrap();
                    let rows = store.stored_sessions(None, 10).await.unwrap().sessions;
                    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
                    assert_eq!(ids, ["s"], "{fault:?}, at_finish: {at_finish}");
                    let all = AssignmentsWanted { limit: 10, ..AssignmentsWanted::default() };
                    let rows = store.assignments(all).await.unwrap().assignments;
                    assert_eq!(rows.len(), 1, "{fault:?}, at_finish: {at_finish}");
                    assert_eq!(store.outbox().await.unwrap(), []);
                }
                assert_eq!(disk.finished().len(), 2, "{fault:?}, at_finish: {at_finish}");
            }
        }
    }

    #[tokio::test]
    async fn an_effect_that_is_not_stored_is_tried_again_and_holds_back_snapshots() {
        let disk = Disk::new();
        let store = disk.open();
        let mut outbox = Outbox::default();
        outbox.add(left(&records()));
        disk.switch.inject(Fault::DiskFull, 1);
        outbox.flush(&store).await;
        assert!(!outbox.is_saved() && outbox.until_due() <= RETRY_AFTER);
        outbox.flush_if_due(&store).await;
        assert!(!outbox.is_saved(), "tried again too early");
        outbox.flush(&store).await;
        assert!(outbox.is_saved() && outbox.until_due() == Duration::MAX);
        assert!(store.stored_session(&"s".into()).await.unwrap().is_some());
    }
}
