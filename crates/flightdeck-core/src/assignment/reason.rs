//! Why an assignment waits for the person.

use serde::{Deserialize, Serialize};

/// Why the work cannot continue without the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum AwaitReason {
    Permission,
    /// The client shows a question with choices.
    Question,
    Elicitation,
    Plan,
    /// The last message of the turn asks in its text.
    Asked,
    /// The turn failed.
    Failed,
    /// The person interrupted the turn.
    Interrupted,
    /// A hook of the person ended the turn, or blocked its prompt.
    StoppedByHook,
}

impl AwaitReason {
    /// Whether an open need of the session is the reason. Such an assignment continues when the last need is closed.
    pub fn is_need(self) -> bool {
        matches!(self, Self::Permission | Self::Question | Self::Elicitation | Self::Plan)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Elicitation => "elicitation",
            Self::Plan => "plan",
            Self::Asked => "asked",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::StoppedByHook => "stopped_by_hook",
        }
    }
}
