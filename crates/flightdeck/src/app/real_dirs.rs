//! Real paths of directories, as far as they were looked up lately: a hook asks for the same few directories again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::project_files::ProjectFiles;

/// A directory on a slow disk is not waited for any longer.
pub(super) const FOUND_WITHIN: Duration = Duration::from_millis(10);
/// A link may be changed; then the old target counts for this long.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Directories remembered: as many as sessions on a large board. Above it all are forgotten.
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

    /// Forgets all directories. Returns whether any was known.
    pub(crate) fn forget(&self) -> bool {
        let known = std::mem::take(&mut *self.known());
        known.values().any(|(at, _)| at.elapsed() < KNOWN_FOR)
    }

    /// `None` if there is no such directory, or if it cannot be found out in time.
    pub(crate) async fn find(&self, dir: &str) -> Option<String> {
        if let Some((at, real)) = self.known().get(dir)
            && at.elapsed() < KNOWN_FOR
        {
            return real.clone();
        }
        let look = self.files.real_dir(dir.to_owned());
        // A lookup that takes too long is remembered as well: each would occupy a thread.
        let real = tokio::time::timeout(FOUND_WITHIN, look).await.ok().flatten();
        let mut known = self.known();
        if known.len() >= DIRS_MAX {
            known.clear();
        }
        known.insert(dir.to_owned(), (Instant::now(), real.clone()));
        real
    }
}
