//! The daemon from start to end: what is opened in which order, and closed in the other.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::serve::ListenerExt;
use flightdeck_core::ask::{Ask, Gone, gone_record};
use flightdeck_core::fleet::Occupant;
use flightdeck_core::record::Record;
use flightdeck_core::session::Session;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::asks::holds::Holds;
use crate::claude_settings::{ClientVersion, Installed, Registration, SettingsFile, Via};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::connections::{Bounded, CONNECTIONS_MAX};
use crate::engine::{Engine, EngineHandle};
use crate::guard::Guard;
use crate::health::Health;
use crate::inlet::tail::follow::{Tail, follow};
use crate::inlet::tail::history::index;
use crate::inlet::{drain, liveness, registry, socket};
use crate::outlet::sse::HEARTBEAT_EVERY;
use crate::paths::Paths;
use crate::port::{self, Wish};
use crate::private_folder;
use crate::registration::{Registered, Registrar};
use crate::restore::{self, Keeper};
use crate::server::{App, front};
use crate::store::Store;
use crate::terminal::Terminals;

/// How long open connections may take to end once the streams were told to.
const GOODBYE_MAX: Duration = Duration::from_secs(3);

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub paths: Paths,
    pub config: Config,
    /// From `--port` or `FLIGHTDECK_PORT`: this one and no other.
    pub port: Option<u16>,
    pub bind: Option<IpAddr>,
    /// From [`Config::token`].
    pub token: Option<String>,
    /// Register the hooks for as long as the daemon runs.
    pub hooks: bool,
    /// The sessions are made up.
    pub simulated: bool,
    /// The settings file they go into.
    pub settings: PathBuf,
    /// Claude Code's own folder: its registry and the transcripts are there. `None` looks at nothing of the person's.
    pub config_dir: Option<PathBuf>,
    pub binary: PathBuf,
    pub version: ClientVersion,
}

/// `daemon.json`: how others find a running daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DaemonFile {
    pub pid: u32,
    pub port: u16,
    pub url: String,
    pub version: String,
}

/// A daemon that answers.
#[derive(Debug)]
pub(crate) struct Running {
    pub url: String,
    pub engine: EngineHandle,
    /// Sentences the person should read at start.
    pub notes: Vec<String>,
    /// Where the hooks are, if they are in order.
    pub registered: Option<String>,
    registrar: Arc<Registrar>,
    hooks: bool,
    paths: Paths,
    store: Store,
    server: JoinHandle<io::Result<()>>,
    /// `None` once it ended by itself.
    engine_task: Option<JoinHandle<()>>,
    beside: Vec<JoinHandle<()>>,
    goodbye: watch::Sender<bool>,
    holds: Arc<Holds>,
    _lock: fs::File,
}

pub(crate) async fn start(options: Options) -> anyhow::Result<Running> {
    let Options { paths, config, .. } = &options;
    raise_file_limit();
    make_private(&paths.home)?;
    // Before anything else is touched: a daemon that already runs for this home uses it.
    let lock = lock(paths)?;
    make_folders(paths)?;
    let mut notes = Vec::new();

    let file = SettingsFile::new(&options.settings, &paths.backups());
    let listener = listen(&options, &file, &mut notes).await?;
    let addr = listener.local_addr()?;
    let url = url_of(addr);

    let health = Arc::new(Health::default());
    let store = open_store(paths, &mut notes)?;
    let prices = Arc::new(config.prices()?);
    let tail = Tail::new(options.config_dir.as_ref().map(|dir| dir.join("projects")));
    let (seats, news) = mpsc::channel(liveness::SEATS_WAITING_MAX);
    let holds = Arc::<Holds>::default();
    let engine = start_engine(&store, config, &health, &tail, clock::now, seats, &holds).await?;
    let registration = registration(&options, addr.port());
    let hold_seconds = file.installed().ok().flatten().and_then(|i| i.hold_seconds);
    let registrar = Registrar::new(file, registration, options.hooks, paths.spool(), url.clone());
    let registrar = Arc::new(registrar.simulated(options.simulated));
    let app = App {
        engine: engine.0.clone(),
        store: store.clone(),
        health: Arc::clone(&health),
        registrar: Arc::clone(&registrar),
        heartbeat_every: HEARTBEAT_EVERY,
        history: Arc::default(),
        prices: Arc::clone(&prices),
        holds: Arc::clone(&holds),
        hold_rules: config.hold_rules(hold_seconds.unwrap_or(config.hold_seconds())),
        policy: Arc::new(config.policy.clone()),
        terminals: Arc::new(Terminals::new(config.focus_command.clone())),
    };

    let mut beside = take_in(&app, &options, news).await?;
    let history = Arc::clone(&app.history);
    beside.push(tokio::spawn(follow(tail.clone(), store.clone(), engine.0.clone(), prices, history)));
    if let Some(config_dir) = &options.config_dir {
        let projects = config_dir.join("projects");
        beside.push(tokio::spawn(index(Arc::clone(&app.history), projects, store.clone(), tail)));
    }
    let (goodbye, leaving) = watch::channel(false);
    let guard = Arc::new(Guard::new(addr, &config.hosts, options.token.clone(), Arc::clone(&health)));
    let server = tokio::spawn(serve(listener, app, guard, leaving));
    write_daemon_file(paths, &url, addr.port())?;
    let registered = if options.hooks { register(&registrar, &mut notes).await } else { None };
    let (engine, engine_task) = engine;
    Ok(Running {
        url,
        engine,
        notes,
        registered,
        registrar,
        hooks: options.hooks,
        paths: paths.clone(),
        store,
        server,
        engine_task: Some(engine_task),
        beside,
        goodbye,
        holds,
        _lock: lock,
    })
}

