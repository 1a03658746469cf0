//! One seed from start to end.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use flightdeck_core::price::PriceTable;
use flightdeck_core::time::Millis;
use serde_json::Value;
use tokio::task::JoinSet;
use tracing::Dispatch;

use super::clients::{self, NeverReads, Sent, Viewer};
use super::daemon::Daemon;
use super::plan::{INPUTS_MIN, Plan, TROUBLES_MIN, Trouble};
use super::truth::{Truth, must, same, text};
use super::world::{Inside, Log, World};
use crate::changes::{REPLAY_BYTES_MIN, REPLAY_CHANGES_MAX};
use crate::config::Config;
use crate::store::Store;
use crate::store::faulty::Fault;

/// How a seed went; equal for equal seeds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) inputs: u64,
    pub(super) stored: u64,
    pub(super) starts: u64,
    pub(super) troubles: Vec<&'static str>,
    /// Retention had something to do.
    pub(super) removed: bool,
    /// How many hooks waited when the disk met a fault, and how often.
    pub(super) crowds: BTreeMap<usize, u64>,
    /// Of everything on the board at the end.
    pub(super) board: String,
}

/// How a seed went wrong.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) why: String,
    /// Faults of the disk since all was last seen to be right.
    pub(super) faults: u64,
}

/// A dead daemon is started again after this.
const DOWN_FOR: Duration = Duration::from_secs(3);
/// After this everything that will happen by itself has happened.
const QUIET: Duration = Duration::from_secs(5);
/// Whatever waits in the spool is in by then, on a disk that works.
const SETTLED_WITHIN: Duration = Duration::from_secs(300);
/// So often every task may go on before a viewer must have read what it was told. No time passes meanwhile.
const TURNS_TO_READ: usize = 64;
/// Longest pause between two events: time for the daemon's own timers, and for old events to be removed.
const PAUSE_MS_MAX: u64 = 30_000;
/// Hooks under way at once.
const HOOKS_AT_ONCE: usize = 8;
/// A disk that takes this long has the next events wait while it writes the last ones.
const BUSY_MS: (u64, u64) = (5, 50);

static PRICES: LazyLock<Arc<PriceTable>> = LazyLock::new(|| Arc::new(Config::default().prices().unwrap()));

/// Two that stay: where there is only one, a test without any that is the first to come by a sentence silences it for all.
static LISTENERS: LazyLock<[Dispatch; 2]> =
    LazyLock::new(|| [listener(Log::default()), listener(Log::default())]);

fn listener(log: Log) -> Dispatch {
    let told = tracing_subscriber::fmt().with_ansi(false).without_time();
    Dispatch::new(told.with_max_level(tracing::Level::INFO).with_writer(move || log.clone()).finish())
}

pub(super) fn play(seed: u64) -> Result<Played, Broken> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let plan = Plan::of(seed);
        let world = Inside::new(plan.start_ms, plan.sqlite);
        LazyLock::force(&LISTENERS);
        let _logging = tracing::dispatcher::set_default(&listener(world.log.clone()));
        let mut play = Play::new(plan, Arc::clone(&world));
        let played = play.run().await;
        let faults = world.switch.fired() - play.fired_before;
        if super::wish("SEED").is_some() {
            eprintln!("{}", world.log.text());
        }
        played.map_err(|why| Broken { why, faults })
    })
}

struct Play {
    plan: Plan,
    world: World,
    daemon: Option<Daemon>,
    truth: Truth,
    viewer: Viewer,
    hooks: JoinSet<()>,
    /// Who does not read is still there when the bounds are checked.
    unread: Option<NeverReads>,
    played: Played,
    /// Faults of the disk until all was last seen to be right.
    fired_before: u64,
}

