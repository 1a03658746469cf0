//! Takes notes from the engine, gathers those that come together, and drops those that the person need not get.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::approval::answer::Decision;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::fleet::Occupant;
use flightdeck_core::limits::NOTE_LIVES;
use flightdeck_core::notify::{Note, NoteKind};
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::view::card::Card;
use jiff::tz::TimeZone;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::message::{Button, Message, NoteLine};
use super::quiet::TimeOfDay;
use super::settings::{TargetKind, TargetSettings};
use super::worker::{DELIVERIES_WAITING_MAX, Delivery, Worker};
use super::{Notifier, stopped};
use crate::clock::Clock;
use crate::engine::{EngineHandle, QueuedNote, Stopped};
use crate::store::{OutboxKey, Store};
use crate::terminal::{Place, Terminals, watched};

/// Notes taken together at most.
const GATHERED_MAX: usize = 256;
/// Longest time for asking tmux about the panes of all gathered notes. After it a pane counts as not watched.
const PANE_CHECKS_MAX: Duration = Duration::from_secs(3);

/// The task behind a [`Notifier`].
#[derive(Debug)]
pub struct Dispatcher {
    worker: Worker,
    engine: EngineHandle,
    terminals: Arc<Terminals>,
    zone: TimeZone,
    queues: BTreeMap<String, mpsc::Sender<Delivery>>,
}

/// One note with its rows in the outbox: one for each target.
struct Gathered {
    seq: u64,
    note: Note,
    rows: Vec<(String, OutboxKey)>,
}

impl Dispatcher {
    pub fn new(
        notifier: Arc<Notifier>,
        engine: EngineHandle,
        store: Store,
        terminals: Arc<Terminals>,
        clock: impl Into<Clock>,
    ) -> Self {
        let worker = Worker { notifier, store, clock: clock.into() };
        Self { worker, engine, terminals, zone: TimeZone::system(), queues: BTreeMap::new() }
    }

