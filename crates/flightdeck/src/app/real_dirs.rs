//! A cache of the real paths of directories: hooks ask for the same few directories again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::project_files::ProjectFiles;

/// Longest wait for a directory on a slow disk.
pub(super) const FOUND_WITHIN: Duration = Duration::from_millis(10);
/// How long a path is cached. If a link is changed, its old target is used for at most this long.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Most directories in the cache, as many as a large board has sessions. When it is full, all are dropped.
const DIRS_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct RealDirs {
    files: Arc<dyn ProjectFiles>,
    known: Mutex<HashMap<String, (Instant, Option<String>)>>,
}

impl RealDirs {
    pub(crate) fn new(files: Arc<dyn ProjectFiles>) -> Self {
        Self { files, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, (Instant, Option<String>)>> {
        // Every change of the map is one call, so a poisoned lock can be used.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the cache. Returns whether it had any directory.
    pub(crate) fn forget(&self) -> bool {
        let known = std::mem::take(&mut *self.known());
        known.values().any(|(at, _)| at.elapsed() < KNOWN_FOR)
    }

    /// The real path of the directory. `None` if there is no such directory, or if the disk does not reply in time.
    pub(crate) async fn find(&self, dir: &str) -> Option<String> {
        if let Some((at, real)) = self.known().get(dir)
            && at.elapsed() < KNOWN_FOR
        {
            return real.clone();
        }
        let look = self.files.real_dir(dir.to_owned());
        // A lookup that takes too long is cached as "not found", because each further lookup would occupy a thread.
        let real = tokio::time::timeout(FOUND_WITHIN, look).await.ok().flatten();
        let mut known = self.known();
        if known.len() >= DIRS_MAX {
            known.clear();
        }
        known.insert(dir.to_owned(), (Instant::now(), real.clone()));
        real
    }
}
