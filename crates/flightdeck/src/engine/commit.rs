//! Events on their way into the log and from there into the fleet.
//!
//! The store writes one batch while the engine applies the one before it. An event is acknowledged as soon as it is
//! durable; it is applied before the engine answers anything else, so whoever was acknowledged and then asks sees it.

use std::collections::BTreeSet;
use std::sync::Arc;

use flightdeck_core::enrichment::Summary;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Effect;
use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::stamp;

use super::{BATCH_INPUTS_MAX, Engine, Input, NotStored, Reply};
use crate::store::{Appended, Pending, StoreError};

/// One batch of inputs, by what has to be done with them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Events,
    pub(super) enriched: Vec<(String, Box<Summary>)>,
    /// Stored only if they are news, which the events before them decide.
    pub(super) lines: Vec<(Record, Reply)>,
    /// Answered last, so that they see all of it.
    pub(super) questions: Vec<Input>,
}

/// Records, and who waits for how many of them.
#[derive(Debug, Default)]
pub(super) struct Events {
    records: Vec<Record>,
    waiting: Vec<(usize, Reply)>,
}

impl Batch {
    pub(super) fn of(inputs: &mut Vec<Input>) -> Self {
        let mut batch = Self::default();
        for input in inputs.drain(..) {
            match input {
                Input::Events { records, reply } => batch.events.push(records, reply),
                Input::IfNews { record, reply } => batch.lines.push((*record, reply)),
                Input::Enriched { id, summary } => batch.enriched.push((id, summary)),
                question => batch.questions.push(question),
            }
        }
        batch
    }

    fn is_only_events(&self) -> bool {
        self.enriched.is_empty() && self.lines.is_empty() && self.questions.is_empty()
    }
}

impl Events {
    pub(super) fn push(&mut self, mut records: Vec<Record>, reply: Reply) {
        self.waiting.push((records.len(), reply));
        self.records.append(&mut records);
    }
}

/// A batch that the store has and has not answered yet.
struct UnderWay {
    records: Arc<Vec<Record>>,
    waiting: Vec<(usize, Reply)>,
    pending: Pending,
}

impl Engine {
    /// Stores and applies the events of `batch`, and as long as nothing but events comes those that come meanwhile: they
    /// are written while the ones before them are applied. Gives back the batch whose other inputs are next.
    pub(super) async fn commit_all(&mut self, inputs: &mut Vec<Input>, mut batch: Batch) -> Batch {
        let mut under_way = self.send_off(std::mem::take(&mut batch.events)).await;
        while let Some(UnderWay { records, waiting, pending }) = under_way.take() {
            let appended = self.tell_senders(&records, waiting, pending.committed().await);
            // Where nobody waits, whoever was told may answer its client before it is applied.
            if self.inputs.is_empty() {
                tokio::task::yield_now().await;
            }
            // After a refusal the engine looks after its store before it takes more.
            if batch.is_only_events() && !appended.is_empty() {
                self.take_waiting(inputs);
                self.gather(inputs).await;
                batch = Batch::of(inputs);
                under_way = self.send_off(std::mem::take(&mut batch.events)).await;
            }
            self.settle(&records, appended).await;
        }
        self.stamped = Timestamp::default();
        batch
    }

    pub(super) async fn commit(&mut self, events: Events) {
        if let Some(UnderWay { records, waiting, pending }) = self.send_off(events).await {
            let appended = self.tell_senders(&records, waiting, pending.committed().await);
            self.settle(&records, appended).await;
            self.stamped = Timestamp::default();
        }
    }

    pub(super) fn take_waiting(&mut self, inputs: &mut Vec<Input>) {
        while inputs.len() < BATCH_INPUTS_MAX
            && let Ok(input) = self.inputs.try_recv()
        {
            inputs.push(input);
        }
    }

    /// Stamps the events and hands them to the store.
    async fn send_off(&mut self, Events { mut records, waiting }: Events) -> Option<UnderWay> {
        if waiting.is_empty() {
            return None;
        }
        #[cfg(test)]
        if let Some(bug) = super::planted::in_commit() {
            self.commit_wrongly(bug, records, waiting).await;
            return None;
        }
        // With the wall clock beside it: whether that was set back is noted on each event.
        let reached = self.fleet.now().max(self.stamped);
        let mut last = if self.clock.wall() < reached { self.clock.now(reached) } else { reached };
        for record in &mut records {
            stamp(record, self.clock.wall(), last);
            last = record.received_at;
        }
        self.stamped = last;
        let records = Arc::new(records);
        let pending = self.store.send_append(Arc::clone(&records)).await;
        Some(UnderWay { records, waiting, pending })
    }

    /// The store has answered, and so does the engine: durable, or nothing happened.
    fn tell_senders(
        &mut self,
        records: &[Record],
        waiting: Vec<(usize, Reply)>,
        committed: Result<Vec<Appended>, StoreError>,
    ) -> Vec<Appended> {
        match committed {
            Ok(appended) => {
                self.health.stored();
                self.health.metrics.received(records, &appended);
                tell_of_resends(&appended);
                acknowledge(waiting, &appended);
                appended
            }
            Err(error) => {
                tracing::error!(%error, events = records.len(), "events could not be stored");
                self.health.not_stored(&error);
                let refusal = NotStored(error.to_string());
                // A sender that went away spools the event itself.
                waiting.into_iter().for_each(|(_, reply)| drop(reply.send(Err(refusal.clone()))));
                Vec::new()
            }
        }
    }

    /// Applies what was stored and tells the viewers.
    async fn settle(&mut self, records: &[Record], appended: Vec<Appended>) {
        if appended.is_empty() {
            return;
        }
        let effects = self.apply(records, &appended);
        self.publish(effects).await;
        self.look_after();
    }

    /// A resend is acknowledged, not applied.
    pub(super) fn apply(&mut self, records: &[Record], appended: &[Appended]) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut heard_of = BTreeSet::new();
        for (record, place) in records.iter().zip(appended).filter(|(_, place)| !place.duplicate) {
            let mut event = Event::from_record(record);
            event.seq = place.seq;
            effects.append(&mut self.fleet.apply(&event));
            // Too late, or in print mode: nobody was asked, so nobody will answer.
            if event.envelope.hold_ms.is_some() && self.fleet.find_ask(&event.id.to_string()).is_none() {
                self.holds.release(&event.id.to_string());
            }
            heard_of.insert(record.session_id.as_str());
        }
        heard_of.iter().filter_map(|id| self.fleet.get(id)).for_each(|session| self.tail.touched(session));
        self.keeper.applied(appended.len());
        effects
    }
}

pub(super) fn tell_of_resends(appended: &[Appended]) {
    let again = appended.iter().filter(|place| place.duplicate).count();
    if again > 0 {
        tracing::info!(again, "events came twice; each counts once");
    }
}

pub(super) fn acknowledge(waiting: Vec<(usize, Reply)>, appended: &[Appended]) {
    let mut appended = appended.iter().copied();
    for (count, reply) in waiting {
        // The sender went away after its event was stored: nothing is lost.
        let _ = reply.send(Ok(appended.by_ref().take(count).collect()));
    }
}
