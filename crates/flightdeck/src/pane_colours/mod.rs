//! Shows the fleet status of sessions in tmux, on servers that loaded the included file of `flightdeck tmux install`.
//!
//! The engine says which sessions changed ([`PaneDisplay`]); a task of its own debounces the status of each pane and writes it
//! (decision 0030).

mod debounce;
pub mod paint;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flightdeck_core::ids::SessionId;
use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::pane_status::PaneKey;
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::debounce::Debouncer;
use crate::engine::{EngineHandle, PaneDisplay, SessionPanes};
use crate::terminal::tmux::Tmux;

/// Changes that may wait for the task. If there are more, the task asks for all panes once.
const CHANGES_WAITING_MAX: usize = 256;

/// The included file below a Flightdeck home. It exists while colours are wanted.
pub fn included_file(home: &Path) -> PathBuf {
    home.join("tmux.conf")
}

/// The part of the display that the engine calls.
#[derive(Debug)]
pub struct PaneColours {
    included: PathBuf,
    changes: mpsc::Sender<SessionPanes>,
    shared: Arc<SharedStatuses>,
}

#[derive(Debug, Default)]
struct SharedStatuses {
    /// A change was lost, or nothing is known yet: the task must ask for all panes.
    ask_all: AtomicBool,
    was_wanted: AtomicBool,
}

impl PaneColours {
    /// Returns the engine's part and the receiver for [`follow`].
    pub fn new(home: &Path) -> (Arc<Self>, PaneChanges) {
        let (changes, received) = mpsc::channel(CHANGES_WAITING_MAX);
        let shared = Arc::new(SharedStatuses::default());
        let colours = Self { included: included_file(home), changes, shared: Arc::clone(&shared) };
        (Arc::new(colours), PaneChanges { home: home.to_owned(), received, shared })
    }
}

impl PaneDisplay for PaneColours {
    /// Costs one `stat` for each batch of events: the person may install or uninstall the colours while the daemon runs.
    fn is_wanted(&self) -> bool {
        let wanted = self.included.exists();
        let before = self.shared.was_wanted.swap(wanted, Ordering::Relaxed);
        if wanted && !before {
            self.shared.ask_all.store(true, Ordering::Release);
        }
        wanted
    }

    fn changed(&self, session_id: &SessionId, panes: Vec<(PaneKey, FleetStatus)>) {
        if self.changes.try_send((session_id.clone(), panes)).is_err() {
            self.all_changed();
        }
    }

    fn all_changed(&self) {
        self.shared.ask_all.store(true, Ordering::Release);
    }
}

/// The part of [`PaneColours`] that the task reads.
#[derive(Debug)]
pub struct PaneChanges {
    home: PathBuf,
    received: mpsc::Receiver<SessionPanes>,
    shared: Arc<SharedStatuses>,
}

/// Writes the status of panes until the daemon stops.
pub async fn follow(mut changes: PaneChanges, engine: EngineHandle, tmux: impl Tmux) {
    let mut display = Display::default();
    loop {
        let due = display.debouncer.next_due();
        let wait = async { due.map(tokio::time::sleep_until).unwrap_or_else(sleep_long).await };
        tokio::select! {
            change = changes.received.recv() => match change {
                Some(change) => display.apply_panes(change),
                None => return,
            },
            () = wait => {}
        }
        while let Ok(change) = changes.received.try_recv() {
            display.apply_panes(change);
        }
        if changes.shared.ask_all.swap(false, Ordering::AcqRel) {
            match engine.pane_statuses().await {
                Ok(all) => display.take_all(all),
                Err(_) => return,
            }
        }
        display.paint(&tmux, &changes.home, Instant::now()).await;
    }
}

/// The sleep while no status is pending.
fn sleep_long() -> tokio::time::Sleep {
    const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);
    tokio::time::sleep(HOUR)
}

/// What every pane shows now, and what it should show.
#[derive(Debug, Default)]
struct Display {
    sessions: BTreeMap<SessionId, Vec<(PaneKey, FleetStatus)>>,
    debouncer: Debouncer,
    /// Panes whose sessions changed since the last [`Display::paint`].
    touched: BTreeSet<PaneKey>,
}

impl Display {
    fn apply_panes(&mut self, (id, panes): SessionPanes) {
        self.touched.extend(panes.iter().map(|(pane, _)| pane.clone()));
        let before = match panes.is_empty() {
            true => self.sessions.remove(&id),
            false => self.sessions.insert(id, panes),
        };
        self.touched.extend(before.into_iter().flatten().map(|(pane, _)| pane));
    }

    fn take_all(&mut self, all: Vec<SessionPanes>) {
        let gone: Vec<SessionId> = self.sessions.keys().cloned().collect();
        gone.into_iter().for_each(|id| self.apply_panes((id, Vec::new())));
        all.into_iter().for_each(|panes| self.apply_panes(panes));
    }

    async fn paint(&mut self, tmux: &impl Tmux, home: &Path, now: Instant) {
        let mut changed: BTreeSet<PaneKey> = self.debouncer.take_due(now).into_iter().collect();
        for pane in std::mem::take(&mut self.touched) {
            if self.debouncer.set(&pane, self.status(&pane), now) {
                changed.insert(pane);
            }
        }
        let servers: BTreeSet<String> = changed.into_iter().map(|pane| pane.tmux_socket).collect();
        for server in servers {
            let key = |pane: &str| PaneKey { tmux_socket: server.clone(), pane: pane.to_owned() };
            let shown = |pane: &str| self.debouncer.shown(&key(pane));
            if let Err(error) = paint::paint(tmux, Path::new(&server), home, shown).await {
                tracing::debug!(%error, %server, "could not write the status of panes; the next change tries again");
            }
        }
        self.debouncer.clean_up();
    }

    /// The most urgent status of the sessions in a pane.
    fn status(&self, pane: &PaneKey) -> Option<FleetStatus> {
        let here = self.sessions.values().flatten().filter(|(key, _)| key == pane);
        here.map(|(_, status)| *status).min()
    }
}
