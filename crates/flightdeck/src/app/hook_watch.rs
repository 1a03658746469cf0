//! Records in the log when our hooks disappear from the client's settings and when they come back. Without them the client does not
//! report the end of a turn, and the fold must know that.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::log::hook_presence::{HookPresence, hooks_seen_record};

use super::registration::{Presence, Registrar};
use crate::clock;
use crate::engine::EngineHandle;

/// How often the settings file is checked for a change. The client itself takes about 1.1 s to read a changed file.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Inode, size and change time: two versions of the file differ in at least one of them.
type SettingsStamp = Option<(u64, u64, i64, i64)>;

/// Checks the settings file until the daemon stops.
pub async fn watch(engine: EngineHandle, registrar: Arc<Registrar>) {
    let mut seen = None;
    loop {
        // A client that rereads its settings fires `ConfigChange`. It may end its turn right after that without reporting it, so the file is
        // checked at once.
        let _ = tokio::time::timeout(LOOK_EVERY, registrar.settings_changed()).await;
        let version = version(registrar.settings_path());
        if seen == Some(version) {
            continue;
        }
        let found = presence(&registrar).await;
        let news = HookPresence { present: found.present, at_start: false };
        if !found.was_present || report(&engine, news).await {
            seen = Some(version);
        }
    }
}

/// Called when the daemon starts, before it registers its own hooks: records whether events may have been missed since the last daemon.
pub async fn report_at_start(engine: &EngineHandle, registrar: &Arc<Registrar>) {
    let Presence { present, spools, was_present } = presence(registrar).await;
    if was_present && !spools {
        report(engine, HookPresence { present: false, at_start: true }).await;
    }
    if present {
        report(engine, HookPresence { present, at_start: false }).await;
    }
}

/// Records whether the hooks are registered now. Called after the daemon registered them, and before it stops.
pub async fn report_now(engine: &EngineHandle, registrar: &Arc<Registrar>, daemon_runs: bool) {
    let Presence { present, spools, was_present } = presence(registrar).await;
    let present = if daemon_runs { present } else { spools };
    if was_present {
        report(engine, HookPresence { present, at_start: false }).await;
    }
}

async fn presence(registrar: &Arc<Registrar>) -> Presence {
    let registrar = Arc::clone(registrar);
    // A panic in the task was logged; the next look tries again.
    tokio::task::spawn_blocking(move || registrar.presence()).await.unwrap_or_default()
}

/// Appends the observation unless the fleet knows it already. Returns false if the store refused it.
async fn report(engine: &EngineHandle, seen: HookPresence) -> bool {
    let stored = engine.append_unless_known(hooks_seen_record(seen, clock::fresh_id())).await;
    if let Err(error) = &stored {
        tracing::warn!(%error, "could not store whether the hooks are registered; the next check tries again");
    }
    stored.is_ok()
}

fn version(path: &Path) -> SettingsStamp {
    let about = fs::metadata(path).ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}
