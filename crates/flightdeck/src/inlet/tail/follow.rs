//! Follows the transcripts of live sessions. A hook or a change on disk is a hint; a moment later what is new is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use flightdeck_core::enrichment::Summary;
use flightdeck_core::price::PriceTable;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, mpsc};

use super::file::Reader;
use super::live::{Live, session_of};
use crate::engine::EngineHandle;
use crate::store::Store;

/// The client buffers its lines for 100 ms; a hint is followed up after that.
const SETTLE: Duration = Duration::from_millis(150);
/// After a hook the last lines may take longer; a second look costs one `stat`.
const SECOND_LOOK: Duration = Duration::from_millis(700);
/// Changed paths that may wait; beyond that every followed session is looked at.
const HINTS_WAITING_MAX: usize = 1024;
/// Rest after reading, as a multiple of the time it took: small readings leave the processor to others.
const REST_PER_WORK: u32 = 4;
/// Longest rest: a new session must not wait for the large file of another.
const REST_MAX: Duration = Duration::from_millis(200);

/// Where a transcript will be: its project's folder, `projects`, or the configuration. Further up is none of our business.
const ANCESTORS_WATCHED: usize = 3;

/// What the engine wants followed. Cloning clones the handle.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    news: Mutex<News>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct News {
    /// Sessions something happened to, with where their transcript is.
    touched: BTreeMap<String, Touched>,
    forgotten: BTreeSet<String>,
    /// Everything that is followed now, for the history reader to leave alone.
    followed: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Touched {
    path: PathBuf,
    /// It is over: read what is left and let go of it.
    ended: bool,
}

impl Tail {
    /// Something happened to a session. Never waits.
    pub fn touched(&self, session_id: &str, transcript_path: Option<&str>, ended: bool) {
        let Some(path) = transcript_path.filter(|p| p.ends_with(".jsonl") && p.starts_with('/')) else {
            return;
        };
        let mut news = self.news();
        if !news.followed.contains(session_id) {
            news.followed.insert(session_id.to_owned());
        }
        let first = news.touched.is_empty();
        news.touched.insert(session_id.to_owned(), Touched { path: path.into(), ended });
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
        self.news().followed.contains(session_id)
    }

    fn news(&self) -> std::sync::MutexGuard<'_, News> {
        // Three maps, each whole after every statement.
        self.shared.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_news(&self) -> (BTreeMap<String, Touched>, BTreeSet<String>) {
        let mut news = self.news();
        let forgotten = std::mem::take(&mut news.forgotten);
        forgotten.iter().for_each(|id| _ = news.followed.remove(id));
        (std::mem::take(&mut news.touched), forgotten)
    }
}

/// Follows until the daemon stops.
pub async fn follow(tail: Tail, store: Store, engine: EngineHandle, prices: Arc<PriceTable>) {
    let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
    let lost = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let follower = Follower {
        tail,
        store,
        engine,
        prices,
        hints,
        watches: Watches::new(hint, Arc::clone(&lost)),
        lost,
        sessions: BTreeMap::new(),
        due: BTreeMap::new(),
        reader: Reader::default(),
    };
    follower.run().await;
}

struct Follower {
    tail: Tail,
    store: Store,
    engine: EngineHandle,
    prices: Arc<PriceTable>,
    hints: mpsc::Receiver<PathBuf>,
    /// A hint did not fit: look at everything.
    lost: Arc<std::sync::atomic::AtomicBool>,
    watches: Watches,
    sessions: BTreeMap<String, Followed>,
    /// When to look at which session, and whether to look once more after that.
    due: BTreeMap<String, (Instant, Option<Instant>)>,
    reader: Reader,
}

#[derive(Debug)]
struct Followed {
    /// Away while it is being read.
    live: Option<Live>,
    main: PathBuf,
    ended: bool,
}

impl Follower {
    async fn run(mut self) {
        loop {
            let next = self.due.values().map(|(at, _)| *at).min();
            let sleep = next.map(|at| at.saturating_duration_since(Instant::now()));
            tokio::select! {
                () = self.tail.shared.wake.notified() => self.hear_news(),
                hint = self.hints.recv() => match hint {
                    Some(path) => self.hear_hint(&path),
                    None => return,
                },
                () = tokio::time::sleep(sleep.unwrap_or(Duration::from_secs(3600))), if sleep.is_some() => {
                    let began = Instant::now();
                    self.read_due().await;
                    tokio::time::sleep((began.elapsed() * REST_PER_WORK).min(REST_MAX)).await;
                }
            }
        }
    }

    fn hear_news(&mut self) {
        let (touched, forgotten) = self.tail.take_news();
        for id in forgotten {
            self.due.remove(&id);
            if let Some(followed) = self.sessions.remove(&id) {
                self.watches.leave(&followed.main);
            }
        }
        let now = Instant::now();
        for (id, touched) in touched {
            let known = self.sessions.get(&id).is_some_and(|f| f.main == touched.path);
            if !known {
                let followed = Followed { live: None, main: touched.path.clone(), ended: touched.ended };
                if let Some(old) = self.sessions.insert(id.clone(), followed) {
                    self.watches.leave(&old.main);
                }
            }
            if let Some(followed) = self.sessions.get_mut(&id) {
                followed.ended = touched.ended;
            }
            // A session that is new to us is read at once.
            let first = if known { now + SETTLE } else { now };
            self.look_at(id, first, Some(now + SECOND_LOOK));
        }
    }

