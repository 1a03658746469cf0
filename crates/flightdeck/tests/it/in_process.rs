//! A daemon inside the test process (store, engine, HTTP, socket), under a clock that the test sets.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use flightdeck::app::App;
use flightdeck::app::holds::HeldHooks;
use flightdeck::app::registration::Registrar;
use flightdeck::engine::{Engine, EngineHandle, NotStored, Outbox};
use flightdeck::engine::{housekeeping::Keeper, restore};
use flightdeck::health::Health;
use flightdeck::ingest::Sink;
use flightdeck::ingest::drain::drain_at;
use flightdeck::notify::settings::NotifySettings;
use flightdeck::notify::{Dispatcher, Notifier};
use flightdeck::settings::{ClientVersion, Registration, SettingsFile};
use flightdeck::store::{Appended, RetentionPolicy, Store};
use flightdeck::transcripts::follow::{WatchList, follow};
use flightdeck::transport::gate::Gate;
use flightdeck::transport::http::front;
use flightdeck_core::approval::policy::Policy;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_e2e::testkit::SocketClient;
use flightdeck_e2e::testkit::http::{self, Response};
use serde_json::Value;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;

/// A fixed time at noon.
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_744_000_000)
}

pub(crate) struct InProcessDaemon {
    runtime: Runtime,
    pub(crate) addr: SocketAddr,
    pub(crate) health: Arc<Health>,
    engine: EngineHandle,
    app: App,
    watch_list: WatchList,
    clock: Arc<AtomicI64>,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a test may set before the daemon starts.
pub(crate) struct Builder {
    store: Store,
    now: Timestamp,
    heartbeat_every: Duration,
    hold_rules: HoldRules,
    policy: Policy,
    rules: Rules,
    notify: NotifySettings,
    token: Option<String>,
}

impl Builder {
    fn new() -> Self {
        Self {
            store: Store::in_memory().unwrap(),
            now: noon(),
            heartbeat_every: Duration::from_secs(3600),
            hold_rules: HoldRules::new(605),
            policy: Policy::default(),
            rules: Rules::default(),
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

    pub(crate) fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The `[notify]` part of config.toml.
    pub(crate) fn notify(self, toml: &str) -> Self {
        Self { notify: toml::from_str(toml).unwrap(), ..self }
    }

    pub(crate) fn token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    pub(crate) fn start(self) -> InProcessDaemon {
        let Self { store, now, heartbeat_every, hold_rules, policy, rules, notify, token } = self;
        let rules = Rules { notify: notify.rules(), ..rules };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("daemon.sock");
        let clock = Arc::new(AtomicI64::new(now.as_millis()));
        let health = Arc::new(Health::default());
        let watch_list = WatchList::default();
        let (addr, app) = runtime.block_on(async {
            let outbox = Outbox::for_targets(notify.target_names().into());
            let prices = flightdeck::config::Config::default().prices().unwrap();
            let restored = restore::restore_with(&store, rules, &prices, outbox).await.unwrap();
            let reading = Arc::clone(&clock);
            let (engine, handle) = Engine::new(
                restored.fleet,
                store.clone(),
                Arc::clone(&health),
                Keeper::new(RetentionPolicy::default()),
                watch_list.clone(),
                move || Timestamp::from_millis(reading.load(Ordering::SeqCst)),
                tokio::sync::mpsc::channel(1).0,
            );
            let holds = Arc::<HeldHooks>::default();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let (notifier, notes) = Notifier::new(notify, "http://deck");
            let mut engine = engine.with_outbox(restored.outbox).with_holds(Arc::clone(&holds));
            if notifier.has_targets() {
                engine = engine.with_notes(Arc::clone(&notifier) as _);
            }
            tokio::spawn(engine.run());
            let reading = Arc::clone(&clock);
            let dispatcher = Dispatcher::new(
                Arc::clone(&notifier),
                handle.clone(),
                store.clone(),
                Arc::default(),
                move || Timestamp::from_millis(reading.load(Ordering::SeqCst)),
            );
            tokio::spawn(dispatcher.run(notes));
            let file =
                SettingsFile::new(&folder.path().join("settings.json"), &folder.path().join("backups"));
            let registration =
                Registration::new("/opt/flightdeck".as_ref(), folder.path(), ClientVersion::assumed());
            let spool = folder.path().join("spool");
            let registrar = Arc::new(Registrar::new(file, registration, true, spool));
            let app = App {
                engine: handle,
                store,
                health: Arc::clone(&health),
                registrar,
                url: format!("http://{addr}").into(),
                heartbeat_every,
                history: Arc::default(),
                terminals: Arc::default(),
                prices: Arc::new(prices),
                holds: Arc::clone(&holds),
                hold_rules,
                policy: Arc::new(policy),
                notifier,
            };
            let gate = Arc::new(Gate::new(addr, &[], token, Arc::clone(&health)));
            let hooks = UnixListener::bind(&socket).unwrap();
            tokio::spawn(flightdeck::transport::socket::serve(hooks, app.clone()));
            tokio::spawn(axum::serve(listener, front(app.clone(), gate)).into_future());
            (addr, app)
        });
        let engine = app.engine.clone();
        InProcessDaemon { runtime, addr, health, engine, app, watch_list, clock, socket, _folder: folder }
    }
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
        let App { store, engine, prices, history, .. } = self.app.clone();
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
    pub(crate) fn stop(&self) {
        self.block_on(self.engine.stop());
    }

    /// What hooks spooled while no daemon ran.
    pub(crate) fn drain(&self, spool: &Path) {
        let sink = Sink { engine: self.engine.clone(), health: Arc::clone(&self.health) };
        self.block_on(drain_at(&sink, spool, self.now()));
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        http::get(self.addr, path)
    }
    pub(crate) fn post(&self, body: &str) -> Response {
        http::post(self.addr, "/api/live/hook", body)
    }
    pub(crate) fn socket(&self) -> SocketClient {
        SocketClient::connect(&self.socket)
    }
}
