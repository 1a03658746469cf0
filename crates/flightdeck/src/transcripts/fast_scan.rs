//! The fast scan of a transcript, for spending reports: reads only the billed usage and the session's title.

use flightdeck_core::ids::AgentId;
use flightdeck_core::limits::{CARD_PROMPT_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX};
use flightdeck_core::text;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use flightdeck_core::usage::price::Usage;
use flightdeck_core::wire::billed_usage::{MessageKey, billed_usage};
use flightdeck_core::wire::transcript::{LineKind, TranscriptLine};

use crate::store::{Title, TitledBy};

/// Lines that are searched for the first prompt, which is the title of a session that has no other. If a transcript has a
/// prompt, the first one is near the beginning.
const PROMPT_WITHIN_LINES: u32 = 64;

/// The result of one scan of a file.
#[derive(Debug, Default)]
pub struct FastScan {
    /// In the order of the file. Consecutive lines of one message are one row.
    pub rows: Vec<ScanRow>,
    pub models: Vec<String>,
    pub cwd: Option<String>,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// Lines that could not be parsed.
    pub unreadable: u64,
    /// The best title that this file contains.
    pub title: Option<Title>,
    lines: u32,
}

/// One billed message.
#[derive(Clone, Copy, Debug)]
pub struct ScanRow {
    pub key: MessageKey,
    pub at: Timestamp,
    /// Index in [`FastScan::models`].
    pub model: u32,
    pub usage: Usage,
}

impl FastScan {
    pub fn counted(&self, agent: &AgentId) -> Vec<CountedMessage> {
        let counted = |row: &ScanRow| CountedMessage {
            key: row.key,
            model: self.model(row).to_owned(),
            agent: agent.clone(),
            at: row.at,
            usage: row.usage,
        };
        self.rows.iter().map(counted).collect()
    }

    pub fn model(&self, row: &ScanRow) -> &str {
        self.models.get(row.model as usize).map_or("", String::as_str)
    }

    pub fn read_line(&mut self, line: &[u8]) {
        self.lines = self.lines.saturating_add(1);
        if self.title.is_none() && self.lines <= PROMPT_WITHIN_LINES {
            self.look_for_prompt(line);
        }
        if is_bookkeeping(line) {
            return self.read_title(line);
        }
        match billed_usage(line) {
            Ok(Some(b)) => {
                let at = b.at.or(self.last_at).unwrap_or_default();
                let row =
                    ScanRow { key: b.key, at, model: self.model_index(&b.charged_as()), usage: b.usage };
                self.first_at = Some(self.first_at.map_or(at, |t| t.min(at)));
                self.last_at = Some(self.last_at.map_or(at, |t| t.max(at)));
                if self.cwd.is_none() {
                    self.cwd = b.cwd().map(|cwd| text::one_line(&cwd, PATH_CHARS_MAX));
                }
                match self.rows.last_mut().filter(|last| last.key == row.key) {
                    Some(last) => *last = row,
                    None => self.rows.push(row),
                }
            }
            Ok(None) => {}
            Err(_) => self.unreadable += u64::from(!line.trim_ascii().is_empty()),
        }
    }

    fn look_for_prompt(&mut self, line: &[u8]) {
        if let Ok(TranscriptLine { kind: LineKind::Prompt(prompt), .. }) = TranscriptLine::parse(line) {
            self.title = Some(title(&prompt, TitledBy::FirstPrompt)).filter(|t| !t.text.is_empty());
        }
    }

    fn read_title(&mut self, line: &[u8]) {
        if !line.starts_with(b"{\"type\":\"ai-title\"") && !line.starts_with(b"{\"type\":\"custom-title\"") {
            return;
        }
        let new = match TranscriptLine::parse(line).map(|l| l.kind) {
            Ok(LineKind::CustomTitle(text)) => Some(title(&text, TitledBy::Person)),
            Ok(LineKind::AiTitle(text)) => Some(title(&text, TitledBy::Model)),
            _ => None,
        };
        Title::replace_if_better(&mut self.title, new);
    }

    fn model_index(&mut self, model: &str) -> u32 {
        let index = |models: &[String], name: &str| models.iter().position(|m| m == name);
        let found = index(&self.models, model).unwrap_or_else(|| {
            let name = text::one_line(model, NAME_CHARS_MAX);
            index(&self.models, &name).unwrap_or_else(|| {
                self.models.push(name);
                self.models.len() - 1
            })
        });
        found as u32
    }
}

pub(super) fn title(text: &str, by: TitledBy) -> Title {
    Title { text: text::one_line(text, CARD_PROMPT_CHARS_MAX), by }
}

/// Lines about the file itself begin with their type. Lines of the conversation do not, or their type is `assistant`.
fn is_bookkeeping(line: &[u8]) -> bool {
    line.strip_prefix(b"{\"type\":\"").is_some_and(|kind| !kind.starts_with(b"assistant\""))
}

#[cfg(test)]
mod tests {
    use flightdeck_core::usage::enrichment::{TranscriptFile, TranscriptFold};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fast_scan_finds_the_same_folders_and_models_as_the_full_fold() {
        for (cwd, model) in [("/w/a\"b\\c", "m"), (&"/x".repeat(10_000), &"m".repeat(10_000))] {
            let line = json!({"type": "assistant", "cwd": cwd, "message": {"id": "a", "model": model,
                "usage": {"output_tokens": 1}}});
            let line = line.to_string();
            let (mut fast, mut whole) = (FastScan::default(), TranscriptFold::default());
            for _ in 0..2 {
                fast.read_line(line.as_bytes());
                whole.count_line(TranscriptFile::Main, line.as_bytes());
            }
            assert_eq!(fast.cwd, whole.enrichment().cwd);
            assert_eq!(fast.models, whole.enrichment().usage.keys().cloned().collect::<Vec<_>>());
        }
    }
}
