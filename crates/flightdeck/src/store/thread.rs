//! The one thread that owns the database: it executes commands in order and replies to each.

use flightdeck_core::ids::{AssignmentId, EffortId, SessionId, WindowId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::assignment::Messages;
use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::log::record::Record;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Receiver;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::oneshot;

use super::{
    Appended, AssignmentPage, AssignmentsWanted, Backend, CompletedCount, EffortPage, EffortsWanted,
    EventsNamed, EventsOf, FileRead, FleetSnapshot, HostState, MessagesWanted, Oldest, OutboxEffect,
    OutboxKey, OutboxRows, ProjectTime, RecordPage, Result, RetainReport, RetainStep, RetentionPolicy,
    SaveStep, SessionCursor, SessionPage, SessionRead, SessionStretch, SessionUsage, StoreError,
    StoredSession, StoredWorkstream, TranscriptBatch,
};

/// Returns the result of a command to its sender.
pub(super) type ResultSender<T> = oneshot::Sender<Result<T>>;

/// Commands served between two steps of a snapshot or of retention: both progress under load, and an append waits for at
/// most one step.
const COMMANDS_BETWEEN_STEPS_MAX: usize = 16;
/// A pause after each step, so that others can use the disk. A command ends it.
const REST: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) enum StoreCommand {
    Append { records: Arc<Vec<Record>>, reply: ResultSender<Vec<Appended>> },
    EventsAfter { after_seq: u64, limit: usize, reply: ResultSender<RecordPage> },
    OwnEventsAfter { after_seq: u64, limit: usize, reply: ResultSender<RecordPage> },
    CountOwnEvents { after_seq: u64, to_seq: u64, reply: ResultSender<u64> },
    EventsOf { wanted: EventsOf, reply: ResultSender<RecordPage> },
    EventsNamed { wanted: EventsNamed, reply: ResultSender<RecordPage> },
    Event { seq: u64, reply: ResultSender<Option<Record>> },
    LastSeq(ResultSender<u64>),
    Oldest(ResultSender<Option<Oldest>>),
    CountsByName(ResultSender<BTreeMap<String, u64>>),
    SizeBytes(ResultSender<u64>),
    SaveSnapshot { snapshot: FleetSnapshot, reply: ResultSender<()> },
    LatestSnapshot { rules_version: String, reply: ResultSender<Option<FleetSnapshot>> },
    PutSessions { sessions: Vec<StoredSession>, reply: ResultSender<()> },
    StoredSessions { before: Option<SessionCursor>, limit: usize, reply: ResultSender<SessionPage> },
    StoredSession { id: SessionId, reply: ResultSender<Option<StoredSession>> },
    PutOutbox { effects: Vec<OutboxEffect>, reply: ResultSender<()> },
    Outbox(ResultSender<Vec<OutboxEffect>>),
    FinishOutbox { done: Vec<OutboxKey>, rows: OutboxRows, reply: ResultSender<()> },
    PutAssignments { rows: Vec<SessionAssignment>, reply: ResultSender<()> },
    Assignments { wanted: AssignmentsWanted, reply: ResultSender<AssignmentPage> },
    Assignment { id: AssignmentId, reply: ResultSender<Option<SessionAssignment>> },
    MessagesOf { id: AssignmentId, reply: ResultSender<Option<Messages>> },
    CompletedCounts { since: Timestamp, reply: ResultSender<Vec<CompletedCount>> },
    AssignmentTimes { since: Timestamp, reply: ResultSender<Vec<ProjectTime>> },
    Efforts { wanted: EffortsWanted, reply: ResultSender<EffortPage> },
    Effort { id: EffortId, reply: ResultSender<Option<Effort>> },
    Window { id: WindowId, reply: ResultSender<Option<ContextWindow>> },
    Workstreams { limit: usize, reply: ResultSender<Vec<StoredWorkstream>> },
    EffortMessages { wanted: MessagesWanted, reply: ResultSender<Vec<EffortMessage>> },
    PutTranscripts { batches: Vec<TranscriptBatch>, reply: ResultSender<()> },
    TranscriptFiles(ResultSender<Vec<FileRead>>),
    Transcript { session_id: SessionId, reply: ResultSender<Option<TranscriptBatch>> },
    TranscriptSessions { since: Timestamp, reply: ResultSender<Vec<SessionRead>> },
    UsageBetween { stretches: Vec<SessionStretch>, reply: ResultSender<Vec<Option<Vec<CountedMessage>>>> },
    UsageOf { sessions: Vec<SessionId>, reply: ResultSender<Vec<SessionUsage>> },
    PutHostStates { rows: Vec<HostState>, reply: ResultSender<()> },
    HostStates(ResultSender<BTreeMap<String, String>>),
    Retain { now: Timestamp, policy: RetentionPolicy, reply: ResultSender<RetainReport> },
    Close(ResultSender<()>),
}

