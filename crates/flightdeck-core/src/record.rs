//! A raw event as the log keeps it: the outside's own JSON, with who, when and from where around it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::CLIP_PAYLOAD_FROM_BYTES;
use crate::time::Timestamp;

/// 128 bits that name one event for ever. The shim makes it, the store keeps it unique, so a resend is harmless.
/// The high bits are the time it fired, so ids sort by age and the store's index grows at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u128);

impl EventId {
    pub fn new(fired_ns: u64, random: u64) -> Self {
        Self((u128::from(fired_ns) << 64) | u128::from(random))
    }
    pub fn parse(hex: &str) -> Option<Self> {
        if hex.len() != 32 {
            return None;
        }
        u128::from_str_radix(hex, 16).ok().map(Self)
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Who told us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Source {
    Transcript,
    Registry,
    Process,
    User,
    Hook,
}

impl Source {
    pub const ALL: [Self; 5] = [Self::Transcript, Self::Registry, Self::Process, Self::User, Self::Hook];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Registry => "registry",
            Self::Process => "process",
            Self::User => "user",
            Self::Hook => "hook",
        }
    }
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

/// One line of the log. `received_at` never goes back; `fired_at` is the sender's clock, clamped to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Position in the log, from 1. Zero until the store has given it one.
    pub seq: u64,
    pub id: EventId,
    pub fired_at: Timestamp,
    pub received_at: Timestamp,
    pub source: Source,
    /// The event's name: `PreToolUse`, or one of ours such as `seen`.
    pub name: String,
    pub session_id: String,
    pub agent_id: Option<String>,
    /// The payload as it was written, clipped if it was large.
    pub payload: Map<String, Value>,
    pub verbatim: Verbatim,
    /// What the shim added: see [`Envelope`].
    pub envelope: Envelope,
}

/// The JSON that the payload was read from, where nothing in it was changed: the log then keeps these bytes, and nobody has
/// to write the payload anew. It says nothing that the payload does not say, so it makes no two records different.
#[derive(Clone, Debug, Default)]
pub struct Verbatim(Option<Box<[u8]>>);

impl Verbatim {
    /// Only of a payload that is never cut: see [`CLIP_PAYLOAD_FROM_BYTES`].
    pub fn of(json: &[u8]) -> Self {
        Self((json.len() < CLIP_PAYLOAD_FROM_BYTES).then(|| json.into()))
    }
    pub fn json(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }
}

impl PartialEq for Verbatim {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Record {
    /// A fact of our own, about a session that is known: it fires when the engine hears of it.
    pub fn ours(
        source: Source,
        name: &str,
        session_id: &str,
        payload: Map<String, Value>,
        id: EventId,
    ) -> Self {
        Self {
            seq: 0,
            id,
            fired_at: Timestamp::default(),
            received_at: Timestamp::default(),
            source,
            name: name.to_owned(),
            session_id: session_id.to_owned(),
            agent_id: None,
            payload,
            verbatim: Verbatim::default(),
            envelope: Envelope::default(),
        }
    }
}

/// What travels beside a payload: only these named facts of the client's environment, never all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Envelope {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Start time of `pid` in the kernel's own unit, so that a reused pid is not mistaken for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_start: Option<String>,
    /// The pid namespace that `pid` is a number in: a container's 7 is not the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_ns: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// `FLIGHTDECK_SEAT`, else `AGENT_ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// The hook's reply is held open this long, for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_ms: Option<u32>,
    /// The sender told when it fired; without that `fired_at` is only when we heard of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_fired_at: bool,
    /// The wall clock stood before `received_at` when this came: it was set back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_back: bool,
}
