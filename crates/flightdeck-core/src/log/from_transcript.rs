//! What a transcript says about a session's state: that it grew (decision 0016), and how a turn ended whose end no hook of ours
//! reports (decisions 0016 and 0033).

use serde_json::{Map, json};

use super::record::{Envelope, EventId, Record, Source};
use crate::ids::SessionId;
use crate::time::Timestamp;

/// Name in the log of a record about a transcript that grew.
pub const TRANSCRIPT_GREW: &str = "transcript_grew";

/// How a turn ended, as a line of the transcript says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnMark {
    /// The person interrupted the turn.
    Interrupted,
    /// A hook of the person ended the turn.
    StoppedByHook,
    /// A hook of the person blocked the prompt, so that no turn began.
    PromptBlocked,
}

impl TurnMark {
    pub const ALL: [Self; 3] = [Self::Interrupted, Self::StoppedByHook, Self::PromptBlocked];

    /// Name in the log of a record about such a line.
    pub fn record_name(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupt_marked",
            Self::StoppedByHook => "stopped_by_hook",
            Self::PromptBlocked => "prompt_blocked",
        }
    }

    pub fn parse(record_name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.record_name() == record_name)
    }
}

/// A line of the transcript about the end of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnMarkLine {
    pub mark: TurnMark,
    /// When the client wrote it.
    pub at: Timestamp,
    /// The prompt of that turn, if it is known.
    pub prompt_id: Option<String>,
    /// The prompt of the next turn, if the client had already taken it out of its queue.
    pub next_prompt_id: Option<String>,
}

/// The record of such a line.
pub fn turn_mark_record(line: &TurnMarkLine, session_id: &SessionId, id: EventId) -> Record {
    let envelope = Envelope { has_fired_at: true, ..Envelope::default() };
    let prompts = [("prompt_id", &line.prompt_id), ("next_prompt_id", &line.next_prompt_id)];
    let prompts = prompts.into_iter().filter_map(|(name, id)| Some((name.to_owned(), json!(id.as_ref()?))));
    let name = line.mark.record_name();
    Record {
        fired_at: line.at,
        envelope,
        ..Record::noticed_here(Source::Transcript, name, session_id, prompts.collect(), id)
    }
}

/// The record of a transcript that grew. `at` is the time in its newest line.
pub fn growth_record(session_id: &SessionId, transcript_path: &str, at: Timestamp, id: EventId) -> Record {
    let payload = Map::from_iter([("transcript_path".to_owned(), json!(transcript_path))]);
    let envelope = Envelope { has_fired_at: true, ..Envelope::default() };
    Record {
        fired_at: at,
        envelope,
        ..Record::noticed_here(Source::Transcript, TRANSCRIPT_GREW, session_id, payload, id)
    }
}
