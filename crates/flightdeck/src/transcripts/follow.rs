//! Follows the transcripts of live sessions. A hook or a changed file is a hint; the new lines are read a moment later.

use anyhow::anyhow;
use flightdeck_core::ids::SessionId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flightdeck_core::limits::GROWTH_COUNTS_AFTER;
use flightdeck_core::log::from_transcript::{self, TurnMark, TurnMarkLine};
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::Summary;
use flightdeck_core::usage::price::PriceTable;
use flightdeck_core::usage::session_files::SessionFiles;
use tokio::sync::{mpsc, watch};

use super::folder_watches::FolderWatches;
use super::history::History;
use super::line_reader::LineReader;
use super::live_session::{LiveSession, session_id_of};
use super::locate::LocatedTranscript;
use super::session_read::{SessionStep, SessionToRead, read_each};
use super::unhooked_sessions::{UnhookedSessions, recent_activity};
use super::watch_list::TouchedSession;
pub use super::watch_list::WatchList;
use crate::clock;
use crate::engine::EngineHandle;
use crate::store::{Store, StoreError};

/// The client buffers its lines for 100 ms; reading waits longer than that.
const READ_AFTER: Duration = Duration::from_millis(150);
/// After a hook the last lines may be late; a second read costs one `stat` if there are none.
const SECOND_READ_AFTER: Duration = Duration::from_millis(700);
/// Most changed paths that wait; if there are more, every followed session is read.
const HINTS_WAITING_MAX: usize = 1024;
/// When to retry after the store refused: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Pause after reading, as a multiple of the time it took, so that reading uses a fraction of one processor.
const PAUSE_PER_WORK: u32 = 4;
/// Shortest pause: the sessions that become due during it are read together. Each hook makes its session due twice, and most of these
/// reads find nothing, so waking threads for them costs more than the reads.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause: a new session must not wait for the large file of another.
const PAUSE_MAX: Duration = Duration::from_millis(200);
/// Most sessions that one blocking task reads.
const READ_TOGETHER_MAX: usize = 16;
/// Bytes that one blocking task reads of all its sessions, and so between two commits. A session waits for the bytes of the others, and
/// what is read is in memory until it is stored. A large file is read in many tasks.
const READ_TOGETHER_BYTES: u64 = 32 * 1024 * 1024;

/// Follows until the daemon stops.
pub async fn follow(
    watch_list: WatchList,
    store: Store,
    engine: EngineHandle,
    prices: watch::Receiver<Arc<PriceTable>>,
    history: Arc<History>,
) {
    Follower::new(watch_list, store, engine, prices, history).run().await;
}

struct Follower {
    watch_list: WatchList,
    store: Store,
    engine: EngineHandle,
    prices: watch::Receiver<Arc<PriceTable>>,
    /// Notified of changes of files that are not followed.
    history: Arc<History>,
    hints: mpsc::Receiver<PathBuf>,
    /// A hint was lost: read every session.
    lost: Arc<std::sync::atomic::AtomicBool>,
    watches: FolderWatches,
    sessions: BTreeMap<SessionId, Followed>,
    /// When to read which session, and whether to read it once more after that.
    due: BTreeMap<SessionId, (Instant, Option<Instant>)>,
    unhooked: UnhookedSessions,
    reader: LineReader,
}

#[derive(Debug)]
struct Followed {
    /// `None` while it is being read.
    live: Option<LiveSession>,
    main: PathBuf,
    guessed: bool,
    cwd: Option<PathBuf>,
    reported_at: Timestamp,
    /// The summary last sent to the engine.
    files: SessionFiles,
    ended: bool,
    /// The newest line about the end of a turn that was reported, for each way to end.
    marks: BTreeMap<TurnMark, Timestamp>,
}

impl Followed {
    fn new(touched: &TouchedSession) -> Self {
        Self {
            live: None,
            main: touched.path.clone(),
            guessed: touched.guessed,
            cwd: touched.cwd.clone(),
            reported_at: touched.reported_at,
            files: SessionFiles::default(),
            ended: touched.ended,
            marks: BTreeMap::new(),
        }
    }

    fn update(&mut self, touched: TouchedSession) {
        self.cwd = touched.cwd.or(self.cwd.take());
        self.reported_at = touched.reported_at;
        self.ended = touched.ended;
    }
}

