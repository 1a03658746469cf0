//! How an effort changes: by requests of a person or an agent, and when its windows begin and end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::guard::{BadGuard, GuardRule};
use super::judge::HEARTBEAT_RULE;
use super::{
    ContextWindow, Effort, EffortChange, EffortMessage, EffortOpening, GivenByVerdict, Handoff, Injection,
    Lifecycle, LogEntry, Phase, WindowEnd,
};
use crate::ids::{AgentId, EffortId, MessageId, SeatName, SessionId, WindowId};
use crate::limits::{
    DIRECTIVES_MAX, EFFORT_ENDED_WINDOWS_MAX, EFFORT_MESSAGES_MAX, EFFORT_OPEN_WINDOWS_MAX,
    EFFORT_PHASES_MAX, GUARDS_MAX, INJECTIONS_MAX, PRELOADS_MAX,
};
use crate::time::Timestamp;

/// Why a change of an effort is refused. It then changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EffortRefused {
    #[error("there is no effort {0}; `flightdeck effort list` shows all")]
    NoEffort(EffortId),
    #[error("there is no context window {0}; `flightdeck effort show` lists the windows of an effort")]
    NoWindow(WindowId),
    #[error("effort {0} is finished; start another one")]
    Finished(EffortId),
    #[error("context window {0} has ended already")]
    WindowEnded(WindowId),
    #[error("effort {0} is in phase {1:?} already")]
    SamePhase(EffortId, String),
    #[error("effort {0} has no guard rule {1:?}; `flightdeck guard list` shows its rules")]
    NoGuard(EffortId, String),
    #[error("the rule cannot be saved: {0}")]
    Guard(#[from] BadGuard),
    #[error("effort {0} has {1} {2} already, and may not have more")]
    TooMany(EffortId, usize, &'static str),
    #[error("effort {0} belongs to seat \"{1}\"; release it first")]
    Claimed(EffortId, SeatName),
    #[error("effort {0} belongs to no seat")]
    Unclaimed(EffortId),
    #[error("effort {0} belongs to seat \"{1}\", so \"{2}\" cannot release it")]
    OtherSeat(EffortId, SeatName, SeatName),
    #[error("there are {0} efforts already; finish some first")]
    TooManyEfforts(usize),
}

/// The facts with which a window begins.
#[derive(Clone, Debug)]
pub struct WindowStart {
    pub id: WindowId,
    pub session_id: SessionId,
    pub agent_id: Option<AgentId>,
    pub at: Timestamp,
}

/// The event of a change: its id as text, from which the ids of messages and injections are made, its number and its time.
#[derive(Clone, Copy, Debug)]
pub struct ChangedAt<'a> {
    pub key: &'a str,
    pub seq: u64,
    pub at: Timestamp,
}

impl Effort {
    pub fn open(opening: &EffortOpening, ordinal: u32, when: ChangedAt<'_>) -> Self {
        let EffortOpening { workstream, skill, mode, seat, title, settings, about, metadata } =
            opening.clone();
        let first = settings.phases.first().map(|phase| phase.name().to_owned());
        Self {
            id: EffortId::new(format!("e-{}", when.key)),
            workstream,
            title,
            skill,
            mode,
            ordinal,
            lifecycle: Lifecycle::Active,
            seat,
            settings,
            about,
            metadata,
            phases: first.map(|name| Phase { name, entered_at: when.at, proof: None }).into_iter().collect(),
            windows: VecDeque::new(),
            windows_dropped: 0,
            guards: Vec::new(),
            denials: BTreeMap::new(),
            injections: VecDeque::new(),
            log: VecDeque::new(),
            log_entries: 0,
            messages: VecDeque::new(),
            unsaved: Vec::new(),
            handoff: None,
            handoffs: 0,
            directives: Vec::new(),
            started_at: when.at,
            finished_at: None,
            seq: when.seq,
        }
    }

