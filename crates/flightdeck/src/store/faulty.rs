//! A backend that fails on purpose: for simulations of a full disk, a slow one, and death at the worst moment.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;

use super::{
    Appended, Backend, EventPage, EventsNamed, EventsOf, FileRead, Oldest, Result, RetainStep,
    RetentionPolicy, SaveStep, SessionCursor, SessionPage, SessionRead, SessionUsage, Snapshot, StoreError,
    StoredSession, TranscriptBatch,
};

/// What goes wrong at one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is stored; the next write may work again.
    DiskFull,
    /// The disk did not confirm. Nothing is stored as far as anybody sees, but it may be there after a crash.
    FsyncFailed,
    /// It works, but late.
    Delay(Duration),
    /// Nothing is stored, and nothing is answered any more.
    DieBeforeCommit,
    /// All is stored, but the caller never learns of it.
    DieAfterCommit,
}

/// What really was written, in order.
#[derive(Clone, Debug)]
pub enum Written {
    /// Without those that were in the log already.
    Events(Vec<Record>),
    Snapshot(Snapshot),
}

/// Decides what goes wrong, and knows what went well. Clones share it, and it outlives the backend it is in.
#[derive(Clone, Debug, Default)]
pub struct Switch(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// By the number of the write, from 1.
    plan: BTreeMap<u64, Fault>,
    writes: u64,
    /// What the next writes meet, before the plan.
    next: VecDeque<Fault>,
    fired: u64,
    dead: bool,
    /// Written but never confirmed.
    unsure: Vec<Record>,
    written: Option<Vec<Written>>,
}

impl Switch {
    pub fn planned(plan: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        let switch = Self::default();
        switch.state().plan = plan.into_iter().collect();
        switch
    }
    /// Keeps everything that is written, for whoever wants to compare.
    pub fn keep_written(self) -> Self {
        self.state().written = Some(Vec::new());
        self
    }
    pub fn take_written(&self) -> Vec<Written> {
        self.state().written.replace(Vec::new()).unwrap_or_default()
    }
    /// The next `times` writes.
    pub fn set(&self, fault: Fault, times: usize) {
        self.state().next.extend(std::iter::repeat_n(fault, times));
    }
    /// From here on all goes well. Says how many faults came true so far.
    pub fn heal(&self) -> u64 {
        let mut state = self.state();
        state.next.clear();
        state.fired
    }
    pub fn fired(&self) -> u64 {
        self.state().fired
    }
    /// Whoever uses it dies now, between two writes.
    pub fn kill(&self) {
        self.state().dead = true;
    }
    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each statement leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn next_fault(&self) -> Option<Fault> {
        let mut state = self.state();
        state.writes += 1;
        let writes = state.writes;
        let fault = state.next.pop_front().or_else(|| state.plan.remove(&writes));
        state.fired += u64::from(fault.is_some());
        fault
    }
    fn wrote(&self, written: impl FnOnce() -> Written) {
        if let Some(all) = &mut self.state().written {
            all.push(written());
        }
    }
}

/// Wraps a backend; its [`Switch`] says at which write what goes wrong.
pub struct Faulty {
    inner: Box<dyn Backend>,
    switch: Switch,
}

impl Faulty {
    pub fn new(inner: Box<dyn Backend>, plan: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { inner, switch: Switch::planned(plan) }
    }

    /// As a new process finds the disk: alive, and perhaps with what was never confirmed.
    pub fn reopened(inner: Box<dyn Backend>, switch: Switch) -> Result<Self> {
        let unsure = std::mem::take(&mut switch.state().unsure);
        switch.state().dead = false;
        let mut reopened = Self { inner, switch };
        if !unsure.is_empty() {
            reopened.store(&unsure)?;
        }
        Ok(reopened)
    }

    fn alive(&mut self) -> Result<&mut dyn Backend> {
        if self.switch.is_dead() { Err(StoreError::Closed) } else { Ok(self.inner.as_mut()) }
    }

    fn store(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let appended = self.alive()?.append(records)?;
        let new = records.iter().zip(&appended).filter(|(_, place)| !place.duplicate);
        self.switch.wrote(|| {
            Written::Events(new.map(|(r, place)| Record { seq: place.seq, ..r.clone() }).collect())
        });
        Ok(appended)
    }

    /// One write, with whatever goes wrong at it.
    fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.alive()?;
        match self.switch.next_fault() {
            Some(Fault::DiskFull) => Err(StoreError::DiskFull),
            Some(Fault::FsyncFailed) => Err(fsync_failed()),
            Some(Fault::Delay(time)) => {
                std::thread::sleep(time);
                work(self)
            }
            Some(Fault::DieBeforeCommit) => self.die(),
            Some(Fault::DieAfterCommit) => {
                work(self)?;
                self.die()
            }
            None => {
                let done = work(self)?;
                // It was written where the unconfirmed lay.
                self.switch.state().unsure.clear();
                Ok(done)
            }
        }
    }

    fn die<T>(&mut self) -> Result<T> {
        self.switch.state().dead = true;
        Err(StoreError::Closed)
    }
}

fn fsync_failed() -> StoreError {
    let source = io::Error::from(io::ErrorKind::Other);
    StoreError::Io { doing: "sync", path: "flightdeck.db".into(), source }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty").field("switch", &self.switch).finish_non_exhaustive()
    }
}

impl Backend for Faulty {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let appended = self.write(|this| this.store(records));
        if let Err(StoreError::Io { .. }) = appended {
            self.switch.state().unsure = records.to_vec();
        }
        appended
    }
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<EventPage> {
        self.alive()?.events_after(after_seq, limit)
    }
    fn events_of(&mut self, wanted: &EventsOf) -> Result<EventPage> {
        self.alive()?.events_of(wanted)
    }
    fn events_named(&mut self, wanted: EventsNamed) -> Result<EventPage> {
        self.alive()?.events_named(wanted)
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
    fn save_step(&mut self, snapshot: &Snapshot) -> Result<SaveStep> {
        // One write, however many steps it takes: that depends on the disk.
        self.write(|this| {
            while this.inner.save_step(snapshot)? != SaveStep::Done {}
            this.switch.wrote(|| Written::Snapshot(snapshot.clone()));
            Ok(SaveStep::Done)
        })
    }
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<Snapshot>> {
        self.alive()?.latest_snapshot(rules_version)
    }
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.write(|this| this.inner.put_sessions(sessions))
    }
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        self.alive()?.stored_sessions(before, limit)
    }
    fn stored_session(&mut self, id: &str) -> Result<Option<StoredSession>> {
        self.alive()?.stored_session(id)
    }
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()> {
        self.write(|this| this.inner.put_transcripts(batches))
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
        // Not a write that anybody waits for; how many steps it takes depends on the disk.
        self.alive()?.retain_step(now, policy)
    }
}