    /// Runs until the daemon stops.
    pub async fn run(mut self, mut queue: mpsc::Receiver<QueuedNote>) {
        let mut workers = tokio::task::JoinSet::new();
        for target in self.notifier().settings.targets.clone() {
            let (sender, deliveries) = mpsc::channel(DELIVERIES_WAITING_MAX);
            self.queues.insert(target.name.clone(), sender);
            workers.spawn(self.worker.clone().run(target, deliveries));
        }
        let mut stopping = self.notifier().stopping.subscribe();
        loop {
            tokio::select! {
                biased;
                () = stopped(&mut stopping) => break,
                taken = self.gather(&mut queue) => {
                    // The engine has ended in either case. What was not sent stays in the outbox.
                    if taken.is_empty() || self.dispatch(taken).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.queues.clear();
        while workers.join_next().await.is_some() {}
    }

    fn notifier(&self) -> &Arc<Notifier> {
        &self.worker.notifier
    }

    /// The first note, and those that follow it within the settle time. Empty if no more can come.
    async fn gather(&self, queue: &mut mpsc::Receiver<QueuedNote>) -> Vec<QueuedNote> {
        let mut taken: Vec<_> = queue.recv().await.into_iter().collect();
        let settle = u64::try_from(self.notifier().settings.settle.0).unwrap_or(0);
        let until = Instant::now() + Duration::from_millis(settle);
        while taken.len() < GATHERED_MAX
            && let Ok(Some(next)) = tokio::time::timeout_at(until, queue.recv()).await
        {
            taken.push(next);
        }
        taken
    }

    async fn dispatch(&self, taken: Vec<QueuedNote>) -> Result<(), Stopped> {
        let checks_until = Instant::now() + PANE_CHECKS_MAX;
        let mut lines: BTreeMap<String, Vec<(OutboxKey, NoteLine, Option<AskCard>)>> = BTreeMap::new();
        let mut dropped = Vec::new();
        for Gathered { seq, note, rows } in gathered(taken) {
            match self.wanted(&note, checks_until).await? {
                Err(reason) => {
                    tracing::debug!(session = %note.session_id, kind = ?note.kind, reason, "a note is not sent");
                    dropped.extend(rows.into_iter().map(|(_, key)| key));
                }
                Ok(card) => {
                    let line = NoteLine::new(seq, &note, &card, &self.notifier().board);
                    for (target, key) in rows {
                        lines.entry(target).or_default().push((key, line.clone(), permission(&card)));
                    }
                }
            }
        }
        for (target, lines) in lines {
            dropped.extend(self.send(&target, lines));
        }
        if !dropped.is_empty() {
            self.worker.mark_done(dropped).await;
        }
        Ok(())
    }

    /// Hands the notes to the worker of the target. Returns the rows that are done without it.
    fn send(&self, target: &str, mut lines: Vec<(OutboxKey, NoteLine, Option<AskCard>)>) -> Vec<OutboxKey> {
        lines.sort_by_key(|(_, line, _)| (line.event, line.since));
        let keys: Vec<_> = lines.iter().map(|(key, ..)| key.clone()).collect();
        let ask = match &lines[..] {
            [(_, _, Some(ask))] => Some(ask.clone()),
            _ => None,
        };
        // A session that came twice is named once, for its most urgent reason.
        let mut named = BTreeSet::new();
        lines.retain(|(_, line, _)| named.insert(line.session_id.clone()));
        let notes = lines.into_iter().map(|(_, line, _)| line).collect();
        // A target that is not configured any more has no queue.
        let settings = self.notifier().settings.targets.iter().find(|t| t.name == target);
        let (Some(settings), Some(queue)) = (settings, self.queues.get(target)) else { return keys };
        let Some(mut message) = Message::new(notes, &self.notifier().board, &self.zone) else { return keys };
        message.buttons = ask.map(|ask| self.buttons(settings, &ask)).unwrap_or_default();
        match queue.try_send(Delivery { keys, message }) {
            Ok(()) => Vec::new(),
            Err(mpsc::error::TrySendError::Full(Delivery { keys, message })) => {
                let why = format!("{DELIVERIES_WAITING_MAX} messages wait already: the target hangs");
                self.worker.give_up(target, &message, why);
                keys
            }
            // The worker has ended because the daemon stops.
            Err(mpsc::error::TrySendError::Closed(_)) => Vec::new(),
        }
    }

    /// Why the person need not get the note, or the card that it is about.
    async fn wanted(
        &self,
        note: &Note,
        checks_until: Instant,
    ) -> Result<Result<Card, &'static str>, Stopped> {
        let (notifier, now) = (self.notifier(), self.worker.clock.now());
        if now - note.at > NOTE_LIVES {
            return Ok(Err("it is too old"));
        }
        let Some(card) = self.engine.card(&note.session_id).await? else {
            return Ok(Err("the session has left the board"));
        };
        if !still_holds(note, &card) {
            return Ok(Err("the session has moved on"));
        }
        let is_muted =
            |muted: &String| *muted == card.project.name || Some(muted) == card.project.path.as_ref();
        if notifier.settings.mute_projects.iter().any(is_muted) {
            return Ok(Err("its project is muted"));
        }
        let time = TimeOfDay::at(now, &self.zone);
        if notifier.settings.quiet.is_some_and(|(from, to)| time.is_within(from, to)) {
            return Ok(Err("these are quiet hours"));
        }
        if notifier.boards.show(&card.id) {
            return Ok(Err("a visible board shows it"));
        }
        if self.is_in_front(&card, checks_until).await? {
            return Ok(Err("the person looks at its pane"));
        }
        Ok(Ok(card))
    }

    /// Whether a tmux client shows the session's pane right now.
    async fn is_in_front(&self, card: &Card, until: Instant) -> Result<bool, Stopped> {
        let (Some(server), Some(pane)) = (&card.seat.tmux_socket, &card.seat.pane) else { return Ok(false) };
        let occupants = self.engine.occupants().await?;
        let shown =
            |o: &Occupant| o.session_id == card.id && Some(o.pid) == card.seat.pid && o.host.is_this();
        let Some(Occupant { pid, proc_start, .. }) = occupants.into_iter().find(shown) else {
            return Ok(false);
        };
        let place = Place { server: server.into(), pane: pane.clone(), pid, proc_start };
        let check = watched::is_watched(&self.terminals.tmux, &place);
        // A pane that cannot be asked about is not in front: a note too many is better than one too few.
        Ok(tokio::time::timeout_at(until, check).await.is_ok_and(|watched| watched.unwrap_or(false)))
    }

    /// Allow and Deny for a phone that can reach this daemon. What cannot be undone is not allowed with one touch.
    fn buttons(&self, target: &TargetSettings, ask: &AskCard) -> Vec<Button> {
        let Some(public) = &self.notifier().settings.public_url else { return Vec::new() };
        if !matches!(target.kind, TargetKind::Ntfy { .. }) {
            return Vec::new();
        }
        let decisions = [("Allow", Decision::Allow), ("Deny", Decision::Deny)];
        let offered = decisions.into_iter().filter(|(_, d)| *d == Decision::Deny || ask.caution.is_none());
        let button = |(label, decision)| {
            let key = self.notifier().keys.issue(&ask.id, decision)?;
            Some(Button { label, url: format!("{public}/api/notify/answer/{key}") })
        };
        offered.filter_map(button).collect()
    }
}

/// The rows of one note belong together.
fn gathered(taken: Vec<QueuedNote>) -> Vec<Gathered> {
    let mut notes: Vec<Gathered> = Vec::new();
    for QueuedNote { key, target, note } in taken {
        match notes.iter_mut().find(|known| known.seq == key.seq && known.note == note) {
            Some(known) => known.rows.push((target, key)),
            None => notes.push(Gathered { seq: key.seq, note, rows: vec![(target, key)] }),
        }
    }
    notes
}

/// Whether the card still shows the state that the note is about, or another one of the same kind.
fn still_holds(note: &Note, card: &Card) -> bool {
    let kind = match card.agent_state.state {
        StateName::NeedsPermission => Some(NoteKind::NeedsPermission),
        StateName::AwaitingInput | StateName::AwaitingApproval => Some(NoteKind::Asks),
        StateName::Error => Some(NoteKind::Failed),
        StateName::Idle => Some(NoteKind::Completed),
        _ => None,
    };
    kind == Some(note.kind) || card.agent_state.since == note.since
}

/// The permission request that a button can answer: there must be exactly one.
fn permission(card: &Card) -> Option<AskCard> {
    let mut open = card.asks.iter().filter(|ask| ask.answerable && ask.resolution.is_none());
    match (open.next(), open.next()) {
        (Some(ask), None) if ask.kind == NeedKind::Permission => Some(ask.clone()),
        _ => None,
    }
}
