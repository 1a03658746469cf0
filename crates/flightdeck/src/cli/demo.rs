//! `flightdeck demo`: a simulated fleet on a real daemon, in a temporary home. It does not touch the person's own files.

mod player;

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use flightdeck_sim::fleet::{FleetConfig, SimFleet};
use tokio::signal::unix::{SignalKind, signal};

use self::player::Player;
use super::{command_prefix, out::Out, up};
use crate::clock;
use crate::config::Config;
use crate::daemon::{self, DaemonOptions};
use crate::paths::Paths;
use crate::settings::ClientVersion;

/// The simulated past of the fleet when the demo opens. A faster fleet needs less of it.
const HISTORY: Duration = Duration::from_secs(20 * 60);

/// Slowest fleet: each session has an event every few minutes.
const SPEED_MIN: f64 = 0.01;
/// Fastest fleet: more events than a daemon can store would only wait in a queue.
const SPEED_MAX: f64 = 1000.0;
/// Longest time that a simulated request waits: an hour.
const ANSWER_AFTER_SECONDS_MAX: u64 = 3600;

#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// Number of simulated sessions
    #[arg(long, default_value_t = 54)]
    sessions: usize,
    /// Seed of the fleet; the same seed gives the same fleet
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Speed of the fleet; 1 is a normal working day, 1000 the fastest
    #[arg(long, default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Seconds that a request waits for you before its simulated terminal answers it
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(..=ANSWER_AFTER_SECONDS_MAX))]
    answer_after: u64,
    /// Use exactly this port [default: 47892 or the next free one]
    #[arg(long)]
    port: Option<u16>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    stop_after: Option<u64>,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse::<f64>().map_err(|_| "not a number".to_owned())?;
    match (SPEED_MIN..=SPEED_MAX).contains(&speed) {
        true => Ok(speed),
        false => Err(format!("a fleet runs at a speed between {SPEED_MIN} and {SPEED_MAX}")),
    }
}

pub(super) fn run(args: &DemoArgs, out: &mut Out) -> anyhow::Result<u8> {
    let home = tempfile::tempdir().context("cannot create a temporary home")?;
    up::runtime()?.block_on(play(args, home.path(), out))
}

async fn play(args: &DemoArgs, home: &std::path::Path, out: &mut Out) -> anyhow::Result<u8> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (config_dir, binary) = (home.join("claude"), std::env::current_exe()?);
    let paths = Paths::in_home(home);
    let running = daemon::start(DaemonOptions {
        paths: paths.clone(),
        config: Config::default(),
        port: args.port,
        bind: None,
        token: None,
        hooks: false,
        simulated: true,
        settings: home.join("settings.json"),
        config_dir: Some(config_dir.clone()),
        binary,
        hub: false,
        version: ClientVersion::assumed(),
    })
    .await?;
    let mut player = Player::new(simulated_fleet(args), &config_dir, paths.clone()).await?;
    player.catch_up(&running.engine).await?;
    let mut fleet = tokio::spawn(player.play());
    announce(args, &running.url, &paths, out)?;
    let limit = Duration::from_secs(args.stop_after.unwrap_or(u64::MAX / 1_000_000_000));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = tokio::time::sleep(limit) => {}
        ended = &mut fleet => ended?.context("the simulated fleet failed")?,
    }
    // The daemon stops first: a hook that ends before it would look like a refusal in the terminal.
    running.stop().await;
    fleet.abort();
    Ok(0)
}

fn simulated_fleet(args: &DemoArgs) -> SimFleet {
    SimFleet::new(FleetConfig {
        sessions: args.sessions,
        seed: args.seed,
        speed: args.speed,
        start_ms: clock::now().as_millis(),
        history_ms: HISTORY.div_f64(args.speed.max(1.0)).as_millis() as u64,
        answer_ms_min: args.answer_after * 1000,
        ..FleetConfig::default()
    })
}

/// Says where the fleet is, how to watch it, and how it ends.
fn announce(args: &DemoArgs, url: &str, paths: &Paths, out: &mut Out) -> anyhow::Result<()> {
    writeln!(out, "A simulated fleet of {} sessions is at {url}", args.sessions)?;
    writeln!(out, "Its home is {}; to watch it from another terminal:", paths.home.display())?;
    writeln!(out, "  {} ls --watch", command_prefix(paths))?;
    writeln!(
        out,
        "Its requests can be answered on the board; after {} s the simulated terminal answers them.",
        args.answer_after
    )?;
    writeln!(out, "Ctrl-C ends it and leaves nothing behind.")?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_number_above_zero() {
        assert_eq!(speed("2.5"), Ok(2.5));
        for wrong in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
            assert!(speed(wrong).is_err(), "{wrong}");
        }
    }
}