impl Follower {
    fn new(
        watch_list: WatchList,
        store: Store,
        engine: EngineHandle,
        prices: watch::Receiver<Arc<PriceTable>>,
        history: Arc<History>,
    ) -> Self {
        let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
        let lost = Arc::new(std::sync::atomic::AtomicBool::new(false));
        Self {
            watch_list,
            store,
            engine,
            prices,
            history,
            hints,
            watches: FolderWatches::new(hint, Arc::clone(&lost)),
            lost,
            sessions: BTreeMap::new(),
            due: BTreeMap::new(),
            unhooked: UnhookedSessions::default(),
            reader: LineReader::default(),
        }
    }

    async fn run(mut self) {
        if let Some(projects) = self.watch_list.projects().map(Path::to_owned) {
            self.watches.watch_projects(&projects);
            // Files may have grown before their folders were watched.
            self.history.mark_unread();
        }
        loop {
            #[cfg(test)]
            self.watch_list.set_busy(!self.due.is_empty());
            let next = self.due.values().map(|(at, _)| *at).chain(self.unhooked.next_due()).min();
            let sleep = next.map(|at| at.saturating_duration_since(Instant::now()));
            tokio::select! {
                () = self.watch_list.changed() => self.apply_pending(),
                Ok(()) = self.prices.changed() => self.summarize_all(),
                hint = self.hints.recv() => match hint {
                    Some(path) => self.handle_changed_path(&path),
                    None => return,
                },
                () = tokio::time::sleep(sleep.unwrap_or_default()), if sleep.is_some() => {
                    let began = Instant::now();
                    self.read_due().await;
                    self.report_unhooked().await;
                    tokio::time::sleep((began.elapsed() * PAUSE_PER_WORK).clamp(PAUSE_MIN, PAUSE_MAX)).await;
                }
            }
        }
    }

    /// Sends the summary of every session again, with the present prices.
    fn summarize_all(&mut self) {
        // A session that is resumed from the store sends its summary even if its files have nothing new.
        self.sessions.values_mut().for_each(|followed| followed.live = None);
        self.schedule_all(Instant::now(), |_| true);
    }

    fn apply_pending(&mut self) {
        let (touched, forgotten) = self.watch_list.take_pending();
        for id in forgotten {
            self.due.remove(&id);
            self.history.mark_unread();
            if let Some(followed) = self.sessions.remove(&id) {
                self.watches.unwatch_session(&followed.main);
            }
        }
        let now = Instant::now();
        for (id, touched) in touched {
            // A guessed path never replaces a followed one, which was searched for if the first guess was wrong.
            let known = self.sessions.get(&id).is_some_and(|f| touched.guessed || f.main == touched.path);
            if !known && let Some(old) = self.sessions.insert(id.clone(), Followed::new(&touched)) {
                self.watches.unwatch_session(&old.main);
            }
            if let Some(followed) = self.sessions.get_mut(&id) {
                followed.update(touched);
            }
            // A new session is read at once.
            let first = if known { now + READ_AFTER } else { now };
            self.schedule(id, first, Some(now + SECOND_READ_AFTER));
        }
    }

    fn handle_changed_path(&mut self, path: &Path) {
        let soon = Instant::now() + READ_AFTER;
        if self.lost.swap(false, std::sync::atomic::Ordering::Relaxed) {
            self.history.mark_unread();
            self.schedule_all(soon, |_| true);
        }
        if let Some(mains) = self.watches.head_changed(path) {
            return self.schedule_all(soon, |f| mains.contains(&f.main));
        }
        if LocatedTranscript::from_path(path)
            .is_some_and(|transcript| !self.watch_list.follows_file(&transcript))
        {
            self.history.mark_unread();
        }
        match session_id_of(path) {
            Some(id) if self.sessions.contains_key(&id) => self.schedule(id, soon, None),
            Some(_) => self.unhooked.note_change(path, soon),
            // A folder appeared or disappeared: sessions that wait for it are read again.
            None => {
                self.watch_new_projects(path, soon);
                let waiting = self.watches.folder_changed(path);
                self.schedule_all(soon, |f| waiting.iter().any(|folder| f.main.starts_with(folder)));
            }
        }
    }

