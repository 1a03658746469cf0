//! The folders that are watched on behalf of the sessions that are followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// Where a transcript will be: its project's folder, `projects`, or the configuration. Further up is none of our business.
const ANCESTORS_WATCHED: usize = 3;

/// Most project folders that are watched for sessions that nobody told of; a person has dozens.
const PROJECTS_WATCHED_MAX: usize = 4096;

/// The folders that are watched, each for as many sessions as are in it.
pub(super) struct Watches {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeMap<PathBuf, usize>,
    /// Which folders a session's transcript is watched through.
    of: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// In which repository a session works, by its transcript: the folder that holds HEAD.
    git_dirs: BTreeMap<PathBuf, PathBuf>,
}

impl Watches {
    pub(super) fn new(hint: mpsc::Sender<PathBuf>, lost: Arc<AtomicBool>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // The system dropped some: only looking at everything tells which. An empty path wakes whoever looks.
            if event.as_ref().map_or(true, notify::Event::need_rescan) {
                lost.store(true, Ordering::Relaxed);
                // It is full: then somebody is awake.
                let _ = hint.try_send(PathBuf::new());
            }
            let Ok(event) = event else { return };
            // Looking at a file is no change; our own reading would wake us for ever.
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
            tracing::error!(%error, "files cannot be watched; transcripts are read at every hook instead");
        });
        Self {
            watcher: watcher.ok(),
            folders: BTreeMap::new(),
            of: BTreeMap::new(),
            git_dirs: BTreeMap::new(),
        }
    }

    /// Watches the folder of a main transcript and those of its subagents, or the nearest above that exists; and the
    /// folder of HEAD where the session works in a repository.
    pub(super) fn join(&mut self, main: &Path, git_dir: Option<&Path>) {
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
        self.want(main, wanted);
    }

    /// Watches every project's folder, for sessions that nobody told of; gives those that are new.
    pub(super) fn join_all(&mut self, projects: &Path) -> Vec<PathBuf> {
        let nearest = projects.ancestors().take(ANCESTORS_WATCHED - 1).find(|a| a.is_dir());
        let entries = std::fs::read_dir(projects).into_iter().flatten().flatten();
        let folders = entries.map(|e| e.path()).filter(|p| p.is_dir()).take(PROJECTS_WATCHED_MAX);
        let wanted = folders.chain(nearest.map(Path::to_owned)).collect();
        self.want(projects, wanted)
    }

    fn want(&mut self, who: &Path, wanted: BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let had = self.of.insert(who.to_owned(), wanted.clone()).unwrap_or_default();
        wanted.difference(&had).for_each(|folder| self.add(folder));
        had.difference(&wanted).for_each(|folder| self.remove(folder));
        wanted.difference(&had).cloned().collect()
    }

    pub(super) fn leave(&mut self, main: &Path) {
        self.git_dirs.remove(main);
        for folder in self.of.remove(main).unwrap_or_default() {
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
            tracing::warn!(%error, folder = %folder.display(), "cannot be watched; it is read at every hook instead");
        }
    }

    /// A folder that was removed and made again has lost its watch, and we may have seen neither.
    fn renew(&mut self, folder: &Path) {
        if self.folders.contains_key(folder)
            && let Some(watcher) = &mut self.watcher
        {
            // Gone again: whoever wants it looks for it once more when it comes back.
            let _ = watcher.watch(folder, RecursiveMode::NonRecursive);
        }
    }

    fn remove(&mut self, folder: &Path) {
        let Some(count) = self.folders.get_mut(folder) else { return };
        *count -= 1;
        if *count == 0 {
            self.folders.remove(folder);
            if let Some(watcher) = &mut self.watcher {
                // It may be gone, and its watch with it.
                let _ = watcher.unwatch(folder);
            }
        }
    }

    /// Whose branch may be another now. `None` if the path is in no repository that is watched: git rewrites its index
    /// and its locks all the time, which is nobody's news.
    pub(super) fn head_changed(&self, path: &Path) -> Option<BTreeSet<PathBuf>> {
        let folder = path.parent()?;
        let mut mains =
            self.git_dirs.iter().filter(|(_, dir)| *dir == folder).map(|(main, _)| main).peekable();
        mains.peek()?;
        let moved = path.file_name().is_some_and(|name| name == "HEAD");
        Some(if moved { mains.cloned().collect() } else { BTreeSet::new() })
    }

    /// Transcripts that may be watched better now that something happened at `path`. Gives their folders.
    pub(super) fn folder_changed(&mut self, path: &Path) -> Vec<PathBuf> {
        self.renew(path);
        let concerned: Vec<_> = self
            .of
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
            self.join(main, git_dir.as_deref());
        }
        concerned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_removed_and_made_again_is_watched_again() {
        let projects = tempfile::tempdir().unwrap();
        let folder = projects.path().join("-w");
        std::fs::create_dir(&folder).unwrap();
        let (hint, mut hints) = mpsc::channel(1024);
        let mut watches = Watches::new(hint, Arc::default());
        watches.join_all(projects.path());
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
