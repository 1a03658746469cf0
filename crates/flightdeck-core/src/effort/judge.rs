//! Decides the verdict on a hook of a window. It is a pure function of the effort after the hook's event was applied.

use serde_json::{Map, Value};

use super::guard::{GuardAction, GuardRule};
use super::guard_match::GuardFacts;
use super::{ContextWindow, Effort, GivenByVerdict, Handoff, HookVerdict};
use crate::ids::{AgentId, EffortId, InjectionId, SessionId, WindowId};
use crate::limits::OVERFLOW_PERMILLE;
use crate::time::Timestamp;

/// Rule name of a denial by the heartbeat.
pub const HEARTBEAT_RULE: &str = "heartbeat";

/// The hook events on which an effort may give a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedEvent {
    SessionStart,
    UserPrompt,
    PreToolUse,
    PostToolUse,
    SubagentStart,
}

impl JudgedEvent {
    const ALL: [Self; 5] =
        [Self::SessionStart, Self::UserPrompt, Self::PreToolUse, Self::PostToolUse, Self::SubagentStart];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }

    /// The client's name of the event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPrompt => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::SubagentStart => "SubagentStart",
        }
    }
}

/// What the reply to a hook can carry. Everything else waits for a hook that can carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// The text that introduces the effort, and the handoff with it.
    pub introduction: bool,
    pub injections: bool,
    /// The messages of guard rules that let a call continue.
    pub messages: bool,
    pub files: CarriesFiles,
}

/// How a reply carries files to read and directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriesFiles {
    No,
    ByName,
    ByContent,
}

impl Carries {
    /// The reply to an ordinary hook: the client puts every text into the context of the agent.
    pub const ALL: Self =
        Self { introduction: true, injections: true, messages: true, files: CarriesFiles::ByContent };
    pub const NOTHING: Self =
        Self { introduction: false, injections: false, messages: false, files: CarriesFiles::No };
}

/// A hook that waits for a verdict.
#[derive(Clone, Debug)]
pub struct HookQuestion {
    pub event: JudgedEvent,
    pub session_id: SessionId,
    pub agent_id: Option<AgentId>,
    pub tool_use_id: Option<String>,
    /// `Bash: git push`
    pub call: String,
    pub payload: Map<String, Value>,
    /// Whether the call is exempt: it is neither counted nor denied.
    pub exempt: bool,
    /// What the agent types to run Flightdeck.
    pub program: String,
    pub carries: Carries,
}

/// The verdict, and what must be recorded once the hook has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub effort: EffortId,
    pub window: WindowId,
    pub event: JudgedEvent,
    pub verdict: HookVerdict,
    pub given: GivenByVerdict,
    pub call: JudgedCall,
    /// The use of a rule with `allow` and `once`, and messages that are owed. They are recorded before the reply is written, because the
    /// call also continues if the reply is lost.
    pub before_reply: Option<GivenByVerdict>,
}

impl Judged {
    /// The judgement of a hook as long as nothing is decided: it allows the call and says nothing.
    fn undecided(effort: &Effort, window: &ContextWindow, question: &HookQuestion, now: Timestamp) -> Self {
        let heartbeat = window.heartbeat_of(question.tool_use_id.as_deref());
        Self {
            effort: effort.id.clone(),
            window: window.id.clone(),
            event: question.event,
            verdict: HookVerdict::default(),
            given: GivenByVerdict {
                effort: effort.id.clone(),
                window: window.id.clone(),
                tool_use_id: question.tool_use_id.clone(),
                ..GivenByVerdict::default()
            },
            call: JudgedCall {
                heartbeat,
                context_percent: window.context_percent(),
                overflow: window.context_permille.is_some_and(|permille| permille >= OVERFLOW_PERMILLE),
                preloads: window.preloads.clone(),
                fired_rules: Vec::new(),
                texts: Vec::new(),
                dehydrated: None,
                session_context: effort.session_context(heartbeat, now),
            },
            before_reply: None,
        }
    }

    /// Keeps only the files that are in the reply. The others are given with a later hook.
    pub fn keep_files(&mut self, placed: &[String]) {
        self.given.preloads.retain(|file| placed.contains(file));
        self.given.directives.retain(|file| placed.contains(file));
    }
}

/// Facts about the call, for the reply to a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgedCall {
    pub heartbeat: u32,
    pub context_percent: Option<f64>,
    pub overflow: bool,
    pub preloads: Vec<String>,
    /// The guard rules that fired.
    pub fired_rules: Vec<String>,
    /// Injections and messages of guard rules, as the agent gets them.
    pub texts: Vec<GivenText>,
    pub dehydrated: Option<String>,
    pub session_context: String,
}

