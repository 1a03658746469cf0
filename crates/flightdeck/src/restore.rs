//! Brings the fleet back after a restart, and keeps what that needs: snapshots, last words, and not too much log.

use std::time::Duration;

use flightdeck_core::board;
use flightdeck_core::enrichment::{Enrichment, Summary};
use flightdeck_core::event::Event;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::limits::ENDED_IDS_MAX;
use flightdeck_core::price::PriceTable;
use flightdeck_core::rules::Rules;
use flightdeck_core::session::Session;
use flightdeck_core::time::Timestamp;

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::snapshot::{self, Packed};
use crate::store::{RetentionPolicy, Snapshot, Store, StoreError, StoredSession};

/// Events between snapshots: replaying that many takes a fraction of a second.
pub const SNAPSHOT_EVERY_EVENTS: usize = 5_000;
/// A large fleet is written less often: one more event to wait for this many bytes of the last snapshot's text.
pub const SNAPSHOT_BYTES_PER_EVENT: usize = 512;
/// How often old events are looked for …
pub const RETAIN_EVERY: Duration = Duration::from_secs(600);
/// … and with the next snapshot once the log is larger than it may be by one part in this many.
pub const RETAIN_OVER: u64 = 8;
/// The first time: when the start is over, and before most daemons end.
pub const RETAIN_FIRST_AFTER: Duration = Duration::from_secs(30);

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
    restore_priced(store, rules, PriceTable::shipped()).await
}

/// The same, with a person's own prices for the last words that are written on the way.
pub async fn restore_priced(
    store: &Store,
    rules: Rules,
    prices: &PriceTable,
) -> Result<Restored, StoreError> {
    let snapshot = store.latest_snapshot(&rules.fold_version()).await?;
    let known = snapshot.as_ref().and_then(|s| match snapshot::unpack(&s.body.whole()) {
        Ok(fleet) => Some(fleet.with_rules(rules.clone())),
        Err(error) => {
            tracing::warn!(%error, seq = s.seq, "a snapshot cannot be read; the log is replayed instead");
            None
        }
    });
    drop(snapshot);
    let from_snapshot = known.is_some();
    let fleet = match known {
        Some(fleet) => fleet,
        None => from_nothing(store, rules).await?,
    };
    replay(store, fleet, from_snapshot, prices).await
}

/// What never expires: sessions whose beginning the log no longer has, and that ended, must not come back as ghosts. The
/// others are told by the log itself, in the order it was lived.
async fn from_nothing(store: &Store, rules: Rules) -> Result<Fleet, StoreError> {
    let mut fleet = Fleet::new(rules);
    let log_begins = match store.oldest().await? {
        Some(oldest) if oldest.seq == 1 => return Ok(fleet),
        oldest => oldest.map(|o| o.received_at),
    };
    let (mut before, mut known) = (None, 0);
    while known < ENDED_IDS_MAX {
        let page = store.stored_sessions(before, ENDED_IDS_MAX - known).await?;
        known += page.sessions.len();
        for session in page.sessions {
            if let Some(ended) = session.ended_at
                && log_begins.is_none_or(|begins| session.started_at < begins)
            {
                fleet.remember_ended(&session.id, ended);
            }
        }
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    Ok(fleet)
}

async fn replay(
    store: &Store,
    mut fleet: Fleet,
    from_snapshot: bool,
    prices: &PriceTable,
) -> Result<Restored, StoreError> {
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
            for session in &mut forgotten {
                session.enrichment = remembered(store, &session.id, prices).await?.map(Box::new);
            }
            keep_for_ever(store, &forgotten, fleet.rules()).await;
        }
        if replayed % 100_000 < page.records.len() as u64 {
            tracing::info!(replayed, "replaying the event log");
        }
    }
    Ok(Restored { fleet, from_snapshot, replayed, unreadable })
}

