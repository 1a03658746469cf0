//! Carries out the effects of the fold: changes for viewers, processes to watch, hooks to release, and the outbox.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::{EffortId, SessionId};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::subject::Subject;
use flightdeck_core::notify::Note;
use flightdeck_core::session::{RefusedStep, Session, SessionAssignment};
use flightdeck_core::time::Timestamp;
use flightdeck_core::view;
use flightdeck_core::view::assignment::AssignmentCard;
use flightdeck_core::view::pane_status::pane_statuses;
use flightdeck_protocol::changes::ChangeName;

use super::{Engine, outbox};

/// An effect, and the `seq` of the last event that was applied before it. A replay gives both the same values.
#[derive(Debug)]
pub(super) struct CausedEffect {
    pub(super) seq: u64,
    pub(super) effect: Effect,
}

impl CausedEffect {
    pub(super) fn caused_by(seq: u64, effects: Vec<Effect>) -> impl Iterator<Item = Self> {
        effects.into_iter().map(move |effect| Self { seq, effect })
    }
}

/// Applies an event. The timers that are due before it run first. Their effects get the `seq` of the previous event, no matter whether
/// a timer woke the engine or this event did.
pub(super) fn apply(fleet: &mut Fleet, event: &Event) -> impl Iterator<Item = CausedEffect> + use<> {
    let due = tick(fleet, event.received_at);
    due.chain(CausedEffect::caused_by(event.seq, fleet.apply(event)))
}

pub(super) fn tick(fleet: &mut Fleet, now: Timestamp) -> impl Iterator<Item = CausedEffect> + use<> {
    let seq = fleet.last_seq();
    CausedEffect::caused_by(seq, fleet.tick(now))
}

/// The effects of one batch, by what they concern. A session that changed several times is in here once.
#[derive(Debug, Default)]
struct SortedEffects {
    changed: BTreeSet<SessionId>,
    completed: Vec<SessionId>,
    asks: Vec<(ChangeName, Box<AskCard>)>,
    assignments: Vec<SessionAssignment>,
    /// The efforts of which more than numbers changed, with the `seq` of the last change. Each is written once, however often it changed.
    efforts: BTreeMap<EffortId, u64>,
    forgotten: Vec<(u64, Box<Session>)>,
    notes: Vec<(u64, Note)>,
}

impl Engine {
    pub(super) async fn carry_out(&mut self, effects: impl IntoIterator<Item = CausedEffect>) {
        self.carry_out_but_rows(effects);
        self.outbox.flush_if_due(&self.store).await;
    }

    /// The rows for the store stay in the outbox: the caller flushes it.
    pub(super) fn carry_out_but_rows(&mut self, effects: impl IntoIterator<Item = CausedEffect>) {
        let mut sorted = self.sort(effects);
        self.write_changed_efforts(std::mem::take(&mut sorted.efforts));
        self.notify_viewers(&mut sorted);
        let settings = self.fleet.settings();
        self.outbox
            .add(sorted.forgotten.iter().filter_map(|(seq, s)| outbox::past_session_row(*seq, s, settings)));
        sorted.notes.iter().for_each(|(seq, note)| self.outbox.add_note(*seq, note));
    }

