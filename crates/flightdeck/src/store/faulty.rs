//! A backend that fails on purpose: for simulations of a full disk, a slow one, and death at the worst moment.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;

use super::{
    Appended, Backend, EventPage, EventsOf, FileRead, Oldest, Result, RetainStep, RetentionPolicy,
    SessionCursor, SessionPage, SessionRead, SessionUsage, Snapshot, StoreError, StoredSession,
    TranscriptBatch,
};

/// What goes wrong at one append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is stored; the next append may work again.
    DiskFull,
    /// It works, but late.
    Delay(Duration),
    /// Nothing is stored, and nothing is answered any more.
    DieBeforeCommit,
    /// All is stored, but the caller never learns of it.
    DieAfterCommit,
}

/// Wraps a backend; `plan` says at which append (from 1) what goes wrong.
pub struct Faulty {
    inner: Box<dyn Backend>,
    plan: BTreeMap<u64, Fault>,
    appends: u64,
    dead: bool,
}

impl Faulty {
    pub fn new(inner: Box<dyn Backend>, plan: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { inner, plan: plan.into_iter().collect(), appends: 0, dead: false }
    }

    fn alive(&mut self) -> Result<&mut dyn Backend> {
        if self.dead { Err(StoreError::Closed) } else { Ok(self.inner.as_mut()) }
    }

    fn die(&mut self) -> Result<Vec<Appended>> {
        self.dead = true;
        Err(StoreError::Closed)
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty")
            .field("plan", &self.plan)
            .field("appends", &self.appends)
            .finish_non_exhaustive()
    }
}

impl Backend for Faulty {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        self.appends += 1;
        match self.plan.get(&self.appends) {
            Some(Fault::DiskFull) => return Err(StoreError::DiskFull),
            Some(Fault::Delay(time)) => std::thread::sleep(*time),
            Some(Fault::DieBeforeCommit) => return self.die(),
            Some(Fault::DieAfterCommit) => {
                self.alive()?.append(records)?;
                return self.die();
            }
            None => {}
        }
        self.alive()?.append(records)
    }
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<EventPage> {
        self.alive()?.events_after(after_seq, limit)
    }
    fn events_of(&mut self, wanted: &EventsOf) -> Result<EventPage> {
        self.alive()?.events_of(wanted)
    }
    fn event(&mut self, seq: u64) -> Result<Option<Record>> {
        self.alive()?.event(seq)
    }
    fn last_seq(&mut self) -> Result<u64> {
        self.alive()?.last_seq()
    }
    fn oldest(&mut self) -> Result<Option<Oldest>> {
        self.alive()?.oldest()
    }
    fn counts_by_name(&mut self) -> Result<BTreeMap<String, u64>> {
        self.alive()?.counts_by_name()
    }
    fn size_bytes(&mut self) -> Result<u64> {
        self.alive()?.size_bytes()
    }
    fn save_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.alive()?.save_snapshot(snapshot)
    }
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<Snapshot>> {
        self.alive()?.latest_snapshot(rules_version)
    }
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.alive()?.put_sessions(sessions)
    }
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        self.alive()?.stored_sessions(before, limit)
    }
    fn stored_session(&mut self, id: &str) -> Result<Option<StoredSession>> {
        self.alive()?.stored_session(id)
    }
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()> {
        self.alive()?.put_transcripts(batches)
    }
    fn transcript_files(&mut self) -> Result<Vec<FileRead>> {
        self.alive()?.transcript_files()
    }
    fn transcript(&mut self, session_id: &str) -> Result<Option<TranscriptBatch>> {
        self.alive()?.transcript(session_id)
    }
    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>> {
        self.alive()?.transcript_sessions(since)
    }
    fn usage_of(&mut self, sessions: &[String]) -> Result<Vec<SessionUsage>> {
        self.alive()?.usage_of(sessions)
    }
    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep> {
        self.alive()?.retain_step(now, policy)
    }
}