async fn listen(
    options: &Options,
    file: &SettingsFile,
    notes: &mut Vec<String>,
) -> anyhow::Result<TcpListener> {
    let bind = options.bind.or(options.config.bind).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if !bind.is_loopback() && options.token.is_none() {
        bail!(
            "to listen on {bind}, beyond this machine, set a token: FLIGHTDECK_TOKEN, FLIGHTDECK_TOKEN_FILE or `token` in config.toml"
        );
    }
    let installed = sends_here(options, file);
    let baked = installed.as_ref().map(|i| i.port().unwrap_or(options.config.default_port()));
    if options.token.is_some() && installed.is_some_and(|i| !i.token) {
        let note = "The registered http or curl hooks send no token, so their events are refused: run `flightdeck hooks repair`";
        tracing::warn!("{note}");
        notes.push(note.to_owned());
    }
    Ok(port::listen(bind, wish(options, baked)?).await?)
}

fn registration(options: &Options, port: u16) -> Registration {
    Registration {
        via: Via::Shim,
        port,
        hold_seconds: options.config.hold_seconds(),
        hold_elicitation: options.config.hold_elicitation,
        ..Registration::new(&options.binary, &options.paths.home, options.version.clone())
    }
}

/// Opens the ways in. What waited while nobody listened comes first, then what came between listening and binding.
async fn take_in(
    app: &App,
    options: &Options,
    news: mpsc::Receiver<Occupant>,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    let spool = options.paths.spool();
    drain::drain(app, &spool).await;
    let hooks_in = bind_socket(&options.paths)?;
    drain::drain(app, &spool).await;
    // Only now: a session may have begun and died while nobody listened.
    let restored = app.engine.occupants().await?;
    let mut beside = vec![
        tokio::spawn(socket::serve(hooks_in, app.clone())),
        tokio::spawn(drain::watch(app.clone(), spool)),
        tokio::spawn(liveness::watch(app.clone(), restored, news)),
    ];
    if let Some(config_dir) = &options.config_dir {
        beside.push(tokio::spawn(registry::watch(app.clone(), config_dir.clone())));
    }
    Ok(beside)
}

impl Running {
    /// Waits until the engine ends by itself, which it does only by a mistake of ours: better no daemon than a dead one
    /// that holds the socket.
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

