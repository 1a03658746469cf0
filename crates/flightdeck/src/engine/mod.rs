//! The engine: the one loop that owns the fleet. Start reading here.
//!
//! Inputs come in through one bounded channel. The engine takes a batch, stamps it, appends it to the store in one
//! transaction, acknowledges it, applies it to the fleet and carries out the effects. While it applies one batch the store
//! writes the next (`commit.rs`). If the store fails, nothing is applied and every sender gets an error. Queries are answered
//! after all events that were acknowledged before them have been applied. Hooks that wait for a verdict are answered before rows are
//! written.

pub mod changes;
mod commit;
mod effects;
mod efforts;
mod explain;
mod handle;
pub mod housekeeping;
mod known_ask;
mod note_handover;
mod outbox;
mod overview;
mod ports;
mod refold;
pub mod restore;
pub mod snapshots;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use flightdeck_core::effort::{EffortRefused, HookQuestion, Judged};
use flightdeck_core::fleet::{Fleet, Occupant};
use flightdeck_core::ids::{AskId, EffortId, HostId, SessionId};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::Record;
use flightdeck_core::session::{HostTerms, Session};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::Summary;
use flightdeck_core::view;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::pane_status::{PaneKey, pane_statuses};
use flightdeck_core::view::seats::KnownSeatCard;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use self::changes::{ChangeFeed, SubscribeFrom, Subscription};
use self::commit::{Batch, Events};
use self::effects::{CausedEffect, card_json};
use self::explain::Explanation;
use self::handle::{ENRICHED_MAX, OwnAppends};
pub use self::handle::{
    EngineHandle, FleetCards, NotStored, NotedSession, OpenAssignments, OwnLog, PendingVerdict, Stopped,
};
use self::housekeeping::Housekeeping;
pub use self::known_ask::KnownAsk;
pub use self::note_handover::NoteSettings;
pub use self::outbox::Outbox;
pub use self::overview::Overview;
pub use self::ports::{HookHolds, NoteTargets, PaneDisplay, QueuedNote, TranscriptWatch};
use self::ports::{NoHolds, NoPanes, NoTranscripts};
pub use self::refold::{Refolded, TakeOverReply};
use crate::clock::{self, Clock, Steady};
use crate::health::Health;
use crate::store::{Appended, RetentionPolicy, Store};

/// Most inputs that wait for the engine. Further senders wait until there is room.
pub const INPUTS_WAITING_MAX: usize = 1024;
/// Inputs taken at once: they share one transaction.
pub const BATCH_INPUTS_MAX: usize = 256;

/// How long the engine sleeps if no timer is set: any input wakes it.
const IDLE_SLEEP_MAX: Millis = Millis::hours(1);
/// How often other tasks may run before a batch is stored. This bounds how long the first event of a batch waits.
const GATHER_TURNS_MAX: usize = 8;

