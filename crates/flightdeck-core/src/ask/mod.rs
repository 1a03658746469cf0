//! An open request that a person can answer, from its first event to how it ended.
//!
//! A *need* says that an agent waits; an *ask* is the request behind it. The need goes when the client goes on, and its
//! ask closes with it. An ask may also close alone (its hold timed out): the terminal's own prompt is then still there.

pub mod answer;
pub mod card;
pub mod caution;
pub mod form;
pub mod policy;
pub mod verdict;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::answer::Answer;
use crate::event::EventKind;
use crate::ledger::NeedKind;
use crate::limits::{ASK_INPUT_BYTES_MAX, ASK_TEXT_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX};
use crate::record::{EventId, Record, Source};
use crate::text::{lines, one_line};
use crate::time::Timestamp;
use crate::wire::clip;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{list, object, text};
use crate::wire::registry::Status;

/// A person's answer to an ask, as the log names it.
pub const ANSWERED: &str = "answered";
/// The hook that held an ask is gone, as the log names it; `why` says how.
pub const ASK_GONE: &str = "ask_gone";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The id of the event that opened it.
    pub id: String,
    /// Its place in the log, where the request stands whole.
    pub seq: u64,
    /// Set where a subagent asks.
    pub agent_id: Option<String>,
    pub kind: NeedKind,
    pub asked: Asked,
    pub opened_at: Timestamp,
    /// Until when its hook is held open. `None`: nobody waits for an answer from here.
    pub expires_at: Option<Timestamp>,
    pub resolution: Option<Resolution>,
    /// The call that was answered from here: its end tells whether the client took the answer.
    pub call_id: Option<String>,
    /// It ended as we had said.
    pub taken: bool,
}

/// What the client asks, as far as a card shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub tool_name: Option<String>,
    /// Cut where it is very large; the log has it whole.
    pub tool_input: Option<Map<String, Value>>,
    pub suggestions: Vec<Value>,
    /// Why it asks twice: see [`caution`].
    pub caution: Option<String>,
    pub message: Option<String>,
    pub requested_schema: Option<Map<String, Value>>,
    pub url: Option<String>,
    pub mcp_server_name: Option<String>,
}

/// How an ask ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub how: How,
    /// `None` where nobody answered.
    pub by: Option<By>,
    pub at: Timestamp,
    /// The event that ended it.
    pub seq: u64,
    /// Where a rule of the policy answered: which.
    pub rule: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum How {
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
    /// The daemon that held it is gone; only the terminal can answer now.
    AnswerInTerminal,
}

/// Who answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum By {
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
pub enum Gone {
    /// The client ended it: the person refused in the terminal.
    Closed,
    TimedOut,
    /// A daemon that restarted holds nothing.
    Released,
}

/// An ask that left its card: how it ended is still told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PastAsk {
    pub id: String,
    pub seq: u64,
    pub kind: NeedKind,
    pub opened_at: Timestamp,
    pub resolution: Resolution,
}

/// A person's answer, for the log.
pub fn answered_record(session_id: &str, ask_id: &str, answer: &Answer, id: EventId) -> Record {
    // An answer came in as JSON and goes out as JSON.
    let answer = serde_json::to_value(answer).unwrap_or_default();
    let payload = Map::from_iter([("ask_id".to_owned(), json!(ask_id)), ("answer".to_owned(), answer)]);
    Record::ours(Source::User, ANSWERED, session_id, payload, id)
}

/// The end of a hold, for the log.
pub fn gone_record(session_id: &str, ask_id: &str, why: Gone, id: EventId) -> Record {
    let payload =
        Map::from_iter([("ask_id".to_owned(), json!(ask_id)), ("why".to_owned(), json!(why.as_str()))]);
    Record::ours(Source::Process, ASK_GONE, session_id, payload, id)
}

impl Asked {
    /// As a card shows it. `None` for a record that asks nothing.
    pub fn from_record(record: &Record) -> Option<Self> {
        let mut asked = Self::whole(record)?;
        if let Some(input) = &mut asked.tool_input {
            clip::shorten(input, ASK_INPUT_BYTES_MAX);
        }
        Some(asked)
    }

    pub fn whole(record: &Record) -> Option<Self> {
        match HookName::parse(&record.name)? {
            HookName::PermissionRequest => Some(Self::permission(&record.payload)),
            HookName::Elicitation => Some(Self::elicitation(&record.payload)),
            _ => None,
        }
    }

