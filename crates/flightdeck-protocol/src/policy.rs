//! The policy: the requests and answers in the log to test it on, and new rules for it.

use flightdeck_core::approval::policy::{RuleDraft, SuggestedRule};
use flightdeck_core::ids::{AgentId, AskId, SessionId};
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

/// The rules that a person may make of an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestRules {
    #[serde(alias = "askId", alias = "id")]
    pub ask_id: AskId,
}

/// Narrowest first; empty for a question, a plan and a form, which only a person answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RuleSuggestions {
    /// The policy is on.
    pub enabled: bool,
    pub rules: Vec<SuggestedRule>,
}

/// What one more rule would have answered so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct PreviewRule {
    pub rule: RuleDraft,
    /// Only requests from this time on.
    #[serde(default)]
    pub since: Option<Timestamp>,
}

/// Write a rule into config.toml.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AddRule {
    pub rule: RuleDraft,
    /// Also turn the policy on.
    #[serde(default, deserialize_with = "arguments::flag")]
    pub enable: bool,
}

/// The rule is in config.toml and applies from the next request on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RuleAdded {
    /// The rule's name, as cards and the log show it.
    pub rule: String,
    /// False if the file has this rule already; it is then not written again.
    pub added: bool,
    /// Whether the policy is on. If it is off, no rule answers.
    pub enabled: bool,
    /// How many rules there are now.
    pub rules: usize,
    /// The file.
    pub path: String,
}