/// Everything that can be sent to the engine.
#[derive(Debug)]
pub enum Input {
    /// Events that happened together, oldest first. Answered when they are durable.
    Events {
        records: Vec<Record>,
        reply: AckSender,
    },
    /// A status line, or the growth of a transcript: stored like an event, unless the fleet already knows it.
    IfNews {
        record: Box<Record>,
        reply: AckSender,
    },
    /// Changes of efforts. They are stored together if all of them are possible at that moment.
    EffortChanges {
        records: Vec<Record>,
        reply: EffortChangeReply,
    },
    /// Asks for the verdict of an effort on a hook.
    Judge {
        question: Box<HookQuestion>,
        reply: VerdictSender,
    },
    /// A query about efforts and seats.
    Read(FleetQuery),
    /// The subscription's limits, and how many sessions are in each column.
    Overview(oneshot::Sender<Overview>),
    /// The whole board, encoded.
    Board(oneshot::Sender<Bytes>),
    /// Every card of the fleet: the board, and the cards that were replaced there.
    AllCards(oneshot::Sender<FleetCards>),
    /// One card of the fleet, on the board or replaced.
    Card {
        id: SessionId,
        reply: oneshot::Sender<Option<Card>>,
    },
    /// Every known seat.
    Seats(oneshot::Sender<Vec<KnownSeatCard>>),
    /// The open assignments of the fleet.
    OpenAssignments(oneshot::Sender<OpenAssignments>),
    Explain {
        id: SessionId,
        reply: oneshot::Sender<Option<Explanation>>,
    },
    /// The states of all sessions since then, encoded.
    History {
        since: Timestamp,
        reply: oneshot::Sender<Bytes>,
    },
    Subscribe {
        from: SubscribeFrom,
        reply: oneshot::Sender<Subscription>,
    },
    /// What was read of a session's transcripts.
    Enriched {
        id: SessionId,
        summary: Box<Summary>,
    },
    /// The sessions whose process is known.
    Occupants(oneshot::Sender<Vec<Occupant>>),
    /// The panes of every session, each with its status.
    PaneStatuses(oneshot::Sender<Vec<SessionPanes>>),
    /// What is known about another host.
    HostTerms {
        host: HostId,
        terms: HostTerms,
    },
    /// What was read of the transcripts of a session.
    Summary {
        id: SessionId,
        reply: oneshot::Sender<Option<Box<Summary>>>,
    },
    /// A session that a note is about.
    NotedSession {
        id: SessionId,
        reply: oneshot::Sender<Option<NotedSession>>,
    },
    /// The settings of notes have changed.
    NoteSettings(NoteSettings),
    /// An ask, open or ended.
    FindAsk {
        id: AskId,
        reply: oneshot::Sender<Option<KnownAsk>>,
    },
    /// Replace the fleet by one that was folded with other rules.
    TakeOver {
        refolded: Box<Refolded>,
        reply: TakeOverReply,
    },
    /// How long events are kept from now on.
    Retention(RetentionPolicy),
    /// Write a snapshot and end.
    Stop(oneshot::Sender<()>),
}

/// The reply to the question of a hook. `None` if no effort applies.
pub type VerdictSender = oneshot::Sender<Option<Judged>>;
/// The panes of one session, each with its status.
pub type SessionPanes = (SessionId, Vec<(PaneKey, FleetStatus)>);
/// The reply to changes of efforts: the position of the last one in the log, or why one was refused.
pub type EffortChangeReply = oneshot::Sender<Result<Result<u64, EffortRefused>, NotStored>>;

/// Reads the fleet. It runs on the engine's loop, so it must be short.
pub type FleetReader = Box<dyn FnOnce(&Fleet) + Send>;

/// A query that reads the fleet.
pub struct FleetQuery(pub FleetReader);

impl std::fmt::Debug for FleetQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FleetQuery")
    }
}

/// Acknowledges events to their sender: where they are in the log, or why they are not stored.
pub type AckSender = oneshot::Sender<Result<Vec<Appended>, NotStored>>;

#[derive(Debug)]
pub struct Engine {
    fleet: Fleet,
    store: Store,
    changes: ChangeFeed,
    /// Whether a viewer has subscribed since the start. It may disconnect, and wants every change that it missed when it reconnects.
    watched: bool,
    /// Sessions whose cards must be written before the board or a change is sent.
    unwritten: BTreeSet<SessionId>,
    health: Arc<Health>,
    inputs: mpsc::Receiver<Input>,
    /// Notified of each append, for tasks that follow the log.
    own_appended: watch::Sender<OwnAppends>,
    clock: Steady,
    /// The newest `received_at` that was given to an event. The event may not have been applied yet.
    stamped: Timestamp,
    housekeeping: Housekeeping,
    outbox: Outbox,
    /// How many efforts are active. Without one, no hook waits for a verdict.
    efforts_active: Arc<AtomicUsize>,
    /// Efforts whose numbers changed since their row was written.
    unstored_efforts: BTreeSet<EffortId>,
    /// Receives each session whose process became known, to watch that process.
    seats: mpsc::Sender<Occupant>,
    transcripts: Box<dyn TranscriptWatch>,
    holds: Arc<dyn HookHolds>,
    panes: Arc<dyn PaneDisplay>,
}

/// The parts that an engine is assembled from.
#[derive(Debug)]
pub struct EngineParts {
    pub fleet: Fleet,
    pub store: Store,
    pub health: Arc<Health>,
    pub housekeeping: Housekeeping,
    pub transcripts: Box<dyn TranscriptWatch>,
    pub clock: Clock,
    /// Receives each session whose process became known, to watch that process.
    pub seats: mpsc::Sender<Occupant>,
    /// The effects that could not be carried out while the fleet was restored.
    pub outbox: Outbox,
    pub holds: Arc<dyn HookHolds>,
    /// Sends notes. `None`: notes of an earlier daemon are dropped.
    pub notes: Option<Arc<dyn NoteTargets>>,
    pub panes: Arc<dyn PaneDisplay>,
}

