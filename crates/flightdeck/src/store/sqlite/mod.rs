//! The store in one SQLite file, in WAL mode with `synchronous = NORMAL`: a commit survives `kill -9`, and only a
//! checkpoint waits for the disk, on its own thread. Opening and repair are in `open.rs`.

mod assignment_rows;
mod assignment_search;
mod assignments;
mod checkpoint;
mod efforts;
mod events;
mod host_states;
mod migrate;
mod open;
mod outbox;
mod retain;
mod sessions;
mod snapshots;
mod subject;
mod tally;
#[cfg(test)]
mod tests;
mod transcripts;

use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::ids::{AssignmentId, EffortId, SessionId, WindowId};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use flightdeck_core::assignment::Messages;
use flightdeck_core::log::record::Record;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use rusqlite::{Connection, ErrorCode};

use super::{
    Appended, AssignmentPage, Assignments, AssignmentsWanted, CompletedCount, EffortPage, EffortStore,
    EffortsWanted, EventLog, EventsNamed, EventsOf, FileRead, FleetSnapshot, HostState, HostStates,
    MessageRow, MessagesWanted, Oldest, OutboxEffect, OutboxKey, OutboxRows, OutboxStore, PastSessions,
    ProjectTime, RecordPage, Result, RetainStep, RetentionPolicy, SaveStep, SessionCursor, SessionPage,
    SessionRead, SessionStretch, SessionUsage, Snapshots, StoreError, StoredSession, StoredWorkstream,
    TranscriptBatch, Transcripts,
};
use tally::StoredTally;

pub(super) use open::open;

#[derive(Debug)]
pub(super) struct Sqlite {
    conn: Connection,
    path: PathBuf,
    last_seq: u64,
    tally: StoredTally,
    pace: retain::RetentionPace,
    /// Events were removed since the file was last shrunk.
    shrinking: bool,
    /// The snapshot that is being written.
    unfinished: Option<snapshots::UnfinishedSnapshot>,
    /// The connection of the checkpointer closes last, after `conn`.
    checkpointer: checkpoint::Checkpointer,
    /// Dropped after the connections.
    _lock: open::DatabaseLock,
}

impl Sqlite {
    fn run<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        work(self).map_err(|error| explain(&self.path, error))
    }
}

/// Turns SQLite's "I/O error" into "disk full" if it is full, and marks damage for the next start.
fn explain(path: &Path, error: StoreError) -> StoreError {
    match &error {
        StoreError::Sqlite(e)
            if e.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) && disk_is_full(path) =>
        {
            StoreError::DiskFull
        }
        StoreError::Corrupt { .. } => {
            // The mark is a hint: without it the next start checks less.
            let _ = File::create(suspect_mark(path));
            error
        }
        _ => error,
    }
}

fn disk_is_full(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|disk| disk.f_bavail == 0)
}

/// A file that exists if the last run met damage: the next start then checks the whole database.
fn suspect_mark(path: &Path) -> PathBuf {
    with_suffix(path, ".suspect")
}

/// `flightdeck.db` and `-wal` make `flightdeck.db-wal`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// SQLite's integers are `i64`; no log is that long.
fn to_db(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn from_db(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn file_bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

impl EventLog for Sqlite {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        self.run(|db| db.append_batch(records))
    }
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        self.run(|db| events::events_after(&db.conn, after_seq, limit))
    }
    fn own_events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        self.run(|db| events::own_after(&db.conn, after_seq, limit, db.last_seq))
    }
    fn count_own_events(&mut self, after_seq: u64, to_seq: u64) -> Result<u64> {
        self.run(|db| events::count_own(&db.conn, after_seq, to_seq))
    }
    fn events_of(&mut self, wanted: &EventsOf) -> Result<RecordPage> {
        self.run(|db| events::of_session(&db.conn, wanted, db.last_seq))
    }
    fn events_named(&mut self, wanted: EventsNamed) -> Result<RecordPage> {
        self.run(|db| events::events_named(&db.conn, wanted, db.last_seq))
    }
    fn event(&mut self, seq: u64) -> Result<Option<Record>> {
        self.run(|db| events::find_event(&db.conn, seq))
    }
    fn last_seq(&mut self) -> Result<u64> {
        Ok(self.last_seq)
    }
    fn oldest(&mut self) -> Result<Option<Oldest>> {
        self.run(|db| events::oldest(&db.conn))
    }
    fn counts_by_name(&mut self) -> Result<BTreeMap<String, u64>> {
        Ok(self.tally.all().clone())
    }
    fn size_bytes(&mut self) -> Result<u64> {
        Ok(file_bytes(&self.path) + file_bytes(&with_suffix(&self.path, "-wal")))
    }
    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep> {
        self.run(|db| db.step(now, policy))
    }
}