/// What its transcripts told before the restart: nobody follows it any more, and its last word has numbers too.
async fn remembered(store: &Store, id: &str, prices: &PriceTable) -> Result<Option<Summary>, StoreError> {
    let Some(read) = store.transcript(id).await? else { return Ok(None) };
    let whole = read.known.as_deref().and_then(|json| serde_json::from_str(json).ok());
    Ok(Some(Summary::of(whole.unwrap_or_else(|| Enrichment::of_costs(&read.counted)), prices)))
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
    /// Only the snapshot: what is removed after it is not waited for.
    saving: Option<JoinHandle<usize>>,
    retain_at: Instant,
}

impl Keeper {
    pub fn new(policy: RetentionPolicy) -> Self {
        Self {
            policy,
            events_since: 0,
            last_bytes: 0,
            saving: None,
            retain_at: Instant::now() + RETAIN_FIRST_AFTER,
        }
    }

    pub fn applied(&mut self, events: usize) {
        self.events_since += events;
    }

    /// How long until old events are to be looked for, even if nothing happens.
    pub fn until_due(&self) -> Duration {
        self.retain_at.saturating_duration_since(Instant::now())
    }

    /// After each batch.
    pub fn look_after(&mut self, fleet: &Fleet, store: &Store) {
        let saving = self.is_saving();
        let retain = self.until_due().is_zero();
        if retain {
            self.retain_at = Instant::now() + if saving { RETAIN_FIRST_AFTER } else { RETAIN_EVERY };
        }
        let due = SNAPSHOT_EVERY_EVENTS.max(self.last_bytes / SNAPSHOT_BYTES_PER_EVENT);
        if saving || !(retain || self.events_since >= due) {
            return;
        }
        // A second snapshot of the same would push out the one to fall back on.
        let is_known = self.events_since == 0 && self.last_bytes > 0;
        self.events_since = 0;
        let (seq, now) = (fleet.last_seq(), fleet.now());
        let (last_bytes, store, policy) = (self.last_bytes, store.clone(), self.policy);
        let fleet = (!is_known).then(|| fleet.clone());
        self.saving = Some(tokio::spawn(async move {
            let bytes = match fleet {
                None => last_bytes,
                Some(fleet) => save(fleet, &store).await,
            };
            if bytes > 0 && (retain || is_too_large(&store, policy).await) {
                // Nobody waits for it: a store that closes breaks it off, and the next start goes on.
                tokio::spawn(async move { remove_old(&store, policy, seq, now).await });
            }
            bytes
        }));
    }

    /// Also takes down how large the last one became.
    fn is_saving(&mut self) -> bool {
        let Some(mut saving) = self.saving.take() else { return false };
        match (&mut saving).now_or_never() {
            Some(written) => self.last_bytes = written.unwrap_or(self.last_bytes),
            None => self.saving = Some(saving),
        }
        self.saving.is_some()
    }

    /// Before the end.
    pub async fn save_now(&mut self, fleet: &Fleet, store: &Store) {
        if let Some(saving) = self.saving.take() {
            // A snapshot that failed was logged where it failed.
            let _ = saving.await;
        }
        save(fleet.clone(), store).await;
    }
}

/// The bytes of its text; zero if it could not be written. Without a snapshot the next start takes longer and loses nothing.
async fn save(fleet: Fleet, store: &Store) -> usize {
    let (seq, rules_version) = (fleet.last_seq(), fleet.rules().fold_version());
    let Packed { body, text_bytes } = match snapshot::pack(fleet).await {
        Ok(packed) => packed,
        Err(error) => {
            tracing::error!(%error, "the fleet cannot be written as a snapshot");
            return 0;
        }
    };
    let snapshot = Snapshot { seq, rules_version, body };
    match store.save_snapshot(snapshot).await {
        Ok(()) => text_bytes,
        Err(error) => {
            tracing::warn!(%error, "no snapshot was written; the next start replays more of the log");
            0
        }
    }
}

