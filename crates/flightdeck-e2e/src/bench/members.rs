//! Fifty members on one server at a steady load: how long an event takes to a viewer of the hub, whether the hub takes every event,
//! and whether its memory stays flat.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use super::hosts::{BenchHost, prompt, wait_until};
use super::{Measured, Series};
use crate::machine::processor_ms;
use crate::testkit::{NatsServer, SocketClient};

pub(super) const ROW: &str = "members";

const MEMBERS: usize = 50;
const SESSIONS: u64 = 54;
/// Events of all members together.
const EVENTS_PER_SECOND: u32 = 1_000;
/// Threads that send: one alone would wait for acknowledgements too long.
const SENDERS: usize = 10;
/// How long the load lasts after every session is on the board.
const LASTS: Duration = Duration::from_secs(600);
const LASTS_QUICK: Duration = Duration::from_secs(60);
/// A session has an event every 2.7 s.
const WARM_UP: Duration = Duration::from_secs(10);
/// The way of an event is measured this often.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// Ten minutes write 0.8 GB.
const STORE_MEGABYTES: u32 = 4_096;
/// After this silence something has failed.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// A hub that has stored nothing for this long has stored all that it will.
const READS_ON_WITHIN: Duration = Duration::from_secs(20);
/// A tool's input, so that an event has the 1 KB of an average one.
const PADDING_BYTES: usize = 700;
/// In front of the number of a sample.
const MARK: &str = "way-";

struct MemberFleet {
    // The hosts end before their server.
    hub: BenchHost,
    members: Vec<BenchHost>,
    nats: NatsServer,
    own_events_of_hub: u64,
}

impl MemberFleet {
    fn start(binary: &Path) -> Result<Self> {
        let mut nats = NatsServer::stopped(std::net::Ipv4Addr::LOCALHOST)
            .context("nats-server is not installed (apt-get install nats-server)")?;
        let folder = nats.folder().join("store");
        nats.set_store(&folder, STORE_MEGABYTES);
        nats.run();
        let hub = BenchHost::start(binary, &nats.url(), "desk", true)?;
        let own_events_of_hub = hub.daemon.events_total();
        let member = |n: usize| BenchHost::start(binary, &nats.url(), &format!("member-{n}"), false);
        let members = (0..MEMBERS).map(member).collect::<Result<Vec<_>>>()?;
        for host in members.iter().chain([&hub]) {
            wait_until("all are connected", || host.is_connected())?;
        }
        Ok(Self { hub, members, nats, own_events_of_hub })
    }

    /// Processor time of the hub, all members and the server.
    fn processor(&self) -> Result<[f64; 3]> {
        let members = self.members.iter().map(|member| processor_ms(member.daemon.pid()));
        let server = self.nats.pid().context("the server has ended")?;
        Ok([processor_ms(self.hub.daemon.pid())?, members.sum::<Result<f64>>()?, processor_ms(server)?])
    }
}

pub(super) fn lasts(quick: bool, seconds: Option<u64>) -> Duration {
    seconds.map_or(if quick { LASTS_QUICK } else { LASTS }, Duration::from_secs)
}

