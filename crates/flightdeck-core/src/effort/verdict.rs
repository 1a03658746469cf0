//! The verdict of an effort on a hook: as data, and in the client's format.

use serde_json::{Map, Value, json};

use crate::limits::INJECTION_CHARS_MAX;

/// The reply to a hook because of an effort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The reason, if the call is denied.
    pub deny: Option<String>,
    /// Texts for the agent.
    pub context: Vec<String>,
    /// Files whose content the agent is given, or that it is told to read. The daemon reads them.
    pub files: Vec<String>,
}

impl Verdict {
    pub fn is_empty(&self) -> bool {
        self.deny.is_none() && self.context.is_empty() && self.files.is_empty()
    }

    /// The JSON that the hook prints. `None` if the hook prints nothing.
    pub fn to_json(&self, event: &str) -> Option<Value> {
        let mut output = Map::from_iter([("hookEventName".to_owned(), event.into())]);
        if let Some(reason) = &self.deny {
            output.insert("permissionDecision".to_owned(), "deny".into());
            output.insert("permissionDecisionReason".to_owned(), reason.as_str().into());
        }
        if !self.context.is_empty() {
            let text: String = self.context.join("\n\n").chars().take(INJECTION_CHARS_MAX).collect();
            output.insert("additionalContext".to_owned(), text.into());
        }
        (output.len() > 1).then(|| json!({ "hookSpecificOutput": output }))
    }
}
