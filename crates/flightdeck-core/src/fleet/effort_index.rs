//! The efforts of the fleet, and which of them belongs to a seat or a directory.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::effort::{ChangedAt, Effort, EffortOpening, Workstream};
use crate::ids::{AgentId, EffortId, SeatName, SessionId};
use crate::limits::{FINISHED_EFFORTS_MAX, WORKSTREAMS_MAX};

/// Every active effort, and those that were finished last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EffortIndex {
    /// Shared with the snapshot that is being written.
    pub(super) efforts: BTreeMap<EffortId, Arc<Effort>>,
    pub(super) workstreams: BTreeMap<String, Workstream>,
    /// The parent of each seat that has one.
    pub(super) parents: BTreeMap<SeatName, SeatName>,
}

impl EffortIndex {
    pub(super) fn active(&self) -> impl Iterator<Item = &Effort> {
        self.efforts.values().map(Arc::as_ref).filter(|effort| effort.is_active())
    }

    /// The effort of a session. A session with a seat works on the effort of that seat, or on none. A session without a seat works on
    /// the newest effort of the nearest directory that belongs to no seat.
    pub(super) fn applying(&self, seat: Option<&SeatName>, dir: Option<&str>) -> Option<&Effort> {
        let newest = |a: &&Effort, b: &&Effort| a.started_at.cmp(&b.started_at).then_with(|| a.id.cmp(&b.id));
        if let Some(seat) = seat {
            return self.active().filter(|effort| effort.seat.as_ref() == Some(seat)).max_by(newest);
        }
        let unclaimed = |dir: &str| {
            let here = self.active().filter(|effort| effort.seat.is_none() && effort.workstream == dir);
            here.max_by(newest)
        };
        ancestors(dir?).find_map(unclaimed)
    }

    pub(super) fn effort_mut(&mut self, id: &EffortId) -> Option<&mut Effort> {
        self.efforts.get_mut(id).map(Arc::make_mut)
    }

    /// The effort that has this open window.
    pub(super) fn of_window(&self, session: &SessionId, agent: Option<&AgentId>) -> Option<&Effort> {
        self.active().find(|effort| effort.open_window(session, agent).is_some())
    }

    pub(super) fn start(&mut self, opening: &EffortOpening, when: ChangedAt<'_>) -> EffortId {
        if self.workstreams.len() >= WORKSTREAMS_MAX && !self.workstreams.contains_key(&opening.workstream) {
            let idle =
                self.workstreams.keys().find(|dir| !self.active().any(|e| e.workstream == **dir)).cloned();
            idle.map(|dir| self.workstreams.remove(&dir));
        }
        let workstream = self.workstreams.entry(opening.workstream.clone()).or_default();
        workstream.ordinal += 1;
        workstream.about.update(&opening.about);
        if workstream.about.title.is_none() {
            workstream.about.title.clone_from(&opening.title);
        }
        let mut effort = Effort::open(opening, workstream.ordinal, when);
        effort.about = workstream.about.clone();
        let id = effort.id.clone();
        workstream.efforts.push_back(id.clone());
        if workstream.efforts.len() > FINISHED_EFFORTS_MAX {
            workstream.efforts.pop_front();
        }
        self.efforts.insert(id.clone(), Arc::new(effort));
        id
    }

    /// Finished efforts above the bound leave the fleet; the store has them.
    pub(super) fn make_room(&mut self) {
        let mut finished: Vec<_> =
            self.efforts.values().filter(|e| !e.is_active()).map(|e| (e.finished_at, e.id.clone())).collect();
        finished.sort();
        for (_, id) in finished.iter().take(finished.len().saturating_sub(FINISHED_EFFORTS_MAX)) {
            self.efforts.remove(id);
        }
    }
}

/// The directory and every one above it, the nearest first.
fn ancestors(dir: &str) -> impl Iterator<Item = &str> {
    let trimmed = if dir.len() > 1 { dir.trim_end_matches('/') } else { dir };
    std::iter::successors(Some(trimmed), |dir| match dir.rfind('/') {
        Some(0) if dir.len() > 1 => Some("/"),
        Some(0) | None => None,
        Some(at) => Some(&dir[..at]),
    })
}
