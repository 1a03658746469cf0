//! A hook as the client runs it: a shell, the registered command, the payload on its stdin.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Result, bail};
use flightdeck::settings::Via;

use crate::daemon::{Daemon, hook_command};
use crate::world::{World, ms, payload, session};
use crate::{PromisePlan, Series};

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let (up, down) = (World::new(plan)?, World::new(plan)?);
    let daemon = Daemon::start(&up)?;
    // The events that follow are not used.
    drop(daemon.feed_history()?);
    std::fs::create_dir_all(down.home().flightdeck_home())?;
    let commands = [
        ("sh -c true", &up, "true".to_owned()),
        ("shim", &up, daemon.hook_command(plan, Via::Shim)?),
        ("curl", &up, daemon.hook_command(plan, Via::Curl)?),
        ("shim, daemon down", &down, hook_command(plan, &down, Via::Shim, 1)?),
    ];
    let mut series: Vec<_> = commands.iter().map(|(name, ..)| Series::new(*name, "ms")).collect();
    for n in 0..plan.rounds(300, 1500) as u64 {
        let body = serde_json::to_vec(&payload(n, &session(n % 54)))?;
        for (series, (name, world, command)) in series.iter_mut().zip(&commands) {
            series.samples.push(run(world, command, &body, *name != "sh -c true")?);
        }
    }
    let files = std::fs::read_dir(down.home().flightdeck_home().join("spool"))?.flatten();
    let spooled = files.filter(|file| file.file_name().to_string_lossy().ends_with(".json")).count();
    if spooled != series.first().map_or(0, |s| s.samples.len()) {
        bail!(
            "{spooled} events are in the spool of the daemon that is down: some hooks did not do their work"
        );
    }
    Ok(series)
}

/// Milliseconds from spawn to exit.
pub(crate) fn run(world: &World, command: &str, body: &[u8], reads: bool) -> Result<f64> {
    run_in(world, command, body, reads, Path::new("/home/dev/work/demo"))
}

/// The same for a client in this project.
pub(crate) fn run_in(world: &World, command: &str, body: &[u8], reads: bool, project: &Path) -> Result<f64> {
    let begun = Instant::now();
    let mut child = world
        .command(Path::new("/bin/sh"))
        .args(["-c", command])
        .env("CLAUDE_PID", std::process::id().to_string())
        .env("CLAUDE_PROJECT_DIR", project)
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let written = child.stdin.take().map(|mut stdin| stdin.write_all(body));
    let status = child.wait()?;
    let took = ms(begun.elapsed());
    // `true` may end before its payload is written.
    if !status.success() || (reads && !matches!(written, Some(Ok(())))) {
        bail!("{command}: {status}, payload {written:?}");
    }
    Ok(took)
}
