//! A large fleet at work, watched by many, for long enough to see what grows.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use flightdeck_core::time::Timestamp;
use flightdeck_sim::fleet::{Fleet, FleetConfig, SimEvent};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::daemon::Daemon;
use super::{judge, plot};
use crate::bench::machine::Machine;
use crate::workspace::target;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) sessions: usize,
    pub(super) rate: u64,
    pub(super) viewers: usize,
    pub(super) seconds: u64,
    /// Events of each session, as fast as they go, before it is judged: a session keeps something of its last hundreds, and
    /// one that is young still grows.
    pub(super) warm_up: usize,
    /// Little enough that old events are removed while the load runs.
    pub(super) keep_megabytes: u64,
}

/// Connections that carry the events; one session always uses the same, so that its order holds.
const CONNECTIONS: usize = 16;
/// Events ready to be sent on one connection.
const WAITING_MAX: usize = 256;
/// How often we look.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// How often one event is followed to a viewer.
const MARK_EVERY: Duration = Duration::from_millis(100);
/// The session whose events carry marks.
const MARKED: &str = "5eed5eed-0000-4000-8000-000000000001";

/// What was seen in one stretch of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) at: f64,
    pub(super) events: u64,
    pub(super) ack_p50_ms: f64,
    pub(super) ack_p99_ms: f64,
    pub(super) ack_max_ms: f64,
    /// How often old events had been removed by then.
    pub(super) removals: usize,
    /// Marked events that reached the viewer that measures.
    pub(super) sights: usize,
    pub(super) seen_p99_ms: f64,
    pub(super) resident_mb: f64,
    pub(super) database_mb: f64,
    pub(super) other_mb: f64,
}

#[derive(Default)]
struct Seen {
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

pub(super) fn run(load: &Load, binary: &Path, judged: bool) -> Result<bool> {
    println!(
        "{} sessions, {} events a second, {} viewers, {} s; at most {} MB of events are kept; first {} events each",
        load.sessions, load.rate, load.viewers, load.seconds, load.keep_megabytes, load.warm_up
    );
    let daemon = Daemon::start(binary, load.keep_megabytes)?;
    let seen = Arc::new(Seen::default());
    let (mut lanes, mut carriers) = (Vec::new(), Vec::new());
    for _ in 0..CONNECTIONS {
        let (lane, events) = mpsc::sync_channel(WAITING_MAX);
        let (socket, seen) = (daemon.socket()?, Arc::clone(&seen));
        carriers.push(std::thread::spawn(move || carry(socket, &events, &seen)));
        lanes.push(lane);
    }
    let samples = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let sent = send(load, &daemon, lanes, &seen);
            seen.over.store(true, Ordering::Relaxed);
            sent
        });
        wait_until_warm(&seen);
        let samples = watch(load, &daemon, &seen).and_then(|()| sample(load, &daemon, &seen));
        seen.over.store(true, Ordering::Relaxed);
        sending.join().map_err(|_| anyhow::anyhow!("the sender panicked"))??;
        samples
    })?;
    // The lanes are closed; what was in them has been told, and answered, when its carrier ends.
    for carrier in carriers {
        carrier.join().map_err(|_| anyhow::anyhow!("a connection panicked"))??;
    }
    let whole = finish(&daemon, &seen)?;
    let gaps = seen.gaps.load(Ordering::Relaxed);
    Ok(whole && (!judged || report(load, binary, &samples, gaps)?))
}

/// At its pace: a lane that is full holds everybody back, which shows as a lower rate.
fn send(
    load: &Load,
    daemon: &Daemon,
    lanes: Vec<SyncSender<(SimEvent, Instant)>>,
    seen: &Seen,
) -> Result<()> {
    let config = FleetConfig {
        sessions: load.sessions,
        start_ms: now_ms(),
        home: daemon.home().display().to_string(),
        ..FleetConfig::default()
    };
    let mut events = Fleet::new(config);
    let give = |event: SimEvent| {
        let lane = event.session_id.bytes().map(usize::from).sum::<usize>() % CONNECTIONS;
        lanes[lane]
            .send((event, Instant::now()))
            .map_err(|_| anyhow::anyhow!("a connection to the daemon broke off"))
    };
    events.by_ref().take(load.sessions * load.warm_up).try_for_each(give)?;
    seen.warm.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    for (n, event) in (0_u32..).zip(events) {
        if seen.over.load(Ordering::Relaxed) {
            break;
        }
        let due = begun + Duration::from_nanos(1_000_000_000 / load.rate) * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        give(event)?;
    }
    Ok(())
}

