//! `flightdeck status`: how the daemon is doing.

use std::io::Write;

use serde_json::{Value, json};

use super::ask::Daemon;
use super::{draw, out::Out};
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Exits 1 if something is wrong.
pub(super) fn run(args: &StatusArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let status = Daemon::connect(paths)?.ask("status", json!({}))?;
    let well = status["status"] == "ok";
    if args.json {
        out.json(&status)?;
        return Ok(u8::from(!well));
    }
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let hooks = &status["hooks"];
    let count = |v: &Value| v.as_array().map_or(0, Vec::len);
    writeln!(out, "board     {}", text(&status["url"]))?;
    writeln!(
        out,
        "daemon    {} (pid {}, version {})",
        text(&status["status"]),
        status["pid"],
        text(&status["version"])
    )?;
    for reason in status["reasons"].as_array().into_iter().flatten() {
        writeln!(out, "          {}", text(reason))?;
    }
    let viewers = draw::count(status["viewers"].as_u64().unwrap_or(0), "viewer");
    writeln!(out, "sessions  {}, seen by {viewers}", status["sessions"])?;
    let megabytes = status["store_bytes"].as_u64().unwrap_or(0) as f64 / 1_048_576.0;
    let last = hooks["last_event_at"].as_str().map_or("none since start".to_owned(), |t| format!("last {t}"));
    writeln!(out, "events    {} in {megabytes:.1} MB, {last}", hooks["events_total"])?;
    let [here, missing, stale] = ["registered", "missing", "stale"].map(|which| count(&hooks[which]));
    let problem = hooks["problem"].as_str();
    if let Some(problem) = problem.filter(|_| here + missing + stale == 0) {
        writeln!(out, "hooks     {problem}")?;
    } else if hooks["simulated"] == json!(true) {
        writeln!(out, "hooks     none, on purpose: the sessions are simulated")?;
    } else if here + missing + stale == 0 {
        writeln!(out, "hooks     none for this home")?;
    } else if hooks["wanted"] == json!(false) {
        writeln!(out, "hooks     not registered, as asked for")?;
    } else {
        let stale = if stale > 0 { format!(", {stale} out of date") } else { String::new() };
        writeln!(out, "hooks     {here} in place, {missing} missing{stale}")?;
    }
    if let Some(problem) = problem.filter(|_| here + missing + stale > 0) {
        writeln!(out, "          {problem}")?;
    }
    if let Some(fix) = hooks["fix"].as_str() {
        writeln!(out, "          to mend: {fix}")?;
    }
    let history = &status["history"];
    if let Some(left) = history["files_left"].as_u64().filter(|left| *left > 0) {
        let megabytes = history["bytes_left"].as_u64().unwrap_or(0) / 1_048_576;
        let paused = if history["paused"] == json!(true) { ", paused" } else { "" };
        writeln!(
            out,
            "history   {left} of {} transcripts to read, {megabytes} MB{paused}",
            history["files_total"]
        )?;
    }
    let spooled = hooks["spool"]["files"].as_u64().unwrap_or(0);
    if spooled > 0 {
        writeln!(out, "spool     {} waiting", draw::count(spooled, "event"))?;
    }
    Ok(u8::from(!well))
}
