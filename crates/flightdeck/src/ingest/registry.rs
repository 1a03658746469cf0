//! Watches the client's registry of live sessions, `<config dir>/sessions/<pid>.json`. Opens no other file there: beside each
//! entry there is a key.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flightdeck_core::log::from_registry;
use flightdeck_core::log::record::Record;
use flightdeck_core::wire::lenient::{text, whole_number};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::clock;
use crate::ingest::Sink;
use crate::ingest::pane_discovery::{self, DiscoveredPlace};
use crate::process;
use crate::terminal::tmux::TmuxProgram;

/// An entry is a few hundred bytes; a larger file is not an entry.
const ENTRY_BYTES_MAX: u64 = 64 * 1024;
/// Most hints that wait; if there are more, the whole folder is read once.
const HINTS_WAITING_MAX: usize = 256;
/// When to retry after the store refused: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How often the folder is read if it cannot be watched.
const POLL_EVERY: Duration = Duration::from_secs(5);
/// The name of this source in the health report.
const REGISTRY: &str = "registry";

/// Runs until the daemon stops. If the folder does not exist, waits until it appears.
pub async fn watch(sink: Sink, config_dir: PathBuf) {
    let folder = config_dir.join("sessions");
    let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
    let missed = Arc::new(AtomicBool::new(false));
    let mut watcher = watcher(hint, Arc::clone(&missed));
    let mut reader =
        RegistryReader { sink, folder, hints, missed, entries: EntriesByFile::new(), places: Places::new() };
    loop {
        let watched = watcher.as_mut().ok().and_then(|watcher| watch_nearest(watcher, &reader.folder));
        reader.report_health(watched.is_some());
        match watched {
            Some(watched) => reader.follow(&watched).await,
            None => {
                reader.read_all().await;
                tokio::time::sleep(POLL_EVERY).await;
            }
        }
    }
}

/// `missed` is set if a hint was lost: then the whole folder must be read.
fn watcher(hint: mpsc::Sender<PathBuf>, missed: Arc<AtomicBool>) -> notify::Result<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let lost = event.as_ref().map_or(true, notify::Event::need_rescan);
        let event = event.unwrap_or_default();
        if event.kind.is_access() && !is_close_write(&event.kind) {
            return;
        }
        missed.fetch_or(lost, Ordering::AcqRel);
        // An empty path wakes the reader if the event has no path.
        let wake = lost.then(PathBuf::new);
        for path in event.paths.into_iter().chain(wake) {
            if hint.try_send(path).is_err() {
                missed.store(true, Ordering::Release);
            }
        }
    });
    made.inspect_err(|error| tracing::error!(%error, "cannot watch the client's registry; it is read every few seconds instead"))
}

fn is_close_write(kind: &notify::EventKind) -> bool {
    use notify::event::{AccessKind, AccessMode};
    matches!(kind, notify::EventKind::Access(AccessKind::Close(AccessMode::Write)))
}

/// Watches the folder, or its nearest parent if it does not exist. Returns the folder that is watched.
fn watch_nearest(watcher: &mut RecommendedWatcher, folder: &Path) -> Option<PathBuf> {
    let mut watch = |dir: &Path| dir.is_dir() && watcher.watch(dir, RecursiveMode::NonRecursive).is_ok();
    let nearest = folder.ancestors().find(|dir| watch(dir))?;
    // The folder may have appeared meanwhile, and changes inside it are not visible from its parent.
    let appeared = nearest != folder && folder.is_dir();
    if appeared { watch(folder).then(|| folder.to_owned()) } else { Some(nearest.to_owned()) }
}

/// The entry of each registry file that was last sent to the engine.
type EntriesByFile = BTreeMap<PathBuf, Map<String, Value>>;
/// The place of the process in each file, by its pid and start time: a process does not move to another terminal.
type Places = BTreeMap<PathBuf, ((u32, Option<String>), DiscoveredPlace)>;

struct RegistryReader {
    sink: Sink,
    folder: PathBuf,
    hints: mpsc::Receiver<PathBuf>,
    missed: Arc<AtomicBool>,
    entries: EntriesByFile,
    places: Places,
}

impl RegistryReader {
    fn report_health(&self, watching: bool) {
        let health = &self.sink.health;
        if watching {
            return health.clear_problem(REGISTRY);
        }
        let every = POLL_EVERY.as_secs();
        let folder = self.folder.display();
        let sentence = format!("{folder} cannot be watched; it is read every {every} s instead");
        health.report_problem(REGISTRY, sentence);
    }

