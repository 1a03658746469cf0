//! `flightdeck ls`: the board in a terminal.

use std::cell::RefCell;
use std::io::Write;

use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;

use super::draw::Listing;
use super::lookup::{all_cards, board_cards};
use super::{draw, out::Out, watch};
use crate::client::{BoardMirror, Changes, Client};
use crate::clock;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct LsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the board again at every change
    #[arg(long, short)]
    watch: bool,
    /// Also list sessions that left the board: past ones, and those replaced by /clear
    #[arg(long, conflicts_with = "watch")]
    all: bool,
    /// Sort by urgency only, without regard to the prompt cache
    #[arg(long)]
    urgency: bool,
    /// Also list sessions that have ended
    #[arg(long)]
    done: bool,
    /// List only the sessions of this group
    #[arg(long, value_parser = ["needs-you", "running", "done"])]
    group: Option<String>,
}

pub(super) fn run(args: &LsArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = Client::connect(paths)?;
    if args.watch {
        return follow(args, client.subscribe(None)?, out);
    }
    let cards = if args.all { all_cards(&mut client)? } else { board_cards(&mut client)? };
    let cards = of_group(args, &cards);
    if args.json {
        let listed = |card: &&&Card| args.lists_done() || card.agent_state.group != Group::Done;
        out.json(&cards.iter().filter(listed).collect::<Vec<_>>())?;
    } else {
        let text = draw::board(out, &cards, clock::now(), args.listing());
        write!(out, "{text}")?;
    }
    Ok(0)
}

impl LsArgs {
    fn lists_done(&self) -> bool {
        self.done || self.all || self.group.as_deref() == Some("done")
    }

    fn listing(&self) -> Listing {
        Listing { urgency_first: self.urgency, with_done: self.lists_done() }
    }
}

fn of_group<'a>(args: &LsArgs, cards: impl IntoIterator<Item = &'a Card>) -> Vec<&'a Card> {
    let group = args.group.as_deref().map(|group| match group {
        "needs-you" => Group::NeedsYou,
        "running" => Group::Running,
        _ => Group::Done,
    });
    cards.into_iter().filter(|card| group.is_none_or(|group| card.agent_state.group == group)).collect()
}

/// Follows the changes: on a screen in a terminal, board after board in a pipe, a line per change with `--json`.
fn follow(args: &LsArgs, mut changes: Changes, out: &mut Out) -> anyhow::Result<u8> {
    if args.json {
        return print_lines(changes, out);
    }
    if out.is_terminal() {
        let board = RefCell::new(BoardMirror::default());
        let rows = |out: &Out| {
            draw::rows(out, &of_group(args, board.borrow().cards()), clock::now(), args.listing())
        };
        return watch::run(changes, out, |change| board.borrow_mut().apply(change), rows);
    }
    let mut board = BoardMirror::default();
    for frame in &mut changes {
        board.apply(frame?.change);
        let text = draw::board(out, &of_group(args, board.cards()), clock::now(), args.listing());
        writeln!(out, "{text}")?;
        out.flush()?;
    }
    anyhow::bail!("the daemon stopped")
}

fn print_lines(mut changes: Changes, out: &mut Out) -> anyhow::Result<u8> {
    while let Some(line) = changes.next_line() {
        writeln!(out, "{}", line?)?;
    }
    anyhow::bail!("the daemon stopped")
}
