//! An MCP server asks the person to fill in a form.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::{mcp, wait_for};
use serde_json::{Value, json};

use super::{DONE, Heard, answer, asked, ended, post, too_late};
use crate::e2e::expect::{dialog, idle, interrupted, working};
use crate::e2e::stage::{ClientSeat, Stage};

/// The client has opened the form within this time.
const SETTLED: Duration = Duration::from_secs(1);

pub(in super::super) fn elicitation(s: &mut Stage) -> Result<()> {
    let config = s.lab.dir().join("mcp.json");
    let server =
        json!({"command": std::env::current_exe()?, "args": ["mcp-stub", s.lab.dir().join("mcp.log")]});
    fs::write(&config, json!({"mcpServers": {"lab": server}}).to_string())?;
    let config = config.display().to_string();
    let args = ["--permission-mode", "default", "--mcp-config", &config, "--allowedTools", "mcp__lab__ask"];
    let t = s.open_with("a", &args, &[])?;

    let ask = elicited(s, &t)?;
    s.see(&t, "a form in the terminal", dialog().board(&["awaiting_input"]))?;
    ensure!(ask["answerable"] == false, "{ask}");
    let (status, said) = post(s, &ask, &json!({"decision": "deny"}))?;
    ensure!(status == 409, "{status} {said}");
    s.answer(&t, &["Escape"])?;
    s.see(&t, "closed in the terminal", idle())?;
    ended(s, &ask, "refused_in_terminal", Some("terminal"))?;

    s.configure("hold_elicitation = true\n")?;
    // The running session may not have read the new handler yet.
    let t = s.open_with("b", &args, &[])?;
    let ask = elicited(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "allow", "content": {"name": "the operator"}}), "accepted")?;
    heard.wait(s, &["accept", "the operator"])?;
    s.see(&t, "accepted", idle())?;

    let ask = elicited(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "deny"}), "declined")?;
    heard.wait(s, &["decline"])?;
    s.see(&t, "declined", idle())?;

    let before = accepted(s)?;
    let ask = elicited(s, &t)?;
    s.see(&t, "held", working().board(&["awaiting_input"]))?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "Esc while it is held", interrupted())?;
    ended(s, &ask, "refused_in_terminal", Some("terminal"))?;
    too_late(s, &ask, "refused_in_terminal")?;
    ensure!(accepted(s)? == before, "the server got an answer after Esc");
    std::thread::sleep(SETTLED);
    s.see(&t, "and no form opens", interrupted())?;
    s.prompt(&t, "SCRIPT:hello after")?;
    s.see(&t, "goes on", idle())
}

fn elicited(s: &Stage, t: &ClientSeat) -> Result<Value> {
    s.prompt(t, "SCRIPT:elicit go")?;
    let ask = asked(s, t)?;
    let shown = (&ask["kind"], &ask["mcp_server_name"], &ask["message"]);
    ensure!(shown == (&json!("elicitation"), &json!("lab"), &json!(mcp::MESSAGE)), "{ask}");
    ensure!(ask["requested_schema"]["required"] == json!(["name"]), "{ask}");
    Ok(ask)
}

/// Accepting answers that the server received.
fn accepted(s: &Stage) -> Result<usize> {
    let log = s.lab.dir().join("mcp.log");
    let text = wait_for("the server's log", DONE, || Ok(fs::read_to_string(&log).ok()))?;
    let lines = text.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().context("the server's log")?;
    Ok(lines.iter().filter(|line| line["result"]["action"] == "accept").count())
}
