//! Permissions: allow, always allow, deny, and deny with an end of the turn.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flightdeck_sim::client::wait_for;
use flightdeck_sim::screen::Screen;
use serde_json::json;

use super::{DONE, Heard, answer, asked, bash, made, not_run, post, ran, too_late};
use crate::e2e::expect::{idle, interrupted, permission};
use crate::e2e::stage::{ClientSeat, Stage};

pub(in super::super) fn permission_answered(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    let ask = bash(s, &t)?;
    s.see(&t, "asks", permission("Bash"))?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "allow"}), "allowed")?;
    ran(s)?;
    s.see(&t, "allowed", idle())?;
    heard.wait(s, &["bash-ok"])?;
    too_late(s, &ask, "allowed")?;

    let ask = bash(s, &t)?;
    let heard = Heard::now(s);
    answer(s, &ask, json!({"decision": "deny", "message": "use a drawer instead"}), "denied")?;
    heard.wait(s, &["use a drawer instead"])?;
    s.see(&t, "denied, and the turn went on", idle())?;
    not_run(s)?;

    let ask = bash(s, &t)?;
    let heard = Heard::now(s);
    let refusal = json!({"decision": "deny", "message": "stop it", "interrupt": true});
    answer(s, &ask, refusal, "denied_and_interrupted")?;
    s.see(&t, "denied, and the turn is over", interrupted())?;
    ensure!(heard.tool_results(s).is_empty(), "the model went on: {:?}", heard.tool_results(s));
    not_run(s)?;

    latency(s, &t)?;
    always(s, &t)
}

/// Allows with a rule that the client suggests; the client does not ask for the same call again.
fn always(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let tag = s.lab.cwd().join(".git/refs/tags/made-by-git");
    s.prompt(t, "SCRIPT:tag one")?;
    let ask = asked(s, t)?;
    let suggestions = ask["suggestions"].as_array().context("no suggestions")?;
    let rule = suggestions.iter().find(|r| r["type"] == "addRules");
    let rule = rule.with_context(|| format!("no rule among {suggestions:?}"))?;
    println!("  suggested: {rule}");
    answer(s, &ask, json!({"decision": "allow", "updated_permissions": [rule]}), "allowed")?;
    wait_for("the tag", DONE, || Ok(tag.exists().then_some(())))?;
    s.see(t, "allowed for good", idle())?;
    fs::remove_file(&tag)?;
    let before = s.card(t)?["asks"].as_array().map_or(0, Vec::len);
    s.prompt(t, "SCRIPT:tag two")?;
    wait_for("the tag again", DONE, || Ok(tag.exists().then_some(())))?;
    s.see(t, "not asked again", idle())?;
    let asks = s.card(t)?["asks"].as_array().map_or(0, Vec::len);
    ensure!(asks == before, "the card had {before} asks and has {asks}");
    Ok(())
}

/// Times an answer is given in [`latency`].
const ROUNDS: usize = 10;
/// Prints the time from the click to the first effect of the tool. Only [`DONE`] is a limit: the load of the machine counts too.
fn latency(s: &mut Stage, t: &ClientSeat) -> Result<()> {
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let ask = bash(s, t)?;
        t.tui.wait_screen("the request", DONE, |s| matches!(s, Screen::Permission { .. }))?;
        let begun = Instant::now();
        let (status, said) = post(s, &ask, &json!({"decision": "allow", "via": "web"}))?;
        let confirmed = begun.elapsed();
        ensure!(status == 200, "{said}");
        while !made(s).exists() {
            if begun.elapsed() > DONE {
                bail!("the command did not start");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        took.push((begun.elapsed(), confirmed));
        t.tui.wait_screen("the end of the turn", DONE, |s| *s == Screen::Idle)?;
    }
    let spread = |mut times: Vec<Duration>| {
        times.sort();
        (times[times.len() / 2].as_millis(), times[times.len() - 1].as_millis())
    };
    let (median, most) = spread(took.iter().map(|(ran, _)| *ran).collect());
    let (own, own_most) = spread(took.iter().map(|(_, confirmed)| *confirmed).collect());
    println!("  click to the tool's first act: median {median} ms, most {most} ms over {ROUNDS} rounds");
    println!("  click to our confirmation: median {own} ms, most {own_most} ms");
    s.see(t, "nothing is left", idle())
}
