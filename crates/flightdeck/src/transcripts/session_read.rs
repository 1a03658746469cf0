//! Reads the transcripts of several sessions one step further, in a bounded number of bytes.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use anyhow::anyhow;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::session_files::SessionFiles;

use super::line_reader::LineReader;
use super::live_session::{LiveSession, ReadStep};
use super::locate::find_main;
use super::watch_list::WatchList;
use super::{repository, tasks};

/// The transcripts of one session before a step.
#[derive(Debug)]
pub(super) struct SessionToRead {
    pub(super) live: LiveSession,
    /// The session was not read before, or its fold was lost.
    pub(super) new: bool,
    /// No hook reported the path of the transcript.
    pub(super) guessed: bool,
    pub(super) cwd: Option<PathBuf>,
    pub(super) reported_at: Timestamp,
}

/// The same after the step.
#[derive(Debug)]
pub(super) struct SessionStep {
    pub(super) live: LiveSession,
    pub(super) new: bool,
    pub(super) reported_at: Timestamp,
    pub(super) step: io::Result<Option<ReadStep>>,
    pub(super) files: SessionFiles,
    pub(super) git_dir: Option<PathBuf>,
}

/// Reads a step of each session with `read`, which gets the bytes it may read: an equal part of those that are left, so that no session
/// waits for the large file of another. If reading one session panics, the others are read all the same.
pub(super) fn read_each(
    sessions: Vec<anyhow::Result<Option<SessionToRead>>>,
    bytes_max: u64,
    mut read: impl FnMut(SessionToRead, u64) -> SessionStep,
) -> Vec<anyhow::Result<Option<SessionStep>>> {
    let mut waiting = sessions.iter().filter(|session| matches!(session, Ok(Some(_)))).count() as u64;
    let mut left = bytes_max;
    let mut read_one = |session| {
        // Every session is read a little, even if a long line used more than its part.
        let part = (left / waiting).max(1);
        waiting -= 1;
        // After a panic the fold of this session is gone and is resumed from the store; the reader begins each file with an empty buffer.
        let step = catch_unwind(AssertUnwindSafe(|| read(session, part)))
            .map_err(|_| anyhow!("reading them panicked; the reason is on stderr"))?;
        left = left.saturating_sub(step.bytes());
        Ok(step)
    };
    sessions.into_iter().map(|session| session?.map(&mut read_one).transpose()).collect()
}

impl SessionToRead {
    /// Reads about `bytes_max` bytes.
    pub(super) fn read_step(
        mut self,
        reader: &mut LineReader,
        watch_list: &WatchList,
        bytes_max: u64,
    ) -> SessionStep {
        self.locate_main(watch_list);
        let Self { mut live, new, cwd, reported_at, .. } = self;
        let step = live.step(reader, bytes_max);
        let (files, git_dir) = session_files(&mut live, cwd, reported_at);
        SessionStep { live, new, reported_at, step, files, git_dir }
    }

    /// Searches all projects for the transcript if its guessed path does not exist, or not any more.
    fn locate_main(&mut self, watch_list: &WatchList) {
        let guess = &self.live.main;
        let missing = self.guessed && !guess.exists();
        let projects = watch_list.projects().filter(|_| missing);
        let Some(main) = projects.and_then(|projects| find_main(projects, guess)) else { return };
        watch_list.set_main_path(&self.live.session_id, &main);
        self.live.main = main;
        self.new = true;
    }
}

impl SessionStep {
    fn bytes(&self) -> u64 {
        self.step.iter().flatten().map(|step| step.bytes).sum()
    }
}

/// The session's repository, tasks and notes about subagents, and the folder whose HEAD to watch. The working directory is the one reported last.
fn session_files(
    live: &mut LiveSession,
    cwd: Option<PathBuf>,
    reported_at: Timestamp,
) -> (SessionFiles, Option<PathBuf>) {
    let known = live.known();
    let line = known.cwd_now.as_ref().filter(|_| cwd.is_none() || known.cwd_at > Some(reported_at));
    let found = line.map(PathBuf::from).or(cwd).and_then(|cwd| repository::find_repository(&cwd));
    let (repository, git_dir) = found.map(|f| (f.repository, f.git_dir)).unzip();
    let tasks = tasks::tasks_folder(&live.main).map(|folder| tasks::read(&folder)).unwrap_or_default();
    (SessionFiles { repository, tasks, agents: live.agent_notes() }, git_dir)
}

#[cfg(test)]
#[path = "session_read_tests.rs"]
mod tests;
