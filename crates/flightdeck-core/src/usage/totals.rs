//! The shape of a report on what was spent.

use serde::{Deserialize, Serialize};

use super::amounts::Tokens;
use crate::time::Timestamp;
use crate::wire::status_line::RateLimits;

/// Tokens and money of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Spent {
    pub messages: u64,
    pub tokens: Tokens,
    pub usd_micros: u64,
    /// Models without a known price. `usd_micros` does not include them.
    pub unpriced_models: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "UsageRow"))]
pub struct UsageRow {
    /// A time, a date, a project's path, a model, a session's id.
    pub key: String,
    /// The display name.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub last_at: Option<Timestamp>,
    #[serde(flatten)]
    pub spent: Spent,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Usage"))]
pub struct Report {
    pub since: Option<Timestamp>,
    pub time_zone: Option<String>,
    /// The source of the prices.
    pub prices: String,
    pub total: Spent,
    pub today: Spent,
    /// Oldest first.
    pub by_day: Vec<UsageRow>,
    /// Most expensive first.
    pub by_project: Vec<UsageRow>,
    pub by_model: Vec<UsageRow>,
    pub by_session: Vec<UsageRow>,
    pub sessions_total: u64,
    /// The rows for the requested `by`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub rows: Option<Vec<UsageRow>>,
    /// Limits of the subscription, if a status line reported them.
    #[serde(default)]
    pub rate_limits: Option<RateLimits>,
    /// Progress of reading the history; absent if everything was read for this report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub indexing: Option<Indexing>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Indexing {
    pub files_total: u64,
    pub files_left: u64,
    pub bytes_left: u64,
    pub bytes_read: u64,
    /// Paused, because the machine is busy.
    pub paused: bool,
}
