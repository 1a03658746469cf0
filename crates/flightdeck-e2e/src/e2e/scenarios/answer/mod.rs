//! The person answers on the board. Checked: what the client then does, and the resolution of the ask.

pub(super) mod agents;
pub(super) mod cli;
pub(super) mod elicitation;
pub(super) mod hold;
pub(super) mod hub;
pub(super) mod permission;
pub(super) mod plan;
pub(super) mod question;
pub(super) mod race;
pub(super) mod tui;
pub(super) mod two_servers;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use crate::e2e::stage::{ClientSeat, Stage};

/// Longest time from an answer to its effect in the client, and from the client's start to its first ask.
const DONE: Duration = Duration::from_secs(40);

/// The open asks of the session, from its card.
fn open_asks(s: &Stage, t: &ClientSeat) -> Result<Vec<Value>> {
    Ok(super::open_asks(&s.card(t)?).cloned().collect())
}

/// The only open ask.
fn asked(s: &Stage, t: &ClientSeat) -> Result<Value> {
    asked_all(s, t, 1).map(|mut asks| asks.remove(0))
}

fn asked_all(s: &Stage, t: &ClientSeat, count: usize) -> Result<Vec<Value>> {
    // A session is not on the board before its first event.
    let asks = || Ok(open_asks(s, t).ok().filter(|asks| asks.len() == count));
    wait_for(&format!("{count} asks on the card"), DONE, asks)
        .with_context(|| format!("the card has {:?}", open_asks(s, t)))
}

fn post(s: &Stage, ask: &Value, answer: &Value) -> Result<(u16, Value)> {
    s.post(&format!("/api/asks/{}/answer", ask["id"].as_str().unwrap_or_default()), answer)
}

/// Answers as the page does.
fn answer(s: &Stage, ask: &Value, mut answer: Value, how: &str) -> Result<()> {
    ensure!(ask["answerable"] == true, "not answerable: {ask}");
    answer["via"] = json!("web");
    let (status, said) = post(s, ask, &answer)?;
    ensure!(
        (status, &said["how"], &said["by"]) == (200, &json!(how), &json!("web")),
        "{answer}: {status} {said}"
    );
    ended(s, ask, how, Some("web"))
}

/// A second answer is refused with the resolution of the first.
fn too_late(s: &Stage, ask: &Value, how: &str) -> Result<()> {
    let (status, said) = post(s, ask, &json!({"decision": "allow"}))?;
    ensure!((status, &said["resolution"]["how"]) == (409, &json!(how)), "{status} {said}");
    Ok(())
}

/// Waits until the ask has its resolution.
fn ended(s: &Stage, ask: &Value, how: &str, by: Option<&str>) -> Result<()> {
    let wanted = |end: &Value| (&end["how"], &end["by"]) == (&json!(how), &json!(by));
    wait_for(&format!("the ask to end as {how}"), DONE, || Ok(Some(end_of(s, ask)?).filter(wanted)))
        .with_context(|| format!("it says {}", end_of(s, ask).unwrap_or_default()))?;
    println!("  the ask says: {how}, by {by:?}");
    Ok(())
}

fn end_of(s: &Stage, ask: &Value) -> Result<Value> {
    let path = format!("/api/asks/{}", ask["id"].as_str().unwrap_or_default());
    Ok(s.get(&path)?["resolution"].clone())
}

/// The file that the script `bash` creates.
fn made(s: &Stage) -> PathBuf {
    s.lab.cwd().join("made-by-bash.txt")
}

/// A turn in which the client asks before it runs the script `bash`.
fn bash(s: &Stage, t: &ClientSeat) -> Result<Value> {
    // The file may exist from an earlier turn.
    let _ = fs::remove_file(made(s));
    s.prompt(t, "SCRIPT:bash go")?;
    asked(s, t)
}

fn ran(s: &Stage) -> Result<()> {
    wait_for("the file of the command", DONE, || Ok(made(s).exists().then_some(())))
}

fn not_run(s: &Stage) -> Result<()> {
    ensure!(!made(s).exists(), "the command was run");
    Ok(())
}

/// A position in the requests to the model.
struct Heard(usize);

impl Heard {
    fn now(s: &Stage) -> Self {
        Self(s.lab.api().seen().len())
    }

    /// Tool results in the requests since then.
    fn tool_results(&self, s: &Stage) -> Vec<String> {
        s.lab.api().seen().split_off(self.0).into_iter().flat_map(|seen| seen.told).collect()
    }

    /// Waits for a tool result that contains all of these.
    fn wait(&self, s: &Stage, parts: &[&str]) -> Result<()> {
        let fits = |told: &String| parts.iter().all(|part| told.contains(part));
        let told = wait_for("the model to be told", DONE, || Ok(self.tool_results(s).into_iter().find(fits)))
            .with_context(|| format!("expected {parts:?}, it was told {:?}", self.tool_results(s)))?;
        println!("  the model was told: {:?}", told.chars().take(160).collect::<String>());
        Ok(())
    }
}
