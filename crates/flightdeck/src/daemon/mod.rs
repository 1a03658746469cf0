//! The daemon from start to stop: `start.rs` opens its parts in order, [`RunningDaemon::stop`] closes them in reverse.

#[cfg(test)]
mod fail_open_tests;
mod home;
mod listen;
mod live_settings;
mod parts;
mod port;
mod start;

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use self::home::{NO_HOOKS_IN_A_DEMO, host_name, is_simulated};
pub use self::live_settings::LiveSettings;
pub use self::parts::{DaemonParts, StartedParts};
pub(crate) use self::start::start;
use crate::app::holds::HeldHooks;
use crate::app::registration::Registrar;
use crate::config::Config;
use crate::engine::EngineHandle;
use crate::notify::Notifier;
use crate::paths::Paths;
use crate::settings::ClientVersion;
use crate::store::Store;

/// How long open connections may take to end once the streams have ended.
const SHUTDOWN_MAX: Duration = Duration::from_secs(3);

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub(crate) struct DaemonOptions {
    pub paths: Paths,
    pub config: Config,
    /// From `--port` or `FLIGHTDECK_PORT`: this port and no other.
    pub port: Option<u16>,
    pub bind: Option<IpAddr>,
    /// From [`Config::token`].
    pub token: Option<String>,
    /// Register the hooks for as long as the daemon runs.
    pub hooks: bool,
    /// The sessions are made up.
    pub simulated: bool,
    /// The settings file that the hooks are registered in.
    pub settings: PathBuf,
    /// Claude Code's own folder, with its registry and the transcripts. `None`: read nothing of the person's.
    pub config_dir: Option<PathBuf>,
    pub binary: PathBuf,
    pub version: ClientVersion,
    /// Whether to show the sessions of the other hosts.
    pub hub: bool,
}

/// A daemon that serves requests.
#[derive(Debug)]
pub(crate) struct RunningDaemon {
    pub url: String,
    pub engine: EngineHandle,
    /// Sentences that the person should read at the start.
    pub notes: Vec<String>,
    /// Where the hooks are registered, if the registration succeeded.
    pub registered: Option<String>,
    registrar: Arc<Registrar>,
    hooks: bool,
    paths: Paths,
    store: Store,
    server: JoinHandle<io::Result<()>>,
    /// `None` after the engine ended by itself.
    engine_task: Option<JoinHandle<()>>,
    /// The tasks that read events and transcripts.
    readers: Vec<JoinHandle<()>>,
    shutdown: watch::Sender<bool>,
    notifier: Arc<Notifier>,
    /// Sends notes.
    notes_task: JoinHandle<()>,
    holds: Arc<HeldHooks>,
    _lock: fs::File,
}

impl RunningDaemon {
    /// Waits until the engine ends by itself, which only a bug of ours causes. The daemon then ends too, because without its engine it must not
    /// keep the socket.
    pub(crate) async fn broken(&mut self) -> anyhow::Error {
        match self.engine_task.as_mut() {
            Some(engine) => {
                let ended = engine.await;
                self.engine_task = None;
                anyhow::anyhow!(
                    "the engine broke off ({ended:?}); nothing stored is lost. Start Flightdeck again"
                )
            }
            None => std::future::pending().await,
        }
    }

    /// Stops the daemon. Removes the hooks first, so that no client calls a daemon that is closing. Returns a sentence about the hooks.
    pub(crate) async fn stop(self) -> Option<String> {
        let mut released = None;
        if self.hooks {
            let registrar = Arc::clone(&self.registrar);
            // A panic in the task was logged; the rest must still be closed.
            released = tokio::task::spawn_blocking(move || registrar.release()).await.ok().flatten();
        }
        if !self.registrar.is_simulated() {
            crate::app::hook_watch::report_now(&self.engine, &self.registrar, false).await;
        }
        // Closes the holds before the connections of held hooks break, because a broken connection would be recorded as a refusal.
        self.holds.close();
        // Removing the socket may fail if its path under /tmp was cleaned up.
        let _ = fs::remove_file(self.paths.socket());
        self.readers.iter().for_each(JoinHandle::abort);
        self.engine.stop().await;
        if let Some(engine) = self.engine_task {
            // A panic in the task was logged; the rest must still be closed.
            let _ = engine.await;
        }
        // Stops after the engine, which may still store a note, and before the store, which records what was sent.
        self.notifier.stop(self.notes_task).await;
        // Streams end with the engine; a download gets a moment to finish.
        let _ = self.shutdown.send(true);
        if tokio::time::timeout(SHUTDOWN_MAX, self.server).await.is_err() {
            tracing::warn!("connections were still open at the end");
        }
        if let Err(error) = self.store.close().await {
            tracing::error!(%error, "the store did not close cleanly");
        }
        // Removing the file may fail if it is missing. If it stays, the next start removes it.
        let _ = fs::remove_file(self.paths.daemon_file());
        tracing::info!("stopped");
        released
    }
}
