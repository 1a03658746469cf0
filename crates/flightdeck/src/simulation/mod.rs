//! Simulates the whole daemon under faults. Each run is determined by its seed.
//!
//! A seed sends at least 500 hook events of a simulated fleet ([`flightdeck_sim::fleet`]) to the real engine, store, spool and
//! streams, over real sockets, and causes at least three faults on the way ([`plan::Trouble`]). All tasks run on one thread
//! with a clock that only the simulation moves, so a seed that fails once always fails.
//!
//! Read [`plan`] (what a seed decides), [`play`] (one run), [`clients`] (hooks and viewers), [`efforts`], then [`truth`] (what must
//! hold): no event that was acknowledged or spooled is lost or applied twice, the fleet equals the fold of the log byte for byte,
//! every session that left the board has its row, viewers see the board, memory is bounded, and the log reports each fault. Each
//! call counts once for its effort, and each text for an agent reaches it.
//!
//! `SEEDS=10000` plays more, `FIRST_SEED=20001` others, `SEED=7` plays one and prints its log.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a simulation stops where it goes wrong")]

mod clients;
mod daemon;
mod efforts;
mod plan;
mod planted;
mod play;
mod truth;
mod world;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use planted::Bug;
use play::{Broken, Played, play};

/// As many as a build without optimisation plays in seconds. `cargo xtask test` plays 1,000, `cargo xtask soak` 10,000.
const SEEDS: u64 = 40;
/// One of these seeds must find a planted bug.
const SEEDS_PER_BUG: u64 = 50;
/// None of these may fail if no bug is planted.
const SEEDS_WITHOUT_BUG: u64 = 5;

fn number_from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[derive(Default)]
struct Sum {
    inputs: u64,
    stored: u64,
    starts: u64,
    removed: u64,
    troubles: BTreeMap<&'static str, u64>,
    crowds: BTreeMap<usize, u64>,
    failures: Vec<String>,
}

impl Sum {
    fn add(&mut self, seed: u64, played: Result<Played, Broken>) {
        match played {
            Ok(played) => {
                self.inputs += played.inputs;
                self.stored += played.stored;
                self.starts += played.starts;
                self.removed += u64::from(played.removed);
                played.troubles.iter().for_each(|name| *self.troubles.entry(name).or_default() += 1);
                played.crowds.iter().for_each(|(hooks, times)| *self.crowds.entry(*hooks).or_default() += times);
            }
            Err(Broken { why, .. }) => self.failures.push(format!(
                "seed {seed}: {why}\n  again: SEED={seed} cargo test -p flightdeck --lib simulation::seeds -- --nocapture"
            )),
        }
    }
}

fn play_all(seeds: RangeInclusive<u64>) -> Sum {
    let (next, sum) = (AtomicU64::new(*seeds.start()), Mutex::new(Sum::default()));
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > *seeds.end() || sum.lock().unwrap().failures.len() >= 5 {
                        return;
                    }
                    let panicked = || Err(Broken { why: "it panicked, see above".to_owned(), faults: 0 });
                    let played = catch_unwind(|| play(seed, None)).unwrap_or_else(|_| panicked());
                    sum.lock().unwrap().add(seed, played);
                }
            });
        }
    });
    sum.into_inner().unwrap()
}

#[test]
fn seeds_lose_nothing_under_any_fault() {
    if let Some(seed) = number_from_env("SEED") {
        return eprintln!("{:#?}", play(seed, None).unwrap());
    }
    let (begun, seeds) = (Instant::now(), number_from_env("SEEDS").unwrap_or(SEEDS));
    let first = number_from_env("FIRST_SEED").unwrap_or(1);
    let sum = play_all(first..=first + seeds - 1);
    eprintln!(
        "{seeds} seeds from {first}, {} inputs, {} stored, {} starts, {} with old events removed, in {:.0} s",
        sum.inputs,
        sum.stored,
        sum.starts,
        sum.removed,
        begun.elapsed().as_secs_f32()
    );
    let most = sum.troubles.values().max().copied().unwrap_or(1);
    for (name, count) in &sum.troubles {
        eprintln!("{name:>24} {count:>7} {}", "#".repeat((count * 40 / most) as usize));
    }
    for (hooks, times) in &sum.crowds {
        eprintln!("{times:>7} disk faults occurred while {hooks} hooks waited");
    }
    assert!(sum.failures.is_empty(), "{}", sum.failures.join("\n"));
    let in_a_crowd = sum.crowds.range(2..).map(|(_, times)| times).sum::<u64>();
    assert!(seeds < SEEDS || in_a_crowd > 0, "no disk fault hit more than one event");
}

#[test]
fn a_seed_plays_the_same_again() {
    for seed in [3, 40, 77] {
        let (first, second) = (play(seed, None).unwrap(), play(seed, None).unwrap());
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn each_planted_bug_is_found() {
    for bug in Bug::ALL {
        let found = (1..=SEEDS_PER_BUG).find_map(|seed| {
            // Without a disk fault since the last check, the failure has another cause.
            let its_own = |broken: &Broken| broken.faults > 0 && broken.why.contains(bug.is_found_by());
            play(seed, Some(bug)).err().filter(its_own).map(|Broken { why, .. }| (seed, why))
        });
        let (seed, why) = found.unwrap_or_else(|| unreachable!("{bug:?} was not found"));
        eprintln!("{bug:?} was found with seed {seed}: {why}");
    }
}

#[test]
fn without_a_planted_bug_no_check_fails() {
    for seed in 1..=SEEDS_WITHOUT_BUG {
        play(seed, Some(Bug::RelayOnly)).unwrap();
    }
}
