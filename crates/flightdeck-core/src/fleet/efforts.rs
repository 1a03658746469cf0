//! Efforts in the fleet: which one an event belongs to, and what the event does to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effects::Effect;
use super::effort_index::EffortIndex;
use super::state::{Fleet, session_mut};
use crate::effort::{
    ChangedAt, ContextWindow, Effort, EffortBrief, EffortChange, EffortRefused, HookQuestion, Judged,
    WindowEnd, WindowStart, Workstream, WorkstreamAbout,
};
use crate::ids::{AgentId, EffortId, SeatName, SessionId, WindowId};
use crate::limits::{ASSIGNMENT_TITLE_CHARS_MAX, EFFORTS_MAX};
use crate::log::event::{Event, EventKind, Prompter, StartSource, ToolOutcome};
use crate::log::record::{EventId, Source};
use crate::log::subject::Subject;
use crate::text::one_line;

/// Which windows of a session end.
#[derive(Clone, Copy)]
enum Ending<'a> {
    All,
    /// The window of the main agent: its subagents go on.
    Main,
    Agent(&'a AgentId),
    /// The window of the main agent, and those of its subagents on other efforts than this one.
    AllBut(&'a EffortId),
}

/// How an event changed an effort.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touched {
    No,
    /// Only numbers changed. They may be written later, together with the next change of the effort.
    Numbers,
    Yes,
}

impl Fleet {
    pub fn effort(&self, id: &EffortId) -> Option<&Effort> {
        self.efforts.efforts.get(id).map(Arc::as_ref)
    }
    /// Active and lately finished efforts, by id, so the oldest first.
    pub fn efforts(&self) -> impl Iterator<Item = &Effort> {
        self.efforts.efforts.values().map(Arc::as_ref)
    }
    pub fn active_efforts(&self) -> usize {
        self.efforts.active().count()
    }
    pub fn workstreams(&self) -> impl Iterator<Item = (&str, &Workstream)> {
        self.efforts.workstreams.iter().map(|(dir, workstream)| (dir.as_str(), workstream))
    }
    /// The parent of a seat: it gets a message when the seat is idle.
    pub fn parent_of_seat(&self, seat: &SeatName) -> Option<&SeatName> {
        self.efforts.parents.get(seat)
    }
    /// The parent of a seat, and its effort. `None` if the seat has no parent, or the parent no effort.
    pub fn parent_effort(&self, seat: Option<&SeatName>) -> Option<(&SeatName, &Effort)> {
        let parent = self.parent_of_seat(seat?)?;
        Some((parent, self.efforts.applying(Some(parent), None)?))
    }
    /// The effort of a session at this seat and directory.
    pub fn effort_for(&self, seat: Option<&SeatName>, dir: Option<&str>) -> Option<&Effort> {
        self.efforts.applying(seat, dir)
    }
    pub fn effort_of_window(&self, window: &WindowId) -> Option<&Effort> {
        self.efforts().find(|effort| effort.window(window).is_some())
    }
    /// The effort that the session works on now.
    pub fn effort_of_session(&self, id: &SessionId) -> Option<&Effort> {
        self.efforts.of_window(id, None)
    }

    /// Adds a workstream from the store. Its efforts may have left the log and the fleet, but its next effort has the next number.
    pub fn remember_workstream(&mut self, dir: String, ordinal: u32, about: WorkstreamAbout) {
        let workstream = self.efforts.workstreams.entry(dir).or_default();
        if ordinal >= workstream.ordinal {
            workstream.ordinal = ordinal;
            workstream.about.update(&about);
        }
    }

    /// The event that was applied in place of this one, if another one is its twin; else the event itself.
    pub fn applied_instead_of(&self, id: EventId) -> EventId {
        self.twins.applied_instead_of(id)
    }

    /// Adds an effort from the store, whose first events are no longer in the log. The log is replayed over it.
    pub fn remember_effort(&mut self, effort: Effort) {
        self.remember_workstream(effort.workstream.clone(), effort.ordinal, effort.about.clone());
        let workstream = self.efforts.workstreams.entry(effort.workstream.clone()).or_default();
        workstream.efforts.push_back(effort.id.clone());
        self.efforts.efforts.insert(effort.id.clone(), Arc::new(effort));
        self.efforts.make_room();
    }

