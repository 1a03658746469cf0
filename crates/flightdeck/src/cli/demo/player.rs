//! Plays a fleet on a daemon, as its clients would: each event over the socket when its time has come, and each request on a
//! connection of its own, which the daemon holds while somebody may answer on the board.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_sim::fleet::{Fleet, Scribe, SimEvent, Verdict};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use crate::asks::holds::HOLDS_MAX;
use crate::clock;
use crate::engine::EngineHandle;

/// Events of the past handed over at once.
const CATCH_UP_EVENTS: usize = 256;
/// Requests held at once; beyond this one is answered only in its terminal. Half of what a daemon holds.
const HELD_MAX: usize = HOLDS_MAX / 2;

type Answered = (SimEvent, Verdict);

pub(super) struct Player {
    fleet: Fleet,
    scribe: Scribe,
    socket: PathBuf,
    /// Where everything goes that nobody waits for.
    line: BufReader<UnixStream>,
    /// Each waits for the verdict of one request, and ends without one where the request ended otherwise.
    held: JoinSet<Option<Answered>>,
}

impl Player {
    /// Transcripts go below `config_dir`.
    pub(super) async fn new(fleet: Fleet, config_dir: &Path, socket: PathBuf) -> anyhow::Result<Self> {
        let scribe = Scribe::new(config_dir, fleet.places());
        let line = BufReader::new(UnixStream::connect(&socket).await?);
        Ok(Self { fleet, scribe, socket, line, held: JoinSet::new() })
    }

    /// What happened before now, many events at a time. Who still waits for an answer is held.
    pub(super) async fn catch_up(&mut self, engine: &EngineHandle) -> anyhow::Result<()> {
        let now = clock::now().as_millis();
        let mut records = Vec::new();
        while self.fleet.next_at().is_some_and(|at| at <= now) {
            let Some(mut event) = self.fleet.next() else { break };
            self.scribe.write(&mut event)?;
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

    /// Until the fleet runs out.
    pub(super) async fn play(mut self) -> anyhow::Result<()> {
        while let Some(at) = self.fleet.next_at() {
            let wait = u64::try_from(at - clock::now().as_millis()).unwrap_or(0);
            tokio::select! {
                biased;
                Some(ended) = self.held.join_next() => {
                    if let Some((ask, verdict)) = ended? {
                        // Too late, or not what the client wants to hear: it goes on as it was going to.
                        let _ = self.fleet.answer(&ask, &verdict, clock::now().as_millis());
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(wait)) => {
                    let Some(mut event) = self.fleet.next() else { break };
                    self.scribe.write(&mut event)?;
                    self.send(event).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns when the daemon has it.
    async fn send(&mut self, event: SimEvent) -> anyhow::Result<()> {
        let frame = frame(&event)?;
        if !event.asks() || self.held.len() >= HELD_MAX {
            say(&mut self.line, &frame).await?;
            return Ok(());
        }
        let mut line = BufReader::new(UnixStream::connect(&self.socket).await?);
        let taken = say(&mut line, &frame).await?;
        if taken["data"]["hold_ms"].as_u64().is_some_and(|ms| ms > 0) {
            self.held.spawn(async move {
                let verdict = heard(&mut line).await.ok()?;
                Some((event, Verdict::printed(&verdict["data"]["verdict"])?))
            });
        }
        Ok(())
    }
}

async fn say(line: &mut BufReader<UnixStream>, frame: &[u8]) -> anyhow::Result<Value> {
    line.get_mut().write_all(frame).await?;
    heard(line).await
}

async fn heard(line: &mut BufReader<UnixStream>) -> anyhow::Result<Value> {
    let mut answer = String::new();
    line.read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer)?)
}

fn record(event: SimEvent) -> anyhow::Result<Record> {
    let env = stamped(event.env, event.fired_ms);
    Ok(HookDraft { name_in_path: None, payload: event.payload, env, bytes: 0 }
        .into_record(clock::fresh_id())?)
}

fn frame(event: &SimEvent) -> anyhow::Result<Vec<u8>> {
    let env = stamped(event.env.clone(), event.fired_ms);
    let mut line = serde_json::to_vec(&json!({ "cmd": "hook", "args": event.payload, "env": env }))?;
    line.push(b'\n');
    Ok(line)
}

fn stamped(mut env: flightdeck_sim::Map, fired_ms: i64) -> flightdeck_sim::Map {
    env.insert("fired_at".into(), json!(Timestamp::from_millis(fired_ms).to_string()));
    env
}
