//! The sessions whose transcripts are followed. The engine adds and removes them; the follower and the history reader use it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flightdeck_core::ids::SessionId;
use flightdeck_core::session::Session;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use tokio::sync::Notify;

use super::locate::{LocatedTranscript, find_main, main_path, reported_path, subagents_folder};
use crate::engine::TranscriptWatch;

/// The sessions to follow. Cloning clones the handle.
#[derive(Clone, Debug, Default)]
pub struct WatchList {
    shared: Arc<SharedWatchState>,
}

#[derive(Debug, Default)]
struct SharedWatchState {
    state: Mutex<WatchState>,
    wake: Notify,
    /// The client's folder of transcripts, for sessions whose transcript path is not known.
    projects: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct WatchState {
    /// Sessions with new events, and where their transcripts are.
    touched: BTreeMap<SessionId, TouchedSession>,
    forgotten: BTreeSet<SessionId>,
    /// All followed sessions with their main transcript. The history reader skips these files.
    followed: BTreeMap<SessionId, PathBuf>,
    /// The follower has scheduled reads.
    #[cfg(test)]
    busy: bool,
}

#[derive(Clone, Debug)]
pub(super) struct TouchedSession {
    pub(super) path: PathBuf,
    /// The path was not reported; it is where a session of this folder usually writes.
    pub(super) guessed: bool,
    /// The working directory, and when it was reported.
    pub(super) cwd: Option<PathBuf>,
    pub(super) reported_at: Timestamp,
    /// The session has ended: read the rest, then stop following it.
    pub(super) ended: bool,
}

impl WatchList {
    pub fn new(projects: Option<PathBuf>) -> Self {
        Self { shared: Arc::new(SharedWatchState { projects, ..SharedWatchState::default() }) }
    }

    pub fn follows(&self, session_id: &SessionId) -> bool {
        self.state().followed.contains_key(session_id)
    }

    /// Whether this file is read for a card. A file of the same session in another folder is not.
    pub fn follows_file(&self, transcript: &LocatedTranscript) -> bool {
        let state = self.state();
        let main = state.followed.get(&transcript.session_id);
        main.is_some_and(|m| transcript.path == *m || transcript.path.starts_with(subagents_folder(m)))
    }

    /// The session's own main transcript: where it is followed, where a hook reported it, or where a session of its folder
    /// usually writes. Searches the disk if it is not there.
    pub fn find_main(&self, card: &Card) -> Option<PathBuf> {
        let projects = self.shared.projects.as_deref();
        let followed = self.state().followed.get(&card.id).cloned();
        let reported = followed.or_else(|| reported_path(card.transcript_path.as_deref()));
        let usual = || main_path(projects?, card.project.path.as_deref().unwrap_or_default(), &card.id);
        let path = reported.or_else(usual)?;
        let found = if path.exists() { Some(path) } else { find_main(projects?, &path) };
        // A hook may have named the file of another session.
        found.filter(|path| {
            LocatedTranscript::from_path(path).is_some_and(|t| t.session_id == card.id && t.agent.is_empty())
        })
    }

    /// For tests: the follower has read everything that is pending.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state();
        state.touched.is_empty() && !state.busy
    }

    #[cfg(test)]
    pub(super) fn set_busy(&self, busy: bool) {
        self.state().busy = busy;
    }

    pub(super) async fn changed(&self) {
        self.shared.wake.notified().await;
    }

    pub(super) fn projects(&self) -> Option<&Path> {
        self.shared.projects.as_deref()
    }

    /// Replaces a guessed path.
    pub(super) fn set_main_path(&self, session_id: &SessionId, main: &Path) {
        self.state().followed.insert(session_id.to_owned(), main.to_owned());
    }

    fn state(&self) -> std::sync::MutexGuard<'_, WatchState> {
        // The maps are consistent after every statement, so a poisoned lock is safe to use.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_pending(&self) -> (BTreeMap<SessionId, TouchedSession>, BTreeSet<SessionId>) {
        let mut state = self.state();
        let forgotten = std::mem::take(&mut state.forgotten);
        forgotten.iter().for_each(|id| _ = state.followed.remove(id));
        #[cfg(test)]
        (state.busy = true);
        (std::mem::take(&mut state.touched), forgotten)
    }
}

impl TranscriptWatch for WatchList {
    fn touched(&self, session: &Session) {
        // The path of another host may name another file here.
        if !session.host.is_this() {
            return;
        }
        let reported = reported_path(session.transcript_path.as_deref());
        // The registry knows the working directory, not the transcript. The session may have moved into a worktree since it
        // started.
        let guessed = reported.is_none();
        let usual =
            || main_path(self.shared.projects.as_deref()?, session.project.path.as_deref()?, &session.id);
        let Some(path) = reported.or_else(usual) else { return };
        let touched = TouchedSession {
            path,
            guessed,
            cwd: session.cwd.as_ref().map(PathBuf::from),
            reported_at: session.last_activity_at,
            ended: session.ended_at.is_some(),
        };
        let mut state = self.state();
        let known = state.followed.get(session.id.as_str());
        if known.is_none_or(|main| !guessed && *main != touched.path) {
            state.followed.insert(session.id.clone(), touched.path.clone());
        }
        let first = state.touched.is_empty();
        state.touched.insert(session.id.clone(), touched);
        drop(state);
        // If another entry is pending, the follower is awake already.
        if first {
            self.shared.wake.notify_one();
        }
    }

    fn forget(&self, session_id: &SessionId) {
        let mut state = self.state();
        state.touched.remove(session_id.as_str());
        state.forgotten.insert(session_id.clone());
        drop(state);
        self.shared.wake.notify_one();
    }
}
