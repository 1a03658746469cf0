//! A backend that fails on purpose: a full disk, a slow disk, or a crash at the worst moment.

use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::ids::{AssignmentId, EffortId, SessionId, WindowId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use flightdeck_core::assignment::Messages;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;

use super::{
    Appended, AssignmentPage, Assignments, AssignmentsWanted, Backend, CompletedCount, EffortPage,
    EffortStore, EffortsWanted, EventLog, EventsNamed, EventsOf, FileRead, FleetSnapshot, HostState,
    HostStates, MessageRow, MessagesWanted, Oldest, OutboxEffect, OutboxKey, OutboxRows, OutboxStore,
    PastSessions, ProjectTime, RecordPage, Result, RetainStep, RetentionPolicy, SaveStep, SessionCursor,
    SessionPage, SessionRead, SessionStretch, SessionUsage, Snapshots, StoreError, StoredSession,
    StoredWorkstream, TranscriptBatch, Transcripts,
};

/// What goes wrong at one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is stored; the next write may work again.
    DiskFull,
    /// The disk did not confirm the write. Nothing is stored, but the data may be there after a crash.
    FsyncFailed,
    /// The write works, but takes this long.
    Delay(Duration),
    /// Nothing is stored, and every later call fails.
    DieBeforeCommit,
    /// Everything is stored, but the caller gets an error, as does every later call.
    DieAfterCommit,
}

/// What was written, in order.
#[derive(Clone, Debug)]
pub enum StoreWrite {
    /// Without events that were in the log already.
    Events(Vec<Record>),
    Snapshot(FleetSnapshot),
    /// Effects of the outbox that were carried out.
    Finished(Vec<OutboxKey>),
}

/// Decides which writes fail, and records what was written. Clones share it, and it outlives the backend.
#[derive(Clone, Debug, Default)]
pub struct FaultSwitch(Arc<Mutex<FaultState>>);

#[derive(Debug, Default)]
struct FaultState {
    /// The faults by the number of the write, from 1.
    plan: BTreeMap<u64, Fault>,
    writes: u64,
    /// Faults of the next writes. They come before the plan.
    next: VecDeque<Fault>,
    fired: u64,
    dead: bool,
    /// Written but never confirmed.
    unsure: Vec<Record>,
    /// Set if the disk claims success before it writes.
    lie: Option<LyingDisk>,
    written: Option<Vec<StoreWrite>>,
}

/// The state of a disk that lies: it promises a `seq` for each event before it writes, and reports success even if the write fails.
#[derive(Debug, Default)]
struct LyingDisk {
    /// The last `seq` that was promised since the last start.
    claimed: u64,
    /// The real `seq` of each event that was stored.
    stored: BTreeMap<EventId, u64>,
}

impl LyingDisk {
    fn claim(&mut self, records: &[Record], last_seq: u64) -> Vec<Appended> {
        self.claimed = self.claimed.max(last_seq);
        let mut known = self.stored.clone();
        let place = |record: &Record| {
            if let Some(seq) = known.get(&record.id) {
                return Appended { seq: *seq, duplicate: true };
            }
            self.claimed += 1;
            known.insert(record.id, self.claimed);
            Appended { seq: self.claimed, duplicate: false }
        };
        records.iter().map(place).collect()
    }

    fn note(&mut self, records: &[Record], appended: &[Appended]) {
        self.stored.extend(records.iter().zip(appended).map(|(r, place)| (r.id, place.seq)));
    }
}

