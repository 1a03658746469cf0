//! Three mistakes, each planted on wish: a simulation that does not find them would not find ours either.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use flightdeck_core::record::{EventId, Record};
use flightdeck_core::wire::hook::stamp;

use super::commit::{acknowledge, tell_of_resends};
use super::{Engine, NotStored, Reply};
use crate::inlet::spool::{self, SpoolFile};
use crate::store::Appended;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    AcknowledgedBeforeAppend,
    AppliedBeforeCommit,
    SpoolRemovedBeforeCommit,
    /// The detour that the first two take, and no mistake on it: nothing must be found.
    OnlyTheDetour,
}

impl Bug {
    pub(crate) const ALL: [Self; 3] =
        [Self::AcknowledgedBeforeAppend, Self::AppliedBeforeCommit, Self::SpoolRemovedBeforeCommit];

    /// What gives it away, and nothing else does.
    pub(crate) fn betrayed_by(self) -> &'static str {
        match self {
            Self::AcknowledgedBeforeAppend => "was acknowledged as",
            Self::AppliedBeforeCommit => "holds events that nobody stored",
            Self::SpoolRemovedBeforeCommit => "was spooled and is lost",
            Self::OnlyTheDetour => "",
        }
    }
}

thread_local! {
    /// A simulation lives on one thread, so a mistake stays within its own.
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    /// What is in the log, with its place: a resend alone must not give the mistake away.
    static STORED: RefCell<BTreeMap<EventId, u64>> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
    STORED.take();
}

/// Where the store will put them if nothing goes wrong.
fn guessed(after: u64, records: &[Record]) -> Vec<Appended> {
    let (mut last, mut known) = (after, STORED.with_borrow(Clone::clone));
    let place = |record: &Record| {
        if let Some(seq) = known.get(&record.id) {
            return Appended { seq: *seq, duplicate: true };
        }
        last += 1;
        known.insert(record.id, last);
        Appended { seq: last, duplicate: false }
    };
    records.iter().map(place).collect()
}

pub(super) fn in_commit() -> Option<Bug> {
    PLANTED.get().filter(|bug| *bug != Bug::SpoolRemovedBeforeCommit)
}

pub(crate) fn remove_too_early(files: &[SpoolFile]) {
    if PLANTED.get() == Some(Bug::SpoolRemovedBeforeCommit) {
        let _ = spool::remove(files);
    }
}

impl Engine {
    /// As `commit`, but for the one step that comes too early.
    pub(super) async fn commit_wrongly(
        &mut self,
        bug: Bug,
        mut records: Vec<Record>,
        mut waiting: Vec<(usize, Reply)>,
    ) {
        let mut last = self.fleet.now();
        for record in &mut records {
            stamp(record, self.clock.wall(), last);
            last = record.received_at;
        }
        let guessed = guessed(self.fleet.last_seq(), &records);
        let mut effects = Vec::new();
        match bug {
            Bug::AcknowledgedBeforeAppend => acknowledge(std::mem::take(&mut waiting), &guessed),
            Bug::AppliedBeforeCommit => effects = self.apply(&records, &guessed),
            Bug::SpoolRemovedBeforeCommit | Bug::OnlyTheDetour => {}
        }
        let records = Arc::new(records);
        match self.store.append(Arc::clone(&records)).await {
            Ok(appended) => {
                self.health.stored();
                tell_of_resends(&appended);
                let places = records.iter().zip(&appended).map(|(record, place)| (record.id, place.seq));
                STORED.with_borrow_mut(|stored| stored.extend(places));
                if bug != Bug::AppliedBeforeCommit {
                    effects = self.apply(&records, &appended);
                }
                self.publish(effects).await;
                acknowledge(waiting, &appended);
            }
            Err(error) => {
                tracing::error!(%error, events = records.len(), "events could not be stored");
                self.health.not_stored(&error);
                let refusal = NotStored(error.to_string());
                waiting.into_iter().for_each(|(_, reply)| drop(reply.send(Err(refusal.clone()))));
            }
        }
    }
}
