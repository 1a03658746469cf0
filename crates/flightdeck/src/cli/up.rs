//! `flightdeck up`: runs the daemon in the foreground until Ctrl-C, SIGTERM or the end of its terminal.

use std::io::Write;
use std::net::IpAddr;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::out::Out;
use crate::config::Config;
use crate::daemon::{self, DaemonOptions, RunningDaemon};
use crate::log;
use crate::paths::Paths;
use crate::process;
use crate::program::BROWSER_OPENER;
use crate::settings::{self, ClientVersion, Scope};

#[derive(Debug, clap::Args)]
pub(super) struct UpArgs {
    /// Use exactly this port [default: `port` of config.toml, else 47892 or the next free one]
    #[arg(long, env = "FLIGHTDECK_PORT")]
    port: Option<u16>,
    /// Listen on this address; addresses other than loopback need a token
    #[arg(long)]
    bind: Option<IpAddr>,
    /// Do not change Claude Code's settings
    #[arg(long)]
    no_hooks: bool,
    /// Show the sessions of all hosts of the fleet that `[hosts]` in config.toml names
    #[arg(long)]
    hub: bool,
    /// Open the board in the browser
    #[arg(long)]
    open: bool,
}

pub(super) fn run(args: &UpArgs, paths: Paths, out: &mut Out) -> anyhow::Result<u8> {
    let config = Config::read(&paths.config)?;
    if args.hub && config.hosts.url.is_none() {
        anyhow::bail!("a hub needs a server: run `flightdeck hosts join URL` first");
    }
    log::start(&paths.logs, std::env::var("FLIGHTDECK_LOG").ok().as_deref())
        .with_context(|| format!("cannot write logs to {}", paths.logs.display()))?;
    let env = |name: &str| std::env::var_os(name);
    let cwd = std::env::current_dir()?;
    let config_dir = settings::config_dir(&env)?;
    let version = match args.no_hooks {
        true => ClientVersion::assumed(),
        false => ClientVersion::find(&|| settings::ask_claude(&env), &config_dir),
    };
    let options = DaemonOptions {
        port: args.port,
        bind: args.bind,
        token: config.token(&env)?,
        hooks: !args.no_hooks,
        simulated: false,
        settings: settings::settings_path(Scope::User, &env, &cwd)?,
        config_dir: Some(config_dir),
        binary: std::env::current_exe()?,
        version,
        hub: args.hub,
        config,
        paths,
    };
    runtime()?.block_on(serve(options, args.open, out))
}

/// A runtime with two threads: one can serve while the other works. The store has its own thread.
pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

async fn serve(options: DaemonOptions, open: bool, out: &mut Out) -> anyhow::Result<u8> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = match process::outlives_its_terminal() {
        true => None,
        false => Some(signal(SignalKind::hangup())?),
    };
    let has_token = options.token.is_some();
    let mut running = daemon::start(options).await?;
    let announced = announce(&running, has_token, out);
    if open && announced.is_ok() {
        open_in_browser(&running.url);
    }
    let failure = match announced {
        // The hooks are registered by now. The daemon stops as usual, which removes them.
        Err(error) => Some(anyhow::Error::new(error).context("cannot print the address of the board")),
        Ok(()) => tokio::select! {
            _ = interrupt.recv() => None,
            _ = terminate.recv() => None,
            () = received(&mut hangup) => None,
            error = running.broken() => Some(error),
        },
    };
    // A second Ctrl-C exits at once.
    tokio::select! {
        released = running.stop() => {
            if let Some(sentence) = released {
                // Fails if the terminal is gone; then the message cannot be shown.
                let _ = writeln!(out, "{sentence}");
            }
            failure.map_or(Ok(0), Err)
        }
        _ = interrupt.recv() => Ok(1),
        _ = terminate.recv() => Ok(1),
    }
}

fn announce(running: &RunningDaemon, has_token: bool, out: &mut Out) -> std::io::Result<()> {
    for note in &running.notes {
        Out::note(note);
    }
    writeln!(out, "Flightdeck is at {}", running.url)?;
    if let Some(sentence) = &running.registered {
        writeln!(out, "{sentence}")?;
    }
    out.flush()?;
    if has_token {
        // The token is not passed to the browser: other users can read the arguments of a process.
        Out::note("a token is set: open the board once with ?token=… after its address");
    }
    Ok(())
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

fn open_in_browser(url: &str) {
    if let Err(error) = std::process::Command::new(BROWSER_OPENER).arg(url).spawn() {
        Out::note(&format!("cannot open the browser with {BROWSER_OPENER} ({error}): go to {url}"));
    }
}
