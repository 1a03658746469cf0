//! Pure views of one agent state: the board's group, state, label and icon; the three-state status; the fleet status.

use serde::{Deserialize, Serialize};

use crate::approval::resolution::NeedKind;
use crate::assignment::intent::Intent;
use crate::limits::ASKS_LABEL_CHARS_MAX;
use crate::log::event::EndReason;
use crate::session::Session;
use crate::session::agent::{Activity, AgentState, IdleReason};
use crate::session::ledger::Need;
use crate::session::state_name::{Group, StateName};
use crate::text::one_line;
use crate::time::Timestamp;

/// Rank of idle sessions, the last among those that need the person.
const IDLE_URGENCY: u8 = 6;
/// Rank of an idle session whose last message asks.
pub const ASKS_URGENCY: u8 = 5;

/// What the colour of a card means; the page picks the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Role {
    Urgent,
    Orange,
    Red,
    Calm,
    Working,
    Muted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum StatusKind {
    Idle,
    Working,
    AttentionNeeded,
    Ended,
}

/// The three-state view of an agent: whether it works or needs the person, with the current work and the reason for waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Status"))]
pub struct StatusCard {
    pub kind: StatusKind,
    pub detail: Option<String>,
    pub reason: Option<String>,
}

impl StatusCard {
    pub(super) const ENDED: Self = Self { kind: StatusKind::Ended, detail: None, reason: None };
    /// The agent works, and no source says on what.
    pub(super) const WORKING: Self = Self { kind: StatusKind::Working, detail: None, reason: None };

    pub fn new(state: &AgentState) -> Self {
        let (kind, detail, reason) = status(state);
        Self { kind, detail, reason }
    }
}

/// The seconds from `start` to `end`. Zero if a late hook made `end` earlier than `start`.
pub(super) fn seconds_between(start: Timestamp, end: Timestamp) -> f64 {
    (end.max(start) - start).as_seconds()
}

/// The status of a session for the fleet, the worst first: error, attention, working, checked, done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum FleetStatus {
    Error,
    Attention,
    Working,
    Checked,
    Done,
}

/// What a person may type into the terminal of a session in its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum TerminalInput {
    Prompt,
    Interrupt,
}

impl StateName {
    /// What a person may type in this state: a prompt while the client waits for one, Esc while the client works or is blocked during work.
    pub fn terminal_input(self) -> Option<TerminalInput> {
        match self {
            Self::Idle | Self::Interrupted | Self::Error => Some(TerminalInput::Prompt),
            // Background agents do not react to Esc.
            Self::WaitingBackground | Self::SessionEnded => None,
            _ => Some(TerminalInput::Interrupt),
        }
    }

    /// The label of a state about which nothing else is known.
    pub fn title(self) -> &'static str {
        match self {
            Self::NeedsPermission => "Permission needed",
            Self::AwaitingInput => "Question",
            Self::Interrupted => "Interrupted",
            Self::Error => "Failed",
            Self::AwaitingApproval => "Plan ready",
            Self::Idle => "Waiting for your next prompt",
            Self::Thinking => "Thinking",
            Self::Acting => "Running a tool",
            Self::Delegating => "Running a subagent",
            Self::Compacting => "Compacting",
            Self::WaitingBackground => "Waiting on background agents",
            Self::SessionEnded => "Session closed",
        }
    }

    pub fn icon(self) -> &'static str {
        match self {
            Self::NeedsPermission => "shield",
            Self::AwaitingInput => "question",
            Self::AwaitingApproval => "plan",
            Self::Interrupted => "pause",
            Self::Error => "triangle",
            Self::Idle => "circle",
            Self::Thinking => "spark",
            Self::Acting => "tool",
            Self::Delegating => "branch",
            Self::Compacting => "fold",
            Self::WaitingBackground => "clock",
            Self::SessionEnded => "check",
        }
    }

    pub fn role(self) -> Role {
        match self {
            Self::NeedsPermission | Self::AwaitingInput | Self::AwaitingApproval => Role::Urgent,
            Self::Interrupted => Role::Orange,
            Self::Error => Role::Red,
            Self::Idle => Role::Calm,
            Self::SessionEnded => Role::Muted,
            _ => Role::Working,
        }
    }

    /// Rank among states that need the person: permission, input, interrupted, error, approval, idle.
    pub fn urgency(self) -> u8 {
        match self {
            Self::NeedsPermission => 0,
            Self::AwaitingInput => 1,
            Self::Interrupted => 2,
            Self::Error => 3,
            Self::AwaitingApproval => 4,
            // An idle session that asks in its text ranks between Awaiting Approval and Idle: see `rank` in card.rs.
            _ => IDLE_URGENCY,
        }
    }
}

