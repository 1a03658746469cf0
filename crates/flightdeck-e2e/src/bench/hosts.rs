//! Several hosts on one board: how fast a member catches up, and how long an event takes to a viewer of the hub.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Measured, Series};
use crate::testkit::{NatsServer, SocketClient, TestDaemon, TestHome};

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
/// After this silence something has failed.
const SILENCE_MAX: Duration = Duration::from_secs(120);

struct BenchHost {
    daemon: TestDaemon,
    home: TestHome,
}

impl BenchHost {
    fn start(binary: &Path, url: &str, name: &str, hub: bool) -> Result<Self> {
        let home = TestHome::try_new(binary, "fd")?;
        fs::create_dir_all(home.flightdeck_home())?;
        fs::write(
            home.flightdeck_home().join("config.toml"),
            format!("[hosts]\nurl = {url:?}\nname = {name:?}\n"),
        )?;
        let args: &[&str] = if hub { &["--no-hooks", "--hub"] } else { &["--no-hooks"] };
        let daemon = home.try_up(args)?.with_timeout(SILENCE_MAX);
        Ok(Self { daemon, home })
    }

    fn socket(&self) -> Result<SocketClient> {
        self.home.try_socket(SILENCE_MAX)
    }

    fn link(&self) -> Result<Value> {
        Ok(self.daemon.api().get_json("/api/hosts")?["link"].take())
    }
}

fn prompt(session: u64, text: &str) -> Value {
    json!({"cmd": "hook", "args": {"session_id": format!("s{session}"), "hook_event_name": "UserPromptSubmit",
        "prompt": text, "cwd": "/work/api"}, "env": {}})
}

fn wait_until(what: &str, mut fact: impl FnMut() -> Result<bool>) -> Result<()> {
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
    let catch_up = catch_up(binary, &mut nats, if quick { BACKLOG_EVENTS / 4 } else { BACKLOG_EVENTS })?;
    let mut series = catch_up;
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
    wait_until("the member is connected", || Ok(member.link()?["connected"] == true))?;
    let begun = Instant::now();
    wait_until("the backlog is forwarded", || Ok(member.link()?["backlog"] == 0))?;
    let per_thousand = |since: Instant| since.elapsed().as_secs_f64() * 1e6 / events as f64;
    let forwarded = per_thousand(begun);
    let begun = Instant::now();
    let hub = BenchHost::start(binary, &nats.url(), "reads", true)?;
    wait_until("the hub has everything", || Ok(hub.daemon.events_total() >= events))?;
    let taken = per_thousand(begun);
    let one =
        |name: &str, sample: f64| Series { name: name.into(), unit: "ms".into(), samples: vec![sample] };
    Ok(vec![one("forwarding 1,000 events", forwarded), one("hub takes 1,000 events", taken)])
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
        move || work(sockets, &ends)
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
fn work(mut sockets: Vec<SocketClient>, ends: &AtomicBool) -> Result<()> {
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