pub(super) fn measure(binary: &Path, lasts: Duration) -> Result<Measured> {
    let fleet = MemberFleet::start(binary)?;
    let load = MemberLoad::start(&fleet)?;
    std::thread::sleep(WARM_UP);
    let (begun, sent, processor) = (Instant::now(), load.sent(), fleet.processor()?);
    let way = std::thread::scope(|scope| {
        let memory = scope.spawn(|| resident_mb(&fleet.hub, lasts));
        let way = way_to_the_viewer(&fleet, lasts)?;
        let memory = memory.join().map_err(|_| anyhow!("the sampling of memory panicked"))??;
        Ok::<_, anyhow::Error>((way, memory))
    });
    let (events, seconds) = (load.sent() - sent, begun.elapsed().as_secs_f64());
    let [hub, members, server] = fleet.processor()?;
    let sent = load.stop()?;
    let (way, memory) = way?;
    let end = hub_at_the_end(&fleet, sent)?;
    let slowest = way.iter().copied().fold(0.0, f64::max);
    let per_thousand = |after: f64, before: f64| vec![(after - before) * 1e3 / events as f64];
    let fifth = memory.len() / 5;
    let series = |name: &str, unit: &str, samples| Series { name: name.into(), unit: unit.into(), samples };
    Ok(Measured {
        row: ROW.to_owned(),
        series: vec![
            series("hook to viewer of the hub", "ms", way),
            series("slowest", "ms", vec![slowest]),
            series("taken", "events", vec![sent as f64 - end.lost]),
            series("sent", "events", vec![sent as f64]),
            series("lost", "events", vec![end.lost]),
            series("received twice", "events", vec![end.received_twice]),
            series("refused", "messages", vec![end.refused]),
            series("rate", "/s", vec![events as f64 / seconds]),
            series("memory before", "MB", memory[fifth..2 * fifth].to_vec()),
            series("memory at the end", "MB", memory[4 * fifth..].to_vec()),
            series("processor of the hub", "ms", per_thousand(hub, processor[0])),
            series("processor of members", "ms", per_thousand(members, processor[1])),
            series("processor of the server", "ms", per_thousand(server, processor[2])),
        ],
    })
}

/// What the hub made of the members' events.
struct HubAtTheEnd {
    /// Events of members that are not in its log.
    lost: f64,
    /// Events that reached it although they were in its log.
    received_twice: f64,
    /// Messages that it refused.
    refused: f64,
}

/// Waits until every backlog is forwarded, and the hub has read as many events or reads no more. Its log has each event once, so equal
/// numbers mean equal logs.
fn hub_at_the_end(fleet: &MemberFleet, sent: u64) -> Result<HubAtTheEnd> {
    for member in &fleet.members {
        wait_until("every log is forwarded", || member.has_forwarded_all())?;
    }
    let total = |host: &BenchHost| host.daemon.events_total();
    let stored: u64 = fleet.members.iter().map(total).sum();
    if stored < sent {
        bail!("the members stored {stored} of {sent} events");
    }
    let (mut received, mut grew_at) = (total(&fleet.hub), Instant::now());
    while received - fleet.own_events_of_hub < stored && grew_at.elapsed() < READS_ON_WITHIN {
        std::thread::sleep(Duration::from_millis(100));
        let now = total(&fleet.hub);
        if now > received {
            (received, grew_at) = (now, Instant::now());
        }
    }
    let hosts = fleet.hub.daemon.api().get_json("/api/hosts")?;
    let refused = hosts["hosts"].as_array().into_iter().flatten().filter_map(|host| host["refused"].as_f64());
    let metrics = fleet.hub.daemon.api().get("/metrics")?.text();
    let resent = metrics.lines().find_map(|line| line.split_once("events_duplicate_total ")?.1.parse().ok());
    Ok(HubAtTheEnd {
        lost: stored as f64 - (received - fleet.own_events_of_hub) as f64,
        received_twice: resent.context("the metrics of the hub do not count resent events")?,
        refused: refused.sum(),
    })
}

/// Ten threads send the events of five members each.
struct MemberLoad {
    ends: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    senders: Vec<JoinHandle<Result<()>>>,
}

