//! Takes notes from the engine, groups those that arrive within the settle time, and hands them to the workers of their targets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::approval::answer::Decision;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::notify::Note;
use flightdeck_core::view::card::Card;
use jiff::tz::TimeZone;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::message::{Button, NoteLine, NoteMessage};
use super::settings::{TargetKind, TargetSettings};
use super::suppress::Checks;
use super::worker::{DELIVERIES_WAITING_MAX, NoteDelivery, TargetWorker};
use super::{NOTES_WAITING_MAX, Notifier, stopped};
use crate::clock::Clock;
use crate::engine::{EngineHandle, QueuedNote, Stopped};
use crate::store::{OutboxKey, Store};
use crate::terminal::Terminals;

/// Longest time to ask tmux about the panes of a group of notes.
const PANE_CHECKS_MAX: Duration = Duration::from_secs(3);

/// The task behind a [`Notifier`].
#[derive(Debug)]
pub struct Dispatcher {
    worker: TargetWorker,
    engine: EngineHandle,
    terminals: Arc<Terminals>,
    zone: TimeZone,
    queued: mpsc::Receiver<QueuedNote>,
    targets: BTreeMap<String, RunningTarget>,
    workers: JoinSet<()>,
}

/// A target with a running worker. After this is dropped, the worker sends the queued messages and ends.
#[derive(Debug)]
struct RunningTarget {
    settings: TargetSettings,
    queue: mpsc::Sender<NoteDelivery>,
}

/// One note with its rows in the outbox: one for each target.
struct NoteWithRows {
    seq: u64,
    note: Note,
    rows: Vec<(String, OutboxKey)>,
}

/// A note to one target.
struct TargetNote {
    key: OutboxKey,
    note: NoteLine,
    /// The request that buttons can answer.
    ask: Option<AskCard>,
}

impl Dispatcher {
    /// `queued` comes from [`Notifier::new`].
    pub fn new(
        notifier: Arc<Notifier>,
        queued: mpsc::Receiver<QueuedNote>,
        engine: EngineHandle,
        store: Store,
        terminals: Arc<Terminals>,
        clock: Clock,
    ) -> Self {
        let worker = TargetWorker { notifier, store, clock };
        let (targets, workers) = (BTreeMap::new(), JoinSet::new());
        Self { worker, engine, terminals, zone: TimeZone::system(), queued, targets, workers }
    }

