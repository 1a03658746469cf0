//! `flightdeck explain ID`: the event and rule behind a session's state, and its earlier states.

use std::io::Write;

use flightdeck_core::view::explain::Explanation;
use flightdeck_protocol::sessions::ExplainSession;

use super::lookup::find_session;
use super::{draw, out::Out};
use crate::client::BlockingClient;
use crate::paths::Paths;

/// Earlier states that are listed.
const STEPS_SHOWN: usize = 10;
/// Longest payload that is printed.
const PAYLOAD_CHARS_MAX: usize = 100_000;

#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ExplainArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let session_id = find_session(&mut client, &args.id)?;
    let reply = client.call_raw(&ExplainSession { session_id })?;
    if args.json {
        out.json(&reply.json()?)?;
    } else {
        print(&reply.decode()?, out)?;
    }
    Ok(0)
}

fn print(why: &Explanation, out: &mut Out) -> anyhow::Result<()> {
    let because = &why.because;
    let head = format!("{} ({})", why.label, why.state.as_str());
    writeln!(out, "{}", draw::paint(out, "1", &head))?;
    writeln!(out, "  since   {}", draw::date_and_time(why.since))?;
    let name = because.name.as_deref().unwrap_or("no longer in the log");
    writeln!(out, "  because {name} (event {})", because.seq)?;
    writeln!(out, "  rule    {}", because.rule)?;
    if let Some(found) = &why.intent {
        let (rule, sure) = (found.evidence.rule.sentence(), found.confidence * 100.0);
        writeln!(out, "  message {} ({sure:.0} % sure): {rule}", found.intent.as_str())?;
        writeln!(out, "          {}", found.evidence.line)?;
    }
    let several = Some(&why.processes).filter(|processes| processes.len() > 1);
    if several.is_some() {
        writeln!(out, "\n{}", draw::paint(out, "1", "Processes that hold the session"))?;
    }
    for process in several.into_iter().flatten() {
        writeln!(out, "  {}", draw::process(process))?;
    }
    if !why.history.is_empty() {
        writeln!(out, "\n{}", draw::paint(out, "1", "How it came there"))?;
    }
    for step in &why.history[why.history.len().saturating_sub(STEPS_SHOWN)..] {
        let (clock, rule) = (draw::time_of_day(step.at), &step.because.rule);
        writeln!(out, "  {clock}  {:<18} → {:<18} {rule}", step.from.as_str(), step.to.as_str())?;
    }
    if let Some(payload) = &because.payload {
        writeln!(out, "\n{}", draw::paint(out, "1", "The event as it came"))?;
        let payload = serde_json::to_string_pretty(payload)?;
        writeln!(out, "{}", flightdeck_core::text::lines(&payload, PAYLOAD_CHARS_MAX))?;
    }
    Ok(())
}
