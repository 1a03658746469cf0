//! The boards that a person has in front of them: a session on a visible board needs no note.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flightdeck_core::ids::SessionId;
use tokio::time::Instant;

/// How long a report counts. A visible page reports every 20 seconds; a page that is closed may not report that.
const VISIBLE_LIVES: Duration = Duration::from_secs(45);
/// Most pages that are remembered; further ones do not count as visible.
const BOARDS_MAX: usize = 64;

#[derive(Debug, Default)]
pub struct VisibleBoards(Mutex<BTreeMap<String, VisibleBoard>>);

#[derive(Debug)]
struct VisibleBoard {
    reported_at: Instant,
    /// `None`: every session of the board.
    sessions: Option<BTreeSet<SessionId>>,
}

impl VisibleBoards {
    /// The page `viewer` shows these sessions; `None` means all of them.
    pub fn report_visible(&self, viewer: String, sessions: Option<BTreeSet<SessionId>>) {
        let mut boards = self.boards();
        if boards.len() < BOARDS_MAX || boards.contains_key(&viewer) {
            boards.insert(viewer, VisibleBoard { reported_at: Instant::now(), sessions });
        }
    }

    pub fn report_hidden(&self, viewer: &str) {
        self.boards().remove(viewer);
    }

    /// Whether a visible board shows this session.
    pub fn show_session(&self, id: &SessionId) -> bool {
        self.boards().values().any(|board| board.sessions.as_ref().is_none_or(|shown| shown.contains(id)))
    }

    /// The boards that reported within [`VISIBLE_LIVES`]; removes the others. A poisoned lock can be used, because no code leaves
    /// the map half changed.
    fn boards(&self) -> MutexGuard<'_, BTreeMap<String, VisibleBoard>> {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.retain(|_, board| board.reported_at.elapsed() < VISIBLE_LIVES);
        boards
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_board_counts_while_it_is_visible_and_for_the_sessions_that_it_shows() {
        let boards = VisibleBoards::default();
        let (a, b) = (SessionId::from("a"), SessionId::from("b"));
        assert!(!boards.show_session(&a));
        boards.report_visible("page".into(), Some(BTreeSet::from([a.clone()])));
        assert!(boards.show_session(&a) && !boards.show_session(&b));
        boards.report_visible("page".into(), None);
        assert!(boards.show_session(&b));
        boards.report_hidden("page");
        assert!(!boards.show_session(&b));
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_closed_without_a_report_stops_counting_after_a_while() {
        let boards = VisibleBoards::default();
        boards.report_visible("page".into(), None);
        tokio::time::advance(VISIBLE_LIVES - Duration::from_secs(1)).await;
        assert!(boards.show_session(&"a".into()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!boards.show_session(&"a".into()));
    }
}
