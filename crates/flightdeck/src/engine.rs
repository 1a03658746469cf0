//! The one loop that owns the fleet. Read this first: it is the whole way of an event.
//!
//! Inputs come in through one bounded channel. The engine takes a batch, stamps it, appends it to the store in one
//! transaction, acknowledges whoever sent it, applies it to the fleet and tells the viewers, while the store writes what
//! came meanwhile (`commit.rs`). If the store fails, nothing is applied and nobody is told that it worked. Questions are
//! answered once everything that was acknowledged before them is applied.

mod commit;
mod handle;
mod publish;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use flightdeck_core::board;
use flightdeck_core::enrichment::Summary;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::{Fleet, Occupant};
use flightdeck_core::record::Record;
use flightdeck_core::time::{Millis, Timestamp};
use tokio::sync::{mpsc, oneshot};

use self::commit::{Batch, Events};
pub use self::handle::{EngineHandle, NotStored, Stopped};
use self::publish::{card_json, replaced};
use crate::asks::answer::Known;
use crate::asks::holds::Holds;
use crate::changes::{Changes, Subscription};
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

/// Turns that the engine lets others have before it stores what came: nobody waits longer than these take.
const GATHER_TURNS_MAX: usize = 8;

/// Everything the engine ever hears.
#[derive(Debug)]
pub enum Input {
    /// Events that happened together, oldest first. Answered when they are durable.
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
    /// The newest `received_at` given: that event may not have been applied yet.
    stamped: Timestamp,
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
                stamped: Timestamp::default(),
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
                () = tokio::time::sleep(wake) => self.run_timers().await,
            }
            self.look_after();
        }
    }

    async fn run_timers(&mut self) {
        let now = self.clock.now(self.fleet.now());
        let effects = self.fleet.tick(now);
        self.publish(effects).await;
    }

    fn look_after(&mut self) {
        self.health.metrics.fleet(self.fleet.len(), self.changes.viewers());
        self.keeper.look_after(&self.fleet, &self.store);
    }

    /// Lets everybody who is about to send do so, until a turn brings nobody: a commit costs nearly the same for one event
    /// as for twenty. One alone is not kept waiting for others.
    async fn gather(&mut self, batch: &mut Vec<Input>) {
        let (mut before, mut turns) = (1, 0);
        while batch.len() > before && turns < GATHER_TURNS_MAX {
            (before, turns) = (batch.len(), turns + 1);
            tokio::task::yield_now().await;
            self.take_waiting(batch);
        }
    }

    /// An hour where no timer runs: a sleeping engine costs nothing.
    fn until_next_timer(&mut self) -> std::time::Duration {
        let now = self.clock.now(self.fleet.now());
        let due = self.fleet.next_wake().map_or(Millis::hours(1), |at| at - now);
        std::time::Duration::from_millis(due.0.max(0) as u64)
    }

    /// What waits, and the events that come while it is stored. Questions are answered last, so that they see all of it.
    async fn take(&mut self, inputs: &mut Vec<Input>) -> Option<oneshot::Sender<()>> {
        let batch = Batch::of(inputs);
        let Batch { enriched, lines, questions, .. } = self.commit_all(inputs, batch).await;
        if !enriched.is_empty() {
            self.enrich(enriched).await;
        }
        self.commit_news(lines).await;
        if !questions.is_empty() {
            // What is asked for is told as of now, also where a timer has not woken us yet.
            self.run_timers().await;
        }
        questions.into_iter().fold(None, |stopped, question| self.answer(question).or(stopped))
    }

    /// After the batch's events, so that the first line of a session finds it. With a `refreshInterval` a client says the
    /// same every second: that is not worth a write.
    async fn commit_news(&mut self, lines: Vec<(Record, Reply)>) {
        let mut news = Events::default();
        for (record, reply) in lines {
            if self.fleet.is_news(&Event::from_record(&record)) {
                news.push(vec![record], reply);
            } else {
                // The command does not wait for the answer.
                let _ = reply.send(Ok(Vec::new()));
            }
        }
        self.commit(news).await;
    }

    /// Transcripts are no events: they are kept beside the log and read again after a restart.
    async fn enrich(&mut self, enriched: Vec<(String, Box<Summary>)>) {
        let mut effects = self.fleet.tick(self.clock.now(self.fleet.now()));
        for (id, summary) in enriched {
            effects.append(&mut self.fleet.enrich(&id, *summary));
        }
        self.publish(effects).await;
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
