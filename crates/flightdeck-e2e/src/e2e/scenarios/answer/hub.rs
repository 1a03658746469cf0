//! The person answers on the board of another machine: a hub that a NATS server joins to the machine of the client.

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use super::{DONE, Heard, bash, ended, not_run, ran};
use crate::e2e::expect::{idle, interrupted, permission, working};
use crate::e2e::stage::Stage;
use crate::testkit::{NatsServer, TestDaemon, TestHome};

/// A hub on another machine, with a home of its own.
struct BesideHub {
    // The daemon is dropped first, before its home and the server.
    daemon: TestDaemon,
    _home: TestHome,
    _nats: NatsServer,
}

impl BesideHub {
    /// Joins the machine of the client and the hub. `more` is added to the client's `[hosts]`. `None` without a NATS server.
    fn start(s: &mut Stage, more: &str) -> Result<Option<Self>> {
        let Some(nats) = NatsServer::start() else {
            println!("  skipped: nats-server is not installed");
            return Ok(None);
        };
        let config = |name: &str| format!("[hosts]\nurl = {:?}\nname = {name:?}\n", nats.url());
        s.configure(&format!("{}{more}\n", config("client-host")))?;
        let home = TestHome::try_new(s.binary().context("a recorder has no hub")?, "fd")?;
        std::fs::create_dir_all(home.flightdeck_home())?;
        std::fs::write(home.flightdeck_home().join("config.toml"), config("desk"))?;
        let daemon = home.try_up(&["--no-hooks", "--hub"])?;
        Ok(Some(Self { daemon, _home: home, _nats: nats }))
    }
}

pub(in super::super) fn allowed_on_a_hub(s: &mut Stage) -> Result<()> {
    let Some(beside) = BesideHub::start(s, "")? else { return Ok(()) };
    let hub = &beside.daemon;
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

/// Prompt, interrupt and focus go to the machine of the client, and its refusals come back.
pub(in super::super) fn prompted_from_a_hub(s: &mut Stage) -> Result<()> {
    let accept = r#"accept = ["answer", "prompt", "interrupt", "focus"]"#;
    let Some(hub) = BesideHub::start(s, accept)? else { return Ok(()) };
    let t = s.open("a")?;
    s.see(&t, "ready", idle())?;
    let id = format!("{}@client-host", s.session(&t).context("no session")?);
    let accepts_all = || {
        let card = hub.daemon.api().board()?.into_iter().find(|card| card["id"] == *id);
        Ok(card.filter(|card| card["owner"]["accepts"].as_array().is_some_and(|all| all.len() == 4)))
    };
    wait_for("the session on the hub", DONE, accepts_all)?;
    let post = |what: &str, body: Value| {
        let reply = hub.daemon.api().post(&format!("/api/sessions/{id}/{what}"), &body.to_string())?;
        let said = reply.try_json()?;
        println!("  {what}: {} {said}", reply.status);
        Ok::<_, anyhow::Error>((reply.status, said))
    };

    let (status, said) = post("prompt", json!({"text": "SCRIPT:sleep one"}))?;
    ensure!((status, &said["confirmed"]) == (202, &json!(true)), "{said}");
    s.see(&t, "the prompt of the hub asks", permission("Bash"))?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "the prompt of the hub runs", working().board(&["acting"]))?;
    let (status, said) = post("interrupt", json!({}))?;
    ensure!((status, &said["confirm"]) == (409, &json!("interrupt")), "{said}");
    let (status, said) = post("interrupt", json!({"confirm": true}))?;
    ensure!((status, &said["confirmed"]) == (202, &json!(true)), "{said}");
    s.see(&t, "interrupted", interrupted())?;
    let (status, said) = post("focus", json!({}))?;
    ensure!((status, &said["error"]) == (409, &json!("nobody_attached")), "{said}");
    let person = t.tui.attach()?;
    let (status, said) = post("focus", json!({}))?;
    ensure!((status, &said["client"]) == (202, &json!(person)), "{said}");
    Ok(())
}
