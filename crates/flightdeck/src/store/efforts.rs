//! The rows of efforts, their windows and their messages.

use std::cmp::Reverse;
use std::fmt;
use std::path::Path;

use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage, Lifecycle, WorkstreamAbout};
use flightdeck_core::ids::{EffortId, MessageId, WindowId};
use flightdeck_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Result;

pub trait EffortStore {
    /// A row replaces an older row of the same effort, and never a newer one. Its windows and its workstream are written with it.
    fn put_efforts(&mut self, rows: &[Effort]) -> Result<()>;
    /// A message replaces the earlier row of the same message.
    fn put_effort_messages(&mut self, rows: &[MessageRow]) -> Result<()>;
    /// The newest first.
    fn efforts(&mut self, wanted: &EffortsWanted) -> Result<EffortPage>;
    fn effort(&mut self, id: &EffortId) -> Result<Option<Effort>>;
    /// Finds a window, even if its effort no longer lists it.
    fn window(&mut self, id: &WindowId) -> Result<Option<ContextWindow>>;
    /// The workstreams with the newest efforts.
    fn workstreams(&mut self, limit: usize) -> Result<Vec<StoredWorkstream>>;
    /// The newest messages of an effort, oldest first.
    fn effort_messages(&mut self, wanted: &MessagesWanted) -> Result<Vec<EffortMessage>>;
}

/// A workstream, as described by its newest effort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredWorkstream {
    pub dir: String,
    /// The ordinal of its newest effort.
    pub ordinal: u32,
    pub about: WorkstreamAbout,
}

/// A message, and the effort that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    pub effort: EffortId,
    pub message: EffortMessage,
}

/// Which efforts to read. A field that is `None` does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffortFilter {
    /// The directory of the workstream, or a folder below it.
    pub dir: Option<String>,
    pub skill: Option<String>,
    pub seat: Option<String>,
}

impl EffortFilter {
    fn takes(&self, effort: &Effort) -> bool {
        self.dir.as_ref().is_none_or(|dir| Path::new(dir).starts_with(&effort.workstream))
            && self.skill.as_ref().is_none_or(|skill| *skill == effort.skill)
            && self.seat.as_ref().is_none_or(|seat| effort.seat.as_deref() == Some(seat.as_str()))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffortsWanted {
    pub lifecycle: Option<Lifecycle>,
    pub filter: EffortFilter,
    pub before: Option<EffortCursor>,
    pub limit: usize,
}

impl EffortsWanted {
    fn matches(&self, effort: &Effort) -> bool {
        self.lifecycle.is_none_or(|lifecycle| lifecycle == effort.lifecycle)
            && self.filter.takes(effort)
            && self.before.as_ref().is_none_or(|before| EffortCursor::from_effort(effort) < *before)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagesWanted {
    pub effort: EffortId,
    pub kind: Option<String>,
    pub before: Option<MessageId>,
    pub limit: usize,
}

/// Where a page of efforts ended. Clients send its text back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffortCursor {
    pub started_at: Timestamp,
    pub id: EffortId,
}

impl EffortCursor {
    pub fn from_effort(effort: &Effort) -> Self {
        Self { started_at: effort.started_at, id: effort.id.clone() }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (ms, id) = text.split_once('-')?;
        Some(Self { started_at: Timestamp::from_millis(ms.parse().ok()?), id: id.into() })
    }
}

impl fmt::Display for EffortCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.started_at.as_millis(), self.id)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffortPage {
    pub efforts: Vec<Effort>,
    /// Continue before this; `None` at the end.
    pub next_before: Option<EffortCursor>,
}

impl EffortPage {
    /// The requested page of these efforts.
    pub fn of<'a>(efforts: impl Iterator<Item = &'a Effort>, wanted: &EffortsWanted) -> Self {
        let mut found: Vec<&Effort> = efforts.filter(|effort| wanted.matches(effort)).collect();
        found.sort_by_key(|effort| Reverse(EffortCursor::from_effort(effort)));
        found.truncate(wanted.limit.saturating_add(1));
        Self::from_rows(found.into_iter().cloned().collect(), wanted.limit)
    }

    /// Takes one effort more than the limit, if there is one: it shows that there is another page.
    pub(super) fn from_rows(mut efforts: Vec<Effort>, limit: usize) -> Self {
        let more = efforts.len() > limit;
        efforts.truncate(limit);
        let next_before = efforts.last().filter(|_| more).map(EffortCursor::from_effort);
        Self { efforts, next_before }
    }
}

/// `active`, `finished`
pub(super) fn lifecycle_name(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Active => "active",
        Lifecycle::Finished => "finished",
    }
}
