//! The handle through which all other modules send inputs to the engine.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flightdeck_core::effort::{EffortRefused, HookQuestion, Judged};
use flightdeck_core::fleet::{Fleet, Occupant};
use flightdeck_core::ids::{AskId, HostId, SessionId};
use flightdeck_core::log::record::Record;
use flightdeck_core::notify::NoteKind;
use flightdeck_core::session::{HostTerms, SessionAssignment};
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::Summary;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::seats::KnownSeatCard;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::changes::{SubscribeFrom, Subscription};
use super::explain::Explanation;
use super::{FleetQuery, Input, KnownAsk, NoteSettings, Overview, Refolded, SessionPanes};
use crate::store::{Appended, RetentionPolicy, StoreError};

/// The store refused: nothing happened. Send the events again later (a hook spools them).
#[derive(Clone, Debug, thiserror::Error)]
#[error("the event could not be stored: {0}")]
pub struct NotStored(pub String);

/// Sends inputs to the engine and awaits its replies.
#[derive(Clone, Debug)]
pub struct EngineHandle {
    pub(super) inputs: mpsc::Sender<Input>,
    pub(super) efforts_active: Arc<AtomicUsize>,
    pub(super) own_log: watch::Receiver<OwnAppends>,
    pub(super) enriched: broadcast::Sender<SessionId>,
}

/// Sessions with new transcript data that may wait for the task that follows them.
pub(super) const ENRICHED_MAX: usize = 1024;
/// Most records of a batch that are passed directly to the task that follows the log. An agent's events come one at a time. After a larger
/// batch the task reads the log.
const NEW_RECORDS_MAX: usize = 4;

/// How far the log reaches, and the newest events of this machine, for tasks that follow the log.
#[derive(Clone, Debug, Default)]
pub struct OwnAppends {
    pub log: OwnLog,
    /// `None` if the last batch was large.
    pub newest: Option<NewRecords>,
}

/// The last batch of records, with their places in the log.
#[derive(Clone, Debug)]
pub struct NewRecords {
    /// The last event of this machine before the batch.
    after: u64,
    records: Arc<Vec<Record>>,
    places: Box<[Appended]>,
}

/// How far the log reaches, and which part of it is of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnLog {
    /// The `seq` of the last event of this machine. At the start it may be the `seq` of a later event.
    pub last: u64,
    /// The `seq` of the last event of any host.
    pub log_end: u64,
    /// Events of this machine that were appended since the start.
    pub appended: u64,
}

impl OwnAppends {
    /// Notes a batch that was stored. Returns whether it has events of this machine. Events of other hosts alone wake no task.
    pub(super) fn note(&mut self, records: &Arc<Vec<Record>>, places: &[Appended]) -> bool {
        let before = self.log;
        for (record, place) in records.iter().zip(places).filter(|(_, place)| !place.duplicate) {
            self.log.log_end = self.log.log_end.max(place.seq);
            if record.host.is_this() {
                self.log.last = self.log.last.max(place.seq);
                self.log.appended += 1;
            }
        }
        let has_own = self.log.appended > before.appended;
        if has_own {
            let batch =
                NewRecords { after: before.last, records: Arc::clone(records), places: places.into() };
            self.newest = (records.len() <= NEW_RECORDS_MAX).then_some(batch);
        }
        has_own
    }

    /// The events of this machine after `seq`, if the last batch has all of them.
    pub fn records_after(&self, seq: u64) -> Option<Vec<Record>> {
        let newest = self.newest.as_ref().filter(|newest| newest.after <= seq && seq < self.log.last)?;
        let new = newest.records.iter().zip(&newest.places);
        let own = new.filter(|(record, place)| record.host.is_this() && !place.duplicate && place.seq > seq);
        Some(own.map(|(record, place)| Record { seq: place.seq, ..record.clone() }).collect())
    }
}

/// A verdict that the engine gives once the event of its hook is applied.
#[derive(Debug)]
pub struct PendingVerdict(oneshot::Receiver<Option<Judged>>);

