//! `flightdeck effort`: work that outlives context windows. Agents run these commands too, so each prints one clear sentence.

use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Subcommand;
use flightdeck_core::ids::{EffortId, SessionId};
use flightdeck_core::limits::HANDOFF_BYTES_MAX;
use flightdeck_core::view::effort::{EffortCard, WindowCard};
use flightdeck_protocol::efforts::*;

use super::draw;
use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

/// Log entries and messages that `show` prints; `--json` has more.
const SHOWN_MAX: usize = 12;

#[derive(Debug, clap::Args)]
pub(super) struct EffortArgs {
    #[command(subcommand)]
    command: EffortCommand,
}

#[derive(Debug, Subcommand)]
enum EffortCommand {
    /// Start an effort: sessions in this directory work on it from now on
    Start {
        /// The skill, for example implement
        skill: String,
        /// The directory [default: this one]
        #[arg(long)]
        dir: Option<PathBuf>,
        /// What it is about [default: the first prompt]
        #[arg(long, allow_hyphen_values = true, value_parser = text_option)]
        title: Option<String>,
        /// How the skill is run, in the skill's own words; the agent gets this word
        #[arg(long)]
        mode: Option<String>,
        /// Only sessions of this seat work on it [default: FLIGHTDECK_SEAT, else AGENT_ID, else every session here]
        #[arg(long)]
        seat: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Enter a phase
    Phase {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        /// The name of the phase, for example "2: Build"
        #[arg(allow_hyphen_values = true)]
        phase: String,
        /// Why the previous phase is complete
        #[arg(long, allow_hyphen_values = true, value_parser = text_option)]
        proof: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a log entry; the heartbeat starts again at 0
    Log {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        #[command(flatten)]
        text: TextWords,
        /// The session that logs: only its heartbeat starts again [default: those of all sessions]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Leave the handoff on standard input for the next context window, and end this one
    Dehydrate {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        /// The session whose context window ends [default: the one whose window is the newest]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell the agent something with its next tool call or prompt
    Inject {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        #[command(flatten)]
        text: TextWords,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Finish an effort: nothing is counted or denied any more
    Finish {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List efforts, the active ones first
    List {
        /// List finished efforts too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one effort: phases, windows, log and handoff
    Show {
        /// The effort: its id or the beginning of its id, or `.` for the effort of this directory
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A text of several words. Only its first word may begin with a hyphen, as a list does. A later word with a hyphen is an option.
#[derive(Debug, clap::Args)]
struct TextWords {
    /// The text; several words need no quotes
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    first: String,
    /// More words of the text
    #[arg(value_name = "MORE")]
    more: Vec<String>,
}

impl TextWords {
    fn joined(&self) -> String {
        std::iter::once(&self.first).chain(&self.more).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The text of an option. It may begin with a hyphen. If it is an option that every command has, the text was forgotten.
pub(super) fn text_option(text: &str) -> Result<String, String> {
    match text == "--json" || text == "--home" || text.starts_with("--home=") {
        true => Err(format!("the text is missing: {text} is an option")),
        false => Ok(text.to_owned()),
    }
}

pub(super) fn run(args: &EffortArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let client = &mut BlockingClient::connect(paths)?;
    match &args.command {
        EffortCommand::Start { skill, dir, title, mode, seat, json } => {
            let request = StartEffort {
                dir: directory(dir.as_ref())?,
                skill: skill.clone(),
                mode: mode.clone(),
                seat: seat.clone().or_else(seat_of_environment),
                title: title.clone(),
                ..StartEffort::default()
            };
            let started = client.call(&request)?;
            match json {
                true => out.json(&started)?,
                false => print_started(&started, out)?,
            }
        }
        EffortCommand::List { all, json } => list(client, *all, *json, out)?,
        EffortCommand::Show { id, json } => {
            let id = find_effort(client, id)?;
            let card = client.call(&GetEffort { id })?;
            match json {
                true => out.json(&card)?,
                false => print_effort(&card, out)?,
            }
        }
        change => {
            let Changed { card, sentence, json } = change_effort(client, change)?;
            match json {
                true => out.json(&card)?,
                false => writeln!(out, "{sentence}")?,
            }
        }
    }
    Ok(0)
}

/// An effort after a command changed it.
struct Changed {
    card: EffortCard,
    /// What happened, for a person or an agent.
    sentence: String,
    json: bool,
}

fn change_effort(client: &mut BlockingClient, command: &EffortCommand) -> anyhow::Result<Changed> {
    let (card, json) = match command {
        EffortCommand::Phase { id, phase, proof, json } => {
            let id = find_effort(client, id)?;
            (client.call(&EnterPhase { id, phase: phase.clone(), proof: proof.clone() })?, *json)
        }
        EffortCommand::Log { id, text, session, json } => {
            let (id, session_id) = (find_effort(client, id)?, session.as_deref().map(SessionId::from));
            (client.call(&LogEffort { id, text: text.joined(), session_id })?, *json)
        }
        EffortCommand::Dehydrate { id, session, json } => {
            let payload = payload_on_stdin()?;
            let (id, session_id) = (find_effort(client, id)?, session.as_deref().map(SessionId::from));
            (client.call(&Dehydrate { id, payload, session_id })?, *json)
        }
        EffortCommand::Inject { id, text, json } => {
            let id = find_effort(client, id)?;
            (client.call(&InjectText { id, text: text.joined() })?, *json)
        }
        EffortCommand::Finish { id, json } => {
            let id = find_effort(client, id)?;
            (client.call(&FinishEffort { id })?, *json)
        }
        EffortCommand::Start { .. } | EffortCommand::List { .. } | EffortCommand::Show { .. } => {
            bail!("this command changes no effort")
        }
    };
    let sentence = sentence(command, &card);
    Ok(Changed { card, sentence, json })
}

fn sentence(command: &EffortCommand, card: &EffortCard) -> String {
    let name = effort_name(card);
    match command {
        EffortCommand::Phase { phase, .. } => format!("{name} is in phase {phase}."),
        EffortCommand::Log { .. } => {
            format!("Logged; {name} has {}.", draw::count(card.log_entries, "entry"))
        }
        EffortCommand::Dehydrate { .. } => {
            format!("The next context window of {name} begins with this handoff.")
        }
        EffortCommand::Inject { .. } => {
            format!("The agent of {name} is told with its next tool call or prompt.")
        }
        _ => format!("{name} is finished."),
    }
}

fn directory(dir: Option<&PathBuf>) -> anyhow::Result<String> {
    let here = std::env::current_dir().context("this directory cannot be found")?;
    let dir = dir.map_or(here.clone(), |dir| here.join(dir));
    dir.into_os_string().into_string().map_err(|dir| anyhow::anyhow!("{dir:?} is not UTF-8"))
}

fn seat_of_environment() -> Option<String> {
    let named = |name| std::env::var(name).ok().filter(|seat| !seat.is_empty());
    named("FLIGHTDECK_SEAT").or_else(|| named("AGENT_ID"))
}

/// The effort with this id, or the only one whose id begins with the text. `.` is the effort that a session in this directory works on.
pub(super) fn find_effort(client: &mut BlockingClient, text: &str) -> anyhow::Result<EffortId> {
    if text == "." {
        return effort_here(client);
    }
    if text.len() == "e-".len() + 32 {
        return Ok(text.into());
    }
    let list = client.call(&active_efforts())?;
    let fitting: Vec<&EffortCard> = list.efforts.iter().filter(|card| card.id.starts_with(text)).collect();
    match fitting.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => bail!("no active effort begins with {text:?}: `flightdeck effort list` shows all"),
        many => bail!("{} efforts begin with {text:?}: type more of the id", many.len()),
    }
}

fn active_efforts() -> ListEfforts {
    ListEfforts { lifecycle: Some("active".into()), ..ListEfforts::default() }
}

/// The effort that a session in this directory and with this environment works on: with a seat, the newest effort of that seat. Without
/// one, the newest effort of the nearest directory, if it belongs to no seat.
fn effort_here(client: &mut BlockingClient) -> anyhow::Result<EffortId> {
    let none = || "no active effort in this directory: start one with `flightdeck effort start SKILL`";
    if let Some(seat) = seat_of_environment() {
        let of_seat = ListEfforts { seat: Some(seat), ..active_efforts() };
        let list = client.call(&of_seat)?;
        return Ok(list.efforts.first().with_context(none)?.id.clone());
    }
    let list = client.call(&ListEfforts { dir: Some(directory(None)?), ..active_efforts() })?;
    let unclaimed = list.efforts.iter().filter(|card| card.seat.is_none());
    // The list has the newest first. Of several efforts that are equally near, the first is chosen.
    if let Some(nearest) = unclaimed.min_by_key(|card| std::cmp::Reverse(card.workstream.len())) {
        return Ok(nearest.id.clone());
    }
    let claimed: Vec<String> = list
        .efforts
        .iter()
        .filter_map(|card| Some(format!("{} of seat {}", card.id, card.seat.as_ref()?)))
        .collect();
    if claimed.is_empty() {
        bail!(none());
    }
    bail!(
        "every active effort in this directory belongs to a seat: name one by its id ({})",
        claimed.join(", ")
    )
}

fn payload_on_stdin() -> anyhow::Result<String> {
    let mut payload = String::new();
    // Reads one byte more than is allowed, to notice a text that is too long.
    let mut input = std::io::stdin().take(HANDOFF_BYTES_MAX as u64 + 1);
    input.read_to_string(&mut payload).context("the handoff on standard input is not UTF-8 text")?;
    if payload.trim().is_empty() {
        bail!("the handoff is empty: write it on standard input, for example with <<'HANDOFF'");
    }
    if payload.len() > HANDOFF_BYTES_MAX {
        bail!("the handoff is longer than {HANDOFF_BYTES_MAX} bytes: shorten it");
    }
    Ok(payload)
}

/// `implement 3`
fn effort_name(card: &EffortCard) -> String {
    format!("{} {}", card.skill, card.ordinal)
}

fn print_started(started: &StartedEffort, out: &mut Out) -> anyhow::Result<()> {
    let card = &started.effort;
    writeln!(out, "Started {} in {}: {}", effort_name(card), card.workstream, card.id)?;
    if let Some(seat) = &card.seat {
        writeln!(out, "Only sessions of seat {seat} work on it.")?;
    }
    if card.heartbeat_limit > 0 {
        writeln!(out, "The agent must log at least every {} tool calls.", card.heartbeat_limit)?;
    }
    writeln!(out, "{}.", started.hooks.trim_end_matches('.'))?;
    Ok(())
}

fn list(client: &mut BlockingClient, all: bool, json: bool, out: &mut Out) -> anyhow::Result<()> {
    let lifecycle = Some(if all { "all" } else { "active" }.to_owned());
    let list = client.call(&ListEfforts { lifecycle, ..ListEfforts::default() })?;
    if json {
        return out.json(&list);
    }
    if list.efforts.is_empty() {
        writeln!(out, "No effort is active: start one with `flightdeck effort start SKILL`.")?;
    }
    for card in &list.efforts {
        writeln!(out, "{}", row(card))?;
    }
    Ok(())
}

fn row(card: &EffortCard) -> String {
    let state = if card.finished_at.is_some() { "finished".to_owned() } else { heartbeat(card) };
    let phase = card.phase.as_deref().unwrap_or("-");
    let cost = card.cost.as_ref().map(|cost| draw::money(cost.usd_micros)).unwrap_or_default();
    format!(
        "{}  {:<14} {:<14} {:<9} {:<10} {cost:>8}  {}",
        card.id,
        effort_name(card),
        phase,
        state,
        card.project.name,
        card.title
    )
}

fn heartbeat(card: &EffortCard) -> String {
    match card.heartbeat_limit {
        0 => card.heartbeat.to_string(),
        limit => format!("{}/{limit}", card.heartbeat),
    }
}

fn print_effort(card: &EffortCard, out: &mut Out) -> anyhow::Result<()> {
    writeln!(out, "{}: {}", effort_name(card), card.title)?;
    writeln!(out, "  id         {}", card.id)?;
    writeln!(out, "  directory  {}", card.workstream)?;
    if let Some(seat) = &card.seat {
        writeln!(out, "  seat       {seat}")?;
    }
    writeln!(out, "  heartbeat  {}", heartbeat(card))?;
    if let Some(cost) = &card.cost {
        writeln!(out, "  cost       {}", draw::money(cost.usd_micros))?;
    }
    for phase in &card.phases {
        writeln!(out, "  phase      {} since {}", phase.name, draw::date_and_time(phase.entered_at))?;
    }
    for (number, window) in card.windows.iter().enumerate() {
        writeln!(out, "  window {:<3} {}", number + 1, window_line(window))?;
    }
    for denial in &card.denials {
        writeln!(out, "  denied     {} by {}", draw::count(denial.count, "call"), denial.rule)?;
    }
    let skip = card.timeline.len().saturating_sub(SHOWN_MAX);
    for message in card.timeline.iter().skip(skip) {
        let text = message.text.lines().next().unwrap_or_default();
        writeln!(out, "  {}  {:<17} {text}", draw::date_and_time(message.at), message.kind)?;
    }
    Ok(())
}

fn window_line(window: &WindowCard) -> String {
    let who = window
        .agent_id
        .as_ref()
        .map(|agent| format!("subagent {agent}"))
        .unwrap_or_else(|| "main".to_owned());
    let full = window.context_percent.map(|percent| format!(", context {percent:.0} %")).unwrap_or_default();
    let ended = match (window.ended_at, window.handed_over) {
        (None, _) => ", open".to_owned(),
        (Some(at), true) => format!(", handed over {}", draw::hour_and_minute(at)),
        (Some(at), false) => format!(", ended {}", draw::hour_and_minute(at)),
    };
    format!("{who} since {}{full}{ended}", draw::date_and_time(window.started_at))
}
