//! The health of the daemon, for `/healthz`, `/metrics` and `doctor`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use flightdeck_core::time::Timestamp;

use crate::clock;

#[derive(Debug)]
pub struct Health {
    /// Names this run of the daemon in the ids of changes.
    pub boot: String,
    pub started_at: Timestamp,
    pub metrics: Metrics,
    /// The present problems, by the part they concern.
    problems: Mutex<BTreeMap<&'static str, String>>,
}

/// Counters. Each is read and written independently, so no lock is needed.
#[derive(Debug, Default)]
pub struct Metrics {
    pub events: AtomicU64,
    pub duplicates: AtomicU64,
    pub store_failures: AtomicU64,
    pub refused: AtomicU64,
    pub sessions: AtomicU64,
    pub viewers: AtomicU64,
    pub gaps: AtomicU64,
    pub spooled: AtomicU64,
    /// Milliseconds since 1970; zero before the first.
    pub last_event_at: AtomicI64,
}

impl Metrics {
    pub fn received(&self, events: usize, duplicates: usize, last_at: Timestamp) {
        self.events.fetch_add(events as u64, Ordering::Relaxed);
        self.duplicates.fetch_add(duplicates as u64, Ordering::Relaxed);
        self.heard_at(last_at);
    }

    pub fn heard_at(&self, at: Timestamp) {
        self.last_event_at.fetch_max(at.as_millis(), Ordering::Relaxed);
    }

    pub fn fleet(&self, sessions: usize, viewers: usize) {
        self.sessions.store(sessions as u64, Ordering::Relaxed);
        self.viewers.store(viewers as u64, Ordering::Relaxed);
    }

    pub fn last_event_at(&self) -> Option<Timestamp> {
        let ms = self.last_event_at.load(Ordering::Relaxed);
        (ms > 0).then(|| Timestamp::from_millis(ms))
    }
}

/// The name under which a problem of the store is kept.
const STORE: &str = "store";

impl Default for Health {
    fn default() -> Self {
        Self {
            boot: format!("{:016x}", clock::fresh_id().0 as u64),
            started_at: clock::now(),
            metrics: Metrics::default(),
            problems: Mutex::default(),
        }
    }
}

impl Health {
    pub fn stored(&self) {
        self.clear_problem(STORE);
    }

    pub fn not_stored(&self, error: &impl Display) {
        self.metrics.store_failures.fetch_add(1, Ordering::Relaxed);
        self.report_problem(STORE, format!("events cannot be stored: {error}"));
    }

    pub fn report_problem(&self, what: &'static str, sentence: String) {
        self.problems().insert(what, sentence);
    }

    pub fn clear_problem(&self, what: &'static str) {
        self.problems().remove(what);
    }

    pub fn reasons(&self) -> Vec<String> {
        self.problems().values().cloned().collect()
    }

    /// A panic while it is held cannot leave the map half written.
    fn problems(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