    /// Reads changed entries until the folder or a parent of it appears or disappears.
    async fn follow(&mut self, watched: &Path) {
        let mut stored = self.read_all().await;
        loop {
            if self.missed.swap(false, Ordering::AcqRel) {
                stored = self.read_all().await;
            }
            let hint = match stored {
                true => self.hints.recv().await,
                false => match tokio::time::timeout(RETRY_AFTER, self.hints.recv()).await {
                    Ok(hint) => hint,
                    Err(_) => {
                        stored = self.read_all().await;
                        continue;
                    }
                },
            };
            // The watcher lives as long as this reader, so the channel never closes.
            let Some(path) = hint else { return std::future::pending().await };
            if path.starts_with(&self.folder) && path != self.folder {
                stored &= self.read_entry(&path).await;
            } else if watched != self.folder || path == self.folder {
                return;
            }
        }
    }

    /// Reads every entry. False if the store refused one, which must be tried again.
    async fn read_all(&mut self) -> bool {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut stored = true;
        for path in entries.map(|e| e.path()).collect::<Vec<_>>() {
            stored &= self.read_entry(&path).await;
        }
        stored
    }

    /// Reads one file. An entry of a live process that has changed is sent to the engine.
    async fn read_entry(&mut self, path: &Path) -> bool {
        if !is_entry(path) {
            return true;
        }
        let Some(mut record) = read(path) else {
            // Missing or incomplete. This never means that the session ended.
            return true;
        };
        if self.entries.get(path) == Some(&record.payload) {
            return true;
        }
        self.add_place(path, &mut record).await;
        let payload = record.payload.clone();
        if let Err(error) = self.sink.engine.append(vec![record]).await {
            tracing::warn!(%error, "could not store a change of the client's registry; it is tried again");
            return false;
        }
        self.entries.insert(path.to_owned(), payload);
        self.entries.retain(|known, _| known == path || known.exists());
        self.places.retain(|known, _| self.entries.contains_key(known));
        true
    }

    /// Adds the terminal and the tmux pane of the process. The fold uses them only where no hook has reported its own.
    async fn add_place(&mut self, path: &Path, record: &mut Record) {
        let envelope = &mut record.envelope;
        let Some(pid) = envelope.pid else { return };
        let process = (pid, envelope.proc_start.clone());
        let place = match self.places.get(path).filter(|(known, _)| *known == process) {
            Some((_, place)) => place.clone(),
            None => pane_discovery::discover(&TmuxProgram, pid).await,
        };
        envelope.tty.clone_from(&place.tty);
        envelope.tmux_socket.clone_from(&place.tmux_socket);
        envelope.pane.clone_from(&place.pane);
        self.places.insert(path.to_owned(), (process, place));
    }
}

/// Whether the file name is `<pid>.json`.
fn is_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.strip_suffix(".json").is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()))
}

fn read(path: &Path) -> Option<Record> {
    // Opening a pipe would block for ever, and a device has no end.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(ENTRY_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > ENTRY_BYTES_MAX {
        return None;
    }
    let entry: Map<String, Value> = serde_json::from_slice(&bytes).ok()?;
    let mut record = is_alive(&entry, process::start_time, process::exists)
        .then(|| from_registry::registry_record(&entry, clock::fresh_id()))??;
    // The process exists in this pid namespace.
    record.envelope.pid_ns = process::namespace();
    Some(record)
}

/// Whether the process of an entry still runs: pid *and* start time must match. Where start times are unknown, the pid alone
/// decides.
fn is_alive(
    entry: &Map<String, Value>,
    start_time: impl Fn(u32) -> Option<String>,
    exists: impl Fn(u32) -> bool,
) -> bool {
    let Some(pid) = whole_number(entry, "pid").and_then(|pid| u32::try_from(pid).ok()) else { return false };
    match (start_time(pid), text(entry, "procStart")) {
        (Some(now), Some(then)) => now == then,
        (Some(_), None) => true,
        (None, _) => exists(pid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_named_by_a_pid_are_opened() {
        let entry = |name: &str| is_entry(Path::new(name));
        assert!(entry("/c/sessions/4242.json"));
        for other in [
            "/c/sessions/4242.ab12.key",
            "/c/sessions/x.json",
            "/c/sessions/.json",
            "/c/sessions/4242.json.tmp",
        ] {
            assert!(!entry(other), "{other}");
        }
    }

    #[test]
    fn an_entry_of_a_process_that_ended_is_ignored() {
        let own = std::process::id();
        let start = process::start_time(own).unwrap_or_default();
        let entry = |pid: u32, start: &str| {
            Map::from_iter([("pid".into(), pid.into()), ("procStart".into(), start.into())])
        };
        let alive = |entry: &Map<String, Value>| is_alive(entry, process::start_time, process::exists);
        assert!(alive(&entry(own, &start)));
        assert!(!alive(&entry(own, "1")));
        assert!(!alive(&Map::new()));
        // Start times are unknown.
        for there in [true, false] {
            assert_eq!(is_alive(&entry(own, "1"), |_| None, |_| there), there);
        }
    }
}