impl EngineParts {
    /// Parts with the wall clock and an empty outbox, without transcripts, held hooks, notes and watched processes.
    pub fn new(fleet: Fleet, store: Store) -> Self {
        Self {
            fleet,
            store,
            health: Arc::default(),
            housekeeping: Housekeeping::new(RetentionPolicy::default()),
            transcripts: Box::new(NoTranscripts),
            clock: clock::now.into(),
            seats: mpsc::channel(1).0,
            outbox: Outbox::default(),
            holds: Arc::new(NoHolds),
            notes: None,
            panes: Arc::new(NoPanes),
        }
    }
}

impl Engine {
    pub fn new(parts: EngineParts) -> (Self, EngineHandle) {
        let EngineParts { fleet, store, health, housekeeping, transcripts, clock, seats, .. } = parts;
        let EngineParts { mut outbox, holds, notes, panes, .. } = parts;
        outbox.hand_over_notes_to(notes);
        let (sender, inputs) = mpsc::channel(INPUTS_WAITING_MAX);
        let mut changes = ChangeFeed::new(health.boot.clone());
        for session in fleet.sessions().filter(|s| view::on_board(s)) {
            changes.seed(&session.id, card_json(&fleet, &session.id).unwrap_or_default());
        }
        fleet.sessions().for_each(|session| transcripts.touched(session));
        health.metrics.fleet(fleet.len(), 0);
        // The replayed events may have changed the numbers of these efforts.
        let active = fleet.efforts().filter(|effort| effort.is_active());
        let unstored_efforts = active.map(|effort| effort.id.clone()).collect();
        let last = fleet.last_seq();
        let (own_appended, own_log) =
            watch::channel(OwnAppends { log: OwnLog { last, log_end: last, appended: 0 }, newest: None });
        let engine = Self {
            fleet,
            store,
            changes,
            watched: false,
            unwritten: BTreeSet::new(),
            health,
            inputs,
            own_appended,
            clock: Steady::new(clock),
            stamped: Timestamp::default(),
            housekeeping,
            outbox,
            efforts_active: Arc::default(),
            unstored_efforts,
            seats,
            transcripts,
            holds,
            panes,
        };
        engine.report_efforts();
        let efforts_active = Arc::clone(&engine.efforts_active);
        let enriched = broadcast::channel(ENRICHED_MAX).0;
        (engine, EngineHandle { inputs: sender, efforts_active, own_log, enriched })
    }

