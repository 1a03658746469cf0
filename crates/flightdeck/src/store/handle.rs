//! The methods of [`Store`]: each sends one command to the store's thread and awaits the reply.

use flightdeck_core::ids::{AssignmentId, EffortId, SessionId, WindowId};
use std::collections::BTreeMap;
use std::sync::Arc;

use flightdeck_core::assignment::Messages;
use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::log::record::Record;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use super::assignments::*;
use super::efforts::*;
use super::host_states::*;
use super::log::*;
use super::outbox::*;
use super::sessions::*;
use super::snapshots::*;
use super::thread::{ResultSender, StoreCommand};
use super::transcripts::*;
use super::{PAGE_ITEMS_MAX, REPLAY_CHUNK_EVENTS_MAX, Result, SCAN_EVENTS_MAX, Store, StoreError};

/// An append that takes longer is logged: hooks have given up waiting by then.
const SLOW_APPEND: Duration = Duration::from_secs(1);

impl Store {
    /// One transaction for the whole batch; the results are in the order of the records. An event that is in the log
    /// already (or twice in the batch) is not stored again. On an error nothing is stored, unless the store stopped
    /// ([`StoreError::Closed`]). Pass an `Arc` to keep the records: the store drops its clone before it replies.
    pub async fn append(&self, records: impl Into<Arc<Vec<Record>>>) -> Result<Vec<Appended>> {
        self.send_append(records).await.committed().await
    }

    /// Appends in two steps: after this one, the batch is stored before every command that is sent later.
    pub async fn send_append(&self, records: impl Into<Arc<Vec<Record>>>) -> Pending {
        let (records, begun) = (records.into(), Instant::now());
        let (reply, answer) = oneshot::channel();
        // A closed store drops the reply, and `committed` returns that it is closed.
        let _ = self.commands.send(StoreCommand::Append { records, reply }).await;
        Pending { answer, begun }
    }

    /// The log after `after_seq`, in chunks. The next chunk is read while the last one is used.
    pub async fn replay(&self, after_seq: u64) -> Result<Replay> {
        self.replay_with(events_after, after_seq).await
    }

    /// Like [`Self::replay`], for the events of this machine only. A chunk may be empty although more follow.
    pub async fn replay_own(&self, after_seq: u64) -> Result<Replay> {
        self.replay_with(own_after, after_seq).await
    }

    async fn replay_with(&self, read: ReadAfter, after_seq: u64) -> Result<Replay> {
        let pending = Some(self.send(|reply| read(after_seq, reply)).await?);
        Ok(Replay { store: self.clone(), read, pending })
    }

    /// How many events of this machine have a `seq` above `after_seq` and up to `to_seq`. Other commands are served in between.
    pub async fn count_own(&self, after_seq: u64, to_seq: u64) -> Result<u64> {
        // Retention may have removed the start of the log.
        let oldest = self.oldest().await?.map_or(to_seq, |oldest| oldest.seq.saturating_sub(1));
        let (mut after_seq, mut events) = (after_seq.max(oldest), 0);
        while after_seq < to_seq {
            let until = to_seq.min(after_seq.saturating_add(SCAN_EVENTS_MAX));
            let count = |reply| StoreCommand::CountOwnEvents { after_seq, to_seq: until, reply };
            events += self.ask(count).await?;
            after_seq = until;
        }
        Ok(events)
    }

    /// The events of a session, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn events_of(&self, wanted: EventsOf) -> Result<RecordPage> {
        let wanted = EventsOf { limit: wanted.limit.min(PAGE_ITEMS_MAX), ..wanted };
        self.ask(|reply| StoreCommand::EventsOf { wanted, reply }).await
    }

    /// The events with certain names, of all sessions. A page may be empty although more follow: each call reads a bounded part of the log.
    pub async fn events_named(&self, wanted: EventsNamed) -> Result<RecordPage> {
        self.ask(|reply| StoreCommand::EventsNamed { wanted, reply }).await
    }

    pub async fn event(&self, seq: u64) -> Result<Option<Record>> {
        self.ask(|reply| StoreCommand::Event { seq, reply }).await
    }

    /// The `seq` of the newest event. Zero if the log is empty.
    pub async fn last_seq(&self) -> Result<u64> {
        self.ask(StoreCommand::LastSeq).await
    }

    pub async fn oldest(&self) -> Result<Option<Oldest>> {
        self.ask(StoreCommand::Oldest).await
    }

    /// Events ever appended, removed ones included. Cheap: the totals are kept.
    pub async fn counts_by_name(&self) -> Result<BTreeMap<String, u64>> {
        self.ask(StoreCommand::CountsByName).await
    }

    /// The size on disk, with the write-ahead log.
    pub async fn size_bytes(&self) -> Result<u64> {
        self.ask(StoreCommand::SizeBytes).await
    }

    /// Removes old events in small steps; other commands are served in between. Never removes the newest event, nor an
    /// event that is not in the older of the kept snapshots: falling back on that snapshot must lose nothing.
    pub async fn retain(&self, now: Timestamp, policy: RetentionPolicy) -> Result<RetainReport> {
        self.ask(|reply| StoreCommand::Retain { now, policy, reply }).await
    }
}

