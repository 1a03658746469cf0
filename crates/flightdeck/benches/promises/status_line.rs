//! The status line as the client runs it, with and without a daemon.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::hook::run;
use crate::world::{World, session};
use crate::{PromisePlan, Series};

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let (up, down) = (World::new(plan)?, World::new(plan)?);
    let daemon = Daemon::start(&up)?;
    drop(daemon.feed_history()?);
    std::fs::create_dir_all(down.home().flightdeck_home())?;
    let commands = [
        ("sh -c true", &up, "true".to_owned()),
        ("status line", &up, registered(plan, &up)?),
        ("status line, daemon down", &down, registered(plan, &down)?),
    ];
    let mut series: Vec<_> = commands.iter().map(|(name, ..)| Series::new(*name, "ms")).collect();
    for n in 0..plan.rounds(300, 1500) {
        let body = json!({"session_id": session(n as u64 % 54), "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
            "cost": {"total_cost_usd": n as f64 / 100.0},
            "context_window": {"context_window_size": 1_000_000, "current_usage": {"input_tokens": 1000 + n}}});
        let body = serde_json::to_vec(&body)?;
        for (series, (name, world, command)) in series.iter_mut().zip(&commands) {
            series.samples.push(run(world, command, &body, *name != "sh -c true")?);
        }
    }
    Ok(series)
}

/// The command that `hooks install --statusline` writes.
fn registered(plan: &PromisePlan, world: &World) -> Result<String> {
    let installed = world.command(&plan.binary).args(["hooks", "install", "--statusline"]).output()?;
    if !installed.status.success() {
        bail!("{}", String::from_utf8_lossy(&installed.stderr).trim());
    }
    let settings = std::fs::read(Path::new(&world.home().claude()).join("settings.json"))?;
    let settings: Value = serde_json::from_slice(&settings)?;
    Ok(settings["statusLine"]["command"].as_str().context("no status line is registered")?.to_owned())
}
