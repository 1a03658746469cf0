//! settings.json under fire: several installs at once, and processes killed in the middle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::world::{World, meaning_without_ours};
use flightdeck::claude_settings::{Keep, SettingsFile, Via};

const BEFORE: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]
  }
}
"#;
const ROUNDS: usize = 20;
/// A victim is killed long before; should this test fail first, it ends by itself.
const CHILD_ROUNDS_MAX: usize = 2_000;
/// Set in a child: the folder it works on.
const CHILD_WORLD: &str = "SETTINGS_RACES_WORLD";
/// Set in a child: how often it installs and uninstalls before the last install.
const CHILD_ROUNDS: &str = "SETTINGS_RACES_ROUNDS";

/// Not a story of its own: what the processes of the stories below do. Without their environment it does nothing.
#[test]
fn child_that_installs_and_uninstalls() {
    let Some(dir) = std::env::var_os(CHILD_WORLD).map(PathBuf::from) else { return };
    let rounds: usize = std::env::var(CHILD_ROUNDS).unwrap().parse().unwrap();
    let file = SettingsFile::new(&dir.join("claude/settings.json"), &dir.join("backups"));
    let registration = World::empty().registration.clone();
    for _ in 0..rounds {
        file.install(&registration, Keep::ForGood).unwrap();
        file.uninstall().unwrap();
    }
    file.install(&registration, Keep::ForGood).unwrap();
}

fn child(dir: &Path, rounds: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "races::child_that_installs_and_uninstalls"])
        .env(CHILD_WORLD, dir)
        .env(CHILD_ROUNDS, rounds.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Everything foreign is there, we are there once, nothing else lies about, and there is a way back.
fn assert_whole(world: &World) {
    assert_eq!(meaning_without_ours(&world.bytes()), meaning_without_ours(BEFORE.as_bytes()));
    let text = String::from_utf8(world.bytes()).unwrap();
    let ours = text.matches("flightdeck-hook").count();
    assert_eq!(ours, world.registration.handlers().unwrap().len(), "{text}");
    assert_eq!(world.listing(), ["settings.json"]);
}

#[test]
fn two_installs_at_once_from_two_threads_lose_nothing() {
    for _ in 0..ROUNDS {
        let world = World::with(BEFORE.as_bytes());
        let mut other = world.registration.clone();
        other.via = Via::Curl;
        std::thread::scope(|threads| {
            let shim = threads.spawn(|| world.install().unwrap());
            let curl = threads.spawn(|| world.file().install(&other, Keep::ForGood).unwrap());
            shim.join().unwrap();
            curl.join().unwrap();
        });
        assert_whole(&world);
        world.uninstall().unwrap();
        assert_eq!(world.bytes(), BEFORE.as_bytes());
    }
}

#[test]
fn two_installs_at_once_from_two_processes_lose_nothing() {
    for _ in 0..ROUNDS {
        let world = World::with(BEFORE.as_bytes());
        for mut child in [child(world.path(), 1), child(world.path(), 1)] {
            assert!(child.wait().unwrap().success());
        }
        assert_whole(&world);
        world.uninstall().unwrap();
        assert_eq!(world.bytes(), BEFORE.as_bytes());
    }
}

#[test]
fn a_file_that_is_new_to_both_is_made_once_and_goes_again() {
    for _ in 0..ROUNDS {
        let world = World::empty();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| world.install().unwrap());
            }
        });
        assert!(world.status().in_order());
        world.uninstall().unwrap();
        assert_eq!(world.listing(), Vec::<String>::new());
    }
}

#[test]
fn a_process_killed_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let world = World::with(BEFORE.as_bytes());
    world.install().unwrap();
    let registered = world.bytes();
    world.uninstall().unwrap();
    for round in 0..ROUNDS {
        let mut victim = child(world.path(), CHILD_ROUNDS_MAX);
        wait_until(|| fs::read(world.settings()).is_ok_and(|now| now == registered));
        // Each round hits another moment of an edit, which takes about a millisecond.
        std::thread::sleep(Duration::from_micros(173 * round as u64));
        victim.kill().unwrap();
        victim.wait().unwrap();

        let now = world.bytes();
        assert!(now == registered || now == BEFORE.as_bytes(), "{}", String::from_utf8_lossy(&now));
        world.install().unwrap();
        world.uninstall().unwrap();
        assert_eq!(String::from_utf8(world.bytes()).unwrap(), BEFORE);
        assert_eq!(world.listing(), ["settings.json"]);
    }
}

fn wait_until(fact: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fact() {
        assert!(Instant::now() < deadline, "the child never installed");
        std::thread::sleep(Duration::from_micros(200));
    }
}
