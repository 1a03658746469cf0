//! One run of the simulation.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use flightdeck_core::time::Millis;
use flightdeck_core::usage::price::PriceTable;
use serde_json::Value;
use tokio::task::JoinSet;
use tracing::Dispatch;

use super::clients::{self, NeverReads, Sent, Viewer};
use super::daemon::SimulatedDaemon;
use super::efforts::CountedSession;
use super::plan::{INPUTS_MIN, SeedPlan, TROUBLES_MIN, Trouble};
use super::planted::Bug;
use super::truth::{Truth, cards_as_bytes, compare_bytes, must};
use super::world::{Inside, Log, World};
use crate::config::Config;
use crate::daemon::host_name;
use crate::engine::changes::{REPLAY_BYTES_MIN, REPLAY_CHANGES_MAX, SubscribeFrom};
use crate::store::Store;
use crate::store::faulty::Fault;

/// The result of a run. Equal seeds give equal results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) inputs: u64,
    pub(super) stored: u64,
    pub(super) starts: u64,
    pub(super) troubles: Vec<&'static str>,
    /// Retention removed events.
    pub(super) removed: bool,
    /// How many hooks waited when a disk fault occurred, and how often.
    pub(super) crowds: BTreeMap<usize, u64>,
    /// A fingerprint of the board at the end.
    pub(super) board: String,
}

/// Why a run failed.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) why: String,
    /// Disk faults since the last check that passed.
    pub(super) faults: u64,
}

/// A dead daemon is started again after this time.
const DOWN_FOR: Duration = Duration::from_secs(3);
/// After this time no timer or retry is pending.
const QUIET: Duration = Duration::from_secs(5);
/// On a working disk the spool is empty after this time.
const SETTLED_WITHIN: Duration = Duration::from_secs(300);
/// Turns of all tasks before a viewer must have read its changes. No time passes meanwhile.
const TURNS_TO_READ: usize = 64;
/// Longest pause between two events: timers run and old events are removed.
const PAUSE_MS_MAX: u64 = 30_000;
/// Hooks that run at once.
const HOOKS_AT_ONCE: usize = 8;
/// The percentage of events that belong to the counted session.
const COUNTED_PERCENT: u64 = 30;
/// The percentage of events beside which a text for the counted session is sent.
const INJECTIONS_PERCENT: u64 = 10;
/// With a disk this slow, events wait while earlier ones are written.
const BUSY_MS: (u64, u64) = (5, 50);

static PRICES: LazyLock<Arc<PriceTable>> = LazyLock::new(|| Arc::new(Config::default().prices().unwrap()));

/// Two subscribers that stay registered. With only one, a log call that is first reached in a test without a subscriber would
/// be disabled for all tests.
static LISTENERS: LazyLock<[Dispatch; 2]> =
    LazyLock::new(|| [listener(Log::default()), listener(Log::default())]);

fn listener(log: Log) -> Dispatch {
    let format = tracing_subscriber::fmt().with_ansi(false).without_time();
    Dispatch::new(format.with_max_level(tracing::Level::INFO).with_writer(move || log.clone()).finish())
}

pub(super) fn play(seed: u64, bug: Option<Bug>) -> Result<Played, Broken> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let plan = SeedPlan::from_seed(seed);
        let world = Inside::new(plan.start_ms, plan.sqlite, bug);
        LazyLock::force(&LISTENERS);
        let _logging = tracing::dispatcher::set_default(&listener(world.log.clone()));
        let mut play = Play::new(plan, Arc::clone(&world));
        let played = play.run().await;
        let faults = world.switch.fired() - play.fired_before;
        if super::number_from_env("SEED").is_some() {
            eprintln!("{}", world.log.text());
        }
        played.map_err(|why| Broken { why, faults })
    })
}

struct Play {
    plan: SeedPlan,
    world: World,
    daemon: Option<SimulatedDaemon>,
    truth: Truth,
    viewer: Viewer,
    counted: CountedSession,
    hooks: JoinSet<()>,
    /// A client that does not read. It is still connected when the bounds are checked.
    unread: Option<NeverReads>,
    played: Played,
    /// Disk faults until the last check that passed.
    fired_before: u64,
}

