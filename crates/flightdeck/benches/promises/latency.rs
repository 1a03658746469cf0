//! The time from a hook to every viewer in a busy fleet, and the memory of the daemon with that fleet.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use flightdeck::settings::Via;
use flightdeck_sim::fleet::SimEvent;
use serde_json::json;

use crate::daemon::{Daemon, Socket};
use crate::world::{World, ms, payload, session};
use crate::{PromisePlan, Series};

const VIEWERS: usize = 20;
/// Pause between events of the rest of the fleet: fifty a second, a busy 54.
const BACKGROUND: Duration = Duration::from_millis(20);
/// A viewer that has not got the change by then never will.
const LOST: Duration = Duration::from_secs(5);

/// A viewer saw the event with this mark.
type Sight = (u64, Instant);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    let daemon = Daemon::start(&world)?;
    let future = daemon.feed_history()?;
    std::thread::sleep(Duration::from_secs(1));
    let mut memory = [Series::new("resident", "MB"), Series::new("private", "MB")];
    let (resident, private) = daemon.memory()?;
    memory[0].samples.push(resident);
    memory[1].samples.push(private);

    let (seen, sights) = mpsc::channel();
    for _ in 0..VIEWERS {
        view(&daemon.address(), seen.clone())?;
    }
    let stop = AtomicBool::new(false);
    let mut background = daemon.socket()?;
    let mut latency = std::thread::scope(|scope| {
        let fleet = scope.spawn(|| go_on(&mut background, future, &stop));
        let measured = hooks(plan, &world, &daemon, &sights);
        stop.store(true, Ordering::Relaxed);
        fleet.join().unwrap_or_else(|_| bail!("the fleet panicked"))?;
        measured
    })?;
    let mut after = Series::new("resident with 20 viewers", "MB");
    after.samples.push(daemon.memory()?.0);
    latency.extend(memory);
    latency.push(after);
    Ok(latency)
}

/// A browser's stream: which event it saw, and when.
fn view(address: &str, seen: Sender<Sight>) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /api/live/stream HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("event: snapshot") {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            bail!("the stream ended before its snapshot");
        }
    }
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            let mark = line.split_once("--package mark").map(|(_, rest)| rest);
            let digits =
                mark.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
            if let Some(n) = digits.and_then(|digits| digits.parse().ok()) {
                // The receiver is gone: the measurement is over.
                let _ = seen.send((n, Instant::now()));
            }
        }
    });
    Ok(())
}

/// The rest of the fleet sends without waiting.
fn go_on(socket: &mut Socket, future: impl Iterator<Item = SimEvent>, stop: &AtomicBool) -> Result<()> {
    for mut event in future {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        event.fired_ms = flightdeck::clock::now().as_millis();
        socket.send(event)?;
        std::thread::sleep(BACKGROUND);
    }
    Ok(())
}

/// Alternates between a whole hook process and only its message on the socket. A sample is one event at one viewer.
fn hooks(
    plan: &PromisePlan,
    world: &World,
    daemon: &Daemon<'_>,
    sights: &Receiver<Sight>,
) -> Result<Vec<Series>> {
    let mut whole = Series::new("hook process to viewer", "ms");
    let mut message = Series::new("socket to viewer", "ms");
    let command = daemon.hook_command(plan, Via::Shim)?;
    let mut socket = daemon.socket()?;
    for n in 0..plan.rounds(300, 1500) as u64 {
        let mark = 2 * n;
        let mut event = payload(mark, &session(n % 54));
        event.insert("tool_input".into(), json!({"command": format!("cargo test --package mark{mark}x")}));
        let begun = Instant::now();
        let series = if n % 2 == 0 {
            crate::hook::run(world, &command, &serde_json::to_vec(&event)?, true)?;
            &mut whole
        } else {
            let fired = flightdeck::clock::now().to_string();
            socket.frame(&json!({ "cmd": "hook", "args": event, "env": {"fired_at": fired} }))?;
            &mut message
        };
        for _ in 0..VIEWERS {
            let (seen, at) = sights.recv_timeout(LOST).context("a viewer missed an event")?;
            if seen != mark {
                bail!("a viewer saw {seen}, and {mark} was sent");
            }
            series.samples.push(ms(at.duration_since(begun)));
        }
    }
    Ok(vec![whole, message])
}
