//! A raw event as the log stores it: the client's JSON with its source, subject and times.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::subject::Subject;
use crate::ids::{AgentId, AskId, AssignmentId, HostId, SeatName, SessionId};
use crate::limits::CLIP_PAYLOAD_FROM_BYTES;
use crate::time::Timestamp;

/// 128 bits that identify one event. The hook creates it and the store keeps it unique, so a resend changes nothing.
/// The high bits are the time it fired, so ids sort by age and the store's index grows at its end.
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

/// An ask is named by the event that opened it.
impl From<EventId> for AskId {
    fn from(id: EventId) -> Self {
        Self::new(id.to_string())
    }
}

/// An assignment is named by the event that opened it.
impl From<EventId> for AssignmentId {
    fn from(id: EventId) -> Self {
        Self::new(format!("a-{id}"))
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Where the record comes from.
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

/// One row of the log. `received_at` never decreases; `fired_at` is the sender's clock, at most `received_at`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Position in the log, from 1. Zero before the store assigns it.
    pub seq: u64,
    pub id: EventId,
    pub fired_at: Timestamp,
    pub received_at: Timestamp,
    pub source: Source,
    /// The event's name: `PreToolUse`, or a name of Flightdeck's own such as `seen`.
    pub name: String,
    /// The host on which the event happened.
    pub host: HostId,
    pub subject: Subject,
    /// The subagent in which the event happened. `None` for the main agent.
    pub agent_id: Option<AgentId>,
    /// The payload as the client wrote it, clipped if it was large.
    pub payload: Map<String, Value>,
    pub verbatim: Verbatim,
    /// Facts about the client's environment, which `flightdeck hook` added.
    pub envelope: Envelope,
}

/// The JSON that the payload was parsed from, if nothing in it was changed: the log then stores these bytes and the payload
/// is not serialised again. Records are equal without regard to it.
#[derive(Clone, Debug, Default)]
pub struct Verbatim(Option<Box<[u8]>>);

impl Verbatim {
    /// Keeps the bytes only of a payload that is never clipped: see [`CLIP_PAYLOAD_FROM_BYTES`].
    pub fn from_json(json: &[u8]) -> Self {
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
    pub fn session_id(&self) -> Option<&SessionId> {
        self.subject.session_id()
    }

    /// The record of a fact that the daemon noticed itself, on this machine. The engine's time of receipt becomes its `fired_at`.
    pub fn noticed_here(
        source: Source,
        name: &str,
        subject: impl Into<Subject>,
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
            host: HostId::this_machine(),
            subject: subject.into(),
            agent_id: None,
            payload,
            verbatim: Verbatim::default(),
            envelope: Envelope::default(),
        }
    }
}

/// Facts about the client's environment that are sent beside a payload. No other facts are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Envelope {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Start time of `pid` in the kernel's unit: a reused pid has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_start: Option<String>,
    /// The pid namespace of `pid`: pid 7 of a container is another process than pid 7 of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_ns: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// `FLIGHTDECK_SEAT`, otherwise `AGENT_ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<SeatName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// How long the hook's reply is held for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_ms: Option<u32>,
    /// The sender sent its own time. Otherwise `fired_at` is the time of receipt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_fired_at: bool,
    /// The directory that decides which effort the event belongs to, with its links resolved. `None` if the path in the event
    /// contains no link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_dir: Option<String>,
    /// The links of that directory could not be resolved, so it is not known whether the session has left the directory of its
    /// effort.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dir_unknown: bool,
    /// How full the session's context was, in tenths of a percent. Known only while an effort is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_permille: Option<u16>,
    /// The call is only a command that an effort neither counts nor denies.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exempt: bool,
    /// A script sent the event with a command of `hooks.*`, instead of `flightdeck hook`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rpc: bool,
    /// The wall clock was behind `received_at` on receipt: it was set back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_back: bool,
    /// How far the clock of another host was ahead. `fired_at` is corrected by it; times inside the payload are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ahead_ms: Option<i64>,
}

impl Envelope {
    /// Whether the envelope says where the session sits: its process, its pane or the name of its seat.
    pub(crate) fn names_a_place(&self) -> bool {
        self.pid.is_some() || self.pane.is_some() || self.seat.is_some()
    }
}
