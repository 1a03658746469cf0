//! What the engine wants followed, as the follower and the reader of history hear it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flightdeck_core::session::Session;
use flightdeck_core::time::Timestamp;
use tokio::sync::Notify;

use super::names::{Transcript, main_of, subagents_of};

/// What the engine wants followed. Cloning clones the handle.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    news: Mutex<News>,
    wake: Notify,
    /// Where transcripts are, for sessions that did not say where theirs is.
    projects: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct News {
    /// Sessions something happened to, with where their transcript is.
    touched: BTreeMap<String, Touched>,
    forgotten: BTreeSet<String>,
    /// Everything that is followed now, with its main transcript, for the history reader to leave alone.
    followed: BTreeMap<String, PathBuf>,
    /// The follower still means to look at something.
    #[cfg(test)]
    looking: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub(super) path: PathBuf,
    /// Nobody said where it writes: the path is where a session of its folder usually does.
    pub(super) guessed: bool,
    /// Where it works, and when that was said.
    pub(super) cwd: Option<PathBuf>,
    pub(super) told_at: Timestamp,
    /// It is over: read what is left and let go of it.
    pub(super) ended: bool,
}

impl Tail {
    pub fn new(projects: Option<PathBuf>) -> Self {
        Self { shared: Arc::new(Shared { projects, ..Shared::default() }) }
    }

    /// Something happened to a session. Never waits.
    pub fn touched(&self, session: &Session) {
        let told = session.transcript_path.as_deref();
        let told = told.filter(|p| p.ends_with(".jsonl") && p.starts_with('/')).map(PathBuf::from);
        // The registry says where a session works, not where it writes; it may have gone into a worktree since it began.
        let guessed = told.is_none();
        let usual =
            || main_of(self.shared.projects.as_deref()?, session.project.path.as_deref()?, &session.id);
        let Some(path) = told.or_else(usual) else { return };
        let touched = Touched {
            path,
            guessed,
            cwd: session.cwd.as_ref().map(PathBuf::from),
            told_at: session.last_activity_at,
            ended: session.ended_at.is_some(),
        };
        let mut news = self.news();
        let known = news.followed.get(&session.id);
        if known.is_none_or(|main| !guessed && *main != touched.path) {
            news.followed.insert(session.id.clone(), touched.path.clone());
        }
        let first = news.touched.is_empty();
        news.touched.insert(session.id.clone(), touched);
        drop(news);
        // Whoever was first has woken it, and it has not come yet.
        if first {
            self.shared.wake.notify_one();
        }
    }

    /// The session left the board.
    pub fn forget(&self, session_id: &str) {
        let mut news = self.news();
        news.touched.remove(session_id);
        news.forgotten.insert(session_id.to_owned());
        drop(news);
        self.shared.wake.notify_one();
    }

    pub fn follows(&self, session_id: &str) -> bool {
        self.news().followed.contains_key(session_id)
    }

    /// Whether this very file is read for a card. Another one of the same session, in another folder, is not.
    pub fn follows_file(&self, transcript: &Transcript) -> bool {
        let news = self.news();
        let main = news.followed.get(&transcript.session_id);
        main.is_some_and(|m| transcript.path == *m || transcript.path.starts_with(subagents_of(m)))
    }

    /// For a story that goes on once all that was told of has been looked at.
    #[cfg(test)]
    pub(super) fn is_at_rest(&self) -> bool {
        let news = self.news();
        news.touched.is_empty() && !news.looking
    }

    #[cfg(test)]
    pub(super) fn means_to_look(&self, looking: bool) {
        self.news().looking = looking;
    }

    pub(super) async fn woken(&self) {
        self.shared.wake.notified().await;
    }

    pub(super) fn projects(&self) -> Option<&Path> {
        self.shared.projects.as_deref()
    }

    /// Its transcript is here, whatever was guessed.
    pub(super) fn found(&self, session_id: &str, main: &Path) {
        self.news().followed.insert(session_id.to_owned(), main.to_owned());
    }

    fn news(&self) -> std::sync::MutexGuard<'_, News> {
        // Three maps, each whole after every statement.
        self.shared.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_news(&self) -> (BTreeMap<String, Touched>, BTreeSet<String>) {
        let mut news = self.news();
        let forgotten = std::mem::take(&mut news.forgotten);
        forgotten.iter().for_each(|id| _ = news.followed.remove(id));
        #[cfg(test)]
        (news.looking = true);
        (std::mem::take(&mut news.touched), forgotten)
    }
}
