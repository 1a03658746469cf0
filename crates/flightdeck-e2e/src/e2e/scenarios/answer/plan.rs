//! A plan is sent back with a comment, approved, and approved with edits allowed.

use std::fs;

use anyhow::{Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use super::{DONE, Heard, answer, asked};
use crate::e2e::expect::{idle, permission, plan as plan_ready};
use crate::e2e::stage::{ClientSeat, Stage};

pub(in super::super) fn plan_answered(s: &mut Stage) -> Result<()> {
    let t = s.open_with("a", &["--permission-mode", "plan"], &[])?;
    let ask = planned(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "deny", "message": "smaller steps, please"}), "rejected")?;
    heard.wait(s, &["smaller steps, please"])?;
    s.see(&t, "sent back, and the turn went on", idle())?;
    ensure!(mode(s, &t)? == "plan", "the mode is {}", mode(s, &t)?);

    let ask = planned(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "allow"}), "approved")?;
    heard.wait(s, &["approved"])?;
    s.see(&t, "approved", idle())?;
    s.prompt(&t, "SCRIPT:write one")?;
    let ask = asked(s, &t)?;
    s.see(&t, "asks before it writes", permission("Write"))?;
    ensure!(mode(s, &t)? == "default", "the mode is {}", mode(s, &t)?);
    answer(s, &ask, json!({"decision": "deny", "interrupt": true}), "denied_and_interrupted")?;
    // The screen shows a refused write, but no interruption.
    s.see(&t, "denied, and the turn is over", idle().board(&["interrupted"]))?;
    ensure!(!s.lab.cwd().join("notes.txt").exists(), "it was written");

    s.prompt(&t, "SCRIPT:enterplan again")?;
    s.see(&t, "in plan mode", idle())?;
    let ask = planned(s, &t)?;
    answer(s, &ask, json!({"decision": "allow", "mode": "acceptEdits"}), "approved")?;
    s.see(&t, "approved with edits", idle())?;
    s.prompt(&t, "SCRIPT:write two")?;
    let notes = s.lab.cwd().join("notes.txt");
    let edited = || Ok(fs::read_to_string(&notes).ok().filter(|text| text.contains("gamma")));
    wait_for("the file, written and edited", DONE, edited)?;
    s.see(&t, "wrote without asking", idle())?;
    ensure!(mode(s, &t)? == "acceptEdits", "the mode is {}", mode(s, &t)?);
    Ok(())
}

fn planned(s: &mut Stage, t: &ClientSeat) -> Result<Value> {
    s.prompt(t, "SCRIPT:plan go")?;
    s.see(t, "shows its plan", plan_ready())?;
    let ask = asked(s, t)?;
    ensure!(ask["tool_input"]["plan"].as_str().is_some_and(|p| p.contains("Run the tests")), "{ask}");
    Ok(ask)
}

/// The permission mode in the newest hook.
fn mode(s: &Stage, t: &ClientSeat) -> Result<String> {
    Ok(s.card(t)?["permission_mode"].as_str().unwrap_or_default().to_owned())
}
