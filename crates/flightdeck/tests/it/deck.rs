//! A daemon's insides (store, engine, HTTP, socket) under a clock that the story sets.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use flightdeck::asks::holds::{HoldRules, Holds};
use flightdeck::claude_settings::{ClientVersion, Registration, SettingsFile};
use flightdeck::engine::{Engine, EngineHandle, NotStored};
use flightdeck::guard::Guard;
use flightdeck::health::Health;
use flightdeck::registration::Registrar;
use flightdeck::restore::{self, Keeper};
use flightdeck::server::{App, front};
use flightdeck::store::{Appended, RetentionPolicy, Store};
use flightdeck_core::ask::policy::Policy;
use flightdeck_core::record::Record;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::{Millis, Timestamp};
use serde_json::Value;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;

use crate::http::{self, Answer};
use crate::socket::Socket;

/// Noon of some day.
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_744_000_000)
}

pub(crate) struct Deck {
    runtime: Runtime,
    pub(crate) addr: SocketAddr,
    pub(crate) health: Arc<Health>,
    engine: EngineHandle,
    clock: Arc<AtomicI64>,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Deck {
    pub(crate) fn new() -> Self {
        Self::with(Store::in_memory().unwrap(), noon(), Duration::from_secs(3600))
    }

    pub(crate) fn with(store: Store, now: Timestamp, heartbeat_every: Duration) -> Self {
        Self::build(store, now, heartbeat_every, HoldRules::new(605))
    }

    /// Forms of MCP servers are held too.
    pub(crate) fn with_forms() -> Self {
        let rules = HoldRules { elicitation: true, ..HoldRules::new(605) };
        Self::build(Store::in_memory().unwrap(), noon(), Duration::from_secs(3600), rules)
    }

    /// Hooks are held for `hold`.
    pub(crate) fn holding(hold: Duration) -> Self {
        let rules = HoldRules { hold, ..HoldRules::new(605) };
        Self::build(Store::in_memory().unwrap(), noon(), Duration::from_secs(3600), rules)
    }

    /// With these rules, as config.toml has them.
    pub(crate) fn with_policy(toml: &str) -> Self {
        let policy = toml::from_str::<flightdeck::config::Config>(toml).unwrap().policy;
        let store = Store::in_memory().unwrap();
        Self::build_with(store, noon(), Duration::from_secs(3600), HoldRules::new(605), policy)
    }

    fn build(store: Store, now: Timestamp, heartbeat_every: Duration, hold_rules: HoldRules) -> Self {
        Self::build_with(store, now, heartbeat_every, hold_rules, Policy::default())
    }

    fn build_with(
        store: Store,
        now: Timestamp,
        heartbeat_every: Duration,
        hold_rules: HoldRules,
        policy: Policy,
    ) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("daemon.sock");
        let clock = Arc::new(AtomicI64::new(now.as_millis()));
        let health = Arc::new(Health::default());
        let (addr, engine) = runtime.block_on(async {
            let restored = restore::restore(&store, Rules::default()).await.unwrap();
            let reading = Arc::clone(&clock);
            let (engine, handle) = Engine::new(
                restored.fleet,
                store.clone(),
                Arc::clone(&health),
                Keeper::new(RetentionPolicy::default()),
                flightdeck::inlet::tail::follow::Tail::default(),
                move || Timestamp::from_millis(reading.load(Ordering::SeqCst)),
                tokio::sync::mpsc::channel(1).0,
            );
            let holds = Arc::<Holds>::default();
            tokio::spawn(engine.with_holds(Arc::clone(&holds)).run());
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let file =
                SettingsFile::new(&folder.path().join("settings.json"), &folder.path().join("backups"));
            let registration =
                Registration::new("/opt/flightdeck".as_ref(), folder.path(), ClientVersion::assumed());
            let spool = folder.path().join("spool");
            let registrar =
                Arc::new(Registrar::new(file, registration, true, spool, format!("http://{addr}")));
            let app = App {
                engine: handle.clone(),
                store,
                health: Arc::clone(&health),
                registrar,
                heartbeat_every,
                history: Arc::default(),
                terminals: Arc::default(),
                prices: Arc::new(flightdeck::config::Config::default().prices().unwrap()),
                holds: Arc::clone(&holds),
                hold_rules,
                policy: Arc::new(policy),
            };
            let guard = Arc::new(Guard::new(addr, &[], None, Arc::clone(&health)));
            let hooks = UnixListener::bind(&socket).unwrap();
            tokio::spawn(flightdeck::inlet::socket::serve(hooks, app.clone()));
            tokio::spawn(async move { axum::serve(listener, front(app, guard)).await });
            (addr, handle)
        });
        Self { runtime, addr, health, engine, clock, socket, _folder: folder }
    }

    pub(crate) fn set_clock(&self, now: Timestamp) {
        self.clock.store(now.as_millis(), Ordering::SeqCst);
    }
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.load(Ordering::SeqCst))
    }
    /// Time passes; the engine looks at its timers once it has answered.
    pub(crate) fn pass(&self, time: Millis) {
        self.set_clock(self.now() + time);
        self.board();
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
    /// Stored, applied, and the viewers told: a question is answered only then.
    pub(crate) fn append(&self, records: Vec<Record>) -> Result<Vec<Appended>, NotStored> {
        self.block_on(async {
            let appended = self.engine.append(records).await;
            // A stopped engine has nobody to tell.
            let _ = self.engine.overview().await;
            appended
        })
    }
    pub(crate) fn board(&self) -> Value {
        serde_json::from_slice(&self.block_on(self.engine.board()).unwrap()).unwrap()
    }
    pub(crate) fn stop(&self) {
        self.block_on(self.engine.stop());
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        http::get(self.addr, path)
    }
    pub(crate) fn post(&self, body: &str) -> Answer {
        http::post(self.addr, "/api/live/hook", body)
    }
    pub(crate) fn socket(&self) -> Socket {
        Socket::connect(&self.socket)
    }
}
