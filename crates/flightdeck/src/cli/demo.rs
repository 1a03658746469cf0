//! `flightdeck demo`: a simulated fleet on a real daemon, in a temporary home. The person's own files are never touched.

use std::io::Write;
use std::iter::Peekable;
use std::time::Duration;

use anyhow::Context;
use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_sim::fleet::{Fleet, FleetConfig, Scribe, SimEvent};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};

use super::{out::Out, up};
use crate::claude_settings::ClientVersion;
use crate::clock;
use crate::config::Config;
use crate::daemon::{self, Options};
use crate::engine::EngineHandle;
use crate::paths::{Paths, socket_of};

/// The fleet has been at work for this long when the demo opens.
const HISTORY: Duration = Duration::from_secs(20 * 60);
/// Events of the past handed over at once.
const CATCH_UP_EVENTS: usize = 256;

#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// How many terminals
    #[arg(long, default_value_t = 54)]
    sessions: usize,
    /// The same seed gives the same fleet
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How busy they are; 1 is a believable day
    #[arg(long, default_value_t = 1.0)]
    speed: f64,
    /// This port and no other [default: 47892, or the next free one]
    #[arg(long)]
    port: Option<u16>,
    /// End by itself after this many seconds
    #[arg(long, value_name = "SECONDS")]
    stop_after: Option<u64>,
}

pub(super) fn run(args: &DemoArgs, out: &mut Out) -> anyhow::Result<u8> {
    let home = tempfile::tempdir().context("cannot make a temporary home")?;
    up::runtime()?.block_on(play(args, home.path(), out))
}

async fn play(args: &DemoArgs, home: &std::path::Path, out: &mut Out) -> anyhow::Result<u8> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let config_dir = home.join("claude");
    let running = daemon::start(Options {
        paths: Paths::below(home),
        config: Config::default(),
        port: args.port,
        bind: None,
        token: None,
        hooks: false,
        settings: home.join("settings.json"),
        config_dir: Some(config_dir.clone()),
        binary: std::env::current_exe()?,
        version: ClientVersion::assumed(),
    })
    .await?;
    let events = Fleet::new(FleetConfig {
        sessions: args.sessions,
        seed: args.seed,
        speed: args.speed,
        start_ms: clock::now().as_millis(),
        history_ms: HISTORY.as_millis() as u64,
        ..FleetConfig::default()
    });
    let mut scribe = Scribe::new(config_dir, events.places());
    let mut events = events.peekable();
    catch_up(&running.engine, &mut events, &mut scribe).await?;
    let mut fleet = tokio::spawn(feed(socket_of(home), events, scribe));
    writeln!(out, "A simulated fleet of {} sessions is at {}", args.sessions, running.url)?;
    writeln!(out, "Its home is {}; to look at it from another terminal:", home.display())?;
    writeln!(out, "  flightdeck --home {} ls --watch", home.display())?;
    writeln!(out, "Ctrl-C ends it and leaves nothing behind.")?;
    out.flush()?;
    let limit = Duration::from_secs(args.stop_after.unwrap_or(u64::MAX / 1_000_000_000));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = tokio::time::sleep(limit) => {}
        ended = &mut fleet => ended?.context("the simulated fleet broke off")?,
    }
    fleet.abort();
    running.stop().await;
    Ok(0)
}

/// What happened before the demo opened, all at once.
async fn catch_up(
    engine: &EngineHandle,
    events: &mut Peekable<Fleet>,
    scribe: &mut Scribe,
) -> anyhow::Result<()> {
    let now = clock::now().as_millis();
    loop {
        let past = std::iter::from_fn(|| events.next_if(|e| e.at_ms <= now)).take(CATCH_UP_EVENTS);
        let records = past.map(|event| record(event, scribe)).collect::<Result<Vec<_>, _>>()?;
        if records.is_empty() {
            return Ok(());
        }
        engine.append(records).await?;
    }
}

fn record(mut event: SimEvent, scribe: &mut Scribe) -> anyhow::Result<Record> {
    scribe.write(&mut event)?;
    let env = stamped(event.env, event.fired_ms);
    Ok(HookDraft { name_in_path: None, payload: event.payload, env, bytes: 0 }
        .into_record(clock::fresh_id())?)
}

fn stamped(mut env: flightdeck_sim::Map, fired_ms: i64) -> flightdeck_sim::Map {
    env.insert("fired_at".into(), json!(Timestamp::from_millis(fired_ms).to_string()));
    env
}

/// Sends each event over the socket when its time has come, as a hook would.
async fn feed(socket: std::path::PathBuf, events: Peekable<Fleet>, mut scribe: Scribe) -> anyhow::Result<()> {
    let mut stream = BufReader::new(UnixStream::connect(socket).await?);
    let mut answer = String::new();
    for mut event in events {
        let wait = event.at_ms - clock::now().as_millis();
        if wait > 0 {
            tokio::time::sleep(Duration::from_millis(wait as u64)).await;
        }
        scribe.write(&mut event)?;
        stream.get_mut().write_all(&frame(event)?).await?;
        answer.clear();
        stream.read_line(&mut answer).await?;
    }
    Ok(())
}

fn frame(event: SimEvent) -> anyhow::Result<Vec<u8>> {
    let env = stamped(event.env, event.fired_ms);
    let mut line = serde_json::to_vec(&json!({ "cmd": "hook", "args": event.payload, "env": env }))?;
    line.push(b'\n');
    Ok(line)
}