impl Store {
    pub async fn put_outbox(&self, effects: Vec<OutboxEffect>) -> Result<()> {
        self.ask(|reply| StoreCommand::PutOutbox { effects, reply }).await
    }

    /// The effects that have not been carried out.
    pub async fn outbox(&self) -> Result<Vec<OutboxEffect>> {
        self.ask(StoreCommand::Outbox).await
    }

    pub async fn finish_outbox(&self, done: Vec<OutboxKey>, rows: OutboxRows) -> Result<()> {
        self.ask(|reply| StoreCommand::FinishOutbox { done, rows, reply }).await
    }
}

impl Store {
    pub async fn put_host_states(&self, rows: Vec<HostState>) -> Result<()> {
        self.ask(|reply| StoreCommand::PutHostStates { rows, reply }).await
    }

    /// What is remembered about other hosts, by name.
    pub async fn host_states(&self) -> Result<BTreeMap<String, String>> {
        self.ask(StoreCommand::HostStates).await
    }
}

impl Store {
    pub async fn put_sessions(&self, sessions: Vec<StoredSession>) -> Result<()> {
        self.ask(|reply| StoreCommand::PutSessions { sessions, reply }).await
    }

    /// The last active first, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn stored_sessions(&self, before: Option<SessionCursor>, limit: usize) -> Result<SessionPage> {
        let limit = limit.min(PAGE_ITEMS_MAX);
        self.ask(|reply| StoreCommand::StoredSessions { before, limit, reply }).await
    }

    pub async fn stored_session(&self, id: &SessionId) -> Result<Option<StoredSession>> {
        let id = id.to_owned();
        self.ask(|reply| StoreCommand::StoredSession { id, reply }).await
    }
}

impl Store {
    pub async fn put_assignments(&self, rows: Vec<SessionAssignment>) -> Result<()> {
        self.ask(|reply| StoreCommand::PutAssignments { rows, reply }).await
    }

    /// The newest first, without their messages, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn assignments(&self, wanted: AssignmentsWanted) -> Result<AssignmentPage> {
        let wanted = AssignmentsWanted { limit: wanted.limit.min(PAGE_ITEMS_MAX), ..wanted };
        self.ask(|reply| StoreCommand::Assignments { wanted, reply }).await
    }

    /// Without its messages.
    pub async fn assignment(&self, id: &AssignmentId) -> Result<Option<SessionAssignment>> {
        let id = id.clone();
        self.ask(|reply| StoreCommand::Assignment { id, reply }).await
    }

    /// `None` if there is no such assignment.
    pub async fn messages_of(&self, id: &AssignmentId) -> Result<Option<Messages>> {
        let id = id.clone();
        self.ask(|reply| StoreCommand::MessagesOf { id, reply }).await
    }

    /// How many assignments were completed since then, by project and quarter of an hour.
    pub async fn completed_counts(&self, since: Timestamp) -> Result<Vec<CompletedCount>> {
        self.ask(|reply| StoreCommand::CompletedCounts { since, reply }).await
    }

    /// The times in which agents worked and waited, if they ended after `since`.
    pub async fn assignment_times(&self, since: Timestamp) -> Result<Vec<ProjectTime>> {
        self.ask(|reply| StoreCommand::AssignmentTimes { since, reply }).await
    }
}

impl Store {
    /// The newest first, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn efforts(&self, wanted: EffortsWanted) -> Result<EffortPage> {
        let wanted = EffortsWanted { limit: wanted.limit.min(PAGE_ITEMS_MAX), ..wanted };
        self.ask(|reply| StoreCommand::Efforts { wanted, reply }).await
    }

    pub async fn effort(&self, id: &EffortId) -> Result<Option<Effort>> {
        let id = id.clone();
        self.ask(|reply| StoreCommand::Effort { id, reply }).await
    }

    pub async fn window(&self, id: &WindowId) -> Result<Option<ContextWindow>> {
        let id = id.clone();
        self.ask(|reply| StoreCommand::Window { id, reply }).await
    }

    pub async fn workstreams(&self, limit: usize) -> Result<Vec<StoredWorkstream>> {
        self.ask(|reply| StoreCommand::Workstreams { limit, reply }).await
    }

    /// The newest of these, oldest first, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn effort_messages(&self, wanted: MessagesWanted) -> Result<Vec<EffortMessage>> {
        let wanted = MessagesWanted { limit: wanted.limit.min(PAGE_ITEMS_MAX), ..wanted };
        self.ask(|reply| StoreCommand::EffortMessages { wanted, reply }).await
    }
}

