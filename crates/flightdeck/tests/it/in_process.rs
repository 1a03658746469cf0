//! A daemon inside the test process (store, engine, HTTP, socket), under a clock that the test sets.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flightdeck::app::registration::Registrar;
use flightdeck::config::live::LiveConfig;
use flightdeck::daemon::{DaemonParts, LiveSettings, StartedParts};
use flightdeck::engine::{EngineHandle, NotStored};
use flightdeck::health::Health;
use flightdeck::ingest::Sink;
use flightdeck::ingest::drain::drain_at;
use flightdeck::notify::settings::NotifySettings;
use flightdeck::settings::{ClientVersion, Registration, SettingsFile};
use flightdeck::store::{Appended, Store};
use flightdeck::transcripts::follow::{WatchList, follow};
use flightdeck::transcripts::history::History;
use flightdeck::transport::gate::Gate;
use flightdeck::transport::http::http_service;
use flightdeck_core::approval::policy::Policy;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_e2e::testkit::SocketClient;
use flightdeck_e2e::testkit::http::{self, Response};
use serde_json::Value;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// A fixed time at noon.
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_744_000_000)
}

pub(crate) struct InProcessDaemon {
    runtime: Runtime,
    pub(crate) addr: SocketAddr,
    pub(crate) health: Arc<Health>,
    engine: EngineHandle,
    store: Store,
    history: Arc<History>,
    watch_list: WatchList,
    prices: watch::Receiver<Arc<PriceTable>>,
    settings: Mutex<LiveSettings>,
    sink: Sink,
    clock: Arc<AtomicI64>,
    socket: PathBuf,
    folder: tempfile::TempDir,
}

/// What a test may set before the daemon starts.
pub(crate) struct Builder {
    store: Store,
    now: Timestamp,
    heartbeat_every: Duration,
    hold_rules: HoldRules,
    policy: Policy,
    fold_settings: FoldSettings,
    ends_old_holds: bool,
    notify: NotifySettings,
    token: Option<String>,
}

impl Builder {
    fn new() -> Self {
        Self {
            store: Store::in_memory().unwrap(),
            now: noon(),
            ends_old_holds: true,
            heartbeat_every: Duration::from_secs(3600),
            hold_rules: HoldRules::new(605),
            policy: Policy::default(),
            fold_settings: FoldSettings::default(),
            notify: NotifySettings::default(),
            token: None,
        }
    }

    pub(crate) fn store(self, store: Store) -> Self {
        Self { store, ..self }
    }

    pub(crate) fn now(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    pub(crate) fn heartbeat_every(self, heartbeat_every: Duration) -> Self {
        Self { heartbeat_every, ..self }
    }

    pub(crate) fn hold_rules(self, change: impl FnOnce(&mut HoldRules)) -> Self {
        let mut hold_rules = self.hold_rules;
        change(&mut hold_rules);
        Self { hold_rules, ..self }
    }

    /// A policy from this part of config.toml.
    pub(crate) fn policy(self, toml: &str) -> Self {
        let policy = toml::from_str::<flightdeck::config::Config>(toml).unwrap().policy;
        Self { policy, ..self }
    }

    pub(crate) fn fold_settings(self, fold_settings: FoldSettings) -> Self {
        Self { fold_settings, ..self }
    }

    /// Leaves asks open that the last daemon held, so that the board is the fold of the log alone.
    pub(crate) fn keeping_old_holds(self) -> Self {
        Self { ends_old_holds: false, ..self }
    }

    /// The `[notify]` part of config.toml.
    pub(crate) fn notify(self, toml: &str) -> Self {
        Self { notify: toml::from_str(toml).unwrap(), ..self }
    }

    pub(crate) fn token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    pub(crate) fn start(self) -> InProcessDaemon {
        let Self {
            store,
            now,
            heartbeat_every,
            hold_rules,
            policy,
            fold_settings,
            ends_old_holds,
            notify,
            token,
        } = self;
        let public_host = notify.public_host().map(str::to_owned);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("daemon.sock");
        let clock = Arc::new(AtomicI64::new(now.as_millis()));
        let health = Arc::new(Health::default());
        let watch_list = WatchList::default();
        let (addr, engine, history, prices, settings, sink) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let config = flightdeck::config::Config { policy, notify, ..Default::default() };
            let reading = Arc::clone(&clock);
            let now = move || Timestamp::from_millis(reading.load(Ordering::SeqCst));
            let parts = DaemonParts {
                health: Arc::clone(&health),
                fold_settings,
                clock: now.into(),
                watch_list: watch_list.clone(),
                url: format!("http://{addr}"),
                heartbeat_every,
                hold_rules,
                ends_old_holds,
                config: Arc::new(LiveConfig::new(&folder.path().join("config.toml"), config)),
                ..DaemonParts::new(store.clone(), registrar(folder.path()))
            };
            let StartedParts { app, engine, history, dispatcher, .. } = parts.start().await.unwrap();
            tokio::spawn(dispatcher.run());
            tokio::spawn(app.clone().follow_note_settings());
            let gate = Gate::new(addr, &[], token, Arc::clone(&health));
            let gate = Arc::new(gate.with_public_host(public_host.as_deref()));
            let (prices, settings) = (app.price_changes(), LiveSettings::new(app.clone(), Arc::clone(&gate)));
            let connections = UnixListener::bind(&socket).unwrap();
            tokio::spawn(flightdeck::transport::socket::serve(connections, app.clone()));
            let sink =
                Sink { engine: engine.clone(), health: Arc::clone(&health), hooks: Arc::new(app.clone()) };
            tokio::spawn(axum::serve(listener, http_service(app, gate)).into_future());
            (addr, engine, history, prices, settings, sink)
        });
        InProcessDaemon {
            runtime,
            addr,
            health,
            engine,
            store,
            history,
            watch_list,
            prices,
            settings: Mutex::new(settings),
            sink,
            clock,
            socket,
            folder,
        }
    }
}

