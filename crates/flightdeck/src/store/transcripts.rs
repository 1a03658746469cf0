//! How far each transcript was read, and what was in it.

use flightdeck_core::ids::{AgentId, SessionId};
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;

use super::Result;

pub trait Transcripts {
    /// Writes all rows in one transaction.
    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()>;
    /// How far every transcript was read.
    fn transcript_files(&mut self) -> Result<Vec<FileRead>>;
    /// How far one session was read, with all its messages.
    fn transcript(&mut self, session_id: &SessionId) -> Result<Option<TranscriptBatch>>;
    /// Sessions with a message since then, in the order they started.
    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>>;
    /// Every message of these sessions.
    fn usage_of(&mut self, sessions: &[SessionId]) -> Result<Vec<SessionUsage>>;
    /// The messages of each stretch, in the order of the stretches; `None` if no transcript of its session was read.
    fn usage_between(&mut self, stretches: &[SessionStretch]) -> Result<Vec<Option<Vec<CountedMessage>>>>;
}

/// How far one transcript was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRead {
    pub path: String,
    pub session_id: SessionId,
    /// The subagent whose file it is. Empty for the main file.
    pub agent: AgentId,
    pub dev: u64,
    pub inode: u64,
    pub read_to: u64,
    /// A checksum of the last bytes read.
    pub mark: u64,
}

/// What is known of a session from its transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRead {
    pub session_id: SessionId,
    pub cwd: Option<String>,
    pub title: Option<Title>,
    pub first_at: Timestamp,
    /// When its first file was created.
    pub born_at: Timestamp,
    pub last_at: Timestamp,
}

/// The title of a session, and who gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    pub text: String,
    pub by: TitledBy,
}

/// A later variant wins over an earlier one. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitledBy {
    FirstPrompt = 1,
    Model = 2,
    Person = 3,
}

impl Title {
    /// Takes the title of a later reading if it wins: of prompts the first counts, of titles the last.
    pub fn replace_if_better(kept: &mut Option<Self>, new: Option<Self>) {
        let by = |title: &Option<Self>| title.as_ref().map(|t| t.by);
        if by(&new) > by(kept) || (by(&new) == by(kept) && by(kept) > Some(TitledBy::FirstPrompt)) {
            *kept = new;
        }
    }
}

/// What was read of one session's transcripts, and how far. Stored together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptBatch {
    /// A file was replaced: what was stored of the session is removed first.
    pub anew: bool,
    pub session: SessionRead,
    pub files: Vec<FileRead>,
    /// The enrichment as JSON, if every line was read and not only the usage.
    pub known: Option<String>,
    pub counted: Vec<CountedMessage>,
}

/// A stretch of one session's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStretch {
    pub session_id: SessionId,
    pub from: Timestamp,
    /// Not included.
    pub to: Timestamp,
}

/// Every message of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUsage {
    pub session_id: SessionId,
    pub counted: Vec<CountedMessage>,
}
