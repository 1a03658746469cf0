//! The one loop that owns the fleet. Read this first: it is the whole way of an event.
//!
//! Inputs come in through one bounded channel. The engine takes a batch, stamps it, appends it to the store in one
//! transaction, applies it to the fleet, tells the viewers, and only then answers whoever sent it. If the store fails,
//! nothing is applied and nobody is told that it worked.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use flightdeck_core::board;
use flightdeck_core::enrichment::Summary;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::{Effect, Fleet, Occupant};
use flightdeck_core::record::Record;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::wire::hook::stamp;
use tokio::sync::{mpsc, oneshot};

use crate::asks::answer::Known;
use crate::asks::holds::Holds;
use crate::changes::{ASK_CLOSED, ASK_OPENED, Changes, Subscription};
use crate::clock::{Clock, Steady};
use crate::explain::{self, Explanation};
use crate::fleet_overview::{self, Overview};
use crate::health::Health;
use crate::inlet::tail::follow::Tail;
use crate::restore;
use crate::store::{Appended, Store};

/// Mistakes that the simulation must find.
#[cfg(test)]
#[path = "simulation/planted.rs"]
pub(crate) mod planted;

/// Inputs that may wait for the engine; senders beyond that wait in turn.
pub const INPUTS_WAITING_MAX: usize = 1024;
/// Inputs taken at once: one transaction for all of them.
pub const BATCH_INPUTS_MAX: usize = 256;

/// Everything the engine ever hears.
#[derive(Debug)]
pub enum Input {
    /// Events that happened together, oldest first. Answered when they are durable and applied.
    Events {
        records: Vec<Record>,
        reply: Reply,
    },
    /// A status line, a transcript that grew: stored like an event, unless it says nothing new.
    IfNews {
        record: Box<Record>,
        reply: Reply,
    },
    /// The subscription's limits, and how many sessions are where.
    Overview(oneshot::Sender<Overview>),
    /// The whole board.
    Board(oneshot::Sender<Bytes>),
    /// The board, and beside it the cards that others took the place of.
    Everyone(oneshot::Sender<(Bytes, Vec<Bytes>)>),
    /// One card of the fleet, on the board or replaced.
    Card {
        id: String,
        reply: oneshot::Sender<Option<Bytes>>,
    },
    Explain {
        id: String,
        reply: oneshot::Sender<Option<Explanation>>,
    },
    History {
        since: Timestamp,
        reply: oneshot::Sender<Bytes>,
    },
    Subscribe {
        last_event_id: Option<String>,
        reply: oneshot::Sender<Subscription>,
    },
    /// What its transcripts tell about a session.
    Enriched {
        id: String,
        summary: Box<Summary>,
    },
    Occupants(oneshot::Sender<Vec<Occupant>>),
    /// An ask, open or ended.
    FindAsk {
        id: String,
        reply: oneshot::Sender<Option<Known>>,
    },
    /// Save what has to be saved and end.
    Stop(oneshot::Sender<()>),
}

pub type Reply = oneshot::Sender<Result<Vec<Appended>, NotStored>>;

/// The store refused: nothing happened, send it again later (a hook spools it).
#[derive(Clone, Debug, thiserror::Error)]
#[error("the event could not be stored: {0}")]
pub struct NotStored(pub String);

/// A handle for everyone who has something to tell or ask.
#[derive(Clone, Debug)]
pub struct EngineHandle {
    inputs: mpsc::Sender<Input>,
}

/// The engine is gone: the daemon is stopping.
#[derive(Debug, thiserror::Error)]
#[error("the daemon is stopping")]
pub struct Stopped;

