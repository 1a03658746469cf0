//! Concurrent installs, and processes killed in the middle of an edit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{SettingsFixture, meaning_without_ours};
use flightdeck::settings::{Lifetime, SettingsFile, Via};

const BEFORE: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]
  }
}
"#;
const ROUNDS: usize = 20;
/// Rounds of a child that the test kills long before the last one. If the test fails first, the child still ends by itself.
const CHILD_ROUNDS_MAX: usize = 2_000;
/// Environment variable of a child: the folder it works on.
const CHILD_FOLDER: &str = "SETTINGS_RACES_FOLDER";
/// Environment variable of a child: how often it installs and uninstalls before the last install.
const CHILD_ROUNDS: &str = "SETTINGS_RACES_ROUNDS";

/// Not a test by itself: the child processes of the tests below run it. Without their environment it does nothing.
#[test]
fn child_that_installs_and_uninstalls() {
    let Some(dir) = std::env::var_os(CHILD_FOLDER).map(PathBuf::from) else { return };
    let rounds: usize = std::env::var(CHILD_ROUNDS).unwrap().parse().unwrap();
    let file = SettingsFile::new(&dir.join("claude/settings.json"), &dir.join("backups"));
    let registration = SettingsFixture::empty().registration.clone();
    for _ in 0..rounds {
        file.install(&registration, Lifetime::Permanent).unwrap();
        file.uninstall().unwrap();
    }
    file.install(&registration, Lifetime::Permanent).unwrap();
}

fn child(dir: &Path, rounds: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "races::child_that_installs_and_uninstalls"])
        .env(CHILD_FOLDER, dir)
        .env(CHILD_ROUNDS, rounds.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Asserts that all foreign settings are kept, our handlers are there once, and the folder has no other file.
fn assert_whole(fixture: &SettingsFixture) {
    assert_eq!(meaning_without_ours(&fixture.bytes()), meaning_without_ours(BEFORE.as_bytes()));
    let text = String::from_utf8(fixture.bytes()).unwrap();
    let ours = text.matches("flightdeck-hook").count();
    assert_eq!(ours, fixture.registration.handlers().unwrap().len(), "{text}");
    assert_eq!(fixture.listing(), ["settings.json"]);
}

#[test]
fn concurrent_installs_from_two_threads_lose_nothing() {
    for _ in 0..ROUNDS {
        let fixture = SettingsFixture::with(BEFORE.as_bytes());
        let mut other = fixture.registration.clone();
        other.via = Via::Curl;
        std::thread::scope(|threads| {
            let shim = threads.spawn(|| fixture.install().unwrap());
            let curl = threads.spawn(|| fixture.file().install(&other, Lifetime::Permanent).unwrap());
            shim.join().unwrap();
            curl.join().unwrap();
        });
        assert_whole(&fixture);
        fixture.uninstall().unwrap();
        assert_eq!(fixture.bytes(), BEFORE.as_bytes());
    }
}

#[test]
fn concurrent_installs_from_two_processes_lose_nothing() {
    for _ in 0..ROUNDS {
        let fixture = SettingsFixture::with(BEFORE.as_bytes());
        for mut child in [child(fixture.path(), 1), child(fixture.path(), 1)] {
            assert!(child.wait().unwrap().success());
        }
        assert_whole(&fixture);
        fixture.uninstall().unwrap();
        assert_eq!(fixture.bytes(), BEFORE.as_bytes());
    }
}

#[test]
fn a_file_created_by_concurrent_installs_is_removed_by_uninstall() {
    for _ in 0..ROUNDS {
        let fixture = SettingsFixture::empty();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| fixture.install().unwrap());
            }
        });
        assert!(fixture.status().in_order());
        fixture.uninstall().unwrap();
        assert_eq!(fixture.listing(), Vec::<String>::new());
    }
}

#[test]
fn a_process_killed_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let fixture = SettingsFixture::with(BEFORE.as_bytes());
    fixture.install().unwrap();
    let registered = fixture.bytes();
    fixture.uninstall().unwrap();
    for round in 0..ROUNDS {
        let mut victim = child(fixture.path(), CHILD_ROUNDS_MAX);
        wait_until(|| fs::read(fixture.settings()).is_ok_and(|now| now == registered));
        // Each round kills at another moment of an edit, which takes about a millisecond.
        std::thread::sleep(Duration::from_micros(173 * round as u64));
        victim.kill().unwrap();
        victim.wait().unwrap();

        let now = fixture.bytes();
        assert!(now == registered || now == BEFORE.as_bytes(), "{}", String::from_utf8_lossy(&now));
        fixture.install().unwrap();
        fixture.uninstall().unwrap();
        assert_eq!(String::from_utf8(fixture.bytes()).unwrap(), BEFORE);
        assert_eq!(fixture.listing(), ["settings.json"]);
    }
}

fn wait_until(fact: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fact() {
        assert!(Instant::now() < deadline, "the child never installed");
        std::thread::sleep(Duration::from_micros(200));
    }
}
