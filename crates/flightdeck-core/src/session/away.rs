//! Turns whose end no hook could report, because Flightdeck's hooks were not registered.

use super::process::{Process, is_in_a_turn};
use super::registry_view::RegistryView;
use super::state::Session;
use crate::approval::resolution::AskOutcome;
use crate::limits::HOOKS_RELOAD_MAX;
use crate::log::event::Event;
use crate::log::record::Source;
use crate::time::Timestamp;

impl Session {
    /// Whether the shown process works, or waits for the person during work.
    fn is_in_a_turn(&self) -> bool {
        is_in_a_turn(&self.main, &self.children)
    }

    /// Whether any of its processes is in a turn.
    pub(crate) fn has_a_turn(&self) -> bool {
        self.is_in_a_turn() || self.beside.iter().any(Process::is_in_a_turn)
    }

    /// The hooks disappeared: the end of each turn that runs now may not be reported, in whichever process it runs.
    pub(crate) fn hooks_left(&mut self, since: Timestamp) {
        if self.is_in_a_turn() {
            self.main.away_since.get_or_insert(since);
        }
        for process in self.beside.iter_mut().filter(|process| process.is_in_a_turn()) {
            process.main.away_since.get_or_insert(since);
        }
    }

    /// A hook arrived although the settings no longer contain ours. Soon after the removal, the client has not reread its
    /// settings. Later, a project registers our hooks too, and its sessions report every turn.
    pub(crate) fn hook_arrived_while_away(&mut self, since: Timestamp, at: Timestamp) {
        if at <= since + HOOKS_RELOAD_MAX {
            self.hooks_left(since);
        }
    }

    /// A hook about the turn that fired well after the hooks went shows that they are back.
    pub(super) fn hooks_are_back(&mut self, event: &Event) {
        if event.source == Source::Hook
            && event.agent_id.is_none()
            && event.kind.is_about_state()
            && self.main.away_since.is_some_and(|since| event.fired_at > since + HOOKS_RELOAD_MAX)
        {
            self.main.away_since = None;
        }
    }

    /// Whether this turn may have ended without a report. An interrupt marker in the transcript says how it ended.
    pub(super) fn may_have_ended_unreported(&self, view: &RegistryView) -> bool {
        self.main.away_since.is_some() && !self.is_marked_interrupted(view)
    }

    /// The transcript has an interrupt marker from after the turn began, and the turn did not end by itself.
    pub(super) fn is_marked_interrupted(&self, view: &RegistryView) -> bool {
        let began = view.busy_at.max(self.turn.started_at.unwrap_or_default());
        // An Esc while a Stop hook of the person runs is marked too: that turn has ended.
        self.turn.stopped.is_none()
            && began > Timestamp::default()
            && self.turn.interrupted_at.is_some_and(|at| at > began)
            && self.turn.hook_stop.is_none_or(|stop| Some(stop.at) < self.turn.interrupted_at)
    }

    /// How an ask ended that a registry entry closed: "closed while away" if our hooks were away in this turn, otherwise `how`.
    pub(super) fn outcome_unless_away(&self, how: AskOutcome) -> AskOutcome {
        if self.main.away_since.is_some() { AskOutcome::ClosedWhileAway } else { how }
    }
}
