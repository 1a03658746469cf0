//! The parts of a daemon that do not depend on the machine, assembled in one way for the daemon and for the tests of it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flightdeck_core::approval::ask::Ask;
use flightdeck_core::approval::resolution::HoldEnd;
use flightdeck_core::fleet::Occupant;
use flightdeck_core::log::approvals::hold_ended_record;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::Session;
use flightdeck_core::usage::price::PriceTable;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::app::holds::HeldHooks;
use crate::app::project_files::{FilesOnDisk, ProjectFiles};
use crate::app::registration::Registrar;
use crate::app::{App, RealDirs};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::config::live::LiveConfig;
use crate::engine::housekeeping::Housekeeping;
use crate::engine::restore::{self, Restored};
use crate::engine::{Engine, EngineHandle, EngineParts, NoteSettings, Outbox, PaneDisplay};
use crate::health::Health;
use crate::hosts::Hosts;
use crate::notify::{Dispatcher, Notifier};
use crate::store::{RetentionPolicy, Store, StoreError};
use crate::terminal::Terminals;
use crate::transcripts::follow::WatchList;
use crate::transcripts::history::History;
use crate::transport::HEARTBEAT_EVERY;

/// What a daemon is made of: [`DaemonParts::new`] gives a daemon without configuration, and [`DaemonParts::start`] starts it.
#[derive(Debug)]
pub struct DaemonParts {
    pub store: Store,
    pub registrar: Arc<Registrar>,
    pub health: Arc<Health>,
    pub fold_settings: FoldSettings,
    pub prices: PriceTable,
    pub retention: RetentionPolicy,
    pub clock: Clock,
    /// The sessions whose transcripts are to be read.
    pub watch_list: WatchList,
    /// Receives each session whose process became known, to watch that process.
    pub seats: mpsc::Sender<Occupant>,
    /// The address of the board.
    pub url: String,
    pub heartbeat_every: Duration,
    pub hold_rules: HoldRules,
    /// Whether the holds of the last daemon end at the start. Only a test that compares the fold alone keeps them open.
    pub ends_old_holds: bool,
    /// The person's settings, read again when the file changes.
    pub config: Arc<LiveConfig>,
    pub terminals: Terminals,
    /// The directories of projects, for efforts.
    pub files: Arc<dyn ProjectFiles>,
    /// Shows the status of sessions in their tmux panes; `None` shows nothing.
    pub panes: Option<Arc<dyn PaneDisplay>>,
    /// Show the sessions of the other hosts.
    pub hub: bool,
}

/// A daemon whose engine runs.
#[derive(Debug)]
pub struct StartedParts {
    pub app: App,
    pub engine: EngineHandle,
    /// How far the transcripts are read.
    pub history: Arc<History>,
    pub engine_task: JoinHandle<()>,
    /// Sends notes, once its `run` is started.
    pub dispatcher: Dispatcher,
}

impl DaemonParts {
    pub fn new(store: Store, registrar: Registrar) -> Self {
        Self {
            store,
            registrar: Arc::new(registrar),
            health: Arc::default(),
            fold_settings: FoldSettings::default(),
            prices: PriceTable::shipped().clone(),
            retention: RetentionPolicy::default(),
            clock: clock::now.into(),
            watch_list: WatchList::default(),
            seats: mpsc::channel(1).0,
            url: String::new(),
            heartbeat_every: HEARTBEAT_EVERY,
            hold_rules: HoldRules::new(Config::default().hold_seconds()),
            ends_old_holds: true,
            // A daemon without configuration has no config.toml.
            config: Arc::new(LiveConfig::new(Path::new(""), Config::default())),
            terminals: Terminals::default(),
            files: Arc::new(FilesOnDisk),
            panes: None,
            hub: false,
        }
    }

