//! Reads every transcript that no live session owns: in the background, the cheapest first, and remembers how far.
//!
//! One pass at start and one when somebody asks for usage after something was written; between them nothing runs.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flightdeck_core::usage::Indexing;
use tokio::sync::{Notify, watch};

use super::direct::unknown;
use super::file::{Found, Place, Reader};
use super::follow::Tail;
use super::gather::Gathered;
use super::names::{Listed, list};
use crate::store::{FileRead, Store, StoreError, TranscriptBatch};

/// Bytes read between two commits: a pause is heard within a fraction of a second, and memory stays bounded.
const CHUNK_BYTES: u64 = 16 * 1024 * 1024;
/// Files read between two commits.
const CHUNK_FILES: usize = 256;
/// How often a paused reader looks whether it may go on.
const PAUSE_LOOK: Duration = Duration::from_millis(500);

/// The reader of history, as others see it.
#[derive(Debug)]
pub struct History {
    files_total: AtomicU64,
    files_left: AtomicU64,
    bytes_left: AtomicU64,
    bytes_read: AtomicU64,
    paused: AtomicBool,
    /// Something may have been written that no pass has seen.
    unread: AtomicBool,
    /// The first look at the disk is over.
    looked: AtomicBool,
    /// How often somebody asked for a look at the disk.
    asked: AtomicU64,
    wake: Notify,
    /// Everybody up to this one has been answered: by a look that began after they asked.
    answered: watch::Sender<u64>,
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
            looked: AtomicBool::new(false),
            asked: AtomicU64::default(),
            wake: Notify::default(),
            answered: watch::channel(0).0,
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

    /// A transcript changed that nobody follows.
    pub fn heard(&self) {
        self.unread.store(true, Ordering::Release);
    }

    /// As [`Self::refresh`], where something was heard: a page that asks every minute must not list the disk every minute.
    pub async fn refresh_if_heard(&self, at_most: Duration) {
        // Before the first look is over nobody knows how much there is.
        if self.unread.load(Ordering::Acquire) || !self.looked.load(Ordering::Acquire) {
            self.refresh(at_most).await;
        }
    }

    /// Looks at the disk again and reads what is new, for at most this long; the rest goes on in the background.
    pub async fn refresh(&self, at_most: Duration) {
        if self.paused.load(Ordering::Relaxed) {
            return;
        }
        let mut answered = self.answered.subscribe();
        let mine = self.asked.fetch_add(1, Ordering::AcqRel) + 1;
        self.wake.notify_one();
        // Late is fine: the report says how much is missing.
        let _ = tokio::time::timeout(at_most, answered.wait_for(|upto| *upto >= mine)).await;
    }

    /// Somebody waits: no rest between chunks.
    fn is_hurried(&self) -> bool {
        self.asked.load(Ordering::Acquire) > *self.answered.borrow()
    }
}

/// Reads until the daemon stops.
pub async fn index(history: Arc<History>, projects: PathBuf, store: Store, tail: Tail) {
    loop {
        let asked = history.asked.load(Ordering::Acquire);
        history.unread.store(false, Ordering::Release);
        if let Err(error) = pass(&history, &projects, &store, &tail).await {
            tracing::warn!(%error, "history could not be read to its end; it goes on at the next look");
        }
        history.looked.store(true, Ordering::Release);
        history.answered.send_replace(asked);
        history.wake.notified().await;
    }
}

/// A file with something new in it.
#[derive(Debug)]
struct Work {
    file: Listed,
    from: Place,
}

async fn pass(history: &History, projects: &Path, store: &Store, tail: &Tail) -> anyhow::Result<()> {
    let read = store.transcript_files().await?;
    let folder = projects.to_owned();
    let tail = tail.clone();
    let (total, work) = tokio::task::spawn_blocking(move || {
        let files = list(&folder);
        (files.len(), what_is_new(files, read, &tail))
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
            tokio::time::sleep(PAUSE_LOOK).await;
        }
        let began = Instant::now();
        let (rest, batches, bytes) = tokio::task::spawn_blocking(move || read_chunk(work)).await?;
        work = rest;
        history.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        put(store, batches).await?;
        if !history.is_hurried() {
            // At most half of one processor.
            tokio::time::sleep(began.elapsed()).await;
        }
    }
}