impl EngineHandle {
    pub async fn append(&self, records: Vec<Record>) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::Events { records, reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    /// Empty if the fleet knew it already.
    pub async fn append_if_news(&self, record: Record) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::IfNews { record: Box::new(record), reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    pub async fn overview(&self) -> Result<Overview, Stopped> {
        self.ask(Input::Overview).await
    }
    pub async fn board(&self) -> Result<Bytes, Stopped> {
        self.ask(Input::Board).await
    }
    pub async fn everyone(&self) -> Result<(Bytes, Vec<Bytes>), Stopped> {
        self.ask(Input::Everyone).await
    }
    pub async fn card(&self, id: &str) -> Result<Option<Bytes>, Stopped> {
        self.ask(|reply| Input::Card { id: id.to_owned(), reply }).await
    }
    pub async fn explain(&self, id: &str) -> Result<Option<Explanation>, Stopped> {
        self.ask(|reply| Input::Explain { id: id.to_owned(), reply }).await
    }
    pub async fn history(&self, since: Timestamp) -> Result<Bytes, Stopped> {
        self.ask(|reply| Input::History { since, reply }).await
    }
    pub async fn subscribe(&self, last_event_id: Option<String>) -> Result<Subscription, Stopped> {
        self.ask(|reply| Input::Subscribe { last_event_id, reply }).await
    }
    /// Data for a card; nobody waits for an answer.
    pub async fn enrich(&self, id: &str, summary: Summary) -> Result<(), Stopped> {
        let input = Input::Enriched { id: id.to_owned(), summary: Box::new(summary) };
        self.inputs.send(input).await.map_err(|_| Stopped)
    }
    /// Who sits in which process.
    pub async fn occupants(&self) -> Result<Vec<Occupant>, Stopped> {
        self.ask(Input::Occupants).await
    }
    pub async fn find_ask(&self, id: &str) -> Result<Option<Known>, Stopped> {
        self.ask(|reply| Input::FindAsk { id: id.to_owned(), reply }).await
    }
    pub fn is_stopped(&self) -> bool {
        self.inputs.is_closed()
    }
    pub async fn stop(&self) {
        // Already stopped is as good as stopped.
        let _ = self.ask(Input::Stop).await;
    }
    async fn ask<T>(&self, input: impl FnOnce(oneshot::Sender<T>) -> Input) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(input(reply)).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}

#[derive(Debug)]
pub struct Engine {
    fleet: Fleet,
    store: Store,
    changes: Changes,
    /// A viewer came since the start: it may leave and come back for every change it missed.
    watched: bool,
    /// Before that, sessions whose cards have changed since somebody asked for the board.
    unseen: BTreeSet<String>,
    health: Arc<Health>,
    inputs: mpsc::Receiver<Input>,
    clock: Steady,
    keeper: restore::Keeper,
    /// Who sits in which process, for whoever watches over them.
    seats: mpsc::Sender<Occupant>,
    /// Reads the transcripts of sessions that something happened to.
    tail: Tail,
    /// Hooks that wait for an answer: let go when their ask ends elsewhere.
    holds: Arc<Holds>,
}

impl Engine {
    pub fn new(
        fleet: Fleet,
        store: Store,
        health: Arc<Health>,
        keeper: restore::Keeper,
        tail: Tail,
        clock: impl Into<Clock>,
        seats: mpsc::Sender<Occupant>,
    ) -> (Self, EngineHandle) {
        let (sender, inputs) = mpsc::channel(INPUTS_WAITING_MAX);
        let mut changes = Changes::new(health.boot.clone());
        for session in fleet.sessions().filter(|s| board::on_board(s)) {
            changes.seed(&session.id, card_json(&fleet, &session.id).unwrap_or_default());
        }
        fleet.sessions().for_each(|session| tail.touched(session));
        let clock = Steady::new(clock.into());
        health.metrics.fleet(fleet.len(), 0);
        (
            Self {
                fleet,
                store,
                changes,
                watched: false,
                unseen: BTreeSet::new(),
                health,
                inputs,
                clock,
                keeper,
                seats,
                tail,
                holds: Arc::default(),
            },
            EngineHandle { inputs: sender },
        )
    }

    pub fn with_holds(self, holds: Arc<Holds>) -> Self {
        Self { holds, ..self }
    }

    /// Runs until told to stop, or until nobody is left who could tell it anything.
    pub async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH_INPUTS_MAX);
        loop {
            let wake = self.until_next_timer().min(self.keeper.until_due());
            tokio::select! {
                // Always in this order: an event runs the timers due before it, so nothing starves.
                biased;
                taken = self.inputs.recv_many(&mut batch, BATCH_INPUTS_MAX) => {
                    if taken == 0 {
                        break;
                    }
                    self.gather(&mut batch).await;
                    if let Some(stopped) = self.take(&mut batch).await {
                        self.keeper.save_now(&self.fleet, &self.store).await;
                        // Whoever asked may have gone; we end all the same.
                        let _ = stopped.send(());
                        return;
                    }
                }
                () = tokio::time::sleep(wake) => {
                    let now = self.clock.now(self.fleet.now());
                    let effects = self.fleet.tick(now);
                    self.publish(effects).await;
                }
            }
            self.health.metrics.fleet(self.fleet.len(), self.changes.viewers());
            self.keeper.look_after(&self.fleet, &self.store);
        }
    }

