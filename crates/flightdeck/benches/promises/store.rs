//! Appending to the log, against writing the same bytes to a plain file.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use flightdeck::store::Store;
use flightdeck_core::log::record::Record;
use flightdeck_core::time::{Millis, Timestamp};

use crate::world::{SESSIONS, World, record, runtime, session};
use crate::{PromisePlan, Series};

const BATCH: u64 = 64;
const BATCHES: u64 = 32;

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let append = BareAppend::new(&world)?;
    let mut file = std::fs::File::create(world.home().path().join("log.jsonl"))?;
    let mut series = [Series::new("plain file", "events/s"), Series::new("durable append", "events/s")];
    let mut n = 0;
    for _ in 0..plan.rounds(20, 100) {
        let batches = batches(&mut n)?;
        let begun = Instant::now();
        for batch in &batches {
            let lines: Result<Vec<String>, _> =
                batch.iter().map(|r| serde_json::to_string(&r.payload)).collect();
            file.write_all(lines?.join("\n").as_bytes())?;
        }
        series[0].samples.push((BATCH * BATCHES) as f64 / begun.elapsed().as_secs_f64());
        series[1].samples.push(append.rate(batches)?);
    }
    Ok(series.into())
}

/// A store of its own, to which one batch after the other is appended, without a daemon.
pub(crate) struct BareAppend {
    store: Store,
    runtime: tokio::runtime::Runtime,
}

impl BareAppend {
    pub(crate) fn new(world: &World) -> Result<Self> {
        let store = Store::open(&world.home().path().join("log.db"))?.store;
        Ok(Self { store, runtime: runtime()? })
    }

    /// Events per second.
    pub(crate) fn rate(&self, batches: Vec<Vec<Record>>) -> Result<f64> {
        let begun = Instant::now();
        for batch in batches {
            self.runtime.block_on(self.store.append(batch))?;
        }
        Ok((BATCH * BATCHES) as f64 / begun.elapsed().as_secs_f64())
    }
}

/// The next batches after event `n`.
pub(crate) fn batches(n: &mut u64) -> Result<Vec<Vec<Record>>> {
    let begin = Timestamp::from_millis(1_794_744_000_000);
    let mut batches = Vec::new();
    for _ in 0..BATCHES {
        let one = |n: u64| record(n, &session(n / 2 % SESSIONS), begin + Millis(n as i64));
        batches.push((*n..*n + BATCH).map(one).collect::<Result<_>>()?);
        *n += BATCH;
    }
    Ok(batches)
}
