//! The details of a refused terminal request.

use flightdeck_protocol::ErrorReply;
use flightdeck_protocol::terminal::Draft;
use serde::Deserialize;

/// What a program needs to ask the person and send the request again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TerminalRefusal {
    #[serde(rename = "error")]
    pub reason: TerminalReason,
    /// What can be done with the draft in the prompt box.
    #[serde(default)]
    pub choices: Vec<Draft>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalReason {
    /// Claude Code would run the text as a command: choose `as`.
    Command,
    /// The prompt box has a draft: choose what happens to it.
    Draft,
    /// The request must be confirmed.
    Confirm,
    /// Sending the request again with another argument does not help.
    #[serde(other)]
    Other,
}

impl TerminalRefusal {
    /// `None` if the daemon refused for a reason that has no details.
    pub fn read(refusal: &ErrorReply) -> Option<Self> {
        Self::deserialize(refusal.details.as_ref()?).ok()
    }
}