    /// Lets everybody who is about to send do so: a commit costs nearly the same for one event as for twenty.
    async fn gather(&mut self, batch: &mut Vec<Input>) {
        tokio::task::yield_now().await;
        while batch.len() < BATCH_INPUTS_MAX
            && let Ok(input) = self.inputs.try_recv()
        {
            batch.push(input);
        }
    }

    /// An hour where no timer runs: a sleeping engine costs nothing.
    fn until_next_timer(&mut self) -> std::time::Duration {
        let now = self.clock.now(self.fleet.now());
        let due = self.fleet.next_wake().map_or(Millis::hours(1), |at| at - now);
        std::time::Duration::from_millis(due.0.max(0) as u64)
    }

    /// One batch: store, apply, tell, answer. Questions are answered last, so that they see all of it.
    async fn take(&mut self, batch: &mut Vec<Input>) -> Option<oneshot::Sender<()>> {
        let mut records = Vec::new();
        let mut waiting = Vec::new();
        let mut lines = Vec::new();
        let mut questions = Vec::new();
        let mut enriched = Vec::new();
        for input in batch.drain(..) {
            match input {
                Input::IfNews { record, reply } => lines.push((*record, reply)),
                Input::Events { records: mut new, reply } => {
                    waiting.push((new.len(), reply));
                    records.append(&mut new);
                }
                Input::Enriched { id, summary } => enriched.push((id, summary)),
                question => questions.push(question),
            }
        }
        if !records.is_empty() {
            self.commit(records, waiting).await;
        }
        if !enriched.is_empty() {
            self.enrich(enriched).await;
        }
        self.commit_news(lines).await;
        questions.into_iter().fold(None, |stopped, question| self.answer(question).or(stopped))
    }

    /// After the batch's events, so that the first line of a session finds it. With a `refreshInterval` a client says the
    /// same every second: that is not worth a write.
    async fn commit_news(&mut self, lines: Vec<(Record, Reply)>) {
        let (mut records, mut waiting) = (Vec::new(), Vec::new());
        for (record, reply) in lines {
            if self.fleet.is_news(&Event::from_record(&record)) {
                records.push(record);
                waiting.push((1, reply));
            } else {
                // The command does not wait for the answer.
                let _ = reply.send(Ok(Vec::new()));
            }
        }
        if !records.is_empty() {
            self.commit(records, waiting).await;
        }
    }

    async fn commit(&mut self, mut records: Vec<Record>, waiting: Vec<(usize, Reply)>) {
        #[cfg(test)]
        if let Some(bug) = planted::in_commit() {
            return self.commit_wrongly(bug, records, waiting).await;
        }
        // With the wall clock beside it: whether that was set back is noted on each event.
        let mut last = match self.fleet.now() {
            reached if self.clock.wall() < reached => self.clock.now(reached),
            reached => reached,
        };
        for record in &mut records {
            stamp(record, self.clock.wall(), last);
            last = record.received_at;
        }
        let records = Arc::new(records);
        match self.store.append(Arc::clone(&records)).await {
            Ok(appended) => {
                self.health.stored();
                let effects = self.apply(&records, &appended);
                self.publish(effects).await;
                answer_all(waiting, appended);
            }
            Err(error) => {
                tracing::error!(%error, events = records.len(), "events could not be stored");
                self.health.not_stored(&error);
                let refusal = NotStored(error.to_string());
                // A sender that went away spools the event itself.
                waiting.into_iter().for_each(|(_, reply)| drop(reply.send(Err(refusal.clone()))));
            }
        }
    }

    /// Transcripts are no events: they are kept beside the log and read again after a restart.
    async fn enrich(&mut self, enriched: Vec<(String, Box<Summary>)>) {
        let mut effects = self.fleet.tick(self.clock.now(self.fleet.now()));
        for (id, summary) in enriched {
            effects.append(&mut self.fleet.enrich(&id, *summary));
        }
        self.publish(effects).await;
    }

