//! The boards that a person has in front of them: a session on a visible board needs no note.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flightdeck_core::ids::SessionId;
use tokio::time::Instant;

/// A page reports every 20 seconds while it is visible. If it was closed without a word, it counts for this long.
const VISIBLE_LIVES: Duration = Duration::from_secs(45);
/// Most pages; more do not count as visible.
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
    pub fn shown(&self, viewer: String, sessions: Option<BTreeSet<SessionId>>) {
        let mut boards = self.boards();
        if boards.len() < BOARDS_MAX || boards.contains_key(&viewer) {
            boards.insert(viewer, VisibleBoard { reported_at: Instant::now(), sessions });
        }
    }

    pub fn hidden(&self, viewer: &str) {
        self.boards().remove(viewer);
    }

    pub fn show(&self, id: &SessionId) -> bool {
        self.boards().values().any(|board| board.sessions.as_ref().is_none_or(|shown| shown.contains(id)))
    }

    /// Without the boards that have not reported for a while. No code leaves the map half changed, so a poisoned lock can be
    /// used.
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
        assert!(!boards.show(&a));
        boards.shown("page".into(), Some(BTreeSet::from([a.clone()])));
        assert!(boards.show(&a) && !boards.show(&b));
        boards.shown("page".into(), None);
        assert!(boards.show(&b));
        boards.hidden("page");
        assert!(!boards.show(&b));
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_was_closed_without_a_word_counts_for_a_moment_only() {
        let boards = VisibleBoards::default();
        boards.shown("page".into(), None);
        tokio::time::advance(VISIBLE_LIVES - Duration::from_secs(1)).await;
        assert!(boards.show(&"a".into()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!boards.show(&"a".into()));
    }
}
