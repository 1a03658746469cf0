//! Which asks opened or ended while a session changed.

use super::effects::Effect;
use crate::approval::card::AskCard;
use crate::ids::AskId;
use crate::session::Session;

/// The ids of the open asks. Usually none, and then nothing is allocated.
pub(super) fn open_asks(session: &Session) -> Vec<AskId> {
    session.open_asks().map(|ask| ask.id.clone()).collect()
}

/// Reports asks that opened or ended since. Returns whether one ended.
pub(super) fn report_asks(session: &Session, open_before: &[AskId], effects: &mut Vec<Effect>) -> bool {
    let mut ended = false;
    for ask in session.all_asks() {
        let card = || Box::new(AskCard::new(&session.id, ask));
        match (open_before.contains(&ask.id), ask.is_open()) {
            (false, true) => effects.push(Effect::AskOpened(card())),
            (true, false) => {
                effects.push(Effect::AskClosed(card()));
                ended = true;
            }
            _ => {}
        }
    }
    ended
}