    /// Checks whether a change of an effort is possible now. Every other event is accepted.
    pub fn check_effort_change(&self, event: &Event) -> Result<(), EffortRefused> {
        match (&event.kind, &event.subject) {
            (EventKind::Effort(change), Subject::Effort(id)) => match change.as_ref() {
                EffortChange::EffortStarted(_) if self.active_efforts() >= EFFORTS_MAX => {
                    Err(EffortRefused::TooManyEfforts(EFFORTS_MAX))
                }
                EffortChange::EffortStarted(_) => Ok(()),
                change => {
                    self.effort(id).ok_or_else(|| EffortRefused::NoEffort(id.clone()))?.check_change(change)
                }
            },
            _ => Ok(()),
        }
    }

    /// The verdict for a hook. `None` if no effort applies; then the hook prints nothing.
    pub fn judge(&self, question: &HookQuestion) -> Option<Judged> {
        let agent = question.agent_id.as_ref();
        let effort = self.efforts.of_window(&question.session_id, agent)?;
        Some(effort.judge(effort.open_window(&question.session_id, agent)?, question, self.now))
    }

    /// Applies an event to the effort that it belongs to. Runs after the event was applied to its session.
    pub(super) fn apply_to_efforts(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        if !self.has_work_for(event) {
            return;
        }
        let key = event.id.to_string();
        let when = ChangedAt { key: &key, seq: event.seq, at: event.fired_at };
        match (&event.kind, &event.subject) {
            (EventKind::Effort(change), subject) => self.change_effort(change, subject, when, effects),
            (_, Subject::Session(session)) => {
                let touched = self.follow_hook(session, event, when);
                touched
                    .into_iter()
                    .for_each(|(id, touched)| self.report_effort(&id, touched, Some(session), effects));
                self.tell_parent(event, when, effects);
            }
            _ => {}
        }
    }

    /// A cheap check before any lookup, because nearly every event belongs to no effort. Efforts of another host are followed there: a
    /// path of that host says nothing about directories of this one.
    fn has_work_for(&self, event: &Event) -> bool {
        match &event.kind {
            _ if !event.host.is_this() => false,
            EventKind::Effort(_) => true,
            EventKind::StatusLine(_) => false,
            EventKind::ProcessGone { .. } => self.efforts.active().next().is_some(),
            _ => event.source == Source::Hook && self.efforts.active().next().is_some(),
        }
    }

    fn change_effort(
        &mut self,
        change: &EffortChange,
        subject: &Subject,
        when: ChangedAt<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let id = match (change, subject) {
            (EffortChange::EffortStarted(opening), Subject::Effort(id)) => {
                // In a replay over stored efforts, the effort of this event may be there already.
                if self.effort(id).is_some() || self.efforts.efforts.len() >= 2 * EFFORTS_MAX {
                    return;
                }
                self.efforts.start(opening, when)
            }
            (EffortChange::SeatParent { seat, parent }, _) => {
                self.efforts.parents.insert(seat.clone(), parent.clone());
                return;
            }
            (EffortChange::VerdictGiven(given), _) => given.effort.clone(),
            (_, Subject::Effort(id)) => id.clone(),
            _ => return,
        };
        let Some(effort) = self.efforts.effort_mut(&id) else { return };
        if !matches!(change, EffortChange::EffortStarted(_)) {
            if when.seq <= effort.seq {
                return;
            }
            effort.apply(change, when);
        }
        self.report_effort(&id, Touched::Yes, None, effects);
        if matches!(change, EffortChange::EffortFinished {}) {
            self.efforts.make_room();
        }
    }

    /// A teammate has nothing to do: the agent of the seat above it is told.
    fn tell_parent(&mut self, event: &Event, when: ChangedAt<'_>, effects: &mut Vec<Effect>) {
        let Some(text) = event.effort.as_deref().and_then(|facts| facts.idle.as_deref()) else { return };
        let above = self.parent_effort(event.envelope.seat.as_ref());
        let Some(id) = above.filter(|(_, effort)| effort.seq < when.seq).map(|(_, effort)| effort.id.clone())
        else {
            return;
        };
        if let Some(effort) = self.efforts.effort_mut(&id) {
            effort.note_idle_teammate(text, when);
        }
        self.report_effort(&id, Touched::Yes, None, effects);
    }

