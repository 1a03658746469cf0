//! What a person does to a session's own terminal.

use flightdeck_core::ids::SessionId;
use serde::{Deserialize, Serialize};

use crate::arguments;

/// Longest prompt that is typed. 20 KB were measured to work; a larger text is better put into a file.
pub const PROMPT_BYTES_MAX: usize = 256 << 10;

/// Types the next prompt into the session's tmux pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The body of `POST /api/sessions/{id}/prompt`, as the page sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct PromptBody {
    pub text: String,
    #[serde(rename = "as")]
    pub kind: Option<PromptKind>,
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
    /// Set aside; the client puts it back after ours was sent.
    Keep,
    /// Removed; Ctrl+Y in the box brings it back.
    Replace,
}

/// Presses Esc in the session's pane, or ends the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct Focus {
    #[serde(alias = "sessionId", alias = "id")]
    pub session_id: SessionId,
}

/// Keys were pressed, or a process was told to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Pressed {
    /// The client has shown that it took them.
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