pub(super) fn start(backend: Box<dyn Backend>, commands: Receiver<StoreCommand>) -> Result<()> {
    let waiting = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let waiting = waiting.map_err(StoreError::io("start a timer for", Path::new("the store")))?;
    let worker = StoreWorker { waiting: Some(waiting), ..StoreWorker::new(backend, commands) };
    std::thread::Builder::new()
        .name("store".to_owned())
        .spawn(move || worker.run())
        .map_err(StoreError::io("start a thread for", Path::new("the store")))?;
    Ok(())
}

pub(super) struct StoreWorker {
    backend: Box<dyn Backend>,
    commands: Receiver<StoreCommand>,
    saving: Option<Saving>,
    retention: Option<Retention>,
    /// Commands since the last step of either.
    served: usize,
    /// Only to wait for a command with a timeout.
    waiting: Option<Runtime>,
}

/// A snapshot that is being written.
struct Saving {
    snapshot: FleetSnapshot,
    reply: ResultSender<()>,
}

/// A removal of old events that is under way.
struct Retention {
    now: Timestamp,
    policy: RetentionPolicy,
    report: RetainReport,
    reply: ResultSender<RetainReport>,
}

impl StoreWorker {
    pub(super) fn new(backend: Box<dyn Backend>, commands: Receiver<StoreCommand>) -> Self {
        Self { backend, commands, saving: None, retention: None, served: 0, waiting: None }
    }

    fn run(mut self) {
        while let Some(command) = self.next() {
            if let StoreCommand::Close(reply) = command {
                drop(self);
                return send_result(reply, Ok(()));
            }
            self.handle(command);
        }
    }

    /// The next command. While there is none, a snapshot or retention that is under way continues.
    fn next(&mut self) -> Option<StoreCommand> {
        while self.has_work() {
            if self.served < COMMANDS_BETWEEN_STEPS_MAX {
                match self.commands.try_recv() {
                    Ok(command) => {
                        self.served += 1;
                        return Some(command);
                    }
                    Err(TryRecvError::Disconnected) => return None,
                    Err(TryRecvError::Empty) => {}
                }
            }
            self.served = 0;
            self.advance_work();
            if let Some(command) = self.command_within(REST) {
                return Some(command);
            }
        }
        self.commands.blocking_recv()
    }

