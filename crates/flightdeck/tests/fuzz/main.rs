//! A fuzz target for every parser of what others write: hook, transcript, registry, settings, socket, status line.
//!
//! Each starts from what the real client was captured to write and from `corpus/<target>/` (small nasty pieces, and
//! every input that once broke something), damages it by its seed ([`mutate`]) and holds its property. It runs for
//! `FUZZ_SECONDS` (one, unless told): `cargo xtask test` gives each 30, `cargo xtask soak` longer. An input that breaks a
//! property is written to a file and named; `FUZZ_INPUT=FILE` plays it again. `FUZZ_SEED` starts elsewhere.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a fuzz target stops where it goes wrong"
)]

mod hook;
mod mutate;
mod registry;
mod rpc;
mod settings;
mod status_line;
mod transcript;
#[path = "../settings_story/world.rs"]
#[allow(dead_code, reason = "shared with the stories of the settings file")]
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flightdeck_sim::rng::Rng;

fn wish(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What lies in the repository for one target, by name.
fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Plays the corpus as it is, then damaged, until the time is over.
pub(crate) fn fuzz(target: &str, captured: Vec<Vec<u8>>, mut property: impl FnMut(&[u8])) {
    if let Some(path) = std::env::var_os("FUZZ_INPUT") {
        return property(&std::fs::read(path).unwrap());
    }
    let samples = [kept(target), captured].concat();
    assert!(samples.len() > 3, "{target} has no corpus");
    let mut check = |input: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| property(input))) {
            let path = std::env::temp_dir().join(format!("fuzz-{target}-{}.bin", std::process::id()));
            std::fs::write(&path, input).unwrap();
            eprintln!(
                "{target} broke on {0}\n  again: FUZZ_INPUT={0} cargo test -p flightdeck --test fuzz {target}\n  \
                 once mended, keep it in crates/flightdeck/tests/fuzz/corpus/{target}/",
                path.display()
            );
            std::panic::resume_unwind(panic);
        }
    };
    samples.iter().for_each(|sample| check(sample));
    let end = Instant::now() + Duration::from_secs(wish("FUZZ_SECONDS").unwrap_or(1));
    let first = wish("FUZZ_SEED").unwrap_or(1);
    let mut cases = 0;
    while Instant::now() < end {
        check(&mutate::damaged(&samples, &mut Rng::new(first + cases)));
        cases += 1;
    }
    eprintln!("{target}: {} samples, {cases} damaged inputs from seed {first}", samples.len());
}
