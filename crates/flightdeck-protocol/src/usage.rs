//! What was spent.

use serde::{Deserialize, Serialize};

use crate::arguments;

/// The report on tokens and money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetUsage {
    /// `today`, `7d`, a date, or an RFC 3339 time.
    pub since: Option<String>,
    /// What `rows` are: hour, day, project, model, session.
    pub by: Option<String>,
    /// The rows to skip.
    #[serde(deserialize_with = "arguments::number")]
    pub offset: Option<usize>,
    #[serde(deserialize_with = "arguments::number")]
    pub limit: Option<usize>,
    /// Look for new transcript bytes first, even if no change was reported.
    #[serde(deserialize_with = "arguments::flag")]
    pub refresh: bool,
}

/// How far the reading of past transcripts is; `pause` stops it or lets it go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlIndexing {
    #[serde(deserialize_with = "arguments::maybe_flag")]
    pub pause: Option<bool>,
}
