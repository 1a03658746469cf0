//! The size of a load, and the measurements during it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LoadSize {
    pub(super) sessions: usize,
    pub(super) rate: u64,
    pub(super) viewers: usize,
    pub(super) seconds: u64,
    /// Events of each session, as fast as possible, before the measurement: a session keeps data of its last few hundred
    /// events, so a new one still grows.
    pub(super) warm_up: usize,
    /// Small enough that old events are removed during the run.
    pub(super) keep_megabytes: u64,
}

/// The measurements of one interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) at: f64,
    pub(super) events: u64,
    pub(super) ack_p50_ms: f64,
    pub(super) ack_p99_ms: f64,
    pub(super) ack_max_ms: f64,
    /// Removals of old events since the start.
    pub(super) removals: usize,
    /// Marked events that reached the measuring viewer.
    pub(super) sights: usize,
    pub(super) seen_p99_ms: f64,
    pub(super) resident_mb: f64,
    pub(super) database_mb: f64,
    pub(super) other_mb: f64,
}