/// In steps, so that an event never waits behind all of it.
async fn put(store: &Store, batches: Vec<TranscriptBatch>) -> Result<(), StoreError> {
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

fn what_is_new(files: Vec<Listed>, read: Vec<FileRead>, tail: &Tail) -> Vec<Work> {
    let read: HashMap<_, _> = read.into_iter().map(|f| (f.path.clone(), f)).collect();
    let mut work: Vec<_> = files
        .into_iter()
        .filter_map(|file| {
            let known = file.transcript.path.to_str().and_then(|p| read.get(p));
            let from = known.map_or(Place::default(), |f| Place {
                dev: f.dev,
                inode: f.inode,
                read_to: f.read_to,
                mark: f.mark,
            });
            let same =
                known.is_some_and(|f| (f.dev, f.inode, f.read_to) == (file.dev, file.inode, file.bytes));
            (!same && !tail.follows_file(&file.transcript)).then_some(Work { file, from })
        })
        .collect();
    // Of about the same size, the newest first: that is what a person asks about.
    let cheapest = |w: &Work| w.file.bytes.saturating_sub(w.from.read_to).max(1).ilog2() / 3;
    work.sort_by(|a, b| (cheapest(a), b.file.changed_at).cmp(&(cheapest(b), a.file.changed_at)));
    work
}

/// A chunk of the work, what is left of it, and how many bytes it was.
fn read_chunk(mut work: VecDeque<Work>) -> (VecDeque<Work>, Vec<TranscriptBatch>, u64) {
    let mut reader = Reader::default();
    let (mut batches, mut bytes) = (Vec::new(), 0);
    for _ in 0..CHUNK_FILES {
        if bytes >= CHUNK_BYTES {
            break;
        }
        let Some(next) = work.pop_front() else { break };
        match read_file(&mut reader, &next) {
            Ok(Some(Read { batch, place, more })) => {
                bytes += place.read_to.saturating_sub(if batch.anew { 0 } else { next.from.read_to });
                if more {
                    work.push_front(Work { from: place, ..next });
                }
                batches.push(batch);
            }
            Ok(None) => {}
            Err(error) => {
                let path = next.file.transcript.path.display().to_string();
                tracing::debug!(%error, path, "a transcript cannot be read now");
            }
        }
    }
    (work, batches, bytes)
}

/// What a step in one file found.
struct Read {
    batch: TranscriptBatch,
    place: Place,
    /// It stopped because it was enough for once.
    more: bool,
}

fn read_file(reader: &mut Reader, work: &Work) -> std::io::Result<Option<Read>> {
    let mut found = Gathered::default();
    let lines = std::cell::Cell::new(0_u64);
    let each = |line: &[u8]| {
        lines.set(lines.get() + line.len() as u64 + 1);
        found.take(line);
    };
    let path = &work.file.transcript.path;
    match reader.read_on(path, work.from, each, || lines.get() >= CHUNK_BYTES)? {
        Found::Gone => Ok(None),
        Found::Replaced => read_session_again(reader, work),
        Found::Read(place) if place == work.from => Ok(None),
        Found::Read(place) => {
            let batch = batch(&work.file, &found, place, false);
            Ok(Some(Read { batch, place, more: lines.get() >= CHUNK_BYTES }))
        }
    }
}

/// A file was written anew: what its session counted goes, and all its files are read from their beginning.
fn read_session_again(reader: &mut Reader, work: &Work) -> std::io::Result<Option<Read>> {
    let transcript = &work.file.transcript;
    let slug =
        transcript.path.ancestors().find(|a| a.join(format!("{}.jsonl", transcript.session_id)).exists());
    let siblings = slug.map(|slug| slug.join(format!("{}.jsonl", transcript.session_id)));
    let main = siblings.as_deref().map(super::names::look).transpose()?.flatten();
    let agents = siblings.as_deref().map(|m| list(&super::names::subagents_of(m))).unwrap_or_default();
    let mut all: Option<Read> = None;
    let mut files: Vec<_> = main.into_iter().chain(agents).collect();
    if files.iter().all(|f| f.transcript.path != transcript.path) {
        files.push(work.file.clone());
    }
    for file in files {
        let mut found = Gathered::default();
        let read = reader.read_on(&file.transcript.path, Place::default(), |l| found.take(l), || false)?;
        let Found::Read(place) = read else { continue };
        let new = batch(&file, &found, place, true);
        match &mut all {
            None => all = Some(Read { batch: new, place, more: false }),
            Some(Read { batch: all, .. }) => {
                all.session.merge(&found, file.born_at, file.transcript.agent.is_empty());
                all.files.extend(new.files);
                all.counted.extend(new.counted);
            }
        }
    }
    Ok(all)
}

fn batch(file: &Listed, found: &Gathered, place: Place, anew: bool) -> TranscriptBatch {
    let t = &file.transcript;
    let mut session = unknown(&t.session_id);
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
        let file = super::super::names::look(&path).unwrap().unwrap();
        let size = file.bytes;
        let work = VecDeque::from([Work { file, from: Place::default() }]);
        let (rest, _, first) = read_chunk(work);
        assert_eq!(rest.len(), 1, "{first} of {size} bytes were read");
        let (rest, _, second) = read_chunk(rest);
        assert_eq!((rest.len(), first + second), (0, size));
    }
}
