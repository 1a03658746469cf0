use std::os::unix::fs::symlink;

use super::*;

const NOW: i64 = 1_794_768_451_273;

fn write_spool_file(dir: &Path, fired_ms: i64, random: u64, content: &str) -> SpoolFile {
    let fired_ns = fired_ms.cast_unsigned() * 1_000_000;
    let id = EventId::new(fired_ns, random);
    let path = dir.join(file_name(fired_ns, id));
    std::fs::write(&path, content).unwrap();
    SpoolFile { path, fired_ns, id: id.0, bytes: content.len() as u64 }
}

fn names(dir: &Path) -> Vec<String> {
    list(dir).unwrap().iter().map(|f| f.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn enforce(dir: &Path, bounds: SpoolBounds) -> u64 {
    enforce_bounds(dir, NOW.cast_unsigned(), bounds).unwrap()
}

#[test]
fn a_spool_that_does_not_exist_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(list(&dir.path().join("spool")).unwrap(), []);
    assert_eq!(stats(&dir.path().join("spool")).unwrap(), SpoolStats::default());
}

#[test]
fn an_event_stays_until_it_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let file =
        write_spool_file(dir.path(), NOW, 1, r#"{"cmd":"hook","args":{"session_id":"s"},"env":{"id":"i"}}"#);
    assert_eq!(read(&file).unwrap().args["session_id"], "s");
    assert_eq!(names(dir.path()).len(), 1);
    remove(std::slice::from_ref(&file)).unwrap();
    assert!(names(dir.path()).is_empty());
    remove(&[file]).unwrap();
}

#[test]
fn a_damaged_file_is_set_aside_and_their_number_has_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..=REJECTED_FILES_MAX as u64 {
        let file = write_spool_file(dir.path(), NOW, n, "{\"cmd\":\"hook\",\"args\":[");
        assert!(read(&file).unwrap_err().is_poison());
        set_aside(&file).unwrap();
    }
    let stats = stats(dir.path()).unwrap();
    assert_eq!((stats.files, stats.rejected), (0, REJECTED_FILES_MAX));
}

#[test]
fn another_command_in_the_spool_is_not_an_event() {
    let dir = tempfile::tempdir().unwrap();
    let file = write_spool_file(dir.path(), NOW, 1, r#"{"cmd":"effort.finish","args":{}}"#);
    assert!(read(&file).unwrap_err().is_poison());
}

#[test]
fn a_file_that_is_gone_is_not_a_damaged_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = write_spool_file(dir.path(), NOW, 1, "{}");
    remove(std::slice::from_ref(&file)).unwrap();
    assert!(!read(&file).unwrap_err().is_poison());
}

#[test]
fn a_link_put_in_place_of_an_event_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let file = write_spool_file(dir.path(), NOW, 1, "{}");
    let secret = dir.path().join("secret");
    std::fs::rename(&file.path, &secret).unwrap();
    symlink(&secret, &file.path).unwrap();
    assert!(matches!(read(&file), Err(ReadError::Io { .. })));
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
        enforce(
            dir.path(),
            SpoolBounds { age: std::time::Duration::from_millis(2), ..SpoolBounds::default() }
        ),
        2
    );
    let stats = stats(dir.path()).unwrap();
    assert_eq!((stats.files, stats.bytes, stats.dropped), (3, 15, 7));
    assert_eq!(stats.oldest, Some(Timestamp::from_millis(NOW - 2)));
}
