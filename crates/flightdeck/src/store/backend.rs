//! What a database has to do to be the store. It is called from one thread only, and may block.

use std::collections::BTreeMap;

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;

use super::{
    Appended, EventPage, EventsNamed, EventsOf, FileRead, Oldest, RetentionPolicy, SessionCursor,
    SessionPage, SessionRead, SessionUsage, Snapshot, StoreError, StoredSession, TranscriptBatch,
};

type Result<T> = std::result::Result<T, StoreError>;

pub trait Backend: Send {
    /// All or nothing. Durable when it returns.
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>>;
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<EventPage>;
    fn events_of(&mut self, wanted: &EventsOf) -> Result<EventPage>;
    /// Looks at no more than [`super::SCAN_EVENTS_MAX`] events.
    fn events_named(&mut self, wanted: EventsNamed) -> Result<EventPage>;
    fn event(&mut self, seq: u64) -> Result<Option<Record>>;
    fn last_seq(&mut self) -> Result<u64>;
    fn oldest(&mut self) -> Result<Option<Oldest>>;
    fn counts_by_name(&mut self) -> Result<BTreeMap<String, u64>>;
    fn size_bytes(&mut self) -> Result<u64>;

    /// Writes a little of a snapshot, which counts once all of it is there; keeps [`super::SNAPSHOTS_KEPT`]. Called with the
    /// same one until it answers [`SaveStep::Done`], with appends between.
    fn save_step(&mut self, snapshot: &Snapshot) -> Result<SaveStep>;
    /// The newest of this version that is whole.
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<Snapshot>>;

    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()>;
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage>;
    fn stored_session(&mut self, id: &str) -> Result<Option<StoredSession>>;

    /// All or nothing.
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()>;
    /// How far every transcript was read.
    fn transcript_files(&mut self) -> Result<Vec<FileRead>>;
    /// Where the reading of one session stands, with all its messages.
    fn transcript(&mut self, session_id: &str) -> Result<Option<TranscriptBatch>>;
    /// Those with a message since then, who started first first.
    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>>;
    /// Every message of these sessions.
    fn usage_of(&mut self, sessions: &[String]) -> Result<Vec<SessionUsage>>;

    /// Removes a little of what the policy gives up. Called until it answers [`RetainStep::Done`], with appends between.
    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveStep {
    More,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetainStep {
    More {
        removed: u64,
    },
    /// There is more to do, but not at once: the disk is busy.
    Wait,
    Done {
        held_back: bool,
    },
}

/// Totals by event name, with a bound: a sender of made-up names must not grow the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(pub(super) BTreeMap<String, u64>);

/// Claude Code knows 33 events and we add a few; the rest is room for those to come.
const COUNTED_NAMES_MAX: usize = 256;
/// Where every further name is counted.
const OTHER_NAMES: &str = "(other)";

impl Counts {
    /// How many of each name the newly appended among `records` add, under the name they count as.
    pub(super) fn of_batch(&self, records: &[Record], appended: &[Appended]) -> BTreeMap<String, u64> {
        let new = records.iter().zip(appended).filter(|(_, a)| !a.duplicate);
        self.of_names(new.map(|(record, _)| record.name.as_str()))
    }

    pub(super) fn of_names<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
        let mut added = BTreeMap::<String, u64>::new();
        for name in names {
            let name = self.counted_as(name, &added);
            match added.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(added.insert(name.to_owned(), 1)),
            }
        }
        added
    }

    fn counted_as<'a>(&self, name: &'a str, added: &BTreeMap<String, u64>) -> &'a str {
        let known = self.0.contains_key(name) || added.contains_key(name);
        if known || self.0.len() + added.len() < COUNTED_NAMES_MAX { name } else { OTHER_NAMES }
    }

    pub(super) fn add(&mut self, added: BTreeMap<String, u64>) {
        for (name, count) in added {
            *self.0.entry(name).or_default() += count;
        }
    }
}
