//! Assignments: open ones from the fleet, completed ones from the store.

use flightdeck_core::assignment::transition::AssignmentState;
use flightdeck_core::assignment::{Assignment, Messages};
use flightdeck_core::ids::AssignmentId;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::CountedMessage;
use flightdeck_core::usage::price::Bill;
use flightdeck_core::view::assignment::{AssignmentCard, AssignmentCost};
use flightdeck_protocol::assignments::{
    AssignmentList, GetAssignment, ListAssignments, ListMessages, MessageList,
};
use jiff::tz::TimeZone;

use super::{App, AppError, AppReply, Handle};
use crate::clock;
use crate::engine::OpenAssignments;
use crate::moment::{MOMENTS, parse_moment};
use crate::store::{AssignmentCursor, AssignmentPage, AssignmentsWanted, SessionStretch};

/// Most rows of one page, however many were asked for.
const PAGE_ROWS_MAX: usize = 500;
const PAGE_ROWS: usize = 100;
/// The word that filters for every state except complete.
const OPEN_STATES: &str = "open";

impl Handle<ListAssignments> for App {
    async fn handle(&self, request: ListAssignments) -> Result<AppReply<AssignmentList>, AppError> {
        let now = clock::now();
        let only_open = request.state.as_deref() == Some(OPEN_STATES);
        let wanted = assignments_wanted(&request, now)?;
        let open = self.engine.open_assignments().await?;
        let stored = match only_open {
            true => AssignmentPage::default(),
            false => self.store.assignments(wanted.clone()).await?,
        };
        let (rows, next_before) = newest_first(open.assignments, stored, &wanted);
        let assignments = self.with_costs(rows, now, open.host.as_deref()).await?;
        Ok(AssignmentList { assignments, next_before: next_before.map(|c| c.to_string()) }.into())
    }
}

impl Handle<GetAssignment> for App {
    async fn handle(&self, request: GetAssignment) -> Result<AppReply<AssignmentCard>, AppError> {
        let (row, host) = self.assignment(&request.id).await?;
        let card = self.with_costs(vec![row], clock::now(), host.as_deref()).await?.pop();
        card.map(Into::into).ok_or(AppError::NoAssignment(request.id))
    }
}

impl Handle<ListMessages> for App {
    async fn handle(&self, request: ListMessages) -> Result<AppReply<MessageList>, AppError> {
        let messages = match self.open_assignment(&request.id).await? {
            (Some(open), _) => open.assignment.messages,
            (None, _) => self.stored_messages(&request.id).await?,
        };
        let dropped = messages.dropped();
        Ok(MessageList { messages: messages.iter().cloned().collect(), dropped }.into())
    }
}

impl App {
    /// The cards of these assignments, each with the cost of its session in that time.
    pub(super) async fn with_costs(
        &self,
        rows: Vec<SessionAssignment>,
        now: Timestamp,
        host: Option<&str>,
    ) -> Result<Vec<AssignmentCard>, AppError> {
        let usage =
            self.store.usage_between(rows.iter().map(|row| session_stretch(row, now)).collect()).await?;
        let card = |(row, usage): (&SessionAssignment, Option<Vec<CountedMessage>>)| AssignmentCard {
            cost: usage.map(|counted| self.cost(&counted)),
            ..AssignmentCard::new(row, now, host)
        };
        Ok(rows.iter().zip(usage).map(card).collect())
    }

    fn cost(&self, counted: &[CountedMessage]) -> AssignmentCost {
        AssignmentCost::from_bill(&Bill::for_usage(
            &self.prices_now(),
            counted.iter().map(|c| (c.model.as_str(), &c.usage)),
        ))
    }

    async fn open_assignment(
        &self,
        id: &AssignmentId,
    ) -> Result<(Option<SessionAssignment>, Option<String>), AppError> {
        let OpenAssignments { assignments, host } = self.engine.open_assignments().await?;
        Ok((assignments.into_iter().find(|open| open.assignment.id == *id), host))
    }

    async fn assignment(&self, id: &AssignmentId) -> Result<(SessionAssignment, Option<String>), AppError> {
        let (open, host) = self.open_assignment(id).await?;
        let row = match open {
            Some(open) => Some(open),
            None => self.store.assignment(id).await?,
        };
        Ok((row.ok_or_else(|| AppError::NoAssignment(id.clone()))?, host))
    }

