//! `flightdeck next`: the session that needs the person most.

use std::io::Write;

use super::lookup::{board_cards, keep_waiting};
use super::requests::{self, ShortAskIds};
use super::{command_prefix, draw, out::Out, show};
use crate::client::BlockingClient;
use crate::clock;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct NextArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Sort by urgency only, without regard to the prompt cache
    #[arg(long)]
    urgency: bool,
}

/// Exits 1 if no session waits, so that a script can tell.
pub(super) fn run(args: &NextArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let board = board_cards(&mut BlockingClient::connect(paths)?)?;
    let mut cards: Vec<_> = board.iter().collect();
    keep_waiting(&mut cards, args.urgency);
    let first = cards.first().copied();
    if args.json {
        out.json(&first)?;
    } else if let Some(card) = first {
        let others = cards.len() - 1;
        let text = show::lines(out, card, clock::now());
        let requests = requests::lines(card, ShortAskIds::on_board(&board), &command_prefix(paths));
        write!(out, "{text}{requests}")?;
        if others > 0 {
            let line = draw::paint(out, "2", &format!("{others} more: flightdeck ls"));
            writeln!(out, "{line}")?;
        }
    } else {
        writeln!(out, "No session waits for you.")?;
    }
    Ok(u8::from(first.is_none()))
}
