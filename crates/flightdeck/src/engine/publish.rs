//! What viewers are told once something was applied.

use std::collections::BTreeSet;

use bytes::Bytes;
use flightdeck_core::board;
use flightdeck_core::fleet::{Effect, Fleet};

use super::Engine;
use crate::changes::{ASK_CLOSED, ASK_OPENED};
use crate::restore;

impl Engine {
    /// Tells viewers what reads differently now: each card once, however many events touched it.
    pub(super) async fn publish(&mut self, effects: Vec<Effect>) {
        let mut changed = BTreeSet::new();
        let mut completed = Vec::new();
        let mut forgotten = Vec::new();
        let mut asks = Vec::new();
        for effect in effects {
            match effect {
                Effect::Discovered(id) | Effect::Changed(id) => drop(changed.insert(id)),
                Effect::Completed(id) => completed.push(id),
                // Nobody watches processes (a replay, a test): then nobody is told.
                Effect::Seated(occupant) => drop(self.seats.try_send(occupant)),
                Effect::AskOpened(ask) => asks.push((ASK_OPENED, ask)),
                Effect::AskClosed(ask) => {
                    let ours = ask.resolution.as_ref().is_some_and(|r| r.how.is_ours());
                    if !ours {
                        self.holds.ended_elsewhere(&ask);
                    }
                    asks.push((ASK_CLOSED, ask));
                }
                Effect::Forgotten(session) => forgotten.push(session),
            }
        }
        self.unseen.append(&mut changed);
        if self.watched || !completed.is_empty() {
            self.catch_up();
        }
        for (event, ask) in asks {
            self.changes.ask(event, &ask);
        }
        // A session may have come back by an event of the same batch that let it go: then its card stays.
        for id in completed.iter().filter(|id| self.fleet.get(id).is_none_or(|s| s.ended_at.is_some())) {
            self.changes.complete(id);
        }
        for session in forgotten.iter().filter(|s| self.fleet.get(&s.id).is_none()) {
            self.unseen.remove(&session.id);
            self.changes.remove(&session.id);
            self.tail.forget(&session.id);
        }
        if !forgotten.is_empty() {
            restore::keep_for_ever(&self.store, &forgotten, self.fleet.rules()).await;
        }
    }

    /// Writes the cards that changed, each once, and tells whoever watches.
    pub(super) fn catch_up(&mut self) {
        for id in std::mem::take(&mut self.unseen) {
            let Some(session) = self.fleet.get(&id) else { continue };
            let card = card_json(&self.fleet, &id).unwrap_or_default();
            if board::on_board(session) {
                self.changes.put(&id, card);
            } else {
                self.changes.replace(&id, card);
            }
        }
    }
}

pub(super) fn replaced(fleet: &Fleet) -> Vec<Bytes> {
    let gone = fleet.sessions().filter(|session| !board::on_board(session));
    gone.filter_map(|session| card_json(fleet, &session.id)).collect()
}

/// `None` if there is no such session.
pub(super) fn card_json(fleet: &Fleet, id: &str) -> Option<Bytes> {
    let card = board::card(fleet.get(id)?, fleet.rules());
    match serde_json::to_vec(&card) {
        Ok(json) => Some(json.into()),
        Err(error) => {
            tracing::error!(%error, session = id, "a card could not be written as JSON");
            None
        }
    }
}
