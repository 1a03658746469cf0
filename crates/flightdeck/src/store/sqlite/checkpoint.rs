//! Copies the write-ahead log into the file on its own thread, so that appends do not wait for the disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::super::{Result, StoreError};

/// The thread is woken each time the write-ahead log has grown by this many pages (of 8 KiB).
const CHECKPOINT_PAGES: i32 = 500;
/// With this many pages an append copies the last ones itself, once the thread has copied nearly all: while appends never pause, the thread
/// cannot empty the log. Smaller than the part of the log's file that is kept, so that the file is overwritten in place and never truncated.
const WAL_PAGES_MAX: i32 = 6000;
/// Pages that an append copies itself: little more than the two syncs that each copy needs.
const LAST_PAGES_MAX: i32 = 128;
/// With this many pages an append copies all that are left, however many.
const WAL_PAGES_TOP: i32 = 8000;
/// Requests that may wait: a second request for the same work is not needed.
const REQUESTS_WAITING_MAX: usize = 2;

#[derive(Debug)]
enum CheckpointRequest {
    Copy,
    /// Also empty the write-ahead log, so that the file shrinks. Answered when it is done.
    Empty(SyncSender<()>),
}

#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` only while it is dropped.
    requests: Option<SyncSender<CheckpointRequest>>,
    thread: Option<JoinHandle<()>>,
    emptying: Option<Receiver<()>>,
    progress: Arc<Progress>,
}

/// How far the thread has copied the write-ahead log.
#[derive(Debug, Default)]
struct Progress {
    /// The thread was woken and has not finished.
    busy: AtomicBool,
    /// Pages of the write-ahead log that the thread has copied.
    copied: AtomicI32,
}

impl Progress {
    /// Whether an append copies the rest itself if the log has this many pages.
    fn leaves_rest_to_append(&self, pages: i32) -> bool {
        let left = pages - self.copied.load(Ordering::Relaxed);
        let few = left <= LAST_PAGES_MAX && !self.busy.load(Ordering::Relaxed);
        pages >= WAL_PAGES_TOP || (pages >= WAL_PAGES_MAX && few)
    }
}

impl Checkpointer {
    /// Replaces SQLite's own checkpoints, which would run within an append.
    pub(super) fn start(path: &Path, conn: &mut Connection, helper: Connection) -> Result<Self> {
        let (requests, queue) = sync_channel(REQUESTS_WAITING_MAX);
        let progress = Arc::new(Progress::default());
        let (at_work, woken) = (Arc::clone(&progress), Arc::clone(&progress));
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || serve(&helper, &queue, &at_work))
            .map_err(StoreError::io("start a thread for", path))?;
        let (wake, mut woken_at) = (requests.clone(), 0);
        conn.wal_hook(Some(move |wal: &mut Wal, pages| {
            if pages < woken_at {
                woken_at = 0;
                woken.copied.store(0, Ordering::Relaxed);
            }
            if woken.leaves_rest_to_append(pages) {
                let begun = Instant::now();
                // The commit is done; if the checkpoint fails, the next commit tries again.
                let _ = wal.checkpoint();
                let took_ms = begun.elapsed().as_secs_f64() * 1e3;
                tracing::debug!(pages, took_ms, "an append copied the write-ahead log itself");
            } else if pages - woken_at >= CHECKPOINT_PAGES {
                woken_at = pages;
                woken.busy.store(true, Ordering::Relaxed);
                // If the queue is full, the thread is awake already.
                if let Err(TrySendError::Disconnected(_)) = wake.try_send(CheckpointRequest::Copy) {
                    woken.busy.store(false, Ordering::Relaxed);
                }
            }
            Ok(())
        }))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), emptying: None, progress })
    }

    pub(super) fn is_busy(&self) -> bool {
        self.progress.busy.load(Ordering::Relaxed)
    }

    /// Asks the thread to empty the write-ahead log. Call it until it returns true.
    pub(super) fn has_emptied(&mut self) -> bool {
        let Some(requests) = &self.requests else { return true };
        let Some(done) = &self.emptying else {
            let (answer, done) = sync_channel(1);
            return match requests.try_send(CheckpointRequest::Empty(answer)) {
                Ok(()) => {
                    self.emptying = Some(done);
                    false
                }
                Err(TrySendError::Full(_)) => false,
                Err(TrySendError::Disconnected(_)) => true,
            };
        };
        let over = !matches!(done.try_recv(), Err(TryRecvError::Empty));
        if over {
            self.emptying = None;
        }
        over
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // An error means that it panicked, and then there is nothing to wait for.
            let _ = thread.join();
        }
    }
}

fn serve(conn: &Connection, requests: &Receiver<CheckpointRequest>, progress: &Progress) {
    while let Ok(request) = requests.recv() {
        progress.copied.store(checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)"), Ordering::Relaxed);
        if progress.copied.load(Ordering::Relaxed) >= WAL_PAGES_MAX - CHECKPOINT_PAGES {
            // Copies what was appended meanwhile, so that few pages are left for an append.
            progress.copied.store(checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)"), Ordering::Relaxed);
        }
        if let CheckpointRequest::Empty(answer) = request {
            // Appends wait for this, but there is hardly anything left to copy.
            checkpoint(conn, "PRAGMA wal_checkpoint(TRUNCATE)");
            // The requester may have stopped waiting.
            let _ = answer.send(());
        }
        progress.busy.store(false, Ordering::Relaxed);
    }
}

/// Returns how many pages of the write-ahead log have been copied.
fn checkpoint(conn: &Connection, how: &str) -> i32 {
    let copied = conn.query_row(how, [], |row| row.get(2));
    copied.unwrap_or_else(|error| {
        tracing::warn!(%error, "the write-ahead log could not be copied into the database; it is tried again later");
        0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_append_copies_only_a_short_rest_itself_unless_the_log_is_far_too_long() {
        let progress =
            |copied, busy| Progress { busy: AtomicBool::new(busy), copied: AtomicI32::new(copied) };
        let nearly_done = WAL_PAGES_MAX - 10;
        assert!(!progress(nearly_done - 20, false).leaves_rest_to_append(nearly_done));
        assert!(progress(nearly_done, false).leaves_rest_to_append(WAL_PAGES_MAX));
        assert!(!progress(nearly_done, true).leaves_rest_to_append(WAL_PAGES_MAX), "the thread copies");
        assert!(!progress(0, false).leaves_rest_to_append(WAL_PAGES_MAX), "the thread is behind");
        assert!(progress(0, true).leaves_rest_to_append(WAL_PAGES_TOP));
    }
}
