//! What the client's hooks and status line send, and whether our hooks are in place.

use std::collections::BTreeMap;

use flightdeck_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A hook payload, as the client wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Hook(pub Map<String, Value>);

/// The hook's event is stored. If it is held, a second frame with the verdict follows within `hold_ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HookReply {
    /// Where in the log the event is.
    pub seq: u64,
    pub hold_ms: u64,
    /// What the hook prints.
    pub verdict: Option<Value>,
}

/// A status line, as the client wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StatusLine(pub Map<String, Value>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusLineReply {
    /// `null` if the status line said nothing new.
    pub seq: Option<u64>,
}

/// Whether our hooks are in place, and the events they sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetHookStatus {}

/// Whether our hooks are in place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HookReport {
    pub registered: Vec<String>,
    pub missing: Vec<String>,
    pub stale: Vec<String>,
    /// False if the daemon was started without hooks and the file holds none of ours.
    pub wanted: bool,
    pub via: Option<String>,
    /// Some of our hooks are there and some are not as they should be: another tool changed the file.
    pub drift: bool,
    /// Why the client cannot use the file.
    pub problem: Option<String>,
    /// The one command that puts it right.
    pub fix: Option<String>,
}

/// Whether our hooks are in place, and the events they sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HookStatus {
    #[serde(flatten)]
    pub hooks: HookReport,
    /// The sessions are made up (`flightdeck demo`): hooks are left out on purpose.
    pub simulated: bool,
    /// What a person types to run the daemon's own binary: `flightdeck`, or its path if that is not on the PATH.
    pub program: String,
    pub last_event_at: Option<Timestamp>,
    pub events_total: u64,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, number>"))]
    pub by_event: BTreeMap<String, u64>,
    pub spool: SpoolStatus,
}

/// What waits on disk for a daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SpoolStatus {
    pub files: usize,
    pub bytes: u64,
    pub dropped: u64,
}
