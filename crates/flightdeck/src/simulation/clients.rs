//! The clients of the daemon: hooks that wait for a reply and spool without one, viewers, and clients that misbehave.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flightdeck_core::log::record::EventId;
use flightdeck_hook::stamp::Stamp;
use flightdeck_sim::fleet::SimEvent;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::daemon::Door;
use super::efforts::injected_in;
use super::world::World;
use crate::ingest::spool;

/// How long a hook waits for a reply.
const ACK_WITHIN: Duration = Duration::from_millis(1000);
/// How long a viewer waits before it reconnects.
const BACK_AFTER: Duration = Duration::from_millis(200);

/// One event that is sent.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) id: EventId,
    fired_ns: u64,
    pub(super) line: Vec<u8>,
    /// The same event as a script sends it, if one does.
    pub(super) twin: Option<Vec<u8>>,
}

impl Sent {
    pub(super) fn of_fleet(world: &World, event: &SimEvent) -> Self {
        Self::new(world, &event.payload, event.env.clone())
    }

    pub(super) fn new(world: &World, payload: &Map<String, Value>, mut env: Map<String, Value>) -> Self {
        let n = {
            let mut facts = world.facts();
            facts.sent += 1;
            facts.sent
        };
        let fired_at = world.now();
        let fired_ns = fired_at.as_millis() as u64 * 1_000_000 + n;
        let id = EventId::new(fired_ns, n);
        env.insert("id".into(), json!(id.to_string()));
        env.insert("fired_at".into(), json!(fired_at.to_string()));
        let mut line = json!({ "cmd": "hook", "args": payload, "env": env }).to_string().into_bytes();
        line.push(b'\n');
        Self { id, fired_ns, line, twin: None }
    }

    pub(super) fn spool(&self, world: &World) {
        let stamp = Stamp { fired_ns: self.fired_ns, id: self.id.0 };
        flightdeck_hook::spool::write(&world.spool(), &stamp, &self.line).unwrap();
        world.facts().spooled.push(self.id);
        world.spooled.notify_one();
    }

    /// The file of a hook that was interrupted, under its own name or its temporary name.
    pub(super) fn spool_half(&self, world: &World, prefix: &str) {
        let name = format!("{prefix}{}", spool::file_name(self.fired_ns, self.id));
        std::fs::write(world.spool().join(name), self.half()).unwrap();
        world.facts().withheld.push(self.id);
        world.spooled.notify_one();
    }

    pub(super) fn half(&self) -> &[u8] {
        &self.line[..self.line.len() / 2]
    }

    /// Records the acknowledgement in the reply. False if the reply has none.
    fn take_answer(&self, world: &World, answer: Option<Value>) -> bool {
        let Some(answer) = answer.filter(|a| a["ok"] == true) else { return false };
        let mut facts = world.facts();
        facts.acknowledged.insert(self.id, answer["data"]["seq"].as_u64().unwrap());
        let output = &answer["data"]["verdict"]["hookSpecificOutput"];
        facts.told.extend(injected_in(output["additionalContext"].as_str().unwrap_or_default()));
        true
    }
}

/// Sends the event as `flightdeck hook` does: on its own connection, with a bounded wait, otherwise into the spool.
pub(super) async fn hook(world: World, sent: Sent) {
    world.waiting.fetch_add(1, Ordering::SeqCst);
    let twin = async {
        if let Some(line) = &sent.twin {
            // If the script's call fails, nothing is resent: the hook sends the same event.
            let _ = ask(&world, line).await;
        }
    };
    let (answer, ()) = tokio::join!(ask(&world, &sent.line), twin);
    world.waiting.fetch_sub(1, Ordering::SeqCst);
    if !sent.take_answer(&world, answer) {
        sent.spool(&world);
    }
}

/// A command with its arguments as one line of the socket.
pub(super) fn line(command: &str, args: Value) -> Vec<u8> {
    format!("{}\n", json!({ "cmd": command, "args": args })).into_bytes()
}

/// The data of the reply to a command. `None` if it was refused or not answered in time.
pub(super) async fn call(world: &World, line: &[u8]) -> Option<Value> {
    let mut answer = ask(world, line).await.filter(|answer| answer["ok"] == true)?;
    Some(answer["data"].take())
}

async fn ask(world: &World, line: &[u8]) -> Option<Value> {
    let mut stream = Door::connect(world)?;
    let mut answer = Vec::new();
    // A hook that gives up closes its connection, even if a reply arrives then.
    timeout(ACK_WITHIN, exchange(&mut stream, line, &mut answer)).await.ok()?.ok()?;
    serde_json::from_slice(answer.split(|byte| *byte == b'\n').next()?).ok()
}

async fn exchange(stream: &mut UnixStream, line: &[u8], answer: &mut Vec<u8>) -> io::Result<()> {
    stream.write_all(line).await?;
    BufReader::new(stream).read_until(b'\n', answer).await.map(drop)
}

