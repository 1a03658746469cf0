//! The shape of a report on what was spent.

use serde::{Deserialize, Serialize};

use crate::board::Tokens;
use crate::status_line::RateLimits;
use crate::time::Timestamp;

/// Tokens and money of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Spent {
    pub messages: u64,
    pub tokens: Tokens,
    pub usd_micros: u64,
    /// Models that were used and whose price nobody knows: the sum above lacks them.
    pub unpriced_models: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "UsageRow"))]
pub struct Group {
    /// A time, a date, a project's path, a model, a session's id.
    pub key: String,
    /// As a person calls it.
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
    /// Where the prices are from.
    pub prices: String,
    pub total: Spent,
    pub today: Spent,
    /// Oldest first.
    pub by_day: Vec<Group>,
    /// The dearest first.
    pub by_project: Vec<Group>,
    pub by_model: Vec<Group>,
    pub by_session: Vec<Group>,
    pub sessions_total: u64,
    /// What was asked for with `by`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub rows: Option<Vec<Group>>,
    /// Of the subscription, where a status line told them.
    #[serde(default)]
    pub rate_limits: Option<RateLimits>,
    /// How far the reading of history is; absent when everything was read for this report.
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
    /// The machine has better things to do just now.
    pub paused: bool,
}
