//! Queries of the fleet: the occupants of processes, an ask by its id, whether an event says anything new.

use super::processes::{Occupant, occupants};
use super::state::Fleet;
use crate::approval::ask::{Ask, PastAsk};
use crate::ids::AskId;
use crate::ids::SessionId;
use crate::limits::{ENDED_IDS_MAX, GROWTH_COUNTS_AFTER};
use crate::log::event::{Event, EventKind};
use crate::session::Session;
use crate::time::Timestamp;
use crate::wire::status_line::RateLimits;

/// An ask found by its id.
#[derive(Clone, Copy, Debug)]
pub enum FoundAsk<'a> {
    OnCard(&'a Ask),
    Past(&'a PastAsk),
}

impl Fleet {
    /// Remembers a session that ended before the log begins, so that a late hook does not bring it back.
    pub fn remember_ended(&mut self, id: SessionId, at: Timestamp) {
        if self.ended.len() < ENDED_IDS_MAX && !self.sessions.contains_key(&id) {
            self.ended.insert(id, at);
        }
    }
    /// Every session with each of its processes. After a restart the daemon looks for each process again.
    pub fn occupants(&self) -> impl Iterator<Item = Occupant> {
        self.sessions().flat_map(occupants)
    }
    /// An ask by its id, and the session it belongs to.
    pub fn find_ask(&self, id: &AskId) -> Option<(&Session, FoundAsk<'_>)> {
        self.sessions().find_map(|session| {
            let live = session.all_asks().find(|ask| ask.id == *id).map(FoundAsk::OnCard);
            let past = || session.past_asks.iter().find(|ask| ask.id == *id).map(FoundAsk::Past);
            Some((session, live.or_else(past)?))
        })
    }
    /// Asks of this host with a held hook. A restarted daemon no longer holds those hooks and appends an event for each ask.
    pub fn held_asks(&self) -> impl Iterator<Item = (&Session, &Ask)> {
        self.sessions()
            .filter(|s| s.host.is_this())
            .flat_map(|s| s.all_asks().filter(|a| a.is_answerable()).map(move |a| (s, a)))
    }

    /// Whether the event says anything new. An event without news need not be stored.
    pub fn is_news(&self, event: &Event) -> bool {
        if let EventKind::HooksSeen(seen) = event.kind {
            return self.is_news_of_hooks(seen);
        }
        let Some(id) = event.session_id() else { return true };
        let session = self.sessions.get(id);
        match &event.kind {
            EventKind::StatusLine(says) => {
                session.is_some_and(|s| s.status_line.as_ref().is_none_or(|line| line.data != *says))
            }
            EventKind::TurnMarked(mark) => session.is_some_and(|s| s.needs_turn_mark(*mark, event)),
            EventKind::TranscriptGrew => match session {
                None => !self.ended.contains_key(id),
                Some(s) => {
                    let silent = event.fired_at - s.last_activity_at;
                    s.shown.state.is_working() && silent >= GROWTH_COUNTS_AFTER
                }
            },
            _ => true,
        }
    }

    /// The rate limits of the subscription. `None` if no limit is known, or every known limit has been reset since.
    pub fn rate_limits(&self, now: Timestamp) -> Option<RateLimits> {
        self.rate_limits.and_then(|(_, limits)| limits.still_valid_at(now))
    }
}