    /// Sorts the effects. Effects on a process or a held hook are carried out at once.
    fn sort(&mut self, effects: impl IntoIterator<Item = CausedEffect>) -> SortedEffects {
        let mut sorted = SortedEffects::default();
        for CausedEffect { seq, effect } in effects {
            let row = outbox::final_assignment(&effect);
            self.outbox.add(row.and_then(|row| outbox::assignment_row(seq, row)));
            match effect {
                Effect::Discovered(id) | Effect::Changed(Subject::Session(id)) => {
                    sorted.changed.insert(id);
                }
                // Only sessions have cards so far.
                Effect::Changed(_) => {}
                Effect::Completed(id) => sorted.completed.push(id),
                // In a test no task may watch processes.
                Effect::Seated(occupant) => drop(self.seats.try_send(occupant)),
                Effect::AskOpened(ask) => sorted.asks.push((ChangeName::AskOpened, ask)),
                Effect::AskClosed(ask) => {
                    // An ask that was answered from here: the sender of the answer delivers the verdict.
                    if !ask.resolution.as_ref().is_some_and(|r| r.how.is_ours()) {
                        self.holds.ended_elsewhere(&ask);
                    }
                    sorted.asks.push((ChangeName::AskClosed, ask));
                }
                Effect::AssignmentChanged(changed) => sorted.assignments.push(*changed),
                // The session of the assignment has left the board, so no card can show the assignment.
                Effect::AssignmentLeft(_) => {}
                Effect::EffortChanged { id, numbers_only: true } => drop(self.unstored_efforts.insert(id)),
                Effect::EffortChanged { id, numbers_only: false } => drop(sorted.efforts.insert(id, seq)),
                Effect::EffortMessage(id, message) => {
                    self.outbox.add(outbox::effort_message_row(seq, &id, &message))
                }
                Effect::StepRefused(session, step) => log_refused(&session, &step),
                Effect::Forgotten(session) => sorted.forgotten.push((seq, session)),
                Effect::Notify(note) => sorted.notes.push((seq, note)),
            }
        }
        sorted
    }

    fn notify_viewers(&mut self, sorted: &mut SortedEffects) {
        self.show_in_panes(sorted);
        self.unwritten.append(&mut sorted.changed);
        if self.watched || !sorted.completed.is_empty() {
            self.write_changed_cards();
        }
        for (event, ask) in &sorted.asks {
            self.changes.send_ask(*event, ask);
        }
        let (now, host) = (self.fleet.now(), self.fleet.settings().host.as_deref());
        for changed in &sorted.assignments {
            self.changes.send_assignment(&AssignmentCard::new(changed, now, host));
        }
        // An event of the same batch may have resumed the session: then its card stays.
        let fleet = &self.fleet;
        for id in sorted.completed.iter().filter(|id| fleet.get(id).is_none_or(|s| s.ended_at.is_some())) {
            self.changes.complete(id);
        }
        for (_, session) in sorted.forgotten.iter().filter(|(_, s)| fleet.get(&s.id).is_none()) {
            self.unwritten.remove(&session.id);
            self.changes.remove(&session.id);
            self.transcripts.forget(&session.id);
        }
    }

    fn show_in_panes(&self, sorted: &SortedEffects) {
        if (sorted.changed.is_empty() && sorted.forgotten.is_empty()) || !self.panes.is_wanted() {
            return;
        }
        for id in sorted.changed.iter().chain(sorted.forgotten.iter().map(|(_, session)| &session.id)) {
            self.panes.changed(id, self.fleet.get(id).map(pane_statuses).unwrap_or_default());
        }
    }

    /// Encodes each changed card once, and sends it to the viewers if it differs from the last one sent.
    pub(super) fn write_changed_cards(&mut self) {
        for id in std::mem::take(&mut self.unwritten) {
            let Some(session) = self.fleet.get(&id) else { continue };
            let card = card_json(&self.fleet, &id).unwrap_or_default();
            if view::on_board(session) {
                self.changes.send_card(&id, card);
            } else {
                self.changes.replace(&id, card);
            }
        }
    }
}

fn log_refused(session: &SessionId, step: &RefusedStep) {
    let RefusedStep { assignment, state, actor, intent, reason } = step;
    tracing::debug!(
        %session, %assignment, state = state.as_str(), ?actor, intent = intent.as_str(), %reason,
        "a step of an assignment was refused; the assignment stays as it is"
    );
}

/// `None` if there is no such session.
pub(super) fn card_json(fleet: &Fleet, id: &SessionId) -> Option<Bytes> {
    let card = view::card(fleet.get(id)?, fleet.settings());
    match serde_json::to_vec(&card) {
        Ok(json) => Some(json.into()),
        Err(error) => {
            tracing::error!(%error, session = %id, "a card could not be encoded as JSON; viewers do not get it");
            None
        }
    }
}