    /// A project's folder appeared or disappeared. Files in a new folder were written before it was watched.
    fn watch_new_projects(&mut self, changed: &Path, soon: Instant) {
        let Some(projects) = self.watch_list.projects() else { return };
        if changed != projects && changed.parent() != Some(projects) {
            return;
        }
        for folder in self.watches.watch_projects(projects) {
            self.history.mark_unread();
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.for_each(|file| self.unhooked.note_change(&file.path(), soon));
        }
    }

    async fn report_unhooked(&mut self) {
        for path in self.unhooked.take_due(Instant::now()) {
            let Some(id) = session_id_of(&path).filter(|id| !self.watch_list.follows(id)) else { continue };
            let (file, now) = (path.clone(), clock::now());
            let at = tokio::task::spawn_blocking(move || recent_activity(&file, now)).await.ok().flatten();
            if let Some(at) = at {
                self.report_growth(&id, &path, at).await;
            }
        }
    }

    async fn report_growth(&self, id: &SessionId, path: &Path, at: Timestamp) {
        let Some(path) = path.to_str() else { return };
        let record = from_transcript::growth_record(id, path, at, clock::fresh_id());
        if let Err(error) = self.engine.append_unless_known(record).await {
            tracing::warn!(%error, session = %id, "could not store that the transcript grew; the next growth is reported again");
        }
    }

    /// Reports a line about the end of a turn once. The engine stores it only if it says something new.
    async fn report_mark(&mut self, id: &SessionId, line: TurnMarkLine) {
        let Some(followed) = self.sessions.get_mut(id) else { return };
        if followed.marks.get(&line.mark).is_some_and(|reported| *reported >= line.at) {
            return;
        }
        followed.marks.insert(line.mark, line.at);
        let record = from_transcript::turn_mark_record(&line, id, clock::fresh_id());
        if let Err(error) = self.engine.append_unless_known(record).await {
            tracing::warn!(%error, session = %id, "could not store how a turn ended; the card may name another end");
        }
    }

    fn schedule_all(&mut self, at: Instant, which: impl Fn(&Followed) -> bool) {
        let ids: Vec<_> = self.sessions.iter().filter(|(_, f)| which(f)).map(|(id, _)| id.clone()).collect();
        ids.into_iter().for_each(|id| self.schedule(id, at, None));
    }

    /// Of two first reads the earlier one stays, of two second reads the later one.
    fn schedule(&mut self, id: SessionId, at: Instant, again: Option<Instant>) {
        let due = self.due.entry(id).or_insert((at, again));
        due.0 = due.0.min(at);
        due.1 = due.1.max(again);
    }

    async fn read_due(&mut self) {
        let now = Instant::now();
        let ready: Vec<_> =
            self.due.iter().filter(|(_, (at, _))| *at <= now).map(|(id, _)| id.clone()).collect();
        for together in ready.chunks(READ_TOGETHER_MAX) {
            let second_reads: Vec<_> = together
                .iter()
                .map(|id| self.due.remove(id).and_then(|(_, again)| again).filter(|at| *at > now))
                .collect();
            let more = self.read_together(together).await;
            for ((id, again), more) in together.iter().zip(second_reads).zip(more) {
                self.schedule_next_read(id, again, more);
            }
        }
    }

    /// `again` is when the session is read once more after its hook, `more` whether its files have more lines.
    fn schedule_next_read(&mut self, id: &SessionId, again: Option<Instant>, more: anyhow::Result<bool>) {
        let more = more.unwrap_or_else(|error| {
            tracing::warn!(%error, session = %id, "could not read the transcripts of a session; they are read again at its next event");
            // If the store refused, the lines are read again even without another hook.
            if error.is::<StoreError>() {
                self.schedule(id.clone(), Instant::now() + RETRY_AFTER, None);
            }
            false
        });
        if more {
            // The other sessions are read first, so that they do not wait for a large file.
            self.schedule(id.clone(), Instant::now(), again);
        } else if let Some(at) = again {
            self.schedule(id.clone(), at, None);
        } else if self.sessions.get(id).is_some_and(|f| f.ended) {
            self.stop_following(id);
        }
    }

    /// An ended session needs no watch and no fold. A later hook creates both again.
    fn stop_following(&mut self, id: &SessionId) {
        if let Some(followed) = self.sessions.get_mut(id) {
            followed.live = None;
            let main = followed.main.clone();
            self.watches.unwatch_session(&main);
        }
    }