impl FaultSwitch {
    pub fn planned(plan: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        let switch = Self::default();
        switch.state().plan = plan.into_iter().collect();
        switch
    }
    /// Keeps everything that is written, for `take_written`.
    pub fn keep_written(self) -> Self {
        self.state().written = Some(Vec::new());
        self
    }
    /// From here on the disk claims success before it writes: a bug for a simulation to find.
    pub fn with_lying_disk(self) -> Self {
        self.state().lie = Some(LyingDisk::default());
        self
    }
    /// The `seq` that a lying disk really gave each of these events. `None` if one of them is not stored.
    pub fn true_places(&self, ids: &[EventId]) -> Option<Vec<u64>> {
        let state = self.state();
        let stored = state.lie.as_ref().map(|lie| &lie.stored);
        ids.iter().map(|id| stored?.get(id).copied()).collect()
    }
    pub fn take_written(&self) -> Vec<StoreWrite> {
        self.state().written.replace(Vec::new()).unwrap_or_default()
    }
    /// The next `times` writes have this fault.
    pub fn inject(&self, fault: Fault, times: usize) {
        self.state().next.extend(std::iter::repeat_n(fault, times));
    }
    /// From here on no write fails. Returns how many faults have occurred.
    pub fn stop_faults(&self) -> u64 {
        let mut state = self.state();
        state.next.clear();
        state.fired
    }
    pub fn fired(&self) -> u64 {
        self.state().fired
    }
    /// The daemon is killed now, between two writes.
    pub fn kill(&self) {
        self.state().dead = true;
    }
    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        // Each statement leaves the state consistent.
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
    fn wrote(&self, written: impl FnOnce() -> StoreWrite) {
        if let Some(all) = &mut self.state().written {
            all.push(written());
        }
    }
}

/// Wraps a backend. Its [`FaultSwitch`] decides which write fails and how.
pub struct Faulty {
    inner: Box<dyn Backend>,
    switch: FaultSwitch,
}

impl Faulty {
    pub fn new(inner: Box<dyn Backend>, plan: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { inner, switch: FaultSwitch::planned(plan) }
    }

    /// The disk as a new process finds it, perhaps with data that was never confirmed.
    pub fn reopened(inner: Box<dyn Backend>, switch: FaultSwitch) -> Result<Self> {
        let unsure = std::mem::take(&mut switch.state().unsure);
        switch.state().dead = false;
        if let Some(lie) = &mut switch.state().lie {
            lie.claimed = 0;
        }
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
            StoreWrite::Events(new.map(|(r, place)| Record { seq: place.seq, ..r.clone() }).collect())
        });
        Ok(appended)
    }

    /// One write, with its fault if it has one.
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
                // The new write has overwritten the unconfirmed data.
                self.switch.state().unsure.clear();
                Ok(done)
            }
        }
    }

    /// What the disk claims, if it lies.
    fn claim(&mut self, records: &[Record]) -> Result<Option<Vec<Appended>>> {
        let last_seq = self.inner.last_seq()?;
        Ok(self.switch.state().lie.as_mut().map(|lie| lie.claim(records, last_seq)))
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

impl EventLog for Faulty {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let claimed = self.claim(records)?;
        let appended = self.write(|this| this.store(records));
        let mut state = self.switch.state();
        if let Err(StoreError::Io { .. }) = appended {
            state.unsure = records.to_vec();
        }
        if let (Ok(appended), Some(lie)) = (&appended, &mut state.lie) {
            lie.note(records, appended);
        }
        claimed.map_or(appended, Ok)
    }
    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        self.alive()?.events_after(after_seq, limit)
    }
    fn own_events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        self.alive()?.own_events_after(after_seq, limit)
    }
    fn count_own_events(&mut self, after_seq: u64, to_seq: u64) -> Result<u64> {
        self.alive()?.count_own_events(after_seq, to_seq)
    }
    fn events_of(&mut self, wanted: &EventsOf) -> Result<RecordPage> {
        self.alive()?.events_of(wanted)
    }
    fn events_named(&mut self, wanted: EventsNamed) -> Result<RecordPage> {
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
    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep> {
        // Not counted as a write: the number of steps depends on the disk.
        self.alive()?.retain_step(now, policy)
    }
}

impl Snapshots for Faulty {
    fn save_step(&mut self, snapshot: &FleetSnapshot) -> Result<SaveStep> {
        // All steps count as one write: their number depends on the disk.
        self.write(|this| {
            while this.inner.save_step(snapshot)? != SaveStep::Done {}
            this.switch.wrote(|| StoreWrite::Snapshot(snapshot.clone()));
            Ok(SaveStep::Done)
        })
    }
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<FleetSnapshot>> {
        self.alive()?.latest_snapshot(rules_version)
    }
}

