//! A turn: from a prompt to its stop, and which turns are over.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::agent::IdleReason;
use crate::limits::ENDED_TURNS_MAX;
use crate::time::{Millis, Timestamp};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub count: u32,
    pub started_at: Option<Timestamp>,
    /// The turn runs: its time is not final yet.
    pub open: bool,
    /// Set when the turn ends.
    pub last: Option<Millis>,
    pub prompt_id: Option<String>,
    /// How the turn ended, if its own hook reported it.
    pub stopped: Option<IdleReason>,
    /// A hook reported the start of a tool or a request in this turn. Without one, the registration may have no such hooks, and a
    /// notification is the only sign of a permission prompt.
    #[serde(default)]
    pub tools_reported: bool,
    /// Turns that are over, for events without a clock of their own.
    pub ended_prompts: VecDeque<String>,
}

impl Turn {
    pub(super) fn end_prompt(&mut self, prompt: Option<String>) {
        let Some(prompt) = prompt else { return };
        if self.ended_prompts.contains(&prompt) {
            return;
        }
        if self.ended_prompts.len() == ENDED_TURNS_MAX {
            self.ended_prompts.pop_front();
        }
        self.ended_prompts.push_back(prompt);
    }

    pub(super) fn has_ended(&self, prompt: Option<&str>) -> bool {
        prompt.is_some_and(|p| self.ended_prompts.iter().any(|e| e == p))
    }
}
