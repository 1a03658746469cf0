//! The kinds of asks, and how an ask ends.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What a person is asked for. Most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    Permission,
    Question,
    Elicitation,
    Plan,
}

/// How an ask ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub how: AskOutcome,
    /// `None` if no answer was given.
    pub by: Option<AnsweredBy>,
    pub at: Timestamp,
    /// `seq` of the event that ended it.
    pub seq: u64,
    /// The rule of the policy that answered.
    pub rule: Option<String>,
}

/// In which way an ask ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum AskOutcome {
    Allowed,
    Denied,
    DeniedAndInterrupted,
    Answered,
    Approved,
    Rejected,
    Accepted,
    Declined,
    Cancelled,
    AnsweredInTerminal,
    RefusedInTerminal,
    TimedOut,
    SessionEnded,
    /// The client died while it asked.
    ClientDied,
    /// It ended while Flightdeck's hooks were away, so that no event says how.
    ClosedWhileAway,
    /// The daemon that held the hook has restarted; now only the terminal can answer.
    AnswerInTerminal,
}

/// Who answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum AnsweredBy {
    Web,
    Cli,
    Tui,
    #[default]
    Api,
    /// A rule the person wrote.
    Policy,
    Terminal,
}

/// Why a hook stopped waiting for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldEnd {
    /// The client ended the hook: the person refused in the terminal.
    Closed,
    TimedOut,
    /// The daemon restarted and no longer holds the hook.
    Released,
}

impl AskOutcome {
    /// Whether the ask was answered through Flightdeck. The sender of the answer then delivers the verdict.
    pub fn is_ours(self) -> bool {
        use AskOutcome::{AnswerInTerminal, AnsweredInTerminal, RefusedInTerminal};
        use AskOutcome::{ClientDied, ClosedWhileAway, SessionEnded, TimedOut};
        !matches!(
            self,
            AnsweredInTerminal
                | RefusedInTerminal
                | TimedOut
                | SessionEnded
                | ClientDied
                | ClosedWhileAway
                | AnswerInTerminal
        )
    }

    /// `answered in terminal`
    pub fn words(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().replace('_', " ")
    }

    /// Whether the ask was refused through Flightdeck.
    pub(crate) fn is_our_refusal(self) -> bool {
        use AskOutcome::{Cancelled, Declined, Denied, DeniedAndInterrupted, Rejected};
        matches!(self, Denied | DeniedAndInterrupted | Rejected | Declined | Cancelled)
    }

    pub(crate) fn by_terminal(self) -> Option<AnsweredBy> {
        matches!(self, Self::AnsweredInTerminal | Self::RefusedInTerminal).then_some(AnsweredBy::Terminal)
    }
}

impl HoldEnd {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::TimedOut => "timed_out",
            Self::Released => "released",
        }
    }
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Closed, Self::TimedOut, Self::Released].into_iter().find(|gone| gone.as_str() == word)
    }
    pub(crate) fn how(self) -> AskOutcome {
        match self {
            Self::Closed => AskOutcome::RefusedInTerminal,
            Self::TimedOut => AskOutcome::TimedOut,
            Self::Released => AskOutcome::AnswerInTerminal,
        }
    }
}
