//! `flightdeck replay FILE`: applies recorded hook events and prints the state after each. Needs no daemon.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flightdeck_core::assignment::intent;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{draw, out::Out};

#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    /// File with one JSON object per line: a hook payload, `{"t_ms", "event", "env"}`, or a spooled frame; `-` for standard input
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ReplayArgs, out: &mut Out) -> anyhow::Result<u8> {
    intent::prepare();
    let mut fleet = Fleet::new(Rules::default());
    for (i, line) in read(&args.file)?.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("{} line {}", args.file.display(), i + 1);
        let object: Map<String, Value> = serde_json::from_str(&line).with_context(place)?;
        let record = apply(&mut fleet, object, i as u64 + 1, line.len()).with_context(place)?;
        print(&fleet, &record, args.json, out)?;
    }
    Ok(0)
}

fn read(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(std::io::BufReader::new(file)))
}

/// One line of the output with `--json`.
#[derive(Serialize)]
struct Line<'a> {
    event: &'a str,
    at: Timestamp,
    session: Option<Card>,
}

struct Applied {
    name: String,
    session_id: SessionId,
    at: Timestamp,
}

fn apply(
    fleet: &mut Fleet,
    mut object: Map<String, Value>,
    seq: u64,
    bytes: usize,
) -> anyhow::Result<Applied> {
    let t_ms = object.get("t_ms").and_then(Value::as_i64);
    let mut part = |names: [&str; 2]| names.iter().find_map(|n| object.remove(*n)?.as_object().cloned());
    let (payload, env) = (part(["event", "args"]), part(["env", "env"]));
    let mut env = env.unwrap_or_default();
    let wall = t_ms.map_or(fleet.now(), Timestamp::from_millis);
    if t_ms.is_some() && !env.is_empty() && !env.contains_key("fired_at") {
        env.insert("fired_at".into(), Value::from(wall.to_string()));
    }
    let draft = HookDraft { name_in_path: None, payload: payload.unwrap_or(object), env, bytes };
    let mut record = draft.into_record(EventId(u128::from(seq)))?;
    // Without times, the events are applied in the order of the file.
    let wall = if t_ms.is_none() && record.envelope.has_fired_at { record.fired_at } else { wall };
    stamp(&mut record, wall, fleet.now());
    record.seq = seq;
    // Effects are for a daemon to carry out; a replay prints only the state.
    let _ = fleet.apply(&Event::from_record(&record));
    let session_id = record.session_id().cloned().unwrap_or_default();
    Ok(Applied { name: record.name, session_id, at: record.received_at })
}

fn print(fleet: &Fleet, applied: &Applied, json: bool, out: &mut Out) -> anyhow::Result<()> {
    let card = fleet.get(&applied.session_id).map(|s| view::card(s, fleet.rules()));
    if json {
        return out.json_line(&Line { event: &applied.name, at: applied.at, session: card });
    }
    let clock = applied.at.to_string().get(11..23).unwrap_or_default().to_owned();
    let id: String = applied.session_id.chars().take(8).collect();
    let state = card.map_or("(not on the board)".to_owned(), |c| {
        let s = c.agent_state;
        format!("{} {} {}", draw::sign(s.state), s.state.as_str(), s.label)
    });
    Ok(writeln!(out, "{clock}  {id}  {:<20} {state}", applied.name)?)
}
