//! Brings the fleet back after a restart, and keeps what that needs: snapshots, last words, and not too much log.

use std::time::{Duration, Instant};

use flightdeck_core::board;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::limits::ENDED_IDS_MAX;
use flightdeck_core::rules::Rules;
use flightdeck_core::session::Session;
use flightdeck_core::time::Timestamp;

use crate::clock;
use crate::store::{RetentionPolicy, Snapshot, Store, StoreError, StoredSession};

/// Events between snapshots: replaying that many takes a fraction of a second.
pub const SNAPSHOT_EVERY_EVENTS: usize = 5_000;
/// A large fleet is written less often: one more event to wait for this many bytes of the last snapshot.
pub const SNAPSHOT_BYTES_PER_EVENT: usize = 512;
/// How often old events are looked for.
pub const RETAIN_EVERY: Duration = Duration::from_secs(600);

/// What came back, for the log and `status`.
#[derive(Debug)]
pub struct Restored {
    pub fleet: Fleet,
    pub from_snapshot: bool,
    pub replayed: u64,
    pub unreadable: u64,
}

/// The newest snapshot of these rules and the log after it; without one, the whole log that is kept.
pub async fn restore(store: &Store, rules: Rules) -> Result<Restored, StoreError> {
    let snapshot = store.latest_snapshot(&rules.fold_version()).await?;
    let known = snapshot.as_ref().and_then(|s| match serde_json::from_slice::<Fleet>(&s.body) {
        Ok(fleet) => Some(fleet.with_rules(rules.clone())),
        Err(error) => {
            tracing::warn!(%error, seq = s.seq, "a snapshot cannot be read; the log is replayed instead");
            None
        }
    });
    let from_snapshot = known.is_some();
    let fleet = match known {
        Some(fleet) => fleet,
        None => from_nothing(store, rules).await?,
    };
    replay(store, fleet, from_snapshot).await
}

/// What never expires: sessions that ended before the log begins must not come back as ghosts.
async fn from_nothing(store: &Store, rules: Rules) -> Result<Fleet, StoreError> {
    let mut fleet = Fleet::new(rules);
    let page = store.stored_sessions(None, ENDED_IDS_MAX).await?;
    for session in page.sessions {
        fleet.remember_ended(&session.id, session.ended_at.unwrap_or(session.last_activity_at));
    }
    Ok(fleet)
}

async fn replay(store: &Store, mut fleet: Fleet, from_snapshot: bool) -> Result<Restored, StoreError> {
    let mut pages = store.replay(fleet.last_seq()).await?;
    let (mut replayed, mut unreadable) = (0, 0);
    while let Some(page) = pages.next().await? {
        unreadable += page.unreadable;
        let mut forgotten = Vec::new();
        for record in &page.records {
            for effect in fleet.apply(&Event::from_record(record)) {
                // Everything else was told before the restart; a last word may have been cut off by it.
                if let Effect::Forgotten(session) = effect {
                    forgotten.push(session);
                }
            }
            replayed += 1;
        }
        if !forgotten.is_empty() {
            keep_for_ever(store, &forgotten, fleet.rules()).await;
        }
        if replayed % 100_000 < page.records.len() as u64 {
            tracing::info!(replayed, "replaying the event log");
        }
    }
    Ok(Restored { fleet, from_snapshot, replayed, unreadable })
}

/// Writes the last word of sessions that left the board.
pub async fn keep_for_ever(store: &Store, sessions: &[Box<Session>], rules: &Rules) {
    let stored = sessions.iter().filter_map(|s| stored_session(s, rules)).collect();
    if let Err(error) = store.put_sessions(stored).await {
        tracing::error!(%error, "sessions that left the board could not be kept");
    }
}

fn stored_session(session: &Session, rules: &Rules) -> Option<StoredSession> {
    let card = board::card(session, rules);
    Some(StoredSession {
        id: card.id.clone(),
        project: Some(card.project.name.clone()),
        title: card.title.clone(),
        started_at: card.started_at,
        last_activity_at: card.last_activity_at,
        ended_at: card.ended_at,
        card: serde_json::to_string(&card).ok()?,
    })
}

/// Decides when to write a snapshot and when to look for old events. The work itself happens beside the engine.
#[derive(Debug)]
pub struct Keeper {
    policy: RetentionPolicy,
    events_since: usize,
    last_bytes: usize,
    saving: Option<tokio::task::JoinHandle<usize>>,
    retained_at: Option<Instant>,
}

impl Keeper {
    pub fn new(policy: RetentionPolicy) -> Self {
        Self { policy, events_since: 0, last_bytes: 0, saving: None, retained_at: None }
    }

    pub fn applied(&mut self, events: usize) {
        self.events_since += events;
    }

    /// After each batch.
    pub fn look_after(&mut self, fleet: &Fleet, store: &Store) {
        let due = SNAPSHOT_EVERY_EVENTS.max(self.last_bytes / SNAPSHOT_BYTES_PER_EVENT);
        if self.events_since < due || self.saving.as_ref().is_some_and(|s| !s.is_finished()) {
            return;
        }
        self.events_since = 0;
        let retain = self.retained_at.is_none_or(|at| at.elapsed() >= RETAIN_EVERY);
        if retain {
            self.retained_at = Some(Instant::now());
        }
        let (fleet, store, policy) = (fleet.clone(), store.clone(), self.policy);
        self.last_bytes = self.last_bytes.max(fleet.len() * 1024);
        self.saving = Some(tokio::spawn(async move {
            let bytes = save(&fleet, &store).await;
            if retain && bytes > 0 {
                remove_old(&store, policy, fleet.last_seq(), clock::now()).await;
            }
            bytes
        }));
    }

    /// Before the end.
    pub async fn save_now(&mut self, fleet: &Fleet, store: &Store) {
        if let Some(saving) = self.saving.take() {
            // A snapshot that failed was logged where it failed.
            let _ = saving.await;
        }
        save(fleet, store).await;
    }
}

/// The bytes written; zero if it could not be. Without a snapshot the next start takes longer and loses nothing.
async fn save(fleet: &Fleet, store: &Store) -> usize {
    let body = match serde_json::to_vec(fleet) {
        Ok(body) => body,
        Err(error) => {
            tracing::error!(%error, "the fleet cannot be written as a snapshot");
            return 0;
        }
    };
    let bytes = body.len();
    let snapshot = Snapshot { seq: fleet.last_seq(), rules_version: fleet.rules().fold_version(), body };
    match store.save_snapshot(snapshot).await {
        Ok(()) => bytes,
        Err(error) => {
            tracing::warn!(%error, "no snapshot was written; the next start replays more of the log");
            0
        }
    }
}

async fn remove_old(store: &Store, policy: RetentionPolicy, snapshot_seq: u64, now: Timestamp) {
    match store.retain(now, RetentionPolicy { keep_after_seq: snapshot_seq, ..policy }).await {
        Ok(report) if report.removed > 0 => {
            tracing::info!(removed = report.removed, "old events were removed")
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "old events could not be removed"),
    }
}
