//! What must hold whatever went wrong, told from what was really written and not from what the daemon believes.

use std::collections::BTreeMap;

use flightdeck_core::board;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::record::EventId;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use serde_json::Value;

use super::world::World;
use crate::restore;
use crate::snapshot::unpack;
use crate::store::faulty::Written;
use crate::store::{Snapshot, Store};

/// Fails with a sentence instead of a panic: planted mistakes are meant to end here.
macro_rules! must {
    ($holds:expr, $($why:tt)*) => {
        if !$holds {
            return Err(format!($($why)*));
        }
    };
}
pub(super) use must;

#[derive(Debug)]
pub(super) struct Truth {
    /// The fold of everything that was ever written; no tick, no snapshot, no restart.
    fleet: Fleet,
    places: BTreeMap<EventId, u64>,
    last_snapshot: Option<Timestamp>,
}

impl Truth {
    pub(super) fn new(rules: Rules) -> Self {
        Self { fleet: Fleet::new(rules), places: BTreeMap::new(), last_snapshot: None }
    }

    pub(super) fn stored(&self) -> u64 {
        self.places.len() as u64
    }

    /// Takes down what was written since, and compares each snapshot with the fold.
    pub(super) fn learn(&mut self, world: &World) -> Result<(), String> {
        for written in world.switch.take_written() {
            match written {
                Written::Events(records) => {
                    for record in &records {
                        let twice = self.places.insert(record.id, record.seq);
                        must!(twice.is_none(), "event {} is in the log twice", record.id);
                        self.fleet.apply(&Event::from_record(record));
                    }
                }
                Written::Snapshot(snapshot) => self.compare(&snapshot)?,
            }
        }
        Ok(())
    }

    fn at(&self, now: Timestamp) -> Fleet {
        let mut fleet = self.fleet.clone();
        fleet.tick(now);
        fleet
    }

    /// Only a snapshot of all that was written can be compared; the others are of a moment before.
    fn compare(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        if snapshot.seq != self.fleet.last_seq() {
            must!(snapshot.seq < self.fleet.last_seq(), "a snapshot holds events that nobody stored");
            return Ok(());
        }
        let saved = unpack(&snapshot.body.whole()).map_err(|e| e.to_string())?;
        self.last_snapshot = Some(saved.now());
        same("the snapshot", &bytes(&self.at(saved.now())), &bytes(&saved))
    }

    /// `board` was asked for just before the daemon stopped in order; its last snapshot tells what time it was there.
    pub(super) fn check_board(&self, board: &[u8]) -> Result<(), String> {
        let now = self.last_snapshot.ok_or("no snapshot was written at the end")?;
        let fleet = self.at(now);
        let board: Value = serde_json::from_slice(board).map_err(|e| e.to_string())?;
        let shown = board["sessions"].as_array().cloned().unwrap_or_default();
        let expected: Vec<Value> = fleet
            .sessions()
            .filter(|s| board::on_board(s))
            .map(|s| serde_json::to_value(board::card(s, fleet.rules())).unwrap_or_default())
            .collect();
        same("the board", &text(&expected), &text(&shown))
    }

    pub(super) fn check_facts(&self, world: &World) -> Result<(), String> {
        let facts = world.facts();
        for (id, seq) in &facts.acknowledged {
            let place = self.places.get(id);
            must!(place.is_some(), "event {id} was acknowledged as {seq} and is lost");
            must!(place == Some(seq), "event {id} was acknowledged as {seq} and lies at {place:?}");
        }
        for id in &facts.spooled {
            must!(self.places.contains_key(id), "event {id} was spooled and is lost");
        }
        for id in &facts.withheld {
            must!(!self.places.contains_key(id), "event {id} was never given whole and is in the log");
        }
        Ok(())
    }

    /// What is stored gives the same fleet: as the next start reads it, and, if nothing was removed, without any snapshot.
    pub(super) async fn check_replay(&self, store: &Store) -> Result<(), String> {
        let restored =
            restore::restore(store, self.fleet.rules().clone()).await.map_err(|e| e.to_string())?;
        let now = restored.fleet.now();
        same("what a start reads", &bytes(&self.at(now)), &bytes(&restored.fleet))?;
        let oldest = store.oldest().await.map_err(|e| e.to_string())?;
        if oldest.is_some_and(|oldest| oldest.seq > 1) {
            return Ok(());
        }
        let mut fleet = Fleet::new(self.fleet.rules().clone());
        let mut replay = store.replay(0).await.map_err(|e| e.to_string())?;
        while let Some(page) = replay.next().await.map_err(|e| e.to_string())? {
            page.records.iter().for_each(|record| drop(fleet.apply(&Event::from_record(record))));
        }
        same("the replay", &bytes(&self.fleet), &bytes(&fleet))
    }
}

fn bytes(fleet: &Fleet) -> Vec<u8> {
    serde_json::to_vec(fleet).unwrap_or_default()
}

pub(super) fn text(cards: &[Value]) -> Vec<u8> {
    serde_json::to_vec(cards).unwrap_or_default()
}

/// Names the place, with a little of what stands there.
pub(super) fn same(what: &str, expected: &[u8], found: &[u8]) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let near = |text: &[u8]| {
        let to = text.len().min(at + 60);
        String::from_utf8_lossy(&text[at.saturating_sub(60).min(to)..to]).into_owned()
    };
    Err(format!(
        "{what} differs from the fold at byte {at}:\n  fold  …{}\n  found …{}",
        near(expected),
        near(found)
    ))
}
