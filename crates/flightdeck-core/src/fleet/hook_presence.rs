//! When Flightdeck's hooks were away, and which sessions worked meanwhile.

use super::state::{Fleet, session_mut};
use crate::ids::{HostId, SessionId};
use crate::log::event::{Event, EventKind};
use crate::log::hook_presence::HookPresence;
use crate::log::record::Source;
use crate::session::Session;
use crate::time::Timestamp;

impl Fleet {
    /// Whether the record changes anything: the hooks returned, or they disappeared while this machine has a live session.
    pub(super) fn is_news_of_hooks(&self, seen: HookPresence) -> bool {
        let known_to_be_away = self.hooks_away_since.is_some();
        match seen.present {
            true => known_to_be_away,
            false => {
                let concerned = |s: &Session| s.host.is_this() && !s.main.state.is_ended();
                !known_to_be_away && self.sessions().any(concerned)
            }
        }
    }

    /// The daemon saw its hooks appear or disappear. `heard_at`: when the event before this one was received.
    pub(super) fn hooks_seen(&mut self, event: &Event, heard_at: Timestamp) {
        let EventKind::HooksSeen(HookPresence { present, at_start }) = event.kind else { return };
        if present {
            self.set_hooks_away(&event.host, None);
            return;
        }
        // `heard_at` is about this daemon. It says nothing about the daemon of another host.
        let since = if at_start && event.host.is_this() { heard_at } else { event.fired_at };
        if self.hooks_away_since(&event.host).is_none() {
            self.set_hooks_away(&event.host, Some(since));
        }
        let at_work = |s: &&Session| s.host == event.host && s.has_a_turn();
        let at_work: Vec<SessionId> = self.sessions().filter(at_work).map(|s| s.id.clone()).collect();
        for id in at_work {
            if let Some(session) = session_mut(&mut self.sessions, &id) {
                session.hooks_left(since);
            }
        }
    }

    fn hooks_away_since(&self, host: &HostId) -> Option<Timestamp> {
        if host.is_this() { self.hooks_away_since } else { self.hooks_away_elsewhere.get(host).copied() }
    }

    fn set_hooks_away(&mut self, host: &HostId, since: Option<Timestamp>) {
        match since {
            _ if host.is_this() => self.hooks_away_since = since,
            Some(since) => drop(self.hooks_away_elsewhere.insert(host.clone(), since)),
            None => drop(self.hooks_away_elsewhere.remove(host)),
        }
    }

    /// A hook of a client that has not read its settings again yet: what follows it will not be reported.
    pub(super) fn note_hook_while_away(&mut self, id: &SessionId, event: &Event) {
        let Some(since) = self.hooks_away_since(&event.host) else { return };
        if event.source == Source::Hook
            && let Some(session) = session_mut(&mut self.sessions, id)
        {
            session.hook_arrived_while_away(since, event.fired_at);
        }
    }
}