    fn hear_hint(&mut self, path: &Path) {
        let soon = Instant::now() + SETTLE;
        if self.lost.swap(false, std::sync::atomic::Ordering::Relaxed) {
            let all: Vec<_> = self.sessions.keys().cloned().collect();
            all.into_iter().for_each(|id| self.look_at(id, soon, None));
        }
        match session_of(path) {
            Some(id) if self.sessions.contains_key(&id) => self.look_at(id, soon, None),
            Some(_) => {}
            // A folder appeared or went: whoever waits for one looks again.
            None => {
                let waiting = self.watches.folder_changed(path);
                let of = |f: &Followed| waiting.iter().any(|folder| f.main.starts_with(folder));
                let ids: Vec<_> =
                    self.sessions.iter().filter(|(_, f)| of(f)).map(|(id, _)| id.clone()).collect();
                ids.into_iter().for_each(|id| self.look_at(id, soon, None));
            }
        }
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

    /// One step further; true if there is more to read.
    async fn read(&mut self, id: &str) -> anyhow::Result<bool> {
        let Some(followed) = self.sessions.get_mut(id) else { return Ok(false) };
        let mut live = match followed.live.take() {
            Some(live) => live,
            None => {
                let stored = self.store.transcript(id).await?;
                let live = Live::new(id, &followed.main, stored);
                self.tell(&live).await;
                live
            }
        };
        let mut reader = std::mem::take(&mut self.reader);
        let (live, reader, step) = tokio::task::spawn_blocking(move || {
            let step = live.step(&mut reader);
            (live, reader, step)
        })
        .await?;
        self.reader = reader;
        let mut more = false;
        if let Some(step) = step? {
            more = step.more;
            // If this fails the fold is ahead of the store: it is dropped here, and read again from the store.
            self.store.put_transcripts(vec![step.batch]).await?;
            self.tell(&live).await;
        }
        // Folders of subagents appear while it runs.
        if let Some(followed) = self.sessions.get_mut(id) {
            if !followed.ended {
                self.watches.join(&followed.main);
            }
            followed.live = Some(live);
        }
        Ok(more)
    }

    async fn tell(&self, live: &Live) {
        let known = live.known();
        if known.last_at.is_some() || known.first_prompt.is_some() {
            let summary = Summary::of(known.clone(), &self.prices);
            // The daemon is stopping: nobody is left to be told.
            let _ = self.engine.enrich(&live.session_id, summary).await;
        }
    }
}

/// The folders that are watched, each for as many sessions as are in it.
struct Watches {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeMap<PathBuf, usize>,
    /// Which folders a session's transcript is watched through.
    of: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Watches {
    fn new(hint: mpsc::Sender<PathBuf>, lost: Arc<std::sync::atomic::AtomicBool>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Looking at a file is no change; our own reading would wake us for ever.
            if event.kind.is_access() {
                return;
            }
            for path in event.paths {
                if hint.try_send(path).is_err() {
                    lost.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
        });
        let watcher = watcher.inspect_err(|error| {
            tracing::error!(%error, "files cannot be watched; transcripts are read at every hook instead");
        });
        Self { watcher: watcher.ok(), folders: BTreeMap::new(), of: BTreeMap::new() }
    }

    /// Watches the folder of a main transcript and those of its subagents, or the nearest above that exists.
    fn join(&mut self, main: &Path) {
        let session = main.with_extension("");
        let subagents = session.join("subagents");
        let nearest = main.ancestors().skip(1).take(ANCESTORS_WATCHED).find(|a| a.is_dir());
        let below = [session, subagents].into_iter().filter(|f| f.is_dir());
        let wanted: BTreeSet<_> = nearest.map(Path::to_owned).into_iter().chain(below).collect();
        let had = self.of.insert(main.to_owned(), wanted.clone()).unwrap_or_default();
        wanted.difference(&had).for_each(|folder| self.add(folder));
        had.difference(&wanted).for_each(|folder| self.remove(folder));
    }

    fn leave(&mut self, main: &Path) {
        for folder in self.of.remove(main).unwrap_or_default() {
            self.remove(&folder);
        }
    }

    fn add(&mut self, folder: &Path) {
        let count = self.folders.entry(folder.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1
            && let Some(watcher) = &mut self.watcher
            && let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
        {
            tracing::warn!(%error, folder = %folder.display(), "cannot be watched; it is read at every hook instead");
        }
    }

    fn remove(&mut self, folder: &Path) {
        let Some(count) = self.folders.get_mut(folder) else { return };
        *count -= 1;
        if *count == 0 {
            self.folders.remove(folder);
            if let Some(watcher) = &mut self.watcher {
                // It may be gone, and its watch with it.
                let _ = watcher.unwatch(folder);
            }
        }
    }

    /// Transcripts that may be watched better now that something happened at `path`. Gives their folders.
    fn folder_changed(&mut self, path: &Path) -> Vec<PathBuf> {
        let concerned: Vec<_> = self
            .of
            .keys()
            .filter(|main| {
                main.starts_with(path)
                    || main.with_extension("").starts_with(path)
                    || path.starts_with(main.with_extension(""))
            })
            .cloned()
            .collect();
        for main in &concerned {
            self.join(main);
        }
        concerned
    }
}
