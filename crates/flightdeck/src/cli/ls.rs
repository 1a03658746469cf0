//! `flightdeck ls`: the board in a terminal.

use std::cell::RefCell;
use std::io::Write;

use flightdeck_core::board::Card;
use flightdeck_core::lens::Group;
use serde_json::Value;

use super::ask::Daemon;
use super::{draw, out::Out, watch};
use crate::clock;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct LsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw again at every change
    #[arg(long, short)]
    watch: bool,
    /// Also sessions that left the board: forgotten, or replaced by /clear
    #[arg(long, conflicts_with = "watch")]
    all: bool,
    /// Most urgent first, whatever the cache
    #[arg(long)]
    urgency: bool,
    /// Only sessions of this group
    #[arg(long, value_parser = ["needs-you", "running", "done"])]
    group: Option<String>,
}

pub(super) fn run(args: &LsArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut daemon = Daemon::connect(paths)?;
    if args.watch {
        return follow(args, daemon, out);
    }
    let cards = if args.all { daemon.all_cards()? } else { daemon.cards()? };
    let cards = wanted(args, cards);
    if args.json {
        out.json(&cards)?;
    } else {
        let text = draw::board(out, &cards, clock::now(), args.urgency);
        write!(out, "{text}")?;
    }
    Ok(0)
}

fn wanted(args: &LsArgs, cards: Vec<Card>) -> Vec<Card> {
    let group = args.group.as_deref().map(|g| match g {
        "needs-you" => Group::NeedsYou,
        "running" => Group::Running,
        _ => Group::Done,
    });
    cards.into_iter().filter(|c| group.is_none_or(|g| c.agent_state.group == g)).collect()
}

/// Follows the stream of changes: a screen in a terminal, board after board in a pipe; with `--json` a change is a line.
fn follow(args: &LsArgs, daemon: Daemon, out: &mut Out) -> anyhow::Result<u8> {
    let mut cards: Vec<Card> = Vec::new();
    if out.is_terminal() && !args.json {
        let cards = RefCell::new(cards);
        let rows =
            |out: &Out| draw::rows(out, &wanted(args, cards.borrow().clone()), clock::now(), args.urgency);
        return watch::run(daemon, out, |change| take(&mut cards.borrow_mut(), change), rows);
    }
    for change in daemon.subscribe()? {
        let change = change?;
        if args.json {
            writeln!(out, "{change}")?;
            continue;
        }
        take(&mut cards, &change)?;
        let text = draw::board(out, &wanted(args, cards.clone()), clock::now(), args.urgency);
        writeln!(out, "{text}")?;
        out.flush()?;
    }
    anyhow::bail!("the daemon stopped")
}

fn take(cards: &mut Vec<Card>, change: &Value) -> anyhow::Result<()> {
    let data = &change["data"];
    match change["event"].as_str().unwrap_or_default() {
        "snapshot" => *cards = serde_json::from_value(data["sessions"].clone())?,
        "session_removed" => cards.retain(|c| Some(c.id.as_str()) != data["id"].as_str()),
        "session_discovered" | "session_updated" | "session_completed" => {
            let card: Card = serde_json::from_value(data["session"].clone())?;
            cards.retain(|c| c.id != card.id);
            if card.replaced_by.is_none() {
                cards.push(card);
            }
        }
        _ => {}
    }
    Ok(())
}
