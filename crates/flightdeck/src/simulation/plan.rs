//! What a seed decides: which events are sent, and which faults occur when.

use std::collections::BTreeMap;
use std::time::Duration;

use flightdeck_core::time::Millis;
use flightdeck_sim::fleet::{FleetConfig, SimFleet};
use flightdeck_sim::rng::Rng;

use crate::config::Config;
use crate::store::faulty::Fault;

/// Fewest inputs of a seed.
pub(super) const INPUTS_MIN: u64 = 500;
/// Fewest faults of a seed.
pub(super) const TROUBLES_MIN: u64 = 3;
const TROUBLES_MAX: u64 = 7;
/// No fault before this many inputs: there is hardly anything to lose yet.
const QUIET_START: u64 = 20;
/// One seed in this many runs on a real SQLite file.
const SQLITE_EVERY: u64 = 20;
/// One seed in this many is long enough to overflow the changes kept for viewers.
const LONG_EVERY: u64 = 100;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// This many writes in a row fail.
    DiskFull(usize),
    FsyncFailed,
    /// The fsync fails, and the daemon dies before it writes anything else.
    FsyncFailedThenKilled,
    SlowDisk(Duration),
    KilledBeforeCommit,
    KilledAfterCommit,
    /// Killed between two writes.
    Killed,
    /// Events wait in the spool; the next daemon dies while it drains it.
    KilledWhileDraining(Fault),
    DiskFullWhileDraining,
    ClockBack(Millis),
    ClockForward(Millis),
    /// Many lines on one connection, sent without waiting for replies.
    Flood(usize),
    /// Requests the board repeatedly and subscribes, and never reads a reply.
    NeverReads,
    HalfALine,
    /// Viewers that connect and disconnect.
    ReconnectsForever(usize),
    TornSpoolFile,
    /// A hook died while it wrote its file.
    KilledHook,
    /// An event that was acknowledged is in the spool as well.
    SpooledAgain,
    StoppedAndStarted,
}

impl Trouble {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::DiskFull(_) => "disk full",
            Self::FsyncFailed => "fsync failed",
            Self::FsyncFailedThenKilled => "fsync failed, killed",
            Self::SlowDisk(_) => "slow disk",
            Self::KilledBeforeCommit => "killed before commit",
            Self::KilledAfterCommit => "killed after commit",
            Self::Killed => "killed between writes",
            Self::KilledWhileDraining(Fault::DieAfterCommit) => "killed draining, after",
            Self::KilledWhileDraining(_) => "killed draining, before",
            Self::DiskFullWhileDraining => "disk full while draining",
            Self::ClockBack(_) => "clock set back",
            Self::ClockForward(_) => "clock set forward",
            Self::Flood(_) => "flood",
            Self::NeverReads => "never reads",
            Self::HalfALine => "half a line",
            Self::ReconnectsForever(_) => "reconnects forever",
            Self::TornSpoolFile => "torn spool file",
            Self::KilledHook => "killed hook",
            Self::SpooledAgain => "spooled again",
            Self::StoppedAndStarted => "stopped and started",
        }
    }

    /// The log must contain one of these. Empty if the daemon has no fault.
    pub(super) fn sentences(&self) -> &'static [&'static str] {
        match self {
            // Depends on which write failed.
            Self::DiskFull(_) | Self::FsyncFailed => {
                &["events could not be stored", "no snapshot was written", "effects could not be stored"]
            }
            Self::SlowDisk(_) => &["the disk is slow: events waited for it"],
            // At the start, before the spool is read, a session may leave the board or an assignment end: then its row meets
            // the full disk.
            Self::DiskFullWhileDraining => {
                &["could not store spooled events", "stay open", "effects could not be stored"]
            }
            Self::KilledBeforeCommit
            | Self::KilledAfterCommit
            | Self::FsyncFailedThenKilled
            | Self::Killed
            | Self::KilledWhileDraining(_)
            | Self::StoppedAndStarted => &["the fleet is restored"],
            Self::ClockBack(_) => &["the wall clock was set back"],
            Self::HalfALine => &["is not a frame; it was refused"],
            Self::TornSpoolFile => &["contains no event; it is set aside"],
            Self::ClockForward(_) => &["the wall clock went ahead"],
            Self::SpooledAgain => &["events arrived twice"],
            Self::Flood(_) | Self::NeverReads | Self::ReconnectsForever(_) | Self::KilledHook => &[],
        }
    }

    fn draw(rng: &mut Rng) -> Self {
        // An idle daemon reads the clock once an hour and may not notice a smaller step.
        let turn = |rng: &mut Rng| Millis::seconds(rng.skewed(2 * 3600, 100_000) as i64);
        match rng.between(0, 18) {
            0 => Self::DiskFull(rng.between(1, 4) as usize),
            1 => Self::FsyncFailed,
            2 => Self::FsyncFailedThenKilled,
            3 => Self::SlowDisk(Duration::from_millis(rng.between(1_000, 20_000))),
            4 => Self::KilledBeforeCommit,
            5 => Self::KilledAfterCommit,
            6 => Self::Killed,
            7 => Self::KilledWhileDraining(Fault::DieBeforeCommit),
            8 => Self::KilledWhileDraining(Fault::DieAfterCommit),
            9 => Self::DiskFullWhileDraining,
            10 => Self::ClockBack(turn(rng)),
            11 => Self::ClockForward(turn(rng)),
            12 => Self::Flood(rng.between(20, 120) as usize),
            13 => Self::NeverReads,
            14 => Self::HalfALine,
            15 => Self::ReconnectsForever(rng.between(5, 20) as usize),
            16 => Self::TornSpoolFile,
            17 => Self::KilledHook,
            _ if rng.percent(50) => Self::SpooledAgain,
            _ => Self::StoppedAndStarted,
        }
    }
}

#[derive(Debug)]
pub(super) struct SeedPlan {
    /// Endless.
    pub(super) events: SimFleet,
    /// The run ends after this many, once all faults have occurred.
    pub(super) inputs: u64,
    pub(super) start_ms: i64,
    pub(super) sqlite: bool,
    /// Some seeds keep events for a day, or only until a snapshot holds them.
    pub(super) config: Config,
    /// By the number of the input after which the fault occurs.
    pub(super) troubles: BTreeMap<u64, Trouble>,
    pub(super) rng: Rng,
}

impl SeedPlan {
    pub(super) fn from_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let long = seed.is_multiple_of(LONG_EVERY);
        let inputs = if long { 6 * INPUTS_MIN } else { INPUTS_MIN };
        let mut troubles = BTreeMap::new();
        let many = rng.between(TROUBLES_MIN, TROUBLES_MAX);
        while (troubles.len() as u64) < many {
            troubles.insert(rng.between(QUIET_START, inputs - 1), Trouble::draw(&mut rng));
        }
        let config = FleetConfig {
            sessions: rng.between(3, 9) as usize,
            seed,
            speed: 4.0,
            pids_from: Some(1000),
            ..FleetConfig::default()
        };
        let start_ms = config.start_ms;
        let mut daemon = Config::default();
        if rng.percent(40) {
            daemon.keep.days = Some(rng.between(0, 1) as u32);
        }
        let sqlite = seed.is_multiple_of(SQLITE_EVERY);
        Self { events: SimFleet::new(config), inputs, start_ms, sqlite, config: daemon, troubles, rng }
    }
}
