//! A failed tool call, as the card shows it.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// The last tool call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Failure {
    pub tool: String,
    pub error: String,
    pub at: Timestamp,
}
