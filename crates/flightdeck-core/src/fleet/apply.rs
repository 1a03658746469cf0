//! [`Fleet::apply`]: one event, after every timer that is due before it.

use std::sync::Arc;

use super::asks::{open_asks, report_asks};
use super::assignments::report_assignment;
use super::effects::Effect;
use super::notes::{wanted_note, watch_note};
use super::processes::{ProcessKey, ProcessesBefore, occupants};
use super::replace::{begins_session, may_take_over};
use super::state::{Fleet, session_mut};
use super::timers::{Timer, Timers};
use crate::ids::{HostId, SessionId};
use crate::limits::{ASK_STAYS, BUSY_AFTER_STOP, QUIET_AFTER, SETTLE, STALE_AFTER};
use crate::log::event::{Event, EventKind};
use crate::log::record::Source;
use crate::session::{HostTerms, Session};
use crate::usage::enrichment::Summary;
use crate::usage::status_line::NewestStatusLine;
use crate::wire::status_line::StatusLineData;

impl Fleet {
    /// Applies one event. Every timer that is due before it runs first, so that the order is the same live and in a replay.
    pub fn apply(&mut self, event: &Event) -> Vec<Effect> {
        let mut effects = self.tick(event.received_at);
        self.last_seq = self.last_seq.max(event.seq);
        if !self.twins.is_second(event) {
            self.apply_to_sessions(event, &mut effects);
            self.apply_to_efforts(event, &mut effects);
        }
        effects
    }

    fn apply_to_sessions(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        self.take_rate_limits(event);
        let heard_at = std::mem::replace(&mut self.heard_at, event.received_at);
        let Some(id) = event.session_id() else { return self.hooks_seen(event, heard_at) };
        // The event is about the effort of the session, and does not change the session's state.
        if matches!(event.kind, EventKind::Effort(_)) {
            return;
        }
        // Nearly every event is of a known session that stays in its process, so its session is looked up only once.
        if may_take_over(event) || !self.apply_to_session(id, event, effects) {
            if !self.sessions.contains_key(id) && !self.discover(id, event, effects) {
                return;
            }
            self.replace_predecessor(id, event, effects);
            self.apply_to_session(id, event, effects);
        }
        self.note_hook_while_away(id, event);
        effects.push(Effect::Changed(id.into()));
    }

    /// Adds the session of an event. Returns `false` for an event that creates no session.
    fn discover(&mut self, id: &SessionId, event: &Event, effects: &mut Vec<Effect>) -> bool {
        // Only hooks, the registry and growing transcripts create sessions. A status line must not: it may arrive before
        // the SessionStart that names the session it replaces.
        let only_data = matches!(event.kind, EventKind::StatusLine(_) | EventKind::TurnMarked(_));
        if only_data || matches!(event.source, Source::User | Source::Process) {
            return false;
        }
        if self.is_of_an_ended_session(id, event) {
            return false;
        }
        self.make_room(effects);
        self.ended.remove(id);
        let owner = self.host_terms.get(&event.host).map(|terms| Box::new(terms.clone()));
        let session = Session { owner, ..Session::new(id.clone(), event) };
        self.sessions.insert(id.clone(), Arc::new(session));
        self.timers.set(event.received_at + STALE_AFTER, id, Timer::Stale);
        effects.push(Effect::Discovered(id.clone()));
        true
    }

    fn take_rate_limits(&mut self, event: &Event) {
        // Another host may use another subscription.
        if event.host.is_this()
            && let EventKind::StatusLine(StatusLineData { rate_limits: Some(limits), .. }) = event.kind
            && (event.envelope.clock_back || self.rate_limits.is_none_or(|(at, _)| at <= event.fired_at))
        {
            self.rate_limits = Some((event.fired_at, limits));
        }
    }

    /// Stores the data from a session's transcripts for its card. It changes no state and is not part of a snapshot.
    pub fn enrich(&mut self, id: &SessionId, summary: Summary) -> Vec<Effect> {
        if self.get(id).is_some_and(|session| session.enrichment.as_deref() == Some(&summary)) {
            return Vec::new();
        }
        let Some(session) = session_mut(&mut self.sessions, id) else { return Vec::new() };
        session.enrichment = Some(Box::new(summary));
        if let Some(expires) = session.cache_expires_at() {
            session.cache_is_cold = expires <= self.now;
            if !session.cache_is_cold {
                self.cooling.set(expires, id, Timer::CacheCold);
            }
        }
        vec![Effect::Changed(id.into())]
    }

