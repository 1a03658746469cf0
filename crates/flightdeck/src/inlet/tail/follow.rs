//! Follows the transcripts of live sessions. A hook or a change on disk is a hint; a moment later what is new is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flightdeck_core::enrichment::Summary;
use flightdeck_core::limits::GROWTH_COUNTS_AFTER;
use flightdeck_core::price::PriceTable;
use flightdeck_core::surroundings::Surroundings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::growth;
use tokio::sync::mpsc;

use super::file::Reader;
use super::history::History;
use super::live::{Live, session_of};
use super::names::{Transcript, find_main};
use super::strangers::{Strangers, at_work};
pub use super::told::Tail;
use super::told::Touched;
use super::watches::Watches;
use super::{repository, tasks};
use crate::clock;
use crate::engine::EngineHandle;
use crate::store::{Store, StoreError};

/// The client buffers its lines for 100 ms; a hint is followed up after that.
const SETTLE: Duration = Duration::from_millis(150);
/// After a hook the last lines may take longer; a second look costs one `stat`.
const SECOND_LOOK: Duration = Duration::from_millis(700);
/// Changed paths that may wait; beyond that every followed session is looked at.
const HINTS_WAITING_MAX: usize = 1024;
/// What the store refused is tried again after this: a disk that is full stays so for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Rest after reading, as a multiple of the time it took: small readings leave the processor to others.
const REST_PER_WORK: u32 = 4;
/// Longest rest: a new session must not wait for the large file of another.
const REST_MAX: Duration = Duration::from_millis(200);

/// Follows until the daemon stops.
pub async fn follow(
    tail: Tail,
    store: Store,
    engine: EngineHandle,
    prices: Arc<PriceTable>,
    history: Arc<History>,
) {
    let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
    let lost = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let follower = Follower {
        tail,
        store,
        engine,
        prices,
        history,
        hints,
        watches: Watches::new(hint, Arc::clone(&lost)),
        lost,
        sessions: BTreeMap::new(),
        due: BTreeMap::new(),
        strangers: Strangers::default(),
        reader: Reader::default(),
    };
    follower.run().await;
}

struct Follower {
    tail: Tail,
    store: Store,
    engine: EngineHandle,
    prices: Arc<PriceTable>,
    /// Hears of what nobody follows.
    history: Arc<History>,
    hints: mpsc::Receiver<PathBuf>,
    /// A hint did not fit: look at everything.
    lost: Arc<std::sync::atomic::AtomicBool>,
    watches: Watches,
    sessions: BTreeMap<String, Followed>,
    /// When to look at which session, and whether to look once more after that.
    due: BTreeMap<String, (Instant, Option<Instant>)>,
    strangers: Strangers,
    reader: Reader,
}

#[derive(Debug)]
struct Followed {
    /// Away while it is being read.
    live: Option<Live>,
    main: PathBuf,
    guessed: bool,
    cwd: Option<PathBuf>,
    told_at: Timestamp,
    /// As it was last told.
    around: Surroundings,
    ended: bool,
}

impl Followed {
    fn new(touched: &Touched) -> Self {
        Self {
            live: None,
            main: touched.path.clone(),
            guessed: touched.guessed,
            cwd: touched.cwd.clone(),
            told_at: touched.told_at,
            around: Surroundings::default(),
            ended: touched.ended,
        }
    }

    fn take(&mut self, touched: Touched) {
        self.cwd = touched.cwd.or(self.cwd.take());
        self.told_at = touched.told_at;
        self.ended = touched.ended;
    }
}

impl Follower {
    async fn run(mut self) {
        if let Some(projects) = self.tail.projects().map(Path::to_owned) {
            self.watches.join_all(&projects);
            // Until now nobody was told of what grew.
            self.history.heard();
        }
        loop {
            #[cfg(test)]
            self.tail.means_to_look(!self.due.is_empty());
            let next = self.due.values().map(|(at, _)| *at).chain(self.strangers.next()).min();
            let sleep = next.map(|at| at.saturating_duration_since(Instant::now()));
            tokio::select! {
                () = self.tail.woken() => self.hear_news(),
                hint = self.hints.recv() => match hint {
                    Some(path) => self.hear_hint(&path),
                    None => return,
                },
                () = tokio::time::sleep(sleep.unwrap_or(Duration::from_secs(3600))), if sleep.is_some() => {
                    let began = Instant::now();
                    self.read_due().await;
                    self.meet_strangers().await;
                    tokio::time::sleep((began.elapsed() * REST_PER_WORK).min(REST_MAX)).await;
                }
            }
        }
    }

