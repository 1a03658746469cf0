//! An effort: one run of a skill that continues over several context windows. `life.rs` applies changes to it, `judge.rs` decides the
//! reply to a hook, and `guard.rs` and `guard_match.rs` contain its rules.

mod brief;
mod change;
pub mod exempt;
pub mod guard;
pub mod guard_match;
mod guard_pattern;
mod judge;
mod life;
mod text;
mod verdict;
mod window;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::brief::EffortBrief;
pub use self::change::{EffortChange, EffortOpening, GivenByVerdict};
use self::guard::GuardRule;
pub use self::judge::{
    Carries, CarriesFiles, GivenText, HEARTBEAT_RULE, HookQuestion, Judged, JudgedCall, JudgedEvent,
};
pub use self::life::{ChangedAt, EffortRefused, WindowStart};
pub use self::text::{
    INJECTED_WITHOUT_FILE_CHARS_MAX, artifact_name, handoff_name, injection_file, log_name,
};
pub use self::verdict::HookVerdict;
pub use self::window::{ContextWindow, WindowEnd};
use crate::ids::{AgentId, EffortId, InjectionId, MessageId, SeatName, SessionId, WindowId};
use crate::limits::HEARTBEAT_LIMIT;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Lifecycle {
    Active,
    Finished,
}

/// A phase that was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Phase {
    pub name: String,
    pub entered_at: Timestamp,
    /// Why the previous phase is complete, in the words of the agent or the person.
    pub proof: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct LogEntry {
    pub at: Timestamp,
    pub text: String,
}

/// Something that happened in an effort, or that was said. `kind` is log, phase, handoff, handoff_delivered, held (by the
/// heartbeat), denial (by a rule), dialogue, failure, todo, signal, injection, finished, or a kind that the sender chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EffortMessage {
    pub id: MessageId,
    pub at: Timestamp,
    pub kind: String,
    pub text: String,
    /// The context window that it belongs to.
    pub window: Option<WindowId>,
}

/// The settings of a skill for its efforts: the key `flightdeck` in the front matter of its SKILL.md.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SkillSettings {
    /// The phases in order.
    pub phases: Vec<SkillPhase>,
    /// Files that every new window is told to read, relative to the workstream.
    pub preload: Vec<String>,
    /// The call with this number is denied if no log entry was written before it; 0 means never.
    pub heartbeat: u32,
    /// A template that shows the agent what a log entry should contain.
    #[serde(alias = "logTemplate")]
    pub log_template: Option<String>,
    /// Names of directive files beside AGENTS.md and CLAUDE.md.
    pub directives: Vec<String>,
}

impl Default for SkillSettings {
    fn default() -> Self {
        Self {
            phases: Vec::new(),
            preload: Vec::new(),
            heartbeat: HEARTBEAT_LIMIT,
            log_template: None,
            directives: Vec::new(),
        }
    }
}

/// A phase of a skill: its name, or its name with directives of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum SkillPhase {
    Name(String),
    WithDirectives { name: String, directives: Vec<String> },
}

impl SkillPhase {
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::WithDirectives { name, .. } => name,
        }
    }
    pub fn directives(&self) -> &[String] {
        match self {
            Self::Name(_) => &[],
            Self::WithDirectives { directives, .. } => directives,
        }
    }
}

/// A text that waits until a hook can give it to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    pub id: InjectionId,
    pub text: String,
    pub at: Timestamp,
}

