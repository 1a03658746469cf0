//! Real paths of directories, as far as they were looked up lately: a hook asks for the same few directories again and again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A directory on a slow disk is not waited for any longer.
const FOUND_WITHIN: Duration = Duration::from_millis(10);
/// A link may be changed; then the old target counts for this long.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Directories remembered: as many as sessions on a large board. Above it all are forgotten.
const DIRS_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct RealDirs(Mutex<HashMap<String, (Instant, Option<String>)>>);

impl RealDirs {
    fn known(&self) -> MutexGuard<'_, HashMap<String, (Instant, Option<String>)>> {
        // Every change of the map is one call, so a poisoned lock can be used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if there is no such directory, or if it cannot be found out in time.
    pub(crate) async fn find(&self, dir: &str) -> Option<String> {
        if let Some((at, real)) = self.known().get(dir)
            && at.elapsed() < KNOWN_FOR
        {
            return real.clone();
        }
        let real = look_up(dir.to_owned()).await;
        let mut known = self.known();
        if known.len() >= DIRS_MAX {
            known.clear();
        }
        known.insert(dir.to_owned(), (Instant::now(), real.clone()));
        real
    }
}

async fn look_up(dir: String) -> Option<String> {
    let real = tokio::task::spawn_blocking(move || Path::new(&dir).canonicalize());
    let real = tokio::time::timeout(FOUND_WITHIN, real).await.ok()?.ok()?.ok()?;
    real.into_os_string().into_string().ok()
}
