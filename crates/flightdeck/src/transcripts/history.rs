//! Indexes every transcript that is not followed: in the background, the smallest first, from the stored read positions.
//!
//! One pass runs at start, and one when usage is requested after a file changed. Between them nothing runs.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flightdeck_core::usage::totals::Indexing;
use tokio::sync::{Notify, watch};

use super::fast_scan::FastScan;
use super::follow::WatchList;
use super::line_reader::{LineReader, ReadOutcome, ReadPosition};
use super::locate::{ListedTranscript, list};
use super::standalone_scan::empty_session;
use crate::store::{FileRead, Store, StoreError, TranscriptBatch};

/// Bytes read between two commits: a pause takes effect within a fraction of a second, and memory stays bounded.
const CHUNK_BYTES: u64 = 16 * 1024 * 1024;
/// Files read between two commits.
const CHUNK_FILES: usize = 256;
/// How often a paused reader checks whether it may continue.
const PAUSE_CHECK_EVERY: Duration = Duration::from_millis(500);

/// Controls the history reader and shows its progress.
#[derive(Debug)]
pub struct History {
    files_total: AtomicU64,
    files_left: AtomicU64,
    bytes_left: AtomicU64,
    bytes_read: AtomicU64,
    paused: AtomicBool,
    /// A file may have changed since the last pass began.
    unread: AtomicBool,
    /// The first pass has ended.
    first_pass_done: AtomicBool,
    /// How many passes were requested.
    requested: AtomicU64,
    wake: Notify,
    /// Requests up to this number are served: a pass that began after them has ended.
    served: watch::Sender<u64>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            files_total: AtomicU64::default(),
            files_left: AtomicU64::default(),
            bytes_left: AtomicU64::default(),
            bytes_read: AtomicU64::default(),
            paused: AtomicBool::default(),
            unread: AtomicBool::new(true),
            first_pass_done: AtomicBool::new(false),
            requested: AtomicU64::default(),
            wake: Notify::default(),
            served: watch::channel(0).0,
        }
    }
}

impl History {
    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    pub fn progress(&self) -> Indexing {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Indexing {
            files_total: read(&self.files_total),
            files_left: read(&self.files_left),
            bytes_left: read(&self.bytes_left),
            bytes_read: read(&self.bytes_read),
            paused: self.paused.load(Ordering::Relaxed),
        }
    }

    pub fn files_left(&self) -> u64 {
        self.files_left.load(Ordering::Relaxed)
    }

    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// A transcript changed that is not followed.
    pub fn mark_unread(&self) {
        self.unread.store(true, Ordering::Release);
    }

    /// As [`Self::refresh`], but only if a file changed: a page that asks every minute must not list the disk every minute.
    pub async fn refresh_if_unread(&self, at_most: Duration) {
        // Until the first pass has ended, the amount of work is not known.
        if self.unread.load(Ordering::Acquire) || !self.first_pass_done.load(Ordering::Acquire) {
            self.refresh(at_most).await;
        }
    }

    /// Lists the disk again and reads new lines. Waits at most this long; the rest continues in the background.
    pub async fn refresh(&self, at_most: Duration) {
        if self.paused.load(Ordering::Relaxed) {
            return;
        }
        let mut served = self.served.subscribe();
        let mine = self.requested.fetch_add(1, Ordering::AcqRel) + 1;
        self.wake.notify_one();
        // A timeout is fine: the report says how much is missing.
        let _ = tokio::time::timeout(at_most, served.wait_for(|upto| *upto >= mine)).await;
    }

    /// A request waits: no pause between chunks.
    fn has_waiting_request(&self) -> bool {
        self.requested.load(Ordering::Acquire) > *self.served.borrow()
    }
}

/// Reads until the daemon stops.
pub async fn index(history: Arc<History>, projects: PathBuf, store: Store, watch_list: WatchList) {
    loop {
        let requested = history.requested.load(Ordering::Acquire);
        history.unread.store(false, Ordering::Release);
        if let Err(error) = index_pass(&history, &projects, &store, &watch_list).await {
            tracing::warn!(%error, "could not index all transcripts; the next pass continues");
        }
        history.first_pass_done.store(true, Ordering::Release);
        history.served.send_replace(requested);
        history.wake.notified().await;
    }
}

