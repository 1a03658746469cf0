//! The time from spawn to a board: with a long log and a snapshot, against an empty home.

use anyhow::Result;
use flightdeck::engine::housekeeping::Housekeeping;
use flightdeck::store::{RetentionPolicy, Store};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Millis;

use crate::daemon::Daemon;
use crate::world::{SESSIONS, World, record, runtime, session};
use crate::{PromisePlan, Series};

/// Snapshots are written every 5,000 events: on average a start replays half of that.
const AFTER_SNAPSHOT: u64 = 2_500;

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let events = plan.rounds(100_000, 1_000_000) as u64;
    let (empty, full) = (World::new(plan)?, World::new(plan)?);
    fill(&full, events)?;
    let mut series = [Series::new("empty home", "ms"), Series::new(format!("{events} events"), "ms")];
    for _ in 0..plan.rounds(7, 15) {
        for (series, world) in series.iter_mut().zip([&empty, &full]) {
            // Ended by kill -9 each time: the next start is one after a crash.
            series.samples.push(Daemon::start(world)?.started_in.as_secs_f64() * 1e3);
        }
    }
    Ok(series.into())
}

fn fill(world: &World, events: u64) -> Result<()> {
    std::fs::create_dir_all(world.home().flightdeck_home())?;
    let store = Store::open(&world.home().flightdeck_home().join("flightdeck.db"))?.store;
    let mut fleet = Fleet::new(FoldSettings::default());
    let begin = flightdeck::clock::now() - Millis(events as i64);
    runtime()?.block_on(async {
        let mut housekeeping = Housekeeping::new(RetentionPolicy::default());
        for from in (0..events).step_by(500) {
            if from == events - AFTER_SNAPSHOT {
                housekeeping.save_now(&fleet, &store).await;
            }
            let one = |n: u64| record(n, &session(n / 2 % SESSIONS), begin + Millis(n as i64));
            let records: Vec<Record> = (from..from + 500).map(one).collect::<Result<_>>()?;
            let places = store.append(records.clone()).await?;
            for (record, place) in records.iter().zip(places) {
                let mut event = Event::from_record(record);
                event.seq = place.seq;
                fleet.apply(&event);
            }
        }
        store.close().await?;
        Ok(())
    })
}
