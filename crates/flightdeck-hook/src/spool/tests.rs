use std::os::unix::fs::symlink;

use flightdeck_core::log::record::EventId;

use super::*;
use crate::stamp::Stamp;

const NOW: u64 = 1_794_768_451_273;

fn write_spool_file(dir: &Path, fired_ms: u64, random: u64, content: &str) -> SpoolFile {
    let Stamp { fired_ns, id } = Stamp::new(fired_ms * 1_000_000, random);
    let path = dir.join(file_name(fired_ns, id));
    std::fs::write(&path, content).unwrap();
    SpoolFile { path, fired_ns, id, bytes: content.len() as u64 }
}

fn enforce(dir: &Path, bounds: SpoolBounds) -> u64 {
    enforce_bounds(dir, NOW, bounds).unwrap()
}

/// Number of files, their bytes, the oldest, and how many were dropped.
fn stats(dir: &Path) -> (usize, u64, Option<u64>, u64) {
    let files = list(dir).unwrap();
    let bytes = files.iter().map(|f| f.bytes).sum();
    (files.len(), bytes, files.first().map(SpoolFile::fired_ms), dropped_count(dir))
}

#[test]
fn a_file_is_named_by_its_time_and_the_id_of_its_event() {
    let id = EventId::new(7, 9);
    assert_eq!(file_name(7, id.0), format!("00000000000000000007-{id}.json"));
}

#[test]
fn events_are_listed_in_the_order_they_fired() {
    let dir = tempfile::tempdir().unwrap();
    let late = write_spool_file(dir.path(), NOW, 1, "c");
    let early = write_spool_file(dir.path(), 5, 9, "a");
    let middle = write_spool_file(dir.path(), NOW - 1, 7, "bb");
    assert_eq!(list(dir.path()).unwrap(), [early, middle, late]);
}

#[test]
fn files_that_are_not_a_complete_event_of_this_user_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let ours = write_spool_file(dir.path(), NOW, 1, "x");
    let other = |name: &str| dir.path().join(name);
    let name = file_name(7, 7);
    std::fs::write(other(&format!(".{name}")), "half").unwrap();
    std::fs::write(other("notes.json"), "{}").unwrap();
    std::fs::write(other(&name.replace(".json", ".txt")), "{}").unwrap();
    std::fs::create_dir(other(&file_name(8, 8))).unwrap();
    symlink(&ours.path, other(&file_name(9, 9))).unwrap();
    assert_eq!(list(dir.path()).unwrap(), [ours]);
}

#[test]
fn a_spool_that_does_not_exist_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(list(&dir.path().join("spool")).unwrap(), []);
    assert_eq!(dropped_count(&dir.path().join("spool")), 0);
}

#[test]
fn the_oldest_over_the_bounds_are_dropped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..10 {
        write_spool_file(dir.path(), NOW - n, 0, "12345");
    }
    assert_eq!(enforce(dir.path(), SpoolBounds::default()), 0);
    assert_eq!(enforce(dir.path(), SpoolBounds { files: 8, ..SpoolBounds::default() }), 2);
    assert_eq!(enforce(dir.path(), SpoolBounds { bytes: 29, ..SpoolBounds::default() }), 3);
    assert_eq!(
        enforce(dir.path(), SpoolBounds { age: Duration::from_millis(2), ..SpoolBounds::default() }),
        2
    );
    assert_eq!(stats(dir.path()), (3, 15, Some(NOW - 2), 7));
}

#[test]
fn a_hook_drops_by_the_names_alone_and_counts() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..10 {
        write_spool_file(dir.path(), NOW - n, 0, "12345");
    }
    let enforce = |bounds| enforce_count_and_age(dir.path(), NOW, bounds).unwrap();
    assert_eq!(enforce(SpoolBounds { bytes: 1, ..SpoolBounds::default() }), 0);
    assert_eq!(enforce(SpoolBounds { files: 8, ..SpoolBounds::default() }), 2);
    assert_eq!(enforce(SpoolBounds { files: 7, age: Duration::from_millis(4), ..SpoolBounds::default() }), 3);
    assert_eq!(stats(dir.path()), (5, 25, Some(NOW - 4), 5));
}

#[test]
fn temporary_files_of_killed_hooks_are_deleted_after_an_hour() {
    let dir = tempfile::tempdir().unwrap();
    let temp = dir.path().join(format!(".{}", file_name(7, 7)));
    let written = std::time::UNIX_EPOCH + Duration::from_millis(NOW);
    std::fs::File::create(&temp).unwrap().set_modified(written).unwrap();
    enforce(dir.path(), SpoolBounds::default());
    assert!(temp.exists());
    let later = NOW + TEMP_AGE_MAX.as_millis() as u64 + 2000;
    enforce_bounds(dir.path(), later, SpoolBounds::default()).unwrap();
    assert!(!temp.exists());
}