    /// The same work as a task: a simulation runs on one thread, so that it runs the same way each time. `pace` simulates a
    /// slow disk.
    #[cfg(test)]
    pub(super) async fn run_as_task(mut self, mut pace: impl AsyncFnMut()) {
        loop {
            let command = match self.has_work() {
                true => self.commands.try_recv().map_err(|e| e == TryRecvError::Disconnected),
                false => self.commands.recv().await.ok_or(true),
            };
            match command {
                Ok(StoreCommand::Close(reply)) => {
                    drop(self);
                    return send_result(reply, Ok(()));
                }
                Ok(command) => {
                    pace().await;
                    self.handle(command);
                }
                Err(true) => return,
                Err(false) => {
                    self.advance_work();
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    fn command_within(&mut self, time: Duration) -> Option<StoreCommand> {
        let (commands, waiting) = (&mut self.commands, self.waiting.as_ref()?);
        waiting.block_on(async { tokio::time::timeout(time, commands.recv()).await.ok().flatten() })
    }

    fn handle(&mut self, command: StoreCommand) {
        let db = &mut self.backend;
        match command {
            StoreCommand::Append { records, reply } => {
                let appended = db.append(&records);
                // The caller may reuse its records: drop our clone before it wakes.
                drop(records);
                send_result(reply, appended);
            }
            StoreCommand::EventsAfter { after_seq, limit, reply } => {
                send_result(reply, db.events_after(after_seq, limit))
            }
            StoreCommand::CountOwnEvents { after_seq, to_seq, reply } => {
                send_result(reply, db.count_own_events(after_seq, to_seq))
            }
            StoreCommand::OwnEventsAfter { after_seq, limit, reply } => {
                send_result(reply, db.own_events_after(after_seq, limit))
            }
            StoreCommand::EventsOf { wanted, reply } => send_result(reply, db.events_of(&wanted)),
            StoreCommand::EventsNamed { wanted, reply } => send_result(reply, db.events_named(wanted)),
            StoreCommand::Event { seq, reply } => send_result(reply, db.event(seq)),
            StoreCommand::LastSeq(reply) => send_result(reply, db.last_seq()),
            StoreCommand::Oldest(reply) => send_result(reply, db.oldest()),
            StoreCommand::CountsByName(reply) => send_result(reply, db.counts_by_name()),
            StoreCommand::SizeBytes(reply) => send_result(reply, db.size_bytes()),
            StoreCommand::SaveSnapshot { snapshot, reply } => self.begin_saving(snapshot, reply),
            StoreCommand::LatestSnapshot { rules_version, reply } => {
                send_result(reply, db.latest_snapshot(&rules_version))
            }
            StoreCommand::PutSessions { sessions, reply } => send_result(reply, db.put_sessions(&sessions)),
            StoreCommand::StoredSessions { before, limit, reply } => {
                send_result(reply, db.stored_sessions(before.as_ref(), limit));
            }
            StoreCommand::StoredSession { id, reply } => send_result(reply, db.stored_session(&id)),
            StoreCommand::PutOutbox { effects, reply } => send_result(reply, db.put_outbox(&effects)),
            StoreCommand::Outbox(reply) => send_result(reply, db.outbox()),
            StoreCommand::FinishOutbox { done, rows, reply } => {
                send_result(reply, db.finish_outbox(&done, &rows))
            }
            StoreCommand::PutAssignments { rows, reply } => send_result(reply, db.put_assignments(&rows)),
            StoreCommand::Assignments { wanted, reply } => send_result(reply, db.assignments(&wanted)),
            StoreCommand::Assignment { id, reply } => send_result(reply, db.assignment(&id)),
            StoreCommand::MessagesOf { id, reply } => send_result(reply, db.messages_of(&id)),
            StoreCommand::CompletedCounts { since, reply } => send_result(reply, db.completed_counts(since)),
            StoreCommand::AssignmentTimes { since, reply } => send_result(reply, db.assignment_times(since)),
            StoreCommand::Efforts { wanted, reply } => send_result(reply, db.efforts(&wanted)),
            StoreCommand::Effort { id, reply } => send_result(reply, db.effort(&id)),
            StoreCommand::Window { id, reply } => send_result(reply, db.window(&id)),
            StoreCommand::Workstreams { limit, reply } => send_result(reply, db.workstreams(limit)),
            StoreCommand::EffortMessages { wanted, reply } => send_result(reply, db.effort_messages(&wanted)),
            StoreCommand::PutTranscripts { batches, reply } => {
                send_result(reply, db.put_transcripts(&batches))
            }
            StoreCommand::TranscriptFiles(reply) => send_result(reply, db.transcript_files()),
            StoreCommand::Transcript { session_id, reply } => send_result(reply, db.transcript(&session_id)),
            StoreCommand::TranscriptSessions { since, reply } => {
                send_result(reply, db.transcript_sessions(since))
            }
            StoreCommand::UsageBetween { stretches, reply } => {
                send_result(reply, db.usage_between(&stretches))
            }
            StoreCommand::UsageOf { sessions, reply } => send_result(reply, db.usage_of(&sessions)),
            StoreCommand::PutHostStates { rows, reply } => send_result(reply, db.put_host_states(&rows)),
            StoreCommand::HostStates(reply) => send_result(reply, db.host_states()),
            StoreCommand::Retain { now, policy, reply } => self.begin_retention(now, policy, reply),
            // Handled by `run`, which must drop the database first.
            StoreCommand::Close(_) => {}
        }
    }

    fn has_work(&self) -> bool {
        self.saving.is_some() || self.retention.is_some()
    }

    /// The snapshot comes first: retention depends on it.
    fn advance_work(&mut self) {
        if self.saving.is_some() { self.advance_snapshot() } else { self.advance_retention() }
    }

    /// Snapshots are written one after the other, so that the last request is the newest.
    fn begin_saving(&mut self, snapshot: FleetSnapshot, reply: ResultSender<()>) {
        while self.saving.is_some() {
            self.advance_snapshot();
        }
        self.saving = Some(Saving { snapshot, reply });
    }

    fn advance_snapshot(&mut self) {
        let Some(Saving { snapshot, reply }) = self.saving.take() else { return };
        match self.backend.save_step(&snapshot) {
            Ok(SaveStep::Done) => send_result(reply, Ok(())),
            Ok(SaveStep::More) => self.saving = Some(Saving { snapshot, reply }),
            Err(error) => send_result(reply, Err(error)),
        }
    }

    fn begin_retention(
        &mut self,
        now: Timestamp,
        policy: RetentionPolicy,
        reply: ResultSender<RetainReport>,
    ) {
        if self.retention.is_some() {
            return send_result(reply, Err(StoreError::Retaining));
        }
        match self.backend.size_bytes() {
            Ok(bytes_before) => {
                let report = RetainReport { bytes_before, ..RetainReport::default() };
                self.retention = Some(Retention { now, policy, report, reply });
            }
            Err(error) => send_result(reply, Err(error)),
        }
    }

    fn advance_retention(&mut self) {
        let Some(mut under_way) = self.retention.take() else { return };
        let step = match self.backend.retain_step(under_way.now, &under_way.policy) {
            Ok(step) => step,
            Err(error) => {
                return send_result(under_way.reply, Err(error));
            }
        };
        match step {
            RetainStep::Done { held_back } => {
                let report = RetainReport { held_back, ..under_way.report };
                let size = self.backend.size_bytes();
                send_result(under_way.reply, size.map(|bytes_after| RetainReport { bytes_after, ..report }));
            }
            RetainStep::More { removed } => {
                under_way.report.removed += removed;
                self.retention = Some(under_way);
            }
            RetainStep::Wait => self.retention = Some(under_way),
        }
    }
}

fn send_result<T>(reply: ResultSender<T>, result: Result<T>) {
    // The caller may have gone; the command was executed.
    let _ = reply.send(result);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::testing::{record, records};
    use super::super::{Memory, Parts, SLICE_EVENTS_MAX, Store};
    use super::*;
    use flightdeck_core::time::Millis;
    use tokio::sync::mpsc;

    #[test]
    fn an_append_does_not_wait_for_a_large_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let backend = Store::sqlite_backend(&folder.path().join("flightdeck.db")).unwrap();
        let (sender, commands) = mpsc::channel(super::super::COMMANDS_WAITING_MAX);
        let mut worker = StoreWorker::new(backend, commands);
        let mut body = Parts::default();
        body.write_all(&vec![7; 8 * 1024 * 1024]).unwrap();
        let (reply, mut saved) = oneshot::channel();
        worker.begin_saving(FleetSnapshot { seq: 1, rules_version: "1".into(), body }, reply);
        let mut appended = 0;
        while saved.try_recv().is_err() {
            let (records, reply) = (Arc::new(vec![record(appended + 1)]), oneshot::channel().0);
            sender.try_send(StoreCommand::Append { records, reply }).unwrap();
            let command = worker.next().unwrap();
            worker.handle(command);
            appended += 1;
        }
        assert!(appended > 256, "{appended} between the steps of 8 MB");
        assert_eq!(worker.backend.latest_snapshot("1").unwrap().unwrap().seq, 1);
    }

    /// With a full queue, each append waits for at most one slice, and retention still progresses.
    #[test]
    fn an_append_waits_for_one_slice_at_most() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = Store::sqlite_backend(&folder.path().join("flightdeck.db")).unwrap();
        for mut backend in [Box::new(Memory::default()) as Box<dyn Backend>, sqlite] {
            backend.append(&records(1..=5000)).unwrap();
            let (sender, commands) = mpsc::channel(super::super::COMMANDS_WAITING_MAX);
            let mut worker = StoreWorker::new(backend, commands);
            let policy = RetentionPolicy { max_age: Millis(0), keep_after_seq: 5000, ..Default::default() };
            worker.begin_retention(Timestamp::from_millis(i64::MAX), policy, oneshot::channel().0);
            for n in 0..super::super::COMMANDS_WAITING_MAX as u64 {
                let (records, reply) = (Arc::new(vec![record(5001 + n)]), oneshot::channel().0);
                sender.try_send(StoreCommand::Append { records, reply }).unwrap();
            }
            drop(sender);
            let removed = |worker: &StoreWorker| worker.retention.as_ref().map_or(0, |r| r.report.removed);
            let (mut before, mut slices) = (0, 0);
            while let Some(command) = worker.next() {
                let now = removed(&worker);
                assert!(
                    now - before <= SLICE_EVENTS_MAX as u64,
                    "{} events between two appends",
                    now - before
                );
                slices += u32::from(now > before);
                before = now;
                worker.handle(command);
            }
            assert!(slices > 1, "retention did not progress");
        }
    }
}
