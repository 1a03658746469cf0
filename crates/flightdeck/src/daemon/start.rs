//! Starts the daemon: what is opened in which order.

use std::io;
use std::sync::Arc;

use axum::serve::ListenerExt;
use flightdeck_core::approval::ask::Ask;
use flightdeck_core::approval::resolution::HoldEnd;
use flightdeck_core::fleet::Occupant;
use flightdeck_core::log::approvals::hold_ended_record;
use flightdeck_core::log::record::Record;
use flightdeck_core::session::Session;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::{Options, Running, home, listen};
use crate::app::App;
use crate::app::holds::HeldHooks;
use crate::app::hook_watch;
use crate::app::registration::{Registered, Registrar};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::engine::housekeeping::Keeper;
use crate::engine::restore;
use crate::engine::{Engine, EngineHandle, NoteTargets, Outbox};
use crate::health::Health;
use crate::ingest::{Sink, drain, liveness, registry};
use crate::notify::{Dispatcher, Notifier};
use crate::paths::Paths;
use crate::settings::{Registration, SettingsFile, Via};
use crate::store::Store;
use crate::terminal::Terminals;
use crate::transcripts::follow::{WatchList, follow};
use crate::transcripts::history::index;
use crate::transport::connections::{Bounded, CONNECTIONS_MAX};
use crate::transport::gate::Gate;
use crate::transport::{HEARTBEAT_EVERY, http, socket};

pub(crate) async fn start(options: Options) -> anyhow::Result<Running> {
    let Options { paths, config, .. } = &options;
    home::raise_file_limit();
    home::make_private(&paths.home)?;
    // Before anything else is touched: a daemon that already runs for this home uses it.
    let lock = home::lock(paths)?;
    home::make_folders(paths)?;
    let mut notes = Vec::new();

    let file = SettingsFile::new(&options.settings, &paths.backups());
    let listener = listen::listen(&options, &file, &mut notes).await?;
    let addr = listener.local_addr()?;
    let url = listen::url_of(addr);

    let health = Arc::new(Health::default());
    let store = open_store(paths, &mut notes)?;
    let watch_list = WatchList::new(options.config_dir.as_ref().map(|dir| dir.join("projects")));
    let (seats, new_seats) = mpsc::channel(liveness::SEATS_WAITING_MAX);
    let holds = Arc::<HeldHooks>::default();
    let (notifier, queued_notes) = Notifier::new(config.notify.clone(), &url);
    let ports = EnginePorts {
        holds: Arc::clone(&holds),
        notes: notifier.has_targets().then(|| Arc::clone(&notifier) as Arc<dyn NoteTargets>),
    };
    let (engine, engine_task) =
        start_engine(&store, config, &health, &watch_list, clock::now, seats, ports).await?;
    let terminals = Arc::new(Terminals::new(config.focus_command.clone()));
    let hold_seconds = file.installed().ok().flatten().and_then(|i| i.hold_seconds);
    let registrar = Registrar::new(file, registration(&options, addr.port()), options.hooks, paths.spool());
    let registrar = Arc::new(registrar.simulated(options.simulated));
    let app = App {
        engine: engine.clone(),
        store: store.clone(),
        health: Arc::clone(&health),
        registrar: Arc::clone(&registrar),
        url: url.as_str().into(),
        heartbeat_every: HEARTBEAT_EVERY,
        history: Arc::default(),
        prices: Arc::new(config.prices()?),
        holds: Arc::clone(&holds),
        hold_rules: config.hold_rules(hold_seconds.unwrap_or(config.hold_seconds())),
        policy: Arc::new(config.policy.clone()),
        terminals: Arc::clone(&terminals),
        notifier: Arc::clone(&notifier),
    };
    let notes_task = notifier.has_targets().then(|| {
        let dispatcher =
            Dispatcher::new(Arc::clone(&notifier), engine.clone(), store.clone(), terminals, clock::now);
        tokio::spawn(dispatcher.run(queued_notes))
    });

    let mut readers = start_ingest(&app, &options, new_seats).await?;
    readers.extend(start_transcripts(&app, &options, watch_list));
    let (shutdown, stopping) = watch::channel(false);
    let gate = Arc::new(Gate::new(addr, &config.host_names(), options.token.clone(), health));
    let server = tokio::spawn(serve(listener, app, gate, stopping));
    home::write_daemon_file(paths, &url, addr.port())?;
    let registered = if options.hooks { register(&registrar, &mut notes).await } else { None };
    if !options.simulated {
        hook_watch::report_now(&engine, &registrar, true).await;
        readers.push(tokio::spawn(hook_watch::watch(engine.clone(), Arc::clone(&registrar))));
    }
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
        readers,
        shutdown,
        notifier,
        notes_task,
        holds,
        _lock: lock,
    })
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