/// A text for the agent, with the id by which a repetition is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenText {
    pub id: InjectionId,
    pub text: String,
}

impl Effort {
    /// Judges a hook of this window.
    pub fn judge(&self, window: &ContextWindow, question: &HookQuestion, now: Timestamp) -> Judged {
        let mut judged = Judged::undecided(self, window, question, now);
        match question.event {
            JudgedEvent::SessionStart => self.judge_start(window, question, &mut judged),
            JudgedEvent::UserPrompt => {
                judged.verdict.push(judged.call.session_context.clone());
                self.introduce_late(window, question, &mut judged);
                self.give_waiting(window, question.carries, &mut judged);
            }
            JudgedEvent::PreToolUse => self.judge_call(window, question, &mut judged),
            JudgedEvent::PostToolUse => {
                self.introduce_late(window, question, &mut judged);
                self.give_waiting(window, question.carries, &mut judged);
            }
            JudgedEvent::SubagentStart => {
                judged.verdict.push(self.subagent_start(&question.program, &question.session_id));
                self.give_directives(window, question.carries, &mut judged);
            }
        }
        judged
    }

    fn judge_start(&self, window: &ContextWindow, question: &HookQuestion, judged: &mut Judged) {
        self.introduce(window, question, judged);
        judged.call.dehydrated = self.dehydrated_context(window, question.event);
        self.give_waiting(window, question.carries, judged);
    }

    fn introduce(&self, window: &ContextWindow, question: &HookQuestion, judged: &mut Judged) {
        if !question.carries.introduction
            || !judged.verdict.push(self.window_start(window, question.event, &question.program))
        {
            return;
        }
        judged.given.introduced = true;
        let handoff = self.handoff_for(window, question.event);
        judged.given.handoff = handoff.is_some_and(|handoff| handoff.to.is_none());
    }

    /// The handoff for this window. A session that continues after it left a handoff still has its context. So its handoff waits
    /// for another session, or for a new start of the same session.
    pub(super) fn handoff_for(&self, window: &ContextWindow, event: JudgedEvent) -> Option<&Handoff> {
        self.handoff.as_ref().filter(|handoff| match &handoff.to {
            Some(to) => *to == window.id,
            None => event == JudgedEvent::SessionStart || !self.has_left_handoff(&window.session_id),
        })
    }

    /// Whether this session left the newest handoff, and the handoff still waits for another window.
    pub(super) fn has_left_handoff(&self, session_id: &SessionId) -> bool {
        self.handoff.as_ref().is_some_and(|handoff| {
            let from = self.window(&handoff.from);
            handoff.to.is_none() && from.is_some_and(|from| from.session_id == *session_id)
        })
    }

    /// Introduces the effort to a window that began without an introduction, because the effort was started later or the verdict on the
    /// session's start was lost.
    fn introduce_late(&self, window: &ContextWindow, question: &HookQuestion, judged: &mut Judged) {
        if !window.introduced && window.agent_id.is_none() {
            self.introduce(window, question, judged);
        }
    }

    fn judge_call(&self, window: &ContextWindow, question: &HookQuestion, judged: &mut Judged) {
        if question.exempt {
            return;
        }
        self.warn_of_overflow(window, question, judged);
        let (decided, owed) = self.fire_guards(window, question, judged);
        let is_main = question.agent_id.is_none();
        if let Some(rule) = decided.filter(|rule| rule.then == GuardAction::Deny) {
            let said = rule.message.as_deref().unwrap_or("A guard rule of this effort denies this call.");
            deny(judged, &rule.id, format!("{said} (guard rule {})", rule.id), question);
        } else if is_main && self.holds_at(judged.call.heartbeat) {
            // Only calls of the main agent are denied by the heartbeat, because a subagent may have no tool to log with.
            let reason =
                self.heartbeat_reason(judged.call.heartbeat, &question.program, &question.session_id);
            deny(judged, HEARTBEAT_RULE, reason, question);
        }
        let continues = judged.verdict.deny.is_none();
        let used = decided.filter(|rule| continues && rule.once && !window.fired.contains(&rule.id));
        if used.is_some() || !owed.is_empty() {
            judged.before_reply = Some(GivenByVerdict {
                effort: self.id.clone(),
                window: window.id.clone(),
                tool_use_id: question.tool_use_id.clone(),
                allowed_by: used.map(|rule| rule.id.clone()),
                owed,
                call: Some(question.call.clone()),
                ..GivenByVerdict::default()
            });
        }
    }

