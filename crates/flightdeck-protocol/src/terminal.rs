//! What a person does to a session's own terminal.

use flightdeck_core::ids::SessionId;
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::error::ErrorReply;

/// Longest prompt that is typed. 20 KB were measured to work; a larger text is better put into a file.
pub const PROMPT_BYTES_MAX: usize = 256 << 10;

/// Types the next prompt into the session's tmux pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct SendPrompt {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
    /// An empty prompt is refused once the session is found.
    #[serde(default)]
    pub text: String,
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PromptKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Draft>,
}

/// How the person means a text that the client could take for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PromptAs"))]
pub enum PromptKind {
    Command,
    Text,
}

/// What to do with a draft that is in the box already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PromptDraft"))]
pub enum Draft {
    /// The draft is set aside, and the client puts it back after our prompt was sent.
    Keep,
    /// The draft is removed. Ctrl+Y in the box brings it back.
    Replace,
}

/// Presses Esc in the session's pane, or ends the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Interrupt {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
    #[serde(default, deserialize_with = "arguments::flag")]
    pub confirm: bool,
    /// End the client, not only its turn.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub stop: bool,
}

/// Brings the session's terminal to the front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Focus {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// Reads what the session's tmux pane shows, without touching it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peek {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// Keys were pressed, or a process was told to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Pressed {
    /// Whether the client has shown that it took the keys.
    pub confirmed: bool,
    pub message: String,
}

/// A session's terminal is in front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Focused {
    /// The terminal that tmux draws on.
    pub client: Option<String>,
    pub message: String,
}

/// What a pane shows, as text without colours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneScreen {
    /// `%5`
    pub pane: String,
    /// The rows from top to bottom, without blanks at their ends and without empty rows at the end.
    pub rows: Vec<String>,
}

/// Why keys were not pressed: the body of a 409, and the `details` of a refusal over the socket. The code, a message for the person,
/// and the data with which a program can ask the person and send the request again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalRefusal {
    pub error: TerminalRefusalCode,
    #[serde(default)]
    pub message: String,
    /// The command that resumes the session in a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// What the person must confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// The draft in the prompt box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// What can be done with that draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Draft>>,
    /// The command that attaches a terminal to the tmux server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalRefusalCode {
    Ended,
    NoPane,
    NotIdle,
    NotWorking,
    /// The request must be confirmed.
    Confirm,
    /// Claude Code would run the text as a command: choose `as`.
    Command,
    NoEscape,
    /// The prompt box has a draft: choose what happens to it.
    Draft,
    ShellMode,
    NoPromptBox,
    PaneGone,
    PaneNotFree,
    NotInPane,
    Busy,
    NotSent,
    #[serde(rename = "nobody_attached")]
    NotAttached,
    FocusCommand,
    Tmux,
    /// A code of a newer daemon.
    #[serde(other)]
    Other,
}

impl TerminalRefusalCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::NoPane => "no_pane",
            Self::NotIdle => "not_idle",
            Self::NotWorking => "not_working",
            Self::Confirm => "confirm",
            Self::Command => "command",
            Self::NoEscape => "no_escape",
            Self::Draft => "draft",
            Self::ShellMode => "shell_mode",
            Self::NoPromptBox => "no_prompt_box",
            Self::PaneGone => "pane_gone",
            Self::PaneNotFree => "pane_not_free",
            Self::NotInPane => "not_in_pane",
            Self::Busy => "busy",
            Self::NotSent => "not_sent",
            Self::NotAttached => "nobody_attached",
            Self::FocusCommand => "focus_command",
            Self::Tmux => "tmux",
            Self::Other => "other",
        }
    }
}

/// What a request does that must be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirm {
    Interrupt,
    Stop,
    Command,
    /// A word of a newer daemon.
    #[serde(other)]
    Other,
}

impl TerminalRefusal {
    /// A refusal without further data.
    pub fn new(error: TerminalRefusalCode, message: String) -> Self {
        Self { error, message, resume: None, confirm: None, draft: None, choices: None, attach: None }
    }

    /// `None` if the daemon refused for a reason that has no details.
    pub fn read(refusal: &ErrorReply) -> Option<Self> {
        Self::deserialize(refusal.details.as_ref()?).ok()
    }

    /// Whether the person can choose what happens to the draft.
    pub fn has_choices(&self) -> bool {
        self.choices.as_ref().is_some_and(|choices| !choices.is_empty())
    }
}