fn registrar(folder: &Path) -> Registrar {
    let file = SettingsFile::new(&folder.join("settings.json"), &folder.join("backups"));
    let registration = Registration::new("/opt/flightdeck".as_ref(), folder, ClientVersion::assumed());
    Registrar::new(file, registration, true, folder.join("spool"))
}

impl InProcessDaemon {
    pub(crate) fn new() -> Self {
        Self::builder().start()
    }

    pub(crate) fn builder() -> Builder {
        Builder::new()
    }

    /// Follows the transcripts that the database names.
    pub(crate) fn following_transcripts(self) -> Self {
        let (store, engine, history) = (self.store.clone(), self.engine.clone(), Arc::clone(&self.history));
        let prices = self.prices.clone();
        self.runtime.spawn(follow(self.watch_list.clone(), store, engine, prices, history));
        self
    }

    pub(crate) fn set_clock(&self, now: Timestamp) {
        self.clock.store(now.as_millis(), Ordering::SeqCst);
    }
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.load(Ordering::SeqCst))
    }
    /// Moves the clock on. The engine runs its timers before it replies.
    pub(crate) fn pass(&self, time: Millis) {
        self.set_clock(self.now() + time);
        self.board();
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
    /// Appends records and waits until they are applied and published: the engine replies to a query only then.
    pub(crate) fn append(&self, records: Vec<Record>) -> Result<Vec<Appended>, NotStored> {
        self.block_on(async {
            let appended = self.engine.append(records).await;
            // A stopped engine does not reply.
            let _ = self.engine.overview().await;
            appended
        })
    }
    pub(crate) fn board(&self) -> Value {
        serde_json::from_slice(&self.block_on(self.engine.board()).unwrap()).unwrap()
    }
    /// Writes config.toml and applies it as the running daemon does.
    pub(crate) fn change_settings(&self, text: &str) {
        std::fs::write(self.folder.path().join("config.toml"), text).unwrap();
        let mut settings = self.settings.lock().unwrap();
        self.block_on(settings.apply_changes()).unwrap();
    }
    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }
    pub(crate) fn stop(&self) {
        self.block_on(self.engine.stop());
    }

    /// What hooks spooled while no daemon ran.
    pub(crate) fn drain(&self, spool: &Path) {
        self.block_on(drain_at(&self.sink, spool, self.now()));
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        http::get(self.addr, path)
    }
    pub(crate) fn post(&self, body: &str) -> Response {
        http::post(self.addr, "/api/live/hook", body)
    }
    pub(crate) fn socket_path(&self) -> &Path {
        &self.socket
    }
    pub(crate) fn socket(&self) -> SocketClient {
        SocketClient::connect(&self.socket)
    }
}
