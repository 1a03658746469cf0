//! Real paths of directories, as far as they were looked up lately: a hook asks for the same few directories again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::project_files::ProjectFiles;

/// A directory on a slow disk is not waited for any longer.
pub(super) const FOUND_WITHIN: Duration = Duration::from_millis(10);
/// A link may be changed; then the old target counts for this long.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Directories remembered: as many as sessions on a large board. Above it all are forgotten.
const DIRS_MAX: usize = 1024;

/// One lookup: when it began, and what it found, `None` while it runs.
#[derive(Clone, Debug)]
struct DirLookup {
    begun: Instant,
    found: watch::Receiver<Option<Option<String>>>,
}

impl DirLookup {
    /// A lookup that never ends is not begun again: each would occupy a thread.
    fn is_current(&self) -> bool {
        let runs = self.found.borrow().is_none() && self.found.has_changed().is_ok();
        runs || self.begun.elapsed() < KNOWN_FOR
    }

    async fn result(mut self) -> Option<String> {
        let ends = self.begun + FOUND_WITHIN;
        let found = timeout_at(ends, self.found.wait_for(Option::is_some)).await.ok()?.ok()?;
        found.clone().flatten()
    }
}

#[derive(Debug)]
pub(crate) struct RealDirs {
    files: Arc<dyn ProjectFiles>,
    known: Mutex<HashMap<String, DirLookup>>,
}

impl RealDirs {
    pub(crate) fn new(files: Arc<dyn ProjectFiles>) -> Self {
        Self { files, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, DirLookup>> {
        // Every change of the map is one call, so a poisoned lock can be used.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if there is no such directory, or if it is not found in time.
    pub(crate) async fn find(&self, dir: &str) -> Option<String> {
        let known = self.known().get(dir).filter(|lookup| lookup.is_current()).cloned();
        let lookup = known.unwrap_or_else(|| self.look_up(dir));
        lookup.result().await
    }

    /// Begins a lookup, which ends also if it is no longer waited for: then the next hook finds its result.
    fn look_up(&self, dir: &str) -> DirLookup {
        let (sender, found) = watch::channel(None);
        let look = self.files.real_dir(dir.to_owned());
        tokio::spawn(async move { sender.send_replace(Some(look.await)) });
        let lookup = DirLookup { begun: Instant::now(), found };
        let mut known = self.known();
        if known.len() >= DIRS_MAX {
            known.clear();
        }
        known.insert(dir.to_owned(), lookup.clone());
        lookup
    }
}
