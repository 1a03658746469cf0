//! What the daemon is asked and answers where the core has only the shape: what fills it touches the world.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::board::Card;
use crate::time::Timestamp;

/// The whole board, at the beginning of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Snapshot {
    /// Names this run of the daemon.
    pub boot: String,
    /// The number of the last change in it.
    pub n: u64,
    pub sessions: Vec<Card>,
}

/// Whether our hooks are in place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HookReport {
    pub registered: Vec<String>,
    pub missing: Vec<String>,
    pub stale: Vec<String>,
    /// Nobody wants them where nothing of ours is in the file and the daemon was told to leave it so.
    pub wanted: bool,
    pub via: Option<String>,
    /// Some of ours are there and some are not as they should be: another tool changed the file.
    pub drift: bool,
    /// The file cannot be read as the client would read it.
    pub problem: Option<String>,
    /// The one command that puts it right.
    pub fix: Option<String>,
}

/// And what came through them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HookStatus {
    #[serde(flatten)]
    pub hooks: HookReport,
    /// The sessions are made up (`flightdeck demo`): hooks are left out on purpose.
    pub simulated: bool,
    /// What a person types to run the daemon's own binary: `flightdeck`, or where it lies if that is not on the PATH.
    pub program: String,
    pub last_event_at: Option<Timestamp>,
    pub events_total: u64,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, number>"))]
    pub by_event: BTreeMap<String, u64>,
    pub spool: SpoolStatus,
}

/// What waits on disk for a daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SpoolStatus {
    pub files: usize,
    pub bytes: u64,
    pub dropped: u64,
}

/// `POST /api/sessions/{id}/prompt`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct PromptBody {
    pub text: String,
    #[serde(rename = "as")]
    pub meant: Option<As>,
    pub draft: Option<Draft>,
}

/// How the person means a text that the client could take for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PromptAs"))]
pub enum As {
    Command,
    Text,
}

/// What to do with a draft that is in the box already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PromptDraft"))]
pub enum Draft {
    /// Set aside; the client puts it back after ours was sent.
    Keep,
    /// Taken away; Ctrl+Y in the box brings it back.
    Replace,
}

/// Keys were pressed, or a process was told to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Pressed {
    /// The client has shown that it took them.
    pub confirmed: bool,
    pub message: String,
}

/// A session's terminal is in front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Focused {
    /// The terminal that tmux draws on.
    pub client: Option<String>,
    pub message: String,
}
