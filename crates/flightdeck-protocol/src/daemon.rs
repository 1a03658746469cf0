//! How the daemon itself is doing.

use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::totals::Indexing;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hooks::HookStatus;
use crate::notify::NotifyTargetStatus;

/// Whether a daemon answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ping {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pong {
    pub version: String,
    pub pid: u32,
}

/// Whether events can be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetHealth {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HealthReport {
    pub status: HealthStatus,
    /// What is wrong, a sentence each.
    pub reasons: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum HealthStatus {
    Ok,
    Degraded,
}

impl HealthReport {
    pub fn new(reasons: Vec<String>) -> Self {
        let status = if reasons.is_empty() { HealthStatus::Ok } else { HealthStatus::Degraded };
        Self { status, reasons }
    }
}

/// Everything `flightdeck status` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetStatus {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    pub version: String,
    pub pid: u32,
    /// The address of the board.
    pub url: String,
    pub started_at: Timestamp,
    #[serde(flatten)]
    pub health: HealthReport,
    pub sessions: u64,
    pub viewers: u64,
    pub store_bytes: u64,
    pub history: Indexing,
    pub hooks: HookStatus,
    #[serde(default)]
    pub config: ConfigReport,
    /// The targets of notifications; empty if there are none.
    #[serde(default)]
    pub notify: Vec<NotifyTargetStatus>,
}

/// Whether the daemon uses the current config.toml, and which changes need a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigReport {
    /// Why the current file is not used. The settings from before the change stay.
    pub problem: Option<String>,
    /// Changed settings that apply only after a restart.
    pub needs_restart: Vec<String>,
}

/// The counters of the daemon, as Prometheus text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetMetrics {}

/// The OpenAPI document of this interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetOpenApi {}

/// Prometheus text.
pub type Metrics = String;
/// An OpenAPI document.
pub type OpenApi = Value;
