//! Three mistakes, each planted on wish: a simulation that does not find them would not find ours either.

use std::cell::Cell;
use std::sync::Arc;

use flightdeck_core::event::Event;
use flightdeck_core::record::Record;
use flightdeck_core::wire::hook::stamp;

use super::commit::acknowledge;
use super::{Engine, NotStored, Reply};
use crate::inlet::spool::{self, SpoolFile};
use crate::store::Appended;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    AcknowledgedBeforeAppend,
    AppliedBeforeCommit,
    SpoolRemovedBeforeCommit,
}

impl Bug {
    pub(crate) const ALL: [Self; 3] =
        [Self::AcknowledgedBeforeAppend, Self::AppliedBeforeCommit, Self::SpoolRemovedBeforeCommit];
}

thread_local! {
    /// A simulation lives on one thread, so a mistake stays within its own.
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

pub(crate) fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
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
        if bug == Bug::AcknowledgedBeforeAppend {
            let after = self.fleet.last_seq();
            let guessed = (1..).map(|n| Appended { seq: after + n, duplicate: false });
            let guessed: Vec<_> = guessed.take(records.len()).collect();
            acknowledge(std::mem::take(&mut waiting), &guessed);
        }
        let mut effects = Vec::new();
        if bug == Bug::AppliedBeforeCommit {
            for (n, record) in (1..).zip(&records) {
                let event = Event { seq: self.fleet.last_seq() + n, ..Event::from_record(record) };
                effects.append(&mut self.fleet.apply(&event));
            }
        }
        let records = Arc::new(records);
        match self.store.append(Arc::clone(&records)).await {
            Ok(appended) => {
                self.health.stored();
                if bug == Bug::AcknowledgedBeforeAppend {
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
