//! What goes into the store and comes out of it.

use std::fmt;
use std::path::PathBuf;

use flightdeck_core::enrichment::Counted;
use flightdeck_core::record::Record;
use flightdeck_core::time::{Millis, Timestamp};

use super::{Parts, Store};

/// Where one record of a batch stands in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub seq: u64,
    /// It was in the log already, under this `seq`: acknowledge it, do not apply it.
    pub duplicate: bool,
}

/// A stretch of the log, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    pub records: Vec<Record>,
    /// Ask again after this `seq` (or before it, if it was read from there); `None` at the end.
    pub next: Option<u64>,
    /// Rows that are stored but do not read back. They stay where they are.
    pub unreadable: u64,
}

/// Which events of a session to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsOf {
    pub session_id: String,
    pub from: PageFrom,
    pub limit: usize,
    /// Without it every payload comes back empty, and large ones are never read from disk.
    pub with_payload: bool,
}

/// Events by name, of all sessions, with their payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsNamed {
    pub names: [&'static str; 2],
    pub after_seq: u64,
}

/// Where a page of a session's events begins. Either way it is told oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFrom {
    /// The oldest that came after this `seq`.
    After(u64),
    /// The newest that came before it.
    Before(u64),
}

/// The first event that is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oldest {
    pub seq: u64,
    pub received_at: Timestamp,
}

/// The fleet after the event `seq`, in the words of one version of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub seq: u64,
    pub rules_version: String,
    pub body: Parts,
}

impl Snapshot {
    /// Each step is a bijection of the sum, so damage to any one word always shows.
    pub(super) fn checksum(&self) -> i64 {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |word: u64| sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let rules = self.rules_version.as_bytes();
        [self.seq, rules.len() as u64, self.body.len() as u64].into_iter().for_each(&mut take);
        // No part but the last ends within a word.
        for chunk in [rules].into_iter().chain(self.body.iter()).flat_map(|part| part.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            take(u64::from_le_bytes(word));
        }
        sum as i64
    }
}

/// A session as it is kept for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    pub id: String,
    pub project: Option<String>,
    pub title: Option<String>,
    pub started_at: Timestamp,
    pub last_activity_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The card as JSON, as it goes out over the wire.
    pub card: String,
}

impl StoredSession {
    pub(super) fn cursor(&self) -> SessionCursor {
        SessionCursor { last_activity_at: self.last_activity_at, id: self.id.clone() }
    }
}

/// Where a page of stored sessions ended. Its text is opaque to clients and reads back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionCursor {
    pub last_activity_at: Timestamp,
    pub id: String,
}

impl SessionCursor {
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, id) = text.split_once('-')?;
        Some(Self { last_activity_at: Timestamp::from_millis(ms.parse().ok()?), id: id.to_owned() })
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.last_activity_at.as_millis(), self.id)
    }
}

/// Stored sessions, the last active first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    pub sessions: Vec<StoredSession>,
    /// Ask again before this; `None` at the end.
    pub next_before: Option<SessionCursor>,
}

impl SessionPage {
    /// From one more session than asked for: the extra one only tells that there is more.
    pub(super) fn cut(mut sessions: Vec<StoredSession>, limit: usize) -> Self {
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let next_before = sessions.last().filter(|_| more).map(StoredSession::cursor);
        Self { sessions, next_before }
    }
}

/// How long events are kept unless `keep.days` says otherwise: a month of "why was that" and of dry runs of a policy.
const KEPT_FOR: Millis = Millis::hours(24 * 30);
/// How much room they may take unless `keep.megabytes` says otherwise: a disk of today hardly notices.
const EVENTS_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// How long events are kept. Sessions are kept for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    pub max_age: Millis,
    pub max_bytes: u64,
    /// Events after this one stay: the latest snapshot does not hold them yet.
    pub keep_after_seq: u64,
}

impl Default for RetentionPolicy {
    /// Keeps everything until `keep_after_seq` says what a snapshot holds.
    fn default() -> Self {
        Self { max_age: KEPT_FOR, max_bytes: EVENTS_BYTES_MAX, keep_after_seq: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetainReport {
    pub removed: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// There was more to remove, but no snapshot holds it yet.
    pub held_back: bool,
}

/// An open store, and what had to be done to open it.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    pub set_aside: Option<SetAside>,
}

/// A damaged file, moved out of the way and never deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    pub reason: String,
}

/// How far one transcript was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRead {
    pub path: String,
    pub session_id: String,
    /// Empty for the main file.
    pub agent: String,
    pub dev: u64,
    pub inode: u64,
    pub read_to: u64,
    /// A sum of the last bytes read.
    pub mark: u64,
}

/// A session as its transcripts tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRead {
    pub session_id: String,
    pub cwd: Option<String>,
    pub title: Option<Title>,
    pub first_at: Timestamp,
    /// When its first file was made.
    pub born_at: Timestamp,
    pub last_at: Timestamp,
}

/// What a session is called, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    pub text: String,
    pub by: TitledBy,
}

/// The later stands above the earlier. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitledBy {
    FirstPrompt = 1,
    Model = 2,
    Person = 3,
}

impl Title {
    /// A later reading found another title. Of prompts the first counts, of titles the last.
    pub fn keep(kept: &mut Option<Self>, new: Option<Self>) {
        let by = |title: &Option<Self>| title.as_ref().map(|t| t.by);
        if by(&new) > by(kept) || (by(&new) == by(kept) && by(kept) > Some(TitledBy::FirstPrompt)) {
            *kept = new;
        }
    }
}

/// What a reading of one session's transcripts found, with where it stopped: stored together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptBatch {
    /// A file was written anew: what was known of the session goes first.
    pub anew: bool,
    pub session: SessionRead,
    pub files: Vec<FileRead>,
    /// The enrichment as JSON, where every line was read and not only what costs money.
    pub known: Option<String>,
    pub counted: Vec<Counted>,
}

/// Every message of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUsage {
    pub session_id: String,
    pub counted: Vec<Counted>,
}