    /// A resend is acknowledged, not applied.
    fn apply(&mut self, records: &[Record], appended: &[Appended]) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut heard_of = BTreeSet::new();
        for (record, place) in records.iter().zip(appended) {
            self.health.metrics.received(record, place.duplicate);
            if !place.duplicate {
                let mut event = Event::from_record(record);
                event.seq = place.seq;
                effects.append(&mut self.fleet.apply(&event));
                // Too late, or in print mode: nobody was asked, so nobody will answer.
                if event.envelope.hold_ms.is_some() && self.fleet.find_ask(&event.id.to_string()).is_none() {
                    self.holds.release(&event.id.to_string());
                }
                heard_of.insert(record.session_id.as_str());
            }
        }
        heard_of.iter().filter_map(|id| self.fleet.get(id)).for_each(|session| self.tail.touched(session));
        self.keeper.applied(appended.len());
        effects
    }

    /// Tells viewers what reads differently now: each card once, however many events touched it.
    async fn publish(&mut self, effects: Vec<Effect>) {
        let mut changed = BTreeSet::new();
        let mut completed = Vec::new();
        let mut forgotten = Vec::new();
        let mut asks = Vec::new();
        for effect in effects {
            match effect {
                Effect::Discovered(id) | Effect::Changed(id) => drop(changed.insert(id)),
                Effect::Completed(id) => completed.push(id),
                // Nobody watches processes (a replay, a test): then nobody is told.
                Effect::Seated(occupant) => drop(self.seats.try_send(occupant)),
                Effect::AskOpened(ask) => asks.push((ASK_OPENED, ask)),
                Effect::AskClosed(ask) => {
                    let ours = ask.resolution.as_ref().is_some_and(|r| r.how.is_ours());
                    if !ours {
                        self.holds.ended_elsewhere(&ask);
                    }
                    asks.push((ASK_CLOSED, ask));
                }
                Effect::Forgotten(session) => forgotten.push(session),
            }
        }
        self.unseen.append(&mut changed);
        if self.watched || !completed.is_empty() {
            self.catch_up();
        }
        for (event, ask) in asks {
            self.changes.ask(event, &ask);
        }
        completed.iter().for_each(|id| self.changes.complete(id));
        for session in &forgotten {
            self.unseen.remove(&session.id);
            self.changes.remove(&session.id);
            self.tail.forget(&session.id);
        }
        if !forgotten.is_empty() {
            restore::keep_for_ever(&self.store, &forgotten, self.fleet.rules()).await;
        }
    }

    /// Writes the cards that changed, each once, and tells whoever watches.
    fn catch_up(&mut self) {
        for id in std::mem::take(&mut self.unseen) {
            let Some(session) = self.fleet.get(&id) else { continue };
            let card = card_json(&self.fleet, &id).unwrap_or_default();
            if board::on_board(session) {
                self.changes.put(&id, card);
            } else {
                self.changes.replace(&id, card);
            }
        }
    }

    fn answer(&mut self, question: Input) -> Option<oneshot::Sender<()>> {
        if matches!(question, Input::Board(_) | Input::Everyone(_) | Input::Subscribe { .. }) {
            self.watched |= matches!(question, Input::Subscribe { .. });
            self.catch_up();
        }
        // Whoever asked may have gone away; then the answer is nobody's.
        match question {
            Input::Board(reply) => drop(reply.send(self.changes.snapshot())),
            Input::Everyone(reply) => drop(reply.send((self.changes.snapshot(), replaced(&self.fleet)))),
            Input::Card { id, reply } => drop(reply.send(card_json(&self.fleet, &id))),
            Input::Explain { id, reply } => drop(reply.send(self.fleet.get(&id).map(explain::explain))),
            Input::History { since, reply } => drop(reply.send(explain::history(&self.fleet, since))),
            Input::Subscribe { last_event_id, reply } => {
                drop(reply.send(self.changes.subscribe(last_event_id.as_deref())));
            }
            Input::FindAsk { id, reply } => drop(reply.send(Known::find(&self.fleet, &id))),
            Input::Occupants(reply) => drop(reply.send(self.fleet.occupants().collect())),
            Input::Stop(reply) => return Some(reply),
            Input::Overview(reply) => {
                drop(reply.send(fleet_overview::overview(&self.fleet, self.clock.now(self.fleet.now()))))
            }
            Input::Events { .. } | Input::IfNews { .. } | Input::Enriched { .. } => {}
        }
        None
    }
}

fn answer_all(waiting: Vec<(usize, Reply)>, appended: Vec<Appended>) {
    let mut appended = appended.into_iter();
    for (count, reply) in waiting {
        // The sender went away after its event was stored: nothing is lost.
        let _ = reply.send(Ok(appended.by_ref().take(count).collect()));
    }
}

fn replaced(fleet: &Fleet) -> Vec<Bytes> {
    let gone = fleet.sessions().filter(|session| !board::on_board(session));
    gone.filter_map(|session| card_json(fleet, &session.id)).collect()
}

/// `None` if there is no such session.
fn card_json(fleet: &Fleet, id: &str) -> Option<Bytes> {
    let card = board::card(fleet.get(id)?, fleet.rules());
    match serde_json::to_vec(&card) {
        Ok(json) => Some(json.into()),
        Err(error) => {
            tracing::error!(%error, session = id, "a card could not be written as JSON");
            None
        }
    }
}
