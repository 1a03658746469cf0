//! A session leaves the board: after its time in Done, or to make room.

use std::sync::Arc;

use super::effects::Effect;
use super::past::PastSession;
use super::state::Fleet;
use crate::approval::card::AskCard;
use crate::ids::SessionId;
use crate::limits::{ENDED_IDS_MAX, FLEET_SESSIONS_MAX, PAST_SESSIONS_MAX};

impl Fleet {
    pub(super) fn forget(&mut self, id: &SessionId, effects: &mut Vec<Effect>) {
        let Some(session) = self.sessions.remove(id) else { return };
        // A session that is dropped to make room may still have a waiting hook.
        effects.extend(session.open_asks().map(|ask| Effect::AskClosed(Box::new(AskCard::new(id, ask)))));
        // A session that is dropped to make room may still have an open assignment: the store keeps it as it is.
        if session.tracker.open().is_some() {
            effects.extend(session.session_assignment().map(|left| Effect::AssignmentLeft(Box::new(left))));
        }
        // Also removes the processes that the session had before it was resumed in another one.
        self.by_process.retain(|_, who| who != id);
        if let Some(past) = PastSession::from_session(&session) {
            if self.past.len() == PAST_SESSIONS_MAX {
                self.past.pop_front();
            }
            self.past.push_back(past);
        }
        // A session that was dropped to make room has not ended: its next event creates it again.
        if let Some(ended) = session.ended_at {
            if self.ended.len() == ENDED_IDS_MAX
                && let Some(oldest) = self.ended.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone())
            {
                self.ended.remove(&oldest);
            }
            self.ended.insert(id.clone(), ended);
        }
        effects.push(Effect::Forgotten(Box::new(Arc::unwrap_or_clone(session))));
    }

    /// At the bound, drops the session that was silent for the longest time, ended ones first.
    pub(super) fn make_room(&mut self, effects: &mut Vec<Effect>) {
        if self.sessions.len() < FLEET_SESSIONS_MAX {
            return;
        }
        let silent = self.sessions().min_by_key(|s| (s.ended_at.is_none(), s.last_activity_at));
        if let Some(id) = silent.map(|s| s.id.clone()) {
            self.forget(&id, effects);
        }
    }
}
