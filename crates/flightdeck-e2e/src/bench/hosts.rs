//! Several hosts on one board: how fast a member catches up, and how long an event takes to a viewer of the hub.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Measured, Series};
use crate::testkit::{NatsServer, SocketClient, TestDaemon, TestHome, run_hook};

pub(super) const ROW: &str = "hosts";

/// Events that a member has stored while there was no server.
const BACKLOG_EVENTS: u64 = 20_000;
/// Members, each with this many sessions, that work while the way of an event is measured.
const MEMBERS: usize = 5;
const SESSIONS: u64 = 54;
/// Events of all members together.
const EVENTS_PER_SECOND: u64 = 200;
/// How often the way of an event is measured.
const SAMPLES: usize = 300;
/// Hooks on a member and on a machine that has joined no other.
const HOOKS: usize = 1_000;
/// After this silence something has failed.
const SILENCE_MAX: Duration = Duration::from_secs(120);

pub(super) struct BenchHost {
    pub(super) daemon: TestDaemon,
    home: TestHome,
}

impl BenchHost {
    pub(super) fn start(binary: &Path, url: &str, name: &str, hub: bool) -> Result<Self> {
        Self::with_config(binary, &format!("[hosts]\nurl = {url:?}\nname = {name:?}\n"), hub)
    }

    fn with_config(binary: &Path, config: &str, hub: bool) -> Result<Self> {
        let home = TestHome::try_new(binary, "fd")?;
        fs::create_dir_all(home.flightdeck_home())?;
        fs::write(home.flightdeck_home().join("config.toml"), config)?;
        let args: &[&str] = if hub { &["--no-hooks", "--hub"] } else { &["--no-hooks"] };
        let daemon = home.try_up(args)?.with_timeout(SILENCE_MAX);
        Ok(Self { daemon, home })
    }

    pub(super) fn socket(&self) -> Result<SocketClient> {
        self.home.try_socket(SILENCE_MAX)
    }

    fn link(&self) -> Result<Value> {
        Ok(self.daemon.api().get_json("/api/hosts")?["link"].take())
    }

    pub(super) fn is_connected(&self) -> Result<bool> {
        Ok(self.link()?["connected"] == true)
    }

    pub(super) fn has_forwarded_all(&self) -> Result<bool> {
        let link = self.link()?;
        Ok(link["connected"] == true && link["backlog"] == 0)
    }
}

pub(super) fn prompt(session: u64, text: &str) -> Value {
    json!({"cmd": "hook", "args": {"session_id": format!("s{session}"), "hook_event_name": "UserPromptSubmit",
        "prompt": text, "cwd": "/work/api"}, "env": {}})
}

