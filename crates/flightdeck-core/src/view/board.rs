//! Which sessions are on the board.

use super::card::{Card, card};
use crate::fleet::Fleet;
use crate::session::Session;

/// Every card that belongs on the board: live ones, and ended ones still in Done.
pub fn board(fleet: &Fleet) -> Vec<Card> {
    fleet.sessions().filter(|s| on_board(s)).map(|s| card(s, fleet.settings())).collect()
}

/// Whether the session is on the board. A replaced session is not, but can still be found by its id.
pub fn on_board(session: &Session) -> bool {
    session.replaced_by.is_none()
}
