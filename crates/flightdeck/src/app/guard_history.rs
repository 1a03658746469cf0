//! The phase and the heartbeat of an effort at each recorded call, for the dry run of guard rules. They are computed from the events that
//! change them, in the same way as the fold computes them.

use std::collections::{HashMap, HashSet};

use flightdeck_core::effort::{Effort, EffortChange};
use flightdeck_core::ids::{AgentId, SessionId, WindowId};
use flightdeck_core::log::effort_facts::EffortFacts;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::wire::lenient::borrowed_text;

/// The calls, and the events that change a phase or a heartbeat.
pub(super) const NAMES: &[&str] = &[
    CALL,
    "SessionStart",
    "SessionEnd",
    "PreCompact",
    "effort_started",
    "phase_entered",
    "effort_logged",
    "effort_dehydrated",
    "window_finished",
];
pub(super) const CALL: &str = "PreToolUse";

/// A window that is open at the present event.
#[derive(Debug)]
struct OpenWindow {
    heartbeat: u32,
    /// The `seq` of the event that opened the window.
    began: u64,
    /// The rules with `once` that have acted, by their places in the list of rules.
    used_up: HashSet<usize>,
}

/// Follows the events, oldest first. A call from before the effort counts as if the effort had existed since its session began.
#[derive(Debug)]
pub(super) struct GuardHistory<'a> {
    effort: &'a Effort,
    /// `None` until the first event has shown which phase applied at that time.
    phase: Option<String>,
    windows: HashMap<(SessionId, Option<AgentId>), OpenWindow>,
}

impl<'a> GuardHistory<'a> {
    pub(super) fn new(effort: &'a Effort) -> Self {
        Self { effort, phase: None, windows: HashMap::new() }
    }

    /// The phase at the newest event that was followed or counted.
    pub(super) fn phase(&self) -> &str {
        self.phase.as_deref().unwrap_or_default()
    }

    /// Counts a call, and returns the heartbeat with it.
    pub(super) fn count(&mut self, record: &Record, session: &SessionId) -> u32 {
        self.find_first_phase(record);
        let key = (session.clone(), record.agent_id.clone());
        let new = OpenWindow { heartbeat: 0, began: record.seq, used_up: HashSet::new() };
        let window = self.windows.entry(key).or_insert(new);
        window.heartbeat += 1;
        window.heartbeat
    }

    /// Whether a rule with `once` may act on a call that was counted: it has not been used up in the window of this call.
    pub(super) fn may_fire(
        &mut self,
        record: &Record,
        session: &SessionId,
        rule: usize,
        uses_up: bool,
    ) -> bool {
        let window = self.windows.get_mut(&(session.clone(), record.agent_id.clone()));
        window.is_none_or(|window| match uses_up {
            true => window.used_up.insert(rule),
            false => !window.used_up.contains(&rule),
        })
    }

    /// Follows an event that is no call.
    pub(super) fn follow(&mut self, record: &Record) {
        self.find_first_phase(record);
        match &record.subject {
            Subject::Effort(id) if *id == self.effort.id => {
                let change = EffortChange::from_record(&record.name, &record.payload);
                change.into_iter().for_each(|change| self.change(change));
            }
            Subject::Session(session) if record.source == Source::Hook => self.follow_hook(session, record),
            _ => {}
        }
    }

    /// Finds the phase of the first event. The events before it may have been removed from the log.
    fn find_first_phase(&mut self, first: &Record) {
        if self.phase.is_none() {
            let before = self.effort.phases.iter().rev().find(|phase| phase.entered_at <= first.fired_at);
            self.phase = Some(before.map(|phase| phase.name.clone()).unwrap_or_default());
        }
    }

    fn follow_hook(&mut self, session: &SessionId, record: &Record) {
        let compacts = || EffortFacts::from_record(record).is_some_and(|facts| facts.auto_compaction);
        match record.name.as_str() {
            "SessionEnd" => self.end_session(session),
            "SessionStart" if borrowed_text(&record.payload, "source") != Some("compact") => {
                self.end_session(session);
            }
            "PreCompact" if record.agent_id.is_none() && compacts() => self.end_window(session, None),
            _ => {}
        }
    }

    fn change(&mut self, change: EffortChange) {
        match change {
            EffortChange::EffortStarted(opening) => {
                self.windows.clear();
                let first = opening.settings.phases.first();
                self.phase = Some(first.map(|phase| phase.name().to_owned()).unwrap_or_default());
            }
            EffortChange::PhaseEntered { phase, .. } => self.phase = Some(phase),
            EffortChange::EffortLogged { session_id, .. } => {
                let session = session_id.filter(|id| self.has_window(id));
                let logs = |id: &SessionId| session.as_ref().is_none_or(|session| id == session);
                let windows = self.windows.iter_mut().filter(|((id, _), _)| logs(id));
                windows.for_each(|(_, window)| window.heartbeat = 0);
            }
            EffortChange::EffortDehydrated { session_id, .. } => {
                let session = session_id.filter(|id| self.has_window(id)).or_else(|| self.newest_session());
                session.into_iter().for_each(|session| self.end_window(&session, None));
            }
            EffortChange::WindowFinished { window, .. } => self.finish_window(&window),
            _ => {}
        }
    }

    /// Whether the main agent of the session has or had a window. The history has only windows with a call, so the effort's are checked too.
    fn has_window(&self, session: &SessionId) -> bool {
        let known = |window: &flightdeck_core::effort::ContextWindow| window.is_of(session, None);
        self.windows.contains_key(&(session.clone(), None)) || self.effort.windows.iter().any(known)
    }

    fn newest_session(&self) -> Option<SessionId> {
        let main = self.windows.iter().filter(|((_, agent), _)| agent.is_none());
        main.max_by_key(|(_, window)| window.began).map(|((session, _), _)| session.clone())
    }

    fn finish_window(&mut self, id: &WindowId) {
        if let Some(window) = self.effort.window(id) {
            let (session, agent) = (window.session_id.clone(), window.agent_id.clone());
            self.end_window(&session, agent);
        }
    }

    fn end_window(&mut self, session: &SessionId, agent: Option<AgentId>) {
        self.windows.remove(&(session.clone(), agent));
    }

    fn end_session(&mut self, session: &SessionId) {
        self.windows.retain(|(id, _), _| id != session);
    }
}
