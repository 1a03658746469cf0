//! When Flightdeck's hooks were away, and which sessions worked meanwhile.

use super::state::{Fleet, own};
use crate::ids::SessionId;
use crate::log::event::{Event, EventKind};
use crate::log::hook_presence::HookPresence;
use crate::log::record::Source;
use crate::time::Timestamp;

impl Fleet {
    /// Only a change is news, and their absence only if there is a session that it concerns.
    pub(super) fn is_news_of_hooks(&self, seen: HookPresence) -> bool {
        let known_to_be_away = self.hooks_away_since.is_some();
        match seen.present {
            true => known_to_be_away,
            false => !known_to_be_away && self.sessions().any(|s| !s.main.state.is_ended()),
        }
    }

    /// The daemon saw its hooks appear or disappear. `heard_at`: when the event before this one was received.
    pub(super) fn hooks_seen(&mut self, event: &Event, heard_at: Timestamp) {
        let EventKind::HooksSeen(HookPresence { present, at_start }) = event.kind else { return };
        if present {
            self.hooks_away_since = None;
            return;
        }
        let since = if at_start { heard_at } else { event.fired_at };
        self.hooks_away_since.get_or_insert(since);
        let at_work: Vec<SessionId> =
            self.sessions().filter(|s| s.is_in_a_turn()).map(|s| s.id.clone()).collect();
        for id in at_work {
            if let Some(session) = own(&mut self.sessions, &id) {
                session.hooks_left(since);
            }
        }
    }

    /// A hook of a client that has not read its settings again yet: what follows it will not be reported.
    pub(super) fn note_hook_while_away(&mut self, id: &SessionId, event: &Event) {
        let Some(since) = self.hooks_away_since else { return };
        if event.source == Source::Hook
            && let Some(session) = own(&mut self.sessions, id)
            && session.is_in_a_turn()
        {
            session.heard_while_away(since, event.fired_at);
        }
    }
}
