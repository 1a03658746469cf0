//! Guard rules of an effort: the type of a rule, and the check before it is saved. `guard_match.rs` evaluates rules, and `guard_pattern.rs`
//! contains the operators.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::guard_pattern::GuardOperator;
use super::guard_pattern::{PatternCache, compile_pattern};
use crate::limits::{GUARD_MESSAGE_CHARS_MAX, GUARD_TEXT_CHARS_MAX, NAME_CHARS_MAX};

/// A rule about a tool call. Unknown fields and operators are refused when the rule is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GuardRule {
    pub id: String,
    pub when: GuardCondition,
    pub then: GuardAction,
    /// The text that Claude gets if the rule matches.
    #[serde(default)]
    pub message: Option<String>,
    /// Whether the rule acts at most once in each context window.
    #[serde(default)]
    pub once: bool,
    /// Rules with a higher number are evaluated first; the first `allow` or `deny` that matches decides.
    #[serde(default)]
    pub priority: i32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GuardCondition {
    /// A JSON pointer into the payload (`/tool_input/command`), or `window.heartbeat`, `context.percent`, `phase`, `project`.
    pub field: String,
    pub op: GuardOperator,
    /// Absent with `exists`.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(type = "unknown"))]
    pub value: Value,
    #[serde(skip)]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub(super) pattern: PatternCache,
}

impl GuardCondition {
    pub fn new(field: impl Into<String>, op: GuardOperator, value: Value) -> Self {
        Self { field: field.into(), op, value, pattern: PatternCache::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum GuardAction {
    Allow,
    /// The call continues, and Claude gets the message as a warning.
    Warn,
    Deny,
    /// The call continues, and Claude gets the message as context.
    Inject,
}

impl GuardAction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
            Self::Inject => "inject",
        }
    }
}

/// The fields that are not JSON pointers.
pub const GUARD_FIELDS: [&str; 4] = ["window.heartbeat", "context.percent", "phase", "project"];

/// Why a rule cannot be saved. The text names the field of the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGuard {
    #[error("`id` must have 1 to {NAME_CHARS_MAX} characters")]
    Id,
    #[error(
        "`when.field` {0:?} is unknown: use a JSON pointer such as /tool_input/command, or one of window.heartbeat, context.percent, phase, project"
    )]
    Field(String),
    #[error("`when.field` {0:?} is no JSON pointer: `~` is written ~0, and `/` in a name ~1")]
    Pointer(String),
    #[error("`when.value` {0}")]
    Value(String),
    #[error("`message` is missing: a rule with `{0}` needs one")]
    NoMessage(&'static str),
    #[error("`{0}` may have at most {1} characters")]
    TooLong(&'static str, usize),
}

impl GuardRule {
    /// Checks everything that could fail later, so that no rule fails when a tool runs.
    pub fn validate(&self) -> Result<(), BadGuard> {
        if self.id.trim().is_empty() || self.id.chars().count() > NAME_CHARS_MAX {
            return Err(BadGuard::Id);
        }
        let field = &self.when.field;
        if field.chars().count() > GUARD_TEXT_CHARS_MAX {
            return Err(BadGuard::TooLong("when.field", GUARD_TEXT_CHARS_MAX));
        }
        if !field.starts_with('/') && !GUARD_FIELDS.contains(&field.as_str()) {
            return Err(BadGuard::Field(field.clone()));
        }
        if !has_only_known_escapes(field) {
            return Err(BadGuard::Pointer(field.clone()));
        }
        let message = self.message.as_deref().unwrap_or_default();
        if message.chars().count() > GUARD_MESSAGE_CHARS_MAX {
            return Err(BadGuard::TooLong("message", GUARD_MESSAGE_CHARS_MAX));
        }
        if message.trim().is_empty() && matches!(self.then, GuardAction::Warn | GuardAction::Inject) {
            return Err(BadGuard::NoMessage(self.then.as_str()));
        }
        compile_pattern(self.when.op, &self.when.value).map(drop).map_err(BadGuard::Value)
    }

    /// The text that the agent gets if the rule matches and lets the call continue.
    pub(super) fn text_for_agent(&self) -> Option<String> {
        let said = self.message.as_ref()?;
        match self.then {
            GuardAction::Warn => Some(format!("Warning: {said}")),
            GuardAction::Inject => Some(said.clone()),
            GuardAction::Allow | GuardAction::Deny => None,
        }
    }
}

/// In a JSON pointer, `~` stands only in `~0` and `~1`.
fn has_only_known_escapes(pointer: &str) -> bool {
    pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}
