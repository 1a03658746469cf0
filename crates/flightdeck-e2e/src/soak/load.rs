//! Many sessions and viewers on one daemon, for long enough to notice growth.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use flightdeck_core::time::Timestamp;
use flightdeck_sim::fleet::{FleetConfig, SimEvent, SimFleet};
use serde_json::json;

use super::sample::{LoadSize, Sample};
use super::{judge, plot};
use crate::machine::Machine;
use crate::measured_daemon::MeasuredDaemon;
use crate::testkit::SocketClient;
use crate::testkit::http::HttpRequest;
use crate::workspace::target;

/// Connections that carry the events. A session always uses the same one, so its events stay in order.
const CONNECTIONS: usize = 16;
/// Events ready to be sent on one connection.
const WAITING_MAX: usize = 256;
/// Time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Time between two marked events, whose way to a viewer is timed.
const MARK_EVERY: Duration = Duration::from_millis(100);
/// The session whose events carry marks.
const MARKED: &str = "5eed5eed-0000-4000-8000-000000000001";

/// What was sent, acknowledged and seen by viewers so far.
#[derive(Default)]
struct LoadTally {
    sent: AtomicU64,
    refused: AtomicU64,
    viewed: AtomicU64,
    gaps: AtomicU64,
    acks_ms: Mutex<Vec<f64>>,
    sights_ms: Mutex<Vec<f64>>,
    warm: AtomicBool,
    over: AtomicBool,
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as i64)
}

pub(super) fn run(load: &LoadSize, binary: &Path, judged: bool) -> Result<bool> {
    println!(
        "{} sessions, {} events a second, {} viewers, {} s; at most {} MB of events are kept; first {} events each",
        load.sessions, load.rate, load.viewers, load.seconds, load.keep_megabytes, load.warm_up
    );
    let daemon = MeasuredDaemon::start(binary, load.keep_megabytes)?;
    let tally = Arc::new(LoadTally::default());
    let (mut lanes, mut carriers) = (Vec::new(), Vec::new());
    for _ in 0..CONNECTIONS {
        let (lane, events) = mpsc::sync_channel(WAITING_MAX);
        let (socket, tally) = (daemon.socket()?, Arc::clone(&tally));
        carriers.push(std::thread::spawn(move || carry(socket, &events, &tally)));
        lanes.push(lane);
    }
    let samples = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let sent = send(load, &daemon, lanes, &tally);
            tally.over.store(true, Ordering::Relaxed);
            sent
        });
        wait_until_warm(&tally);
        let samples = watch(load, &daemon, &tally).and_then(|()| sample(load, &daemon, &tally));
        tally.over.store(true, Ordering::Relaxed);
        sending.join().map_err(|_| anyhow::anyhow!("the sender panicked"))??;
        samples
    })?;
    // The lanes are closed. Each carrier ends when its last event has been acknowledged.
    for carrier in carriers {
        carrier.join().map_err(|_| anyhow::anyhow!("a connection panicked"))??;
    }
    let whole = finish(&daemon, &tally)?;
    let gaps = tally.gaps.load(Ordering::Relaxed);
    Ok(whole && (!judged || report(load, binary, &samples, gaps)?))
}

/// Sends at the wanted rate. A full lane blocks all others, which shows as a lower rate.
fn send(
    load: &LoadSize,
    daemon: &MeasuredDaemon,
    lanes: Vec<SyncSender<(SimEvent, Instant)>>,
    tally: &LoadTally,
) -> Result<()> {
    let config = FleetConfig {
        sessions: load.sessions,
        start_ms: now_ms(),
        home: daemon.folder().display().to_string(),
        ..FleetConfig::default()
    };
    let mut events = SimFleet::new(config);
    let give = |event: SimEvent| {
        let lane = event.session_id.bytes().map(usize::from).sum::<usize>() % CONNECTIONS;
        lanes[lane]
            .send((event, Instant::now()))
            .map_err(|_| anyhow::anyhow!("a connection to the daemon broke off"))
    };
    events.by_ref().take(load.sessions * load.warm_up).try_for_each(give)?;
    tally.warm.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    for (n, event) in (0_u32..).zip(events) {
        if tally.over.load(Ordering::Relaxed) {
            break;
        }
        let due = begun + Duration::from_nanos(1_000_000_000 / load.rate) * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        give(event)?;
    }
    Ok(())
}

/// One connection. Each event waits for its acknowledgement, as a hook does.
fn carry(mut socket: SocketClient, events: &Receiver<(SimEvent, Instant)>, tally: &LoadTally) -> Result<()> {
    while let Ok((event, given)) = events.recv() {
        let mut env = event.env;
        env.insert("fired_at".into(), json!(Timestamp::from_millis(now_ms()).to_string()));
        let reply = socket.try_ask(&json!({ "cmd": "hook", "args": event.payload, "env": env }))?;
        let counter = if reply.contains("\"ok\":true") { &tally.sent } else { &tally.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        push(&tally.acks_ms, given.elapsed());
    }
    Ok(())
}

fn push(all: &Mutex<Vec<f64>>, time: Duration) {
    if let Ok(mut all) = all.lock() {
        all.push(time.as_secs_f64() * 1e3);
    }
}

fn watch(load: &LoadSize, daemon: &MeasuredDaemon, tally: &Arc<LoadTally>) -> Result<()> {
    (0..load.viewers).try_for_each(|n| view(daemon.addr(), n == 0, Arc::clone(tally)))
}

/// One viewer of the event stream; the first also measures how long a marked event takes to reach it.
fn view(addr: SocketAddr, measures: bool, tally: Arc<LoadTally>) -> Result<()> {
    let stream = HttpRequest::get(addr, "/api/live/stream").try_open(addr)?;
    // A quiet board says nothing for longer than any request may take.
    stream.set_read_timeout(None)?;
    let mut lines = BufReader::new(stream);
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if line.starts_with(b"event: ") {
                tally.viewed.fetch_add(1, Ordering::Relaxed);
                tally.gaps.fetch_add(u64::from(line.starts_with(b"event: gap")), Ordering::Relaxed);
            } else if measures && let Some(sent_ms) = mark(&line) {
                let took = u64::try_from(now_ms() - sent_ms).unwrap_or(0);
                push(&tally.sights_ms, Duration::from_millis(took));
            }
            line.clear();
        }
    });
    Ok(())
}

