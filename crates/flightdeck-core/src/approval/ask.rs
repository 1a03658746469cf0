//! A request that a person can answer, from its first event to its end.
//!
//! A *need* says that an agent waits; an *ask* is the request behind it. The need is closed when the client goes on, and
//! its ask closes with it. An ask may also close alone (its hold timed out): the terminal then still shows its own prompt.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::caution;
use super::resolution::{AskOutcome, NeedKind, Resolution};
use crate::ids::{AgentId, AskId};
use crate::limits::{ASK_INPUT_BYTES_MAX, ASK_TEXT_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX};
use crate::text::lines;
use crate::time::Timestamp;
use crate::wire::clip;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{line, list, object, text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The id of the event that opened it.
    pub id: AskId,
    /// `seq` of that event, which has the whole request.
    pub seq: u64,
    /// Set if a subagent asks.
    pub agent_id: Option<AgentId>,
    pub kind: NeedKind,
    pub asked: Asked,
    pub opened_at: Timestamp,
    /// The time until which its hook is held. `None` if no hook waits for an answer from Flightdeck.
    pub expires_at: Option<Timestamp>,
    pub resolution: Option<Resolution>,
    /// The tool call that waits for the answer. The end of the call shows how the person answered.
    pub call_id: Option<String>,
    /// Whether the end of that call has arrived.
    pub taken: bool,
}

/// What the client asks, as far as a card shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub tool_name: Option<String>,
    /// Clipped if it is very large; the log has the whole input.
    pub tool_input: Option<Map<String, Value>>,
    pub suggestions: Vec<Value>,
    /// Why allowing the request needs a second confirmation: see [`caution`].
    pub caution: Option<String>,
    pub message: Option<String>,
    pub requested_schema: Option<Map<String, Value>>,
    pub url: Option<String>,
    pub mcp_server_name: Option<String>,
}

/// An ask that left its card, with its resolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastAsk {
    pub id: AskId,
    pub seq: u64,
    pub kind: NeedKind,
    pub opened_at: Timestamp,
    pub resolution: Resolution,
}

impl Asked {
    /// The request of a hook, with its input shortened for a card. `None` for a hook that asks nothing.
    pub(crate) fn shortened(hook: &str, payload: &Map<String, Value>) -> Option<Self> {
        let mut asked = Self::of_hook(hook, payload)?;
        if let Some(input) = &mut asked.tool_input {
            clip::shorten(input, ASK_INPUT_BYTES_MAX);
        }
        Some(asked)
    }

    /// The request of a hook, with its whole input.
    pub(crate) fn of_hook(hook: &str, payload: &Map<String, Value>) -> Option<Self> {
        match HookName::parse(hook)? {
            HookName::PermissionRequest => Some(Self::permission(payload)),
            HookName::Elicitation => Some(Self::elicitation(payload)),
            _ => None,
        }
    }

    fn permission(p: &Map<String, Value>) -> Self {
        Self {
            tool_name: line(p, "tool_name", NAME_CHARS_MAX),
            tool_input: object(p, "tool_input").cloned(),
            caution: object(p, "tool_input").and_then(caution::caution_of_input).map(str::to_owned),
            suggestions: list(p, "permission_suggestions").to_vec(),
            ..Self::default()
        }
    }

    fn elicitation(p: &Map<String, Value>) -> Self {
        Self {
            message: text(p, "message").map(|m| lines(&m, ASK_TEXT_CHARS_MAX)),
            requested_schema: object(p, "requested_schema").cloned(),
            url: line(p, "url", PATH_CHARS_MAX),
            mcp_server_name: line(p, "mcp_server_name", NAME_CHARS_MAX),
            ..Self::default()
        }
    }
}

impl Ask {
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }
    /// No answer is known, neither from Flightdeck nor from the terminal.
    pub(crate) fn is_undecided(&self) -> bool {
        self.resolution.as_ref().is_none_or(|r| r.how == AskOutcome::AnswerInTerminal)
    }
    /// Whether Flightdeck answered and no event shows yet that the client used this answer. An answer in the terminal may have been first.
    pub(crate) fn is_unproven(&self) -> bool {
        let ours = self
            .resolution
            .as_ref()
            .is_some_and(|r| r.how.is_ours() && r.how != AskOutcome::DeniedAndInterrupted);
        ours && !self.taken && self.agent_id.is_none()
    }
    /// Corrects the resolution, because the answer in the terminal was first.
    pub(crate) fn was_decided_in_terminal(&mut self, how: AskOutcome, at: Timestamp, seq: u64) {
        // The time stays, so that the ask leaves the card when planned.
        let at = self.resolution.as_ref().map_or(at, |r| r.at);
        self.resolution = Some(Resolution { how, by: how.by_terminal(), at, seq, rule: None, message: None });
    }
    /// A hook waits for an answer from Flightdeck.
    pub fn is_answerable(&self) -> bool {
        self.is_open() && self.expires_at.is_some()
    }
}
