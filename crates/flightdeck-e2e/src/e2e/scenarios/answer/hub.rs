//! The person answers on the board of another machine: a hub that a NATS server joins to the machine of the client.

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use super::{DONE, Heard, bash, ended, not_run, ran};
use crate::e2e::expect::{idle, permission};
use crate::e2e::stage::Stage;
use crate::testkit::{NatsServer, TestHome};

pub(in super::super) fn allowed_on_a_hub(s: &mut Stage) -> Result<()> {
    let Some(nats) = NatsServer::start() else {
        println!("  skipped: nats-server is not installed");
        return Ok(());
    };
    let config = |name: &str| format!("[hosts]\nurl = {:?}\nname = {name:?}\n", nats.url());
    s.configure(&config("client-host"))?;
    let home = TestHome::try_new(s.binary().context("a recorder has no hub")?, "fd")?;
    std::fs::create_dir_all(home.flightdeck_home())?;
    std::fs::write(home.flightdeck_home().join("config.toml"), config("desk"))?;
    let hub = home.try_up(&["--no-hooks", "--hub"])?;
    let answer = |ask: &Value, answer: Value| {
        let id = ask["id"].as_str().context("the ask has no id")?.to_owned();
        let there = || {
            let board = hub.api().board()?;
            Ok(board
                .into_iter()
                .find(|card| card["asks"].as_array().is_some_and(|a| a.iter().any(|a| a["id"] == *id))))
        };
        let card = wait_for("the ask on the hub", DONE, there)?;
        ensure!(card["host"] == "client-host", "{card}");
        let reply = hub.api().post(&format!("/api/asks/{id}/answer"), &answer.to_string())?;
        ensure!(reply.status == 200, "{answer}: {} {}", reply.status, reply.text());
        Ok(())
    };

    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    let heard = Heard::now(s);
    answer(&ask, json!({"decision": "allow", "via": "web"}))?;
    ended(s, &ask, "allowed", Some("web"))?;
    ran(s)?;
    s.see(&t, "allowed", idle())?;
    heard.wait(s, &["bash-ok"])?;

    let ask = bash(s, &t)?;
    let heard = Heard::now(s);
    answer(&ask, json!({"decision": "deny", "message": "not from here", "via": "web"}))?;
    heard.wait(s, &["not from here"])?;
    s.see(&t, "denied, and the turn went on", idle())?;
    not_run(s)
}
