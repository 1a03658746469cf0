//! Requests about efforts: one after the other on one connection, and tool calls of many seats at once.

use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Socket};
use crate::world::{World, ms};
use crate::{Plan, Series};

/// Seats that call tools at the same time: the number in the promise.
const SEATS: usize = 100;

pub(crate) fn measure(plan: &Plan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let dir = world.home().path().to_str().context("the home is not UTF-8")?.to_owned();
    let start =
        json!({"cmd": "effort.start", "args": {"dir": dir, "skill": "bench", "settings": {"heartbeat": 0}}});
    daemon.socket()?.frame(&start)?;
    Ok(vec![round_trips(&daemon, plan)?, seats(&daemon, &dir, plan)?])
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

/// Every seat sends its calls one after the other, all seats at the same time.
fn seats(daemon: &Daemon<'_>, dir: &str, plan: &Plan) -> Result<Series> {
    let (calls, together) = (plan.rounds(20, 100), Barrier::new(SEATS));
    let times: Result<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let seats: Vec<_> = (0..SEATS)
            .map(|seat| {
                let together = &together;
                let socket = daemon.socket();
                scope.spawn(move || one_seat(socket?, seat, dir, calls, together))
            })
            .collect();
        seats.into_iter().map(|seat| seat.join().unwrap_or_else(|_| bail!("a seat panicked"))).collect()
    });
    let mut series = Series::new("preToolUse, 100 seats", "ms");
    series.samples = times?.concat();
    Ok(series)
}

fn one_seat(
    mut socket: Socket,
    seat: usize,
    dir: &str,
    calls: usize,
    together: &Barrier,
) -> Result<Vec<f64>> {
    socket.frame(&call(seat, 0, dir))?;
    together.wait();
    let mut times = Vec::with_capacity(calls);
    for n in 1..=calls {
        let frame = call(seat, n, dir);
        let begun = Instant::now();
        socket.frame(&frame)?;
        times.push(ms(begun.elapsed()));
        // A seat thinks between two calls; without a pause the measurement is of the queue.
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Ok(times)
}

fn call(seat: usize, n: usize, dir: &str) -> Value {
    json!({"cmd": "hooks.preToolUse", "args": {
        "sessionId": format!("seat-{seat}"), "transcriptPath": "/nowhere.jsonl", "cwd": dir, "permissionMode": "default",
        "hookEventName": "PreToolUse", "toolName": "Bash", "toolInput": {"command": "cargo test"},
        "toolUseId": format!("toolu_{seat}_{n}")}})
}
