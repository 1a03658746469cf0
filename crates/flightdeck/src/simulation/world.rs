//! The world of a simulation: a clock, a disk, a spool, a log, and what its clients know.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use flightdeck_core::log::record::EventId;
use flightdeck_core::time::{Millis, Timestamp};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::daemon::Door;
use super::planted::{Bug, Planted};
use crate::ingest::spool;
use crate::private_folder;
use crate::store::faulty::FaultSwitch;
use crate::store::{Backend, Memory, Store};

pub(super) type World = Arc<Inside>;

#[derive(Debug)]
pub(super) struct Inside {
    pub(super) folder: tempfile::TempDir,
    pub(super) switch: FaultSwitch,
    pub(super) planted: Option<Planted>,
    pub(super) log: Log,
    /// Notified when an event is spooled.
    pub(super) spooled: Notify,
    /// How long the store waits before each command.
    slow_ms: AtomicU64,
    /// Hooks that wait for a reply.
    pub(super) waiting: AtomicUsize,
    crowds: Mutex<Crowds>,
    began: Instant,
    /// The wall clock at the start, with all steps since.
    wall_ms: AtomicI64,
    disk: Mutex<Disk>,
    pub(super) facts: Mutex<WorldFacts>,
    /// Set while a daemon listens.
    pub(super) door: Mutex<Option<Door>>,
}

/// The data that survives the daemon.
#[derive(Clone, Debug)]
enum Disk {
    Memory(Memory),
    Sqlite { path: PathBuf, deaths: u32 },
}

/// How many hooks waited when a disk fault occurred.
#[derive(Debug, Default)]
struct Crowds {
    fired: u64,
    /// Hooks that waited when the store began its last command.
    waited: usize,
    met: BTreeMap<usize, u64>,
}

/// What the clients know.
#[derive(Debug, Default)]
pub(super) struct WorldFacts {
    /// Acknowledged events, with their places in the log.
    pub(super) acknowledged: BTreeMap<EventId, u64>,
    /// Events that were spooled completely.
    pub(super) spooled: Vec<EventId>,
    /// Events that were never sent completely: they must not be in the log.
    pub(super) withheld: Vec<EventId>,
    pub(super) sent: u64,
    /// Calls of the counted session that its effort must count, if they arrived.
    pub(super) calls: BTreeSet<EventId>,
    /// Texts for the counted session that were acknowledged.
    pub(super) injected: BTreeSet<String>,
    /// Texts that a hook was given.
    pub(super) told: BTreeSet<String>,
}

impl Inside {
    pub(super) fn new(start_ms: i64, sqlite: bool, bug: Option<Bug>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let disk = match sqlite {
            true => Disk::Sqlite { path: folder.path().join("0/flightdeck.db"), deaths: 0 },
            false => Disk::Memory(Memory::default()),
        };
        std::fs::create_dir(folder.path().join("0")).unwrap();
        let planted = bug.map(Planted::new);
        let switch = FaultSwitch::default().keep_written();
        let switch =
            if planted.as_ref().is_some_and(Planted::disk_lies) { switch.with_lying_disk() } else { switch };
        let world = Self {
            folder,
            switch,
            planted,
            log: Log::default(),
            spooled: Notify::new(),
            slow_ms: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            crowds: Mutex::default(),
            began: Instant::now(),
            wall_ms: AtomicI64::new(start_ms),
            disk: Mutex::new(disk),
            facts: Mutex::default(),
            door: Mutex::default(),
        };
        private_folder::open_or_create(&world.spool()).unwrap();
        Arc::new(world)
    }

    pub(super) fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(self.wall_ms.load(Ordering::SeqCst) + passed)
    }
    pub(super) fn turn_the_clock(&self, by: Millis) {
        self.wall_ms.fetch_add(by.0, Ordering::SeqCst);
    }

    pub(super) fn spool(&self) -> PathBuf {
        self.folder.path().join("spool")
    }
    pub(super) fn spool_is_empty(&self) -> bool {
        spool::list(&self.spool()).unwrap().is_empty()
    }

    pub(super) fn slow_disk(&self, each: Duration) {
        self.slow_ms.store(each.as_millis() as u64, Ordering::SeqCst);
    }
    /// Called before each command of the store.
    pub(super) async fn pace(&self) {
        let slow = self.slow_ms.load(Ordering::SeqCst);
        if slow > 0 {
            tokio::time::sleep(Duration::from_millis(slow)).await;
        }
        self.look_around();
    }

    fn look_around(&self) {
        let (mut crowds, fired) = (self.crowds.lock().unwrap(), self.switch.fired());
        if fired > crowds.fired {
            let waited = crowds.waited;
            *crowds.met.entry(waited).or_default() += 1;
        }
        crowds.fired = fired;
        crowds.waited = self.waiting.load(Ordering::SeqCst);
    }

    pub(super) fn take_crowds(&self) -> BTreeMap<usize, u64> {
        self.look_around();
        std::mem::take(&mut self.crowds.lock().unwrap().met)
    }

    /// The disk as the next process finds it.
    pub(super) fn open_disk(&self) -> Box<dyn Backend> {
        match &*self.disk.lock().unwrap() {
            Disk::Memory(memory) => Box::new(memory.clone()),
            Disk::Sqlite { path, .. } => Store::sqlite_backend(path).unwrap(),
        }
    }

    /// The next process gets copies of the files as the dead one left them, without a clean close.
    pub(super) fn leave_for_dead(&self) {
        let mut disk = self.disk.lock().unwrap();
        if let Disk::Sqlite { path, deaths } = &mut *disk {
            *deaths += 1;
            let next = self.folder.path().join(deaths.to_string());
            std::fs::create_dir(&next).unwrap();
            let next = next.join("flightdeck.db");
            for (suffix, bytes) in as_they_lie(path) {
                std::fs::write(with_suffix(&next, suffix), bytes).unwrap();
            }
            *path = next;
        }
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, WorldFacts> {
        self.facts.lock().unwrap()
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    path.with_file_name(format!("flightdeck.db{suffix}"))
}

/// The files at one moment: the checkpoint thread may be writing, so they are read until two reads agree.
fn as_they_lie(path: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let read = || {
        let there = ["", "-wal"].into_iter().filter(|suffix| with_suffix(path, suffix).exists());
        there.map(|suffix| (suffix, std::fs::read(with_suffix(path, suffix)).unwrap())).collect::<Vec<_>>()
    };
    let mut files = read();
    loop {
        let again = read();
        if again == files {
            return files;
        }
        files = again;
    }
}

/// The daemon's log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
    pub(super) fn says(&self, sentence: &str, from: usize) -> bool {
        self.text().get(from..).is_some_and(|text| text.contains(sentence))
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
