//! Efforts as they go over the wire: whole, and in brief on a card.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::card::context_of;
use super::lens::{FleetStatus, fleet_status};
use super::phase_line::{PhaseStep, phase_line};
use super::project::ProjectCard;
use crate::effort::guard::GuardRule;
use crate::effort::{
    ContextWindow, Effort, EffortMessage, Lifecycle, LogEntry, Phase, WindowEnd, Workstream,
};
use crate::fleet::Fleet;
use crate::ids::{AgentId, EffortId, SeatName, SessionId, WindowId};
use crate::project::Project;
use crate::session::Session;
use crate::session::state_name::StateName;
use crate::time::Timestamp;
use crate::usage::price::Bill;

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
    /// The number of this effort within its workstream, from 1.
    pub ordinal: u32,
    pub lifecycle: Lifecycle,
    /// The phase it is in.
    pub phase: Option<String>,
    /// The phases that were entered, oldest first.
    pub phases: Vec<Phase>,
    /// All phases that the skill names, in order; empty if it names none.
    pub planned_phases: Vec<String>,
    /// Entered and planned phases in one order.
    pub line: Vec<PhaseStep>,
    /// Calls of the current window since the last log entry.
    pub heartbeat: u32,
    /// The call with this number is denied if no log entry was written before it; 0 means never.
    pub heartbeat_limit: u32,
    /// Whether calls of the main agent are denied until a log entry is written.
    pub held: bool,
    /// The seat that it belongs to; only sessions with that `AGENT_ID` work on it.
    pub seat: Option<SeatName>,
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
    /// The newest handoff. `to` is set once the next window has received it.
    pub handoff: Option<HandoffCard>,
    /// The folder of its log and handoffs, below the workstream.
    pub artifacts: String,
    /// What its sessions cost together; `None` if no transcript was read.
    pub cost: Option<EffortCost>,
    /// What the sender of `effort.start` knows it by.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown>"))]
    pub metadata: Map<String, Value>,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WindowCard {
    pub id: WindowId,
    /// From 1; `None` for the window of a subagent, and for a window that is read without its effort.
    pub number: Option<u32>,
    pub session_id: SessionId,
    /// Set for the window of a subagent.
    pub agent_id: Option<AgentId>,
    pub previous: Option<WindowId>,
    pub heartbeat: u32,
    /// How full the context is. For a window that ended, the last known value.
    pub context_percent: Option<f64>,
    pub loaded_files: Vec<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end: Option<WindowEnd>,
    /// Whether the next window received the handoff of this one.
    pub handed_over: bool,
    /// The handoff that this window left, if no later handoff exists. Only `window.show` and `window.list` set it. Files have the earlier
    /// handoffs.
    #[serde(default)]
    pub dehydration_payload: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HandoffCard {
    pub from: WindowId,
    pub at: Timestamp,
    pub payload: String,
    /// The window that received it.
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

/// A directory that has or had efforts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WorkstreamCard {
    pub dir: String,
    pub project: ProjectCard,
    /// The title of its first effort, unless `effort.start` gave it one.
    pub title: Option<String>,
    pub keywords: Vec<String>,
    /// Whether one of its efforts is active.
    pub active: bool,
    pub efforts: Vec<EffortId>,
}

impl EffortCost {
    pub fn from_bill(bill: &Bill) -> Self {
        Self { usd_micros: bill.total.micros(), unpriced_models: bill.unpriced.clone() }
    }
}

impl EffortCard {
    /// `fleet` knows how full the windows of live sessions are. It is `None` for an effort that is only in the store.
    pub fn new(effort: &Effort, fleet: Option<&Fleet>) -> Self {
        let current = effort.newest_window().filter(|window| window.ended_at.is_none());
        let handoff = effort.handoff.as_ref().map(|handoff| HandoffCard {
            from: handoff.from.clone(),
            at: handoff.at,
            payload: handoff.payload.clone(),
            to: handoff.to.clone(),
        });
        let planned_phases: Vec<String> =
            effort.settings.phases.iter().map(|phase| phase.name().to_owned()).collect();
        let windows = effort
            .numbered_windows()
            .map(|(number, window)| WindowCard { number, ..WindowCard::new(window, fleet) });
        let denials =
            effort.denials.iter().map(|(rule, count)| DenialCount { rule: rule.clone(), count: *count });
        Self {
            id: effort.id.clone(),
            workstream: effort.workstream.clone(),
            project: project(&effort.workstream),
            title: effort.title.clone().unwrap_or_else(|| format!("{} {}", effort.skill, effort.ordinal)),
            skill: effort.skill.clone(),
            mode: effort.mode.clone(),
            ordinal: effort.ordinal,
            lifecycle: effort.lifecycle,
            phase: effort.phase().map(|phase| phase.name.clone()),
            phases: effort.phases.clone(),
            line: phase_line(&effort.phases, &planned_phases, effort.finished_at),
            planned_phases,
            heartbeat: current.map_or(0, |window| window.heartbeat),
            heartbeat_limit: effort.settings.heartbeat,
            held: current.is_some_and(|window| effort.holds_at(window.heartbeat)),
            seat: effort.seat.clone(),
            windows: windows.collect(),
            windows_dropped: effort.windows_dropped,
            guards: effort.guards.clone(),
            denials: denials.collect(),
            pending_injections: effort.injections.len() as u32,
            log: effort.log.iter().cloned().collect(),
            log_entries: effort.log_entries,
            timeline: effort.messages.iter().cloned().collect(),
            handoff,
            artifacts: effort.artifacts(),
            cost: None,
            metadata: effort.metadata.clone(),
            started_at: effort.started_at,
            finished_at: effort.finished_at,
        }
    }
}

impl WindowCard {
    pub fn new(window: &ContextWindow, fleet: Option<&Fleet>) -> Self {
        let live = fleet.filter(|_| window.ended_at.is_none() && window.agent_id.is_none());
        let session = live.and_then(|fleet| fleet.get(&window.session_id));
        let percent = session.and_then(context_of).and_then(|context| context.percent);
        Self {
            id: window.id.clone(),
            number: None,
            session_id: window.session_id.clone(),
            agent_id: window.agent_id.clone(),
            previous: window.previous.clone(),
            heartbeat: window.heartbeat,
            context_percent: percent.or_else(|| window.context_percent()),
            loaded_files: window.loaded_files.clone(),
            started_at: window.started_at,
            ended_at: window.ended_at,
            end: window.end,
            handed_over: window.handed_over,
            dehydration_payload: None,
        }
    }

    /// With the newest handoff of its effort, if this window left it.
    #[must_use]
    pub fn with_payload_of(self, effort: &EffortCard) -> Self {
        let left = effort.handoff.as_ref().filter(|handoff| handoff.from == self.id);
        Self { dehydration_payload: left.map(|handoff| handoff.payload.clone()), ..self }
    }
}

impl WorkstreamCard {
    pub fn new(dir: &str, workstream: &Workstream, fleet: &Fleet) -> Self {
        Self {
            dir: dir.to_owned(),
            project: project(dir),
            title: workstream.about.title.clone(),
            keywords: workstream.about.keywords.clone(),
            active: fleet.efforts().any(|effort| effort.is_active() && effort.workstream == dir),
            efforts: workstream.efforts.iter().cloned().collect(),
        }
    }
}

fn project(dir: &str) -> ProjectCard {
    ProjectCard::new(&Project { path: Some(dir.to_owned()), certain: true })
}

/// The status of a session's seat: the worst status among the sessions with the same seat name, or the session's own if it has no seat name.
pub fn seat_status(fleet: &Fleet, session: &SessionId) -> Option<FleetStatus> {
    let own = fleet.get(session)?;
    let name = own.seat.name.as_deref();
    let beside =
        fleet.sessions().filter(|s| name.is_some() && s.seat.name.as_deref() == name && s.ended_at.is_none());
    let status = |s: &Session| fleet_status(StateName::from_state(&s.shown.state), s.seen);
    beside.map(status).chain([status(own)]).min()
}