    fn hear_news(&mut self) {
        let (touched, forgotten) = self.tail.take_news();
        for id in forgotten {
            self.due.remove(&id);
            self.history.heard();
            if let Some(followed) = self.sessions.remove(&id) {
                self.watches.leave(&followed.main);
            }
        }
        let now = Instant::now();
        for (id, touched) in touched {
            // A guess never moves what is followed: where its file is was looked up if the last guess was wrong.
            let known = self.sessions.get(&id).is_some_and(|f| touched.guessed || f.main == touched.path);
            if !known && let Some(old) = self.sessions.insert(id.clone(), Followed::new(&touched)) {
                self.watches.leave(&old.main);
            }
            if let Some(followed) = self.sessions.get_mut(&id) {
                followed.take(touched);
            }
            // A session that is new to us is read at once.
            let first = if known { now + SETTLE } else { now };
            self.look_at(id, first, Some(now + SECOND_LOOK));
        }
    }

    fn hear_hint(&mut self, path: &Path) {
        let soon = Instant::now() + SETTLE;
        if self.lost.swap(false, std::sync::atomic::Ordering::Relaxed) {
            self.history.heard();
            self.look_at_those(soon, |_| true);
        }
        if let Some(mains) = self.watches.head_changed(path) {
            return self.look_at_those(soon, |f| mains.contains(&f.main));
        }
        if Transcript::of(path).is_some_and(|transcript| !self.tail.follows_file(&transcript)) {
            self.history.heard();
        }
        match session_of(path) {
            Some(id) if self.sessions.contains_key(&id) => self.look_at(id, soon, None),
            Some(_) => self.strangers.heard(path, soon),
            // A folder appeared or went: whoever waits for one looks again.
            None => {
                self.look_for_projects(path, soon);
                let waiting = self.watches.folder_changed(path);
                self.look_at_those(soon, |f| waiting.iter().any(|folder| f.main.starts_with(folder)));
            }
        }
    }

    /// A project's folder came or went. What is in a new one was written before it was watched.
    fn look_for_projects(&mut self, changed: &Path, soon: Instant) {
        let Some(projects) = self.tail.projects() else { return };
        if changed != projects && changed.parent() != Some(projects) {
            return;
        }
        for folder in self.watches.join_all(projects) {
            self.history.heard();
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.for_each(|file| self.strangers.heard(&file.path(), soon));
        }
    }

    async fn meet_strangers(&mut self) {
        for path in self.strangers.take_due(Instant::now()) {
            let Some(id) = session_of(&path).filter(|id| !self.tail.follows(id)) else { continue };
            let (file, now) = (path.clone(), clock::now());
            let at = tokio::task::spawn_blocking(move || at_work(&file, now)).await.ok().flatten();
            if let Some(at) = at {
                self.tell_growth(&id, &path, at).await;
            }
        }
    }

    async fn tell_growth(&self, id: &str, path: &Path, at: Timestamp) {
        let Some(path) = path.to_str() else { return };
        let record = growth::record(id, path, at, clock::fresh_id());
        if let Err(error) = self.engine.append_if_news(record).await {
            tracing::warn!(%error, session = id, "that its transcript grew was not stored");
        }
    }

    fn look_at_those(&mut self, at: Instant, which: impl Fn(&Followed) -> bool) {
        let ids: Vec<_> = self.sessions.iter().filter(|(_, f)| which(f)).map(|(id, _)| id.clone()).collect();
        ids.into_iter().for_each(|id| self.look_at(id, at, None));
    }

    /// The earlier of two looks stands; the later of two second ones.
    fn look_at(&mut self, id: String, at: Instant, again: Option<Instant>) {
        let due = self.due.entry(id).or_insert((at, again));
        due.0 = due.0.min(at);
        due.1 = due.1.max(again);
    }

