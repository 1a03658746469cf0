//! A daemon in the simulation: [`DaemonParts`] over a simulated disk, clock and socket.

use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::usage::price::PriceTable;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::efforts::SimulatedFiles;
use super::planted;
use super::world::World;
use crate::app::App;
use crate::app::holds::HeldHooks;
use crate::app::registration::Registrar;
use crate::config::Config;
use crate::daemon::{DaemonParts, StartedParts, host_name};
use crate::engine::EngineHandle;
use crate::ingest::Sink;
use crate::ingest::drain::{self, Drained};
use crate::settings::{ClientVersion, Registration, SettingsFile};
use crate::store::Store;
use crate::store::faulty::Faulty;
use crate::transport::socket::serve_connection;

/// How often the spool is drained, as in `drain::watch`, which gets its hints from the kernel.
const SETTLE: Duration = Duration::from_millis(100);
const RETRY_AFTER: Duration = Duration::from_secs(2);

pub(super) struct SimulatedDaemon {
    pub(super) engine: EngineHandle,
    task: JoinHandle<()>,
    holds: Arc<HeldHooks>,
    boot: String,
    store: Store,
    tasks: JoinSet<()>,
}

/// Accepts connections.
#[derive(Debug)]
pub(super) struct Door {
    callers: mpsc::UnboundedSender<UnixStream>,
}

impl Door {
    /// `None` if no daemon listens.
    pub(super) fn connect(world: &World) -> Option<UnixStream> {
        let door = world.door.lock().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        door.as_ref()?.callers.send(theirs).ok().map(|()| ours)
    }
}

impl SimulatedDaemon {
    /// `None` if the disk fails during the start. The next start finds what this one left.
    pub(super) async fn start(world: &World, config: &Config, prices: &Arc<PriceTable>) -> Option<Self> {
        let backend = Faulty::reopened(world.open_disk(), world.switch.clone()).ok()?;
        let mut tasks = JoinSet::new();
        let pacing = Arc::clone(world);
        let (store, work) = Store::as_task(Box::new(backend), async move || pacing.pace().await);
        tasks.spawn(work);
        let clock = {
            let world = Arc::clone(world);
            move || world.now()
        };
        let parts = DaemonParts {
            fold_settings: config.fold_settings(Some(host_name())),
            prices: PriceTable::clone(prices),
            retention: config.retention(),
            clock: clock.into(),
            url: "http://127.0.0.1:1".to_owned(),
            hold_rules: HoldRules::new(config.hold_seconds()),
            files: Arc::new(SimulatedFiles),
            ..DaemonParts::new(store.clone(), registrar(world))
        };
        let Ok(StartedParts { mut app, engine_task: task, .. }) = parts.start().await else {
            // The disk failed while the daemon released the asks that the last one held.
            let dead = world.switch.is_dead();
            if dead {
                world.leave_for_dead();
            }
            tasks.shutdown().await;
            if dead {
                world.switch.stop_faults();
            }
            return None;
        };
        if world.planted.is_some() {
            let (engine, work) = planted::relay_with_bug(Arc::clone(world), app.engine, store.clone());
            tasks.spawn(work);
            app.engine = engine;
        }
        let App { engine, health, holds, .. } = app.clone();
        let hooks = Arc::new(app.clone());
        let sink = Sink { engine: engine.clone(), health: Arc::clone(&health), hooks };
        drain::drain_at(&sink, &world.spool(), world.now()).await;
        let (callers, calls) = mpsc::unbounded_channel();
        *world.door.lock().unwrap() = Some(Door { callers });
        tasks.spawn(answer_the_door(calls, app));
        drain::drain_at(&sink, &world.spool(), world.now()).await;
        // The spool is drained once more.
        world.spooled.notify_one();
        tasks.spawn(look_after_spool(sink, Arc::clone(world)));
        Some(Self { engine, task, holds, boot: health.boot.clone(), store, tasks })
    }

    pub(super) fn boot(&self) -> &str {
        &self.boot
    }

    /// Ends the daemon as `kill -9` does: nothing is closed or reported.
    pub(super) async fn kill(mut self, world: &World) {
        *world.door.lock().unwrap() = None;
        world.switch.kill();
        world.leave_for_dead();
        self.task.abort();
        self.tasks.shutdown().await;
        world.switch.stop_faults();
    }

    /// A clean stop. The engine writes a snapshot last.
    pub(super) async fn stop(mut self, world: &World) {
        *world.door.lock().unwrap() = None;
        self.holds.close();
        self.engine.stop().await;
        // Writing may fail on the simulated disk. The next start then reads what is there.
        let _ = self.store.close().await;
        self.tasks.shutdown().await;
    }
}

/// No hooks are installed, so that efforts change none.
fn registrar(world: &World) -> Registrar {
    let folder = world.folder.path();
    let file = SettingsFile::new(&folder.join("settings.json"), &folder.join("backups"));
    let registration = Registration::new("/opt/flightdeck".as_ref(), folder, ClientVersion::assumed());
    Registrar::new(file, registration, false, world.spool())
}

async fn answer_the_door(mut calls: mpsc::UnboundedReceiver<UnixStream>, app: App) {
    let mut conversations = JoinSet::new();
    while let Some(stream) = calls.recv().await {
        conversations.spawn(serve_connection(stream, app.clone()));
        while conversations.try_join_next().is_some() {}
    }
}

async fn look_after_spool(sink: Sink, world: World) {
    let mut left = Drained::Empty;
    loop {
        let hint = world.spooled.notified();
        match left {
            Drained::Waiting => drop(tokio::time::timeout(RETRY_AFTER, hint).await),
            Drained::Empty => hint.await,
        }
        tokio::time::sleep(SETTLE).await;
        left = drain::drain_at(&sink, &world.spool(), world.now()).await;
    }
}
