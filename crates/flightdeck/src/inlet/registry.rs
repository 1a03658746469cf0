//! Watches the client's own list of live sessions, `<config dir>/sessions/<pid>.json`. Never opens anything else there:
//! beside each entry lies a key.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flightdeck_core::record::Record;
use flightdeck_core::wire::lenient::{text, whole};
use flightdeck_core::wire::registry;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::clock;
use crate::process;
use crate::server::App;

/// An entry is a few hundred bytes; whatever is larger is not one.
const ENTRY_BYTES_MAX: u64 = 64 * 1024;
/// Hints that may wait; more than that and the whole folder is read once.
const HINTS_WAITING_MAX: usize = 256;
/// What the store refused is tried again after this: a disk that is full stays so for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How often the folder is read where the system has no watch to give.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// What our trouble is filed under.
const REGISTRY: &str = "registry";

/// Runs for as long as the daemon does. Without the folder it waits for it to appear.
pub async fn watch(app: App, config_dir: PathBuf) {
    let folder = config_dir.join("sessions");
    let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
    let missed = Arc::new(AtomicBool::new(false));
    let mut watcher = watcher(hint, Arc::clone(&missed));
    let mut reader = Reader { app, folder, hints, missed, seen: Seen::new() };
    loop {
        let watched = watcher.as_mut().ok().and_then(|watcher| watch_nearest(watcher, &reader.folder));
        reader.say_whether(watched.is_some());
        match watched {
            Some(watched) => reader.follow(&watched).await,
            None => {
                reader.take_all().await;
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// `missed` is set where a hint was lost: then only the whole folder tells.
fn watcher(hint: mpsc::Sender<PathBuf>, missed: Arc<AtomicBool>) -> notify::Result<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let lost = event.as_ref().map_or(true, notify::Event::need_rescan);
        let event = event.unwrap_or_default();
        if event.kind.is_access() && !is_close_write(&event.kind) {
            return;
        }
        missed.fetch_or(lost, Ordering::AcqRel);
        // An empty path wakes the reader where nothing else does.
        let wake = lost.then(PathBuf::new);
        for path in event.paths.into_iter().chain(wake) {
            if hint.try_send(path).is_err() {
                missed.store(true, Ordering::Release);
            }
        }
    });
    made.inspect_err(|error| tracing::error!(%error, "the client's registry cannot be watched"))
}

fn is_close_write(kind: &notify::EventKind) -> bool {
    use notify::event::{AccessKind, AccessMode};
    matches!(kind, notify::EventKind::Access(AccessKind::Close(AccessMode::Write)))
}

/// Watches the folder, or the nearest one above it that exists, and says which.
fn watch_nearest(watcher: &mut RecommendedWatcher, folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|dir| dir.is_dir() && watcher.watch(dir, RecursiveMode::NonRecursive).is_ok())
        // From above one does not see what happens in it.
        .filter(|dir| *dir == folder || !folder.is_dir())
        .map(Path::to_owned)
}

type Seen = BTreeMap<PathBuf, Map<String, Value>>;

struct Reader {
    app: App,
    folder: PathBuf,
    hints: mpsc::Receiver<PathBuf>,
    missed: Arc<AtomicBool>,
    seen: Seen,
}

impl Reader {
    fn say_whether(&self, watching: bool) {
        let health = &self.app.health;
        if watching {
            return health.fine(REGISTRY);
        }
        let every = LOOK_EVERY.as_secs();
        let folder = self.folder.display();
        let sentence = format!("{folder} cannot be watched; it is read every {every} s instead");
        health.trouble(REGISTRY, sentence);
    }

    /// Takes in what changes, until the folder, or one on the way to it, came or went.
    async fn follow(&mut self, watched: &Path) {
        let mut stored = self.take_all().await;
        loop {
            if self.missed.swap(false, Ordering::AcqRel) {
                stored = self.take_all().await;
            }
            let hint = match stored {
                true => self.hints.recv().await,
                false => match tokio::time::timeout(RETRY_AFTER, self.hints.recv()).await {
                    Ok(hint) => hint,
                    Err(_) => {
                        stored = self.take_all().await;
                        continue;
                    }
                },
            };
            // The watcher lives as long as we do, so there is always somebody to give hints.
            let Some(path) = hint else { return std::future::pending().await };
            if path.starts_with(&self.folder) && path != self.folder {
                stored &= self.take(&path).await;
            } else if watched != self.folder || path == self.folder {
                return;
            }
        }
    }

    /// False if the store refused something: it is still to be told.
    async fn take_all(&mut self) -> bool {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut stored = true;
        for path in entries.map(|e| e.path()).collect::<Vec<_>>() {
            stored &= self.take(&path).await;
        }
        stored
    }

    /// One file: if it is an entry of a live process and says something new, the engine hears it.
    async fn take(&mut self, path: &Path) -> bool {
        if !is_entry(path) {
            return true;
        }
        let Some(record) = read(path) else {
            // Gone, or just being rewritten; never an end.
            return true;
        };
        if self.seen.get(path) == Some(&record.payload) {
            return true;
        }
        let payload = record.payload.clone();
        if let Err(error) = self.app.engine.append(vec![record]).await {
            tracing::warn!(%error, "a change of the client's registry was not stored");
            return false;
        }
        self.seen.insert(path.to_owned(), payload);
        self.seen.retain(|known, _| known == path || known.exists());
        true
    }
}

/// `<pid>.json` and nothing else.
fn is_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.strip_suffix(".json").is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()))
}

fn read(path: &Path) -> Option<Record> {
    // A pipe would wait for ever at opening, and a device has no end.
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
        .then(|| registry::record(&entry, clock::fresh_id()))??;
    // It is there by the numbers that we know.
    record.envelope.pid_ns = process::namespace();
    Some(record)
}

/// A leftover of the dead says nothing: pid *and* start must match. Where starts are unknown, the pid alone decides.
fn is_alive(
    entry: &Map<String, Value>,
    start_time: impl Fn(u32) -> Option<String>,
    exists: impl Fn(u32) -> bool,
) -> bool {
    let Some(pid) = whole(entry, "pid").and_then(|pid| u32::try_from(pid).ok()) else { return false };
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
    fn only_a_pid_with_json_behind_it_is_ever_opened() {
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
    fn a_leftover_of_the_dead_is_ignored() {
        let own = std::process::id();
        let start = process::start_time(own).unwrap_or_default();
        let entry = |pid: u32, start: &str| {
            Map::from_iter([("pid".into(), pid.into()), ("procStart".into(), start.into())])
        };
        let alive = |entry: &Map<String, Value>| is_alive(entry, process::start_time, process::exists);
        assert!(alive(&entry(own, &start)));
        assert!(!alive(&entry(own, "1")));
        assert!(!alive(&Map::new()));
        // Where no start is ever known.
        for there in [true, false] {
            assert_eq!(is_alive(&entry(own, "1"), |_| None, |_| there), there);
        }
    }
}