    fn permission(p: &Map<String, Value>) -> Self {
        Self {
            tool_name: text(p, "tool_name").map(|name| one_line(&name, NAME_CHARS_MAX)),
            tool_input: object(p, "tool_input").cloned(),
            caution: object(p, "tool_input").and_then(caution::of_input).map(str::to_owned),
            suggestions: list(p, "permission_suggestions").to_vec(),
            ..Self::default()
        }
    }

    fn elicitation(p: &Map<String, Value>) -> Self {
        Self {
            message: text(p, "message").map(|m| lines(&m, ASK_TEXT_CHARS_MAX)),
            requested_schema: object(p, "requested_schema").cloned(),
            url: text(p, "url").map(|url| one_line(&url, PATH_CHARS_MAX)),
            mcp_server_name: text(p, "mcp_server_name").map(|name| one_line(&name, NAME_CHARS_MAX)),
            ..Self::default()
        }
    }
}

impl Ask {
    pub fn is_open(&self) -> bool {
        self.resolution.is_none()
    }
    /// Nobody has answered it, here or in the terminal.
    pub(crate) fn is_undecided(&self) -> bool {
        self.resolution.as_ref().is_none_or(|r| r.how == How::AnswerInTerminal)
    }
    /// Answered from here, and nothing has shown yet that the client took it: the terminal may have been first.
    pub(crate) fn is_unproven(&self) -> bool {
        let ours =
            self.resolution.as_ref().is_some_and(|r| r.how.is_ours() && r.how != How::DeniedAndInterrupted);
        ours && !self.taken && self.agent_id.is_none()
    }
    /// The terminal was first after all.
    pub(crate) fn was_decided_in_terminal(&mut self, how: How, at: Timestamp, seq: u64) {
        // It leaves the card when it would have left it.
        let at = self.resolution.as_ref().map_or(at, |r| r.at);
        self.resolution = Some(Resolution { how, by: how.by_terminal(), at, seq, rule: None });
    }
    /// Somebody waits for our answer.
    pub fn is_answerable(&self) -> bool {
        self.is_open() && self.expires_at.is_some()
    }
}

impl How {
    /// Whether it was answered through Flightdeck: whoever did so has the verdict to deliver.
    pub fn is_ours(self) -> bool {
        use How::{AnswerInTerminal, AnsweredInTerminal, RefusedInTerminal, SessionEnded, TimedOut};
        !matches!(self, AnsweredInTerminal | RefusedInTerminal | TimedOut | SessionEnded | AnswerInTerminal)
    }

    /// We said no.
    pub(crate) fn is_our_refusal(self) -> bool {
        use How::{Cancelled, Declined, Denied, DeniedAndInterrupted, Rejected};
        matches!(self, Denied | DeniedAndInterrupted | Rejected | Declined | Cancelled)
    }

    /// What became of an ask whose need went with an event of this kind.
    pub(crate) fn of_need_closed_by(kind: &EventKind) -> Self {
        use EventKind as K;
        match kind {
            K::SessionEnded { .. } | K::SessionStarted { .. } | K::ProcessGone { .. } => Self::SessionEnded,
            // A prompt can only be typed once the dialog is closed, and nothing ran.
            K::Prompted { .. } | K::ToolEnded { outcome: crate::event::Outcome::Interrupted, .. } => {
                Self::RefusedInTerminal
            }
            K::RegistrySaid(word) => Self::of_registry(&word.status),
            // One of several was refused together with the turn: the others went with it.
            K::AskGone { .. } => Self::RefusedInTerminal,
            K::Answered { .. } => Self::DeniedAndInterrupted,
            _ => Self::AnsweredInTerminal,
        }
    }

    pub(crate) fn of_registry(status: &Status) -> Self {
        match status {
            Status::Idle | Status::Shell => Self::RefusedInTerminal,
            Status::Busy | Status::Waiting(_) => Self::AnsweredInTerminal,
        }
    }

    pub(crate) fn by_terminal(self) -> Option<By> {
        matches!(self, Self::AnsweredInTerminal | Self::RefusedInTerminal).then_some(By::Terminal)
    }
}

impl Gone {
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
    pub(crate) fn how(self) -> How {
        match self {
            Self::Closed => How::RefusedInTerminal,
            Self::TimedOut => How::TimedOut,
            Self::Released => How::AnswerInTerminal,
        }
    }
}