    /// Stores what is known about another host on each of its sessions. Like the data of [`Fleet::enrich`], it is not in the log.
    pub fn set_host_terms(&mut self, host: &HostId, terms: &HostTerms) -> Vec<Effect> {
        self.host_terms.insert(host.clone(), terms.clone());
        let differs = |s: &&Session| s.host == *host && s.owner.as_deref() != Some(terms);
        let changed: Vec<SessionId> = self.sessions().filter(differs).map(|s| s.id.clone()).collect();
        for id in &changed {
            if let Some(session) = session_mut(&mut self.sessions, id) {
                session.owner = Some(Box::new(terms.clone()));
            }
        }
        changed.into_iter().map(|id| Effect::Changed(id.into())).collect()
    }

    /// Takes over what another fleet knows about other hosts.
    pub fn take_host_terms(&mut self, other: &Self) {
        for (host, terms) in &other.host_terms {
            // The caller writes every card again.
            let _ = self.set_host_terms(host, terms);
        }
    }

    /// Only a SessionStart or an active registry entry brings back a session that ended and left the board.
    fn is_of_an_ended_session(&self, id: &SessionId, event: &Event) -> bool {
        let Some(ended) = self.ended.get(id) else { return false };
        match &event.kind {
            EventKind::RegistryReported(word) => !word.is_life_after(*ended),
            _ => !begins_session(event),
        }
    }

    /// Returns `false` if the session is not known.
    fn apply_to_session(&mut self, id: &SessionId, event: &Event, effects: &mut Vec<Effect>) -> bool {
        let Some(session) = session_mut(&mut self.sessions, id) else { return false };
        let was_watched = is_watched(session);
        let was_stale = session.stale;
        let was_ended = session.ended_at;
        let wanted = wanted_note(session, &self.settings);
        let sat = ProcessesBefore::new(session);
        let asked = open_asks(session);
        let revision = session.tracker.revision();
        session.apply(event, &self.settings);
        report_assignment(session, revision, effects);
        if report_asks(session, &asked, effects) {
            self.timers.set(event.received_at + ASK_STAYS, id, Timer::AskLeaves);
        }
        set_timer_of_event(&mut self.timers, session, event);
        watch_note(session, wanted, event.received_at, &self.settings, &mut self.timers);
        if is_watched(session) && !was_watched {
            self.timers.set(event.received_at + QUIET_AFTER, id, Timer::Quiet);
        }
        if was_stale && !session.stale {
            self.timers.set(event.received_at + STALE_AFTER, id, Timer::Stale);
        }
        if let Some(ended) = session.ended_at.filter(|ended| Some(*ended) != was_ended) {
            self.timers.set_end(id, ended, event.received_at, self.settings.done_keeps);
        }
        if was_ended.is_some() && session.ended_at.is_none() {
            effects.extend(occupants(session).map(Effect::Seated));
        } else {
            effects.extend(sat.added_since(session).map(Effect::Seated));
        }
        if event.envelope.names_a_place() || session.ended_at != was_ended {
            self.seats.give_seat(session, event.id, event.fired_at);
        }
        if !session.shown.state.is_ended() {
            for process in session.seats().filter_map(ProcessKey::of_seat) {
                // The occupant of a process is replaced only by a start or a newer registry entry: see `replace_predecessor`.
                self.by_process.entry(process).or_insert_with(|| id.clone());
            }
        }
        true
    }
}

/// Whether a timer runs that notices when the session goes quiet.
fn is_watched(session: &Session) -> bool {
    session.shown.state.is_working() && session.quiet_since.is_none()
}

/// Sets the timer that belongs to this kind of event.
fn set_timer_of_event(timers: &mut Timers, session: &Session, event: &Event) {
    let (at, timer) = match event.kind {
        EventKind::RegistryReported(_) => (Some(event.received_at + SETTLE), Timer::Settle),
        EventKind::Stopped { .. } => (Some(event.received_at + BUSY_AFTER_STOP), Timer::AfterStop),
        EventKind::Parked { until } => (until, Timer::Unpark),
        EventKind::StatusLine(_) => {
            (session.status_line.as_ref().and_then(NewestStatusLine::cools_at), Timer::CacheCold)
        }
        _ => return,
    };
    if let Some(at) = at {
        timers.set(at, &session.id, timer);
    }
}
