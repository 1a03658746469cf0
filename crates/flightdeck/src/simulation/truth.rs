//! What must hold under any fault. It is derived from what was written to the disk, not from what the daemon reports.

use flightdeck_core::ids::SessionId;
use std::collections::{BTreeMap, BTreeSet};

use flightdeck_core::effort::Effort;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::AssignmentId;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view;
use serde_json::Value;

use super::world::World;
use crate::engine::restore;
use crate::engine::snapshots::unpack;
use crate::store::faulty::StoreWrite;
use crate::store::{FleetSnapshot, OutboxKey, Store};

/// Returns an error instead of a panic: planted bugs are expected to fail here.
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
    /// The fold of everything that was ever written, without ticks, snapshots or restarts.
    fleet: Fleet,
    places: BTreeMap<EventId, u64>,
    /// Sessions that have left the board: each must have a row.
    past: BTreeSet<SessionId>,
    /// Assignments that were completed: each must have its row, with its messages.
    assignments: BTreeMap<AssignmentId, SessionAssignment>,
    finished: BTreeSet<OutboxKey>,
    last_snapshot: Option<Timestamp>,
}

impl Truth {
    pub(super) fn new(settings: FoldSettings) -> Self {
        let fleet = Fleet::new(settings);
        Self {
            fleet,
            places: BTreeMap::new(),
            past: BTreeSet::new(),
            assignments: BTreeMap::new(),
            finished: BTreeSet::new(),
            last_snapshot: None,
        }
    }

    /// The fold of everything that was written.
    pub(super) fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    pub(super) fn stored(&self) -> u64 {
        self.places.len() as u64
    }

    /// Folds what was written since the last call, and compares each snapshot with the fold.
    pub(super) fn learn(&mut self, world: &World) -> Result<(), String> {
        for written in world.switch.take_written() {
            match written {
                StoreWrite::Events(records) => {
                    for record in &records {
                        let twice = self.places.insert(record.id, record.seq);
                        must!(twice.is_none(), "event {} is in the log twice", record.id);
                        self.apply(record);
                    }
                }
                StoreWrite::Snapshot(snapshot) => self.compare(&snapshot)?,
                StoreWrite::Finished(keys) => {
                    for key in keys {
                        let twice = !self.finished.insert(key.clone());
                        must!(!twice, "{key:?} was carried out twice");
                    }
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, record: &Record) {
        for effect in self.fleet.apply(&Event::from_record(record)) {
            match effect {
                Effect::Forgotten(session) => {
                    self.past.insert(session.id.clone());
                }
                Effect::AssignmentChanged(changed) if !changed.assignment.is_open() => {
                    self.assignments.insert(changed.assignment.id.clone(), *changed);
                }
                _ => {}
            }
        }
    }

    fn fleet_at(&self, now: Timestamp) -> Fleet {
        let mut fleet = self.fleet.clone();
        fleet.tick(now);
        fleet
    }

    /// Only a snapshot of everything that was written can be compared; others are older.
    fn compare(&mut self, snapshot: &FleetSnapshot) -> Result<(), String> {
        if snapshot.seq != self.fleet.last_seq() {
            must!(snapshot.seq < self.fleet.last_seq(), "a snapshot holds events that were never stored");
            return Ok(());
        }
        let saved = unpack(&snapshot.body.joined()).map_err(|e| e.to_string())?;
        self.last_snapshot = Some(saved.now());
        compare_bytes("the snapshot", &bytes(&self.fleet_at(saved.now())), &bytes(&saved))
    }

    /// `board` was requested just before a clean stop. The last snapshot has the time at which it was taken.
    pub(super) fn check_board(&self, board: &[u8]) -> Result<(), String> {
        let now = self.last_snapshot.ok_or("no snapshot was written at the end")?;
        let fleet = self.fleet_at(now);
        let board: Value = serde_json::from_slice(board).map_err(|e| e.to_string())?;
        let shown = board["sessions"].as_array().cloned().unwrap_or_default();
        let expected: Vec<Value> = fleet
            .sessions()
            .filter(|s| view::on_board(s))
            .map(|s| serde_json::to_value(view::card(s, fleet.settings())).unwrap_or_default())
            .collect();
        compare_bytes("the board", &cards_as_bytes(&expected), &cards_as_bytes(&shown))
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
            must!(!self.places.contains_key(id), "event {id} was never sent completely and is in the log");
        }
        Ok(())
    }

    /// The stored data gives the same fleet: from the snapshot, and from the whole log if nothing was removed.
    pub(super) async fn check_replay(&self, store: &Store) -> Result<(), String> {
        let restored =
            restore::restore(store, self.fleet.settings().clone()).await.map_err(|e| e.to_string())?;
        let now = restored.fleet.now();
        compare_bytes("what a start reads", &bytes(&self.fleet_at(now)), &bytes(&restored.fleet))?;
        for id in &self.past {
            let row = store.stored_session(id).await.map_err(|e| e.to_string())?;
            must!(row.is_some(), "session {id} left the board and has no row");
        }
        self.check_assignments(store).await?;
        self.check_efforts(store).await?;
        let oldest = store.oldest().await.map_err(|e| e.to_string())?;
        if oldest.is_some_and(|oldest| oldest.seq > 1) {
            return Ok(());
        }
        let mut fleet = Fleet::new(self.fleet.settings().clone());
        let mut replay = store.replay(0).await.map_err(|e| e.to_string())?;
        while let Some(page) = replay.next().await.map_err(|e| e.to_string())? {
            page.records.iter().for_each(|record| drop(fleet.apply(&Event::from_record(record))));
        }
        compare_bytes("the replay", &bytes(&self.fleet), &bytes(&fleet))
    }
}

impl Truth {
    async fn check_assignments(&self, store: &Store) -> Result<(), String> {
        for (id, expected) in &self.assignments {
            let row = store.assignment(id).await.map_err(|e| e.to_string())?;
            let messages = store.messages_of(id).await.map_err(|e| e.to_string())?.unwrap_or_default();
            let row = row.map(|mut row| {
                row.assignment.messages = messages;
                row
            });
            must!(row.as_ref() == Some(expected), "assignment {id} has the row {row:?}, not {expected:?}");
        }
        Ok(())
    }

    async fn check_efforts(&self, store: &Store) -> Result<(), String> {
        for effort in self.fleet.efforts() {
            let row = store.effort(&effort.id).await.map_err(|e| e.to_string())?;
            let id = &effort.id;
            must!(
                row.as_ref().map(json) == Some(json(effort)),
                "effort {id} has the row {row:?}, not {effort:?}"
            );
        }
        Ok(())
    }
}

fn json(effort: &Effort) -> String {
    serde_json::to_string(effort).unwrap_or_default()
}

fn bytes(fleet: &Fleet) -> Vec<u8> {
    serde_json::to_vec(fleet).unwrap_or_default()
}

pub(super) fn cards_as_bytes(cards: &[Value]) -> Vec<u8> {
    serde_json::to_vec(cards).unwrap_or_default()
}

/// Names the first difference, with some of the text around it.
pub(super) fn compare_bytes(what: &str, expected: &[u8], found: &[u8]) -> Result<(), String> {
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