/// The text that a window leaves for the next window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub from: WindowId,
    /// The number of this handoff within the effort, from 1. It is part of the name of its file.
    pub number: u32,
    pub at: Timestamp,
    pub payload: String,
    /// The window that received it.
    pub to: Option<WindowId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    pub id: EffortId,
    /// The directory of its workstream, a real path.
    pub workstream: String,
    pub title: Option<String>,
    pub skill: String,
    pub mode: Option<String>,
    pub ordinal: u32,
    pub lifecycle: Lifecycle,
    pub seat: Option<SeatName>,
    pub settings: SkillSettings,
    /// What the workstream was about when this effort began. The newest effort of a workstream has its present description.
    #[serde(default)]
    pub about: WorkstreamAbout,
    /// Data of the sender that identifies the effort for the sender.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    pub phases: Vec<Phase>,
    pub windows: VecDeque<ContextWindow>,
    /// Windows of the main agent that are no longer kept.
    pub windows_dropped: u32,
    pub guards: Vec<GuardRule>,
    /// How often each rule denied a call, by the id of the rule. Denials by the heartbeat limit have the key `heartbeat`.
    pub denials: BTreeMap<String, u32>,
    /// The injections that are not delivered yet, oldest first.
    pub injections: VecDeque<Injection>,
    pub log: VecDeque<LogEntry>,
    pub log_entries: u32,
    pub messages: VecDeque<EffortMessage>,
    /// Messages that were added since the fleet last handed them to the store.
    #[serde(skip)]
    pub unsaved: Vec<EffortMessage>,
    pub handoff: Option<Handoff>,
    pub handoffs: u32,
    /// Real paths of directives that were found. Every later window gets them.
    pub directives: Vec<String>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// `seq` of the last event that changed it. A replay over a stored effort skips events up to here.
    pub seq: u64,
}

impl Effort {
    pub fn is_active(&self) -> bool {
        self.lifecycle == Lifecycle::Active
    }

    pub fn phase(&self) -> Option<&Phase> {
        self.phases.last()
    }

    pub fn window(&self, id: &WindowId) -> Option<&ContextWindow> {
        self.windows.iter().find(|window| window.id == *id)
    }

    /// The newest window of the main agent, open or ended.
    pub fn newest_window(&self) -> Option<&ContextWindow> {
        self.windows.iter().rev().find(|window| window.agent_id.is_none())
    }

    /// The newest open window of the main agent of any session.
    pub fn newest_open_window(&self) -> Option<&ContextWindow> {
        self.windows.iter().rev().find(|window| window.agent_id.is_none() && window.ended_at.is_none())
    }

    /// The open window of a session, or of one of its subagents.
    pub fn open_window(&self, session_id: &SessionId, agent_id: Option<&AgentId>) -> Option<&ContextWindow> {
        self.windows
            .iter()
            .rev()
            .find(|window| window.ended_at.is_none() && window.is_of(session_id, agent_id))
    }

    /// The windows with their numbers, from 1. The window of a subagent has none.
    pub fn numbered_windows(&self) -> impl Iterator<Item = (Option<u32>, &ContextWindow)> {
        let mut number = self.windows_dropped;
        self.windows.iter().map(move |window| {
            let is_main = window.agent_id.is_none();
            number += u32::from(is_main);
            (is_main.then_some(number), window)
        })
    }

    /// Whether a call of the main agent with this heartbeat is denied until a log entry.
    pub fn holds_at(&self, heartbeat: u32) -> bool {
        let limit = self.settings.heartbeat;
        limit > 0 && heartbeat >= limit
    }

    /// The folder of its artifacts.
    pub fn artifacts(&self) -> String {
        format!("{}/{ARTIFACTS_FOLDER}", self.workstream.trim_end_matches('/'))
    }
}

/// The folder below a workstream that holds the artifacts of its efforts.
pub const ARTIFACTS_FOLDER: &str = ".flightdeck";

/// What a workstream is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkstreamAbout {
    /// The title of its first effort, unless one was given.
    pub title: Option<String>,
    pub keywords: Vec<String>,
}

impl WorkstreamAbout {
    /// Takes the title and the keywords of `new`, if it has any.
    pub fn update(&mut self, new: &Self) {
        if new.title.is_some() {
            self.title.clone_from(&new.title);
        }
        if !new.keywords.is_empty() {
            self.keywords.clone_from(&new.keywords);
        }
    }
}

/// A directory that has or had efforts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workstream {
    #[serde(flatten)]
    pub about: WorkstreamAbout,
    /// The ordinal of its newest effort.
    pub ordinal: u32,
    /// The newest efforts of the workstream, oldest first.
    pub efforts: VecDeque<EffortId>,
}
