//! The event log: append, read and remove events.

use flightdeck_core::ids::SessionId;
use std::collections::BTreeMap;

use flightdeck_core::log::record::Record;
use flightdeck_core::time::{Millis, Timestamp};

use super::Result;

pub trait EventLog {
    /// All or nothing. Durable when it returns.
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>>;
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage>;
    /// Events of this machine. Looks at no more than [`super::SCAN_EVENTS_MAX`] events.
    fn own_events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage>;
    /// How many events of this machine have a `seq` above `after_seq` and up to `to_seq`. The two may be at most
    /// [`super::SCAN_EVENTS_MAX`] apart.
    fn count_own_events(&mut self, after_seq: u64, to_seq: u64) -> Result<u64>;
    fn events_of(&mut self, wanted: &EventsOf) -> Result<RecordPage>;
    /// Looks at no more than [`super::SCAN_EVENTS_MAX`] events.
    fn events_named(&mut self, wanted: EventsNamed) -> Result<RecordPage>;
    fn event(&mut self, seq: u64) -> Result<Option<Record>>;
    fn last_seq(&mut self) -> Result<u64>;
    fn oldest(&mut self) -> Result<Option<Oldest>>;
    fn counts_by_name(&mut self) -> Result<BTreeMap<String, u64>>;
    fn size_bytes(&mut self) -> Result<u64>;
    /// Removes some of the events that the policy gives up. Called until it returns [`RetainStep::Done`], with appends in
    /// between.
    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep>;
}

/// The place of one appended record in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub seq: u64,
    /// The event was in the log already, at this `seq`: acknowledge it, do not apply it.
    pub duplicate: bool,
}

/// A stretch of the log, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordPage {
    pub records: Vec<Record>,
    /// Continue after this `seq`, or before it if the page was read backwards. `None` at the end.
    pub next: Option<u64>,
    /// Rows that cannot be read. They stay in the log.
    pub unreadable: u64,
}

/// Which events of a session to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsOf {
    pub session_id: SessionId,
    pub from: PageFrom,
    pub limit: usize,
    /// If false, every payload is empty, and large payloads are not read from disk.
    pub with_payload: bool,
}

/// Events by name, of all sessions, with their payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsNamed {
    pub names: &'static [&'static str],
    pub after_seq: u64,
}

/// Where a page of a session's events begins. Its events are oldest first in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFrom {
    /// The oldest events after this `seq`.
    After(u64),
    /// The newest events before this `seq`.
    Before(u64),
}

/// The oldest event in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oldest {
    pub seq: u64,
    pub received_at: Timestamp,
}

/// How long events are kept unless `keep.days` is set: a month to explain states and to try out a policy.
const KEPT_FOR: Millis = Millis::hours(24 * 30);
/// How many bytes the events may take unless `keep.megabytes` is set: little on a disk of today.
const EVENTS_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// How long events are kept. Past sessions are never removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    pub max_age: Millis,
    pub max_bytes: u64,
    /// Events after this one stay: they are not in the latest snapshot.
    pub keep_after_seq: u64,
}

impl Default for RetentionPolicy {
    /// Removes nothing until `keep_after_seq` says what a snapshot holds.
    fn default() -> Self {
        Self { max_age: KEPT_FOR, max_bytes: EVENTS_BYTES_MAX, keep_after_seq: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetainReport {
    pub removed: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// More events are old enough, but they are not in a snapshot yet.
    pub held_back: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetainStep {
    More {
        removed: u64,
    },
    /// There is more to do later: the disk is busy now.
    Wait,
    Done {
        held_back: bool,
    },
}
