//! A host whose clock is wrong. Its messages are sent by the test: a daemon always has the clock of its machine.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Value, json};

use crate::fleet::{Host, until};

/// How far the clock is ahead.
const AHEAD_MS: i64 = 74_100;

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Milliseconds of an RFC 3339 time on the wire.
fn millis(time: &Value) -> i64 {
    flightdeck_core::time::Timestamp::parse(time.as_str().unwrap()).unwrap().as_millis()
}

struct WrongClock {
    runtime: tokio::runtime::Runtime,
    js: async_nats::jetstream::Context,
    n: u64,
}

impl WrongClock {
    fn new(nats: &NatsServer) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let js = runtime
            .block_on(async { async_nats::jetstream::new(async_nats::connect(nats.url()).await.unwrap()) });
        Self { runtime, js, n: 0 }
    }

    fn send(&self, subject: &str, body: &Value) {
        let body = Bytes::from(body.to_string());
        let sent = async { self.js.publish(subject.to_owned(), body).await.unwrap().await.unwrap() };
        self.runtime.block_on(sent);
    }

    fn presence(&self) {
        let presence = json!({"at": now_ms() + AHEAD_MS, "version": "0.0.1", "kind": "server", "backlog": 0, "forwarded": self.n,
            "share": "full", "accept": [], "hub": false});
        self.send("flightdeck.main.ahead.presence", &presence);
    }

    /// An event that fired this long ago, by the wrong clock.
    fn event(&mut self, ago_ms: i64, source: &str, name: &str, payload: Value) -> i64 {
        self.n += 1;
        let fired = now_ms() - ago_ms;
        let message = json!({"host": "ahead", "n": self.n, "log": "x", "seq": self.n, "id": format!("{:032x}", self.n),
            "fired_at": fired + AHEAD_MS, "received_at": fired + AHEAD_MS, "source": source, "name": name, "subject": "s",
            "envelope": {"has_fired_at": true}, "payload": payload});
        self.send("flightdeck.main.ahead.log", &message);
        fired
    }
}

#[test]
fn times_of_a_host_whose_clock_is_ahead_are_corrected_and_the_difference_is_shown() {
    let Some(nats) = NatsServer::start() else { return };
    let hub = Host::hub(&nats, "desk");
    until("the hub has joined", || (hub.link()["connected"] == true).then_some(()));
    let mut ahead = WrongClock::new(&nats);
    // A presence that is delayed on its way makes a clock look behind; of several, the least delayed one counts.
    until("the hub has measured the clock", || {
        ahead.presence();
        let row = hub.sees("ahead").filter(|row| row["clock_differs"] == true)?;
        (73.5..=74.6).contains(&row["clock_ahead_seconds"].as_f64()?).then_some(())
    });

    let payload =
        |name: &str| json!({"session_id": "s", "hook_event_name": name, "prompt": "go", "cwd": "/work/api"});
    ahead.event(20_000, "hook", "SessionStart", payload("SessionStart"));
    let prompted = ahead.event(10_000, "hook", "UserPromptSubmit", payload("UserPromptSubmit"));
    let card = hub.until_card("s@ahead", |card| card["agent_state"]["state"] == "thinking");
    let shown = millis(&card["agent_state"]["since"]);
    assert!((shown - prompted).abs() < 1_000, "{} ms beside the true time", shown - prompted);
    // The client's registry has times of the same clock in its payload.
    let idle_at = now_ms() - 5_000 + AHEAD_MS;
    let entry = json!({"sessionId": "s", "status": "idle", "statusUpdatedAt": idle_at, "startedAt": idle_at - 60_000});
    ahead.event(5_000, "registry", "registry", entry);
    let card = hub.until_card("s@ahead", |card| card["agent_state"]["group"] == "needs_you");
    let shown = millis(&card["agent_state"]["since"]);
    assert!((shown - (idle_at - AHEAD_MS)).abs() < 1_000, "{} ms", shown - (idle_at - AHEAD_MS));
}
