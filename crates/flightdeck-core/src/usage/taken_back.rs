//! Prompts that were typed ahead and that the person took back from the queue. No hook says so.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::limits::{CARD_PROMPT_CHARS_MAX, TAKEN_BACK_MAX};
use crate::text;
use crate::time::{Millis, Timestamp};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TakenBack {
    /// When each one was taken back, the newest last.
    times: VecDeque<Timestamp>,
    newest: Option<String>,
}

impl TakenBack {
    /// Commands do not count: their hook fires only when the client runs them.
    pub(super) fn add(&mut self, prompt: &str, at: Timestamp) {
        if prompt.trim_start().starts_with('/') {
            return;
        }
        if self.times.len() == TAKEN_BACK_MAX {
            self.times.pop_front();
        }
        self.times.push_back(at);
        self.newest = Some(text::lines(prompt, CARD_PROMPT_CHARS_MAX));
    }

    /// The same without the text of a prompt.
    pub(super) fn without_payloads(self) -> Self {
        Self { newest: None, ..self }
    }

    /// Subtracts `ahead` from every time.
    pub(super) fn correct(&mut self, ahead: Millis) {
        self.times.iter_mut().for_each(|at| *at = *at - ahead);
    }

    /// How many prompts were taken back since that time.
    pub fn count_since(&self, since: Timestamp) -> u32 {
        self.times.iter().filter(|at| **at >= since).count() as u32
    }

    /// Whether this prompt, typed at that time, was taken back.
    pub fn holds(&self, prompt: &str, typed_at: Timestamp) -> bool {
        self.newest.as_deref() == Some(prompt) && self.times.back().is_some_and(|at| *at >= typed_at)
    }
}