    fn warn_of_overflow(&self, window: &ContextWindow, question: &HookQuestion, judged: &mut Judged) {
        let Some(percent) = judged.call.context_percent.filter(|_| judged.call.overflow) else { return };
        let is_due = !window.warned && !self.has_left_handoff(&window.session_id);
        if is_due && question.agent_id.is_none() {
            judged.given.warned =
                judged.verdict.push(self.overflow_warning(percent, &question.program, &question.session_id));
        }
    }

    /// Fires the matching rules in order, until one allows or denies. Returns that rule, and the rules whose message is owed.
    fn fire_guards(
        &self,
        window: &ContextWindow,
        question: &HookQuestion,
        judged: &mut Judged,
    ) -> (Option<&GuardRule>, Vec<String>) {
        let mut owed = Vec::new();
        let facts = GuardFacts {
            payload: &question.payload,
            heartbeat: judged.call.heartbeat,
            context_percent: judged.call.context_percent,
            phase: self.phase().map_or("", |phase| &phase.name),
            project: &self.workstream,
        };
        for rule in &self.guards {
            let spent = rule.once && window.has_spent(&rule.id, question.tool_use_id.as_deref());
            if spent || !rule.when.holds(&facts) {
                continue;
            }
            let told = rule.text_for_agent();
            if told.is_some() && !question.carries.messages {
                judged.call.fired_rules.push(rule.id.clone());
                owed.extend(Some(rule.id.clone()).filter(|id| !window.owed.contains_key(id)));
                continue;
            }
            // If there is no room for the message, the rule fires again at a later call.
            let fired = told.is_none_or(|text| judged.verdict.push(text));
            if fired {
                judged.call.fired_rules.push(rule.id.clone());
            }
            match rule.then {
                GuardAction::Allow => return (Some(rule), owed),
                _ if fired => judged.given.rules.push(rule.id.clone()),
                _ => {}
            }
            if rule.then == GuardAction::Deny {
                return (Some(rule), owed);
            }
        }
        (None, owed)
    }

    /// Adds the messages of guard rules that earlier replies had no field for.
    fn give_owed(&self, window: &ContextWindow, judged: &mut Judged) {
        for (rule, text) in &window.owed {
            if judged.verdict.push(text.clone()) {
                judged.given.messages.push(rule.clone());
                let id = InjectionId::new(format!("rule:{rule}"));
                judged.call.texts.push(GivenText { id, text: text.clone() });
            }
        }
    }

    /// Adds the owed messages, the waiting injections, files to read and directives to the verdict. A subagent gets no injections and no
    /// files to read.
    fn give_waiting(&self, window: &ContextWindow, carries: Carries, judged: &mut Judged) {
        if carries.messages {
            self.give_owed(window, judged);
        }
        self.give_directives(window, carries, judged);
        if window.agent_id.is_some() {
            return;
        }
        if carries.files != CarriesFiles::No {
            judged.verdict.files.extend(window.preloads.iter().cloned());
            judged.given.preloads = window.preloads.clone();
        }
        for injection in self.injections.iter().filter(|_| carries.injections) {
            let Some(text) = self.injection_text(injection, judged.verdict.room()) else { break };
            judged.verdict.push(text.clone());
            judged.given.injections.push(injection.id.clone());
            judged.call.texts.push(GivenText { id: injection.id.clone(), text });
        }
    }

    fn give_directives(&self, window: &ContextWindow, carries: Carries, judged: &mut Judged) {
        if carries.files == CarriesFiles::No {
            return;
        }
        for file in self.all_directives().filter(|file| !window.told_directives.contains(file)) {
            if !judged.given.directives.contains(&file) {
                judged.verdict.files.push(file.clone());
                judged.given.directives.push(file);
            }
        }
    }

    /// The paths of the directives that were found, and of those of the present phase.
    pub fn all_directives(&self) -> impl Iterator<Item = String> {
        let name = self.phase().map(|phase| phase.name.as_str());
        let phase = self.settings.phases.iter().find(|phase| Some(phase.name()) == name);
        let of_phase = phase.map_or(&[][..], |phase| phase.directives());
        self.directives.iter().cloned().chain(of_phase.iter().map(|file| self.path_of(file)))
    }

    /// The path of a file that is named relative to the workstream.
    pub fn path_of(&self, file: &str) -> String {
        match file.strip_prefix("./").unwrap_or(file) {
            absolute if absolute.starts_with('/') => absolute.to_owned(),
            relative => format!("{}/{relative}", self.workstream.trim_end_matches('/')),
        }
    }
}

fn deny(judged: &mut Judged, rule: &str, reason: String, question: &HookQuestion) {
    judged.verdict.deny = Some(reason);
    judged.given.denied_by = Some(rule.to_owned());
    judged.given.call = Some(question.call.clone());
}
