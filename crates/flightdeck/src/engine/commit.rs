//! Appends events to the log and applies them to the fleet.
//!
//! The store writes one batch while the engine applies the one before it. An event is acknowledged as soon as it is durable.
//! The event is applied before the engine answers a query, so a sender that was acknowledged and then queries sees its event.

use std::collections::BTreeSet;
use std::sync::Arc;

use flightdeck_core::effort::HookQuestion;
use flightdeck_core::ids::{AskId, HostId, SessionId};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::Record;
use flightdeck_core::session::HostTerms;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::Summary;

use super::effects::{self, CausedEffect};
use super::refold::TakeOverReply;
use super::{
    AckSender, BATCH_INPUTS_MAX, EffortChangeReply, Engine, Input, NotStored, Refolded, VerdictSender,
};
use crate::store::{Appended, Pending, StoreError};

/// One batch of inputs, sorted by how they are handled.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Events,
    pub(super) enriched: Vec<(SessionId, Box<Summary>)>,
    pub(super) host_terms: Vec<(HostId, HostTerms)>,
    /// Stored only if they say something that the fleet does not know after the events before them.
    pub(super) lines: Vec<(Record, AckSender)>,
    /// Changes of efforts. Whether one is possible depends on the events before it.
    pub(super) effort_changes: Vec<(Vec<Record>, EffortChangeReply)>,
    /// Taken over once every event of the batch is applied.
    pub(super) refolded: Vec<(Box<Refolded>, TakeOverReply)>,
    /// Answered once the events of the batch are applied, before anything else: a client waits for each.
    pub(super) questions: Vec<(Box<HookQuestion>, VerdictSender)>,
    /// Answered last, so that they see the whole batch.
    pub(super) queries: Vec<Input>,
}

/// Records of several senders, and how many of them each sender sent.
#[derive(Debug, Default)]
pub(super) struct Events {
    records: Vec<Record>,
    waiting: Vec<(usize, AckSender)>,
}

impl Batch {
    pub(super) fn sort(inputs: &mut Vec<Input>) -> Self {
        let mut batch = Self::default();
        for input in inputs.drain(..) {
            match input {
                Input::Events { records, reply } => batch.events.push(records, reply),
                Input::IfNews { record, reply } => batch.lines.push((*record, reply)),
                Input::Enriched { id, summary } => batch.enriched.push((id, summary)),
                Input::EffortChanges { records, reply } => batch.effort_changes.push((records, reply)),
                Input::HostTerms { host, terms } => batch.host_terms.push((host, terms)),
                Input::TakeOver { refolded, reply } => batch.refolded.push((refolded, reply)),
                Input::Judge { question, reply } => batch.questions.push((question, reply)),
                query => batch.queries.push(query),
            }
        }
        batch
    }

    fn is_only_events(&self) -> bool {
        let no_other = self.lines.is_empty()
            && self.effort_changes.is_empty()
            && self.refolded.is_empty()
            && self.questions.is_empty()
            && self.queries.is_empty();
        self.enriched.is_empty() && self.host_terms.is_empty() && no_other
    }
}

impl Events {
    pub(super) fn push(&mut self, mut records: Vec<Record>, reply: AckSender) {
        self.waiting.push((records.len(), reply));
        self.records.append(&mut records);
    }
}

/// A batch that was sent to the store and is not committed yet.
struct BatchInFlight {
    records: Arc<Vec<Record>>,
    waiting: Vec<(usize, AckSender)>,
    pending: Pending,
}

impl Engine {
    /// Stores and applies the events of `batch`. While only events arrive, it continues with those: they are written while
    /// the events before them are applied. Returns the batch whose other inputs have to be handled next.
    pub(super) async fn commit_all(&mut self, inputs: &mut Vec<Input>, mut batch: Batch) -> Batch {
        let mut under_way = self.send_off(std::mem::take(&mut batch.events)).await;
        while let Some(BatchInFlight { records, waiting, pending }) = under_way.take() {
            let appended = self.reply_to_senders(&records, waiting, pending.committed().await);
            // If no input is waiting, the acknowledged sender may answer its client before the event is applied.
            if self.inputs.is_empty() {
                tokio::task::yield_now().await;
            }
            // If the store failed, the engine returns to its loop before it takes more inputs.
            if batch.is_only_events() && !appended.is_empty() {
                self.receive_waiting(inputs);
                self.gather(inputs).await;
                batch = Batch::sort(inputs);
                under_way = self.send_off(std::mem::take(&mut batch.events)).await;
            }
            // A hook whose event is refused spools it and is not judged: the verdict would use up a rule for a call that is not in the log.
            if appended.len() < records.len() {
                batch.questions.clear();
            }
            self.apply_stored(&records, appended);
            // A hook does not wait for rows: its question is answered first.
            if batch.questions.is_empty() {
                self.write_rows().await;
            }
        }
        self.stamped = Timestamp::default();
        batch
    }

