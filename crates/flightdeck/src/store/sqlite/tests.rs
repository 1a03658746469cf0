//! Tests of the file: damage, locks, old and new versions, and `kill -9`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::{env, fs};

use flightdeck_core::assignment::transition::Completion;
use flightdeck_core::assignment::{Assignment, Opening};
use flightdeck_core::ids::HostId;
use flightdeck_core::project::Project;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Millis;

use super::super::testing::{all_records, large, record, records, start, stored};
use super::super::{FleetSnapshot, Parts, RetentionPolicy, SLICE_EVENTS_MAX, Store, Title, TitledBy};
use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn db(&self) -> PathBuf {
        self.0.path().join("flightdeck.db")
    }
    fn wal(&self) -> PathBuf {
        with_suffix(&self.db(), "-wal")
    }
    fn open(&self) -> Sqlite {
        let (sqlite, set_aside) = open(&self.db()).unwrap();
        assert_eq!(set_aside, None);
        sqlite
    }
    /// A database of an earlier version.
    fn of_schema(&self, version: usize) -> Connection {
        let old = Connection::open(self.db()).unwrap();
        migrate::MIGRATIONS[..version].iter().for_each(|step| old.execute_batch(step).unwrap());
        old.pragma_update(None, "user_version", version as i64).unwrap();
        old
    }
    /// A closed database with some hundred events, large enough to be damaged in the middle.
    fn filled() -> Self {
        let home = Self::new();
        let mut db = home.open();
        db.append(&(1..=300).map(|n| large(n, 2000)).collect::<Vec<_>>()).unwrap();
        home
    }
    /// Opens a damaged database: it must be replaced by a new one, and the old bytes must be kept.
    fn opens_afresh(&self) -> String {
        let before = fs::read(self.db()).unwrap();
        let (mut db, set_aside) = open(&self.db()).unwrap();
        let set_aside = set_aside.expect("nothing was set aside");
        assert!(fs::read(&set_aside.path).unwrap() == before, "the old bytes changed");
        assert!(set_aside.path.to_str().unwrap().contains("flightdeck.db.corrupt-"), "{set_aside:?}");
        assert_eq!(db.last_seq, 0);
        assert_eq!(db.append(&[record(1)]).unwrap()[0].seq, 1);
        set_aside.reason
    }
}

fn overwrite(path: &Path, at: usize, bytes: &[u8]) {
    let mut all = fs::read(path).unwrap();
    all[at..at + bytes.len()].copy_from_slice(bytes);
    fs::write(path, all).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_set_aside() {
    let home = Home::new();
    fs::write(home.db(), "dear diary, this is not a database\n".repeat(200)).unwrap();
    home.opens_afresh();
}

#[test]
fn a_database_with_a_damaged_header_is_set_aside() {
    let home = Home::filled();
    overwrite(&home.db(), 0, b"SQLIGHT");
    home.opens_afresh();
}

#[test]
fn a_truncated_database_is_set_aside() {
    let home = Home::filled();
    let bytes = fs::read(home.db()).unwrap();
    fs::write(home.db(), &bytes[..bytes.len() / 2]).unwrap();
    home.opens_afresh();
}

#[test]
fn a_database_damaged_in_the_middle_is_set_aside() {
    let home = Home::filled();
    let middle = fs::metadata(home.db()).unwrap().len() as usize / 2 / 4096 * 4096;
    overwrite(&home.db(), middle, &[0xee; 8192]);
    home.opens_afresh();
}

#[test]
fn the_database_of_another_program_is_set_aside() {
    let home = Home::new();
    Connection::open(home.db()).unwrap().execute_batch("CREATE TABLE events (title TEXT)").unwrap();
    assert!(home.opens_afresh().contains("not a Flightdeck database"));
}

#[test]
fn a_database_that_lost_a_table_is_set_aside() {
    let home = Home::filled();
    Connection::open(home.db()).unwrap().execute_batch("DROP TABLE event_counts").unwrap();
    assert!(home.opens_afresh().contains("no such table: event_counts"));
}

#[test]
fn two_damaged_files_in_one_second_are_both_kept() {
    let home = Home::new();
    for _ in 0..3 {
        fs::write(home.db(), "not a database".repeat(500)).unwrap();
        home.opens_afresh();
    }
    let kept = fs::read_dir(home.0.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_str().unwrap().contains(".corrupt-")
    });
    assert_eq!(kept.count(), 3);
}

#[test]
fn a_write_ahead_log_of_garbage_is_set_aside_and_the_database_kept() {
    let home = Home::filled();
    fs::write(home.wal(), [0; 5000]).unwrap();
    let (mut db, set_aside) = open(&home.db()).unwrap();
    assert!(fs::read(set_aside.unwrap().path).unwrap() == [0; 5000]);
    assert_eq!(db.last_seq().unwrap(), 300);
}