/// Sends all events on one connection and reads the replies as they come. Events without an acknowledgement are spooled.
pub(super) async fn flood(world: World, all: Vec<Sent>) {
    let mut acknowledged = vec![false; all.len()];
    if let Some(stream) = Door::connect(&world) {
        let (read, mut write) = stream.into_split();
        let pouring = async {
            for sent in &all {
                if write.write_all(&sent.line).await.is_err() {
                    return;
                }
            }
        };
        let reading = async {
            let mut lines = BufReader::new(read).lines();
            let (mut answered, mut last) = (0, Value::Null);
            while answered < all.len() {
                let Ok(Ok(Some(line))) = timeout(60 * ACK_WITHIN, lines.next_line()).await else { return };
                let answer: Value = serde_json::from_str(&line).unwrap_or_default();
                let seq = answer["data"]["seq"].clone();
                // A hook that was held gets a second reply.
                if seq.is_u64() && seq == last {
                    continue;
                }
                acknowledged[answered] = all[answered].take_answer(&world, Some(answer));
                (answered, last) = (answered + 1, seq);
            }
        };
        tokio::join!(pouring, reading);
    }
    let left = all.iter().zip(acknowledged).filter(|(_, acknowledged)| !acknowledged);
    left.for_each(|(sent, _)| sent.spool(&world));
}

pub(super) async fn half_a_line(world: &World, sent: &Sent) {
    world.facts().withheld.push(sent.id);
    let Some(mut stream) = Door::connect(world) else { return };
    // An error means that the daemon has stopped or died, which is not a failure here.
    let _ = stream.write_all(sent.half()).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = timeout(ACK_WITHIN, stream.read_to_end(&mut answer)).await;
}

/// Holds its connections until it is dropped, and never reads from them.
pub(super) struct NeverReads {
    _held: Vec<UnixStream>,
}

impl NeverReads {
    pub(super) async fn new(world: &World) -> Self {
        let mut held = Vec::new();
        if let Some(mut stream) = Door::connect(world) {
            let asking = async { while stream.write_all(b"{\"cmd\":\"sessions\"}\n").await.is_ok() {} };
            // Ends when both sides' buffers are full.
            let _ = timeout(ACK_WITHIN, asking).await;
            held.push(stream);
        }
        if let Some(mut stream) = Door::connect(world) {
            // An error means that the daemon has stopped or died, which is not a failure here.
            let _ = stream.write_all(b"{\"cmd\":\"subscribe\"}\n").await;
            held.push(stream);
        }
        Self { _held: held }
    }
}

pub(super) async fn reconnects(world: &World, times: usize) {
    for n in 0..times {
        let Some(stream) = Door::connect(world) else { continue };
        if n % 3 == 0 {
            continue;
        }
        let (read, mut write) = stream.into_split();
        let last = if n % 3 == 1 { Value::Null } else { json!("other-7") };
        let line = format!("{}\n", json!({ "cmd": "subscribe", "args": { "last_event_id": last } }));
        // An error means that the daemon has stopped or died, which is not a failure here.
        let _ = write.write_all(line.as_bytes()).await;
        let _ = timeout(ACK_WITHIN, BufReader::new(read).read_line(&mut String::new())).await;
    }
}

/// A viewer that reads all changes: its cards must equal the board.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewer(Arc<Mutex<ViewedBoard>>);

#[derive(Debug, Default)]
pub(super) struct ViewedBoard {
    last: Option<String>,
    cards: BTreeMap<String, Value>,
    /// Set after a change out of order or a repeated one.
    pub(super) wrong: Option<String>,
}

impl Viewer {
    pub(super) async fn watch(self, world: World) {
        loop {
            // The daemon has stopped or died, or none was running.
            let _ = self.follow(&world).await;
            tokio::time::sleep(BACK_AFTER).await;
        }
    }

    async fn follow(&self, world: &World) -> Option<()> {
        let (read, mut write) = Door::connect(world)?.into_split();
        let last = self.0.lock().unwrap().last.clone();
        let ask = format!("{}\n", json!({ "cmd": "subscribe", "args": { "last_event_id": last } }));
        write.write_all(ask.as_bytes()).await.ok()?;
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = lines.next_line().await.ok()? {
            self.0.lock().unwrap().apply_change(serde_json::from_str(&line).unwrap());
        }
        None
    }

    pub(super) fn board(&self) -> std::sync::MutexGuard<'_, ViewedBoard> {
        self.0.lock().unwrap()
    }
}

impl ViewedBoard {
    fn apply_change(&mut self, change: Value) {
        let (event, id) = (change["event"].as_str().unwrap(), change["id"].as_str().unwrap().to_owned());
        let data = &change["data"];
        let card = &data["session"];
        if !matches!(event, "gap" | "snapshot") && !follows(self.last.as_deref(), &id) {
            self.wrong = Some(format!("{id} came after {:?}", self.last));
        }
        match event {
            "gap" => self.cards.clear(),
            "snapshot" => {
                let all = data["sessions"].as_array().unwrap().iter();
                self.cards = all.map(|c| (c["id"].as_str().unwrap().to_owned(), c.clone())).collect();
            }
            // A card carries its asks, its assignment and its effort too.
            "ask_opened" | "ask_closed" | "assignment_updated" | "effort_updated" => {}
            "session_removed" => drop(self.cards.remove(data["id"].as_str().unwrap())),
            // Another session took the place of this one, and this was its last card.
            "session_completed" if !card["replaced_by"].is_null() => {
                self.cards.remove(card["id"].as_str().unwrap());
            }
            _ => drop(self.cards.insert(card["id"].as_str().unwrap().to_owned(), card.clone())),
        }
        self.last = Some(id);
    }

    pub(super) fn cards(&self) -> Vec<&Value> {
        self.cards.values().collect()
    }
}

/// `boot-7` follows `boot-6`.
fn follows(last: Option<&str>, id: &str) -> bool {
    let number = |id: &str| id.rsplit_once('-').and_then(|(_, n)| n.parse::<u64>().ok());
    number(id) == last.and_then(number).map(|n| n + 1)
}
