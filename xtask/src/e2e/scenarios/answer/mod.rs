//! The person answers on the board. Judged by what the client then did, and by what the ask says of its end.

pub(super) mod agents;
pub(super) mod cli;
pub(super) mod elicitation;
pub(super) mod hold;
pub(super) mod permission;
pub(super) mod plan;
pub(super) mod question;
pub(super) mod race;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flightdeck_sim::client::wait_for;
use serde_json::{Value, json};

use crate::e2e::stage::{Seat, Stage};

/// From an answer to what the client does with it, or from its start to its first ask.
const DONE: Duration = Duration::from_secs(40);

/// What the session waits for, as its card has it.
fn open_asks(s: &Stage, t: &Seat) -> Result<Vec<Value>> {
    Ok(super::open_asks(&s.card(t)?).cloned().collect())
}

/// The one thing that it waits for.
fn asked(s: &Stage, t: &Seat) -> Result<Value> {
    asked_all(s, t, 1).map(|mut asks| asks.remove(0))
}

fn asked_all(s: &Stage, t: &Seat, count: usize) -> Result<Vec<Value>> {
    // Not on the board before its first event.
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

/// A later answer is told how it ended.
fn too_late(s: &Stage, ask: &Value, how: &str) -> Result<()> {
    let (status, said) = post(s, ask, &json!({"decision": "allow"}))?;
    ensure!((status, &said["resolution"]["how"]) == (409, &json!(how)), "{status} {said}");
    Ok(())
}

/// The ask comes to say how it ended.
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

/// What the script `bash` makes.
fn made(s: &Stage) -> PathBuf {
    s.lab.cwd().join("made-by-bash.txt")
}

/// A turn in which the client asks before it runs the script `bash`.
fn bash(s: &Stage, t: &Seat) -> Result<Value> {
    // Of an earlier turn, perhaps.
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

/// A place in what the model heard.
struct Heard(usize);

impl Heard {
    fn now(s: &Stage) -> Self {
        Self(s.lab.api().seen().len())
    }

    /// What tools gave to the model since then.
    fn told(&self, s: &Stage) -> Vec<String> {
        s.lab.api().seen().split_off(self.0).into_iter().flat_map(|seen| seen.told).collect()
    }

    /// A result of a tool comes to hold all of these.
    fn wait(&self, s: &Stage, parts: &[&str]) -> Result<()> {
        let fits = |told: &String| parts.iter().all(|part| told.contains(part));
        let told = wait_for("the model to be told", DONE, || Ok(self.told(s).into_iter().find(fits)))
            .with_context(|| format!("expected {parts:?}, it was told {:?}", self.told(s)))?;
        println!("  the model was told: {:?}", told.chars().take(160).collect::<String>());
        Ok(())
    }
}
