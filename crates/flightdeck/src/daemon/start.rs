//! Starts the daemon: what is opened in which order.

use std::fs::File;
use std::io;
use std::sync::Arc;

use axum::serve::ListenerExt;
use flightdeck_core::fleet::Occupant;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::{DaemonOptions, DaemonParts, LiveSettings, RunningDaemon, StartedParts, home, listen};
use crate::app::App;
use crate::app::hook_watch;
use crate::app::registration::{Registered, Registrar};
use crate::config::live::LiveConfig;
use crate::ingest::{Sink, drain, liveness, registry};
use crate::pane_colours::{self, PaneChanges, PaneColours};
use crate::paths::Paths;
use crate::settings::{Registration, SettingsFile, Via, tool_verdicts};
use crate::store::Store;
use crate::terminal::tmux::TmuxProgram;
use crate::transcripts::follow::{WatchList, follow};
use crate::transcripts::history::index;
use crate::transport::connections::{Bounded, CONNECTIONS_MAX};
use crate::transport::gate::Gate;
use crate::transport::{http, socket};

pub(crate) async fn start(options: DaemonOptions) -> anyhow::Result<RunningDaemon> {
    let DaemonOptions { paths, config, .. } = &options;
    let lock = lock_home(paths, options.simulated)?;
    let mut notes = Vec::new();

    let file = SettingsFile::new(&options.settings, &paths.backups());
    let listener = listen::listen(&options, &file, &mut notes).await?;
    let addr = listener.local_addr()?;
    let url = listen::url_of(addr);

    let store = open_store(paths, &mut notes)?;
    let watch_list = WatchList::new(options.config_dir.as_ref().map(|dir| dir.join("projects")));
    let (seats, new_seats) = mpsc::channel(liveness::SEATS_WAITING_MAX);
    let hold_seconds = file.installed().ok().flatten().and_then(|i| i.hold_seconds);
    let registrar = Registrar::new(file, registration(&options, addr.port()), options.hooks, paths.spool());
    let (panes, pane_changes) = PaneColours::new(&paths.home);
    let parts = DaemonParts {
        fold_settings: config.fold_settings(Some(config.hosts.name.clone().unwrap_or_else(home::host_name))),
        prices: config.prices()?,
        retention: config.retention(),
        watch_list: watch_list.clone(),
        seats,
        url: url.clone(),
        hold_rules: config.hold_rules(hold_seconds.unwrap_or(config.hold_seconds())),
        config: Arc::new(LiveConfig::new(&paths.config, config.clone())),
        panes: Some(panes),
        hub: options.hub,
        ..DaemonParts::new(store.clone(), registrar.simulated(options.simulated))
    };
    let StartedParts { app, engine, engine_task, dispatcher, .. } = parts.start().await?;
    let App { registrar, holds, health, notifier, .. } = app.clone();
    let notes_task = tokio::spawn(dispatcher.run());

    let mut readers = start_ingest(&app, &options, new_seats).await?;
    readers.extend(start_transcripts(&app, &options, watch_list));
    readers.extend(start_followers(&app, pane_changes));
    let (shutdown, stopping) = watch::channel(false);
    let gate = Gate::new(addr, &config.hosts.names, options.token.clone(), health);
    let gate = Arc::new(gate.with_public_host(config.notify.public_host()));
    readers.push(tokio::spawn(LiveSettings::new(app.clone(), Arc::clone(&gate)).watch()));
    let for_efforts = app.clone();
    let server = tokio::spawn(serve(listener, app, gate, stopping));
    home::write_daemon_file(paths, &url, addr.port())?;
    let registered = if options.hooks { register(&registrar, &mut notes).await } else { None };
    if !options.simulated {
        hook_watch::report_now(&engine, &registrar, true).await;
        readers.push(tokio::spawn(for_efforts.match_tool_hooks_to_efforts()));
        readers.push(tokio::spawn(hook_watch::watch(engine.clone(), Arc::clone(&registrar))));
    }
    Ok(RunningDaemon {
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

/// Makes the folders of the home and locks the home for this daemon.
fn lock_home(paths: &Paths, simulated: bool) -> anyhow::Result<File> {
    home::raise_file_limit();
    home::make_private(&paths.home)?;
    // Comes before everything else, because another daemon may run for this home and use its files.
    let lock = home::lock(paths)?;
    home::make_folders(paths)?;
    if simulated {
        home::mark_simulated(paths)?;
    }
    Ok(lock)
}

fn registration(options: &DaemonOptions, port: u16) -> Registration {
    Registration {
        via: Via::Shim,
        port,
        hold_seconds: options.config.hold_seconds(),
        hold_elicitation: options.config.hold_elicitation,
        tool_verdicts: tool_verdicts::are_wanted(&options.paths.home),
        ..Registration::new(&options.binary, &options.paths.home, options.version.clone())
    }
}

/// Reads the spool, then binds the socket, then reads what was spooled between the two.
async fn start_ingest(
    app: &App,
    options: &DaemonOptions,
    new_seats: mpsc::Receiver<Occupant>,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    let spool = options.paths.spool();
    let (engine, health) = (app.engine.clone(), Arc::clone(&app.health));
    let sink = Sink { engine, health, hooks: Arc::new(app.clone()) };
    drain::drain(&sink, &spool).await;
    let hooks_in = home::bind_socket(&options.paths)?;
    drain::drain(&sink, &spool).await;
    // Comes after the spool, because its events were not missed, and before the registry reports what happened to the sessions.
    if !options.simulated {
        hook_watch::report_at_start(&app.engine, &app.registrar).await;
    }
    // Comes last, because the spool may contain a session that began and ended while no daemon ran.
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

fn start_transcripts(app: &App, options: &DaemonOptions, watch_list: WatchList) -> Vec<JoinHandle<()>> {
    let (store, engine) = (app.store.clone(), app.engine.clone());
    let (prices, history) = (app.price_changes(), Arc::clone(&app.history));
    let mut readers =
        vec![tokio::spawn(follow(watch_list.clone(), store.clone(), engine, prices, history.clone()))];
    if let Some(config_dir) = &options.config_dir {
        let projects = config_dir.join("projects");
        readers.push(tokio::spawn(index(history, projects, store, watch_list)));
    }
    readers
}

/// The tasks that follow changes of the board and of the settings: notes, pane colours and other hosts.
fn start_followers(app: &App, pane_changes: PaneChanges) -> [JoinHandle<()>; 3] {
    [
        tokio::spawn(app.clone().follow_note_settings()),
        tokio::spawn(pane_colours::follow(pane_changes, app.engine.clone(), TmuxProgram)),
        tokio::spawn(Arc::clone(&app.hosts).run(Arc::new(app.clone()))),
    ]
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
    axum::serve(Bounded::new(listener, CONNECTIONS_MAX), http::http_service(app, gate))
        .with_graceful_shutdown(async move {
            // If the sender is gone, the daemon is ending as well.
            let _ = stopping.wait_for(|stop| *stop).await;
        })
        .await
}

async fn register(registrar: &Arc<Registrar>, notes: &mut Vec<String>) -> Option<String> {
    let registrar = Arc::clone(registrar);
    let done =
        tokio::task::spawn_blocking(move || (registrar.register(), registrar.notes_about_earlier_tools()))
            .await;
    let done = done.map(|(registered, doubled)| {
        doubled.iter().for_each(|note| tracing::warn!("{note}"));
        notes.extend(doubled);
        registered
    });
    let problem = match done {
        Ok(Ok(Registered::InOrder(sentence))) => return Some(sentence),
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
