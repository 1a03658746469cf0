//! The log of events and what is kept for ever, behind one cloneable handle.
//!
//! A [`Store`] sends closed commands over a bounded channel to one thread that owns a [`Backend`] (SQLite, or memory),
//! and awaits the answer. An append is durable (it survives `kill -9`) before it is answered. Start reading at
//! `thread.rs`; `sqlite/` holds the database, `story.rs` what every backend must do.

mod backend;
mod error;
#[cfg(any(test, feature = "faults"))]
pub mod faulty;
mod memory;
mod parts;
mod sqlite;
#[cfg(test)]
mod story;
#[cfg(test)]
mod testing;
mod thread;
mod types;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant};

pub use backend::{Backend, RetainStep, SaveStep};
pub use error::StoreError;
pub use memory::Memory;
pub use parts::Parts;
pub use types::{
    Appended, EventPage, EventsNamed, EventsOf, FileRead, Oldest, Opened, PageFrom, RetainReport,
    RetentionPolicy, SessionCursor, SessionPage, SessionRead, SessionUsage, SetAside, Snapshot,
    StoredSession, Title, TitledBy, TranscriptBatch,
};

use thread::{Command, Reply};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Commands that may wait for the store's thread. The engine sends batches, so a longer queue would only hide a slow disk.
pub const COMMANDS_WAITING_MAX: usize = 64;
/// Events read from the log at a time: enough to keep the reader busy, little enough to hold.
pub const REPLAY_CHUNK_EVENTS_MAX: usize = 1000;
/// Most a caller gets in one page: appends wait while it is read.
pub const PAGE_ITEMS_MAX: usize = 1000;
/// Payload bytes read at a time; a single larger payload still comes, alone.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Events looked at for their name in one go: some milliseconds, for which appends wait.
pub const SCAN_EVENTS_MAX: u64 = 20_000;
/// Events removed at a time: an append that comes meanwhile waits for one such slice, never for two.
pub const SLICE_EVENTS_MAX: usize = 128;
/// Snapshots kept: the latest, and one to fall back on if that is damaged.
pub const SNAPSHOTS_KEPT: usize = 2;

/// An append that takes this long is worth a line in the log: hooks have long given up waiting by then.
const SLOW_APPEND: Duration = Duration::from_secs(1);

/// A handle on the store. Clones share the thread; it ends with the last of them, or with [`Store::close`].
#[derive(Clone, Debug)]
pub struct Store {
    commands: mpsc::Sender<Command>,
}

impl Store {
    /// Opens or makes the database at `path`, whose folder must exist. A damaged file is set aside and said so. Blocks.
    pub fn open(path: &Path) -> Result<Opened> {
        let (backend, set_aside) = sqlite::open(path)?;
        Ok(Opened { store: Self::with_backend(Box::new(backend))?, set_aside })
    }

    /// Remembers until the last handle is gone.
    pub fn in_memory() -> Result<Self> {
        Self::with_backend(Box::new(Memory::default()))
    }

    pub fn with_backend(backend: Box<dyn Backend>) -> Result<Self> {
        let (commands, queue) = mpsc::channel(COMMANDS_WAITING_MAX);
        thread::start(backend, queue)?;
        Ok(Self { commands })
    }

    #[cfg(test)]
    pub(crate) fn sqlite_backend(path: &Path) -> Result<Box<dyn Backend>> {
        Ok(Box::new(sqlite::open(path)?.0))
    }

    /// On the caller's runtime instead of a thread: drive the returned future beside whatever uses the store.
    #[cfg(test)]
    pub(crate) fn as_task(
        backend: Box<dyn Backend>,
        pace: impl AsyncFnMut(),
    ) -> (Self, impl Future<Output = ()>) {
        let (commands, queue) = mpsc::channel(COMMANDS_WAITING_MAX);
        (Self { commands }, thread::Worker::new(backend, queue).run_as_task(pace))
    }

    /// One transaction for the whole batch; the answers are in the order of the records. An event that is in the log
    /// already (or twice in the batch) is not stored again. On an error nothing is stored, unless the store stopped
    /// ([`StoreError::Closed`]). Pass an `Arc` to have the records back: the store lets go of it before it answers.
    pub async fn append(&self, records: impl Into<Arc<Vec<Record>>>) -> Result<Vec<Appended>> {
        self.send_append(records).await.committed().await
    }

    /// The same in two steps: once it is sent, it is stored before everything that is sent later.
    pub async fn send_append(&self, records: impl Into<Arc<Vec<Record>>>) -> Pending {
        let (records, begun) = (records.into(), Instant::now());
        let (reply, answer) = oneshot::channel();
        // A closed store lets go of the reply, and the answer is that it is closed.
        let _ = self.commands.send(Command::Append { records, reply }).await;
        Pending { answer, begun }
    }

    /// The log after `after_seq`, in chunks; the next is read while the last is used.
    pub async fn replay(&self, after_seq: u64) -> Result<Replay> {
        let pending = Some(self.send(|reply| after(after_seq, reply)).await?);
        Ok(Replay { store: self.clone(), pending })
    }