/// A file with new content.
#[derive(Debug)]
struct UnreadTranscript {
    file: ListedTranscript,
    from: ReadPosition,
}

async fn index_pass(
    history: &History,
    projects: &Path,
    store: &Store,
    watch_list: &WatchList,
) -> anyhow::Result<()> {
    let read = store.transcript_files().await?;
    let folder = projects.to_owned();
    let watch_list = watch_list.clone();
    let (total, work) = tokio::task::spawn_blocking(move || {
        let files = list(&folder);
        (files.len(), unread_files(files, read, &watch_list))
    })
    .await?;
    history.files_total.store(total as u64, Ordering::Relaxed);
    let mut work = VecDeque::from(work);
    loop {
        let bytes: u64 = work.iter().map(|w| w.file.bytes.saturating_sub(w.from.read_to)).sum();
        history.files_left.store(work.len() as u64, Ordering::Relaxed);
        history.bytes_left.store(bytes, Ordering::Relaxed);
        if work.is_empty() {
            return Ok(());
        }
        while history.paused.load(Ordering::Relaxed) {
            tokio::time::sleep(PAUSE_CHECK_EVERY).await;
        }
        let began = Instant::now();
        let (rest, batches, bytes) = tokio::task::spawn_blocking(move || read_chunk(work)).await?;
        work = rest;
        history.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        store_batches(store, batches).await?;
        if !history.has_waiting_request() {
            // Uses at most half of one processor.
            tokio::time::sleep(began.elapsed()).await;
        }
    }
}

/// Stores in steps, so that an event never waits for all batches.
async fn store_batches(store: &Store, batches: Vec<TranscriptBatch>) -> Result<(), StoreError> {
    let mut step = Vec::new();
    let mut rows = 0;
    for batch in batches {
        rows += batch.counted.len() + 1;
        step.push(batch);
        if rows >= 500 {
            rows = 0;
            store.put_transcripts(std::mem::take(&mut step)).await?;
        }
    }
    store.put_transcripts(step).await
}

fn unread_files(
    files: Vec<ListedTranscript>,
    read: Vec<FileRead>,
    watch_list: &WatchList,
) -> Vec<UnreadTranscript> {
    let read: HashMap<_, _> = read.into_iter().map(|f| (f.path.clone(), f)).collect();
    let mut work: Vec<_> = files
        .into_iter()
        .filter_map(|file| {
            let known = file.transcript.path.to_str().and_then(|p| read.get(p));
            let from = known.map_or(ReadPosition::default(), |f| ReadPosition {
                dev: f.dev,
                inode: f.inode,
                read_to: f.read_to,
                mark: f.mark,
            });
            let same =
                known.is_some_and(|f| (f.dev, f.inode, f.read_to) == (file.dev, file.inode, file.bytes));
            (!same && !watch_list.follows_file(&file.transcript)).then_some(UnreadTranscript { file, from })
        })
        .collect();
    // Among files of about the same size the newest come first: a person asks about recent work.
    let cheapest = |w: &UnreadTranscript| w.file.bytes.saturating_sub(w.from.read_to).max(1).ilog2() / 3;
    work.sort_by(|a, b| (cheapest(a), b.file.changed_at).cmp(&(cheapest(b), a.file.changed_at)));
    work
}

/// Reads a chunk. Returns the work that is left, the batches, and the number of bytes read.
fn read_chunk(
    mut work: VecDeque<UnreadTranscript>,
) -> (VecDeque<UnreadTranscript>, Vec<TranscriptBatch>, u64) {
    let mut reader = LineReader::default();
    let (mut batches, mut bytes) = (Vec::new(), 0);
    for _ in 0..CHUNK_FILES {
        if bytes >= CHUNK_BYTES {
            break;
        }
        let Some(next) = work.pop_front() else { break };
        match read_file(&mut reader, &next) {
            Ok(Some(FileStep { batch, place, more })) => {
                bytes += place.read_to.saturating_sub(if batch.anew { 0 } else { next.from.read_to });
                if more {
                    work.push_front(UnreadTranscript { from: place, ..next });
                }
                batches.push(batch);
            }
            Ok(None) => {}
            Err(error) => {
                let path = next.file.transcript.path.display().to_string();
                tracing::debug!(%error, path, "could not read a transcript; the next pass tries again");
            }
        }
    }
    (work, batches, bytes)
}