/// Reads the spool, then binds the socket, then reads what was spooled between the two.
async fn start_ingest(
    app: &App,
    options: &Options,
    new_seats: mpsc::Receiver<Occupant>,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    let spool = options.paths.spool();
    let sink = Sink { engine: app.engine.clone(), health: Arc::clone(&app.health) };
    drain::drain(&sink, &spool).await;
    let hooks_in = home::bind_socket(&options.paths)?;
    drain::drain(&sink, &spool).await;
    // After the spool, whose events were not missed, and before the registry says what became of the sessions.
    if !options.simulated {
        hook_watch::report_at_start(&app.engine, &app.registrar).await;
    }
    // Only now: the spool may hold a session that began and died while no daemon ran.
    let restored = app.engine.occupants().await?;
    let mut readers = vec![
        tokio::spawn(socket::serve(hooks_in, app.clone())),
        tokio::spawn(drain::watch(sink.clone(), spool)),
        tokio::spawn(liveness::watch(sink.clone(), restored, new_seats)),
    ];
    if let Some(config_dir) = &options.config_dir {
        readers.push(tokio::spawn(registry::watch(sink, config_dir.clone())));
    }
    Ok(readers)
}

fn start_transcripts(app: &App, options: &Options, watch_list: WatchList) -> Vec<JoinHandle<()>> {
    let (store, engine) = (app.store.clone(), app.engine.clone());
    let (prices, history) = (Arc::clone(&app.prices), Arc::clone(&app.history));
    let mut readers =
        vec![tokio::spawn(follow(watch_list.clone(), store.clone(), engine, prices, history.clone()))];
    if let Some(config_dir) = &options.config_dir {
        let projects = config_dir.join("projects");
        readers.push(tokio::spawn(index(history, projects, store, watch_list)));
    }
    readers
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

/// What the engine calls.
#[derive(Debug)]
pub(crate) struct EnginePorts {
    pub(crate) holds: Arc<HeldHooks>,
    /// `None` if notes have no target.
    pub(crate) notes: Option<Arc<dyn NoteTargets>>,
}

pub(crate) async fn start_engine(
    store: &Store,
    config: &Config,
    health: &Arc<Health>,
    watch_list: &WatchList,
    clock: impl Into<Clock>,
    seats: mpsc::Sender<Occupant>,
    ports: EnginePorts,
) -> anyhow::Result<(EngineHandle, JoinHandle<()>)> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let started = std::time::Instant::now();
    let outbox = Outbox::for_targets(config.notify.target_names().into());
    let restored = restore::restore_with(store, config.rules(Some(host)), &config.prices()?, outbox).await?;
    tracing::info!(
        sessions = restored.fleet.len(),
        replayed = restored.replayed,
        unreadable = restored.unreadable,
        from_snapshot = restored.from_snapshot,
        took_ms = started.elapsed().as_millis() as u64,
        "the fleet is restored"
    );
    // Only for reports on health: an event that cannot be read counts as none.
    if let Ok(Some(last)) = store.event(store.last_seq().await?).await {
        health.metrics.heard_at(last.received_at);
    }
    let released: Vec<Record> = restored.fleet.held_asks().map(released).collect();
    let keeper = Keeper::new(config.retention());
    let (engine, handle) = Engine::new(
        restored.fleet,
        store.clone(),
        Arc::clone(health),
        keeper,
        watch_list.clone(),
        clock,
        seats,
    );
    let mut engine = engine.with_outbox(restored.outbox).with_holds(ports.holds);
    if let Some(notes) = ports.notes {
        engine = engine.with_notes(notes);
    }
    let task = tokio::spawn(engine.run());
    if !released.is_empty()
        && let Err(error) = handle.append(released).await
    {
        // The disk is full, perhaps. A board with asks that cannot be answered is better than no board.
        tracing::error!(%error, "could not append the end of holds of the last daemon; their asks stay open");
    }
    Ok((handle, task))
}

/// The hook was held by the last daemon: only the terminal can answer the ask now.
fn released((session, ask): (&Session, &Ask)) -> Record {
    hold_ended_record(&session.id, &ask.id, HoldEnd::Released, clock::fresh_id())
}

async fn serve(
    listener: TcpListener,
    app: App,
    gate: Arc<Gate>,
    mut stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    // The reply to a hook is one small packet: waiting to fill it would delay the client by 40 ms.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
    });
    axum::serve(Bounded::new(listener, CONNECTIONS_MAX), http::front(app, gate))
        .with_graceful_shutdown(async move {
            // If the sender is gone, the daemon is ending as well.
            let _ = stopping.wait_for(|stop| *stop).await;
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