    /// Runs until the daemon stops.
    pub async fn run(mut self) {
        let mut stopping = self.notifier().stopping.subscribe();
        loop {
            tokio::select! {
                biased;
                () = stopped(&mut stopping) => break,
                taken = self.gather() => {
                    // In both cases the engine has ended. Notes that were not sent stay in the outbox.
                    if taken.is_empty() || self.dispatch(taken).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.targets.clear();
        while self.workers.join_next().await.is_some() {}
    }

    fn notifier(&self) -> &Arc<Notifier> {
        &self.worker.notifier
    }

    /// Waits for a note, and collects those that follow it within the settle time. Empty if the engine has ended.
    async fn gather(&mut self) -> Vec<QueuedNote> {
        let mut taken: Vec<_> = self.queued.recv().await.into_iter().collect();
        let settle = u64::try_from(self.notifier().settings().settle.0).unwrap_or(0);
        let until = Instant::now() + Duration::from_millis(settle);
        while taken.len() < NOTES_WAITING_MAX
            && let Ok(Some(next)) = tokio::time::timeout_at(until, self.queued.recv()).await
        {
            taken.push(next);
        }
        taken
    }

    async fn dispatch(&mut self, taken: Vec<QueuedNote>) -> Result<(), Stopped> {
        self.follow_settings();
        let board = self.notifier().board();
        let mut lines: BTreeMap<String, Vec<TargetNote>> = BTreeMap::new();
        let mut dropped = Vec::new();
        let checks = self.checks();
        for NoteWithRows { seq, note, rows } in group_by_note(taken) {
            match checks.wanted(&note).await? {
                Err(reason) => {
                    tracing::debug!(session = %note.session_id, kind = ?note.kind, reason, "a note is not sent");
                    dropped.extend(rows.into_iter().map(|(_, key)| key));
                }
                Ok(card) => {
                    let (note, ask) = (NoteLine::new(seq, &note, &card, &board), permission(&card));
                    for (target, key) in rows {
                        let line = TargetNote { key, note: note.clone(), ask: ask.clone() };
                        lines.entry(target).or_default().push(line);
                    }
                }
            }
        }
        for (target, lines) in lines {
            dropped.extend(self.send(&target, lines, &board));
        }
        if !dropped.is_empty() {
            self.worker.mark_done(dropped).await;
        }
        Ok(())
    }

    fn checks(&self) -> Checks<'_> {
        Checks {
            notifier: self.notifier(),
            engine: &self.engine,
            terminals: &self.terminals,
            clock: &self.worker.clock,
            zone: &self.zone,
            panes_until: Instant::now() + PANE_CHECKS_MAX,
        }
    }

    /// Starts a worker for each new target, and ends those of targets that were changed or removed.
    fn follow_settings(&mut self) {
        let settings = self.notifier().settings();
        self.targets.retain(|_, running| settings.targets.contains(&running.settings));
        for target in &settings.targets {
            if !self.targets.contains_key(&target.name) {
                let (queue, deliveries) = mpsc::channel(DELIVERIES_WAITING_MAX);
                self.workers.spawn(self.worker.clone().run(target.clone(), deliveries));
                self.targets.insert(target.name.clone(), RunningTarget { settings: target.clone(), queue });
            }
        }
        // Removes workers that have ended from the set.
        while self.workers.try_join_next().is_some() {}
    }

    /// Hands the notes to the worker of the target. Returns the outbox rows that the worker will not send.
    fn send(&self, target: &str, mut lines: Vec<TargetNote>, board: &str) -> Vec<OutboxKey> {
        lines.sort_by_key(|line| (line.note.event, line.note.since));
        let keys: Vec<_> = lines.iter().map(|line| line.key.clone()).collect();
        // Only a message about one session has buttons.
        let ask = if let [line] = &lines[..] { line.ask.clone() } else { None };
        // A session with several notes is named once, with its most urgent reason.
        let mut named = BTreeSet::new();
        lines.retain(|line| named.insert(line.note.session_id.clone()));
        let notes = lines.into_iter().map(|line| line.note).collect();
        // A target that is no longer configured has no worker.
        let Some(RunningTarget { settings, queue }) = self.targets.get(target) else { return keys };
        let Some(mut message) = NoteMessage::new(notes, board, &self.zone) else { return keys };
        message.buttons = ask.map(|ask| self.buttons(settings, &ask)).unwrap_or_default();
        match queue.try_send(NoteDelivery { keys, message }) {
            Ok(()) => Vec::new(),
            Err(mpsc::error::TrySendError::Full(NoteDelivery { keys, message })) => {
                let why = format!("{DELIVERIES_WAITING_MAX} messages wait already: the target hangs");
                self.worker.give_up(target, &message, why);
                keys
            }
            // The worker has ended because the daemon stops.
            Err(mpsc::error::TrySendError::Closed(_)) => Vec::new(),
        }
    }

    /// The buttons Allow and Deny, for a phone that can reach this daemon. A request that cannot be undone gets only Deny.
    fn buttons(&self, target: &TargetSettings, ask: &AskCard) -> Vec<Button> {
        let settings = self.notifier().settings();
        let Some(public) = &settings.public_url else { return Vec::new() };
        if !matches!(target.kind, TargetKind::Ntfy { .. }) {
            return Vec::new();
        }
        let decisions = [("Allow", Decision::Allow), ("Deny", Decision::Deny)];
        let offered = decisions.into_iter().filter(|(_, d)| *d == Decision::Deny || ask.caution.is_none());
        let button = |(label, decision)| {
            let key = self.notifier().keys.issue(&ask.id, decision)?;
            let url = format!("{public}/api/notify/answer/{key}");
            Some(Button { label, url: url.into() })
        };
        offered.filter_map(button).collect()
    }
}

/// Groups the queued rows by note: a note has a row for each target.
fn group_by_note(taken: Vec<QueuedNote>) -> Vec<NoteWithRows> {
    let mut notes: Vec<NoteWithRows> = Vec::new();
    for QueuedNote { key, target, note } in taken {
        match notes.iter_mut().find(|known| known.seq == key.seq && known.note == note) {
            Some(known) => known.rows.push((target, key)),
            None => notes.push(NoteWithRows { seq: key.seq, note, rows: vec![(target, key)] }),
        }
    }
    notes
}

/// The permission request that the buttons answer. `None` unless it is the only open request of the session.
fn permission(card: &Card) -> Option<AskCard> {
    let mut open = card.asks.iter().filter(|ask| ask.answerable && ask.resolution.is_none());
    match (open.next(), open.next()) {
        (Some(ask), None) if ask.kind == NeedKind::Permission => Some(ask.clone()),
        _ => None,
    }
}
