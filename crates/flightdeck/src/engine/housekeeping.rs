//! Decides when a snapshot is written and when old events are removed. The work itself runs beside the engine.

use std::time::Duration;

use flightdeck_core::fleet::Fleet;
use flightdeck_core::time::Timestamp;
use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::snapshots::{self, Packed};
use crate::store::{FleetSnapshot, RetentionPolicy, Store, StoreError};

/// Events between snapshots: replaying that many takes a fraction of a second.
pub const SNAPSHOT_EVERY_EVENTS: usize = 5_000;
/// A large fleet is written less often: for each of this many bytes of the last snapshot's text, one more event must arrive.
pub const SNAPSHOT_BYTES_PER_EVENT: usize = 512;
/// How often old events are looked for.
pub const RETAIN_EVERY: Duration = Duration::from_secs(600);
/// Old events are also removed after a snapshot if the log exceeds its limit by this fraction: one eighth.
pub const RETAIN_OVER_FRACTION: u64 = 8;
/// When old events are first looked for after the start: early, because some daemons do not run long.
pub const RETAIN_FIRST_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Housekeeping {
    policy: RetentionPolicy,
    /// Events applied since the last snapshot.
    events_since: usize,
    /// The size of the last snapshot's text.
    last_bytes: usize,
    /// The snapshot that is being written. Old events are removed after it by a task of their own.
    saving: Option<JoinHandle<usize>>,
    retain_at: Instant,
}

impl Housekeeping {
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
        self.events_since = self.events_since.saturating_add(events);
    }

    /// The next call of [`Self::start_if_due`] writes a snapshot, unless one is being written.
    pub fn make_snapshot_due(&mut self) {
        self.events_since = usize::MAX;
    }

    /// Sets other limits, and looks for old events again soon.
    pub fn set_policy(&mut self, policy: RetentionPolicy) {
        self.policy = policy;
        self.retain_at = self.retain_at.min(Instant::now() + RETAIN_FIRST_AFTER);
    }

    /// Makes a snapshot due after the rules changed, because the next start could not use the snapshot of the old rules.
    pub fn fleet_replaced(&mut self) {
        self.last_bytes = 0;
        self.events_since = self.events_since.max(SNAPSHOT_EVERY_EVENTS);
    }

    /// How long until old events are looked for, even if no event arrives.
    pub fn until_due(&self) -> Duration {
        self.retain_at.saturating_duration_since(Instant::now())
    }

    /// Whether the next call of [`Self::start_if_due`] writes a snapshot.
    pub fn is_due(&mut self) -> bool {
        let due = SNAPSHOT_EVERY_EVENTS.max(self.last_bytes / SNAPSHOT_BYTES_PER_EVENT);
        !self.is_saving() && (self.until_due().is_zero() || self.events_since >= due)
    }

    /// Called after each batch.
    pub fn start_if_due(&mut self, fleet: &Fleet, store: &Store) {
        let saving = self.is_saving();
        let retain = self.until_due().is_zero();
        if retain {
            self.retain_at = Instant::now() + if saving { RETAIN_FIRST_AFTER } else { RETAIN_EVERY };
        }
        let due = SNAPSHOT_EVERY_EVENTS.max(self.last_bytes / SNAPSHOT_BYTES_PER_EVENT);
        if saving || !(retain || self.events_since >= due) {
            return;
        }
        // Only two snapshots are kept. A second one of the same fleet would remove the older one, which is the fallback.
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
                // Not awaited: a store that closes interrupts it, and the next start continues.
                tokio::spawn(async move { remove_old(&store, policy, seq, now).await });
            }
            bytes
        }));
    }

    /// Also notes the size of a snapshot that has been written.
    fn is_saving(&mut self) -> bool {
        let Some(mut saving) = self.saving.take() else { return false };
        match (&mut saving).now_or_never() {
            Some(written) => self.last_bytes = written.unwrap_or(self.last_bytes),
            None => self.saving = Some(saving),
        }
        self.saving.is_some()
    }

    /// The last snapshot, before the engine ends.
    pub async fn save_now(&mut self, fleet: &Fleet, store: &Store) {
        if let Some(saving) = self.saving.take() {
            // An error was logged by the task itself.
            let _ = saving.await;
        }
        save(fleet.clone(), store).await;
    }
}

