//! The effort of a session in brief, as its card shows it.

use serde::{Deserialize, Serialize};

use crate::ids::EffortId;

/// The effort that a session works on, on its card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EffortBrief {
    pub id: EffortId,
    pub skill: String,
    pub ordinal: u32,
    pub phase: Option<String>,
    pub heartbeat: u32,
    pub heartbeat_limit: u32,
    /// The calls of the session are denied until the agent writes a log entry.
    pub held: bool,
    /// Which context window of the effort this is, from 1.
    pub window: u32,
}
