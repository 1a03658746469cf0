//! When a note about a session arises: it entered a state that the person wants to know about, and the state has settled.

use super::effects::Effect;
use super::state::{Fleet, own};
use super::timers::Timer;
use crate::ids::SessionId;
use crate::notify::{Note, NoteKind};
use crate::time::Timestamp;

impl Fleet {
    /// What a note about the session would be about now. `None` also if no notes are wanted.
    pub(super) fn wanted_note(&self, id: &SessionId) -> Option<NoteKind> {
        let rules = self.rules.notify.as_ref()?;
        self.get(id)?.note_kind().filter(|kind| rules.kinds.contains(kind))
    }

    /// Starts the settle time if the session has entered another such state. `before` is what [`Self::wanted_note`] said
    /// before the change.
    pub(super) fn watch_note(&mut self, id: &SessionId, before: Option<NoteKind>, at: Timestamp) {
        let Some(settle) = self.rules.notify.as_ref().map(|rules| rules.settle) else { return };
        let now = self.wanted_note(id);
        if now.is_none() || now == before {
            return;
        }
        if let Some(session) = own(&mut self.sessions, id) {
            session.note.entered_at = Some(at);
            self.timers.set(at + settle, id, Timer::Note);
        }
    }

    /// The settle time is over. If the session re-entered the state meanwhile, or had its last note a moment ago, the note
    /// arises when its time has come, if the state still holds then.
    pub(super) fn note_settled(&mut self, id: &SessionId, due: Timestamp, effects: &mut Vec<Effect>) {
        let (Some(rules), Some(kind)) = (self.rules.notify.clone(), self.wanted_note(id)) else { return };
        let Some(session) = own(&mut self.sessions, id) else { return };
        let Some(entered) = session.note.entered_at else { return };
        let again = session.note.noted_at.map_or(Timestamp::default(), |at| at + rules.again_after);
        let arises = (entered + rules.settle).max(again);
        if arises > due {
            return self.timers.set(arises, id, Timer::Note);
        }
        session.note.entered_at = None;
        // The person has opened the card since, or put it aside.
        if session.seen || session.parked.is_some() {
            return;
        }
        session.note.noted_at = Some(due);
        let since = session.shown.since;
        effects.push(Effect::Notify(Note { kind, session_id: id.clone(), since, at: due }));
    }
}
