//! The client's queue of prompts, as the lines of a transcript report it.

use super::enrichment::{Enrichment, QueuedPrompt, text_hash};
use crate::limits::QUEUED_PROMPTS_MAX;
use crate::wire::client_notices::is_client_notice;
use crate::wire::transcript::{LineKind, TranscriptLine};

impl Enrichment {
    /// Follows the client's queue of prompts.
    pub(super) fn take_queue_line(&mut self, line: &TranscriptLine<'_>) {
        self.queue_at = line.at.or(self.queue_at);
        match &line.kind {
            LineKind::Enqueued(text) => {
                if text.trim_start().starts_with("<task-notification>") {
                    self.take_task_notice(text);
                }
                if self.queue.len() < QUEUED_PROMPTS_MAX {
                    let by_person = !text.trim_start().starts_with('<') && !is_client_notice(text);
                    self.queue.push_back(QueuedPrompt { mark: text_hash(text), by_person, at: line.at });
                }
            }
            LineKind::Dequeued => drop(self.queue.pop_front()),
            LineKind::Unqueued { text: None, .. } => drop(self.queue.pop_front()),
            LineKind::Unqueued { text: Some(text), .. } => drop(self.unqueue(text)),
            LineKind::TakenBack(text) => {
                let by_person = self.unqueue(text).is_some_and(|queued| queued.by_person);
                if let Some(at) = line.at.filter(|_| by_person) {
                    self.taken_back.add(text, at);
                }
            }
            _ => {}
        }
    }

    /// Removes a prompt from the queue. If it is not there, it was removed before, and no other prompt is removed.
    fn unqueue(&mut self, text: &str) -> Option<QueuedPrompt> {
        let place = self.queue.iter().position(|queued| queued.mark == text_hash(text))?;
        self.queue.remove(place)
    }
}
