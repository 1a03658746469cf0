//! The store: the event log, snapshots, past sessions, assignments, the outbox and what was read of transcripts, behind one handle.
//!
//! A [`Store`] sends commands over a bounded channel to one thread that owns a [`Backend`] (SQLite, or memory), and awaits
//! the reply. An append is durable (it survives `kill -9`) before it is answered. Each concern has a file with its trait and its
//! types: `log.rs`, `snapshots.rs`, `sessions.rs`, `assignments.rs`, `efforts.rs`, `outbox.rs`, `transcripts.rs`, `host_states.rs`.
//! `handle.rs` has the methods of [`Store`], `thread.rs` is the thread, `sqlite/` the database, and `tests.rs` what every backend must do.

mod assignments;
#[cfg(test)]
mod assignments_tests;
mod backend;
mod counts;
mod efforts;
mod error;
#[cfg(any(test, feature = "faults"))]
pub mod faulty;
mod handle;
mod host_states;
mod log;
mod memory;
mod outbox;
mod parts;
mod sessions;
mod snapshots;
mod sqlite;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod transcripts;

use std::path::{Path, PathBuf};

use tokio::sync::{mpsc, oneshot};

pub use assignments::{
    AssignmentCursor, AssignmentPage, Assignments, AssignmentsWanted, COUNT_SPAN, CompletedCount, ProjectTime,
};
pub use backend::Backend;
pub use efforts::{
    EffortCursor, EffortFilter, EffortPage, EffortStore, EffortsWanted, MessageRow, MessagesWanted,
    StoredWorkstream,
};
pub use error::StoreError;
pub use handle::{Pending, Replay};
pub use host_states::{HostState, HostStates};
pub use log::{
    Appended, EventLog, EventsNamed, EventsOf, Oldest, PageFrom, RecordPage, RetainReport, RetainStep,
    RetentionPolicy,
};
pub use memory::Memory;
pub use outbox::{OutboxEffect, OutboxKey, OutboxRows, OutboxStore};
pub use parts::Parts;
pub use sessions::{PastSessions, SessionCursor, SessionPage, StoredSession};
pub use snapshots::{FleetSnapshot, SaveStep, Snapshots};
pub use transcripts::{
    FileRead, SessionRead, SessionStretch, SessionUsage, Title, TitledBy, TranscriptBatch, Transcripts,
};

use thread::{ResultSender, StoreCommand};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Commands that may wait for the store's thread. The engine sends batches, so a longer queue would only hide a slow disk.
pub const COMMANDS_WAITING_MAX: usize = 64;
/// Events read from the log at a time: enough to keep the reader busy, few enough for memory.
pub const REPLAY_CHUNK_EVENTS_MAX: usize = 1000;
/// Items in one page, at most: appends wait while it is read.
pub const PAGE_ITEMS_MAX: usize = 1000;
/// Payload bytes read at a time. A single larger payload is read alone.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Events searched by name in one call: some milliseconds, for which appends wait.
pub const SCAN_EVENTS_MAX: u64 = 20_000;
/// Events removed at a time: an append waits for at most one such slice.
pub const SLICE_EVENTS_MAX: usize = 128;
/// Snapshots kept: the latest, and one to fall back on if the latest is damaged.
pub const SNAPSHOTS_KEPT: usize = 2;

/// A handle to the store. Clones share the thread, which ends with the last of them or with [`Store::close`].
#[derive(Clone, Debug)]
pub struct Store {
    commands: mpsc::Sender<StoreCommand>,
}

impl Store {
    /// Opens or creates the database at `path`, whose folder must exist. Sets a damaged file aside and says so. Blocks.
    pub fn open(path: &Path) -> Result<Opened> {
        let (backend, set_aside) = sqlite::open(path)?;
        Ok(Opened { store: Self::with_backend(Box::new(backend))?, set_aside })
    }

    /// A store in memory. It is lost when the last handle is dropped.
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

    /// Runs on the caller's runtime instead of a thread: drive the returned future beside the code that uses the store.
    #[cfg(test)]
    pub(crate) fn as_task(
        backend: Box<dyn Backend>,
        pace: impl AsyncFnMut(),
    ) -> (Self, impl Future<Output = ()>) {
        let (commands, queue) = mpsc::channel(COMMANDS_WAITING_MAX);
        (Self { commands }, thread::StoreWorker::new(backend, queue).run_as_task(pace))
    }

    /// Serves the queued commands, then closes the database. All other handles get [`StoreError::Closed`] from then on.
    pub async fn close(self) -> Result<()> {
        self.ask(StoreCommand::Close).await
    }

    async fn ask<T>(&self, command: impl FnOnce(ResultSender<T>) -> StoreCommand) -> Result<T> {
        self.send(command).await?.await.map_err(|_| StoreError::Closed)?
    }

    async fn send<T>(
        &self,
        command: impl FnOnce(ResultSender<T>) -> StoreCommand,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| StoreError::Closed)?;
        Ok(answer)
    }
}

/// An open store, and the damaged file that was set aside to open it, if any.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    pub set_aside: Option<SetAside>,
}

/// A damaged file that was renamed. It is never deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    pub reason: String,
}
