//! Stores spooled events: in order, each exactly once. Files are removed only after the commit.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;
use notify::{RecursiveMode, Watcher};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;

use crate::clock;
use crate::frame::EventFrame;
use crate::ingest::Sink;
use crate::ingest::spool::{self, SpoolBounds, SpoolFile};

/// Files of one chunk, which is one transaction.
const CHUNK_FILES_MAX: usize = 256;
/// Bytes of one chunk, so that a spool of large events does not fill the memory.
const CHUNK_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A hook writes its file in several steps; draining waits until they are likely done.
const DRAIN_AFTER: Duration = Duration::from_millis(100);
/// Pause before the next attempt if events could not be stored: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How often the spool is drained if it cannot be watched.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// The state of the spool after draining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    Empty,
    /// Some events are left, because they could not be read or stored.
    Waiting,
}

/// Stores all spooled events. Stops at the first one that cannot be stored, to keep the order.
pub async fn drain(sink: &Sink, dir: &Path) -> Drained {
    drain_at(sink, dir, clock::now()).await
}

/// As [`drain`]; `now` decides which events are too old to keep.
pub async fn drain_at(sink: &Sink, dir: &Path, now: Timestamp) -> Drained {
    let spool = dir.to_owned();
    let mut listed = run_blocking(move || {
        if let Err(error) =
            spool::enforce_bounds(&spool, now.as_millis().cast_unsigned(), SpoolBounds::default())
        {
            tracing::debug!(%error, "could not enforce the bounds of the spool; the next drain tries again");
        }
        list(&spool)
    })
    .await;
    loop {
        match store_listed(sink, listed).await {
            // More events may have been spooled meanwhile.
            Ok(1..) => {
                let spool = dir.to_owned();
                listed = run_blocking(move || list(&spool)).await;
            }
            Ok(0) => return Drained::Empty,
            Err(()) => return Drained::Waiting,
        }
    }
}

/// Stores all files of one listing, chunk by chunk. A new listing for each chunk would take too long if the spool is full.
/// Returns the number of stored events, or an error if some are left.
async fn store_listed(sink: &Sink, mut listed: ListedFiles) -> Result<usize, ()> {
    let mut all = 0;
    while listed.len() > 0 {
        let mut chunk;
        (chunk, listed) = run_blocking(move || (read_chunk(&mut listed), listed)).await;
        for record in &mut chunk.records {
            sink.hooks.prepare(record).await;
        }
        let count = chunk.records.len();
        if count > 0 {
            if let Err(error) = sink.engine.append(chunk.records).await {
                tracing::error!(%error, "could not store spooled events; they stay in the spool and are tried again");
                return Err(());
            }
            sink.health.metrics.spooled.fetch_add(count as u64, Ordering::Relaxed);
            if let Some(error) = run_blocking(move || spool::remove(&chunk.files).err()).await {
                // The files are drained again, but their ids are known, so no event is applied twice.
                tracing::error!(%error, "stored spooled events but could not remove their files; they are tried again");
                return Err(());
            }
            tracing::info!(events = count, "stored spooled events");
            all += count;
        }
        if chunk.stopped_early {
            return Err(());
        }
    }
    Ok(all)
}

/// The files that were not read yet, in the order in which their hooks fired.
type ListedFiles = std::vec::IntoIter<SpoolFile>;

fn list(dir: &Path) -> ListedFiles {
    spool::list(dir).unwrap_or_default().into_iter()
}

/// Runs blocking work outside the threads of the runtime.
async fn run_blocking<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    // A runtime with one thread (a simulation, which must run the same way each time) does the work in place.
    if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

#[derive(Default)]
struct Chunk {
    files: Vec<SpoolFile>,
    records: Vec<Record>,
    /// A file could not be read now. The files after it wait, to keep the order.
    stopped_early: bool,
}

