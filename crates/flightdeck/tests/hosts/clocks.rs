//! A host whose clock is wrong. Its messages are sent by the test: a daemon always has the clock of its machine.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Value, json};

use crate::fleet::{Host, until};

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Milliseconds of an RFC 3339 time on the wire.
fn millis(time: &Value) -> i64 {
    flightdeck_core::time::Timestamp::parse(time.as_str().unwrap()).unwrap().as_millis()
}

struct WrongClock {
    host: &'static str,
    ahead_ms: i64,
    runtime: tokio::runtime::Runtime,
    js: async_nats::jetstream::Context,
    n: u64,
}

impl WrongClock {
    fn new(nats: &NatsServer, host: &'static str, ahead_ms: i64) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let js = runtime
            .block_on(async { async_nats::jetstream::new(async_nats::connect(nats.url()).await.unwrap()) });
        Self { host, ahead_ms, runtime, js, n: 0 }
    }

    fn send(&self, what: &str, body: &Value) {
        let (subject, body) =
            (format!("flightdeck.main.{}.{what}", self.host), Bytes::from(body.to_string()));
        let sent = async { self.js.publish(subject, body).await.unwrap().await.unwrap() };
        self.runtime.block_on(sent);
    }

    fn presence(&self) {
        let presence = json!({"at": now_ms() + self.ahead_ms, "version": "0.0.1", "kind": "server", "backlog": 0, "forwarded": self.n,
            "share": "full", "accept": [], "hub": false});
        self.send("presence", &presence);
    }

    /// An event that fired this long ago, by the wrong clock.
    fn event(&mut self, ago_ms: i64, source: &str, name: &str, payload: Value) -> i64 {
        self.n += 1;
        let fired = now_ms() - ago_ms;
        let message = json!({"host": self.host, "n": self.n, "log": "x", "seq": self.n, "id": format!("{:032x}", now_ms() * 1_000 + i64::try_from(self.n).unwrap()),
            "fired_at": fired + self.ahead_ms, "received_at": fired + self.ahead_ms, "source": source, "name": name, "subject": "s",
            "envelope": {"has_fired_at": true}, "payload": payload});
        self.send("log", &message);
        fired
    }
}

/// The hub corrects the times of a host whose clock is this far ahead, shows the difference, and does not call the host unreachable.
fn are_corrected(host: &'static str, ahead_ms: i64) {
    let Some(nats) = NatsServer::start() else { return };
    let hub = Host::hub(&nats, "desk");
    until("the hub has joined", || (hub.link()["connected"] == true).then_some(()));
    let mut wrong = WrongClock::new(&nats, host, ahead_ms);
    let card_id = format!("s@{host}");
    // A presence that is delayed on its way makes a clock look behind; of several, the least delayed one counts.
    let row = until("the hub has measured the clock", || {
        wrong.presence();
        let row = hub.sees(host).filter(|row| row["clock_differs"] == true)?;
        let off = row["clock_ahead_seconds"].as_f64()? - ahead_ms as f64 / 1e3;
        (-0.6..=0.5).contains(&off).then_some(row)
    });
    assert_eq!(row["unreachable_since"], json!(null));

    let payload =
        |name: &str| json!({"session_id": "s", "hook_event_name": name, "prompt": "go", "cwd": "/work/api"});
    wrong.event(20_000, "hook", "SessionStart", payload("SessionStart"));
    let prompted = wrong.event(10_000, "hook", "UserPromptSubmit", payload("UserPromptSubmit"));
    let card = hub.until_card(&card_id, |card| card["agent_state"]["state"] == "thinking");
    let shown = millis(&card["agent_state"]["since"]);
    assert!((shown - prompted).abs() < 1_000, "{} ms beside the true time", shown - prompted);
    // The client's registry has times of the same clock in its payload.
    let idle_at = now_ms() - 5_000 + ahead_ms;
    let entry = json!({"sessionId": "s", "status": "idle", "statusUpdatedAt": idle_at, "startedAt": idle_at - 60_000});
    wrong.event(5_000, "registry", "registry", entry);
    let card = hub.until_card(&card_id, |card| card["agent_state"]["group"] == "needs_you");
    let shown = millis(&card["agent_state"]["since"]);
    assert!((shown - (idle_at - ahead_ms)).abs() < 1_000, "{} ms", shown - (idle_at - ahead_ms));
    assert_eq!(card["unreachable_since"], json!(null));
}

#[test]
fn times_of_a_host_whose_clock_is_ahead_are_corrected_and_the_difference_is_shown() {
    are_corrected("ahead", 74_100);
}

#[test]
fn times_of_a_host_whose_clock_is_five_minutes_behind_are_corrected() {
    are_corrected("behind", -300_000);
}
