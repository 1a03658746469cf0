//! Copies the write-ahead log into the file on its own thread, so that appends do not wait for the disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::super::{Result, StoreError};

/// The thread is woken each time the write-ahead log has grown by this many pages (of 8 KiB).
const CHECKPOINT_PAGES: i32 = 500;
/// With this many pages an append copies them itself: the thread cannot empty the log while appends never pause. Less than
/// is kept of the log's file, so that the file is overwritten in place and never truncated.
const WAL_PAGES_MAX: i32 = 4000;
/// Requests that may wait: a second request for the same work is not needed.
const REQUESTS_WAITING_MAX: usize = 2;

#[derive(Debug)]
enum Request {
    Copy,
    /// Also empty the write-ahead log, so that the file shrinks. Answered when it is done.
    Empty(SyncSender<()>),
}

#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` only while it is dropped.
    requests: Option<SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
    emptying: Option<Receiver<()>>,
    /// It was woken and has not finished.
    busy: Arc<AtomicBool>,
}

impl Checkpointer {
    /// Replaces SQLite's own checkpoints, which would run within an append.
    pub(super) fn start(path: &Path, conn: &mut Connection, helper: Connection) -> Result<Self> {
        let (requests, queue) = sync_channel(REQUESTS_WAITING_MAX);
        let busy = Arc::new(AtomicBool::new(false));
        let (at_work, woken) = (Arc::clone(&busy), Arc::clone(&busy));
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || serve(&helper, &queue, &at_work))
            .map_err(StoreError::io("start a thread for", path))?;
        let (wake, mut woken_at) = (requests.clone(), 0);
        conn.wal_hook(Some(move |wal: &mut Wal, pages| {
            if pages < woken_at {
                woken_at = 0;
            }
            if pages >= WAL_PAGES_MAX {
                // The commit is done; if the checkpoint fails, the next commit tries again.
                let _ = wal.checkpoint();
            } else if pages - woken_at >= CHECKPOINT_PAGES {
                woken_at = pages;
                woken.store(true, Ordering::Relaxed);
                // If the queue is full, the thread is awake already.
                if let Err(TrySendError::Disconnected(_)) = wake.try_send(Request::Copy) {
                    woken.store(false, Ordering::Relaxed);
                }
            }
            Ok(())
        }))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), emptying: None, busy })
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Asks the thread to empty the write-ahead log. Call it until it returns true.
    pub(super) fn has_emptied(&mut self) -> bool {
        let Some(requests) = &self.requests else { return true };
        let Some(done) = &self.emptying else {
            let (answer, done) = sync_channel(1);
            return match requests.try_send(Request::Empty(answer)) {
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

fn serve(conn: &Connection, requests: &Receiver<Request>, busy: &AtomicBool) {
    while let Ok(request) = requests.recv() {
        checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)");
        if let Request::Empty(answer) = request {
            // Appends wait for this, but there is hardly anything left to copy.
            checkpoint(conn, "PRAGMA wal_checkpoint(TRUNCATE)");
            // The requester may have stopped waiting.
            let _ = answer.send(());
        }
        busy.store(false, Ordering::Relaxed);
    }
}

fn checkpoint(conn: &Connection, how: &str) {
    if let Err(error) = conn.query_row(how, [], |_| Ok(())) {
        tracing::warn!(%error, "the write-ahead log could not be copied into the database; it is tried again later");
    }
}
