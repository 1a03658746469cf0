//! The fleet as a whole.

use flightdeck_core::wire::status_line::RateLimits;
use serde::{Deserialize, Serialize};

/// How many sessions are in which column, and the rate limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetFleet {}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FleetOverview {
    /// The newest limits that a status line reported. `None` if no status line reported any, or if all of them were reset since.
    pub rate_limits: Option<RateLimits>,
    pub sessions: usize,
    /// Sessions that block or ask and are not parked: the number that every header shows.
    #[serde(default)]
    pub blocks_or_asks: usize,
    /// All sessions in the column Needs You, including those that are idle or parked.
    pub needs_you: usize,
    pub running: usize,
    pub done: usize,
}

/// What every session did since a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetFleetHistory {
    /// An RFC 3339 time; eight hours ago if absent.
    pub since: Option<String>,
}
