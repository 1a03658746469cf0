//! A fuzz target for every parser of foreign input: hook, transcript, registry, settings, socket, status line.
//!
//! Each target starts from captures of the real client and from `corpus/<target>/` (small difficult pieces, and every input
//! that once failed), damages them by a seed ([`mutate`]) and checks its property. It runs for `FUZZ_SECONDS` (default 1;
//! `cargo xtask test` sets 30, `cargo xtask soak` more). A failing input is written to a file whose name is printed;
//! `FUZZ_INPUT=FILE` plays it again. `FUZZ_SEED` sets the first seed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a fuzz target stops where it goes wrong"
)]

#[path = "../settings/fixture.rs"]
#[allow(dead_code, reason = "shared with the tests of the settings file")]
mod fixture;
mod hook;
mod mutate;
mod registry;
mod rpc;
mod settings;
mod status_line;
mod transcript;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flightdeck_sim::rng::Rng;

fn wish(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The corpus files of one target, by name.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A target may vary how it reads successive inputs; a replayed input is read in all ways.
const WAYS: usize = 4;

thread_local! {
    /// The failing input, if it is not the last one.
    static BLAMED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// A property of many inputs at once. If it fails, the input that fails `alone` is reported.
pub(crate) fn together<T>(lot: &[(Vec<u8>, T)], whole: impl FnOnce(), mut alone: impl FnMut(&[u8], &T)) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(whole)) else { return };
    match lot.iter().find(|(input, one)| catch_unwind(AssertUnwindSafe(|| alone(input, one))).is_err()) {
        Some((input, _)) => BLAMED.set(Some(input.clone())),
        None => eprintln!("none of the last {} inputs breaks it alone", lot.len()),
    }
    resume_unwind(panic);
}

/// Checks a property; a failing input is written to a file.
pub(crate) fn check(target: &str, input: &[u8], property: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(property)) else { return };
    let input = BLAMED.take().unwrap_or_else(|| input.to_vec());
    let path = std::env::temp_dir().join(format!("fuzz-{target}-{}.bin", std::process::id()));
    std::fs::write(&path, input).unwrap();
    eprintln!(
        "{target} broke on {0}\n  again: FUZZ_INPUT={0} cargo test -p flightdeck --test fuzz {target}\n  \
         once mended, keep it in crates/flightdeck/tests/fuzz/corpus/{target}/",
        path.display()
    );
    resume_unwind(panic);
}

/// Plays the corpus unchanged, then damaged, until the time is over.
pub(crate) fn fuzz(target: &str, captured: Vec<Vec<u8>>, mut property: impl FnMut(&[u8])) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT") {
        let input = std::fs::read(path).unwrap();
        return (0..WAYS).for_each(|_| property(&input));
    }
    let samples = [kept(target), captured].concat();
    assert!(samples.len() > 3, "{target} has no corpus");
    samples.iter().for_each(|sample| check(target, sample, || property(sample)));
    let end = Instant::now() + Duration::from_secs(wish("FUZZ_SECONDS").unwrap_or(1));
    let first = wish("FUZZ_SEED").unwrap_or(1);
    let mut cases = 0;
    while Instant::now() < end {
        let input = mutate::damaged(&samples, &mut Rng::new(first + cases));
        check(target, &input, || property(&input));
        cases += 1;
    }
    eprintln!("{target}: {} samples, {cases} damaged inputs from seed {first}", samples.len());
}

#[test]
fn the_input_that_fails_alone_is_reported() {
    let lot = [1, 2, 3].map(|n: u8| (vec![n], n));
    let broken = catch_unwind(|| together(&lot, || panic!("on purpose"), |_, n| assert_ne!(*n, 2)));
    assert!(broken.is_err());
    assert_eq!(BLAMED.take(), Some(vec![2]));
}
