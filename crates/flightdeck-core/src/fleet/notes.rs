//! Makes a note about a session that entered a state which the person wants to be notified of, once the state has settled.

use super::effects::Effect;
use super::state::{Fleet, session_mut};
use super::timers::{Timer, Timers};
use crate::ids::SessionId;
use crate::notify::{Note, NoteKind};
use crate::rules::FoldSettings;
use crate::session::Session;
use crate::time::Timestamp;

/// The kind of note that the present state of the session calls for. `None` if it calls for none, or if notes are off.
pub(super) fn wanted_note(session: &Session, settings: &FoldSettings) -> Option<NoteKind> {
    let rules = settings.notify.as_ref()?;
    session.note_kind().filter(|kind| rules.kinds.contains(kind))
}

/// Starts the settle time if the session has entered a state with another kind of note. `before` is the result of [`wanted_note`]
/// before the change.
pub(super) fn watch_note(
    session: &mut Session,
    before: Option<NoteKind>,
    at: Timestamp,
    settings: &FoldSettings,
    timers: &mut Timers,
) {
    let Some(rules) = &settings.notify else { return };
    let now = wanted_note(session, settings);
    if now.is_some() && now != before {
        session.note.entered_at = Some(at);
        timers.set(at + rules.settle, &session.id, Timer::Note);
    }
}

impl Fleet {
    /// Called when the settle time is over. If the session re-entered the state meanwhile, or had its last note a moment ago, the
    /// timer is set again. The note is then made later, if the state still lasts.
    pub(super) fn note_settled(&mut self, id: &SessionId, due: Timestamp, effects: &mut Vec<Effect>) {
        let Some(rules) = &self.settings.notify else { return };
        let Some(session) = session_mut(&mut self.sessions, id) else { return };
        let Some(kind) = wanted_note(session, &self.settings) else { return };
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