    /// The other way round: hooks out first, so that no client calls a daemon that is closing. Says what became of them.
    pub(crate) async fn stop(self) -> Option<String> {
        let mut released = None;
        if self.hooks {
            let registrar = Arc::clone(&self.registrar);
            // A panic in there was logged; the rest must still be closed.
            released = tokio::task::spawn_blocking(move || registrar.release()).await.ok().flatten();
        }
        // Before their connections break off, which would look like a refusal.
        self.holds.close();
        // Missing is fine: a path under /tmp may have been swept.
        let _ = fs::remove_file(self.paths.socket());
        self.beside.iter().for_each(JoinHandle::abort);
        self.engine.stop().await;
        if let Some(engine) = self.engine_task {
            // A panic in there was logged; what follows must still be closed.
            let _ = engine.await;
        }
        // Streams end with the engine; whoever still downloads has a moment.
        let _ = self.goodbye.send(true);
        if tokio::time::timeout(GOODBYE_MAX, self.server).await.is_err() {
            tracing::warn!("connections were still open at the end");
        }
        if let Err(error) = self.store.close().await {
            tracing::error!(%error, "the store did not close cleanly");
        }
        // Missing is fine here too, and one that stays is removed by the next start.
        let _ = fs::remove_file(self.paths.daemon_file());
        tracing::info!("stopped");
        released
    }
}

/// Each session is watched by a descriptor of its own, and each viewer holds one: take what the system allows.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Where a browser of this machine goes: `0.0.0.0` is no address to visit.
fn url_of(addr: SocketAddr) -> String {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, addr.port()))
}

fn make_private(dir: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot make the folder {}", dir.display()))
}

/// An old link goes, or a folder from a time without a runtime folder with what a daemon left there, and nothing else.
fn clear_old_run(run: &Path) {
    // Most of it is usually not there. What stays is in the way of the new link, whose error says so.
    if run.is_symlink() {
        let _ = fs::remove_file(run);
        return;
    }
    let _ = fs::remove_file(run.join("daemon.sock"));
    let _ = fs::remove_file(run.join("daemon.json"));
    let _ = fs::remove_dir(run);
}

fn make_folders(paths: &Paths) -> anyhow::Result<()> {
    make_private(&paths.logs)?;
    make_private(&paths.spool())?;
    let run = paths.home.join("run");
    if run == paths.runtime && run.is_symlink() && !run.exists() {
        // A link from a start with a runtime folder, which was swept when the person logged out.
        fs::remove_file(&run).with_context(|| format!("cannot remove the link {}", run.display()))?;
    }
    make_private(&paths.runtime)?;
    if run != paths.runtime && fs::read_link(&run).ok().as_ref() != Some(&paths.runtime) {
        clear_old_run(&run);
        symlink(&paths.runtime, &run)
            .with_context(|| format!("cannot link {}: move what is there out of the way", run.display()))?;
    }
    let socket = paths.socket();
    let folder = socket.parent().unwrap_or(&paths.home);
    make_private(folder)?;
    private_folder::open(folder).with_context(|| format!("{} must belong to you alone", folder.display()))?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .with_context(|| format!("cannot make {} private", folder.display()))
}

/// One daemon per home. The lock goes with the process, however it ends.
fn lock(paths: &Paths) -> anyhow::Result<fs::File> {
    let path = paths.home.join("daemon.lock");
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            // What a killed daemon left would name the wrong one. Usually there is nothing.
            let _ = fs::remove_file(paths.daemon_file());
            Ok(file)
        }
        Err(rustix::io::Errno::WOULDBLOCK) => match read_daemon_file(paths) {
            Some(other) => bail!(
                "Flightdeck already runs for this home: pid {}, {}. Stop it first, or use another --home",
                other.pid,
                other.url
            ),
            None => bail!("Flightdeck already runs for {}", paths.home.display()),
        },
        Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

pub(crate) fn read_daemon_file(paths: &Paths) -> Option<DaemonFile> {
    serde_json::from_slice(&fs::read(paths.daemon_file()).ok()?).ok()
}

fn write_daemon_file(paths: &Paths, url: &str, port: u16) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let file = DaemonFile { pid: std::process::id(), port, url: url.to_owned(), version };
    let path = paths.daemon_file();
    fs::write(&path, serde_json::to_vec(&file)?).with_context(|| format!("cannot write {}", path.display()))
}

/// http and curl handlers have the port baked in: with those registered there is only one right port.
fn sends_here(options: &Options, file: &SettingsFile) -> Option<Installed> {
    // Another home's handlers are meant for another daemon. A file that cannot be read is named when we register.
    let other = file.other_home(&options.paths.home).ok().flatten();
    let installed = file.installed().ok().flatten().filter(|i| i.via != Via::Shim && other.is_none())?;
    // Those with another host in them are, too.
    (installed.url.is_none() || installed.port().is_some()).then_some(installed)
}

