//! Requests about efforts: one after the other on one connection, tool calls of many seats at once, and a hook with a verdict
//! beside one without.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck::settings::Via;
use serde_json::{Value, json};

use crate::daemon::{Daemon, Socket, verdict_command};
use crate::hook::run_in;
use crate::world::{World, ms, payload, session};
use crate::{Plan, Series};

/// Seats that call tools at the same time: the number in the promise.
const SEATS: usize = 100;
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

pub(crate) fn measure(plan: &Plan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let dir = world.home().path().to_str().context("the home is not UTF-8")?.to_owned();
    let start =
        json!({"cmd": "effort.start", "args": {"dir": dir, "skill": "bench", "settings": {"heartbeat": 0}}});
    daemon.socket()?.frame(&start)?;
    let mut series = vec![round_trips(&daemon, plan)?];
    for pace in [Pace::Independent, Pace::InStep] {
        series.push(seats(&daemon, &dir, plan, pace)?);
    }
    drop(daemon);
    series.extend(verdicts(plan)?);
    Ok(series)
}

/// One hook process after the other: with an effort that denies each call, and on another daemon without efforts.
fn verdicts(plan: &Plan) -> Result<[Series; 2]> {
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

fn round_trips(daemon: &Daemon<'_>, plan: &Plan) -> Result<Series> {
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

/// Every seat sends its calls one after the other, all seats during the same time.
fn seats(daemon: &Daemon<'_>, dir: &str, plan: &Plan, pace: Pace) -> Result<Series> {
    let (calls, together) = (plan.rounds(20, 100), Barrier::new(SEATS));
    let times: Result<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let seats: Vec<_> = (0..SEATS)
            .map(|seat| {
                let together = &together;
                let socket = daemon.socket();
                scope.spawn(move || {
                    let mut socket = socket?;
                    socket.frame(&call(seat, "first", dir, pace))?;
                    together.wait();
                    one_seat(socket, seat, dir, calls, pace)
                })
            })
            .collect();
        seats.into_iter().map(|seat| seat.join().unwrap_or_else(|_| bail!("a seat panicked"))).collect()
    });
    let name = match pace {
        Pace::Independent => "preToolUse, 100 seats",
        Pace::InStep => "preToolUse, 100 in one instant",
    };
    let mut series = Series::new(name, "ms");
    series.samples = times?.concat();
    Ok(series)
}

fn one_seat(mut socket: Socket, seat: usize, dir: &str, calls: usize, pace: Pace) -> Result<Vec<f64>> {
    if pace == Pace::Independent {
        std::thread::sleep(BETWEEN_CALLS * seat as u32 / SEATS as u32);
    }
    let mut times = Vec::with_capacity(calls);
    for n in 1..=calls {
        let frame = call(seat, &n.to_string(), dir, pace);
        let begun = Instant::now();
        socket.frame(&frame)?;
        times.push(ms(begun.elapsed()));
        // A seat thinks between two calls.
        std::thread::sleep(BETWEEN_CALLS);
    }
    Ok(times)
}

fn call(seat: usize, n: &str, dir: &str, pace: Pace) -> Value {
    let round = if pace == Pace::InStep { "in-step" } else { "independent" };
    json!({"cmd": "hooks.preToolUse", "args": {
        "sessionId": format!("seat-{seat}"), "transcriptPath": "/nowhere.jsonl", "cwd": dir, "permissionMode": "default",
        "hookEventName": "PreToolUse", "toolName": "Bash", "toolInput": {"command": "cargo test"},
        "toolUseId": format!("toolu_{round}_{seat}_{n}")}})
}
