//! [`Fleet::tick`]: runs every timer that is due, at the time it was due.

use super::asks::{open_asks, report_asks};
use super::assignments::report_assignment;
use super::effects::Effect;
use super::notes::{wanted_note, watch_note};
use super::state::{Fleet, session_mut};
use super::timers::Timer;
use crate::ids::SessionId;
use crate::limits::{ASK_STAYS, COMPLETED_AFTER, QUIET_AFTER, STALE_AFTER};
use crate::log::subject::Subject;
use crate::session::Session;
use crate::time::{Millis, Timestamp};

impl Fleet {
    /// Runs every timer due by `now`, each with its own due time.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((due, subject, timer)) = self.timers.pop_due(now) {
            if let Subject::Session(id) = &subject {
                self.run(due, id, timer, &mut effects);
            }
        }
        while let Some((due, subject, _)) = self.cooling.pop_due(now) {
            if let Subject::Session(id) = &subject {
                self.expire_cache(due, id, &mut effects);
            }
        }
        self.now = self.now.max(now);
        effects
    }

    fn run(&mut self, due: Timestamp, id: &SessionId, timer: Timer, effects: &mut Vec<Effect>) {
        match timer {
            Timer::Note => self.note_settled(id, due, effects),
            Timer::Settle | Timer::AfterStop => self.settle(due, id, timer, effects),
            _ => self.run_on_session(due, id, timer, effects),
        }
    }

    /// Runs the only timers that change what a session does.
    fn settle(&mut self, due: Timestamp, id: &SessionId, timer: Timer, effects: &mut Vec<Effect>) {
        let Some(session) = session_mut(&mut self.sessions, id) else { return };
        let before = session.shown.clone();
        let wanted = wanted_note(session, &self.settings);
        let asked = open_asks(session);
        let revision = session.tracker.revision();
        if timer == Timer::Settle {
            session.settle_all(due)
        } else {
            session.settle_all_after_stop(due)
        }
        report_assignment(session, revision, effects);
        if report_asks(session, &asked, effects) {
            self.timers.set(due + ASK_STAYS, id, Timer::AskLeaves);
        }
        watch_note(session, wanted, due, &self.settings, &mut self.timers);
        if session.shown.state.is_working() && !before.state.is_working() {
            self.timers.set(due + QUIET_AFTER, id, Timer::Quiet);
        }
        // A settled registry entry may also have ended subagents or reported a background shell.
        if timer == Timer::Settle || session.shown != before || session.tracker.revision() != revision {
            effects.push(Effect::Changed(id.into()));
        }
    }

    fn run_on_session(&mut self, due: Timestamp, id: &SessionId, timer: Timer, effects: &mut Vec<Effect>) {
        let Some(session) = session_mut(&mut self.sessions, id) else { return };
        match timer {
            Timer::Quiet if session.shown.state.is_working() => {
                let at = session.last_activity_at + QUIET_AFTER;
                if at > due {
                    return self.timers.set(at, id, Timer::Quiet);
                }
                session.quiet_since = Some(session.last_activity_at);
                effects.push(Effect::Changed(id.into()));
            }
            Timer::Quiet => {}
            Timer::Stale => {
                let at = session.last_activity_at + STALE_AFTER;
                if at > due {
                    return self.timers.set(at, id, Timer::Stale);
                }
                session.stale = true;
                effects.push(Effect::Changed(id.into()));
            }
            Timer::Complete if has_been_over(session, due, COMPLETED_AFTER) => {
                effects.push(Effect::Completed(id.clone()));
            }
            Timer::Forget if has_been_over(session, due, self.settings.done_keeps) => {
                self.forget(id, effects)
            }
            Timer::Complete | Timer::Forget | Timer::Settle | Timer::AfterStop | Timer::Note => {}
            Timer::AskLeaves => {
                if session.all_asks_leave(due) {
                    effects.push(Effect::Changed(id.into()));
                }
            }
            Timer::Unpark => {
                if session.parked.take_if(|p| p.until.is_some_and(|until| until <= due)).is_some() {
                    effects.push(Effect::Changed(id.into()));
                }
            }
            Timer::CacheCold => {
                if let Some(line) = &mut session.status_line
                    && line.cools_at().is_some_and(|at| at <= due)
                {
                    line.cache_is_cold = true;
                    effects.push(Effect::Changed(id.into()));
                }
            }
        }
    }

    fn expire_cache(&mut self, due: Timestamp, id: &SessionId, effects: &mut Vec<Effect>) {
        let Some(session) = session_mut(&mut self.sessions, id) else { return };
        // If the cache was used again, a later timer is set for it.
        if !session.cache_is_cold && session.cache_expires_at().is_some_and(|at| at <= due) {
            session.cache_is_cold = true;
            effects.push(Effect::Changed(id.into()));
        }
    }
}

/// Whether the session ended at least `after` before `due`. A session that came back has a later end, or none.
fn has_been_over(session: &Session, due: Timestamp, after: Millis) -> bool {
    session.ended_at.is_some_and(|ended| ended + after <= due)
}
