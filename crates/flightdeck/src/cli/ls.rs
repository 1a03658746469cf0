//! `flightdeck ls`: the board in a terminal.

use std::cell::RefCell;
use std::io::Write;

use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;

use super::card_filter::CardFilter;
use super::draw::ListOptions;
use super::lookup::{all_cards, board_cards};
use super::template::CardTemplate;
use super::{draw, out::Out, watch};
use crate::client::{BlockingChanges, BlockingClient, BoardMirror};
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
    #[command(flatten)]
    filter: CardFilter,
    /// Print one line for each session: a text with fields in braces, such as '{id} {project} {state} {label}'
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    format: Option<CardTemplate>,
}

pub(super) fn run(args: &LsArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    if args.watch {
        return follow(args, client.subscribe(None)?, out);
    }
    let cards = if args.all { all_cards(&mut client)? } else { board_cards(&mut client)? };
    let cards = filtered(args, &cards);
    let listed = |card: &&&Card| args.lists_done() || card.agent_state.group != Group::Done;
    if args.json {
        out.json(&cards.iter().filter(listed).collect::<Vec<_>>())?;
    } else if let Some(template) = &args.format {
        let mut cards: Vec<&Card> = cards.iter().filter(listed).copied().collect();
        cards.sort_by(|a, b| args.listing().order(a, b));
        for card in cards {
            writeln!(out, "{}", template.fill(&serde_json::to_value(card)?)?)?;
        }
    } else {
        let text = draw::board(out, &cards, clock::now(), args.listing());
        write!(out, "{text}")?;
    }
    Ok(0)
}

impl LsArgs {
    fn lists_done(&self) -> bool {
        self.done || self.all || self.filter.names_done()
    }

    fn listing(&self) -> ListOptions {
        ListOptions { urgency_first: self.urgency, with_done: self.lists_done() }
    }
}

fn filtered<'a>(args: &LsArgs, cards: impl IntoIterator<Item = &'a Card>) -> Vec<&'a Card> {
    cards.into_iter().filter(|card| args.filter.lists(card)).collect()
}

/// Follows the changes: on a screen in a terminal, board after board in a pipe, a line per change with `--json`.
fn follow(args: &LsArgs, changes: BlockingChanges, out: &mut Out) -> anyhow::Result<u8> {
    if args.json || !out.is_terminal() {
        Out::end_with_reader();
    }
    if args.json {
        return print_lines(changes, out);
    }
    if out.is_terminal() {
        let board = RefCell::new(BoardMirror::default());
        let rows = |out: &Out| {
            draw::rows(out, &filtered(args, board.borrow().cards()), clock::now(), args.listing())
        };
        return watch::run(changes, out, |change| board.borrow_mut().apply(change), rows);
    }
    let mut board = BoardMirror::default();
    let received = watch::receive_in_thread(changes);
    while let Ok(first) = received.recv() {
        for frame in std::iter::once(first).chain(received.try_iter()) {
            board.apply(frame?.change);
        }
        let text = draw::board(out, &filtered(args, board.cards()), clock::now(), args.listing());
        writeln!(out, "{text}")?;
        out.flush()?;
        std::thread::sleep(watch::REDRAW_EVERY);
    }
    anyhow::bail!("the daemon stopped")
}

fn print_lines(mut changes: BlockingChanges, out: &mut Out) -> anyhow::Result<u8> {
    while let Some(line) = changes.next_line() {
        writeln!(out, "{}", line?)?;
    }
    anyhow::bail!("the daemon stopped")
}
