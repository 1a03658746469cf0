//! One session takes over the process of another.

use super::asks::{open_asks, report_asks};
use super::assignments::report_assignment;
use super::effects::Effect;
use super::processes::ProcessKey;
use super::state::{Fleet, session_mut};
use super::timers::Timer;
use crate::ids::SessionId;
use crate::limits::ASK_STAYS;
use crate::log::event::{EndReason, Event, EventKind, StartSource};
use crate::rules::Rule;

impl Fleet {
    /// `/clear` and in-app `/resume`: another session begins in the same process. Its card replaces the old one.
    pub(super) fn replace_predecessor(&mut self, id: &SessionId, event: &Event, effects: &mut Vec<Effect>) {
        if !may_take_over(event) {
            return;
        }
        let (Some(pid), Some(start)) = (event.envelope.pid, event.envelope.proc_start.as_ref()) else {
            return;
        };
        let process = ProcessKey::new(&event.host, pid, start);
        // A session that only other processes hold has left this one, so it is not ended.
        let occupant = self.by_process.get(&process).and_then(|id| self.get(id));
        let seat = occupant.and_then(|old| process.seat_in(old));
        let takes_over = match (&event.kind, seat) {
            // A process has one registry file, so its content is newer than any earlier entry, even if the clock disagrees.
            (EventKind::RegistryReported(_), Some(old)) if old.process_seen_in_registry => true,
            // The file may have been read just before the hook of the new session arrived.
            (EventKind::RegistryReported(_), Some(old)) => event.fired_at > old.process_seen_at,
            (EventKind::RegistryReported(_), None) => true,
            // A spooled start does not end a session that sat down later. After the clock was set back the times cannot be
            // compared.
            (_, Some(old)) => event.fired_at >= old.process_seen_at || event.envelope.clock_back,
            (_, None) => true,
        };
        if !takes_over {
            return;
        }
        let left = occupant.zip(seat).filter(|(old, _)| old.id != *id);
        let left = left.map(|(old, seat)| (old.id.clone(), seat.clone()));
        self.by_process.insert(process, id.clone());
        let Some((old_id, seat)) = left else { return };
        let Some(old) = session_mut(&mut self.sessions, &old_id) else { return };
        if !old.shown.state.is_ended() {
            let reason = match event.kind {
                EventKind::SessionStarted { source: StartSource::Clear, .. } => EndReason::Clear,
                _ => EndReason::Resume,
            };
            let asked = open_asks(old);
            let revision = old.tracker.revision();
            old.end_process(&seat, reason, Rule::Replaced, event.into());
            report_assignment(old, revision, effects);
            if report_asks(old, &asked, effects) {
                self.timers.set(event.received_at + ASK_STAYS, &old_id, Timer::AskLeaves);
            }
            let Some(ended) = old.ended_at else {
                // Other processes still hold it, so its card stays.
                return effects.push(Effect::Changed(old_id.into()));
            };
            self.seats.free_seats_of(&old_id, event.fired_at);
            self.timers.set_end(&old_id, ended, event.received_at, self.settings.done_keeps);
        }
        old.replaced_by = Some(id.clone());
        if let Some(new) = session_mut(&mut self.sessions, id) {
            new.continues = Some(old_id.clone());
        }
        effects.push(Effect::Changed(old_id.into()));
    }
}

/// Only the start of a session or a registry entry puts a session into a process that another one holds.
pub(super) fn may_take_over(event: &Event) -> bool {
    begins_session(event) || matches!(event.kind, EventKind::RegistryReported(_))
}

pub(super) fn begins_session(event: &Event) -> bool {
    matches!(&event.kind, EventKind::SessionStarted { source, .. } if *source != StartSource::Compact)
}
