//! Takes spooled events into the log: in order, each exactly once, and out of the spool only after the commit.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;
use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::clock;
use crate::inlet::frame::Frame;
use crate::inlet::spool::{self, Bounds, SpoolFile};
use crate::server::App;

/// Files read at once: one transaction for them.
const CHUNK_FILES_MAX: usize = 256;
/// Bytes read at once, so that a spool of large events does not fill the memory.
const CHUNK_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A hook writes its file in several steps; reading waits until they are likely done.
const SETTLE: Duration = Duration::from_millis(100);
/// What the store refused is tried again after this: a disk that is full stays so for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How often the spool is looked at where the system has no watch to give.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What became of the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    Empty,
    /// Something waits on: the store, or the disk, refused.
    Waiting,
}

/// Everything that waits now. Stops at the first event that cannot be stored: the order must hold.
pub async fn drain(app: &App, dir: &Path) -> Drained {
    drain_at(app, dir, clock::now()).await
}

pub(crate) async fn drain_at(app: &App, dir: &Path, now: Timestamp) -> Drained {
    let spool = dir.to_owned();
    let mut listed = on_disk(move || {
        if let Err(error) = spool::enforce_bounds(&spool, now, Bounds::default()) {
            tracing::debug!(%error, "the spool could not be bounded");
        }
        list(&spool)
    })
    .await;
    loop {
        match take_in(app, listed).await {
            // What came meanwhile.
            Ok(1..) => {
                let spool = dir.to_owned();
                listed = on_disk(move || list(&spool)).await;
            }
            Ok(0) => return Drained::Empty,
            Err(()) => return Drained::Waiting,
        }
    }
}

/// One listing, a chunk at a time: a full spool takes a while to list. Says how many events it held, or that some wait on.
async fn take_in(app: &App, mut listed: Listed) -> Result<usize, ()> {
    let mut all = 0;
    while listed.len() > 0 {
        let taken;
        (taken, listed) = on_disk(move || (read_chunk(&mut listed), listed)).await;
        let count = taken.records.len();
        if count > 0 {
            #[cfg(test)]
            crate::engine::planted::remove_too_early(&taken.files);
            if let Err(error) = app.engine.append(taken.records).await {
                tracing::error!(%error, "spooled events wait on");
                return Err(());
            }
            app.health.metrics.spooled.fetch_add(count as u64, Ordering::Relaxed);
            if let Some(error) = on_disk(move || spool::remove(&taken.files).err()).await {
                // They stay and come again; their ids are known by then, so nothing is applied twice.
                tracing::error!(%error, "spooled events are stored but cannot be removed");
                return Err(());
            }
            tracing::info!(events = count, "events came from the spool");
            all += count;
        }
        if taken.broken_off {
            return Err(());
        }
    }
    Ok(all)
}

/// Files in the order they fired, those that were taken left out.
type Listed = std::vec::IntoIter<SpoolFile>;

fn list(dir: &Path) -> Listed {
    spool::list(dir).unwrap_or_default().into_iter()
}

/// Off the threads that serve others.
async fn on_disk<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if cfg!(test) {
        // A simulation has one thread, so that what it saw it can see again.
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

#[derive(Default)]
struct Chunk {
    files: Vec<SpoolFile>,
    records: Vec<Record>,
    /// A file could not be read now; those after it wait with it.
    broken_off: bool,
}

fn read_chunk(listed: &mut Listed) -> Chunk {
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
                Err(reason) => put_aside(&file, &reason),
            },
            Err(error) if error.is_poison() => put_aside(&file, &error.to_string()),
            // A hook that looked at the bounds dropped it since it was listed.
            Err(error) if error.is_gone() => {}
            Err(error) => {
                tracing::warn!(%error, "a spooled event cannot be read now");
                chunk.broken_off = true;
                break;
            }
        }
    }
    chunk
}

/// The id in the file's name counts where the frame lost it: removal and identity must agree.
fn record(frame: Frame, file: &SpoolFile) -> Result<Record, String> {
    let draft =
        HookDraft { name_in_path: None, payload: frame.args, env: frame.env, bytes: file.bytes as usize };
    draft.into_record(file.id).map_err(|e| e.to_string())
}

fn put_aside(file: &SpoolFile, reason: &str) {
    tracing::warn!(file = %file.path.display(), reason, "a spooled event is no event and was set aside");
    if let Err(error) = spool::set_aside(file) {
        tracing::error!(%error, "it cannot even be set aside");
    }
}

/// A hook that got no answer in time, or whose event the store refused, spools although the daemon runs: take that in as
/// well. No polling, except while something waits for the disk to recover.
pub async fn watch(app: App, dir: PathBuf) {
    let (hint, mut hints) = mpsc::channel(1);
    // Held here too, so that a watch that cannot be made does not end the hints.
    let _hint = hint.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|e| e.kind.is_create() || e.kind.is_modify()) {
            // One hint is enough: whoever wakes up looks at everything.
            let _ = hint.try_send(());
        }
    });
    let watched = watcher.and_then(|mut watcher| {
        watcher.watch(&dir, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    if let Err(error) = &watched {
        let every = LOOK_EVERY.as_secs();
        let sentence =
            format!("the spool cannot be watched ({error}); it is looked at every {every} s instead");
        tracing::error!("{sentence}");
        app.health.trouble("spool", sentence);
    }
    // What came after the last look and before the watch began.
    let mut left = drain(&app, &dir).await;
    loop {
        let look_after = match left {
            Drained::Waiting => Some(RETRY_AFTER),
            Drained::Empty => watched.is_err().then_some(LOOK_EVERY),
        };
        // A hint or the time: either way everything is looked at.
        match look_after {
            Some(time) => drop(tokio::time::timeout(time, hints.recv()).await),
            None => drop(hints.recv().await),
        }
        tokio::time::sleep(SETTLE).await;
        while hints.try_recv().is_ok() {}
        left = drain(&app, &dir).await;
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::record::EventId;

    use super::*;

    #[test]
    fn one_listing_is_walked_in_chunks_and_what_has_gone_meanwhile_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let event = r#"{"cmd":"hook","args":{"session_id":"s","hook_event_name":"Stop"},"env":{}}"#;
        for n in 1..=300 {
            std::fs::write(dir.path().join(spool::file_name(n, EventId(n.into()))), event).unwrap();
        }
        let mut listed = list(dir.path());
        std::fs::remove_file(dir.path().join(spool::file_name(2, EventId(2)))).unwrap();
        std::fs::write(dir.path().join(spool::file_name(3, EventId(3))), "nonsense").unwrap();
        let walk = |listed: &mut Listed| {
            let chunk = read_chunk(listed);
            (chunk.files.len(), chunk.files.first().map(|f| f.fired_ns), chunk.broken_off)
        };
        assert_eq!(walk(&mut listed), (256, Some(1), false));
        assert_eq!(walk(&mut listed), (42, Some(259), false));
        assert_eq!(walk(&mut listed), (0, None, false));
    }
}
