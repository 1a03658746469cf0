//! A turn: from a prompt to its stop, and which turns are over.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::agent::IdleReason;
use crate::limits::{ENDED_TURNS_MAX, QUEUED_PROMPTS_MAX};
use crate::time::{Millis, Timestamp};

/// The newest turn of a process, and what is kept about the turns before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub count: u32,
    pub started_at: Option<Timestamp>,
    /// When the client began to work on this turn, if only its registry reported that.
    #[serde(default)]
    pub unheard_since: Option<Timestamp>,
    /// When the client last began to work on a notice of its own.
    #[serde(default)]
    pub woken_at: Option<Timestamp>,
    /// The turn runs: its time is not final yet.
    pub open: bool,
    /// How long the last ended turn took.
    pub last: Option<Millis>,
    pub prompt_id: Option<String>,
    /// The first id of the turn, if a prompt that was typed ahead gave it another one. The turn has both ids.
    #[serde(default)]
    pub first_prompt_id: Option<String>,
    /// The turn began from the queue, and no event has named its prompt yet. Until then, `prompt_id` belongs to the turn before,
    /// which is over.
    #[serde(default)]
    pub unnamed: bool,
    /// How the turn ended, if its own hook reported it.
    pub stopped: Option<IdleReason>,
    /// A hook reported the start of a tool or a request in this turn. Without one, the registration may have no such hooks, and a
    /// notification is the only sign of a permission prompt.
    #[serde(default)]
    pub tools_reported: bool,
    /// When a tool last changed a file, in this turn or before.
    #[serde(default)]
    pub changed_files_at: Option<Timestamp>,
    /// Ids of ended turns: an event without a timestamp is late if it names one of them.
    pub ended_prompts: VecDeque<String>,
    /// When the client wrote the newest interrupt marker into the transcript.
    #[serde(default)]
    pub interrupted_at: Option<Timestamp>,
    /// What a hook of the person stopped last, according to the transcript.
    #[serde(default)]
    pub hook_stop: Option<HookStop>,
    /// For each prompt that waits in the client's queue: when it was typed. Only prompts that a hook reported are known.
    #[serde(default)]
    pub queued: Vec<Timestamp>,
    /// When the client last took out its queue. An older line of the transcript is about prompts that are gone.
    #[serde(default)]
    pub queue_taken_at: Timestamp,
    /// When the last call ended. The client gives every prompt that was queued by then to the running turn.
    #[serde(default)]
    pub absorbs_at: Timestamp,
}

/// Which turn of a process a prompt id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnOfPrompt {
    Current,
    /// A turn that has ended.
    Over,
    /// No turn that is known.
    Unknown,
}

/// A line of the transcript which says that a hook of the person stopped something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStop {
    pub at: Timestamp,
    /// The prompt was not sent. Otherwise a running turn was ended.
    pub blocked_prompt: bool,
}

impl Turn {
    /// Whether a tool changed a file in this turn.
    pub(super) fn changed_files(&self) -> bool {
        self.changed_files_at.is_some() && self.changed_files_at >= self.started_at
    }

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

    /// The client took its queue out for a turn of its own. Its first event will name it.
    pub(super) fn begin_from_queue(&mut self, at: Timestamp) {
        self.empty_queue(at);
        self.stopped = None;
        self.end_prompt(self.prompt_id.clone());
        self.unnamed = true;
    }

    /// An event names the prompt of the turn. Returns the name that it had.
    pub(super) fn take_name(&mut self, prompt: Option<String>) -> Option<String> {
        self.unnamed = false;
        std::mem::replace(&mut self.prompt_id, prompt)
    }

    pub(super) fn of_prompt(&self, prompt: &str) -> TurnOfPrompt {
        let is = |id: &Option<String>| id.as_deref() == Some(prompt);
        match () {
            () if self.has_ended(Some(prompt)) => TurnOfPrompt::Over,
            () if is(&self.prompt_id) || is(&self.first_prompt_id) => TurnOfPrompt::Current,
            () => TurnOfPrompt::Unknown,
        }
    }

    /// The turn with this prompt goes on, although it seemed to have ended.
    pub(super) fn reopen(&mut self, prompt: &str) {
        self.stopped = None;
        self.open = true;
        self.ended_prompts.retain(|ended| ended != prompt);
    }

    /// A prompt was typed ahead: the client puts it at the end of its queue.
    pub(super) fn enqueue(&mut self, at: Timestamp) {
        if self.queued.len() < QUEUED_PROMPTS_MAX {
            self.queued.push(at);
        }
    }

    /// The client takes everything out of its queue at once: into the running turn, or into a turn of its own.
    pub(super) fn empty_queue(&mut self, at: Timestamp) {
        if !self.queued.is_empty() {
            self.queued.clear();
            self.queue_taken_at = self.queue_taken_at.max(at);
        }
    }

    /// Whether the client continues with its queue when the turn ends, because a prompt was typed after the last call.
    pub(super) fn goes_on_with_queue(&self) -> bool {
        self.queued.last().is_some_and(|typed_at| *typed_at > self.absorbs_at)
    }

    /// Whether this prompt id belongs to a turn that is not known yet: neither to the current turn nor to one that is over.
    pub(super) fn is_another(&self, prompt: Option<&str>) -> bool {
        prompt.is_some()
            && self.prompt_id.is_some()
            && prompt != self.prompt_id.as_deref()
            && prompt != self.first_prompt_id.as_deref()
            && !self.has_ended(prompt)
    }

    pub(super) fn has_ended(&self, prompt: Option<&str>) -> bool {
        prompt.is_some_and(|p| self.ended_prompts.iter().any(|e| e == p))
    }
}