/// `mark1794744000000x`
fn mark(line: &[u8]) -> Option<i64> {
    if !line.starts_with(b"data: ") {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let (_, rest) = text.split_once("\"activity\":").unwrap_or(("", text)).1.split_once("mark")?;
    rest.split_once('x')?.0.parse().ok()
}

fn sample(load: &LoadSize, daemon: &MeasuredDaemon, tally: &LoadTally) -> Result<Vec<Sample>> {
    let (begun, end) = (Instant::now(), Duration::from_secs(load.seconds));
    let before = tally.sent.load(Ordering::Relaxed);
    let mut marks = daemon.socket()?;
    let mut samples = Vec::new();
    let mut next = SAMPLE_EVERY;
    while begun.elapsed() < end {
        std::thread::sleep(MARK_EVERY);
        let tool = json!({"command": format!("cargo test --package mark{}x", now_ms())});
        let event = json!({"session_id": MARKED, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": now_ms().to_string(), "tool_input": tool});
        marks.try_ask(&json!({ "cmd": "hook", "args": event }))?;
        tally.sent.fetch_add(1, Ordering::Relaxed);
        if begun.elapsed() >= next {
            next += SAMPLE_EVERY;
            let one = measure_now(begun, before, daemon, tally)?;
            println!(
                "{:>5.0} s {:>9} events  ack p50 {:>6.2} p99 {:>7.2} ms  seen p99 {:>6.0} ms  {:>6.1} MB resident  {:>7.1} MB database",
                one.at,
                one.events,
                one.ack_p50_ms,
                one.ack_p99_ms,
                one.seen_p99_ms,
                one.resident_mb,
                one.database_mb
            );
            samples.push(one);
        }
    }
    Ok(samples)
}

/// Returns too when the sender fails.
fn wait_until_warm(tally: &LoadTally) {
    let begun = Instant::now();
    while !tally.warm.load(Ordering::Relaxed) && !tally.over.load(Ordering::Relaxed) {
        std::thread::sleep(MARK_EVERY);
    }
    let (sent, took) = (tally.sent.load(Ordering::Relaxed), begun.elapsed().as_secs_f32());
    println!("{sent} events in {took:.0} s to warm up");
    // The acknowledgement times of the warm-up are not judged.
    drain_times(&tally.acks_ms);
}

fn drain_times(all: &Mutex<Vec<f64>>) -> Vec<f64> {
    all.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default()
}

/// `before` events were sent during the warm-up.
fn measure_now(begun: Instant, before: u64, daemon: &MeasuredDaemon, tally: &LoadTally) -> Result<Sample> {
    let (mut acks, mut sights) = (drain_times(&tally.acks_ms), drain_times(&tally.sights_ms));
    let (database_mb, other_mb) = daemon.disk_mb();
    Ok(Sample {
        at: begun.elapsed().as_secs_f64(),
        events: tally.sent.load(Ordering::Relaxed) - before,
        ack_p50_ms: judge::percentile(&mut acks, 50),
        ack_p99_ms: judge::percentile(&mut acks, 99),
        ack_max_ms: judge::percentile(&mut acks, 100),
        removals: daemon.log().matches("old events were removed").count(),
        sights: sights.len(),
        seen_p99_ms: judge::percentile(&mut sights, 99),
        resident_mb: daemon.resident_mb()?,
        database_mb,
        other_mb,
    })
}

/// True if no event was lost, counted twice or refused, and viewers received changes.
fn finish(daemon: &MeasuredDaemon, tally: &LoadTally) -> Result<bool> {
    let sent = || tally.sent.load(Ordering::Relaxed);
    let status = daemon.get("/hook/status")?;
    let total = status["events_total"].as_u64().context("no events_total")?;
    // A sender that sends its next event abandons its held hook. The daemon logs that as an event of its own.
    let total = total - status["by_event"]["ask_gone"].as_u64().unwrap_or(0);
    let refused = tally.refused.load(Ordering::Relaxed);
    println!(
        "{} events acknowledged, {total} counted by the daemon, {refused} refused; viewers were told {} times, {} gaps",
        sent(),
        tally.viewed.load(Ordering::Relaxed),
        tally.gaps.load(Ordering::Relaxed)
    );
    let held = total == sent() && refused == 0 && tally.viewed.load(Ordering::Relaxed) > 0;
    if !held {
        println!("FAILED: an event was lost, counted twice or refused, or no viewer was told");
    }
    Ok(held)
}

fn report(load: &LoadSize, binary: &Path, samples: &[Sample], gaps: u64) -> Result<bool> {
    let folder = target().join("soak");
    std::fs::create_dir_all(&folder)?;
    let verdicts = judge::judge(load, samples, gaps);
    std::fs::write(folder.join("load.svg"), plot::svg(load, samples))?;
    let machine = Machine::read(binary);
    let all = json!({ "load": load, "machine": machine, "verdicts": verdicts, "samples": samples });
    std::fs::write(folder.join("load.json"), serde_json::to_string_pretty(&all)?)?;
    println!("{} and load.svg beside it", folder.join("load.json").display());
    Ok(judge::print(&verdicts))
}
