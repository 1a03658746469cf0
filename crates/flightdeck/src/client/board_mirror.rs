//! A copy of the daemon's board, kept up to date with its changes.

use std::collections::BTreeMap;

use flightdeck_core::ids::SessionId;
use flightdeck_core::view::card::Card;
use flightdeck_protocol::changes::Change;

/// The cards by session id, in the daemon's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardMirror {
    cards: BTreeMap<SessionId, Card>,
    /// Changes were lost; true until the next snapshot.
    stale: bool,
}

impl BoardMirror {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Snapshot(board) => {
                self.cards = board.sessions.into_iter().map(|card| (card.id.clone(), card)).collect();
                self.stale = false;
            }
            Change::SessionDiscovered { session }
            | Change::SessionUpdated { session }
            | Change::SessionCompleted { session } => self.keep_card(*session),
            Change::SessionRemoved { id } => drop(self.cards.remove(id.as_str())),
            Change::Gap {} => self.stale = true,
            // A card has its asks: the daemon sends the card as well.
            Change::AskOpened { .. }
            | Change::AskClosed { .. }
            | Change::AssignmentUpdated { .. }
            | Change::EffortUpdated { .. }
            | Change::Unknown { .. } => {}
        }
    }

    /// A replaced session is sent for the last time and leaves the board.
    fn keep_card(&mut self, card: Card) {
        match card.replaced_by {
            Some(_) => drop(self.cards.remove(&card.id)),
            None => drop(self.cards.insert(card.id.clone(), card)),
        }
    }

    pub fn cards(&self) -> impl ExactSizeIterator<Item = &Card> {
        self.cards.values()
    }

    pub fn card(&self, id: &SessionId) -> Option<&Card> {
        self.cards.get(id)
    }

    /// Whether changes were lost and the snapshot that repairs it has not arrived.
    pub fn is_stale(&self) -> bool {
        self.stale
    }
}