/// The result of one step in a file.
struct FileStep {
    batch: TranscriptBatch,
    place: ReadPosition,
    /// Reading stopped at the chunk size, and the file has more.
    more: bool,
}

fn read_file(reader: &mut LineReader, work: &UnreadTranscript) -> std::io::Result<Option<FileStep>> {
    let mut found = FastScan::default();
    let lines = std::cell::Cell::new(0_u64);
    let each = |line: &[u8]| {
        lines.set(lines.get() + line.len() as u64 + 1);
        found.read_line(line);
    };
    let path = &work.file.transcript.path;
    match reader.read_new_lines(path, work.from, each, || lines.get() >= CHUNK_BYTES)? {
        ReadOutcome::Gone => Ok(None),
        ReadOutcome::Replaced => read_session_again(reader, work),
        ReadOutcome::Read(place) if place == work.from => Ok(None),
        ReadOutcome::Read(place) => {
            let batch = batch(&work.file, &found, place, false);
            Ok(Some(FileStep { batch, place, more: lines.get() >= CHUNK_BYTES }))
        }
    }
}

/// A file was replaced: everything counted for its session is dropped, and all its files are read from the beginning.
fn read_session_again(reader: &mut LineReader, work: &UnreadTranscript) -> std::io::Result<Option<FileStep>> {
    let transcript = &work.file.transcript;
    let slug =
        transcript.path.ancestors().find(|a| a.join(format!("{}.jsonl", transcript.session_id)).exists());
    let siblings = slug.map(|slug| slug.join(format!("{}.jsonl", transcript.session_id)));
    let main = siblings.as_deref().map(super::locate::stat_transcript).transpose()?.flatten();
    let agents = siblings.as_deref().map(|m| list(&super::locate::subagents_folder(m))).unwrap_or_default();
    let mut all: Option<FileStep> = None;
    let mut files: Vec<_> = main.into_iter().chain(agents).collect();
    if files.iter().all(|f| f.transcript.path != transcript.path) {
        files.push(work.file.clone());
    }
    for file in files {
        let mut found = FastScan::default();
        let read = reader.read_new_lines(
            &file.transcript.path,
            ReadPosition::default(),
            |l| found.read_line(l),
            || false,
        )?;
        let ReadOutcome::Read(place) = read else { continue };
        let new = batch(&file, &found, place, true);
        match &mut all {
            None => all = Some(FileStep { batch: new, place, more: false }),
            Some(FileStep { batch: all, .. }) => {
                all.session.merge(&found, file.born_at, file.transcript.agent.is_empty());
                all.files.extend(new.files);
                all.counted.extend(new.counted);
            }
        }
    }
    Ok(all)
}

fn batch(file: &ListedTranscript, found: &FastScan, place: ReadPosition, anew: bool) -> TranscriptBatch {
    let t = &file.transcript;
    let mut session = empty_session(&t.session_id);
    session.merge(found, file.born_at, t.agent.is_empty());
    TranscriptBatch {
        anew,
        session,
        files: vec![FileRead {
            path: t.path.to_str().unwrap_or_default().to_owned(),
            session_id: t.session_id.clone(),
            agent: t.agent.clone(),
            dev: place.dev,
            inode: place.inode,
            read_to: place.read_to,
            mark: place.mark,
        }],
        known: None,
        counted: found.counted(&t.agent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_read_to_its_end_in_the_same_pass() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = "x".repeat(256 * 1024) + "\n";
        std::fs::write(&path, line.repeat(CHUNK_BYTES as usize / line.len() + 2)).unwrap();
        let file = crate::transcripts::locate::stat_transcript(&path).unwrap().unwrap();
        let size = file.bytes;
        let work = VecDeque::from([UnreadTranscript { file, from: ReadPosition::default() }]);
        let (rest, _, first) = read_chunk(work);
        assert_eq!(rest.len(), 1, "{first} of {size} bytes were read");
        let (rest, _, second) = read_chunk(rest);
        assert_eq!((rest.len(), first + second), (0, size));
    }
}
