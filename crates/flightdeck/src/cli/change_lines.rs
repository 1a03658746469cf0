//! `flightdeck watch`: every change of the board as one line, JSON or a text of your own. Goes on after the daemon restarts.

use std::collections::BTreeSet;
use std::io::Write;

use flightdeck_core::ids::SessionId;
use flightdeck_core::view::card::Card;
use flightdeck_protocol::changes::Change;

use super::card_filter::CardFilter;
use super::lookup::find_session;
use super::out::Out;
use super::template::CardTemplate;
use crate::client::{BlockingClient, BoardMirror, LiveChange, LiveChanges};
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Only this session: the start of its id, its seat or its pid
    session: Option<String>,
    #[command(flatten)]
    filter: CardFilter,
    /// Print a session only when it begins to match the filter; those that match at the start are not printed
    #[arg(long)]
    entered: bool,
    /// Print a text with fields in braces instead of JSON, such as '{project}: {label}'
    #[arg(long)]
    format: Option<CardTemplate>,
}

impl WatchArgs {
    /// Whether only some sessions are wanted. Otherwise every change is printed as the daemon sends it.
    fn selects(&self, only: Option<&SessionId>) -> bool {
        only.is_some() || self.entered || self.format.is_some() || !self.filter.is_empty()
    }
}

/// Runs until the reader of its output is gone.
pub(super) fn run(args: &WatchArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let mut client = BlockingClient::connect(paths)?;
    let only = args.session.as_ref().map(|wanted| find_session(&mut client, wanted)).transpose()?;
    drop(client);
    Out::end_with_reader();
    let mut changes = LiveChanges::new(paths.clone());
    let mut selection = Selection { args, only, board: BoardMirror::default(), matching: None };
    loop {
        match changes.next_change() {
            LiveChange::Disconnected { error, .. } => Out::note(&format!("flightdeck: {error}")),
            LiveChange::Change(_) if !args.selects(selection.only.as_ref()) => {
                writeln!(out, "{}", changes.last_line())?;
            }
            LiveChange::Change(frame) => {
                for card in selection.cards_of_change(frame.change) {
                    print(args, &card, out)?;
                }
            }
        }
        out.flush()?;
    }
}

fn print(args: &WatchArgs, card: &Card, out: &mut Out) -> anyhow::Result<()> {
    match &args.format {
        Some(template) => Ok(writeln!(out, "{}", template.fill(&serde_json::to_value(card)?)?)?),
        None => out.json_line(card),
    }
}

/// What a change is about. The card of a session has its asks and its assignment.
enum Changed {
    Session(SessionId),
    Board,
    Nothing,
}

impl Changed {
    fn concerns(&self, id: &SessionId) -> bool {
        match self {
            Self::Session(changed) => changed == id,
            Self::Board => true,
            Self::Nothing => false,
        }
    }
}

/// The sessions that the person asked for.
struct Selection<'a> {
    args: &'a WatchArgs,
    only: Option<SessionId>,
    board: BoardMirror,
    /// The sessions that matched after the last change; `None` before the first board.
    matching: Option<BTreeSet<SessionId>>,
}

impl Selection<'_> {
    /// The cards to print for a change.
    fn cards_of_change(&mut self, change: Change) -> Vec<Card> {
        let changed = match &change {
            Change::SessionDiscovered { session }
            | Change::SessionUpdated { session }
            | Change::SessionCompleted { session } => Changed::Session(session.id.clone()),
            Change::Snapshot(_) => Changed::Board,
            _ => Changed::Nothing,
        };
        self.board.apply(change);
        let matches = |card: &&Card| {
            self.only.as_ref().is_none_or(|only| *only == card.id) && self.args.filter.lists(card)
        };
        let now: Vec<&Card> = self.board.cards().filter(matches).collect();
        let is_printed = |card: &&&Card| match (&self.matching, self.args.entered) {
            (Some(before), true) => !before.contains(&card.id),
            (None, true) => false,
            (_, false) => changed.concerns(&card.id),
        };
        let printed = now.iter().filter(is_printed).map(|card| (**card).clone()).collect();
        self.matching = Some(now.into_iter().map(|card| card.id.clone()).collect());
        printed
    }
}
