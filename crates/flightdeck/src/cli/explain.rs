//! `flightdeck explain ID`: which event, which rule, since when, and how it came there.

use std::io::Write;

use flightdeck_core::time::Timestamp;
use serde_json::{Value, json};

use super::ask::Daemon;
use super::{draw, out::Out};
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The session, or the start of its id
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ExplainArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut daemon = Daemon::connect(paths)?;
    let id = daemon.find(&args.id)?;
    let why = daemon.ask("explain", json!({ "session_id": id }))?;
    if args.json {
        out.json(&why)?;
        return Ok(0);
    }
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let because = &why["because"];
    let head = format!("{} ({})", text(&why["label"]), text(&why["state"]));
    writeln!(out, "{}", draw::paint(out, "1", &head))?;
    let since = Timestamp::parse(&text(&why["since"])).map(draw::date_and_time).unwrap_or_default();
    writeln!(out, "  since   {since}")?;
    let event =
        format!("{} (event {})", because["name"].as_str().unwrap_or("no longer in the log"), because["seq"]);
    writeln!(out, "  because {event}")?;
    writeln!(out, "  rule    {}", text(&because["rule"]))?;
    if let Some(history) = why["history"].as_array().filter(|h| !h.is_empty()) {
        writeln!(out, "\n{}", draw::paint(out, "1", "How it came there"))?;
        for step in history.iter().rev().take(10).rev() {
            let clock = Timestamp::parse(&text(&step["at"])).map(draw::time_of_day).unwrap_or_default();
            writeln!(
                out,
                "  {clock}  {:<18} → {:<18} {}",
                text(&step["from"]),
                text(&step["to"]),
                text(&step["because"]["rule"])
            )?;
        }
    }
    if !because["payload"].is_null() {
        writeln!(out, "\n{}", draw::paint(out, "1", "The event as it came"))?;
        let payload =
            flightdeck_core::text::lines(&serde_json::to_string_pretty(&because["payload"])?, 100_000);
        writeln!(out, "{payload}")?;
    }
    Ok(0)
}
