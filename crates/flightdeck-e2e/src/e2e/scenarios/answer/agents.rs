//! Two requests at once, and requests of subagents.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Heard, answer, asked, asked_all, ended, post};
use crate::e2e::expect::{agent_permission, idle, permission};
use crate::e2e::stage::{ClientSeat, Stage};

pub(in super::super) fn several(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    two(s, &t)?;
    agent(s, &t)
}

fn two(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    s.prompt(t, "SCRIPT:tworeads one")?;
    s.see(t, "two ask", permission("Read"))?;
    let asks = asked_all(s, t, 2)?;
    let of = |file: &str| {
        let is = |ask: &&Value| ask["tool_input"]["file_path"].as_str().is_some_and(|p| p.ends_with(file));
        asks.iter().find(is).cloned().unwrap_or_default()
    };
    let heard = Heard::now(s);
    answer(s, &of("b.txt"), json!({"decision": "deny", "message": "not the second"}), "denied")?;
    s.see(t, "one is left", permission("Read"))?;
    ensure!(asked(s, t)?["id"] == of("a.txt")["id"], "the other one is open");
    answer(s, &of("a.txt"), json!({"decision": "allow"}), "allowed")?;
    s.see(t, "both answered", idle())?;
    heard.wait(s, &["x"])?;
    heard.wait(s, &["not the second"])
}

fn agent(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let made = s.lab.cwd().join("made-by-subagent.txt");
    s.prompt(t, "SCRIPT:subagent one")?;
    s.see(t, "the agent asks", agent_permission("Bash"))?;
    let ask = asked(s, t)?;
    ensure!(ask["answerable"] == false && ask["agent_id"].is_string(), "{ask}");
    let (status, said) = post(s, &ask, &json!({"decision": "allow"}))?;
    ensure!(status == 409, "{status} {said}");
    s.answer(t, &["Enter"])?;
    s.see(t, "yes in the terminal", idle())?;
    ended(s, &ask, "answered_in_terminal", Some("terminal"))?;
    ensure!(made.exists(), "the agent did not run it");
    std::fs::remove_file(&made)?;

    s.configure("hold_agents = true\n")?;
    s.prompt(t, "SCRIPT:subagent two")?;
    let ask = asked(s, t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "allow"}), "allowed")?;
    heard.wait(s, &["sub-ok"])?;
    ensure!(made.exists(), "the agent did not run it");
    s.see(t, "the agent reported", idle())
}