    /// At most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn events_of(&self, wanted: EventsOf) -> Result<EventPage> {
        let wanted = EventsOf { limit: wanted.limit.min(PAGE_ITEMS_MAX), ..wanted };
        self.ask(|reply| Command::EventsOf { wanted, reply }).await
    }

    /// A page may be empty and still have a next one: only so much of the log is looked at in one go.
    pub async fn events_named(&self, wanted: EventsNamed) -> Result<EventPage> {
        self.ask(|reply| Command::EventsNamed { wanted, reply }).await
    }

    pub async fn event(&self, seq: u64) -> Result<Option<Record>> {
        self.ask(|reply| Command::Event { seq, reply }).await
    }

    /// Zero in an empty log.
    pub async fn last_seq(&self) -> Result<u64> {
        self.ask(Command::LastSeq).await
    }

    pub async fn oldest(&self) -> Result<Option<Oldest>> {
        self.ask(Command::Oldest).await
    }

    /// Events ever appended, also those removed since. Costs nothing: the totals are kept.
    pub async fn counts_by_name(&self) -> Result<BTreeMap<String, u64>> {
        self.ask(Command::CountsByName).await
    }

    /// What the store takes on disk, its write-ahead log included.
    pub async fn size_bytes(&self) -> Result<u64> {
        self.ask(Command::SizeBytes).await
    }

    pub async fn save_snapshot(&self, snapshot: Snapshot) -> Result<()> {
        self.ask(|reply| Command::SaveSnapshot { snapshot, reply }).await
    }

    /// The newest snapshot of these rules that is whole. `None` means: replay everything.
    pub async fn latest_snapshot(&self, rules_version: &str) -> Result<Option<Snapshot>> {
        let rules_version = rules_version.to_owned();
        self.ask(|reply| Command::LatestSnapshot { rules_version, reply }).await
    }

    pub async fn put_sessions(&self, sessions: Vec<StoredSession>) -> Result<()> {
        self.ask(|reply| Command::PutSessions { sessions, reply }).await
    }

    /// The last active first, at most [`PAGE_ITEMS_MAX`] at a time.
    pub async fn stored_sessions(&self, before: Option<SessionCursor>, limit: usize) -> Result<SessionPage> {
        let limit = limit.min(PAGE_ITEMS_MAX);
        self.ask(|reply| Command::StoredSessions { before, limit, reply }).await
    }

    pub async fn stored_session(&self, id: &str) -> Result<Option<StoredSession>> {
        let id = id.to_owned();
        self.ask(|reply| Command::StoredSession { id, reply }).await
    }

    /// What a reading of transcripts found and where it stopped: all of it or nothing.
    pub async fn put_transcripts(&self, batches: Vec<TranscriptBatch>) -> Result<()> {
        self.ask(|reply| Command::PutTranscripts { batches, reply }).await
    }

    /// How far every transcript was read.
    pub async fn transcript_files(&self) -> Result<Vec<FileRead>> {
        self.ask(Command::TranscriptFiles).await
    }

    /// Where the reading of one session stands, with all its messages.
    pub async fn transcript(&self, session_id: &str) -> Result<Option<TranscriptBatch>> {
        let session_id = session_id.to_owned();
        self.ask(|reply| Command::Transcript { session_id, reply }).await
    }

    /// Sessions with a message since then, who started first first.
    pub async fn transcript_sessions(&self, since: Timestamp) -> Result<Vec<SessionRead>> {
        self.ask(|reply| Command::TranscriptSessions { since, reply }).await
    }

    /// Every message of these sessions. Ask for a few at a time: events wait behind it.
    pub async fn usage_of(&self, sessions: Vec<String>) -> Result<Vec<SessionUsage>> {
        self.ask(|reply| Command::UsageOf { sessions, reply }).await
    }

    /// Removes old events in small steps, between which other commands are served. Also never removes the newest event,
    /// nor any that the older kept snapshot does not hold: falling back on that must lose nothing.
    pub async fn retain(&self, now: Timestamp, policy: RetentionPolicy) -> Result<RetainReport> {
        self.ask(|reply| Command::Retain { now, policy, reply }).await
    }

    /// Serves what is queued, then closes the database. Every other handle gets [`StoreError::Closed`] from then on.
    pub async fn close(self) -> Result<()> {
        self.ask(Command::Close).await
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T> {
        self.send(command).await?.await.map_err(|_| StoreError::Closed)?
    }

    async fn send<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| StoreError::Closed)?;
        Ok(answer)
    }
}

fn after(after_seq: u64, reply: Reply<EventPage>) -> Command {
    Command::EventsAfter { after_seq, limit: REPLAY_CHUNK_EVENTS_MAX, reply }
}

/// An append that the store has not answered yet.
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

/// A reading of the log, one chunk at a time.
#[derive(Debug)]
pub struct Replay {
    store: Store,
    pending: Option<oneshot::Receiver<Result<EventPage>>>,
}

impl Replay {
    /// `None` at the end of the log.
    pub async fn next(&mut self) -> Result<Option<EventPage>> {
        let Some(pending) = self.pending.take() else { return Ok(None) };
        let page = pending.await.map_err(|_| StoreError::Closed)??;
        if let Some(seq) = page.next {
            self.pending = Some(self.store.send(|reply| after(seq, reply)).await?);
        }
        let empty = page.records.is_empty() && page.unreadable == 0;
        Ok((!empty).then_some(page))
    }
}
