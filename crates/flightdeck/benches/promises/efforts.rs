//! Requests about efforts: one after the other on one connection, tool calls of many seats at once, and a hook with a verdict
//! beside one without.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck::paths::socket_of;
use flightdeck::settings::Via;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinSet;

use crate::daemon::{Daemon, verdict_command};
use crate::hook::run_in;
use crate::world::{World, ms, payload, runtime, session};
use crate::{PromisePlan, Series};

/// Seats that call tools at the same time: the number in the promise.
const SEATS: usize = 100;
const BETWEEN_CALLS: Duration = Duration::from_millis(100);
/// A few pages of the database.
const SYNCED_BYTES: usize = 64 * 1024;

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let dir = world.home().path().to_str().context("the home is not UTF-8")?.to_owned();
    let start =
        json!({"cmd": "effort.start", "args": {"dir": dir, "skill": "bench", "settings": {"heartbeat": 0}}});
    daemon.socket()?.frame(&start)?;
    let mut series = vec![round_trips(&daemon, plan)?];
    for pace in [Pace::Independent, Pace::InStep] {
        series.push(seats(&world, &dir, plan, pace)?);
    }
    drop(daemon);
    series.push(syncs(&world, plan)?);
    series.extend(verdicts(plan)?);
    Ok(series)
}

/// One hook process after the other: with an effort that denies each call, and on another daemon without efforts.
fn verdicts(plan: &PromisePlan) -> Result<[Series; 2]> {
    let (with, without) = (World::new(plan)?, World::new(plan)?);
    let (judging, usual) = (Daemon::start(&with)?, Daemon::start(&without)?);
    let project = with.home().path();
    let start = json!({"cmd": "effort.start", "args":
        {"dir": project, "skill": "bench", "settings": {"heartbeat": 1}}});
    judging.socket()?.frame(&start)?;
    let commands = [verdict_command(plan, &with)?, usual.hook_command(plan, Via::Shim)?];
    let mut series = [Series::new("hook with a verdict", "ms"), Series::new("hook without", "ms")];
    let rounds = plan.rounds(200, 1000);
    for n in 0..rounds as u64 {
        // Only the calls: their ends have the odd numbers.
        let body = serde_json::to_vec(&payload(2 * n, &session(n % 54)))?;
        for ((series, world), command) in series.iter_mut().zip([&with, &without]).zip(&commands) {
            series.samples.push(run_in(world, command, &body, true, project)?);
        }
    }
    let denied = judging.get("/api/efforts")?["efforts"][0]["denials"][0]["count"].as_u64();
    // A verdict that took too long lets the call go on; most must have come.
    if denied.is_none_or(|denied| denied * 10 < rounds as u64 * 9) {
        bail!("only {denied:?} of {rounds} calls were denied: some hooks got no verdict");
    }
    Ok(series)
}

fn round_trips(daemon: &Daemon<'_>, plan: &PromisePlan) -> Result<Series> {
    let mut series = Series::new("one request", "ms");
    let mut socket = daemon.socket()?;
    let request = json!({"cmd": "guard.list", "args": {"effort": effort(daemon)?}});
    for round in 0..plan.rounds(2_000, 20_000) {
        let begun = Instant::now();
        socket.frame(&request)?;
        // The first requests warm up.
        if round >= 100 {
            series.samples.push(ms(begun.elapsed()));
        }
    }
    Ok(series)
}

fn effort(daemon: &Daemon<'_>) -> Result<String> {
    let list = daemon.get("/api/efforts")?;
    Ok(list["efforts"][0]["id"].as_str().context("no effort was started")?.to_owned())
}

/// When the seats make their calls.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// Each seat at its own moment, as sessions that do not know of each other: 1,000 calls a second.
    Independent,
    /// All seats in the same instant, again and again. This measures a queue of 100 calls.
    InStep,
}