    /// What a hook of a session, or the end of its process, does to efforts.
    fn follow_hook(
        &mut self,
        session: &SessionId,
        event: &Event,
        when: ChangedAt<'_>,
    ) -> Vec<(EffortId, Touched)> {
        let is_live = self.get(session).is_some_and(|s| s.ended_at.is_none());
        if !is_live || matches!(event.kind, EventKind::SessionEnded { .. }) {
            return self.end_session_windows(session, Ending::All, WindowEnd::SessionEnded, when);
        }
        if event.source != Source::Hook {
            return Vec::new();
        }
        let mut touched = Vec::new();
        if matches!(&event.kind, EventKind::SessionStarted { source, .. } if *source != StartSource::Compact)
        {
            touched = self.end_session_windows(session, Ending::All, WindowEnd::Replaced, when);
        }
        if event.effort.as_ref().is_some_and(|facts| facts.auto_compaction) && event.agent_id.is_none() {
            return self.end_session_windows(session, Ending::Main, WindowEnd::Compacted, when);
        }
        let Some(id) = self.effort_for_event(session, event) else {
            if has_left(event) {
                touched.extend(self.end_session_windows(session, Ending::All, WindowEnd::Replaced, when));
            }
            return touched;
        };
        let began = self.ensure_window(&id, session, event, when);
        touched.extend(began);
        let moved = self.move_window(&id, session, event, when);
        touched.push((id, moved));
        touched
    }

    /// The effort of an event. A subagent works on the effort of its parent.
    fn effort_for_event(&self, session: &SessionId, event: &Event) -> Option<EffortId> {
        if event.agent_id.is_some() {
            let parent = self.efforts.of_window(session, None);
            let own = self.efforts.of_window(session, event.agent_id.as_ref());
            return own.or(parent).map(|effort| effort.id.clone());
        }
        let dir = event.envelope.real_dir.as_deref().or(event.envelope.project_dir.as_deref());
        let dir = dir.or(event.facts.cwd.as_deref());
        self.efforts.applying(event.envelope.seat.as_ref(), dir).map(|effort| effort.id.clone())
    }

    /// Begins a window for the agent if it has none: at its start, or if the effort was started after it. A subagent without a window would
    /// be neither counted nor guarded.
    fn ensure_window(
        &mut self,
        id: &EffortId,
        session: &SessionId,
        event: &Event,
        when: ChangedAt<'_>,
    ) -> Vec<(EffortId, Touched)> {
        let agent = event.agent_id.as_ref();
        let wants = match agent {
            Some(_) => matches!(event.kind, EventKind::SubagentStarted | EventKind::ToolStarted(_)),
            None => shows_main_agent(&event.kind),
        };
        let has = self.effort(id).is_some_and(|effort| effort.open_window(session, agent).is_some());
        if !wants || has || self.effort(id).is_some_and(|effort| when.seq <= effort.seq) {
            return Vec::new();
        }
        let ending = agent.map_or(Ending::AllBut(id), Ending::Agent);
        let mut touched = self.end_session_windows(session, ending, WindowEnd::Replaced, when);
        let start = WindowStart {
            id: WindowId::new(format!("w-{}", when.key)),
            session_id: session.clone(),
            agent_id: agent.cloned(),
            at: when.at,
        };
        if let Some(effort) = self.efforts.effort_mut(id) {
            effort.begin_window(start);
            touched.push((id.clone(), Touched::Yes));
        }
        touched
    }

    fn end_session_windows(
        &mut self,
        session: &SessionId,
        ending: Ending<'_>,
        end: WindowEnd,
        when: ChangedAt<'_>,
    ) -> Vec<(EffortId, Touched)> {
        let of = |effort: &EffortId, window: &ContextWindow| {
            let ends = match ending {
                Ending::All => true,
                Ending::Main => window.agent_id.is_none(),
                Ending::Agent(agent) => window.agent_id.as_ref() == Some(agent),
                Ending::AllBut(kept) => window.agent_id.is_none() || effort != kept,
            };
            ends && window.session_id == *session
        };
        let has_one =
            |effort: &&Effort| effort.windows.iter().any(|w| w.ended_at.is_none() && of(&effort.id, w));
        let behind = self.efforts.active().filter(|effort| effort.seq < when.seq);
        let ids: Vec<EffortId> = behind.filter(has_one).map(|effort| effort.id.clone()).collect();
        for id in &ids {
            if let Some(effort) = self.efforts.effort_mut(id) {
                effort.end_windows(end, when.at, |window| of(id, window));
            }
        }
        ids.into_iter().map(|id| (id, Touched::Yes)).collect()
    }

