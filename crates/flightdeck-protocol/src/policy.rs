//! What the policy is judged on: the requests and answers of the log.

use flightdeck_core::ids::{AgentId, SessionId};
use flightdeck_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arguments;

/// Permission requests and answers, oldest first, a page at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetPolicyHistory {
    /// `next_after` of the page before.
    #[serde(deserialize_with = "arguments::number")]
    pub after: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyHistory {
    pub events: Vec<PolicyEvent>,
    /// `null` on the last page.
    pub next_after: Option<u64>,
}

/// A permission request or an answer, as it stands in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyEvent {
    pub id: String,
    pub received_at: Timestamp,
    pub name: String,
    /// `null` for an event of no session.
    pub session_id: Option<SessionId>,
    pub agent_id: Option<AgentId>,
    pub project_dir: Option<String>,
    pub entrypoint: Option<String>,
    pub payload: Map<String, Value>,
}
