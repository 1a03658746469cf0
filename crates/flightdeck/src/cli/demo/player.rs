//! Plays a simulated fleet on a daemon: sends each event over the socket at its time, and each request on a connection of its
//! own, which the daemon holds until it is answered on the board.

use std::path::Path;
use std::time::Duration;

use flightdeck_core::log::hold_rules::HOLDS_MAX;
use flightdeck_core::log::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::{HookDraft, set_fired_at};
use flightdeck_protocol::hooks::Hook;
use flightdeck_sim::fleet::{SimEvent, SimFleet, SimVerdict, TranscriptWriter};
use tokio::task::JoinSet;

use crate::client::AsyncClient;
use crate::clock;
use crate::engine::EngineHandle;
use crate::paths::Paths;

/// Past events that are appended in one batch.
const CATCH_UP_EVENTS: usize = 256;
/// Most requests that are held at once: half of the daemon's limit. Further requests are answered only in their simulated terminal.
const HELD_MAX: usize = HOLDS_MAX / 2;

type Answered = (SimEvent, SimVerdict);

pub(super) struct Player {
    fleet: SimFleet,
    transcripts: TranscriptWriter,
    paths: Paths,
    /// The connection for events that need no verdict.
    client: AsyncClient,
    /// Each task waits for the verdict of one request; `None` if the request ended without one.
    held: JoinSet<Option<Answered>>,
}

impl Player {
    /// Writes transcripts below `config_dir`.
    pub(super) async fn new(fleet: SimFleet, config_dir: &Path, paths: Paths) -> anyhow::Result<Self> {
        let transcripts = TranscriptWriter::new(config_dir, fleet.places());
        let client = AsyncClient::connect(&paths).await?;
        Ok(Self { fleet, transcripts, paths, client, held: JoinSet::new() })
    }

    /// Plays the events up to now, many at a time. Requests that still wait for an answer are held.
    pub(super) async fn catch_up(&mut self, engine: &EngineHandle) -> anyhow::Result<()> {
        let now = clock::now().as_millis();
        let mut records = Vec::new();
        while self.fleet.next_at().is_some_and(|at| at <= now) {
            let Some(mut event) = self.fleet.next() else { break };
            self.transcripts.write(&mut event)?;
            let waits = event.asks() && self.fleet.waits_until(&event, now);
            if waits || records.len() == CATCH_UP_EVENTS {
                engine.append(std::mem::take(&mut records)).await?;
            }
            match waits {
                true => self.send(event).await?,
                false => records.push(record(event)?),
            }
        }
        engine.append(records).await?;
        Ok(())
    }

    /// Plays the events from now on, until the fleet has no more.
    pub(super) async fn play(mut self) -> anyhow::Result<()> {
        while let Some(at) = self.fleet.next_at() {
            let wait = u64::try_from(at - clock::now().as_millis()).unwrap_or(0);
            tokio::select! {
                biased;
                Some(ended) = self.held.join_next() => {
                    if let Some((ask, verdict)) = ended? {
                        // Fails if the answer is late or does not fit; the fleet then continues as planned.
                        let _ = self.fleet.answer(&ask, &verdict, clock::now().as_millis());
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(wait)) => {
                    let Some(mut event) = self.fleet.next() else { break };
                    self.transcripts.write(&mut event)?;
                    self.send(event).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns after the daemon has stored the event.
    async fn send(&mut self, event: SimEvent) -> anyhow::Result<()> {
        let (payload, env) = (Hook(event.payload.clone()), stamped(event.env.clone(), event.fired_ms));
        if !event.asks() || self.held.len() >= HELD_MAX {
            self.client.send_hook(&payload, &env).await?;
            return Ok(());
        }
        let mut client = AsyncClient::connect(&self.paths).await?;
        if client.send_hook(&payload, &env).await?.hold_ms > 0 {
            self.held.spawn(async move {
                let verdict = client.verdict().await.ok()?.verdict?;
                Some((event, SimVerdict::printed(&verdict)?))
            });
        }
        Ok(())
    }
}

fn record(event: SimEvent) -> anyhow::Result<Record> {
    let env = stamped(event.env, event.fired_ms);
    Ok(HookDraft { name_in_path: None, payload: event.payload, env, bytes: 0 }
        .into_record(clock::fresh_id())?)
}

fn stamped(mut env: flightdeck_sim::Map, fired_ms: i64) -> flightdeck_sim::Map {
    set_fired_at(&mut env, Timestamp::from_millis(fired_ms));
    env
}