    async fn stored_messages(&self, id: &AssignmentId) -> Result<Messages, AppError> {
        let stored = self.store.messages_of(id).await?;
        stored.ok_or_else(|| AppError::NoAssignment(id.clone()))
    }
}

/// The stretch of its session's time in which an assignment was open.
fn session_stretch(row: &SessionAssignment, now: Timestamp) -> SessionStretch {
    let Assignment { opened_at, completed_at, .. } = row.assignment;
    // The client writes the last message no later than in the millisecond of the Stop.
    let to = completed_at.map_or(now, |at| at + Millis(1));
    SessionStretch { session_id: row.session_id.clone(), from: opened_at, to }
}

fn assignments_wanted(request: &ListAssignments, now: Timestamp) -> Result<AssignmentsWanted, AppError> {
    let zone = TimeZone::system();
    let at = |text: &String| moment(text, now, &zone);
    let state = request.state.as_deref().filter(|state| *state != OPEN_STATES);
    let before = |text: &String| {
        AssignmentCursor::parse(text).ok_or_else(|| AppError::Invalid("`before` is not a cursor".into()))
    };
    Ok(AssignmentsWanted {
        project: request.project.as_deref().map(without_last_slash),
        state: state.map(parse_state).transpose()?,
        since: request.since.as_ref().map(at).transpose()?,
        until: request.until.as_ref().map(at).transpose()?,
        before: request.before.as_ref().map(before).transpose()?,
        words: request.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase).collect(),
        limit: request.limit.unwrap_or(PAGE_ROWS).min(PAGE_ROWS_MAX),
    })
}

/// The folder of a project without the slash at its end, which completion in a shell adds.
fn without_last_slash(project: &str) -> String {
    let bare = project.trim_end_matches('/');
    (if bare.is_empty() { project } else { bare }).to_owned()
}

fn parse_state(word: &str) -> Result<AssignmentState, AppError> {
    AssignmentState::ALL.into_iter().find(|state| state.as_str() == word).ok_or_else(|| {
        AppError::Invalid(
            "`state` is not one of: open, commanded, processing, awaiting_input, complete".into(),
        )
    })
}

pub(super) fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, AppError> {
    parse_moment(text, now, zone)
        .ok_or_else(|| AppError::Invalid(format!("`{text}` is not understood as a time: try {MOMENTS}")))
}

/// Open and stored assignments together, the newest first, cut to the size of a page.
fn newest_first(
    open: Vec<SessionAssignment>,
    stored: AssignmentPage,
    wanted: &AssignmentsWanted,
) -> (Vec<SessionAssignment>, Option<AssignmentCursor>) {
    let AssignmentPage { assignments: stored, next_before } = stored;
    let before = |row: &SessionAssignment| {
        wanted.before.as_ref().is_none_or(|before| AssignmentCursor::from_row(row) < *before)
    };
    // A search may end before the page is full. Assignments older than the place where it ended belong to the next page.
    let after = |row: &SessionAssignment| {
        next_before.as_ref().is_none_or(|next| AssignmentCursor::from_row(row) >= *next)
    };
    let fits = |row: &SessionAssignment| wanted.matches(row) && before(row) && after(row);
    let mut rows: Vec<_> = open.into_iter().filter(fits).collect();
    rows.extend(stored);
    rows.sort_by_key(|row| std::cmp::Reverse(AssignmentCursor::from_row(row)));
    let is_cut = rows.len() > wanted.limit;
    rows.truncate(wanted.limit);
    let next = if is_cut { rows.last().map(AssignmentCursor::from_row) } else { next_before };
    (rows, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_folder_may_end_with_a_slash() {
        let project = |written: &str| {
            let request = ListAssignments { project: Some(written.to_owned()), ..ListAssignments::default() };
            assignments_wanted(&request, Timestamp::default()).unwrap().project.unwrap()
        };
        let written = ["/w/p1", "/w/p1/", "/w/p1//", "p1/", "/"];
        assert_eq!(written.map(project), ["/w/p1", "/w/p1", "/w/p1", "p1", "/"]);
    }
}
