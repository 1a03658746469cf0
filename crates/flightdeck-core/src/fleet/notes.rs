//! Makes a note about a session that entered a state which the person wants to be notified of, once the state has settled.

use super::effects::Effect;
use super::state::{Fleet, session_mut};
use super::timers::Timer;
use crate::ids::SessionId;
use crate::notify::{Note, NoteKind};
use crate::time::Timestamp;

impl Fleet {
    /// The kind of note that the present state of the session calls for. `None` if it calls for none, or if notes are off.
    pub(super) fn wanted_note(&self, id: &SessionId) -> Option<NoteKind> {
        let rules = self.settings.notify.as_ref()?;
        self.get(id)?.note_kind().filter(|kind| rules.kinds.contains(kind))
    }

    /// Starts the settle time if the session has entered a state with another kind of note. `before` is the result of
    /// [`Self::wanted_note`] before the change.
    pub(super) fn watch_note(&mut self, id: &SessionId, before: Option<NoteKind>, at: Timestamp) {
        let Some(settle) = self.settings.notify.as_ref().map(|rules| rules.settle) else { return };
        let now = self.wanted_note(id);
        if now.is_none() || now == before {
            return;
        }
        if let Some(session) = session_mut(&mut self.sessions, id) {
            session.note.entered_at = Some(at);
            self.timers.set(at + settle, id, Timer::Note);
        }
    }

    /// Called when the settle time is over. If the session re-entered the state meanwhile, or had its last note a moment ago, the
    /// timer is set again. The note is then made later, if the state still lasts.
    pub(super) fn note_settled(&mut self, id: &SessionId, due: Timestamp, effects: &mut Vec<Effect>) {
        let (Some(rules), Some(kind)) = (self.settings.notify.clone(), self.wanted_note(id)) else { return };
        let Some(session) = session_mut(&mut self.sessions, id) else { return };
        let Some(entered) = session.note.entered_at else { return };
        let again = session.note.noted_at.map_or(Timestamp::default(), |at| at + rules.again_after);
        let earliest = (entered + rules.settle).max(again);
        if earliest > due {
            return self.timers.set(earliest, id, Timer::Note);
        }
        session.note.entered_at = None;
        // The person has opened the card or parked the session since.
        if session.seen || session.parked.is_some() {
            return;
        }
        session.note.noted_at = Some(due);
        let since = session.shown.since;
        effects.push(Effect::Notify(Note { kind, session_id: id.clone(), since, at: due }));
    }
}
