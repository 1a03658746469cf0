//! What one event costs, in fleets of different size and in sessions of different age.

use std::time::Instant;

use anyhow::{Context, Result};
use flightdeck::engine::changes::{SubscribeFrom, Subscription};
use flightdeck::engine::{Engine, EngineHandle, EngineParts};
use flightdeck::store::Store;
use flightdeck::transcripts::follow::WatchList;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view;
use tokio::runtime::Runtime;

use crate::world::{World, record, runtime, session};
use crate::{PromisePlan, Series};

/// Events in one sample.
const EVENTS: u64 = 2048;
/// Events in one transaction, as under load.
const BATCH: usize = 64;

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let (world, runtime) = (World::new(plan)?, runtime()?);
    let mut benches = Vec::new();
    for (name, sessions, history) in [
        ("1 session", 1, 10),
        ("100 sessions", 100, 10),
        ("5,000 sessions", 5000, 10),
        ("10 events before", 1, 10),
        ("10,000 events before", 1, 10_000),
    ] {
        benches.push((Bench::folding(sessions, history)?, Series::new(format!("fold: {name}"), "µs")));
        let bench = Bench::durable(&runtime, &world, benches.len(), sessions, history)?;
        benches.push((bench, Series::new(format!("durable: {name}"), "µs")));
    }
    for round in 0..=plan.rounds(12, 60) {
        for (bench, series) in &mut benches {
            let cost = bench.sample(&runtime)?;
            // The first round warms up.
            if round > 0 {
                series.samples.push(cost);
            }
        }
    }
    Ok(benches.into_iter().map(|(_, series)| series).collect())
}

struct Bench {
    sessions: u64,
    /// The next event.
    n: u64,
    target: Target,
}

enum Target {
    /// The core alone: read the payload, apply, write the card.
    Fold(Box<Fleet>),
    /// The engine on a database with one viewer: append, apply, encode the card, send the change.
    Engine(EngineHandle, Subscription),
}

impl Bench {
    fn folding(sessions: u64, history: u64) -> Result<Self> {
        let mut fleet = Fleet::new(FoldSettings::default());
        let mut bench =
            Self { sessions, n: 0, target: Target::Fold(Box::new(Fleet::new(FoldSettings::default()))) };
        for record in bench.next_records(sessions * history, 2)? {
            fleet.apply(&Event::from_record(&record));
        }
        bench.target = Target::Fold(Box::new(fleet));
        Ok(bench)
    }

    fn durable(runtime: &Runtime, world: &World, n: usize, sessions: u64, history: u64) -> Result<Self> {
        let store = Store::open(&world.home().path().join(format!("{n}.db")))?.store;
        let bench = Self::folding(sessions, history)?;
        let Target::Fold(fleet) = bench.target else { return Ok(bench) };
        let transcripts = Box::new(WatchList::default());
        let (engine, handle) = Engine::new(EngineParts { transcripts, ..EngineParts::new(*fleet, store) });
        runtime.spawn(engine.run());
        let watching = runtime.block_on(handle.subscribe(SubscribeFrom::Now))?;
        Ok(Self { target: Target::Engine(handle, watching), ..bench })
    }

    /// `run` events of one session, then of another far from it.
    fn next_records(&mut self, count: u64, run: u64) -> Result<Vec<Record>> {
        let begin = Timestamp::from_millis(1_794_744_000_000);
        let mut records = Vec::with_capacity(count as usize);
        for n in self.n..self.n + count {
            let who = (n / run).wrapping_mul(7919) % self.sessions;
            records.push(record(n, &session(who), begin + Millis(n as i64))?);
        }
        self.n += count;
        Ok(records)
    }

    /// Microseconds an event.
    fn sample(&mut self, runtime: &Runtime) -> Result<f64> {
        // A batch has events of one session: it costs one card in a fleet of any size.
        let records = self.next_records(EVENTS, BATCH as u64)?;
        let begun = match &mut self.target {
            Target::Fold(fleet) => {
                let begun = Instant::now();
                for record in &records {
                    fleet.apply(&Event::from_record(record));
                    let session =
                        record.session_id().and_then(|id| fleet.get(id)).context("the session is gone")?;
                    std::hint::black_box(serde_json::to_vec(&view::card(session, fleet.settings()))?);
                }
                begun
            }
            Target::Engine(engine, watching) => {
                let mut batches: Vec<Vec<Record>> = records.chunks(BATCH).map(<[Record]>::to_vec).collect();
                let begun = Instant::now();
                runtime.block_on(async {
                    for batch in batches.drain(..) {
                        engine.append(batch).await?;
                    }
                    anyhow::Ok(())
                })?;
                // Otherwise fleets of any size would seem to cost the same.
                anyhow::ensure!(!watching.next.is_empty(), "no viewer got a card");
                watching.next = watching.next.resubscribe();
                begun
            }
        };
        Ok(begun.elapsed().as_secs_f64() * 1e6 / EVENTS as f64)
    }
}