impl Play {
    fn new(plan: Plan, world: World) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let truth = Truth::new(Config::default().rules(Some(host)));
        let (viewer, hooks, played) = (Viewer::default(), JoinSet::new(), Played::default());
        Self { plan, world, daemon: None, truth, viewer, hooks, unread: None, played, fired_before: 0 }
    }

    async fn run(&mut self) -> Result<Played, String> {
        self.start().await;
        let watching = tokio::spawn(self.viewer.clone().watch(Arc::clone(&self.world)));
        while self.played.inputs < self.plan.inputs || !self.plan.troubles.is_empty() {
            if let Some(sent) = self.next().await {
                self.send(sent).await;
            }
            if let Some(next) = self.plan.troubles.first_entry()
                && *next.key() <= self.played.inputs
            {
                let trouble = next.remove();
                self.go_through(trouble).await?;
            }
        }
        let (inputs, troubles) = (self.played.inputs, self.played.troubles.len() as u64);
        must!(inputs >= INPUTS_MIN && troubles >= TROUBLES_MIN, "only {inputs} inputs and {troubles} faults");
        self.check().await?;
        watching.abort();
        self.end().await
    }

    /// The next event, when its time has come.
    async fn next(&mut self) -> Option<Sent> {
        let event = self.plan.events.next()?;
        self.played.inputs += 1;
        let pause = self.plan.rng.skewed(1, PAUSE_MS_MAX);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Some(Sent::new(&self.world, &event))
    }

    async fn many(&mut self, count: usize) -> Vec<Sent> {
        let events: Vec<_> = self.plan.events.by_ref().take(count).collect();
        self.played.inputs += events.len() as u64;
        events.iter().map(|event| Sent::new(&self.world, event)).collect()
    }

    /// Waited for or not, as the seed likes.
    async fn send(&mut self, sent: Sent) {
        self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
        let most = if self.plan.rng.percent(30) { 0 } else { HOOKS_AT_ONCE };
        while self.hooks.len() > most {
            self.hooks.join_next().await;
        }
        self.bury().await;
    }

    async fn start(&mut self) {
        while self.daemon.is_none() {
            self.daemon = Daemon::start(&self.world, &self.plan.config, &PRICES).await;
            self.played.starts += 1;
            if self.world.switch.is_dead() {
                self.kill().await;
            }
        }
    }

    /// A daemon whose disk died under it is dead.
    async fn bury(&mut self) {
        if self.daemon.is_some() && self.world.switch.is_dead() {
            self.kill().await;
            tokio::time::sleep(DOWN_FOR).await;
            self.start().await;
        }
    }

    async fn kill(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.kill(&self.world).await;
        }
    }

    async fn go_through(&mut self, trouble: Trouble) -> Result<(), String> {
        let (said, fired) = (self.world.log.len(), self.world.switch.fired());
        let must_fire = self.cause(&trouble).await;
        must!(
            !must_fire || self.world.switch.fired() > fired,
            "{}: the fault never came true",
            trouble.name()
        );
        self.played.troubles.push(trouble.name());
        self.check().await?;
        // A clock that is behind already is not told of again.
        let said = if matches!(trouble, Trouble::ClockBack(_)) { 0 } else { said };
        let sentences = trouble.sentences();
        let told = sentences.iter().any(|sentence| self.world.log.says(sentence, said));
        must!(told || sentences.is_empty(), "{}: the log says none of {sentences:?}", trouble.name());
        Ok(())
    }

    /// True if it is a fault of the disk that some write must have met.
    async fn cause(&mut self, trouble: &Trouble) -> bool {
        let switch = self.world.switch.clone();
        match trouble {
            Trouble::DiskFull(times) => switch.set(Fault::DiskFull, *times),
            Trouble::FsyncFailed => switch.set(Fault::FsyncFailed, 1),
            Trouble::FsyncFailedThenKilled => {
                switch.set(Fault::FsyncFailed, 1);
                switch.set(Fault::DieBeforeCommit, 1);
            }
            Trouble::KilledBeforeCommit => switch.set(Fault::DieBeforeCommit, 1),
            Trouble::KilledAfterCommit => switch.set(Fault::DieAfterCommit, 1),
            other => {
                self.cause_elsewhere(other).await;
                return matches!(other, Trouble::KilledWhileDraining(_) | Trouble::DiskFullWhileDraining);
            }
        }
        if self.plan.rng.percent(50) {
            self.crowd().await;
            return true;
        }
        for _ in 0..5 {
            if let Some(sent) = self.next().await {
                self.send(sent).await;
            }
        }
        self.wait_for_hooks().await;
        true
    }

    /// Many hooks on a busy disk: one batch is written while the next ones gather.
    async fn crowd(&mut self) {
        let busy_ms = self.plan.rng.between(BUSY_MS.0, BUSY_MS.1);
        self.world.slow_disk(Duration::from_millis(busy_ms));
        let count = self.plan.rng.between(4, 12) as usize;
        for sent in self.many(count).await {
            self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
            let pause = self.plan.rng.between(0, busy_ms / 2);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        self.wait_for_hooks().await;
        self.world.slow_disk(Duration::ZERO);
    }

    async fn cause_elsewhere(&mut self, trouble: &Trouble) {
        let world = Arc::clone(&self.world);
        match trouble {
            Trouble::SlowDisk(each) => {
                world.slow_disk(*each);
                for sent in self.many(3).await {
                    self.send(sent).await;
                }
                self.wait_for_hooks().await;
                // What was on its way when its hook gave up arrives late, and once more from the spool.
                tokio::time::sleep(10 * *each).await;
                world.slow_disk(Duration::ZERO);
            }
            Trouble::Killed => {
                self.kill().await;
                self.spool_some().await;
                self.start().await;
            }
            Trouble::KilledWhileDraining(fault) => {
                self.kill().await;
                self.spool_some().await;
                world.switch.set(*fault, 1);
                self.start().await;
            }
            Trouble::DiskFullWhileDraining => {
                self.kill().await;
                self.spool_some().await;
                world.switch.set(Fault::DiskFull, 3);
                self.start().await;
            }
            Trouble::StoppedAndStarted => {
                if let Some(daemon) = self.daemon.take() {
                    daemon.stop(&world).await;
                }
                self.spool_some().await;
                self.start().await;
            }
            Trouble::ClockBack(by) => self.turn_the_clock(Millis(-by.0)).await,
            Trouble::ClockForward(by) => self.turn_the_clock(*by).await,
            Trouble::Flood(count) => {
                let all = self.many(*count).await;
                clients::flood(world, all).await;
            }
            Trouble::NeverReads => {
                self.unread = Some(NeverReads::new(&world).await);
                for sent in self.many(10).await {
                    self.send(sent).await;
                }
                self.wait_for_hooks().await;
            }
            Trouble::ReconnectsForever(times) => clients::reconnects(&world, *times).await,
            Trouble::HalfALine | Trouble::TornSpoolFile | Trouble::KilledHook | Trouble::SpooledAgain => {
                if let Some(sent) = self.next().await {
                    self.mishandle(trouble, sent).await;
                }
            }
            _ => {}
        }
    }

    async fn mishandle(&mut self, trouble: &Trouble, sent: Sent) {
        match trouble {
            Trouble::HalfALine => clients::half_a_line(&self.world, &sent).await,
            Trouble::TornSpoolFile => sent.spool_half(&self.world, ""),
            Trouble::KilledHook => sent.spool_half(&self.world, "."),
            _ => {
                clients::hook(Arc::clone(&self.world), sent.clone()).await;
                sent.spool(&self.world);
            }
        }
    }

    async fn turn_the_clock(&mut self, by: Millis) {
        self.world.turn_the_clock(by);
        for sent in self.many(5).await {
            self.send(sent).await;
        }
        self.wait_for_hooks().await;
    }

    /// Nobody listens: everything goes to the spool.
    async fn spool_some(&mut self) {
        for sent in self.many(4).await {
            self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
        }
        self.wait_for_hooks().await;
        tokio::time::sleep(DOWN_FOR).await;
    }

    async fn wait_for_hooks(&mut self) {
        while self.hooks.join_next().await.is_some() {
            self.bury().await;
        }
    }

    /// The disk works again and everybody has said what they had to say: then all of it must be right. The daemon is
    /// stopped in order for that, because its last snapshot is its fleet to the byte, and started again.
    async fn check(&mut self) -> Result<(), String> {
        self.wait_for_hooks().await;
        self.bury().await;
        self.world.switch.heal();
        let begun = tokio::time::Instant::now();
        while !self.world.spool_is_empty() {
            must!(begun.elapsed() < SETTLED_WITHIN, "events stay in the spool");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        tokio::time::sleep(QUIET).await;
        let Some(daemon) = self.daemon.take() else { return Err("no daemon".into()) };
        let board = daemon.engine.board().await.map_err(|e| e.to_string())?;
        // Both are told in the same moment; the viewer has to be let read.
        for _ in 0..TURNS_TO_READ {
            tokio::task::yield_now().await;
        }
        self.check_viewer(&board)?;
        self.check_bounds(&daemon).await?;
        self.unread = None;
        daemon.stop(&self.world).await;
        self.truth.learn(&self.world)?;
        self.truth.check_facts(&self.world)?;
        self.truth.check_board(&board)?;
        self.played.board = format!("{:x}", fingerprint(&board));
        self.fired_before = self.world.switch.fired();
        self.start().await;
        Ok(())
    }

    fn check_viewer(&self, board: &[u8]) -> Result<(), String> {
        let board: Value = serde_json::from_slice(board).map_err(|e| e.to_string())?;
        let shown = board["sessions"].as_array().cloned().unwrap_or_default();
        let seen = self.viewer.seen();
        if let Some(wrong) = &seen.wrong {
            return Err(format!("a viewer was told wrongly: {wrong}"));
        }
        let cards: Vec<Value> = seen.cards().into_iter().cloned().collect();
        same("what the viewer saw", &text(&shown), &text(&cards))
    }

    async fn check_bounds(&self, daemon: &Daemon) -> Result<(), String> {
        let past =
            daemon.engine.subscribe(Some(format!("{}-0", daemon.boot()))).await.map_err(|e| e.to_string())?;
        let bytes: usize = past.first.iter().map(|change| change.data.len()).sum();
        let board = daemon.engine.board().await.map_err(|e| e.to_string())?.len();
        must!(past.first.len() <= REPLAY_CHANGES_MAX, "{} changes are kept", past.first.len());
        // Either what was missed, or the board itself.
        must!(bytes <= board.max(REPLAY_BYTES_MIN), "{bytes} bytes of changes are kept for {board} of board");
        Ok(())
    }

    async fn end(&mut self) -> Result<Played, String> {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop(&self.world).await;
        }
        self.truth.learn(&self.world)?;
        let (store, work) = Store::as_task(self.world.open_disk(), async || ());
        let work = tokio::spawn(work);
        self.truth.check_replay(&store).await?;
        work.abort();
        self.played.removed = self.world.log.says("old events were removed", 0);
        self.played.stored = self.truth.stored();
        self.played.crowds = self.world.take_crowds();
        Ok(std::mem::take(&mut self.played))
    }
}

/// Without the boot, which is another in every run.
fn fingerprint(board: &[u8]) -> u64 {
    let board: Value = serde_json::from_slice(board).unwrap_or_default();
    let text = board["sessions"].to_string();
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
