//! `flightdeck next`: the session that needs the person most.

use std::io::Write;

use super::lookup::{board_cards, keep_waiting};
use super::requests::{self, ShortAskIds};
use super::wait_counts::WaitCounts;
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
        let others = more(WaitCounts::new(cards.iter().copied().skip(1)));
        let text = show::lines(out, card, clock::now());
        let requests = requests::lines(card, ShortAskIds::on_board(&board), &command_prefix(paths));
        write!(out, "{text}{requests}")?;
        if let Some(others) = others {
            let line = draw::paint(out, "2", &format!("{others}: flightdeck ls"));
            writeln!(out, "{line}")?;
        }
    } else {
        writeln!(out, "No session waits for you.")?;
    }
    Ok(u8::from(first.is_none()))
}

/// `23 more need you, 7 idle`. `None` if no other session waits.
fn more(others: WaitCounts) -> Option<String> {
    let need = match others.need {
        0 => None,
        1 => Some("1 more needs you".to_owned()),
        n => Some(format!("{n} more need you")),
    };
    let parts: Vec<_> = need.into_iter().chain(others.others()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use flightdeck_core::session::state_name::StateName;

    use super::super::tui::tests::fleet::card;
    use super::*;

    #[test]
    fn the_others_are_counted_by_what_they_want() {
        let said = |states: &[StateName]| {
            let cards: Vec<_> = states.iter().map(|state| card("a", *state, "label", 5)).collect();
            more(WaitCounts::new(&cards))
        };
        use StateName::{AwaitingInput, Idle, Interrupted, NeedsPermission};
        let all = [NeedsPermission, AwaitingInput, Interrupted, Idle, Idle];
        assert_eq!(said(&all).as_deref(), Some("2 more need you, 1 interrupted, 2 idle"));
        assert_eq!(said(&all[..1]).as_deref(), Some("1 more needs you"));
        assert_eq!(said(&all[3..]).as_deref(), Some("2 idle"));
        assert_eq!(said(&[]), None);
    }
}
