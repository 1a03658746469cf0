//! `flightdeck next`: the one session to look at now.

use std::io::Write;

use flightdeck_core::board::Card;
use flightdeck_core::lens::Group;

use super::ask::Daemon;
use super::{draw, out::Out, show};
use crate::clock;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct NextArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Most urgent first, whatever the cache
    #[arg(long)]
    urgency: bool,
}

/// Exits 1 where nobody waits, so that a script can tell.
pub(super) fn run(args: &NextArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut cards = Daemon::connect(paths)?.cards()?;
    waiting(&mut cards, args.urgency);
    let first = cards.first();
    if args.json {
        out.json(&first)?;
    } else if let Some(card) = first {
        let others = cards.len() - 1;
        let text = show::lines(out, card, clock::now());
        write!(out, "{text}")?;
        if others > 0 {
            let line = draw::paint(out, "2", &format!("{others} more: flightdeck ls"));
            writeln!(out, "{line}")?;
        }
    } else {
        writeln!(out, "Nobody waits for you.")?;
    }
    Ok(u8::from(first.is_none()))
}

/// Only those that wait for the person, the first to look at in front.
pub(super) fn waiting(cards: &mut Vec<Card>, urgency: bool) {
    cards.retain(|c| c.agent_state.group == Group::NeedsYou);
    cards.sort_by(|a, b| match urgency {
        true => a.rank.urgency.cmp(&b.rank.urgency),
        false => a.rank.default.cmp(&b.rank.default),
    });
}