impl Play {
    fn new(plan: SeedPlan, world: World) -> Self {
        let truth = Truth::new(Config::default().fold_settings(Some(host_name())));
        let (viewer, hooks, played) = (Viewer::default(), JoinSet::new(), Played::default());
        let counted = CountedSession::default();
        Self {
            plan,
            world,
            daemon: None,
            truth,
            viewer,
            counted,
            hooks,
            unread: None,
            played,
            fired_before: 0,
        }
    }

    async fn run(&mut self) -> Result<Played, String> {
        self.start().await;
        self.counted = CountedSession::begin(&self.world).await?;
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
        self.compare_with_truth().await?;
        watching.abort();
        self.end().await
    }

    /// The next event, after a pause. Sometimes a text for the counted session is sent meanwhile.
    async fn next(&mut self) -> Option<Sent> {
        let pause = self.plan.rng.skewed(1, PAUSE_MS_MAX);
        if self.plan.rng.percent(INJECTIONS_PERCENT) {
            self.hooks.spawn(self.counted.inject(&self.world));
        }
        tokio::time::sleep(Duration::from_millis(pause)).await;
        self.event()
    }

    fn event(&mut self) -> Option<Sent> {
        self.played.inputs += 1;
        if self.plan.rng.percent(COUNTED_PERCENT) {
            return Some(self.counted.next(&self.world));
        }
        Some(Sent::of_fleet(&self.world, &self.plan.events.next()?))
    }

    async fn many(&mut self, count: usize) -> Vec<Sent> {
        (0..count).filter_map(|_| self.event()).collect()
    }

    /// The seed decides whether the hook is awaited.
    async fn send(&mut self, sent: Sent) {
        self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
        let most = if self.plan.rng.percent(30) { 0 } else { HOOKS_AT_ONCE };
        while self.hooks.len() > most {
            self.hooks.join_next().await;
        }
        self.restart_if_dead().await;
    }

    async fn start(&mut self) {
        while self.daemon.is_none() {
            self.daemon = SimulatedDaemon::start(&self.world, &self.plan.config, &PRICES).await;
            self.played.starts += 1;
            if self.world.switch.is_dead() {
                self.kill().await;
            }
        }
    }

    /// Restarts the daemon if its disk died.
    async fn restart_if_dead(&mut self) {
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
        self.compare_with_truth().await?;
        // A clock that is already behind the last event is not logged again.
        let said = if matches!(trouble, Trouble::ClockBack(_)) { 0 } else { said };
        let sentences = trouble.sentences();
        let told = sentences.iter().any(|sentence| self.world.log.says(sentence, said));
        must!(told || sentences.is_empty(), "{}: the log says none of {sentences:?}", trouble.name());
        Ok(())
    }