impl PendingVerdict {
    /// `None` if no effort applies.
    pub async fn given(self) -> Result<Option<Judged>, Stopped> {
        self.0.await.map_err(|_| Stopped)
    }
}

/// The engine has ended: the daemon is stopping.
#[derive(Debug, thiserror::Error)]
#[error("the daemon is stopping")]
pub struct Stopped;

/// A session that a note is about.
#[derive(Clone, Debug)]
pub struct NotedSession {
    pub card: Card,
    /// What a note about its present state would be about.
    pub kind: Option<NoteKind>,
}

/// Every card of the fleet: first the board, then the cards that were replaced there.
#[derive(Clone, Debug)]
pub struct FleetCards {
    /// Names this run of the daemon.
    pub boot: String,
    /// The number of the last change in the cards.
    pub n: u64,
    pub cards: Vec<Card>,
}

/// The open assignments of the fleet.
#[derive(Clone, Debug)]
pub struct OpenAssignments {
    pub assignments: Vec<SessionAssignment>,
    /// The name of this machine.
    pub host: Option<String>,
}

impl EngineHandle {
    /// A handle for a test that receives the inputs itself.
    #[cfg(test)]
    pub(crate) fn with_inputs(inputs: mpsc::Sender<Input>) -> Self {
        let own_log = watch::channel(OwnAppends::default()).1;
        Self { inputs, efforts_active: Arc::default(), own_log, enriched: broadcast::channel(1).0 }
    }
    /// A handle for a test that receives the inputs of this engine and passes them on.
    #[cfg(test)]
    pub(crate) fn redirected_to(&self, inputs: mpsc::Sender<Input>) -> Self {
        Self { inputs, ..self.clone() }
    }
    #[cfg(test)]
    pub(crate) async fn send(&self, input: Input) -> Result<(), Stopped> {
        self.inputs.send(input).await.map_err(|_| Stopped)
    }
    pub async fn append(&self, records: Vec<Record>) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::Events { records, reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    /// Appends the event of a hook, and asks for the verdict on it in the same turn of the engine. The verdict arrives after the event is
    /// applied. Returns when the event is durable.
    pub async fn append_and_judge(
        &self,
        record: Record,
        question: HookQuestion,
    ) -> Result<(Vec<Appended>, PendingVerdict), NotStored> {
        let (reply, stored) = oneshot::channel();
        let (answer, judged) = oneshot::channel();
        let stopped = |_| NotStored(Stopped.to_string());
        // Both are sent at once, so that the engine wakes one time, and stores events of other hooks with this one and not before its verdict.
        let mut places = self.inputs.reserve_many(2).await.map_err(|_| NotStored(Stopped.to_string()))?;
        let inputs = [
            Input::Events { records: vec![record], reply },
            Input::Judge { question: Box::new(question), reply: answer },
        ];
        inputs.into_iter().zip(&mut places).for_each(|(input, place)| place.send(input));
        let appended = stored.await.map_err(stopped)??;
        Ok((appended, PendingVerdict(judged)))
    }
    /// Appends the record unless the fleet already knows what it says. Then the result is empty.
    pub async fn append_unless_known(&self, record: Record) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::IfNews { record: Box::new(record), reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    /// Whether an effort is active, so that a hook may be due a verdict.
    pub fn has_efforts(&self) -> bool {
        self.efforts_active.load(Ordering::Acquire) > 0
    }
    /// Stores changes of efforts together, if all of them are possible, and returns the `seq` of the last one. They are applied then.
    pub async fn change_efforts(
        &self,
        records: Vec<Record>,
    ) -> Result<Result<u64, EffortRefused>, NotStored> {
        let answer = self.ask(|reply| Input::EffortChanges { records, reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    /// The verdict on a hook, or `None` if no effort applies. The event of the hook must have been acknowledged.
    pub async fn judge(&self, question: HookQuestion) -> Result<Option<Judged>, Stopped> {
        self.ask(|reply| Input::Judge { question: Box::new(question), reply }).await
    }
    /// Runs `read` on the fleet after all events that were acknowledged before, and returns its result.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Fleet) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let reader = |reply: oneshot::Sender<T>| {
            // The send fails if the caller has stopped waiting for the result.
            Input::Read(FleetQuery(Box::new(move |fleet| drop(reply.send(read(fleet))))))
        };
        self.ask(reader).await
    }
    /// How far the log reaches, and the newest events of this machine. Receivers are notified of each append with an event of this machine.
    pub fn own_log(&self) -> watch::Receiver<OwnAppends> {
        self.own_log.clone()
    }
    /// Follows the sessions that get new transcript data from now on.
    pub fn enriched(&self) -> broadcast::Receiver<SessionId> {
        self.enriched.subscribe()
    }
    /// Sets what is known about another host. Returns before the engine has applied it.
    pub async fn set_host_terms(&self, host: HostId, terms: HostTerms) -> Result<(), Stopped> {
        self.inputs.send(Input::HostTerms { host, terms }).await.map_err(|_| Stopped)
    }
    /// What was read from the transcripts of a session.
    pub async fn summary(&self, id: &SessionId) -> Result<Option<Box<Summary>>, Stopped> {
        self.ask(|reply| Input::Summary { id: id.clone(), reply }).await
    }
    pub async fn overview(&self) -> Result<Overview, Stopped> {
        self.ask(Input::Overview).await
    }
    /// The board as the JSON that viewers get.
    pub async fn board(&self) -> Result<Bytes, Stopped> {
        self.ask(Input::Board).await
    }
    pub async fn all_cards(&self) -> Result<FleetCards, Stopped> {
        self.ask(Input::AllCards).await
    }
    pub async fn card(&self, id: &SessionId) -> Result<Option<Card>, Stopped> {
        self.ask(|reply| Input::Card { id: id.clone(), reply }).await
    }
    pub async fn seats(&self) -> Result<Vec<KnownSeatCard>, Stopped> {
        self.ask(Input::Seats).await
    }
    /// The open assignments of the fleet, with their messages.
    pub async fn open_assignments(&self) -> Result<OpenAssignments, Stopped> {
        self.ask(Input::OpenAssignments).await
    }
    pub async fn explain(&self, id: &SessionId) -> Result<Option<Explanation>, Stopped> {
        self.ask(|reply| Input::Explain { id: id.clone(), reply }).await
    }
    /// The states of all sessions since then, as the JSON that viewers get.
    pub async fn history(&self, since: Timestamp) -> Result<Bytes, Stopped> {
        self.ask(|reply| Input::History { since, reply }).await
    }
    pub async fn subscribe(&self, from: SubscribeFrom) -> Result<Subscription, Stopped> {
        self.ask(|reply| Input::Subscribe { from, reply }).await
    }
    /// Puts transcript data on a card. Returns before the engine has applied it.
    pub async fn enrich(&self, id: SessionId, summary: Summary) -> Result<(), Stopped> {
        let input = Input::Enriched { id: id.clone(), summary: Box::new(summary) };
        self.inputs.send(input).await.map_err(|_| Stopped)?;
        // Fails if no task follows the sessions.
        let _ = self.enriched.send(id);
        Ok(())
    }
    /// The sessions whose process is known.
    pub async fn occupants(&self) -> Result<Vec<Occupant>, Stopped> {
        self.ask(Input::Occupants).await
    }
    /// The sessions in tmux panes.
    pub async fn pane_statuses(&self) -> Result<Vec<SessionPanes>, Stopped> {
        self.ask(Input::PaneStatuses).await
    }
    /// Sets the settings of notes. Returns before the engine has applied them.
    pub async fn use_note_settings(&self, settings: NoteSettings) -> Result<(), Stopped> {
        self.inputs.send(Input::NoteSettings(settings)).await.map_err(|_| Stopped)
    }
    /// The process that the card shows, if it runs on this machine.
    pub async fn occupant_of(&self, card: &Card) -> Result<Option<Occupant>, Stopped> {
        let shown =
            |o: &Occupant| o.host.is_this() && o.session_id == card.id && Some(o.pid) == card.seat.pid;
        Ok(self.occupants().await?.into_iter().find(shown))
    }
    /// The session in the form that the checks of a note need.
    pub async fn noted_session(&self, id: &SessionId) -> Result<Option<NotedSession>, Stopped> {
        self.ask(|reply| Input::NotedSession { id: id.clone(), reply }).await
    }
    pub async fn find_ask(&self, id: &AskId) -> Result<Option<KnownAsk>, Stopped> {
        self.ask(|reply| Input::FindAsk { id: id.clone(), reply }).await
    }
    /// Replaces the fleet by one that was folded with other rules.
    pub async fn take_over(&self, refolded: Refolded) -> Result<Result<(), StoreError>, Stopped> {
        self.ask(|reply| Input::TakeOver { refolded: Box::new(refolded), reply }).await
    }
    /// Sets other limits for the events that are kept. Returns before the engine has applied them.
    pub async fn set_retention(&self, policy: RetentionPolicy) -> Result<(), Stopped> {
        self.inputs.send(Input::Retention(policy)).await.map_err(|_| Stopped)
    }
    pub fn is_stopped(&self) -> bool {
        self.inputs.is_closed()
    }
    pub async fn stop(&self) {
        // Fails if the engine has stopped already.
        let _ = self.ask(Input::Stop).await;
    }
    async fn ask<T>(&self, input: impl FnOnce(oneshot::Sender<T>) -> Input) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(input(reply)).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flightdeck_core::log::record::{EventId, Source};

    fn record(host: &str, id: u128) -> Record {
        let record =
            Record::noticed_here(Source::Hook, "Stop", SessionId::from("s"), Default::default(), EventId(id));
        Record { host: HostId::new(host), ..record }
    }

    fn note(own: &mut OwnAppends, records: Vec<Record>, places: &[(u64, bool)]) -> bool {
        let places: Vec<_> =
            places.iter().map(|(seq, duplicate)| Appended { seq: *seq, duplicate: *duplicate }).collect();
        own.note(&Arc::new(records), &places)
    }

    #[test]
    fn a_follower_that_has_all_but_the_last_batch_need_not_read_the_log() {
        let mut own = OwnAppends::default();
        assert!(note(&mut own, vec![record("", 1)], &[(1, false)]));
        assert!(!note(&mut own, vec![record("a", 2)], &[(2, false)]), "an event of another host wakes none");
        let batch = vec![record("", 3), record("a", 4), record("", 1), record("", 5)];
        assert!(note(&mut own, batch, &[(3, false), (4, false), (1, true), (5, false)]));
        let places =
            |seq| own.records_after(seq).map(|new| new.iter().map(|r| (r.seq, r.id.0)).collect::<Vec<_>>());
        assert_eq!(places(1), Some(vec![(3, 3), (5, 5)]));
        // It has passed over an event of another host.
        assert_eq!(places(2), Some(vec![(3, 3), (5, 5)]));
        assert_eq!(places(3), Some(vec![(5, 5)]));
        assert_eq!(places(0), None, "it has missed a batch");
        assert_eq!(places(5), None, "it has everything");
    }

    #[test]
    fn a_large_batch_is_read_from_the_log() {
        let mut own = OwnAppends::default();
        note(&mut own, vec![record("", 1)], &[(1, false)]);
        let (ids, places): (Vec<_>, Vec<_>) = (2..=6).map(|n| (record("", n), (n as u64, false))).unzip();
        note(&mut own, ids, &places);
        assert!(own.records_after(1).is_none());
        note(&mut own, vec![record("", 7)], &[(7, false)]);
        assert_eq!(own.records_after(6).map(|new| new.len()), Some(1));
    }
}