impl PastSessions for Faulty {
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.write(|this| this.inner.put_sessions(sessions))
    }
    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        self.alive()?.stored_sessions(before, limit)
    }
    fn stored_session(&mut self, id: &SessionId) -> Result<Option<StoredSession>> {
        self.alive()?.stored_session(id)
    }
}

impl Assignments for Faulty {
    fn put_assignments(&mut self, rows: &[SessionAssignment]) -> Result<()> {
        self.write(|this| this.inner.put_assignments(rows))
    }
    fn assignments(&mut self, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
        self.alive()?.assignments(wanted)
    }
    fn assignment(&mut self, id: &AssignmentId) -> Result<Option<SessionAssignment>> {
        self.alive()?.assignment(id)
    }
    fn messages_of(&mut self, id: &AssignmentId) -> Result<Option<Messages>> {
        self.alive()?.messages_of(id)
    }
    fn completed_counts(&mut self, since: Timestamp) -> Result<Vec<CompletedCount>> {
        self.alive()?.completed_counts(since)
    }
    fn assignment_times(&mut self, since: Timestamp) -> Result<Vec<ProjectTime>> {
        self.alive()?.assignment_times(since)
    }
}

impl EffortStore for Faulty {
    fn put_efforts(&mut self, rows: &[Effort]) -> Result<()> {
        self.write(|this| this.inner.put_efforts(rows))
    }
    fn put_effort_messages(&mut self, rows: &[MessageRow]) -> Result<()> {
        self.write(|this| this.inner.put_effort_messages(rows))
    }
    fn efforts(&mut self, wanted: &EffortsWanted) -> Result<EffortPage> {
        self.alive()?.efforts(wanted)
    }
    fn effort(&mut self, id: &EffortId) -> Result<Option<Effort>> {
        self.alive()?.effort(id)
    }
    fn window(&mut self, id: &WindowId) -> Result<Option<ContextWindow>> {
        self.alive()?.window(id)
    }
    fn workstreams(&mut self, limit: usize) -> Result<Vec<StoredWorkstream>> {
        self.alive()?.workstreams(limit)
    }
    fn effort_messages(&mut self, wanted: &MessagesWanted) -> Result<Vec<EffortMessage>> {
        self.alive()?.effort_messages(wanted)
    }
}

impl OutboxStore for Faulty {
    fn put_outbox(&mut self, effects: &[OutboxEffect]) -> Result<()> {
        self.write(|this| this.inner.put_outbox(effects))
    }
    fn outbox(&mut self) -> Result<Vec<OutboxEffect>> {
        self.alive()?.outbox()
    }
    fn finish_outbox(&mut self, done: &[OutboxKey], rows: &OutboxRows) -> Result<()> {
        self.write(|this| {
            this.inner.finish_outbox(done, rows)?;
            this.switch.wrote(|| StoreWrite::Finished(done.to_vec()));
            Ok(())
        })
    }
}

impl HostStates for Faulty {
    fn put_host_states(&mut self, rows: &[HostState]) -> Result<()> {
        self.write(|this| this.inner.put_host_states(rows))
    }
    fn host_states(&mut self) -> Result<BTreeMap<String, String>> {
        self.alive()?.host_states()
    }
}

impl Transcripts for Faulty {
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()> {
        self.write(|this| this.inner.put_transcripts(batches))
    }
    fn transcript_files(&mut self) -> Result<Vec<FileRead>> {
        self.alive()?.transcript_files()
    }
    fn transcript(&mut self, session_id: &SessionId) -> Result<Option<TranscriptBatch>> {
        self.alive()?.transcript(session_id)
    }
    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>> {
        self.alive()?.transcript_sessions(since)
    }
    fn usage_between(&mut self, stretches: &[SessionStretch]) -> Result<Vec<Option<Vec<CountedMessage>>>> {
        self.alive()?.usage_between(stretches)
    }
    fn usage_of(&mut self, sessions: &[SessionId]) -> Result<Vec<SessionUsage>> {
        self.alive()?.usage_of(sessions)
    }
}