/// The label of a session: the label of its state or, at the end of a turn, the intent of the last message.
pub fn session_label(session: &Session) -> String {
    match session.idle_intent().map(|found| (found.intent, &found.evidence.line)) {
        Some((Intent::Question, line)) => format!("Asks: {}", one_line(line, ASKS_LABEL_CHARS_MAX)),
        Some((intent, _)) if intent.is_finished() => "Finished".to_owned(),
        _ => label(&session.shown.state),
    }
}

/// The label of a state.
pub fn label(state: &AgentState) -> String {
    match state {
        AgentState::Idle(IdleReason::Fresh) => "Ready".to_owned(),
        AgentState::Idle(IdleReason::TurnEnded) => StateName::Idle.title().to_owned(),
        AgentState::Idle(IdleReason::EndedAway) => "Ended while Flightdeck was away".to_owned(),
        AgentState::Idle(IdleReason::Interrupted { tool: Some(tool) }) => format!("You interrupted {tool}"),
        AgentState::Idle(IdleReason::Interrupted { tool: None }) => "You interrupted".to_owned(),
        AgentState::Idle(IdleReason::StoppedByHook { blocked_prompt: false }) => {
            "Stopped by a hook".to_owned()
        }
        AgentState::Idle(IdleReason::StoppedByHook { blocked_prompt: true }) => {
            "Prompt blocked by a hook".to_owned()
        }
        AgentState::Idle(IdleReason::Failed { cause }) => format!("Failed: {cause}"),
        AgentState::Working(activity) => activity_label(activity),
        AgentState::Blocked(need) => need.label(),
        AgentState::Ended(EndReason::ProcessDied) => "Process died".to_owned(),
        AgentState::Ended(_) => "Session closed".to_owned(),
    }
}

fn activity_label(activity: &Activity) -> String {
    match activity {
        Activity::Thinking { .. } => "Thinking".to_owned(),
        Activity::Setup => "Setup".to_owned(),
        Activity::Tool { label, .. } => label.clone(),
        Activity::Delegating { agent_type } => format!("Running {agent_type} subagent"),
        Activity::Compacting => "Compacting".to_owned(),
        Activity::Background { agents: 0 } => "Background agents have ended".to_owned(),
        Activity::Background { agents: 1 } => "Waiting on 1 background agent".to_owned(),
        Activity::Background { agents } => format!("Waiting on {agents} background agents"),
    }
}

/// The three-state view: kind, current work, reason for waiting.
pub fn status(state: &AgentState) -> (StatusKind, Option<String>, Option<String>) {
    match state {
        AgentState::Idle(_) => (StatusKind::Idle, None, None),
        AgentState::Ended(_) => (StatusKind::Ended, None, None),
        AgentState::Working(activity) => (StatusKind::Working, working_detail(activity), None),
        AgentState::Blocked(need) => (StatusKind::AttentionNeeded, None, Some(attention_reason(need))),
    }
}

fn working_detail(activity: &Activity) -> Option<String> {
    match activity {
        Activity::Thinking { after_tool: false } => None,
        Activity::Thinking { after_tool: true } => Some("Thinking".to_owned()),
        Activity::Setup => Some("Setup".to_owned()),
        Activity::Tool { name, .. } => Some(name.clone()),
        Activity::Delegating { agent_type } => Some(agent_type.clone()),
        Activity::Compacting => Some("Compacting".to_owned()),
        Activity::Background { .. } => Some("Background".to_owned()),
    }
}

fn attention_reason(need: &Need) -> String {
    match (need.kind, &need.tool) {
        (NeedKind::Permission, Some(tool)) => format!("Permission for {}", tool.name),
        (NeedKind::Permission, None) => "Permission".to_owned(),
        (NeedKind::Elicitation, _) => "MCP input".to_owned(),
        (NeedKind::Question, tool) => tool.as_ref().map_or("Question".to_owned(), |t| t.name.clone()),
        (NeedKind::Plan, tool) => tool.as_ref().map_or("Plan".to_owned(), |t| t.name.clone()),
    }
}

pub fn fleet_status(state: StateName, seen: bool) -> FleetStatus {
    match (state, state.group()) {
        (StateName::Error, _) => FleetStatus::Error,
        (StateName::Interrupted | StateName::Idle, _) if seen => FleetStatus::Checked,
        (StateName::Interrupted | StateName::Idle, _) => FleetStatus::Done,
        (_, Group::NeedsYou) => FleetStatus::Attention,
        (_, Group::Running) => FleetStatus::Working,
        (_, Group::Done) => FleetStatus::Done,
    }
}
