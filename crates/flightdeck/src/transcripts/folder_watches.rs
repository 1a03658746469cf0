//! The folders that are watched for the followed sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// If the folder of a transcript does not exist yet, its nearest parent is watched: the project's folder, `projects`, or the
/// client's configuration. Not further up.
const ANCESTORS_WATCHED: usize = 3;

/// Most project folders that are watched for sessions without hooks; a person has dozens.
const PROJECTS_WATCHED_MAX: usize = 4096;

/// The watched folders, each with the number of sessions that need it.
pub(super) struct FolderWatches {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeMap<PathBuf, usize>,
    /// The folders that are watched for a transcript.
    folders_of: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The folder that holds HEAD of the session's repository, by transcript.
    git_dirs: BTreeMap<PathBuf, PathBuf>,
}

impl FolderWatches {
    pub(super) fn new(hint: mpsc::Sender<PathBuf>, lost: Arc<AtomicBool>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // The system dropped events, so every session must be read. An empty path wakes the follower.
            if event.as_ref().map_or(true, notify::Event::need_rescan) {
                lost.store(true, Ordering::Relaxed);
                // If the channel is full, the follower is awake already.
                let _ = hint.try_send(PathBuf::new());
            }
            let Ok(event) = event else { return };
            // Reading a file is not a change; the follower's own reads would wake it for ever.
            if event.kind.is_access() {
                return;
            }
            for path in event.paths {
                if hint.try_send(path).is_err() {
                    lost.store(true, Ordering::Relaxed);
                }
            }
        });
        let watcher = watcher.inspect_err(|error| {
            tracing::error!(%error, "cannot watch files; transcripts are read at every hook instead");
        });
        Self {
            watcher: watcher.ok(),
            folders: BTreeMap::new(),
            folders_of: BTreeMap::new(),
            git_dirs: BTreeMap::new(),
        }
    }

    /// Watches the folder of a main transcript and those of its subagents, or the nearest parent that exists. Also watches the
    /// folder of HEAD if the session works in a repository.
    pub(super) fn watch_session(&mut self, main: &Path, git_dir: Option<&Path>) {
        match git_dir {
            Some(dir) => _ = self.git_dirs.insert(main.to_owned(), dir.to_owned()),
            None => _ = self.git_dirs.remove(main),
        }
        let session = main.with_extension("");
        let subagents = session.join("subagents");
        let nearest = main.ancestors().skip(1).take(ANCESTORS_WATCHED).find(|a| a.is_dir());
        let below = [session, subagents].into_iter().filter(|f| f.is_dir());
        let wanted: BTreeSet<_> =
            nearest.into_iter().chain(git_dir).map(Path::to_owned).chain(below).collect();
        self.set_folders(main, wanted);
    }

    /// Watches every project's folder, for sessions without hooks. Returns the folders that are new.
    pub(super) fn watch_projects(&mut self, projects: &Path) -> Vec<PathBuf> {
        let nearest = projects.ancestors().take(ANCESTORS_WATCHED - 1).find(|a| a.is_dir());
        let entries = std::fs::read_dir(projects).into_iter().flatten().flatten();
        let folders = entries.map(|e| e.path()).filter(|p| p.is_dir()).take(PROJECTS_WATCHED_MAX);
        let wanted = folders.chain(nearest.map(Path::to_owned)).collect();
        self.set_folders(projects, wanted)
    }

    fn set_folders(&mut self, owner: &Path, wanted: BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let had = self.folders_of.insert(owner.to_owned(), wanted.clone()).unwrap_or_default();
        wanted.difference(&had).for_each(|folder| self.add(folder));
        had.difference(&wanted).for_each(|folder| self.remove(folder));
        wanted.difference(&had).cloned().collect()
    }

    pub(super) fn unwatch_session(&mut self, main: &Path) {
        self.git_dirs.remove(main);
        for folder in self.folders_of.remove(main).unwrap_or_default() {
            self.remove(&folder);
        }
    }

    fn add(&mut self, folder: &Path) {
        let count = self.folders.entry(folder.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1
            && let Some(watcher) = &mut self.watcher
            && let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
        {
            tracing::warn!(%error, folder = %folder.display(), "cannot watch the folder; its transcripts are read at every hook instead");
        }
    }

    /// A folder that was removed and created again has lost its watch, even if neither event was seen.
    fn renew(&mut self, folder: &Path) {
        if self.folders.contains_key(folder)
            && let Some(watcher) = &mut self.watcher
        {
            // If the folder is gone again, its watch is created when it comes back.
            let _ = watcher.watch(folder, RecursiveMode::NonRecursive);
        }
    }

    fn remove(&mut self, folder: &Path) {
        let Some(count) = self.folders.get_mut(folder) else { return };
        *count -= 1;
        if *count == 0 {
            self.folders.remove(folder);
            if let Some(watcher) = &mut self.watcher {
                // If the folder is gone, its watch is gone too.
                let _ = watcher.unwatch(folder);
            }
        }
    }

    /// The transcripts of sessions whose branch may have changed: none if another file of the repository changed, as git
    /// rewrites its index and locks all the time. `None` if the path is in no watched repository.
    pub(super) fn head_changed(&self, path: &Path) -> Option<BTreeSet<PathBuf>> {
        let folder = path.parent()?;
        let mut mains =
            self.git_dirs.iter().filter(|(_, dir)| *dir == folder).map(|(main, _)| main).peekable();
        mains.peek()?;
        let moved = path.file_name().is_some_and(|name| name == "HEAD");
        Some(if moved { mains.cloned().collect() } else { BTreeSet::new() })
    }

    /// Watches nearer folders for the transcripts that a change at `path` concerns, and returns these transcripts.
    pub(super) fn folder_changed(&mut self, path: &Path) -> Vec<PathBuf> {
        self.renew(path);
        let concerned: Vec<_> = self
            .folders_of
            .keys()
            .filter(|main| main.extension().is_some())
            .filter(|main| {
                main.starts_with(path)
                    || main.with_extension("").starts_with(path)
                    || path.starts_with(main.with_extension(""))
            })
            .cloned()
            .collect();
        for main in &concerned {
            let git_dir = self.git_dirs.get(main).cloned();
            self.watch_session(main, git_dir.as_deref());
        }
        concerned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_removed_and_created_again_is_watched_again() {
        let projects = tempfile::tempdir().unwrap();
        let folder = projects.path().join("-w");
        std::fs::create_dir(&folder).unwrap();
        let (hint, mut hints) = mpsc::channel(1024);
        let mut watches = FolderWatches::new(hint, Arc::default());
        watches.watch_projects(projects.path());
        std::fs::remove_dir(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        // Both hints are handled only now.
        watches.folder_changed(&folder);
        let file = folder.join("s.jsonl");
        std::fs::write(&file, "x").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let heard = async {
            while let Some(path) = hints.recv().await {
                if path == file {
                    return;
                }
            }
        };
        let patience = std::time::Duration::from_secs(20);
        runtime.block_on(async { tokio::time::timeout(patience, heard).await }).unwrap();
    }
}