    /// True if a write must have failed.
    async fn cause(&mut self, trouble: &Trouble) -> bool {
        let switch = self.world.switch.clone();
        match trouble {
            Trouble::DiskFull(times) => switch.inject(Fault::DiskFull, *times),
            Trouble::FsyncFailed => switch.inject(Fault::FsyncFailed, 1),
            Trouble::FsyncFailedThenKilled => {
                switch.inject(Fault::FsyncFailed, 1);
                switch.inject(Fault::DieBeforeCommit, 1);
            }
            Trouble::KilledBeforeCommit => switch.inject(Fault::DieBeforeCommit, 1),
            Trouble::KilledAfterCommit => switch.inject(Fault::DieAfterCommit, 1),
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

    /// Many hooks on a slow disk: one batch is written while the next one gathers.
    async fn crowd(&mut self) {
        let busy_ms = self.plan.rng.between(BUSY_MS.0, BUSY_MS.1);
        self.world.slow_disk(Duration::from_millis(busy_ms));
        let count = self.plan.rng.between(4, 12) as usize;
        for sent in self.many(count).await {
            self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
            if self.plan.rng.percent(INJECTIONS_PERCENT) {
                self.hooks.spawn(self.counted.inject(&self.world));
            }
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
                // An event whose hook gave up arrives late, and again from the spool.
                tokio::time::sleep(10 * *each).await;
                world.slow_disk(Duration::ZERO);
            }
            Trouble::Killed => self.kill_and_restart(None).await,
            Trouble::KilledWhileDraining(fault) => self.kill_and_restart(Some((*fault, 1))).await,
            Trouble::DiskFullWhileDraining => self.kill_and_restart(Some((Fault::DiskFull, 3))).await,
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

    /// Kills the daemon, spools some events and starts it again. The fault is injected into that many writes of the start.
    async fn kill_and_restart(&mut self, fault: Option<(Fault, usize)>) {
        self.kill().await;
        self.spool_some().await;
        if let Some((fault, writes)) = fault {
            self.world.switch.inject(fault, writes);
        }
        self.start().await;
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

    /// Spools some events while no daemon listens.
    async fn spool_some(&mut self) {
        for sent in self.many(4).await {
            self.hooks.spawn(clients::hook(Arc::clone(&self.world), sent));
        }
        self.wait_for_hooks().await;
        tokio::time::sleep(DOWN_FOR).await;
    }

    async fn wait_for_hooks(&mut self) {
        while self.hooks.join_next().await.is_some() {
            self.restart_if_dead().await;
        }
    }

    /// Checks everything once the disk works again and no client is active. The daemon is stopped and started again, because its
    /// last snapshot is its fleet byte for byte.
    async fn compare_with_truth(&mut self) -> Result<(), String> {
        self.wait_for_hooks().await;
        self.restart_if_dead().await;
        self.world.switch.stop_faults();
        let begun = tokio::time::Instant::now();
        while !self.world.spool_is_empty() {
            must!(begun.elapsed() < SETTLED_WITHIN, "events stay in the spool");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.counted.take_what_waits(&self.world).await?;
        tokio::time::sleep(QUIET).await;
        let Some(daemon) = self.daemon.take() else { return Err("no daemon".into()) };
        let board = daemon.engine.board().await.map_err(|e| e.to_string())?;
        // The viewer needs some turns to read its changes.
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
        self.counted.check_heartbeat(&self.world, self.truth.fleet())?;
        self.played.board = format!("{:x}", fingerprint(&board));
        self.fired_before = self.world.switch.fired();
        self.start().await;
        self.counted.log(&self.world, &mut self.plan.rng).await
    }

    fn check_viewer(&self, board: &[u8]) -> Result<(), String> {
        let board: Value = serde_json::from_slice(board).map_err(|e| e.to_string())?;
        let shown = board["sessions"].as_array().cloned().unwrap_or_default();
        let viewed = self.viewer.board();
        if let Some(wrong) = &viewed.wrong {
            return Err(format!("a viewer got a wrong change: {wrong}"));
        }
        let cards: Vec<Value> = viewed.cards().into_iter().cloned().collect();
        compare_bytes("what the viewer saw", &cards_as_bytes(&shown), &cards_as_bytes(&cards))
    }

    async fn check_bounds(&self, daemon: &SimulatedDaemon) -> Result<(), String> {
        let past = daemon
            .engine
            .subscribe(SubscribeFrom::After(format!("{}-0", daemon.boot())))
            .await
            .map_err(|e| e.to_string())?;
        let bytes: usize = past.first.iter().map(|change| change.data.len()).sum();
        let board = daemon.engine.board().await.map_err(|e| e.to_string())?.len();
        must!(past.first.len() <= REPLAY_CHANGES_MAX, "{} changes are kept", past.first.len());
        // The subscription begins with the changes that were missed, or with the board.
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

/// The text without the boot id and the ids of efforts, which differ in every run.
fn fingerprint(board: &[u8]) -> u64 {
    let mut board: Value = serde_json::from_slice(board).unwrap_or_default();
    for session in board["sessions"].as_array_mut().into_iter().flatten() {
        if let Some(effort) = session["effort"].as_object_mut() {
            effort.remove("id");
        }
    }
    let text = board["sessions"].to_string();
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
