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

/// The end of an ask: how, by whom and when.
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
    /// What the person wrote with a refusal.
    #[serde(default)]
    pub message: Option<String>,
}

/// How an ask ended.
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
    /// The subagent that asked has failed, or the person stopped it.
    AgentEnded,
    /// The ask ended while Flightdeck's hooks were away, so no event says how.
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
    /// The name on the wire with spaces instead of underscores, for use in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::DeniedAndInterrupted => "denied and interrupted",
            Self::Answered => "answered",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::AnsweredInTerminal => "answered in terminal",
            Self::RefusedInTerminal => "refused in terminal",
            Self::TimedOut => "timed out",
            Self::SessionEnded => "session ended",
            Self::ClientDied => "client died",
            Self::AgentEnded => "agent ended",
            Self::ClosedWhileAway => "closed while away",
            Self::AnswerInTerminal => "answer in terminal",
        }
    }

    /// Whether the ask was answered through Flightdeck. The sender of the answer then delivers the verdict.
    pub fn is_ours(self) -> bool {
        use AskOutcome::{AgentEnded, ClientDied, ClosedWhileAway, SessionEnded, TimedOut};
        use AskOutcome::{AnswerInTerminal, AnsweredInTerminal, RefusedInTerminal};
        !matches!(
            self,
            AnsweredInTerminal
                | RefusedInTerminal
                | TimedOut
                | SessionEnded
                | ClientDied
                | AgentEnded
                | ClosedWhileAway
                | AnswerInTerminal
        )
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

impl AnsweredBy {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Cli => "cli",
            Self::Tui => "tui",
            Self::Api => "api",
            Self::Policy => "policy",
            Self::Terminal => "terminal",
        }
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
    /// How the ask ends whose hook stopped waiting for this reason.
    pub(crate) fn ask_outcome(self) -> AskOutcome {
        match self {
            Self::Closed => AskOutcome::RefusedInTerminal,
            Self::TimedOut => AskOutcome::TimedOut,
            Self::Released => AskOutcome::AnswerInTerminal,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_an_outcome_are_its_name_on_the_wire() {
        use AskOutcome::*;
        let outcomes = [
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
            ClientDied,
            AgentEnded,
            ClosedWhileAway,
            AnswerInTerminal,
        ];
        for outcome in outcomes {
            assert_eq!(json!(outcome), outcome.in_words().replace(' ', "_"));
        }
        use AnsweredBy::{Api, Cli, Policy, Terminal, Tui, Web};
        for by in [Web, Cli, Tui, Api, Policy, Terminal] {
            assert_eq!(json!(by), by.as_str());
        }
    }
}