impl Snapshots for Sqlite {
    fn save_step(&mut self, snapshot: &FleetSnapshot) -> Result<SaveStep> {
        let step = self.run(|db| db.save_parts(snapshot));
        if step.is_err() {
            // Free its space for appends: the disk may be full.
            while snapshots::remove_leftovers(&self.conn).is_ok_and(|some| some > 0) {}
        }
        step
    }
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<FleetSnapshot>> {
        self.run(|db| snapshots::latest_snapshot(&db.conn, rules_version))
    }
}

impl PastSessions for Sqlite {
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.run(|db| sessions::upsert_sessions(&mut db.conn, sessions))
    }
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        self.run(|db| sessions::session_page(&db.conn, before, limit))
    }
    fn stored_session(&mut self, id: &SessionId) -> Result<Option<StoredSession>> {
        self.run(|db| sessions::find_session(&db.conn, id))
    }
}

impl Assignments for Sqlite {
    fn put_assignments(&mut self, rows: &[SessionAssignment]) -> Result<()> {
        self.run(|db| assignments::upsert_assignments(&mut db.conn, rows))
    }
    fn assignments(&mut self, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
        self.run(|db| assignments::assignment_page(&db.conn, wanted))
    }
    fn assignment(&mut self, id: &AssignmentId) -> Result<Option<SessionAssignment>> {
        self.run(|db| assignments::find_assignment(&db.conn, id))
    }
    fn messages_of(&mut self, id: &AssignmentId) -> Result<Option<Messages>> {
        self.run(|db| assignments::assignment_messages(&db.conn, id))
    }
    fn completed_counts(&mut self, since: Timestamp) -> Result<Vec<CompletedCount>> {
        self.run(|db| assignments::completed_counts(&db.conn, since))
    }
    fn assignment_times(&mut self, since: Timestamp) -> Result<Vec<ProjectTime>> {
        self.run(|db| assignments::project_times(&db.conn, since))
    }
}

impl EffortStore for Sqlite {
    fn put_efforts(&mut self, rows: &[Effort]) -> Result<()> {
        self.run(|db| efforts::upsert_efforts(&mut db.conn, rows))
    }
    fn put_effort_messages(&mut self, rows: &[MessageRow]) -> Result<()> {
        self.run(|db| efforts::upsert_messages(&mut db.conn, rows))
    }
    fn efforts(&mut self, wanted: &EffortsWanted) -> Result<EffortPage> {
        self.run(|db| efforts::effort_page(&db.conn, wanted))
    }
    fn effort(&mut self, id: &EffortId) -> Result<Option<Effort>> {
        self.run(|db| efforts::find_effort(&db.conn, id))
    }
    fn window(&mut self, id: &WindowId) -> Result<Option<ContextWindow>> {
        self.run(|db| efforts::find_window(&db.conn, id))
    }
    fn workstreams(&mut self, limit: usize) -> Result<Vec<StoredWorkstream>> {
        self.run(|db| efforts::newest_workstreams(&db.conn, limit))
    }
    fn effort_messages(&mut self, wanted: &MessagesWanted) -> Result<Vec<EffortMessage>> {
        self.run(|db| efforts::effort_messages(&db.conn, wanted))
    }
}

impl OutboxStore for Sqlite {
    fn put_outbox(&mut self, effects: &[OutboxEffect]) -> Result<()> {
        self.run(|db| outbox::upsert_effects(&mut db.conn, effects))
    }
    fn outbox(&mut self) -> Result<Vec<OutboxEffect>> {
        self.run(|db| outbox::unfinished_effects(&db.conn))
    }
    fn finish_outbox(&mut self, done: &[OutboxKey], rows: &OutboxRows) -> Result<()> {
        self.run(|db| outbox::finish_rows(&mut db.conn, done, rows))
    }
}

impl HostStates for Sqlite {
    fn put_host_states(&mut self, rows: &[HostState]) -> Result<()> {
        self.run(|db| host_states::upsert_host_states(&mut db.conn, rows))
    }
    fn host_states(&mut self) -> Result<BTreeMap<String, String>> {
        self.run(|db| host_states::read_host_states(&db.conn))
    }
}

impl Transcripts for Sqlite {
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()> {
        self.run(|db| transcripts::upsert_transcripts(&mut db.conn, batches))
    }
    fn transcript_files(&mut self) -> Result<Vec<FileRead>> {
        self.run(|db| transcripts::transcript_files(&db.conn))
    }
    fn transcript(&mut self, session_id: &SessionId) -> Result<Option<TranscriptBatch>> {
        self.run(|db| transcripts::find_transcript(&db.conn, session_id))
    }
    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>> {
        self.run(|db| transcripts::sessions_since(&db.conn, since))
    }
    fn usage_of(&mut self, sessions: &[SessionId]) -> Result<Vec<SessionUsage>> {
        self.run(|db| transcripts::usage_of_sessions(&db.conn, sessions))
    }
    fn usage_between(&mut self, stretches: &[SessionStretch]) -> Result<Vec<Option<Vec<CountedMessage>>>> {
        self.run(|db| transcripts::usage_between(&db.conn, stretches))
    }
}