/// Writes a snapshot and returns the size of its text, or zero if it could not be written. Without a snapshot the next start
/// replays more of the log.
async fn save(fleet: Fleet, store: &Store) -> usize {
    let (seq, rules_version) = (fleet.last_seq(), fleet.settings().fold_version());
    let Packed { body, text_bytes } = match snapshots::pack(fleet).await {
        Ok(packed) => packed,
        Err(error) => {
            tracing::error!(%error, "the fleet could not be written as a snapshot; the next start replays more of the log");
            return 0;
        }
    };
    let snapshot = FleetSnapshot { seq, rules_version, body };
    match store.save_snapshot(snapshot).await {
        Ok(()) => text_bytes,
        Err(error) => {
            tracing::warn!(%error, "no snapshot was written; the next start replays more of the log");
            0
        }
    }
}

/// Whether the log is so large that old events are removed now and not at the next interval.
async fn is_too_large(store: &Store, policy: RetentionPolicy) -> bool {
    let most = policy.max_bytes.saturating_add(policy.max_bytes / RETAIN_OVER_FRACTION);
    store.size_bytes().await.is_ok_and(|bytes| bytes > most)
}

async fn remove_old(store: &Store, policy: RetentionPolicy, snapshot_seq: u64, now: Timestamp) {
    match store.retain(now, RetentionPolicy { keep_after_seq: snapshot_seq, ..policy }).await {
        Ok(report) if report.removed > 0 => {
            tracing::info!(removed = report.removed, "old events were removed")
        }
        // The removal that is under way continues.
        Ok(_) | Err(StoreError::Retaining) => {}
        Err(error) => tracing::warn!(%error, "old events could not be removed; it is tried again later"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::hook_at;
    use super::*;
    use flightdeck_core::log::event::Event;
    use flightdeck_core::rules::FoldSettings;
    use flightdeck_core::time::Millis;

    #[tokio::test]
    async fn old_events_are_looked_for_soon_after_the_start_even_if_no_event_comes() {
        let store = Store::in_memory().unwrap();
        let fleet = Fleet::new(FoldSettings::default());
        let mut housekeeping =
            Housekeeping::new(RetentionPolicy { max_age: Millis::hours(1), ..RetentionPolicy::default() });
        housekeeping.start_if_due(&fleet, &store);
        assert!(housekeeping.saving.is_none() && housekeeping.until_due() <= RETAIN_FIRST_AFTER);
        housekeeping.retain_at = Instant::now();
        housekeeping.start_if_due(&fleet, &store);
        let bytes = housekeeping.saving.take().unwrap().await.unwrap();
        assert!(bytes > 0 && housekeeping.until_due() > RETAIN_FIRST_AFTER);
        assert!(store.latest_snapshot(&FoldSettings::default().fold_version()).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_log_that_is_too_large_is_cut_after_the_next_snapshot() {
        // All events are old enough, but it is not yet time to remove them for that.
        for (max_bytes, oldest) in [(u64::MAX, 1), (1, 3)] {
            let store = Store::in_memory().unwrap();
            let records: Vec<_> = (1..=3).map(|ms| hook_at("UserPromptSubmit", ms)).collect();
            let mut fleet = Fleet::new(FoldSettings::default());
            for (seq, record) in (1..).zip(&records) {
                fleet.apply(&Event { seq, ..Event::from_record(record) });
            }
            store.append(records).await.unwrap();
            let policy = RetentionPolicy { max_age: Millis(0), max_bytes, ..RetentionPolicy::default() };
            let mut housekeeping = Housekeeping::new(policy);
            housekeeping.applied(SNAPSHOT_EVERY_EVENTS);
            housekeeping.start_if_due(&fleet, &store);
            housekeeping.saving.take().unwrap().await.unwrap();
            let is_cut = async || store.oldest().await.unwrap().unwrap().seq != 1;
            for _ in 0..100 {
                assert!(oldest > 1 || !is_cut().await, "at most {max_bytes} bytes");
            }
            until(async || store.oldest().await.unwrap().unwrap().seq == oldest).await;
        }
    }

    async fn until(mut is_true: impl AsyncFnMut() -> bool) {
        let waiting = async {
            while !is_true().await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
    }

    #[tokio::test]
    async fn the_size_of_the_last_snapshot_delays_the_next() {
        let mut housekeeping = Housekeeping::new(RetentionPolicy::default());
        housekeeping.saving = Some(tokio::spawn(async { 7 }));
        while housekeeping.is_saving() {
            tokio::task::yield_now().await;
        }
        assert_eq!(housekeeping.last_bytes, 7);
    }
}