fn read_chunk(listed: &mut ListedFiles) -> Chunk {
    let mut chunk = Chunk::default();
    let mut bytes = 0;
    while chunk.files.len() < CHUNK_FILES_MAX
        && bytes <= CHUNK_BYTES_MAX
        && let Some(file) = listed.next()
    {
        bytes += file.bytes;
        match spool::read(&file) {
            Ok(frame) => match record(frame, &file) {
                Ok(record) => {
                    chunk.records.push(record);
                    chunk.files.push(file);
                }
                Err(reason) => set_aside(&file, &reason),
            },
            Err(error) if error.is_poison() => set_aside(&file, &error.to_string()),
            // A hook has removed the file since it was listed, to keep the bounds of the spool.
            Err(error) if error.is_gone() => {}
            Err(error) => {
                tracing::warn!(%error, "could not read a spooled event; it is tried again");
                chunk.stopped_early = true;
                break;
            }
        }
    }
    chunk
}

/// The record of a frame. A frame without an id gets the id in the file's name, so that a file that is read twice is stored once.
fn record(frame: EventFrame, file: &SpoolFile) -> Result<Record, String> {
    let draft =
        HookDraft { name_in_path: None, payload: frame.args, env: frame.env, bytes: file.bytes as usize };
    draft.into_record(EventId(file.id)).map_err(|e| e.to_string())
}

fn set_aside(file: &SpoolFile, reason: &str) {
    tracing::warn!(file = %file.path.display(), reason, "a spool file contains no event; it is set aside");
    if let Err(error) = spool::set_aside(file) {
        tracing::error!(%error, "could not set the spool file aside; it is tried again");
    }
}

/// Drains the spool whenever a file appears. A hook also spools while the daemon runs, if it got no acknowledgement in time or
/// its event could not be stored. Polls only while events are left or if the spool cannot be watched.
pub async fn watch(sink: Sink, dir: PathBuf) {
    let (hint, mut hints) = mpsc::channel(1);
    // Keeps the channel open if the watcher cannot be created.
    let _hint = hint.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|e| e.kind.is_create() || e.kind.is_modify()) {
            // The channel may be full: one waiting hint is enough, because a drain reads everything.
            let _ = hint.try_send(());
        }
    });
    let watched = watcher.and_then(|mut watcher| {
        watcher.watch(&dir, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    if let Err(error) = &watched {
        let every = POLL_EVERY.as_secs();
        let sentence = format!("the spool cannot be watched ({error}); it is read every {every} s instead");
        tracing::error!("{sentence}");
        sink.health.report_problem("spool", sentence);
    }
    // Events may have been spooled before the watch began.
    let mut left = drain(&sink, &dir).await;
    loop {
        let retry_after = match left {
            Drained::Waiting => Some(RETRY_AFTER),
            Drained::Empty => watched.is_err().then_some(POLL_EVERY),
        };
        // Waits for a hint or for the retry time. The result does not matter, because a drain follows in both cases.
        match retry_after {
            Some(time) => drop(tokio::time::timeout(time, hints.recv()).await),
            None => drop(hints.recv().await),
        }
        tokio::time::sleep(DRAIN_AFTER).await;
        while hints.try_recv().is_ok() {}
        left = drain(&sink, &dir).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_in_chunks_and_files_that_are_gone_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let event = r#"{"cmd":"hook","args":{"session_id":"s","hook_event_name":"Stop"},"env":{}}"#;
        for n in 1..=300 {
            std::fs::write(dir.path().join(spool::file_name(n, EventId(n.into()))), event).unwrap();
        }
        let mut listed = list(dir.path());
        std::fs::remove_file(dir.path().join(spool::file_name(2, EventId(2)))).unwrap();
        std::fs::write(dir.path().join(spool::file_name(3, EventId(3))), "nonsense").unwrap();
        let walk = |listed: &mut ListedFiles| {
            let chunk = read_chunk(listed);
            (chunk.files.len(), chunk.files.first().map(|f| f.fired_ns), chunk.stopped_early)
        };
        assert_eq!(walk(&mut listed), (256, Some(1), false));
        assert_eq!(walk(&mut listed), (42, Some(259), false));
        assert_eq!(walk(&mut listed), (0, None, false));
    }
}