impl Store {
    pub async fn save_snapshot(&self, snapshot: FleetSnapshot) -> Result<()> {
        self.ask(|reply| StoreCommand::SaveSnapshot { snapshot, reply }).await
    }

    /// The newest undamaged snapshot of these rules. Without one, the whole log has to be replayed.
    pub async fn latest_snapshot(&self, rules_version: &str) -> Result<Option<FleetSnapshot>> {
        let rules_version = rules_version.to_owned();
        self.ask(|reply| StoreCommand::LatestSnapshot { rules_version, reply }).await
    }
}

impl Store {
    /// Stores what was read of transcripts and how far: all of it or nothing.
    pub async fn put_transcripts(&self, batches: Vec<TranscriptBatch>) -> Result<()> {
        self.ask(|reply| StoreCommand::PutTranscripts { batches, reply }).await
    }

    /// How far every transcript was read.
    pub async fn transcript_files(&self) -> Result<Vec<FileRead>> {
        self.ask(StoreCommand::TranscriptFiles).await
    }

    /// How far one session was read, with all its messages.
    pub async fn transcript(&self, session_id: &SessionId) -> Result<Option<TranscriptBatch>> {
        let session_id = session_id.to_owned();
        self.ask(|reply| StoreCommand::Transcript { session_id, reply }).await
    }

    /// Sessions with a message since then, in the order they started.
    pub async fn transcript_sessions(&self, since: Timestamp) -> Result<Vec<SessionRead>> {
        self.ask(|reply| StoreCommand::TranscriptSessions { since, reply }).await
    }

    /// The messages of each stretch; `None` if no transcript of its session was read.
    pub async fn usage_between(
        &self,
        stretches: Vec<SessionStretch>,
    ) -> Result<Vec<Option<Vec<CountedMessage>>>> {
        self.ask(|reply| StoreCommand::UsageBetween { stretches, reply }).await
    }

    /// Every message of these sessions. Ask for a few at a time: events wait meanwhile.
    pub async fn usage_of(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionUsage>> {
        self.ask(|reply| StoreCommand::UsageOf { sessions, reply }).await
    }
}

fn events_after(after_seq: u64, reply: ResultSender<RecordPage>) -> StoreCommand {
    StoreCommand::EventsAfter { after_seq, limit: REPLAY_CHUNK_EVENTS_MAX, reply }
}

fn own_after(after_seq: u64, reply: ResultSender<RecordPage>) -> StoreCommand {
    StoreCommand::OwnEventsAfter { after_seq, limit: REPLAY_CHUNK_EVENTS_MAX, reply }
}

/// The command that reads the next chunk of a replay.
type ReadAfter = fn(u64, ResultSender<RecordPage>) -> StoreCommand;

/// An append that is not committed yet.
#[derive(Debug)]
pub struct Pending {
    answer: oneshot::Receiver<Result<Vec<Appended>>>,
    begun: Instant,
}

impl Pending {
    pub async fn committed(self) -> Result<Vec<Appended>> {
        let appended = self.answer.await.map_err(|_| StoreError::Closed)?;
        let took = self.begun.elapsed();
        if took >= SLOW_APPEND {
            tracing::warn!(took_ms = took.as_millis() as u64, "the disk is slow: events waited for it");
        }
        appended
    }
}

/// A replay of the log, one chunk at a time.
#[derive(Debug)]
pub struct Replay {
    store: Store,
    read: ReadAfter,
    pending: Option<oneshot::Receiver<Result<RecordPage>>>,
}

impl Replay {
    /// `None` at the end of the log.
    pub async fn next(&mut self) -> Result<Option<RecordPage>> {
        let Some(pending) = self.pending.take() else { return Ok(None) };
        let page = pending.await.map_err(|_| StoreError::Closed)??;
        if let Some(seq) = page.next {
            self.pending = Some(self.store.send(|reply| (self.read)(seq, reply)).await?);
        }
        let empty = page.records.is_empty() && page.unreadable == 0 && page.next.is_none();
        Ok((!empty).then_some(page))
    }
}