    /// Whether the change is possible now.
    pub fn check_change(&self, change: &EffortChange) -> Result<(), EffortRefused> {
        use EffortChange as C;
        let id = || self.id.clone();
        let full = |count: usize, max: usize, what| {
            if count >= max { Err(EffortRefused::TooMany(id(), max, what)) } else { Ok(()) }
        };
        if !self.is_active() && !matches!(change, C::MessageAppended { .. } | C::VerdictGiven(_)) {
            return Err(EffortRefused::Finished(id()));
        }
        match change {
            C::PhaseEntered { phase, .. } if self.phase().is_some_and(|now| now.name == *phase) => {
                Err(EffortRefused::SamePhase(id(), phase.clone()))
            }
            C::PhaseEntered { .. } => full(self.phases.len(), EFFORT_PHASES_MAX, "phases"),
            C::InjectionAdded { .. } => full(self.injections.len(), INJECTIONS_MAX, "injections that wait"),
            C::PreloadsAdded { files } => {
                let all = self.settings.preload.len() + files.len();
                full(all.saturating_sub(1), PRELOADS_MAX, "files to read")
            }
            C::GuardSet { rule } => {
                rule.validate()?;
                let new = !self.guards.iter().any(|known| known.id == rule.id);
                if new { full(self.guards.len(), GUARDS_MAX, "guard rules") } else { Ok(()) }
            }
            C::GuardRemoved { rule_id } if !self.guards.iter().any(|rule| rule.id == *rule_id) => {
                Err(EffortRefused::NoGuard(id(), rule_id.clone()))
            }
            C::WindowFinished { window, .. } => match self.window(window) {
                None => Err(EffortRefused::NoWindow(window.clone())),
                Some(known) if known.ended_at.is_some() => Err(EffortRefused::WindowEnded(window.clone())),
                Some(_) => Ok(()),
            },
            C::SeatClaimed { seat } => match &self.seat {
                Some(owner) if owner != seat => Err(EffortRefused::Claimed(id(), owner.clone())),
                _ => Ok(()),
            },
            C::SeatReleased { seat } => match (&self.seat, seat) {
                (None, _) => Err(EffortRefused::Unclaimed(id())),
                (Some(owner), Some(seat)) if owner != seat => {
                    Err(EffortRefused::OtherSeat(id(), owner.clone(), seat.clone()))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Applies a change. A change that `check_change` refuses is ignored.
    pub fn apply(&mut self, change: &EffortChange, when: ChangedAt<'_>) {
        if self.check_change(change).is_err() {
            return;
        }
        self.seq = self.seq.max(when.seq);
        match change {
            EffortChange::EffortStarted(_) | EffortChange::SeatParent { .. } => {}
            EffortChange::PhaseEntered { phase, proof } => self.enter(phase, proof.as_deref(), when),
            EffortChange::EffortLogged { text, session_id } => {
                self.add_log_entry(text, session_id.as_ref(), when);
            }
            EffortChange::EffortDehydrated { payload, session_id } => {
                let of_session = session_id.as_ref().and_then(|session| self.open_window(session, None));
                let from = of_session.or_else(|| self.newest_open_window()).map(|window| window.id.clone());
                self.hand_over(from, payload, WindowEnd::Dehydrated, when);
            }
            EffortChange::InjectionAdded { text } => {
                let id = format!("i-{}", when.key).into();
                self.injections.push_back(Injection { id, text: text.clone(), at: when.at });
                self.add_message("injection", text.clone(), None, when);
            }
            EffortChange::PreloadsAdded { files } => self.preload(files),
            EffortChange::DirectivesFound { files } => self.add_directives(files),
            EffortChange::EffortFinished {} => self.finish(when),
            EffortChange::GuardSet { rule } => self.set_guard(rule),
            EffortChange::GuardRemoved { rule_id } => {
                self.guards.retain(|rule| rule.id != *rule_id);
                self.windows.iter_mut().for_each(|window| window.forget_rule(rule_id));
            }
            EffortChange::WindowFinished { window, payload: Some(payload) } => {
                self.hand_over(Some(window.clone()), payload, WindowEnd::Finished, when);
            }
            EffortChange::WindowFinished { window, payload: None } => {
                self.end_windows(WindowEnd::Finished, when.at, |known| known.id == *window);
            }
            EffortChange::MessageAppended { kind, text } => self.add_message(kind, text.clone(), None, when),
            EffortChange::SeatClaimed { seat } => self.seat = Some(seat.clone()),
            EffortChange::SeatReleased { .. } => self.seat = None,
            EffortChange::VerdictGiven(given) => self.record_verdict(given, when),
        }
    }

    /// Adds a guard rule, or replaces the rule with the same id.
    fn set_guard(&mut self, rule: &GuardRule) {
        match self.guards.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => *known = rule.clone(),
            None => self.guards.push(rule.clone()),
        }
        // The sort is stable: rules of the same priority stay in the order in which they were added.
        self.guards.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    }

    fn enter(&mut self, phase: &str, proof: Option<&str>, when: ChangedAt<'_>) {
        let before = self.phase().map_or("start", |phase| &phase.name);
        let proven = proof.map(|proof| format!(". Proof: {proof}")).unwrap_or_default();
        let text = format!("{before} → {phase}{proven}");
        let proof = proof.map(str::to_owned);
        self.phases.push(Phase { name: phase.to_owned(), entered_at: when.at, proof });
        self.add_message("phase", text, None, when);
    }

    /// Adds a log entry and resets the heartbeat of the session that logs. If the session is not given, or has no open window in
    /// this effort, the heartbeats of all windows are reset, because an agent that logged must be able to continue.
    fn add_log_entry(&mut self, text: &str, session_id: Option<&SessionId>, when: ChangedAt<'_>) {
        let window = session_id.and_then(|session| self.open_window(session, None));
        let window = window.map(|window| window.id.clone());
        let session_id = session_id.filter(|_| window.is_some());
        let logs = |window: &&mut ContextWindow| session_id.is_none_or(|id| window.session_id == *id);
        self.windows.iter_mut().filter(logs).for_each(|window| window.heartbeat = 0);
        self.log_entries += 1;
        push_bounded(&mut self.log, LogEntry { at: when.at, text: text.to_owned() });
        self.add_message("log", text.to_owned(), window, when);
    }

    /// Notes that a teammate of this effort's seat has nothing to do. The agent of the effort gets an injection. If the injections are at
    /// their bound, only the message is added.
    pub(crate) fn note_idle_teammate(&mut self, text: &str, when: ChangedAt<'_>) {
        self.seq = self.seq.max(when.seq);
        if self.injections.len() < INJECTIONS_MAX {
            let id = format!("i-{}", when.key).into();
            self.injections.push_back(Injection { id, text: text.to_owned(), at: when.at });
        }
        self.add_message("signal", text.to_owned(), None, when);
    }

    fn hand_over(&mut self, from: Option<WindowId>, payload: &str, end: WindowEnd, when: ChangedAt<'_>) {
        if let Some(id) = &from {
            self.end_windows(end, when.at, |window| window.id == *id);
        }
        self.handoffs += 1;
        let from = from.unwrap_or_default();
        let text = format!("A handoff of {} bytes was left for the next window.", payload.len());
        self.handoff = Some(Handoff {
            from: from.clone(),
            number: self.handoffs,
            at: when.at,
            payload: payload.to_owned(),
            to: None,
        });
        self.add_message("handoff", text, Some(from), when);
    }

    fn preload(&mut self, files: &[String]) {
        let new: Vec<String> = files.iter().filter(|f| !self.settings.preload.contains(f)).cloned().collect();
        self.settings.preload.extend(new);
        let open = self.windows.iter_mut().filter(|w| w.ended_at.is_none() && w.agent_id.is_none());
        for window in open {
            let new =
                files.iter().filter(|file| !window.preloads.contains(file)).cloned().collect::<Vec<_>>();
            window.preloads.extend(new);
        }
    }

    fn add_directives(&mut self, files: &[String]) {
        for file in files {
            if self.directives.len() < DIRECTIVES_MAX && !self.directives.contains(file) {
                self.directives.push(file.clone());
            }
        }
    }

    fn finish(&mut self, when: ChangedAt<'_>) {
        self.end_windows(WindowEnd::EffortFinished, when.at, |_| true);
        self.lifecycle = Lifecycle::Finished;
        self.finished_at = Some(when.at);
        self.add_message("finished", "The effort is finished.".to_owned(), None, when);
    }

    /// Records what a verdict gave to a window, so that it is not given again.
    fn record_verdict(&mut self, given: &GivenByVerdict, when: ChangedAt<'_>) {
        self.injections.retain(|injection| !given.injections.contains(&injection.id));
        let Some(window) = self.windows.iter_mut().find(|window| window.id == given.window) else { return };
        window.introduced |= given.introduced;
        window.warned |= given.warned;
        window.fired.extend(given.rules.iter().chain(&given.owed).chain(&given.allowed_by).cloned());
        let owed = self.guards.iter().filter(|rule| given.owed.contains(&rule.id));
        window.owed.extend(owed.filter_map(|rule| Some((rule.id.clone(), rule.text_for_agent()?))));
        window.owed.retain(|rule, _| !given.messages.contains(rule) && !given.rules.contains(rule));
        if let (Some(rule), Some(call)) = (&given.allowed_by, &given.tool_use_id) {
            window.allowed.insert(rule.clone(), call.clone());
        }
        window.told_directives.extend(given.directives.iter().cloned());
        window.preloads.retain(|file| !given.preloads.contains(file));
        if let Some(rule) = &given.denied_by {
            *self.denials.entry(rule.clone()).or_default() += 1;
            let call = given.call.as_deref().unwrap_or("a call");
            let kind = if rule == HEARTBEAT_RULE { "held" } else { "denial" };
            self.add_message(kind, format!("{rule}: {call}"), Some(given.window.clone()), when);
        }
        if given.handoff {
            self.deliver_handoff(&given.window, when);
        }
    }

    fn deliver_handoff(&mut self, to: &WindowId, when: ChangedAt<'_>) {
        let Some(handoff) = self.handoff.as_mut().filter(|handoff| handoff.to.is_none()) else { return };
        handoff.to = Some(to.clone());
        let from = handoff.from.clone();
        if let Some(window) = self.windows.iter_mut().find(|window| window.id == from) {
            window.handed_over = true;
        }
        self.add_message(
            "handoff_delivered",
            "The handoff reached the next window.".to_owned(),
            Some(to.clone()),
            when,
        );
    }

    /// Begins a window, and ends the open window of the same agent: an agent of a session has one window at a time.
    pub fn begin_window(&mut self, start: WindowStart) {
        let WindowStart { id, session_id, agent_id, at } = start;
        self.end_windows(WindowEnd::Replaced, at, |window| {
            window.session_id == session_id && window.agent_id == agent_id
        });
        let previous = self.newest_window().filter(|_| agent_id.is_none()).map(|window| window.id.clone());
        let preloads = if agent_id.is_none() { self.settings.preload.clone() } else { Vec::new() };
        self.windows.push_back(ContextWindow {
            id,
            session_id,
            agent_id,
            previous,
            heartbeat: 0,
            context_permille: None,
            loaded_files: Vec::new(),
            started_at: at,
            ended_at: None,
            end: None,
            handed_over: false,
            calls: VecDeque::new(),
            fired: BTreeSet::new(),
            allowed: BTreeMap::new(),
            owed: BTreeMap::new(),
            introduced: false,
            warned: false,
            told_directives: BTreeSet::new(),
            preloads,
        });
        self.drop_old_windows();
    }

    /// Keeps windows within their bounds. An open window stays as long as possible, because its heartbeat is still counted.
    fn drop_old_windows(&mut self) {
        while let Some(index) = self.window_to_drop() {
            let dropped = self.windows.remove(index);
            self.windows_dropped += u32::from(dropped.is_some_and(|window| window.agent_id.is_none()));
        }
    }

    /// The window to drop, if there are too many. Ended windows of subagents are dropped first, because the windows of the main agent show
    /// how the effort went.
    fn window_to_drop(&self) -> Option<usize> {
        let is_ended = |window: &ContextWindow| window.ended_at.is_some();
        let ended = self.windows.iter().filter(|window| is_ended(window)).count();
        if ended > EFFORT_ENDED_WINDOWS_MAX {
            let subagent = self.windows.iter().position(|w| is_ended(w) && w.agent_id.is_some());
            return subagent.or_else(|| self.windows.iter().position(is_ended));
        }
        (self.windows.len() - ended > EFFORT_OPEN_WINDOWS_MAX)
            .then(|| self.windows.iter().position(|window| !is_ended(window)))?
    }

    /// Ends the open windows that `of` selects. Returns whether it ended any.
    pub fn end_windows(
        &mut self,
        end: WindowEnd,
        at: Timestamp,
        of: impl Fn(&ContextWindow) -> bool,
    ) -> bool {
        let mut any = false;
        for window in self.windows.iter_mut().filter(|window| window.ended_at.is_none() && of(window)) {
            window.close(end, at);
            any = true;
        }
        any
    }

    /// The open window of a session's main agent, or of its subagent.
    pub fn window_mut(
        &mut self,
        session_id: &SessionId,
        agent_id: Option<&AgentId>,
    ) -> Option<&mut ContextWindow> {
        let mut open = self.windows.iter_mut().rev().filter(|window| window.ended_at.is_none());
        open.find(|window| window.is_of(session_id, agent_id))
    }

    /// Ends the window of a subagent, and adds its loaded files to the window of its parent.
    pub fn end_subagent(&mut self, session_id: &SessionId, agent_id: &AgentId, at: Timestamp) -> bool {
        let Some(child) = self.window_mut(session_id, Some(agent_id)) else { return false };
        child.close(WindowEnd::SubagentStopped, at);
        let files = child.loaded_files.clone();
        if let Some(parent) = self.window_mut(session_id, None) {
            files.iter().for_each(|file| parent.load(file));
        }
        true
    }

    /// Adds a message to the effort. If an event adds several messages, their ids are numbered.
    pub fn add_message(&mut self, kind: &str, text: String, window: Option<WindowId>, when: ChangedAt<'_>) {
        let again =
            self.messages.iter().rev().take_while(|m| m.id.starts_with(&format!("m-{}", when.key))).count();
        let suffix = if again == 0 { String::new() } else { format!("-{again}") };
        let id = MessageId::new(format!("m-{}{suffix}", when.key));
        let message = EffortMessage { id, at: when.at, kind: kind.to_owned(), text, window };
        self.unsaved.push(message.clone());
        push_bounded(&mut self.messages, message);
    }
}

fn push_bounded<T>(list: &mut VecDeque<T>, item: T) {
    list.push_back(item);
    if list.len() > EFFORT_MESSAGES_MAX {
        list.pop_front();
    }
}
