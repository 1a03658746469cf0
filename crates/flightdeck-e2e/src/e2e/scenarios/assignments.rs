//! Scenarios about the log of assignments: what was asked, its outcome, and what it waited for.

use anyhow::{Context, Result, bail};
use flightdeck_sim::client::wait_for;
use serde_json::Value;

use crate::e2e::expect::{background, idle, interrupted, permission, question as asks, working};
use crate::e2e::stage::{AGREE, Stage};

/// One line for each assignment, the newest first: state, reason or outcome, turns, title.
fn log(s: &Stage) -> Result<Vec<String>> {
    let list = s.get("/api/assignments")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let line = |a: &Value| -> Option<String> {
        let why = text(&a["reason"]).or_else(|| text(&a["outcome"])).unwrap_or_else(|| "-".to_owned());
        Some(format!("{} {why} {} {}", a["state"].as_str()?, a["turns"], a["title"].as_str()?))
    };
    let list = list["assignments"].as_array().into_iter().flatten();
    list.map(|a| line(a).context("a field is missing")).collect()
}

/// Waits until the log has exactly these lines.
fn see_log(s: &Stage, step: &str, expected: &[&str]) -> Result<()> {
    let fits = || Ok((log(s)? == expected).then_some(()));
    if wait_for("the log", AGREE, fits).is_err() {
        bail!("{step}: the log says {:#?}, not {expected:#?}", log(s)?);
    }
    println!("  {step}: {}", expected.join(" | "));
    Ok(())
}

/// Actor and intent of each message of the newest assignment.
fn messages(s: &Stage) -> Result<Vec<String>> {
    let list = s.get("/api/assignments")?;
    let id = list["assignments"][0]["id"].as_str().context("no assignment")?.to_owned();
    let messages = s.get(&format!("/api/assignments/{id}/messages"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = messages["messages"].as_array().into_iter().flatten();
    Ok(messages.map(|m| format!("{} {}", text(&m["actor"]), text(&m["intent"]))).collect())
}

fn see_messages(s: &Stage, expected: &[&str]) -> Result<()> {
    let fits = || Ok((messages(s)? == expected).then_some(()));
    if wait_for("the messages", AGREE, fits).is_err() {
        bail!("the messages are {:?}, not {expected:?}", messages(s)?);
    }
    Ok(())
}

pub(super) fn asked_and_answered(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:ask one")?;
    s.see(&t, "asks", asks())?;
    see_log(s, "it waits", &["awaiting_input question 1 SCRIPT:ask one"])?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "answered", idle())?;
    see_log(s, "complete", &["complete completed 1 SCRIPT:ask one"])?;
    s.prompt(&t, "SCRIPT:asktext two")?;
    s.see(&t, "asks in its text", idle())?;
    s.see_card(&t, "and the card says so", |card| {
        card["agent_state"]["label"].as_str().is_some_and(|label| label.starts_with("Asks: Should I"))
    })?;
    let first = "complete completed 1 SCRIPT:ask one";
    see_log(s, "it waits for an answer", &["awaiting_input asked 1 SCRIPT:asktext two", first])?;
    s.prompt(&t, "SCRIPT:report three")?;
    s.see(&t, "reports", idle())?;
    see_log(s, "the answer belongs to it", &["complete completed 2 SCRIPT:asktext two", first])?;
    see_messages(s, &["user command", "agent question", "user answer", "agent completion"])
}

pub(super) fn interrupted_and_asked_again(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:sleep one")?;
    s.see(&t, "asks for permission", permission("Bash"))?;
    see_log(s, "it waits", &["awaiting_input permission 1 SCRIPT:sleep one"])?;
    s.answer(&t, &["Enter"])?;
    s.see(&t, "a command runs", working().board(&["acting"]))?;
    see_log(s, "it works", &["processing - 1 SCRIPT:sleep one"])?;
    t.tui.press(&["Escape"])?;
    s.see(&t, "interrupted", interrupted())?;
    see_log(s, "it waits for the person", &["awaiting_input interrupted 1 SCRIPT:sleep one"])?;
    s.prompt(&t, "SCRIPT:report two")?;
    s.see(&t, "reports", idle())?;
    see_log(s, "the new prompt continues it", &["complete completed 2 SCRIPT:sleep one"])
}

pub(super) fn cleared(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:asktext one")?;
    s.see(&t, "asks in its text", idle())?;
    let old = s.session(&t).context("no session")?;
    t.tui.submit("/clear")?;
    super::context::wait_for_other_session(s, &t, &old)?;
    s.see(&t, "a fresh session", idle())?;
    see_log(s, "ended without an answer", &["complete ended 1 SCRIPT:asktext one"])?;
    s.prompt(&t, "SCRIPT:report two")?;
    s.see(&t, "reports", idle())?;
    let log = ["complete completed 1 SCRIPT:report two", "complete ended 1 SCRIPT:asktext one"];
    see_log(s, "two assignments", &log)?;
    one_seat(s)
}

/// Checks that both sessions have the same seat.
fn one_seat(s: &Stage) -> Result<()> {
    let seats = s.get("/api/seats")?;
    let seats = seats["seats"].as_array().context("no list of seats")?;
    if seats.len() != 1 {
        bail!("there are {} seats, not one: {seats:#?}", seats.len());
    }
    Ok(())
}

pub(super) fn background_agent(s: &mut Stage) -> Result<()> {
    let t = s.open("a")?;
    s.prompt(&t, "SCRIPT:bgagent one")?;
    s.see(&t, "the agent is still working", background())?;
    see_log(s, "the assignment is still processed", &["processing - 1 SCRIPT:bgagent one"])?;
    s.go()?;
    s.see(&t, "it reported", idle())?;
    see_log(s, "complete", &["complete completed 1 SCRIPT:bgagent one"])
}