/// Every seat calls at fixed times, however late the replies before were. If each seat waited for its reply first, one stall would make all
/// seats call in the same instant from then on. One thread makes all calls, so that a client thread without a processor is not measured.
fn seats(world: &World, dir: &str, plan: &PromisePlan, pace: Pace) -> Result<Series> {
    let calls = plan.rounds(50, 200);
    let socket = socket_of(world.home().flightdeck_home());
    let times: Result<Vec<Vec<f64>>> = runtime()?.block_on(async {
        let mut seats = Vec::with_capacity(SEATS);
        for number in 0..SEATS {
            seats.push(Seat::connect(&socket, number, dir, pace).await?);
        }
        let begin = Instant::now() + BETWEEN_CALLS;
        let running: JoinSet<_> = seats.into_iter().map(|seat| seat.make_calls(begin, calls)).collect();
        running.join_all().await.into_iter().collect()
    });
    let name = match pace {
        Pace::Independent => "preToolUse, 100 seats",
        Pace::InStep => "preToolUse, 100 in one instant",
    };
    let mut series = Series::new(name, "ms");
    series.samples = times?.concat();
    Ok(series)
}

struct Seat {
    number: usize,
    dir: String,
    pace: Pace,
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Seat {
    /// Connects a session and makes its first call, which begins a window.
    async fn connect(socket: &Path, number: usize, dir: &str, pace: Pace) -> Result<Self> {
        let (read, write) = UnixStream::connect(socket).await?.into_split();
        let mut seat = Self { number, dir: dir.to_owned(), pace, lines: BufReader::new(read).lines(), write };
        let first = seat.line("first");
        seat.ask(&first).await?;
        Ok(seat)
    }

    async fn make_calls(mut self, begin: Instant, calls: usize) -> Result<Vec<f64>> {
        let offset = match self.pace {
            Pace::Independent => BETWEEN_CALLS * self.number as u32 / SEATS as u32,
            Pace::InStep => Duration::ZERO,
        };
        let mut times = Vec::with_capacity(calls);
        for n in 0..calls {
            let line = self.line(&n.to_string());
            let due = begin + offset + BETWEEN_CALLS * n as u32;
            let mut begun = due;
            // A call that is late because of the reply before it counts from the time at which it was due.
            if Instant::now() < due {
                tokio::time::sleep_until(due.into()).await;
                begun = Instant::now();
            }
            self.ask(&line).await?;
            times.push(ms(begun.elapsed()));
        }
        Ok(times)
    }

    async fn ask(&mut self, line: &str) -> Result<()> {
        self.write.write_all(line.as_bytes()).await?;
        let reply = self.lines.next_line().await?.context("the daemon closed the connection")?;
        if !reply.contains("\"ok\":true") {
            bail!("the daemon answered {reply:?}");
        }
        Ok(())
    }

    fn line(&self, n: &str) -> String {
        format!("{}\n", call(self.number, n, &self.dir, self.pace))
    }
}

/// What the disk needs at least, beside the daemon: a plain file, written and synced.
fn syncs(world: &World, plan: &PromisePlan) -> Result<Series> {
    let mut series = Series::new("sync of a plain file", "ms");
    let mut file = std::fs::File::create(world.home().path().join("plain"))?;
    for _ in 0..plan.rounds(100, 400) {
        file.write_all(&[b'x'; SYNCED_BYTES])?;
        let begun = Instant::now();
        file.sync_data()?;
        series.samples.push(ms(begun.elapsed()));
    }
    Ok(series)
}

fn call(seat: usize, n: &str, dir: &str, pace: Pace) -> Value {
    let round = if pace == Pace::InStep { "in-step" } else { "independent" };
    json!({"cmd": "hooks.preToolUse", "args": {
        "sessionId": format!("seat-{seat}"), "transcriptPath": "/nowhere.jsonl", "cwd": dir, "permissionMode": "default",
        "hookEventName": "PreToolUse", "toolName": "Bash", "toolInput": {"command": "cargo test"},
        "toolUseId": format!("toolu_{round}_{seat}_{n}")}})
}
