//! Lines of a transcript about the end of a turn, and the prompt that each is about.

use super::enrichment::Enrichment;
use crate::fnv::Fnv;
use crate::limits::{ID_CHARS_MAX, NEWEST_PROMPTS_MAX};
use crate::log::from_transcript::{TurnMark, TurnMarkLine};
use crate::text;
use crate::wire::transcript::TranscriptLine;

impl Enrichment {
    /// For each way in which a turn ends without a hook of ours, the newest line that says so.
    pub fn turn_marks(&self) -> impl Iterator<Item = TurnMarkLine> {
        let marks = [
            (TurnMark::StoppedByHook, self.stopped_by_hook_at, None, None),
            (TurnMark::PromptBlocked, self.prompt_blocked_at, None, None),
            (
                TurnMark::Interrupted,
                self.interrupted_at,
                self.interrupted_prompt.clone(),
                self.next_prompt.clone(),
            ),
        ];
        marks.into_iter().filter_map(|(mark, at, prompt_id, next_prompt_id)| {
            Some(TurnMarkLine { mark, at: at?, prompt_id, next_prompt_id })
        })
    }

    pub(super) fn take_prompt_id(&mut self, id: &str) {
        let digest = Fnv::hash_bytes(id.as_bytes());
        if !self.newest_prompts.contains(&digest) {
            if self.newest_prompts.len() == NEWEST_PROMPTS_MAX {
                self.newest_prompts.pop_front();
            }
            self.newest_prompts.push_back(digest);
        }
        let id = text::one_line(id, ID_CHARS_MAX);
        if self.newest_prompt.as_ref() != Some(&id) {
            self.prompt_before = self.newest_prompt.replace(id);
            self.prompt_is_answered = false;
        }
    }

    /// After an Esc on a call, the client first takes out its queue and then writes the marker, with the id of the prompt from the
    /// queue. The line of that prompt usually follows the marker. If it is before the marker, Claude has not answered that prompt yet: the
    /// client writes no marker for a turn without a line of Claude.
    pub(super) fn take_interrupt(&mut self, line: &TranscriptLine<'_>) {
        if self.interrupted_at > line.at {
            return;
        }
        self.interrupted_at = line.at;
        let named = line.prompt_id.as_deref().map(|id| text::one_line(id, ID_CHARS_MAX));
        let is_next = |id: &str| {
            !self.newest_prompts.is_empty() && !self.newest_prompts.contains(&Fnv::hash_bytes(id.as_bytes()))
        };
        (self.interrupted_prompt, self.next_prompt) = match named {
            Some(next) if is_next(&next) => (self.newest_prompt.clone(), Some(next)),
            Some(next) if !self.prompt_is_answered && self.newest_prompt.as_ref() == Some(&next) => {
                match &self.prompt_before {
                    Some(before) => (Some(before.clone()), Some(next)),
                    None => (Some(next), None),
                }
            }
            named => (named, None),
        };
    }
}
