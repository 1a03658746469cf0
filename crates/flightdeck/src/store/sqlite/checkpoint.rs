//! Copies the write-ahead log into the file on a thread of its own: it waits for the disk so that no append has to.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::super::{Result, StoreError};

/// Pages (of 8 KiB) in the write-ahead log before the thread is woken, and between two calls.
const CHECKPOINT_PAGES: i32 = 500;
/// Pages in it before an append does the copying itself: the thread cannot empty it while appends never pause. Together
/// less than is kept of the file, so that it is written over and over in place and never cut.
const WAL_PAGES_MAX: i32 = 4000;
/// Wishes that may wait: a second one for the same thing is not needed.
const WISHES_WAITING_MAX: usize = 2;

#[derive(Debug)]
enum Wish {
    Copy,
    /// Also empty the write-ahead log, so that the file takes its real size. Answered when it is done.
    Empty(SyncSender<()>),
}

#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` only while it is dropped.
    wishes: Option<SyncSender<Wish>>,
    thread: Option<JoinHandle<()>>,
    emptying: Option<Receiver<()>>,
    /// It was woken and has not finished since.
    busy: Arc<AtomicBool>,
}

impl Checkpointer {
    /// Takes the place of SQLite's own checkpoints, which an append would run.
    pub(super) fn start(path: &Path, conn: &mut Connection, helper: Connection) -> Result<Self> {
        let (wishes, queue) = sync_channel(WISHES_WAITING_MAX);
        let busy = Arc::new(AtomicBool::new(false));
        let (at_work, woken) = (Arc::clone(&busy), Arc::clone(&busy));
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || serve(&helper, &queue, &at_work))
            .map_err(StoreError::io("start a thread for", path))?;
        let (wake, mut woken_at) = (wishes.clone(), 0);
        conn.wal_hook(Some(move |wal: &mut Wal, pages| {
            if pages < woken_at {
                woken_at = 0;
            }
            if pages >= WAL_PAGES_MAX {
                // The commit is done whatever becomes of this; the next one tries again.
                let _ = wal.checkpoint();
            } else if pages - woken_at >= CHECKPOINT_PAGES {
                woken_at = pages;
                woken.store(true, Ordering::Relaxed);
                // A full queue means that it is awake already.
                if let Err(TrySendError::Disconnected(_)) = wake.try_send(Wish::Copy) {
                    woken.store(false, Ordering::Relaxed);
                }
            }
            Ok(())
        }))?;
        Ok(Self { wishes: Some(wishes), thread: Some(thread), emptying: None, busy })
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Has the write-ahead log emptied; to be called again until it says that this is done.
    pub(super) fn has_emptied(&mut self) -> bool {
        let Some(wishes) = &self.wishes else { return true };
        let Some(done) = &self.emptying else {
            let (answer, done) = sync_channel(1);
            return match wishes.try_send(Wish::Empty(answer)) {
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
        self.wishes = None;
        if let Some(thread) = self.thread.take() {
            // It only ends early by a panic, and then there is nothing to wait for.
            let _ = thread.join();
        }
    }
}

fn serve(conn: &Connection, wishes: &Receiver<Wish>, busy: &AtomicBool) {
    while let Ok(wish) = wishes.recv() {
        checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)");
        if let Wish::Empty(answer) = wish {
            // Holds up appends, but there is next to nothing left to copy.
            checkpoint(conn, "PRAGMA wal_checkpoint(TRUNCATE)");
            // Who asked has stopped waiting.
            let _ = answer.send(());
        }
        busy.store(false, Ordering::Relaxed);
    }
}

fn checkpoint(conn: &Connection, how: &str) {
    if let Err(error) = conn.query_row(how, [], |_| Ok(())) {
        tracing::warn!(%error, "the write-ahead log could not be copied into the database; it stays until it can");
    }
}