    async fn read_due(&mut self) {
        let now = Instant::now();
        let ready: Vec<_> =
            self.due.iter().filter(|(_, (at, _))| *at <= now).map(|(id, _)| id.clone()).collect();
        for id in ready {
            let again = self.due.remove(&id).and_then(|(_, again)| again).filter(|at| *at > now);
            let more = self.read(&id).await.unwrap_or_else(|error| {
                tracing::warn!(%error, session = id, "its transcripts cannot be read now");
                // What the store refused is not lost: it is read again, whether or not another hook comes.
                if error.is::<StoreError>() {
                    self.look_at(id.clone(), Instant::now() + RETRY_AFTER, None);
                }
                false
            });
            if more {
                // The others come first: nobody waits for a large file.
                self.look_at(id, Instant::now(), again);
            } else if let Some(at) = again {
                self.look_at(id, at, None);
            } else if self.sessions.get(&id).is_some_and(|f| f.ended) {
                self.let_go(&id);
            }
        }
    }

    /// An ended session needs no watch and no fold; a hook brings both back.
    fn let_go(&mut self, id: &str) {
        if let Some(followed) = self.sessions.get_mut(id) {
            followed.live = None;
            let main = followed.main.clone();
            self.watches.leave(&main);
        }
    }

    /// Where a session writes that nobody told the place of: it is looked for while it is not where we thought.
    async fn find(&mut self, id: &str) {
        let Some(followed) = self.sessions.get_mut(id).filter(|f| f.guessed && !f.main.exists()) else {
            return;
        };
        let Some(projects) = self.tail.projects().map(Path::to_owned) else { return };
        let guess = followed.main.clone();
        let found = tokio::task::spawn_blocking(move || find_main(&projects, &guess)).await;
        if let Ok(Some(main)) = found {
            self.watches.leave(&followed.main);
            self.tail.found(id, &main);
            followed.live = None;
            followed.main = main;
        }
    }

    /// One step further; true if there is more to read.
    async fn read(&mut self, id: &str) -> anyhow::Result<bool> {
        self.find(id).await;
        let Some(followed) = self.sessions.get_mut(id) else { return Ok(false) };
        let (cwd, told_at) = (followed.cwd.clone(), followed.told_at);
        let (mut live, new) = match followed.live.take() {
            Some(live) => (live, false),
            None => (Live::new(id, &followed.main, self.store.transcript(id).await?), true),
        };
        let mut reader = std::mem::take(&mut self.reader);
        let (live, reader, step, around) = tokio::task::spawn_blocking(move || {
            let step = live.step(&mut reader);
            let around = look_around(&live, cwd, told_at);
            (live, reader, step, around)
        })
        .await?;
        self.reader = reader;
        let (around, git_dir) = around;
        let step = step?;
        let more = step.as_ref().is_some_and(|step| step.more);
        let read = step.is_some();
        if let Some(step) = step {
            // If this fails the fold is ahead of the store: it is dropped here, and read again from the store.
            self.store.put_transcripts(vec![step.batch]).await?;
        }
        let Some(followed) = self.sessions.get_mut(id) else { return Ok(false) };
        if !followed.ended {
            // Folders of subagents appear while it runs.
            self.watches.join(&followed.main, git_dir.as_deref());
        }
        let moved = followed.around != around;
        followed.around.clone_from(&around);
        if new || read || moved {
            self.tell(&live, around).await;
        }
        if let Some(at) = live.known().last_at.filter(|at| read && *at - told_at >= GROWTH_COUNTS_AFTER) {
            self.tell_growth(id, &live.main, at).await;
        }
        if let Some(followed) = self.sessions.get_mut(id) {
            followed.live = Some(live);
        }
        Ok(more)
    }

    async fn tell(&self, live: &Live, around: Surroundings) {
        let summary = Summary { around, ..Summary::of(live.known().clone(), &self.prices) };
        if summary.known.is_anything() || summary.around != Surroundings::default() {
            // The daemon is stopping: nobody is left to be told.
            let _ = self.engine.enrich(&live.session_id, summary).await;
        }
    }
}

/// The repository it works in and its tasks, and the folder whose HEAD to watch. The newest word tells where it works.
fn look_around(live: &Live, cwd: Option<PathBuf>, told_at: Timestamp) -> (Surroundings, Option<PathBuf>) {
    let known = live.known();
    let line = known.cwd_now.as_ref().filter(|_| cwd.is_none() || known.cwd_at > Some(told_at));
    let found = line.map(PathBuf::from).or(cwd).and_then(|cwd| repository::find(&cwd));
    let (repository, git_dir) = found.map(|f| (f.repository, f.git_dir)).unzip();
    let tasks = tasks::folder(&live.main).map(|folder| tasks::read(&folder)).unwrap_or_default();
    (Surroundings { repository, tasks }, git_dir)
}
