//! Efforts as they go over the wire: whole, and in brief on a card.

use serde::{Deserialize, Serialize};

use super::project::ProjectCard;
use crate::effort::guard::GuardRule;
use crate::effort::{EffortMessage, Lifecycle, LogEntry, Phase, WindowEnd};
use crate::ids::{AgentId, EffortId, SessionId, WindowId};
use crate::time::Timestamp;

/// One run of a skill that outlives context windows. Fields may be added; these names stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Effort"))]
pub struct EffortCard {
    pub id: EffortId,
    /// The directory of its workstream.
    pub workstream: String,
    pub project: ProjectCard,
    /// What it is about: the first prompt of its first window, else the skill.
    pub title: String,
    pub skill: String,
    pub mode: Option<String>,
    /// The how-manieth effort of its workstream.
    pub ordinal: u32,
    pub lifecycle: Lifecycle,
    /// The phase it is in.
    pub phase: Option<String>,
    /// The phases that were entered, oldest first.
    pub phases: Vec<Phase>,
    /// All phases that the skill names, in order; empty if it names none.
    pub planned_phases: Vec<String>,
    /// Calls of the current window since the last log entry.
    pub heartbeat: u32,
    /// At this many calls the next one is denied; 0 means never.
    pub heartbeat_limit: u32,
    /// The seat that it belongs to; only sessions with that `AGENT_ID` work on it.
    pub seat: Option<String>,
    /// Oldest first, windows of subagents too.
    pub windows: Vec<WindowCard>,
    /// Windows that are no longer kept, before the first of `windows`.
    pub windows_dropped: u32,
    pub guards: Vec<GuardRule>,
    /// Calls that were denied, by the heartbeat or by a rule.
    pub denials: Vec<DenialCount>,
    pub pending_injections: u32,
    /// The newest log entries, oldest first.
    pub log: Vec<LogEntry>,
    /// How many entries were logged.
    pub log_entries: u32,
    /// What happened, oldest first: phases, log entries, handoffs, denials.
    pub timeline: Vec<EffortMessage>,
    /// The payload that the last window left, until the next window has it; afterwards the last one that was handed over.
    pub handoff: Option<HandoffCard>,
    /// The folder of its log and handoffs, below the workstream.
    pub artifacts: String,
    /// What its sessions cost together; `None` if no transcript was read.
    pub cost: Option<EffortCost>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WindowCard {
    pub id: WindowId,
    pub session_id: SessionId,
    /// Set for the window of a subagent.
    pub agent_id: Option<AgentId>,
    pub previous: Option<WindowId>,
    pub heartbeat: u32,
    /// How full the context is; for a window that ended, how full it was when it was last known.
    pub context_percent: Option<f64>,
    pub loaded_files: Vec<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end: Option<WindowEnd>,
    /// It left a payload for the next window.
    pub handed_over: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HandoffCard {
    pub from: WindowId,
    pub at: Timestamp,
    pub payload: String,
    /// The window that was given it.
    pub to: Option<WindowId>,
}

/// How often calls were denied. `rule` is `heartbeat` or the id of a guard rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DenialCount {
    pub rule: String,
    pub count: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EffortCost {
    pub usd_micros: u64,
    pub unpriced_models: Vec<String>,
}

/// A lasting container of efforts, named by its directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WorkstreamCard {
    pub dir: String,
    pub project: ProjectCard,
    pub title: Option<String>,
    pub keywords: Vec<String>,
    /// One of its efforts is active.
    pub active: bool,
    pub efforts: Vec<EffortId>,
}