pub(super) fn wait_until(what: &str, mut fact: impl FnMut() -> Result<bool>) -> Result<()> {
    let end = Instant::now() + SILENCE_MAX;
    while !fact()? {
        if Instant::now() > end {
            bail!("waited too long until {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

pub(super) fn measure(binary: &Path, quick: bool) -> Result<Measured> {
    let mut nats =
        NatsServer::start().context("nats-server is not installed (apt-get install nats-server)")?;
    let mut series = catch_up(binary, &mut nats, if quick { BACKLOG_EVENTS / 4 } else { BACKLOG_EVENTS })?;
    series.extend(cost_for_the_hook(binary, &nats, if quick { HOOKS / 5 } else { HOOKS })?);
    series.push(way_to_the_viewer(binary, &nats, if quick { SAMPLES / 5 } else { SAMPLES })?);
    Ok(Measured { row: ROW.to_owned(), series })
}

/// Milliseconds for a thousand events: from the member to the server, and from there into the hub's store.
fn catch_up(binary: &Path, nats: &mut NatsServer, events: u64) -> Result<Vec<Series>> {
    nats.kill();
    let member = BenchHost::start(binary, &nats.url(), "behind", false)?;
    let mut socket = member.socket()?;
    let padding = "x".repeat(1_000);
    for n in 0..events {
        socket.try_ask(&prompt(n % SESSIONS, &format!("{n} {padding}")))?;
    }
    nats.run();
    wait_until("the member is connected", || member.is_connected())?;
    let begun = Instant::now();
    wait_until("the backlog is forwarded", || member.has_forwarded_all())?;
    let per_thousand = |since: Instant, events: u64| since.elapsed().as_secs_f64() * 1e6 / events as f64;
    let forwarded = per_thousand(begun, events);
    let hub = BenchHost::start(binary, &nats.url(), "reads", true)?;
    // The hub reads as soon as it runs; the start of a process is measured elsewhere.
    let (begun, before) = (Instant::now(), hub.daemon.events_total());
    wait_until("the hub has everything", || Ok(hub.daemon.events_total() >= events))?;
    let taken = per_thousand(begun, events.saturating_sub(before).max(1));
    let one =
        |name: &str, sample: f64| Series { name: name.into(), unit: "ms".into(), samples: vec![sample] };
    Ok(vec![one("forwarding 1,000 events", forwarded), one("hub takes 1,000 events", taken)])
}

/// How long a hook takes on a machine that has joined no other and on a member, by turns.
fn cost_for_the_hook(binary: &Path, nats: &NatsServer, hooks: usize) -> Result<[Series; 2]> {
    let (alone, member) =
        (BenchHost::with_config(binary, "", false)?, BenchHost::start(binary, &nats.url(), "hooked", false)?);
    wait_until("the member is connected", || member.is_connected())?;
    let (mut took_alone, mut took_member) = (Vec::with_capacity(hooks), Vec::with_capacity(hooks));
    for n in 0..hooks {
        let payload = prompt(n as u64 % SESSIONS, &n.to_string())["args"].to_string();
        let timed = |host: &BenchHost| {
            let begun = Instant::now();
            run_hook(&mut host.home.flightdeck(&["hook"]), &payload);
            begun.elapsed().as_secs_f64() * 1e3
        };
        // The second of a pair runs while the first daemon still works: each is first in every other pair.
        if n % 2 == 0 {
            took_alone.push(timed(&alone));
            took_member.push(timed(&member));
        } else {
            took_member.push(timed(&member));
            took_alone.push(timed(&alone));
        }
    }
    let series = |name: &str, samples| Series { name: name.into(), unit: "ms".into(), samples };
    Ok([series("hook: alone", took_alone), series("hook: member", took_member)])
}

/// From the hook of a member to a viewer of the hub, while all members work.
fn way_to_the_viewer(binary: &Path, nats: &NatsServer, samples: usize) -> Result<Series> {
    let hub = BenchHost::start(binary, &nats.url(), "desk", true)?;
    let names = (0..MEMBERS).map(|n| format!("member-{n}"));
    let members =
        names.map(|name| BenchHost::start(binary, &nats.url(), &name, false)).collect::<Result<Vec<_>>>()?;
    let ends = Arc::new(AtomicBool::new(false));
    let sockets = members.iter().map(BenchHost::socket).collect::<Result<Vec<_>>>()?;
    let load = std::thread::spawn({
        let ends = Arc::clone(&ends);
        move || send_events(sockets, &ends)
    });
    let mut viewer = hub.socket()?;
    viewer.send(&json!({"cmd": "subscribe", "args": {}}))?;
    let mut hook = members.first().context("no member")?.socket()?;
    let mut took = Vec::with_capacity(samples);
    for n in 0..samples {
        let mark = format!("sample {n} of the way");
        let begun = Instant::now();
        hook.try_ask(&prompt(n as u64 % SESSIONS, &mark))?;
        while !viewer.line().context("the stream of the hub ended")?.to_string().contains(&mark) {}
        took.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    ends.store(true, Ordering::Relaxed);
    load.join().map_err(|_| anyhow::anyhow!("the load panicked"))??;
    Ok(Series { name: "hook to viewer of the hub".into(), unit: "ms".into(), samples: took })
}

/// Each member in turn has an event, at the given rate.
fn send_events(mut sockets: Vec<SocketClient>, ends: &AtomicBool) -> Result<()> {
    let pause = Duration::from_micros(1_000_000 / EVENTS_PER_SECOND);
    let mut next = Instant::now();
    let mut n = 0_u64;
    while !ends.load(Ordering::Relaxed) {
        for socket in &mut sockets {
            n += 1;
            socket.try_ask(&prompt(n % SESSIONS, &n.to_string()))?;
            next += pause;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    Ok(())
}
