//! `flightdeck status --line` as tmux runs it, with and without a daemon.

use anyhow::Result;

use crate::daemon::Daemon;
use crate::hook::run;
use crate::world::World;
use crate::{PromisePlan, Series};

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let (up, down) = (World::new(plan)?, World::new(plan)?);
    let daemon = Daemon::start(&up)?;
    drop(daemon.feed_history()?);
    let line = |world: &World| {
        format!(
            "'{}' --home '{}' status --line",
            plan.binary.display(),
            world.home().flightdeck_home().display()
        )
    };
    let commands = [
        ("sh -c true", &up, "true".to_owned()),
        ("fleet line", &up, line(&up)),
        ("fleet line, daemon down", &down, line(&down)),
    ];
    let mut series: Vec<_> = commands.iter().map(|(name, ..)| Series::new(*name, "ms")).collect();
    for _ in 0..plan.rounds(300, 1500) {
        for (series, (_, world, command)) in series.iter_mut().zip(&commands) {
            series.samples.push(run(world, command, b"", false)?);
        }
    }
    Ok(series)
}
