//! `flightdeck show ID`: the card and the last events of one session.

use std::io::Write;

use flightdeck_core::ids::SessionId;
use flightdeck_core::log::approvals::AnsweredPayload;
use flightdeck_core::session::Failure;
use flightdeck_core::text::one_line;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::amounts::Cost;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::sub_agents::SubAgentCard;
use flightdeck_core::view::timeline::TimelineEvent;
use flightdeck_protocol::sessions::{GetSession, ListEvents};

use super::lookup::{board_cards, find_session};
use super::requests::{self, ShortAskIds};
use super::{command_prefix, draw, out::Out, owner};
use crate::client::BlockingClient;
use crate::clock;
use crate::paths::Paths;

/// Larger than the `seq` of any event, because the log counts in `i64`.
const LAST_SEQ: u64 = i64::MAX as u64;
/// Longest message of an answer in the list of events.
const MESSAGE_CHARS_MAX: usize = 200;

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How many of the last events to list
    #[arg(long, default_value_t = 12)]
    events: usize,
}

pub(super) fn run(args: &ShowArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let session_id = find_session(&mut client, &args.id)?;
    let session = client.call_raw(&GetSession { session_id: session_id.clone() })?;
    if args.json {
        out.json(&session.json()?)?;
        return Ok(0);
    }
    let card = session.decode()?;
    let text = lines(out, &card, clock::now());
    let requests =
        requests::lines(&card, ShortAskIds::on_board(&board_cards(&mut client)?), &command_prefix(paths));
    write!(out, "{text}{requests}")?;
    print_events(&mut client, session_id, args.events, out)?;
    Ok(0)
}

/// Prints the newest events, the oldest of them first.
fn print_events(
    client: &mut BlockingClient,
    id: SessionId,
    count: usize,
    out: &mut Out,
) -> anyhow::Result<()> {
    let newest = ListEvents {
        session_id: id,
        before: Some(LAST_SEQ),
        limit: Some(count),
        payload: true,
        ..ListEvents::default()
    };
    let events = client.call(&newest)?.events;
    if !events.is_empty() {
        writeln!(out, "\n{}", draw::paint(out, "1", "Last events"))?;
    }
    for event in &events {
        let clock = draw::time_of_day(event.fired_at);
        let why = message_of(event).map(|why| format!(": {why}")).unwrap_or_default();
        writeln!(out, "  {clock}  {:<20} {}{why}", event.name, event.summary)?;
    }
    Ok(())
}

/// What the person wrote with an answer.
fn message_of(event: &TimelineEvent) -> Option<String> {
    let AnsweredPayload { answer, .. } = AnsweredPayload::from_event(&event.name, event.payload.as_ref()?)?;
    Some(one_line(answer.message.as_deref()?, MESSAGE_CHARS_MAX))
}

/// The card, one line per field.
pub(super) fn lines(out: &Out, card: &Card, now: Timestamp) -> String {
    let state = &card.agent_state;
    let head =
        format!("{} {} for {}", draw::sign(state.state), state.label, draw::duration(now - state.since));
    let mut text = format!("{}\n", draw::paint(out, "1", &head));
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            text += &format!("  {name:<10} {value}\n");
        }
    };
    let flat = |t: &Option<String>| t.as_ref().map(|t| t.replace('\n', " "));
    line("title", flat(&card.title));
    line("prompt", flat(&card.last_user_message).filter(|_| card.last_user_message != card.title));
    line("project", card.project.path.clone().or_else(|| Some(card.project.name.clone())));
    line("host", owner::host(card).map(|host| host_words(card, host)));
    line("worktree", card.project.worktree.clone());
    line("branch", card.git_branch.clone());
    line("model", card.model.clone());
    line("context", context(card));
    line("cost", card.cost.as_ref().map(cost));
    line("changed", changed(card));
    line("agent", card.agent_type.as_ref().map(|name| format!("runs as {name}")));
    line("mode", card.permission_mode.clone());
    line("duration", Some(draw::duration(card.ended_at.unwrap_or(now) - card.started_at)));
    line("turn", (card.turn_count > 0).then(|| card.turn_count.to_string()));
    line("parked", parked(card));
    line("seat", card.seat.name.clone().map(String::from));
    line("pane", card.seat.pane.clone());
    line("pid", card.seat.pid.map(|p| p.to_string()));
    for process in Some(&card.processes).filter(|processes| processes.len() > 1).into_iter().flatten() {
        line("process", Some(draw::process(process)));
    }
    line("todos", todos(card));
    for agent in &card.sub_agents {
        line("agent", Some(subagent(agent)));
    }
    line("failed", card.last_failure.as_ref().map(|failure| failed(card, failure)));
    line("id", Some(card.id.to_string()));
    text
}

/// `until 2026-11-19 08:00:00`, or `until its next event`. `None` if the session is not parked.
fn parked(card: &Card) -> Option<String> {
    let until = card.parked?.until.map(draw::date_and_time);
    Some(format!("until {}", until.as_deref().unwrap_or("its next event")))
}

/// `Explore Searching (the cart)`
fn subagent(agent: &SubAgentCard) -> String {
    let label = agent.label.strip_prefix(agent.agent_type.as_str()).unwrap_or(&agent.label).trim_start();
    let about = agent.description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    format!("{} {label}{about}", agent.agent_type)
}

/// `build-2, unreachable since 14:05`
fn host_words(card: &Card, host: &str) -> String {
    let words: Vec<String> = [host.to_owned()].into_iter().chain(owner::unreachable(card)).collect();
    words.join(", ")
}

/// `Bash: exit code 1 (the agent went on)`
fn failed(card: &Card, failure: &Failure) -> String {
    let past = if card.failure_is_past { " (the agent went on)" } else { "" };
    format!("{}: {}{past}", failure.tool, failure.error)
}

/// `152.4k of 1.0M (15.2 %)`.
fn context(card: &Card) -> Option<String> {
    let context = card.context.as_ref()?;
    let of = context.window.zip(context.percent);
    let of = of.map_or_else(String::new, |(w, p)| format!(" of {} ({p} %)", draw::short_number(w)));
    Some(format!("{}{of}", draw::short_number(context.tokens)))
}

fn cost(cost: &Cost) -> String {
    match cost.unpriced_models.as_slice() {
        [] => draw::money(cost.usd_micros),
        unknown => format!("{} + price unknown: {}", draw::money(cost.usd_micros), unknown.join(", ")),
    }
}

fn changed(card: &Card) -> Option<String> {
    let files = card.files_touched_total;
    (files > 0)
        .then(|| format!("{}, +{} -{}", draw::count(files, "file"), card.lines_added, card.lines_removed))
}

fn todos(card: &Card) -> Option<String> {
    let done = card.progress_items.iter().filter(|t| t.status == "completed").count();
    (!card.progress_items.is_empty()).then(|| format!("{done} of {} done", card.progress_items.len()))
}