/// A flood does not wait for its time.
async fn is_too_large(store: &Store, policy: RetentionPolicy) -> bool {
    let most = policy.max_bytes.saturating_add(policy.max_bytes / RETAIN_OVER);
    store.size_bytes().await.is_ok_and(|bytes| bytes > most)
}

async fn remove_old(store: &Store, policy: RetentionPolicy, snapshot_seq: u64, now: Timestamp) {
    match store.retain(now, RetentionPolicy { keep_after_seq: snapshot_seq, ..policy }).await {
        Ok(report) if report.removed > 0 => {
            tracing::info!(removed = report.removed, "old events were removed")
        }
        // The one under way goes on.
        Ok(_) | Err(StoreError::Retaining) => {}
        Err(error) => tracing::warn!(%error, "old events could not be removed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{PAGE_ITEMS_MAX, SessionRead, TranscriptBatch};
    use flightdeck_core::enrichment::Counted;
    use flightdeck_core::price::Usage;
    use flightdeck_core::record::Record;
    use flightdeck_core::time::Millis;
    use flightdeck_core::wire::hook::{HookDraft, stamp};
    use flightdeck_core::wire::transcript::MessageKey;

    fn stored(n: usize) -> StoredSession {
        let at = Timestamp::from_millis(n as i64);
        let (id, card) = (format!("s{n}"), "{}".to_owned());
        StoredSession {
            id,
            project: None,
            title: None,
            started_at: at,
            last_activity_at: at,
            ended_at: Some(at),
            card,
        }
    }

    fn hook(name: &str, ms: i64) -> Record {
        let payload = serde_json::json!({"session_id": "s", "hook_event_name": name, "prompt": "x"});
        let payload = payload.as_object().unwrap().clone();
        let draft = HookDraft { name_in_path: None, payload, env: Default::default(), bytes: 1 };
        let mut record = draft.into_record(crate::clock::fresh_id()).unwrap();
        stamp(&mut record, Timestamp::from_millis(ms), Timestamp::default());
        record
    }

    #[tokio::test]
    async fn every_session_that_ended_is_remembered_however_many_pages_they_fill() {
        let store = Store::in_memory().unwrap();
        let count = 2 * PAGE_ITEMS_MAX + 1;
        store.put_sessions((0..count).map(stored).collect()).await.unwrap();
        let fleet = serde_json::to_value(from_nothing(&store, Rules::default()).await.unwrap()).unwrap();
        assert_eq!(fleet["ended"].as_object().unwrap().len(), count);
    }

    #[tokio::test]
    async fn of_a_log_that_lost_its_beginning_only_what_it_cannot_tell_is_remembered() {
        let store = Store::in_memory().unwrap();
        let hour = Millis::hours(1).0;
        store.append(vec![hook("UserPromptSubmit", 0), hook("UserPromptSubmit", 10 * hour)]).await.unwrap();
        let sessions = [
            StoredSession { id: "before".to_owned(), ..stored(0) },
            StoredSession { id: "made room".to_owned(), ended_at: None, ..stored(0) },
            StoredSession { id: "in the log".to_owned(), ..stored(11 * hour as usize) },
        ];
        store.put_sessions(sessions.into()).await.unwrap();
        let remembered = async || {
            let fleet = from_nothing(&store, Rules::default()).await.unwrap();
            let fleet = serde_json::to_value(fleet).unwrap();
            fleet["ended"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(remembered().await, Vec::<String>::new(), "the log is whole");
        let policy =
            RetentionPolicy { max_age: Millis(hour), keep_after_seq: 1, ..RetentionPolicy::default() };
        store.retain(Timestamp::from_millis(10 * hour), policy).await.unwrap();
        assert_eq!(store.oldest().await.unwrap().unwrap().seq, 2);
        assert_eq!(remembered().await, ["before"]);
    }

    #[tokio::test]
    async fn a_last_word_that_is_written_during_a_replay_has_its_numbers() {
        let store = Store::in_memory().unwrap();
        let later = Rules::default().done_keeps.0 + 60_000;
        let records = vec![hook("UserPromptSubmit", 1), hook("SessionEnd", 2), hook("SessionStart", later)];
        let records: Vec<_> = records
            .into_iter()
            .enumerate()
            .map(|(n, mut record)| {
                if n == 2 {
                    record.session_id = "other".to_owned();
                }
                record
            })
            .collect();
        store.append(records).await.unwrap();
        let usage = Usage { output: 1000, ..Usage::default() };
        let (key, at) = (MessageKey(7), Timestamp::from_millis(1));
        let counted = Counted { key, model: "claude-opus-5-5".to_owned(), agent: String::new(), at, usage };
        let session = SessionRead { session_id: "s".to_owned(), ..SessionRead::default() };
        let batch =
            TranscriptBatch { anew: true, session, files: Vec::new(), known: None, counted: vec![counted] };
        store.put_transcripts(vec![batch]).await.unwrap();
        restore(&store, Rules::default()).await.unwrap();
        let kept = store.stored_sessions(None, 10).await.unwrap().sessions;
        let card: serde_json::Value = serde_json::from_str(&kept[0].card).unwrap();
        assert_eq!((&card["id"], &card["cost"]["usd_micros"]), (&"s".into(), &20_000.into()), "{card:#}");
    }

    #[tokio::test]
    async fn old_events_are_looked_for_soon_after_the_start_and_without_any_event() {
        let store = Store::in_memory().unwrap();
        let fleet = Fleet::new(Rules::default());
        let mut keeper =
            Keeper::new(RetentionPolicy { max_age: Millis::hours(1), ..RetentionPolicy::default() });
        keeper.look_after(&fleet, &store);
        assert!(keeper.saving.is_none() && keeper.until_due() <= RETAIN_FIRST_AFTER);
        keeper.retain_at = Instant::now();
        keeper.look_after(&fleet, &store);
        let bytes = keeper.saving.take().unwrap().await.unwrap();
        assert!(bytes > 0 && keeper.until_due() > RETAIN_FIRST_AFTER);
        assert!(store.latest_snapshot(&Rules::default().fold_version()).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_log_that_has_grown_too_large_is_cut_with_the_next_snapshot() {
        // Either would remove them for their age, but it is not time for that.
        for (max_bytes, oldest) in [(u64::MAX, 1), (1, 3)] {
            let store = Store::in_memory().unwrap();
            let records: Vec<_> = (1..=3).map(|ms| hook("UserPromptSubmit", ms)).collect();
            let mut fleet = Fleet::new(Rules::default());
            for (seq, record) in (1..).zip(&records) {
                fleet.apply(&Event { seq, ..Event::from_record(record) });
            }
            store.append(records).await.unwrap();
            let policy = RetentionPolicy { max_age: Millis(0), max_bytes, ..RetentionPolicy::default() };
            let mut keeper = Keeper::new(policy);
            keeper.applied(SNAPSHOT_EVERY_EVENTS);
            keeper.look_after(&fleet, &store);
            keeper.saving.take().unwrap().await.unwrap();
            let is_cut = async || store.oldest().await.unwrap().unwrap().seq != 1;
            for _ in 0..100 {
                assert!(oldest > 1 || !is_cut().await, "at most {max_bytes} bytes");
            }
            until(async || store.oldest().await.unwrap().unwrap().seq == oldest).await;
        }
    }

    async fn until(mut holds: impl AsyncFnMut() -> bool) {
        let waiting = async {
            while !holds().await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
    }

    #[tokio::test]
    async fn the_next_snapshot_waits_as_long_as_the_last_one_was_large() {
        let mut keeper = Keeper::new(RetentionPolicy::default());
        keeper.saving = Some(tokio::spawn(async { 7 }));
        while keeper.is_saving() {
            tokio::task::yield_now().await;
        }
        assert_eq!(keeper.last_bytes, 7);
    }
}