    fn move_window(
        &mut self,
        id: &EffortId,
        session: &SessionId,
        event: &Event,
        when: ChangedAt<'_>,
    ) -> Touched {
        let EffortIndex { efforts, workstreams, .. } = &mut self.efforts;
        let effort = efforts.get_mut(id).map(Arc::make_mut).filter(|effort| effort.seq < when.seq);
        let Some(effort) = effort else { return Touched::No };
        effort.seq = when.seq;
        let agent = event.agent_id.as_ref();
        if event.kind == EventKind::SubagentStopped {
            let ended = agent.is_some_and(|agent| effort.end_subagent(session, agent, when.at));
            return if ended { Touched::Yes } else { Touched::No };
        }
        let Some(window) = effort.window_mut(session, agent) else { return Touched::No };
        let window_id = window.id.clone();
        if let (None, Some(permille)) = (agent, event.envelope.context_permille) {
            window.context_permille = Some(permille);
        }
        let facts = event.effort.as_deref();
        if let Some(file) = facts.and_then(|facts| facts.file.as_deref()) {
            window.load(file);
        }
        match &event.kind {
            EventKind::ToolStarted(tool) if !event.envelope.exempt => {
                window.count_call(tool.id.as_deref());
                Touched::Numbers
            }
            EventKind::ToolEnded { tool, outcome: ToolOutcome::Failed { error } } => {
                effort.add_message("failure", format!("{}: {error}", tool.label()), Some(window_id), when);
                Touched::Yes
            }
            EventKind::ToolEnded { .. } => match facts.and_then(|facts| facts.dialogue.clone()) {
                Some(dialogue) => {
                    effort.add_message("dialogue", dialogue, Some(window_id), when);
                    Touched::Yes
                }
                None => Touched::Numbers,
            },
            EventKind::TodoCompleted { .. } => {
                let todo = facts.and_then(|facts| facts.todo.clone()).unwrap_or_default();
                effort.add_message("todo", todo, Some(window_id), when);
                Touched::Yes
            }
            EventKind::Prompted { text, by: Prompter::Person }
                if effort.title.is_none() && !text.starts_with('/') =>
            {
                let title = one_line(text, ASSIGNMENT_TITLE_CHARS_MAX);
                if let Some(workstream) = workstreams.get_mut(&effort.workstream) {
                    workstream.about.title.get_or_insert_with(|| title.clone());
                    effort.about = workstream.about.clone();
                }
                effort.title = Some(title);
                Touched::Yes
            }
            _ => Touched::Numbers,
        }
    }

    /// Tells the engine what changed, and puts the effort on the cards of its sessions. Numbers that the event of a session changed are
    /// shown only on the card of that session.
    fn report_effort(
        &mut self,
        id: &EffortId,
        touched: Touched,
        by: Option<&SessionId>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(effort) = self.efforts.effort_mut(id) else { return };
        if touched == Touched::No {
            return;
        }
        for message in std::mem::take(&mut effort.unsaved) {
            effects.push(Effect::EffortMessage(id.clone(), Box::new(message)));
        }
        let briefs = briefs(effort, by.filter(|_| touched == Touched::Numbers));
        effects.push(Effect::EffortChanged { id: id.clone(), numbers_only: touched == Touched::Numbers });
        for (session, brief) in briefs {
            let shown = self.sessions.get(&session).map(|session| session.effort.as_ref());
            let of_another = shown.flatten().is_some_and(|shown| shown.id != *id);
            if shown.is_none() || shown == Some(brief.as_ref()) || (brief.is_none() && of_another) {
                continue;
            }
            if let Some(session) = session_mut(&mut self.sessions, &session) {
                session.effort = brief;
            }
            effects.push(Effect::Changed(Subject::Session(session)));
        }
    }
}

/// Events of a main agent that works, which has a window if an effort applies.
fn shows_main_agent(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStarted { .. }
            | EventKind::Prompted { .. }
            | EventKind::ToolStarted(_)
            | EventKind::ToolEnded { .. }
    )
}

/// Whether the main agent of a session works where no effort applies. If its directory could not be looked up, that is not known.
fn has_left(event: &Event) -> bool {
    event.agent_id.is_none() && !event.envelope.dir_unknown && shows_main_agent(&event.kind)
}

/// The newest window of each session, or of one session, as its card shows it. `None` if that window has ended.
fn briefs(effort: &Effort, only: Option<&SessionId>) -> BTreeMap<SessionId, Option<EffortBrief>> {
    let main = effort.numbered_windows().filter_map(|(number, window)| Some((number?, window)));
    let main = main.filter(|(_, window)| only.is_none_or(|only| window.session_id == *only));
    main.map(|(number, window)| {
        let brief = EffortBrief {
            id: effort.id.clone(),
            skill: effort.skill.clone(),
            ordinal: effort.ordinal,
            phase: effort.phase().map(|phase| phase.name.clone()),
            heartbeat: window.heartbeat,
            heartbeat_limit: effort.settings.heartbeat,
            held: effort.holds_at(window.heartbeat),
            window: number,
        };
        (window.session_id.clone(), Some(brief).filter(|_| window.ended_at.is_none()))
    })
    .collect()
}