    pub(super) async fn commit(&mut self, events: Events) {
        if self.commit_but_rows(events).await {
            self.write_rows().await;
        }
    }

    /// Stores and applies the events. The rows that they cause wait in the outbox. False if there is no event.
    pub(super) async fn commit_but_rows(&mut self, events: Events) -> bool {
        let Some(BatchInFlight { records, waiting, pending }) = self.send_off(events).await else {
            return false;
        };
        let appended = self.reply_to_senders(&records, waiting, pending.committed().await);
        self.apply_stored(&records, appended);
        self.stamped = Timestamp::default();
        true
    }

    pub(super) fn receive_waiting(&mut self, inputs: &mut Vec<Input>) {
        while inputs.len() < BATCH_INPUTS_MAX
            && let Ok(input) = self.inputs.try_recv()
        {
            inputs.push(input);
        }
    }

    /// Stamps the events and hands them to the store.
    async fn send_off(&mut self, Events { mut records, waiting }: Events) -> Option<BatchInFlight> {
        if waiting.is_empty() {
            return None;
        }
        // The stamp notes on each event whether the wall clock was set back.
        let reached = self.fleet.now().max(self.stamped);
        let mut last = if self.clock.wall() < reached { self.clock.now(reached) } else { reached };
        let efforts = self.fleet.active_efforts() > 0;
        for record in &mut records {
            if efforts {
                self.note_context(record);
            }
            stamp(record, self.clock.wall(), last);
            last = record.received_at;
        }
        self.stamped = last;
        let records = Arc::new(records);
        let pending = self.store.send_append(Arc::clone(&records)).await;
        Some(BatchInFlight { records, waiting, pending })
    }

    /// Replies to the senders: their events are durable, or nothing happened.
    fn reply_to_senders(
        &mut self,
        records: &Arc<Vec<Record>>,
        waiting: Vec<(usize, AckSender)>,
        committed: Result<Vec<Appended>, StoreError>,
    ) -> Vec<Appended> {
        match committed {
            Ok(appended) => {
                self.health.stored();
                let resent = appended.iter().filter(|place| place.duplicate).count();
                log_resends(resent);
                // Stamps never go back, so the last record is the newest.
                let last_at = records.last().map(|r| r.received_at).unwrap_or_default();
                self.health.metrics.received(appended.len() - resent, resent, last_at);
                self.own_appended.send_if_modified(|own| own.note(records, &appended));
                acknowledge(waiting, &appended);
                appended
            }
            Err(error) => {
                tracing::error!(%error, events = records.len(), "events could not be stored; hooks will spool");
                self.health.not_stored(&error);
                let refusal = NotStored(error.to_string());
                // Fails if the sender has disconnected. A hook then spools its event itself.
                waiting.into_iter().for_each(|(_, reply)| drop(reply.send(Err(refusal.clone()))));
                Vec::new()
            }
        }
    }

    /// Applies the stored events and carries out their effects, except the rows for the store.
    fn apply_stored(&mut self, records: &[Record], appended: Vec<Appended>) {
        if !appended.is_empty() {
            let effects = self.apply(records, &appended);
            self.carry_out_but_rows(effects);
        }
    }

    /// Writes the rows that wait in the outbox, and a snapshot if one is due.
    pub(super) async fn write_rows(&mut self) {
        self.outbox.flush_if_due(&self.store).await;
        self.report_and_tidy();
    }

    /// Applies the stored events. A resent event was acknowledged but is not applied again.
    fn apply(&mut self, records: &[Record], appended: &[Appended]) -> Vec<CausedEffect> {
        let mut effects = Vec::new();
        let mut touched = BTreeSet::new();
        for (record, place) in records.iter().zip(appended).filter(|(_, place)| !place.duplicate) {
            let mut event = Event::from_record(record);
            event.seq = place.seq;
            effects.extend(effects::apply(&mut self.fleet, &event));
            // A late event or one in print mode opens no ask. Its hook would wait for an answer that cannot come, so it is released.
            let ask_id = AskId::from(event.id.to_string());
            if event.envelope.hold_ms.is_some() && self.fleet.find_ask(&ask_id).is_none() {
                self.holds.release(&ask_id);
            }
            touched.extend(record.session_id());
        }
        self.report_efforts();
        let sessions = touched.iter().filter_map(|id| self.fleet.get(id));
        sessions.for_each(|session| self.transcripts.touched(session));
        self.housekeeping.applied(appended.len());
        effects
    }
}

fn log_resends(resent: usize) {
    if resent > 0 {
        tracing::info!(resent, "events arrived twice; each is applied once");
    }
}

fn acknowledge(waiting: Vec<(usize, AckSender)>, appended: &[Appended]) {
    let mut appended = appended.iter().copied();
    for (count, reply) in waiting {
        // Fails if the sender has disconnected. Its event is stored all the same.
        let _ = reply.send(Ok(appended.by_ref().take(count).collect()));
    }
}