impl MemberLoad {
    fn start(fleet: &MemberFleet) -> Result<Self> {
        let (ends, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let mut senders = Vec::with_capacity(SENDERS);
        for members in fleet.members.chunks(MEMBERS / SENDERS) {
            let sockets = members.iter().map(BenchHost::socket).collect::<Result<Vec<_>>>()?;
            let (ends, sent) = (Arc::clone(&ends), Arc::clone(&sent));
            senders.push(std::thread::spawn(move || send_events(sockets, &ends, &sent)));
        }
        Ok(Self { ends, sent, senders })
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many events were sent.
    fn stop(self) -> Result<u64> {
        self.ends.store(true, Ordering::Relaxed);
        for sender in self.senders {
            sender.join().map_err(|_| anyhow!("the load panicked"))??;
        }
        Ok(self.sent.load(Ordering::Relaxed))
    }
}

/// Each member in turn has an event, at a steady rate. A sender that falls behind catches up.
fn send_events(mut sockets: Vec<SocketClient>, ends: &AtomicBool, sent: &AtomicU64) -> Result<()> {
    let pause = Duration::from_secs(1) * SENDERS as u32 / EVENTS_PER_SECOND;
    let padding = "x".repeat(PADDING_BYTES);
    let mut next = Instant::now();
    for n in 0.. {
        for socket in &mut sockets {
            if ends.load(Ordering::Relaxed) {
                return Ok(());
            }
            socket.try_ask(&event(n, &padding))?;
            sent.fetch_add(1, Ordering::Relaxed);
            next += pause;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    Ok(())
}

/// A turn of one call after the other, in each session.
fn event(n: u64, padding: &str) -> Value {
    let (session, turn) = (n % SESSIONS, n / SESSIONS);
    let name = match turn % 4 {
        0 => return prompt(session, &format!("{turn} {padding}")),
        1 => "PreToolUse",
        2 => "PostToolUse",
        _ => "Stop",
    };
    json!({"cmd": "hook", "args": {"session_id": format!("s{session}"), "hook_event_name": name, "tool_name": "Bash",
        "tool_use_id": format!("t{}", turn / 4), "tool_input": {"command": padding}, "cwd": "/work/api"}, "env": {}})
}

/// One sample after the other, each on the next member.
fn way_to_the_viewer(fleet: &MemberFleet, lasts: Duration) -> Result<Vec<f64>> {
    let mut viewer = fleet.hub.socket()?;
    viewer.send(&json!({"cmd": "subscribe", "args": {}}))?;
    let (seen, marks) = mpsc::channel();
    // Ends with the hub, or with the receiver.
    std::thread::spawn(move || {
        while let Some(line) = viewer.text() {
            let now = Instant::now();
            if marks_in(&line).any(|mark| seen.send((mark, now)).is_err()) {
                return;
            }
        }
    });
    let mut hooks = fleet.members.iter().map(BenchHost::socket).collect::<Result<Vec<_>>>()?;
    let (end, members) = (Instant::now() + lasts, hooks.len());
    let mut took = Vec::new();
    for n in 0_usize.. {
        if Instant::now() >= end {
            break;
        }
        let hook = hooks.get_mut(n % members).context("no member")?;
        let begun = Instant::now();
        hook.try_ask(&prompt(SESSIONS, &format!("{MARK}{n}.")))?;
        let arrived = loop {
            let (mark, at) = marks.recv_timeout(SILENCE_MAX).context("a sample did not arrive")?;
            if mark == n {
                break at;
            }
        };
        took.push((arrived - begun).as_secs_f64() * 1e3);
        std::thread::sleep(SAMPLE_EVERY.saturating_sub(begun.elapsed()));
    }
    Ok(took)
}

/// The numbers of the samples that a change shows, or the whole board: a viewer that was too slow gets that one.
fn marks_in(line: &str) -> impl Iterator<Item = usize> {
    line.split(MARK).skip(1).filter_map(|rest| rest.split_once('.')?.0.parse().ok())
}

/// Resident memory, every second.
fn resident_mb(hub: &BenchHost, lasts: Duration) -> Result<Vec<f64>> {
    let end = Instant::now() + lasts;
    let mut samples = Vec::new();
    while Instant::now() < end {
        samples.push(hub.daemon.try_memory()?.0 as f64 / 1024.0 / 1024.0);
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_found_in_a_change() {
        let marks = |line| marks_in(line).collect::<Vec<_>>();
        assert_eq!(marks(r#"{"last_user_message":"way-17.","x":"y."}"#), [17]);
        assert_eq!(marks(r#"[{"last_user_message":"way-17."},{"last_user_message":"way-4."}]"#), [17, 4]);
        assert!(marks(r#"{"last_user_message":"go"}"#).is_empty());
    }
}