/// One connection; each event waits for its word, as a hook does.
fn carry(
    mut socket: BufReader<std::os::unix::net::UnixStream>,
    events: &Receiver<(SimEvent, Instant)>,
    seen: &Seen,
) -> Result<()> {
    let mut answer = String::new();
    while let Ok((event, given)) = events.recv() {
        let mut env = event.env;
        env.insert("fired_at".into(), json!(Timestamp::from_millis(now_ms()).to_string()));
        let line = format!("{}\n", json!({ "cmd": "hook", "args": event.payload, "env": env }));
        answer.clear();
        socket.get_mut().write_all(line.as_bytes()).context("a connection to the daemon broke off")?;
        socket.read_line(&mut answer).context("the daemon did not answer")?;
        if answer.is_empty() {
            bail!("the daemon closed a connection");
        }
        let counter = if answer.contains("\"ok\":true") { &seen.sent } else { &seen.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        push(&seen.acks_ms, given.elapsed());
    }
    Ok(())
}

fn push(all: &Mutex<Vec<f64>>, time: Duration) {
    if let Ok(mut all) = all.lock() {
        all.push(time.as_secs_f64() * 1e3);
    }
}

fn watch(load: &Load, daemon: &Daemon, seen: &Arc<Seen>) -> Result<()> {
    (0..load.viewers).try_for_each(|n| view(&daemon.address, n == 0, Arc::clone(seen)))
}

/// One viewer of the event stream; the first also measures how long a marked event takes to reach it.
fn view(address: &str, measures: bool, seen: Arc<Seen>) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /api/live/stream HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut lines = BufReader::new(stream);
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if line.starts_with(b"event: ") {
                seen.viewed.fetch_add(1, Ordering::Relaxed);
                seen.gaps.fetch_add(u64::from(line.starts_with(b"event: gap")), Ordering::Relaxed);
            } else if measures && let Some(sent_ms) = mark(&line) {
                let took = u64::try_from(now_ms() - sent_ms).unwrap_or(0);
                push(&seen.sights_ms, Duration::from_millis(took));
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

fn sample(load: &Load, daemon: &Daemon, seen: &Seen) -> Result<Vec<Sample>> {
    let (begun, end) = (Instant::now(), Duration::from_secs(load.seconds));
    let before = seen.sent.load(Ordering::Relaxed);
    let mut marks = daemon.socket()?;
    let mut samples = Vec::new();
    let mut next = SAMPLE_EVERY;
    let mut answer = String::new();
    while begun.elapsed() < end {
        std::thread::sleep(MARK_EVERY);
        let tool = json!({"command": format!("cargo test --package mark{}x", now_ms())});
        let event = json!({"session_id": MARKED, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": now_ms().to_string(), "tool_input": tool});
        let line = format!("{}\n", json!({ "cmd": "hook", "args": event }));
        marks.get_mut().write_all(line.as_bytes())?;
        answer.clear();
        marks.read_line(&mut answer)?;
        seen.sent.fetch_add(1, Ordering::Relaxed);
        if begun.elapsed() >= next {
            next += SAMPLE_EVERY;
            let one = look(begun, before, daemon, seen)?;
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

/// A sender that breaks off ends the wait too.
fn wait_until_warm(seen: &Seen) {
    let begun = Instant::now();
    while !seen.warm.load(Ordering::Relaxed) && !seen.over.load(Ordering::Relaxed) {
        std::thread::sleep(MARK_EVERY);
    }
    let (sent, took) = (seen.sent.load(Ordering::Relaxed), begun.elapsed().as_secs_f32());
    println!("{sent} events in {took:.0} s to begin with");
    // What took how long until now is not judged.
    take(&seen.acks_ms);
}

fn take(all: &Mutex<Vec<f64>>) -> Vec<f64> {
    all.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default()
}

/// `before` were sent to warm up.
fn look(begun: Instant, before: u64, daemon: &Daemon, seen: &Seen) -> Result<Sample> {
    let (mut acks, mut sights) = (take(&seen.acks_ms), take(&seen.sights_ms));
    let (database_mb, other_mb) = daemon.disk_mb();
    Ok(Sample {
        at: begun.elapsed().as_secs_f64(),
        events: seen.sent.load(Ordering::Relaxed) - before,
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

/// Nothing lost, nothing counted twice, nothing refused, and everybody was told.
fn finish(daemon: &Daemon, seen: &Seen) -> Result<bool> {
    let sent = || seen.sent.load(Ordering::Relaxed);
    let status = daemon.get("/hook/status")?;
    let total = status["events_total"].as_u64().context("no events_total")?;
    // A sender that goes on talking lets go of the hook that is held for it; that is a fact of our own in the log.
    let total = total - status["by_event"]["ask_gone"].as_u64().unwrap_or(0);
    let refused = seen.refused.load(Ordering::Relaxed);
    println!(
        "{} events acknowledged, {total} counted by the daemon, {refused} refused; viewers were told {} times, {} gaps",
        sent(),
        seen.viewed.load(Ordering::Relaxed),
        seen.gaps.load(Ordering::Relaxed)
    );
    let held = total == sent() && refused == 0 && seen.viewed.load(Ordering::Relaxed) > 0;
    if !held {
        println!("FAILED: an event was lost, counted twice or refused, or no viewer was told");
    }
    Ok(held)
}

fn report(load: &Load, binary: &Path, samples: &[Sample], gaps: u64) -> Result<bool> {
    let folder = target().join("soak");
    std::fs::create_dir_all(&folder)?;
    let verdicts = judge::judge(load, samples, gaps);
    std::fs::write(folder.join("load.svg"), plot::svg(load, samples))?;
    let machine = Machine::look(binary);
    let all = json!({ "load": load, "machine": machine, "verdicts": verdicts, "samples": samples });
    std::fs::write(folder.join("load.json"), serde_json::to_string_pretty(&all)?)?;
    println!("{} and load.svg beside it", folder.join("load.json").display());
    Ok(judge::say(&verdicts))
}
