//! The named states of a session and the column of the board that each belongs to.

use serde::{Deserialize, Serialize};

use super::agent::{Activity, AgentState, IdleReason};
use crate::approval::resolution::NeedKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Group {
    NeedsYou,
    Running,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum StateName {
    NeedsPermission,
    AwaitingInput,
    Interrupted,
    Error,
    AwaitingApproval,
    Idle,
    Thinking,
    Acting,
    Delegating,
    Compacting,
    WaitingBackground,
    SessionEnded,
}

impl StateName {
    pub const ALL: [Self; 12] = [
        Self::NeedsPermission,
        Self::AwaitingInput,
        Self::Interrupted,
        Self::Error,
        Self::AwaitingApproval,
        Self::Idle,
        Self::Thinking,
        Self::Acting,
        Self::Delegating,
        Self::Compacting,
        Self::WaitingBackground,
        Self::SessionEnded,
    ];

    pub fn from_state(state: &AgentState) -> Self {
        match state {
            AgentState::Blocked(need) => match need.kind {
                NeedKind::Permission => Self::NeedsPermission,
                NeedKind::Question | NeedKind::Elicitation => Self::AwaitingInput,
                NeedKind::Plan => Self::AwaitingApproval,
            },
            AgentState::Idle(IdleReason::Interrupted { .. }) => Self::Interrupted,
            AgentState::Idle(IdleReason::Failed { .. }) => Self::Error,
            AgentState::Idle(
                IdleReason::TurnEnded
                | IdleReason::EndedAway
                | IdleReason::StoppedByHook { .. }
                | IdleReason::Fresh,
            ) => Self::Idle,
            AgentState::Working(activity) => match activity {
                Activity::Thinking { .. } | Activity::Setup => Self::Thinking,
                Activity::Tool { .. } => Self::Acting,
                Activity::Delegating { .. } => Self::Delegating,
                Activity::Compacting => Self::Compacting,
                Activity::Background { .. } => Self::WaitingBackground,
            },
            AgentState::Ended(_) => Self::SessionEnded,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsPermission => "needs_permission",
            Self::AwaitingInput => "awaiting_input",
            Self::Interrupted => "interrupted",
            Self::Error => "error",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Idle => "idle",
            Self::Thinking => "thinking",
            Self::Acting => "acting",
            Self::Delegating => "delegating",
            Self::Compacting => "compacting",
            Self::WaitingBackground => "waiting_background",
            Self::SessionEnded => "session_ended",
        }
    }

    pub fn group(self) -> Group {
        match self {
            Self::NeedsPermission | Self::AwaitingInput | Self::AwaitingApproval => Group::NeedsYou,
            Self::Interrupted | Self::Error | Self::Idle => Group::NeedsYou,
            Self::Thinking | Self::Acting | Self::Delegating => Group::Running,
            Self::Compacting | Self::WaitingBackground => Group::Running,
            Self::SessionEnded => Group::Done,
        }
    }
}

impl Group {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Running => "running",
            Self::Done => "done",
        }
    }
}
