//! Watches the client's own list of live sessions, `<config dir>/sessions/<pid>.json`. Never opens anything else there:
//! beside each entry lies a key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// Runs for as long as the daemon does. Without the folder it waits for it to appear.
pub async fn watch(app: App, config_dir: PathBuf) {
    let folder = config_dir.join("sessions");
    let (hint, mut hints) = mpsc::channel(HINTS_WAITING_MAX);
    let Some(mut watcher) = watcher(hint) else { return };
    let mut seen = BTreeMap::new();
    loop {
        let watched = watch_nearest(&mut watcher, &folder);
        take_all(&app, &folder, &mut seen).await;
        loop {
            let Some(path) = hints.recv().await else { return };
            if path.starts_with(&folder) && path != folder {
                take(&app, &path, &mut seen).await;
            } else if watched.as_deref().is_none_or(|w| w != folder) || path == folder {
                // The folder, or one on the way to it, came or went.
                break;
            }
        }
    }
}

fn watcher(hint: mpsc::Sender<PathBuf>) -> Option<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_access() && !is_close_write(&event.kind) {
            return;
        }
        for path in event.paths {
            // Full: the reader is busy and will look at the same file again soon.
            let _ = hint.try_send(path);
        }
    });
    made.inspect_err(|error| tracing::error!(%error, "the client's registry cannot be watched")).ok()
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
        .map(Path::to_owned)
}

type Seen = BTreeMap<PathBuf, Map<String, Value>>;

async fn take_all(app: &App, folder: &Path, seen: &mut Seen) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|e| e.path()).collect::<Vec<_>>() {
        take(app, &path, seen).await;
    }
}

/// One file: if it is an entry of a live process and says something new, the engine hears it.
async fn take(app: &App, path: &Path, seen: &mut Seen) {
    if !is_entry(path) {
        return;
    }
    let Some(record) = read(path) else {
        // Gone, or just being rewritten; never an end.
        return;
    };
    if seen.get(path) == Some(&record.payload) {
        return;
    }
    seen.insert(path.to_owned(), record.payload.clone());
    seen.retain(|known, _| known == path || known.exists());
    if let Err(error) = app.engine.append(vec![record]).await {
        tracing::warn!(%error, "a change of the client's registry was not stored");
        seen.remove(path);
    }
}

/// `<pid>.json` and nothing else.
fn is_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    name.strip_suffix(".json").is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()))
}

fn read(path: &Path) -> Option<Record> {
    if std::fs::metadata(path).ok()?.len() > ENTRY_BYTES_MAX {
        return None;
    }
    let entry: Map<String, Value> = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    is_alive(&entry).then(|| registry::record(&entry, clock::fresh_id()))?
}

/// A leftover of the dead says nothing: pid *and* start must match. Where starts are unknown, the pid alone decides.
fn is_alive(entry: &Map<String, Value>) -> bool {
    let Some(pid) = whole(entry, "pid").and_then(|pid| u32::try_from(pid).ok()) else { return false };
    match (process::start_time(pid), text(entry, "procStart")) {
        (Some(now), Some(then)) => now == then,
        (None, _) if cfg!(target_os = "linux") => false,
        _ => true,
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
        assert!(is_alive(&entry(own, &start)));
        assert!(!is_alive(&entry(own, "1")));
        assert!(!is_alive(&Map::new()));
    }
}
