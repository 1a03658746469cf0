//! The verdict of an effort on a hook: as data, and in the client's format.

use serde_json::{Map, Value, json};

use crate::limits::INJECTION_CHARS_MAX;

/// The reply to a hook because of an effort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookVerdict {
    /// The reason, if the call is denied.
    pub deny: Option<String>,
    /// Texts for the agent, together at most `INJECTION_CHARS_MAX` characters.
    pub context: Vec<String>,
    /// Files whose content the agent is given, or that it is told to read. The daemon reads them.
    pub files: Vec<String>,
}

/// Stands between two texts.
const JOINED_BY: &str = "\n\n";

impl HookVerdict {
    /// Adds a text if there is room for all of it. Returns whether it was added.
    pub fn push(&mut self, text: String) -> bool {
        let fits = text.chars().count() <= self.room();
        if fits {
            self.context.push(text);
        }
        fits
    }

    /// How many characters one more text may have.
    pub fn room(&self) -> usize {
        let used: usize = self.context.iter().map(|text| text.chars().count() + JOINED_BY.len()).sum();
        INJECTION_CHARS_MAX.saturating_sub(used)
    }

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
            output.insert("additionalContext".to_owned(), self.context.join(JOINED_BY).into());
        }
        (output.len() > 1).then(|| json!({ "hookSpecificOutput": output }))
    }
}
