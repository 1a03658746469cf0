//! `flightdeck replay FILE`: applies recorded hook events and prints the state after each. Needs no daemon.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::{HookDraft, has_fired_at, set_fired_at};
use serde::{Deserialize, Deserializer, Serialize};
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
    let mut fleet = Fleet::new(FoldSettings::default());
    for (i, line) in read(&args.file)?.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("{} line {}", args.file.display(), i + 1);
        let hook: ReplayLine = serde_json::from_str(&line).with_context(place)?;
        let record = apply(&mut fleet, hook, i as u64 + 1, line.len()).with_context(place)?;
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

/// One line of the file: a hook payload, a capture, or a spooled frame.
#[derive(Deserialize)]
struct ReplayLine {
    #[serde(default, deserialize_with = "number")]
    t_ms: Option<i64>,
    /// The payload in a capture.
    #[serde(default, deserialize_with = "object")]
    event: Option<Map<String, Value>>,
    /// The payload in a spooled frame.
    #[serde(default, deserialize_with = "object")]
    args: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "object")]
    env: Option<Map<String, Value>>,
    /// All other fields: the payload, if the line is one.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Reads a number. A value of another type counts as absent, because a payload may have a field of that name.
fn number<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
    Ok(Value::deserialize(d)?.as_i64())
}

fn object<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Map<String, Value>>, D::Error> {
    match Value::deserialize(d)? {
        Value::Object(object) => Ok(Some(object)),
        _ => Ok(None),
    }
}

/// One line of the output with `--json`.
#[derive(Serialize)]
struct RecordedLine<'a> {
    event: &'a str,
    at: Timestamp,
    session: Option<Card>,
}

struct Applied {
    name: String,
    session_id: SessionId,
    at: Timestamp,
}

fn apply(fleet: &mut Fleet, hook: ReplayLine, seq: u64, bytes: usize) -> anyhow::Result<Applied> {
    let ReplayLine { t_ms, event, args, env, rest } = hook;
    let mut env = env.unwrap_or_default();
    let wall = t_ms.map_or(fleet.now(), Timestamp::from_millis);
    if t_ms.is_some() && !env.is_empty() && !has_fired_at(&env) {
        set_fired_at(&mut env, wall);
    }
    let draft = HookDraft { name_in_path: None, payload: event.or(args).unwrap_or(rest), env, bytes };
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
    let card = fleet.get(&applied.session_id).map(|s| view::card(s, fleet.settings()));
    if json {
        return out.json_line(&RecordedLine { event: &applied.name, at: applied.at, session: card });
    }
    let clock = applied.at.to_string().get(11..23).unwrap_or_default().to_owned();
    let id: String = applied.session_id.chars().take(8).collect();
    let state = card.map_or("(not on the board)".to_owned(), |c| {
        let s = c.agent_state;
        format!("{} {} {}", draw::sign(s.state), s.state.as_str(), s.label)
    });
    Ok(writeln!(out, "{clock}  {id}  {:<20} {state}", applied.name)?)
}