    /// Runs until it is stopped, or until every handle is gone.
    pub async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH_INPUTS_MAX);
        loop {
            let wake = self.until_next_timer().min(self.until_housekeeping()).min(self.outbox.until_due());
            tokio::select! {
                // In this order: an event runs the timers due before it, so timers do not starve.
                biased;
                taken = self.inputs.recv_many(&mut batch, BATCH_INPUTS_MAX) => {
                    if taken == 0 {
                        break;
                    }
                    self.gather(&mut batch).await;
                    if let Some(stopped) = self.handle(&mut batch).await {
                        self.save_now().await;
                        // Fails if the caller of `stop` has given up waiting. The engine ends all the same.
                        let _ = stopped.send(());
                        return;
                    }
                }
                () = tokio::time::sleep(wake) => self.run_timers().await,
            }
            self.report_and_tidy();
        }
    }

    /// How long until a snapshot or a removal is due. A snapshot waits until the outbox is stored. It must not wake the engine before that,
    /// because on a full disk it would wake it all the time.
    fn until_housekeeping(&self) -> std::time::Duration {
        match self.outbox.is_saved() {
            true => self.housekeeping.until_due(),
            false => std::time::Duration::MAX,
        }
    }

    async fn run_timers(&mut self) {
        let now = self.clock.now(self.fleet.now());
        let effects = effects::tick(&mut self.fleet, now);
        self.carry_out(effects).await;
    }

    fn report_and_tidy(&mut self) {
        self.health.metrics.fleet(self.fleet.len(), self.changes.viewers());
        if self.housekeeping.is_due() {
            self.store_numbers_of_efforts();
        }
        // A snapshot must not hold an event whose effects could still be lost.
        if self.outbox.is_saved() {
            self.housekeeping.start_if_due(&self.fleet, &self.store);
        }
    }

    /// The last snapshot, before the engine ends.
    async fn save_now(&mut self) {
        self.store_numbers_of_efforts();
        self.outbox.flush(&self.store).await;
        if self.outbox.is_saved() {
            self.housekeeping.save_now(&self.fleet, &self.store).await;
        } else {
            tracing::warn!(
                "no snapshot was written, because an effect is not stored yet; the next start replays it"
            );
        }
    }

    /// Lets other tasks run and adds what they send, until a turn brings nothing: a commit of twenty events costs nearly the
    /// same as a commit of one. A single event does not wait for others.
    async fn gather(&mut self, batch: &mut Vec<Input>) {
        let (mut before, mut turns) = (1, 0);
        while batch.len() > before && turns < GATHER_TURNS_MAX {
            (before, turns) = (batch.len(), turns + 1);
            tokio::task::yield_now().await;
            self.receive_waiting(batch);
        }
    }

    /// How long until the next timer is due.
    fn until_next_timer(&mut self) -> std::time::Duration {
        let now = self.clock.now(self.fleet.now());
        let due = self.fleet.next_wake().map_or(IDLE_SLEEP_MAX, |at| at - now);
        std::time::Duration::from_millis(due.0.max(0) as u64)
    }

    /// Handles the batch, and the events that arrive while it is stored. Queries come last, so that they see the whole batch.
    async fn handle(&mut self, inputs: &mut Vec<Input>) -> Option<oneshot::Sender<()>> {
        let batch = Batch::sort(inputs);
        let Batch { enriched, host_terms, lines, effort_changes, refolded, questions, queries, .. } =
            self.commit_all(inputs, batch).await;
        if !questions.is_empty() {
            self.answer_questions(questions).await;
            self.write_rows().await;
        }
        if !enriched.is_empty() {
            self.enrich(enriched).await;
        }
        if !host_terms.is_empty() {
            self.set_host_terms(host_terms).await;
        }
        self.commit_unless_known(lines).await;
        self.commit_effort_changes(effort_changes).await;
        for (refolded, reply) in refolded {
            // Fails if the sender has disconnected. The new rules are used all the same.
            let _ = reply.send(self.take_over(*refolded).await);
        }
        if !queries.is_empty() {
            // A query is answered for the present time, even if a due timer has not woken the engine yet.
            self.run_timers().await;
        }
        let mut stopped = None;
        for query in queries {
            stopped = self.answer(query).await.or(stopped);
        }
        stopped
    }

    /// Stores the status lines and transcript growth that say anything new. Runs after the batch's events, so that the first
    /// status line of a session finds its session. A client with a `refreshInterval` repeats its line every second, and a
    /// repeated line is not stored.
    async fn commit_unless_known(&mut self, lines: Vec<(Record, AckSender)>) {
        let mut news = Events::default();
        for (record, reply) in lines {
            if self.fleet.is_news(&Event::from_record(&record)) {
                news.push(vec![record], reply);
            } else {
                // The status line command does not wait for the reply.
                let _ = reply.send(Ok(Vec::new()));
            }
        }
        self.commit(news).await;
    }

    /// Puts data from transcripts on the cards. This data is not an event: it is stored beside the log and loaded at a restart.
    async fn enrich(&mut self, enriched: Vec<(SessionId, Box<Summary>)>) {
        let now = self.clock.now(self.fleet.now());
        let mut effects: Vec<_> = effects::tick(&mut self.fleet, now).collect();
        for (id, summary) in enriched {
            effects.extend(CausedEffect::caused_by(self.fleet.last_seq(), self.fleet.enrich(&id, *summary)));
        }
        self.carry_out(effects).await;
    }

    /// Puts what is known about other hosts on their sessions. Like data from transcripts, this is not an event.
    async fn set_host_terms(&mut self, changed: Vec<(HostId, HostTerms)>) {
        let mut effects = Vec::new();
        for (host, terms) in changed {
            let caused = self.fleet.set_host_terms(&host, &terms);
            effects.extend(CausedEffect::caused_by(self.fleet.last_seq(), caused));
        }
        self.carry_out(effects).await;
    }

    async fn answer(&mut self, query: Input) -> Option<oneshot::Sender<()>> {
        if matches!(query, Input::Board(_) | Input::Subscribe { .. }) {
            self.watched |= matches!(query, Input::Subscribe { .. });
            self.write_changed_cards();
        }
        // The replies below fail if the caller has stopped waiting for them.
        match query {
            Input::Board(reply) => drop(reply.send(self.changes.snapshot())),
            Input::AllCards(reply) => drop(reply.send(self.all_cards())),
            Input::Card { id, reply } => drop(reply.send(self.card(&id))),
            Input::Seats(reply) => drop(reply.send(view::seats::seat_cards(&self.fleet))),
            Input::OpenAssignments(reply) => drop(reply.send(self.open_assignments())),
            Input::Explain { id, reply } => drop(reply.send(self.fleet.get(&id).map(explain::explain))),
            Input::History { since, reply } => drop(reply.send(explain::history(&self.fleet, since))),
            Input::Subscribe { from, reply } => {
                drop(reply.send(self.changes.subscribe(&from)));
            }
            Input::Read(FleetQuery(read)) => read(&self.fleet),
            Input::FindAsk { id, reply } => drop(reply.send(KnownAsk::find(&self.fleet, &id))),
            Input::Occupants(reply) => drop(reply.send(self.fleet.occupants().collect())),
            Input::PaneStatuses(reply) => drop(reply.send(self.pane_statuses())),
            Input::Summary { id, reply } => {
                drop(reply.send(self.fleet.get(&id).and_then(|session| session.enrichment.clone())));
            }
            Input::Retention(policy) => self.housekeeping.set_policy(policy),
            Input::NotedSession { id, reply } => drop(reply.send(self.noted_session(&id))),
            Input::NoteSettings(settings) => self.use_note_settings(settings),
            Input::Stop(reply) => return Some(reply),
            Input::Overview(reply) => {
                drop(reply.send(overview::overview(&self.fleet, self.clock.now(self.fleet.now()))))
            }
            // `Batch::sort` sorts these inputs into other fields, so none arrives here.
            Input::Events { .. }
            | Input::IfNews { .. }
            | Input::Enriched { .. }
            | Input::EffortChanges { .. }
            | Input::Judge { .. }
            | Input::HostTerms { .. }
            | Input::TakeOver { .. } => {}
        }
        None
    }

    /// Sets the settings of notes, and makes a snapshot due: a replay of older events with other settings could make notes again that
    /// were sent already.
    fn use_note_settings(&mut self, NoteSettings { rules, targets }: NoteSettings) {
        self.fleet.set_notify_rules(rules);
        self.outbox.set_note_targets(targets);
        self.housekeeping.make_snapshot_due();
    }

    fn card(&self, id: &SessionId) -> Option<Card> {
        Some(view::card(self.fleet.get(id)?, self.fleet.settings()))
    }

    fn open_assignments(&self) -> OpenAssignments {
        let open = self.fleet.sessions().filter(|session| session.tracker.open().is_some());
        let assignments = open.filter_map(Session::session_assignment).collect();
        OpenAssignments { assignments, host: self.fleet.settings().host.clone() }
    }

    fn pane_statuses(&self) -> Vec<SessionPanes> {
        let panes = |session: &Session| (session.id.clone(), pane_statuses(session));
        self.fleet.sessions().map(panes).filter(|(_, panes)| !panes.is_empty()).collect()
    }

    fn noted_session(&self, id: &SessionId) -> Option<NotedSession> {
        Some(NotedSession { card: self.card(id)?, kind: self.fleet.get(id)?.note_kind() })
    }

    /// All cards, those of the board first. `n` must be the number of the last change in them, so changed cards are sent to viewers before.
    fn all_cards(&mut self) -> FleetCards {
        self.write_changed_cards();
        let card = |session| view::card(session, self.fleet.settings());
        let (on_board, replaced): (Vec<_>, Vec<_>) = self.fleet.sessions().partition(|s| view::on_board(s));
        FleetCards {
            boot: self.changes.boot().to_owned(),
            n: self.changes.last_n(),
            cards: on_board.into_iter().chain(replaced).map(card).collect(),
        }
    }
}