    /// Restores the fleet, starts the engine with the effects that are left to carry out, and ends the holds of the last daemon.
    pub async fn start(self) -> Result<StartedParts, StoreError> {
        let (notifier, queued_notes) = Notifier::new(self.config.current().notify.clone(), &self.url);
        let restored = self.restore(notifier.settings().for_engine()).await?;
        let released: Vec<Record> =
            restored.fleet.held_asks().filter(|_| self.ends_old_holds).map(released).collect();
        let holds = Arc::<HeldHooks>::default();
        let defaults = EngineParts::new(restored.fleet, self.store.clone());
        let (engine, handle) = Engine::new(EngineParts {
            health: Arc::clone(&self.health),
            housekeeping: Housekeeping::new(self.retention),
            transcripts: Box::new(self.watch_list.clone()),
            clock: self.clock.clone(),
            seats: self.seats,
            outbox: restored.outbox,
            holds: Arc::clone(&holds) as _,
            notes: Some(Arc::clone(&notifier) as _),
            panes: self.panes.unwrap_or_else(|| Arc::clone(&defaults.panes)),
            ..defaults
        });
        let engine_task = tokio::spawn(engine.run());
        append_released(&handle, released).await;
        let history = Arc::<History>::default();
        let prices = Arc::new(watch::Sender::new(Arc::new(self.prices)));
        let settings = self.config.current().hosts.clone();
        let name = self.fold_settings.host.clone().unwrap_or_default();
        let hosts =
            Hosts::new(settings, &name, self.hub, handle.clone(), self.store.clone(), prices.subscribe());
        let app = App {
            engine: handle.clone(),
            store: self.store,
            health: self.health,
            registrar: self.registrar,
            url: self.url.into(),
            host: self.fold_settings.host.map(Into::into),
            heartbeat_every: self.heartbeat_every,
            history: Arc::clone(&history),
            watch_list: self.watch_list,
            prices,
            holds,
            hold_rules: Arc::new(Mutex::new(self.hold_rules)),
            config: self.config,
            terminals: Arc::new(self.terminals),
            notifier,
            real_dirs: Arc::new(RealDirs::new(Arc::clone(&self.files))),
            files: self.files,
            supervisors: Arc::default(),
            hosts: Arc::new(hosts),
        };
        let dispatcher = Dispatcher::new(
            Arc::clone(&app.notifier),
            queued_notes,
            handle.clone(),
            app.store.clone(),
            Arc::clone(&app.terminals),
            self.clock,
        );
        Ok(StartedParts { app, engine: handle, history, engine_task, dispatcher })
    }

    async fn restore(&self, notes: NoteSettings) -> Result<Restored, StoreError> {
        let started = Instant::now();
        let settings = FoldSettings { notify: notes.rules, ..self.fold_settings.clone() };
        let outbox = Outbox::for_note_targets(notes.targets);
        let restored = restore::restore_with(&self.store, settings, &self.prices, outbox).await?;
        tracing::info!(
            sessions = restored.fleet.len(),
            replayed = restored.replayed,
            unreadable = restored.unreadable,
            from_snapshot = restored.from_snapshot,
            took_ms = started.elapsed().as_millis() as u64,
            "the fleet is restored"
        );
        // This time is only used in health reports. An event that cannot be read counts as none.
        if let Ok(Some(last)) = self.store.event(self.store.last_seq().await?).await {
            self.health.metrics.heard_at(last.received_at);
        }
        Ok(restored)
    }
}

/// The record that ends a hold of the last daemon: from now on only the terminal can answer the ask.
fn released((session, ask): (&Session, &Ask)) -> Record {
    hold_ended_record(&session.id, &ask.id, HoldEnd::Released, clock::fresh_id())
}

async fn append_released(engine: &EngineHandle, released: Vec<Record>) {
    if !released.is_empty()
        && let Err(error) = engine.append(released).await
    {
        // The disk may be full. A board whose asks cannot be answered is better than no board.
        tracing::error!(%error, "could not append the end of holds of the last daemon; their asks stay open");
    }
}
