//! A fuzz target for every parser of foreign input: hook, transcript, registry, settings, socket, status line.
//!
//! Each target takes captures of the real client and the files of `corpus/<target>/` (small difficult inputs, and every input
//! that once failed), damages them by a seeded generator ([`mutate`]) and checks a property. It runs for `FUZZ_SECONDS` (default 1;
//! `cargo xtask test` sets 30, `cargo xtask soak` more). A failing input is written to a file whose name is printed;
//! `FUZZ_INPUT=FILE` plays it again. `FUZZ_SEED` sets the first seed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a fuzz target panics if its property does not hold"
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

/// The number in an environment variable.
fn env_number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The contents of a target's corpus files, in the order of their names.
fn corpus_files(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// How often a replayed input is read: a target may read successive inputs in up to this many different ways.
const WAYS: usize = 4;

thread_local! {
    /// The input of a failed batch that fails alone. [`check`] reports it instead of the last input.
    static FAILING_INPUT: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Checks a property of many inputs at once. If it fails, the first input that also fails `alone` is reported.
pub(crate) fn check_batch<T>(batch: &[(Vec<u8>, T)], whole: impl FnOnce(), mut alone: impl FnMut(&[u8], &T)) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(whole)) else { return };
    match batch.iter().find(|(input, one)| catch_unwind(AssertUnwindSafe(|| alone(input, one))).is_err()) {
        Some((input, _)) => FAILING_INPUT.set(Some(input.clone())),
        None => eprintln!("none of the last {} inputs fails alone", batch.len()),
    }
    resume_unwind(panic);
}

/// Checks a property; a failing input is written to a file.
pub(crate) fn check(target: &str, input: &[u8], property: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(property)) else { return };
    let input = FAILING_INPUT.take().unwrap_or_else(|| input.to_vec());
    let path = std::env::temp_dir().join(format!("fuzz-{target}-{}.bin", std::process::id()));
    std::fs::write(&path, input).unwrap();
    eprintln!(
        "{target} failed on {0}\n  to repeat: FUZZ_INPUT={0} cargo test -p flightdeck --test fuzz {target}\n  \
         once it is fixed, put the file into crates/flightdeck/tests/fuzz/corpus/{target}/",
        path.display()
    );
    resume_unwind(panic);
}

/// Checks the property on the corpus unchanged, and then on damaged copies until the time is over.
pub(crate) fn fuzz(target: &str, captured: Vec<Vec<u8>>, mut property: impl FnMut(&[u8])) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT") {
        let input = std::fs::read(path).unwrap();
        return (0..WAYS).for_each(|_| property(&input));
    }
    let samples = [corpus_files(target), captured].concat();
    assert!(samples.len() > 3, "{target} has no corpus");
    samples.iter().for_each(|sample| check(target, sample, || property(sample)));
    let end = Instant::now() + Duration::from_secs(env_number("FUZZ_SECONDS").unwrap_or(1));
    let first = env_number("FUZZ_SEED").unwrap_or(1);
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
    let batch = [1, 2, 3].map(|n: u8| (vec![n], n));
    let broken = catch_unwind(|| check_batch(&batch, || panic!("on purpose"), |_, n| assert_ne!(*n, 2)));
    assert!(broken.is_err());
    assert_eq!(FAILING_INPUT.take(), Some(vec![2]));
}