#[test]
fn a_write_ahead_log_torn_in_its_last_frame_loses_only_that_transaction() {
    let home = Home::new();
    let mut db = home.open();
    db.append(&[record(1)]).unwrap();
    db.append(&[record(2)]).unwrap();
    let torn = Home::new();
    fs::copy(home.db(), torn.db()).unwrap();
    let wal = fs::read(home.wal()).unwrap();
    fs::write(torn.wal(), &wal[..wal.len() - 100]).unwrap();
    assert_eq!(torn.open().last_seq, 1);
}

#[test]
fn after_damage_the_next_start_checks_the_whole_file() {
    let home = Home::filled();
    let mut db = home.open();
    let bad = db.run(|_| Err::<(), _>(StoreError::Corrupt { reason: "a bad page".into() }));
    assert!(bad.is_err() && suspect_mark(&home.db()).exists());
    drop(db);
    assert_eq!(home.open().last_seq, 300);
    assert!(!suspect_mark(&home.db()).exists());
}

#[test]
fn a_database_from_a_newer_version_is_refused_and_left_as_it_is() {
    let home = Home::filled();
    Connection::open(home.db()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(home.db()).unwrap();
    let refusal = open(&home.db()).unwrap_err().to_string();
    assert!(refusal.ends_with(
        "was written by a newer Flightdeck (schema 99, this one knows 13): update Flightdeck, or move the file away"
    ));
    assert!(fs::read(home.db()).unwrap() == before, "it was written to");
}

#[test]
fn a_title_of_unknown_origin_is_not_replaced_by_a_later_prompt() {
    let home = Home::new();
    let old = home.of_schema(4);
    let row = "INSERT INTO transcript_sessions (session_id, title, first_at, born_at, last_at) VALUES ('s', 'Old', 1, 1, 1)";
    old.execute_batch(row).unwrap();
    drop(old);
    let mut db = home.open();
    let title = Some(Title { text: "now commit".to_owned(), by: TitledBy::FirstPrompt });
    let session = SessionRead { session_id: "s".into(), title, ..SessionRead::default() };
    db.put_transcripts(&[TranscriptBatch { session, ..TranscriptBatch::default() }]).unwrap();
    assert_eq!(db.transcript(&"s".into()).unwrap().unwrap().session.title.unwrap().text, "Old");
}

#[test]
fn a_database_of_the_first_version_is_migrated_with_its_events() {
    let home = Home::new();
    let first = home.of_schema(1);
    let old = "INSERT INTO events VALUES (7, x'00000000000000000000000000000007', 1, 2, 'hook', 'Stop', 's', NULL, '{}', '{}')";
    first.execute_batch(old).unwrap();
    drop(first);
    let mut db = home.open();
    assert_eq!(db.event(7).unwrap().unwrap().name, "Stop");
    assert_eq!(db.stored_session(&"s".into()).unwrap(), None);
    assert_eq!(db.append(&[record(1)]).unwrap()[0].seq, 8);
    // This file cannot shrink; retention must end all the same.
    db.append(&(2..900).map(|n| large(n, 3000)).collect::<Vec<_>>()).unwrap();
    let policy = RetentionPolicy { max_bytes: 1 << 20, keep_after_seq: 900, ..RetentionPolicy::default() };
    while !matches!(db.retain_step(start(), &policy).unwrap(), RetainStep::Done { .. }) {}
}

#[test]
fn assignments_of_an_earlier_version_are_found_by_their_words() {
    let home = Home::new();
    let old = home.of_schema(12);
    let put = "INSERT INTO assignments (id, session_id, project, project_path, state, outcome, opened_at, completed_at, body)
        VALUES (?1, 's', 'api', '/w/api', 'complete', 'completed', ?2, ?2, ?3)";
    for (n, title) in ["Fix the LÖGIN page", "Fix the footer", "Fix it"].into_iter().enumerate() {
        let opening = Opening {
            id: format!("a-{n}").into(),
            seq: 1,
            at: start() + Millis(n as i64 / 2),
            prompt: Some(title.to_owned()),
        };
        let mut assignment = Assignment::open(opening);
        assignment.end(Completion::Ended, start() + Millis(5));
        let row = SessionAssignment {
            session_id: "s".into(),
            seat: None,
            host: HostId::this_machine(),
            project: Project { path: Some("/w/api".into()), certain: true },
            assignment,
        };
        let (at, body) = (row.assignment.opened_at.as_millis(), serde_json::to_string(&row).unwrap());
        old.execute(put, rusqlite::params![format!("a-{n}"), at, body]).unwrap();
    }
    drop(old);
    let mut db = home.open();
    let mut found = |word: &str| {
        let words = vec![word.to_owned()];
        let wanted = AssignmentsWanted { words, limit: 10, ..AssignmentsWanted::default() };
        let page = db.assignments(&wanted).unwrap();
        page.assignments.iter().map(|row| row.assignment.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found("lögin"), ["a-0"]);
    assert_eq!(found("fix"), ["a-2", "a-1", "a-0"]);
    assert_eq!(found("nowhere"), Vec::<String>::new());
}

#[test]
fn a_second_process_gets_an_error_that_the_database_is_in_use() {
    let home = Home::new();
    let _first = home.open();
    assert!(matches!(open(&home.db()), Err(StoreError::Busy { path }) if path == home.db()));
}

#[test]
fn the_database_and_its_log_are_readable_by_their_owner_only() {
    let home = Home::new();
    fs::write(home.db(), "").unwrap();
    fs::set_permissions(home.db(), fs::Permissions::from_mode(0o644)).unwrap();
    let mut db = home.open();
    db.append(&[record(1)]).unwrap();
    for file in fs::read_dir(home.0.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn a_full_database_returns_an_error_and_accepts_events_again_once_there_is_space() {
    let home = Home::new();
    let mut db = home.open();
    db.append(&[record(1)]).unwrap();
    db.conn.pragma_update(None, "max_page_count", 40).unwrap();
    assert!(matches!(db.append(&[record(2), large(3, 1_000_000)]), Err(StoreError::DiskFull)));
    assert_eq!((db.last_seq, db.event(2).unwrap()), (1, None));
    db.conn.pragma_update(None, "max_page_count", 4000).unwrap();
    assert_eq!(db.append(&[record(2), large(3, 1_000_000)]).unwrap()[1].seq, 3);
    assert_eq!(db.counts_by_name().unwrap()["PostToolUse"], 2);
}

fn save(db: &mut Sqlite, snapshot: &FleetSnapshot) {
    while db.save_step(snapshot).unwrap() != SaveStep::Done {}
}

/// As large as the snapshot of thousands of sessions.
fn large_snapshot(seq: u64) -> FleetSnapshot {
    let mut body = Parts::default();
    (0..500_000_u32).for_each(|n| body.write_all(&n.to_le_bytes()).unwrap());
    FleetSnapshot { seq, rules_version: "1".into(), body }
}

#[test]
fn a_snapshot_counts_once_it_is_complete_and_an_incomplete_one_is_removed() {
    let home = Home::new();
    let parts = |db: &Sqlite| {
        db.conn.query_row("SELECT count(*) FROM snapshot_parts", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut db = home.open();
    save(&mut db, &large_snapshot(1));
    let whole = parts(&db);
    assert!(whole > 1);
    while parts(&db) == whole {
        db.save_step(&large_snapshot(2)).unwrap();
    }
    drop(db);
    let mut db = home.open();
    let is_latest = |db: &mut Sqlite, seq| db.latest_snapshot("1").unwrap() == Some(large_snapshot(seq));
    assert!(is_latest(&mut db, 1), "the second was never finished");
    for seq in 3..=5 {
        save(&mut db, &large_snapshot(seq));
        assert!(is_latest(&mut db, seq), "{seq}");
    }
    assert_eq!(parts(&db), 3 * whole, "the two that are kept, and the one whose room the next takes");
}

#[test]
fn a_snapshot_that_was_written_in_one_piece_is_read() {
    let home = Home::new();
    let old = home.of_schema(6);
    let snapshot = large_snapshot(7);
    let row = "INSERT INTO snapshots (seq, rules_version, checksum, body) VALUES (7, '1', ?1, ?2)";
    old.execute(row, rusqlite::params![snapshot.checksum(), snapshot.body.joined()]).unwrap();
    drop(old);
    assert!(home.open().latest_snapshot("1").unwrap() == Some(snapshot));
}

#[test]
fn a_snapshot_that_cannot_be_completed_frees_its_space() {
    let home = Home::new();
    let mut db = home.open();
    save(&mut db, &large_snapshot(1));
    let stop = "CREATE TEMP TRIGGER full BEFORE INSERT ON main.snapshot_parts WHEN new.part = 20
        BEGIN SELECT raise(ABORT, 'full'); END";
    db.conn.execute_batch(stop).unwrap();
    let mut steps = 0;
    while db.save_step(&large_snapshot(2)).is_ok() {
        steps += 1;
    }
    assert!(steps > 1, "some of it was written");
    let of_others = "SELECT count(*) FROM snapshot_parts WHERE snapshot NOT IN (SELECT id FROM snapshots)";
    assert_eq!(db.conn.query_row(of_others, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    db.conn.execute_batch("DROP TRIGGER full").unwrap();
    save(&mut db, &large_snapshot(3));
    assert!(db.latest_snapshot("1").unwrap() == Some(large_snapshot(3)));
}

#[test]
fn a_damaged_snapshot_is_skipped_for_the_one_before_it() {
    let home = Home::new();
    let mut db = home.open();
    let snapshot = |seq| FleetSnapshot { seq, rules_version: "1".into(), body: b"the fleet".to_vec().into() };
    save(&mut db, &snapshot(1));
    save(&mut db, &snapshot(2));
    let damage = "UPDATE snapshot_parts SET body = x'00' WHERE snapshot = (SELECT max(id) FROM snapshots)";
    db.conn.execute(damage, []).unwrap();
    assert_eq!(db.latest_snapshot("1").unwrap(), Some(snapshot(1)));
    db.conn.execute("UPDATE snapshots SET seq = 9", []).unwrap();
    assert_eq!(db.latest_snapshot("1").unwrap(), None);
}

#[test]
fn a_row_that_cannot_be_read_is_skipped_and_counted() {
    let home = Home::new();
    let mut db = home.open();
    db.append(&records(1..=3)).unwrap();
    db.conn.execute("UPDATE events SET payload = '{' WHERE seq = 2", []).unwrap();
    let page = db.events_after(0, 10).unwrap();
    assert_eq!((page.records, page.unreadable), (vec![stored(1, 1), stored(3, 3)], 1));
    assert!(matches!(db.event(2), Err(StoreError::Unreadable { seq: 2, .. })));
}

#[test]
fn own_events_are_found_behind_many_of_other_hosts() {
    let home = Home::new();
    let mut db = home.open();
    let many = super::super::SCAN_EVENTS_MAX + 10;
    let others: Vec<_> = records(2..=many).into_iter().map(|r| Record { host: "a".into(), ..r }).collect();
    db.append(&records(1..=1)).unwrap();
    db.append(&others).unwrap();
    db.append(&records(many + 1..=many + 3)).unwrap();
    let page = db.own_events_after(0, 10).unwrap();
    assert_eq!((page.records, page.next), (vec![stored(1, 1)], Some(super::super::SCAN_EVENTS_MAX)));
    let page = db.own_events_after(page.next.unwrap(), 2).unwrap();
    assert_eq!(page.records, [stored(many + 1, many + 1), stored(many + 2, many + 2)]);
    let page = db.own_events_after(page.next.unwrap(), 2).unwrap();
    assert_eq!((page.records, page.next), (vec![stored(many + 3, many + 3)], None));
    assert_eq!(db.own_events_after(many + 3, 2).unwrap(), RecordPage::default());
    assert_eq!(
        [(0, many + 3), (1, many + 1), (1, many)].map(|(a, b)| db.count_own_events(a, b).unwrap()),
        [4, 1, 0]
    );
}

#[test]
fn a_page_ends_early_when_payloads_are_large() {
    let home = Home::new();
    let mut db = home.open();
    for n in 1..=4 {
        db.append(&[large(n, 5 * 1024 * 1024)]).unwrap();
    }
    let page = db.events_after(0, 1000).unwrap();
    assert_eq!((page.records.len(), page.next), (2, Some(2)));
}

#[test]
fn the_file_shrinks_and_the_write_ahead_log_stays_bounded() {
    let home = Home::new();
    let mut db = home.open();
    for from in (1..20_000).step_by(500) {
        db.append(&(from..from + 500).map(|n| large(n, 2000)).collect::<Vec<_>>()).unwrap();
        assert!(file_bytes(&home.wal()) < 80 * 1024 * 1024);
    }
    // A checkpoint copies the rest into the file.
    while !db.checkpointer.has_emptied() {
        std::thread::yield_now();
    }
    let before = file_bytes(&home.db());
    let policy = RetentionPolicy { max_bytes: 8 << 20, keep_after_seq: 20_000, ..RetentionPolicy::default() };
    while db.retain_step(start(), &policy).unwrap() != (RetainStep::Done { held_back: false }) {}
    assert!(before > 40 << 20, "{before}");
    assert!(file_bytes(&home.db()) <= 8 << 20 && file_bytes(&home.wal()) == 0);
    db.conn
        .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
        .map(|ok| assert_eq!(ok, "ok"))
        .unwrap();
}

#[test]
fn old_events_and_free_pages_are_removed_in_small_slices() {
    let home = Home::new();
    let mut db = home.open();
    for from in (1..6000).step_by(500) {
        db.append(&(from..from + 500).map(|n| large(n, 3000)).collect::<Vec<_>>()).unwrap();
    }
    // On a fast disk too, after the slices have grown.
    let policy = RetentionPolicy { max_bytes: 1 << 20, keep_after_seq: 6000, ..RetentionPolicy::default() };
    let free =
        |db: &Sqlite| db.conn.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0)).unwrap();
    let (mut events, mut pages) = (0, 0);
    loop {
        let before = free(&db);
        match db.retain_step(start(), &policy).unwrap() {
            RetainStep::More { removed } => {
                let given_back = before - free(&db);
                assert!(removed <= SLICE_EVENTS_MAX as u64, "{removed} events in one slice");
                assert!(given_back <= retain::SLICE_PAGES_MAX as i64, "{given_back} pages in one slice");
                events += removed;
                pages += given_back.max(0);
            }
            RetainStep::Wait => {}
            RetainStep::Done { .. } => break,
        }
    }
    assert!(events > 5000 && pages > 1000, "{events} {pages}");
}

const KILLED_CHILD_DB: &str = "FLIGHTDECK_TEST_KILLED_CHILD_DB";

/// Not a test by itself: the child process that the next test kills.
#[test]
fn a_child_appends_until_it_is_killed() {
    let Some(path) = env::var_os(KILLED_CHILD_DB) else { return };
    let (mut db, set_aside) = open(Path::new(&path)).unwrap();
    assert_eq!(set_aside, None);
    // Checkpoints and retention run all the time, so that the kill also interrupts them.
    let mut out = std::io::stdout();
    loop {
        let n = db.last_seq + 1;
        let batch: Vec<_> = (n..=n + n % 40).map(|n| large(n, 1000)).collect();
        let last = db.append(&batch).unwrap().last().unwrap().seq;
        // Only a complete line is an acknowledgement.
        out.write_all(format!("\nacknowledged {last}\n").as_bytes()).unwrap();
        let policy =
            RetentionPolicy { max_bytes: 1 << 20, keep_after_seq: last, ..RetentionPolicy::default() };
        db.retain_step(start(), &policy).unwrap();
        db.checkpointer.has_emptied();
    }
}

#[test]
fn every_acknowledged_event_survives_kill_9() {
    let home = Home::new();
    let mut before = 0;
    for round in 0..12 {
        let acknowledged = run_and_kill(&home.db(), round * 17 % 40 + 1);
        assert!(acknowledged > before);
        check_log(&home, acknowledged);
        before = acknowledged;
    }
}

/// Kills the child after some acknowledgements and returns the last one.
fn run_and_kill(db: &Path, lines: u32) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "store::sqlite::tests::a_child_appends_until_it_is_killed", "--nocapture"])
        .env(KILLED_CHILD_DB, db)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = 0;
    let mut seen = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Some(seq) = line.unwrap().strip_prefix("acknowledged ").map(|seq| seq.parse().unwrap()) else {
            continue;
        };
        acknowledged = seq;
        seen += 1;
        if seen == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

fn check_log(home: &Home, acknowledged: u64) {
    let opened = Store::open(&home.db()).unwrap();
    assert_eq!(opened.set_aside, None);
    let log = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let log = all_records(&opened.store, 0).await.unwrap();
        opened.store.close().await.unwrap();
        log
    });
    assert!(log.last().unwrap().seq >= acknowledged, "{acknowledged} was acknowledged");
    for (seq, found) in (log[0].seq..).zip(&log) {
        assert_eq!(*found, Record { seq, ..large(seq, 1000) });
    }
}

#[test]
fn totals_are_the_same_after_a_start_written_or_not() {
    let home = Home::new();
    for events in [1..=3, 4..=1100, 1101..=1105] {
        let mut db = home.open();
        db.append(&records(events)).unwrap();
        let told = db.counts_by_name().unwrap();
        drop(db);
        assert_eq!(home.open().counts_by_name().unwrap(), told);
    }
    let mut db = home.open();
    let told = db.counts_by_name().unwrap();
    assert_eq!(told.values().sum::<u64>(), 1105);
    let everything =
        RetentionPolicy { max_age: Millis(0), keep_after_seq: u64::MAX, ..RetentionPolicy::default() };
    while !matches!(
        db.retain_step(Timestamp::from_millis(i64::MAX), &everything).unwrap(),
        RetainStep::Done { .. }
    ) {}
    drop(db);
    assert_eq!(home.open().counts_by_name().unwrap(), told, "also of events that were removed");
}
