//! A daemon in the simulated world: the parts of `daemon.rs` that are not the machine's, put together the same way.

use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::price::PriceTable;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::world::World;
use crate::asks::holds::{HoldRules, Holds};
use crate::claude_settings::{ClientVersion, Registration, SettingsFile};
use crate::config::Config;
use crate::engine::EngineHandle;
use crate::health::Health;
use crate::inlet::drain::{self, Drained};
use crate::inlet::socket::converse;
use crate::inlet::tail::follow::Tail;
use crate::registration::Registrar;
use crate::server::App;
use crate::store::Store;
use crate::store::faulty::Faulty;

/// As in `drain::watch`, whose hints come from the kernel.
const SETTLE: Duration = Duration::from_millis(100);
const RETRY_AFTER: Duration = Duration::from_secs(2);

pub(super) struct Daemon {
    pub(super) engine: EngineHandle,
    task: JoinHandle<()>,
    holds: Arc<Holds>,
    boot: String,
    store: Store,
    tasks: JoinSet<()>,
}

/// Where connections come in.
#[derive(Debug)]
pub(super) struct Door {
    callers: mpsc::UnboundedSender<UnixStream>,
}

impl Door {
    /// `None` if nobody listens.
    pub(super) fn connect(world: &World) -> Option<UnixStream> {
        let door = world.door.lock().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        door.as_ref()?.callers.send(theirs).ok().map(|()| ours)
    }
}

impl Daemon {
    /// Dead disks and refusals at the start are not errors here: the next start finds what this one left.
    pub(super) async fn start(world: &World, config: &Config, prices: &Arc<PriceTable>) -> Option<Self> {
        let backend = Faulty::reopened(world.open_disk(), world.switch.clone()).ok()?;
        let mut tasks = JoinSet::new();
        let pacing = Arc::clone(world);
        let (store, work) = Store::as_task(Box::new(backend), async move || pacing.pace().await);
        tasks.spawn(work);
        let health = Arc::new(Health::default());
        let clock = {
            let world = Arc::clone(world);
            move || world.now()
        };
        let (tail, seats, holds) = (Tail::default(), mpsc::channel(1).0, Arc::<Holds>::default());
        let started = crate::daemon::start_engine(&store, config, &health, &tail, clock, seats, &holds).await;
        let Ok((engine, task)) = started else {
            // It let go of what it held asks for, and the disk refused, or died of it.
            let dead = world.switch.is_dead();
            if dead {
                world.leave_for_dead();
            }
            tasks.shutdown().await;
            if dead {
                world.switch.heal();
            }
            return None;
        };
        let hold_rules = HoldRules::new(config.hold_seconds());
        let app = App {
            engine: engine.clone(),
            store: store.clone(),
            health: Arc::clone(&health),
            registrar: Arc::new(registrar(world)),
            heartbeat_every: Duration::from_secs(15),
            history: Arc::default(),
            prices: Arc::clone(prices),
            terminals: Arc::default(),
            holds: Arc::clone(&holds),
            hold_rules,
            policy: Arc::default(),
        };
        drain::drain_at(&app, &world.spool(), world.now()).await;
        let (callers, calls) = mpsc::unbounded_channel();
        *world.door.lock().unwrap() = Some(Door { callers });
        tasks.spawn(answer_the_door(calls, app.clone()));
        drain::drain_at(&app, &world.spool(), world.now()).await;
        // What still waits is looked at again.
        world.spooled.notify_one();
        tasks.spawn(look_after_spool(app, Arc::clone(world)));
        Some(Self { engine, task, holds, boot: health.boot.clone(), store, tasks })
    }

    pub(super) fn boot(&self) -> &str {
        &self.boot
    }

    /// As `kill -9` does: nothing is closed, nothing is said.
    pub(super) async fn kill(mut self, world: &World) {
        *world.door.lock().unwrap() = None;
        world.switch.kill();
        world.leave_for_dead();
        self.task.abort();
        self.tasks.shutdown().await;
        world.switch.heal();
    }

    /// In order; the engine's last act is a snapshot.
    pub(super) async fn stop(mut self, world: &World) {
        *world.door.lock().unwrap() = None;
        self.holds.close();
        self.engine.stop().await;
        let _ = self.store.close().await;
        self.tasks.shutdown().await;
    }
}

/// Nobody asks it anything here.
fn registrar(world: &World) -> Registrar {
    let folder = world.folder.path();
    let file = SettingsFile::new(&folder.join("settings.json"), &folder.join("backups"));
    let registration = Registration::new("/opt/flightdeck".as_ref(), folder, ClientVersion::assumed());
    Registrar::new(file, registration, false, world.spool(), "http://127.0.0.1:1".to_owned())
}

async fn answer_the_door(mut calls: mpsc::UnboundedReceiver<UnixStream>, app: App) {
    let mut conversations = JoinSet::new();
    while let Some(stream) = calls.recv().await {
        conversations.spawn(converse(stream, app.clone()));
        while conversations.try_join_next().is_some() {}
    }
}

async fn look_after_spool(app: App, world: World) {
    let mut left = Drained::Empty;
    loop {
        let hint = world.spooled.notified();
        match left {
            Drained::Waiting => drop(tokio::time::timeout(RETRY_AFTER, hint).await),
            Drained::Empty => hint.await,
        }
        tokio::time::sleep(SETTLE).await;
        left = drain::drain_at(&app, &world.spool(), world.now()).await;
    }
}