fn wish(options: &Options, baked: Option<u16>) -> anyhow::Result<Wish> {
    match (options.port.or(options.config.port), baked) {
        // Without hooks it is the person's wish that nothing comes from there.
        (Some(port), Some(baked)) if port != baked && options.hooks => bail!(
            "the hooks in {} send to port {baked}, but port {port} was asked for: start with --port {baked}, or \
             register them anew with `flightdeck hooks install`",
            options.settings.display()
        ),
        (Some(port), _) | (None, Some(port)) => Ok(Wish::Exactly(port)),
        (None, None) => Ok(Wish::Near(options.config.default_port())),
    }
}

fn open_store(paths: &Paths, notes: &mut Vec<String>) -> anyhow::Result<Store> {
    let opened = Store::open(&paths.database())?;
    if let Some(aside) = opened.set_aside {
        let note = format!(
            "The event log was damaged ({}). It was set aside as {} and a new one begun.",
            aside.reason,
            aside.path.display()
        );
        tracing::error!("{note}");
        notes.push(note);
    }
    Ok(opened.store)
}

pub(crate) async fn start_engine(
    store: &Store,
    config: &Config,
    health: &Arc<Health>,
    tail: &Tail,
    clock: impl Into<Clock>,
    seats: mpsc::Sender<Occupant>,
    holds: &Arc<Holds>,
) -> anyhow::Result<(EngineHandle, JoinHandle<()>)> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let started = std::time::Instant::now();
    let restored = restore::restore_priced(store, config.rules(Some(host)), &config.prices()?).await?;
    tracing::info!(
        sessions = restored.fleet.len(),
        replayed = restored.replayed,
        unreadable = restored.unreadable,
        from_snapshot = restored.from_snapshot,
        took_ms = started.elapsed().as_millis() as u64,
        "the fleet is back"
    );
    // Only told to whoever asks: one that cannot be read is as good as none.
    if let Ok(Some(last)) = store.event(store.last_seq().await?).await {
        health.metrics.heard_at(last.received_at);
    }
    let released: Vec<Record> = restored.fleet.held_asks().map(released).collect();
    let keeper = Keeper::new(config.retention());
    let (engine, handle) =
        Engine::new(restored.fleet, store.clone(), Arc::clone(health), keeper, tail.clone(), clock, seats);
    let task = tokio::spawn(engine.with_holds(Arc::clone(holds)).run());
    if !released.is_empty()
        && let Err(error) = handle.append(released).await
    {
        // A full disk: better a board with asks that nobody can answer here than no board.
        tracing::error!(%error, "asks that nobody holds any more stay open");
    }
    Ok((handle, task))
}

/// Whoever held it is gone with the last daemon: only the terminal can answer it now.
fn released((session, ask): (&Session, &Ask)) -> Record {
    gone_record(&session.id, &ask.id, Gone::Released, clock::fresh_id())
}

fn bind_socket(paths: &Paths) -> anyhow::Result<UnixListener> {
    let path = paths.socket();
    // We hold the lock, so a socket that lies here is a dead daemon's.
    let _ = fs::remove_file(&path);
    let listener =
        UnixListener::bind(&path).with_context(|| format!("cannot bind the socket {}", path.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn serve(
    listener: TcpListener,
    app: App,
    guard: Arc<Guard>,
    mut leaving: watch::Receiver<bool>,
) -> io::Result<()> {
    // The answer to a hook is one small packet: waiting to fill it would stall the client for 40 ms.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
    });
    axum::serve(Bounded::new(listener, CONNECTIONS_MAX), front(app, guard))
        .with_graceful_shutdown(async move {
            // The sender is gone: the daemon is ending anyway.
            let _ = leaving.wait_for(|left| *left).await;
        })
        .await
}

async fn register(registrar: &Arc<Registrar>, notes: &mut Vec<String>) -> Option<String> {
    let registrar = Arc::clone(registrar);
    let done = tokio::task::spawn_blocking(move || registrar.register()).await;
    let problem = match done {
        Ok(Ok(Registered::Well(sentence))) => return Some(sentence),
        Ok(Ok(Registered::Drifted(note))) => {
            tracing::warn!("{note}");
            notes.push(note);
            return None;
        }
        Ok(Err(error)) => format!("{error:#}"),
        Err(error) => error.to_string(),
    };
    tracing::error!("hooks are not registered: {problem}");
    notes.push(format!("The hooks are not registered: {problem}"));
    None
}