    /// Reads one step of the transcripts of each session. True for a session that has more to read.
    async fn read_together(&mut self, ids: &[SessionId]) -> Vec<anyhow::Result<bool>> {
        let mut sessions = Vec::with_capacity(ids.len());
        for id in ids {
            sessions.push(self.begin_read(id).await);
        }
        let (mut reader, watch_list) = (std::mem::take(&mut self.reader), self.watch_list.clone());
        let read = tokio::task::spawn_blocking(move || {
            let read = read_each(sessions, READ_TOGETHER_BYTES, |session, bytes| {
                session.read_step(&mut reader, &watch_list, bytes)
            });
            (reader, read)
        });
        let (reader, read) = match read.await {
            Ok(read) => read,
            // The daemon stops: a panic ends only the read of its session.
            Err(error) => return ids.iter().map(|_| Err(anyhow!("reading ended: {error}"))).collect(),
        };
        self.reader = reader;
        let mut more = Vec::with_capacity(ids.len());
        for (id, read) in ids.iter().zip(read) {
            more.push(match read {
                Ok(Some(read)) => self.take_read(id, read).await,
                Ok(None) => Ok(false),
                Err(error) => Err(error),
            });
        }
        more
    }

    /// Takes what is needed to read the transcripts of a session. `None` if the session is not followed any more.
    async fn begin_read(&mut self, id: &SessionId) -> anyhow::Result<Option<SessionToRead>> {
        let Some(followed) = self.sessions.get_mut(id) else { return Ok(None) };
        let (cwd, reported_at) = (followed.cwd.clone(), followed.reported_at);
        let (live, new) = match followed.live.take() {
            Some(live) => (live, false),
            None => (LiveSession::new(id, &followed.main, self.store.transcript(id).await?), true),
        };
        Ok(Some(SessionToRead { live, new, guessed: followed.guessed, cwd, reported_at }))
    }

    /// Stores and reports what was read. True if there is more to read.
    async fn take_read(&mut self, id: &SessionId, read: SessionStep) -> anyhow::Result<bool> {
        let SessionStep { live, new, reported_at, step, files, git_dir } = read;
        self.follow_main(id, &live.main);
        let step = step?;
        let more = step.as_ref().is_some_and(|step| step.more);
        let read = step.is_some();
        if let Some(step) = step {
            // If this fails, the fold is ahead of the store. It is dropped here and resumed from the store.
            self.store.put_transcripts(vec![step.batch]).await?;
        }
        let Some(followed) = self.sessions.get_mut(id) else { return Ok(false) };
        if !followed.ended {
            // Folders of subagents appear while the session runs.
            self.watches.watch_session(&followed.main, git_dir.as_deref());
        }
        let changed = followed.files != files;
        followed.files.clone_from(&files);
        if new || read || changed {
            self.send_summary(&live, files).await;
        }
        if let Some(at) = live.known().last_at.filter(|at| read && *at - reported_at >= GROWTH_COUNTS_AFTER) {
            self.report_growth(id, &live.main, at).await;
        }
        for line in live.known().turn_marks() {
            self.report_mark(id, line).await;
        }
        if let Some(followed) = self.sessions.get_mut(id) {
            followed.live = Some(live);
        }
        Ok(more)
    }

    /// The transcript was found elsewhere than guessed.
    fn follow_main(&mut self, id: &SessionId, main: &Path) {
        if let Some(followed) = self.sessions.get_mut(id).filter(|followed| followed.main != main) {
            self.watches.unwatch_session(&followed.main);
            followed.main = main.to_owned();
        }
    }

    async fn send_summary(&self, live: &LiveSession, files: SessionFiles) {
        let prices = Arc::clone(&self.prices.borrow());
        let summary = Summary { files, ..Summary::with_prices(live.known().clone(), &prices) };
        if summary.known.has_content() || summary.files != SessionFiles::default() {
            // This fails only while the daemon stops, and then no viewer needs the summary.
            let _ = self.engine.enrich(live.session_id.as_str().into(), summary).await;
        }
    }
}

#[cfg(test)]
#[path = "follower_tests.rs"]
mod tests;
