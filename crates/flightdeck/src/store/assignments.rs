//! The rows of assignments and their messages.

use std::fmt;

use flightdeck_core::assignment::transition::AssignmentState;
use flightdeck_core::assignment::{Messages, TimeSpan};
use flightdeck_core::ids::AssignmentId;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};

use super::Result;

pub trait Assignments {
    /// A row replaces the earlier row of the same assignment. A row that begins inside another assignment of its session is
    /// dropped: a replay of a log without its beginning may see the second half of an assignment as a new one.
    fn put_assignments(&mut self, rows: &[SessionAssignment]) -> Result<()>;
    /// The newest first, without their messages.
    fn assignments(&mut self, wanted: &AssignmentsWanted) -> Result<AssignmentPage>;
    /// Without its messages.
    fn assignment(&mut self, id: &AssignmentId) -> Result<Option<SessionAssignment>>;
    /// `None` if there is no such assignment.
    fn messages_of(&mut self, id: &AssignmentId) -> Result<Option<Messages>>;
    /// How many assignments were completed since then.
    fn completed_counts(&mut self, since: Timestamp) -> Result<Vec<CompletedCount>>;
    /// The times in which agents worked and waited, if they ended after `since`.
    fn assignment_times(&mut self, since: Timestamp) -> Result<Vec<ProjectTime>>;
}

/// Which assignments to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignmentsWanted {
    /// The name or the folder of a project.
    pub project: Option<String>,
    pub state: Option<AssignmentState>,
    /// Completed at this time or later, or never.
    pub since: Option<Timestamp>,
    /// Opened before this time.
    pub until: Option<Timestamp>,
    pub before: Option<AssignmentCursor>,
    /// What a search looks for, in lower case; every word must be found.
    pub words: Vec<String>,
    pub limit: usize,
}

impl AssignmentsWanted {
    /// Whether the assignment passes the filters. The cursor and the limit are not checked.
    pub fn matches(&self, of: &SessionAssignment) -> bool {
        let (assignment, project) = (&of.assignment, &of.project);
        let in_project = |wanted: &String| project.name() == wanted || project.root() == Some(wanted);
        self.project.as_ref().is_none_or(in_project)
            && self.state.is_none_or(|state| state == assignment.state)
            && self.since.is_none_or(|since| assignment.completed_at.is_none_or(|at| at >= since))
            && self.until.is_none_or(|until| assignment.opened_at < until)
            && self.finds_words(of)
    }

    /// Whether every word occurs in what the log shows of the assignment.
    pub fn finds_words(&self, of: &SessionAssignment) -> bool {
        let texts: Vec<_> = Self::searched_texts(of).collect();
        self.words.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }

    /// The texts that a search looks at, in lower case.
    pub fn searched_texts(of: &SessionAssignment) -> impl Iterator<Item = String> {
        let (assignment, project) = (&of.assignment, &of.project);
        let texts = [
            Some(assignment.title.as_str()),
            assignment.last_message.as_deref(),
            Some(project.name()),
            project.worktree(),
            of.seat.as_deref(),
        ];
        texts.into_iter().flatten().map(str::to_lowercase)
    }
}

/// Where a page of assignments ended. Clients send its text back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AssignmentCursor {
    pub opened_at: Timestamp,
    pub id: AssignmentId,
}

impl AssignmentCursor {
    pub fn from_row(row: &SessionAssignment) -> Self {
        Self { opened_at: row.assignment.opened_at, id: row.assignment.id.clone() }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (ms, id) = text.split_once('-')?;
        Some(Self { opened_at: Timestamp::from_millis(ms.parse().ok()?), id: id.into() })
    }
}

impl fmt::Display for AssignmentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.opened_at.as_millis(), self.id)
    }
}

/// Assignments, the newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssignmentPage {
    pub assignments: Vec<SessionAssignment>,
    /// Continue before this; `None` at the end.
    pub next_before: Option<AssignmentCursor>,
}

impl AssignmentPage {
    /// Takes one assignment more than the limit, if there is one: it shows that there is another page.
    pub(super) fn from_rows(mut assignments: Vec<SessionAssignment>, limit: usize) -> Self {
        let more = assignments.len() > limit;
        assignments.truncate(limit);
        let next_before = assignments.last().filter(|_| more).map(AssignmentCursor::from_row);
        Self { assignments, next_before }
    }
}

/// A quarter of an hour: no time zone begins its day between two of them.
pub const COUNT_SPAN: Millis = Millis::minutes(15);

/// How many assignments of one project were completed within one [`COUNT_SPAN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletedCount {
    pub project: String,
    /// The beginning of the span.
    pub from: Timestamp,
    pub completed: u64,
    pub ended: u64,
    pub died: u64,
}

/// A stretch of time in which an agent worked in a project, or waited for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTime {
    pub project: String,
    pub span: TimeSpan,
}
