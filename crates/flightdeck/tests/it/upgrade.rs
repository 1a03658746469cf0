//! A database and a spool that version 0.1.0 wrote. Opened by this version, they give the same answers byte for byte.
//!
//! `tests/data/v0.1.0/README.md` says how the files were made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flightdeck::store::Store;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_e2e::testkit::until;
use lz4_flex::frame::FrameDecoder;
use serde_json::{Value, json};

use crate::in_process::InProcessDaemon;

/// A moment after version 0.1.0 was killed.
const NOW_MS: i64 = 1_794_944_575_000;

/// The configuration it ran with: `done_minutes = 1`.
fn rules() -> Rules {
    Rules { done_keeps: Millis::minutes(1), ..Rules::default() }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v0.1.0")
}

/// Copies of the files: opening them changes them.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["flightdeck.db", "flightdeck.db-wal"] {
            let packed = fs::File::open(data().join(format!("{name}.lz4"))).unwrap();
            let mut file = fs::File::create(folder.path().join(name)).unwrap();
            std::io::copy(&mut FrameDecoder::new(packed), &mut file).unwrap();
        }
        let home = Self { folder };
        fs::create_dir(home.spool()).unwrap();
        fs::set_permissions(home.spool(), fs::Permissions::from_mode(0o700)).unwrap();
        for file in fs::read_dir(data().join("spool")).unwrap().map(Result::unwrap) {
            let copy = home.spool().join(file.file_name());
            fs::copy(file.path(), &copy).unwrap();
            fs::set_permissions(copy, fs::Permissions::from_mode(0o600)).unwrap();
        }
        home
    }

    fn spool(&self) -> PathBuf {
        self.folder.path().join("spool")
    }

    fn open(&self) -> InProcessDaemon {
        let opened = Store::open(&self.folder.path().join("flightdeck.db")).unwrap();
        assert_eq!(opened.set_aside, None);
        InProcessDaemon::builder()
            .store(opened.store)
            .now(Timestamp::from_millis(NOW_MS))
            .rules(rules())
            .start()
            .following_transcripts()
    }
}

/// From the sessions on: the name of the daemon's run and its number of changes are before them.
fn from_sessions(answer: &str) -> String {
    answer.split_once("\"sessions\":").unwrap().1.to_owned()
}

fn board(deck: &InProcessDaemon) -> String {
    without_additions(&from_sessions(&deck.get("/api/sessions").text()))
}

/// Fields of a card that 0.1.0 did not have.
const ADDED_SINCE: [&str; 5] =
    [",\"shells_min\":", ",\"processes\":", ",\"failure_is_past\":", ",\"waiting\":", ",\"parked\":"];

/// Without the fields that a card of 0.1.0 does not have, and without the name of the machine: the daemon of 0.1.0 had one, the
/// daemon of this test has none, and it writes the rows of past sessions anew because the rules have changed since.
fn without_additions(answer: &str) -> String {
    let answer = answer.replace("\"host\":\"vm\"", "\"host\":null");
    // No refusal of that time has a message.
    let answer = answer.replace("\"rule\":null,\"message\":null}", "\"rule\":null}");
    ADDED_SINCE.iter().fold(answer, |text, field| without_field(&text, field))
}

fn without_field(text: &str, field: &str) -> String {
    let mut parts = text.split(field);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let mut values = serde_json::Deserializer::from_str(part).into_iter::<Value>();
        values.next().unwrap().unwrap();
        text + &part[values.byte_offset()..]
    })
}

/// Everything the daemon says about its sessions, one answer a line.
fn answers(deck: &InProcessDaemon) -> String {
    let socket = |args| from_sessions(&deck.socket().ask_text(&json!({"cmd": "sessions", "args": args})));
    let mut lines = vec![
        board(deck),
        from_sessions(&deck.get("/api/sessions?all=1").text()),
        socket(json!({})),
        socket(json!({"all": true})),
        deck.get("/api/fleet").text(),
        deck.get("/api/fleet/history?since=2026-11-17T00:00:00Z").text(),
    ];
    let all = deck.get("/api/sessions?all=1").json();
    for id in all["sessions"].as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap()) {
        for what in ["", "/explain", "/events", "/numbers"] {
            lines.push(deck.get(&format!("/api/sessions/{id}{what}")).text());
        }
    }
    without_additions(&(lines.join("\n") + "\n"))
}

/// Waits for the board, which fills while transcripts are read, and then compares every answer.
#[track_caller]
fn assert_answers(deck: &InProcessDaemon, recorded: &str) {
    let expected = without_additions(&fs::read_to_string(data().join(recorded)).unwrap());
    let (first, _) = expected.split_once('\n').unwrap();
    until("the board is the recorded one", || (board(deck) == first).then_some(()));
    for (answer, expected) in answers(deck).lines().zip(expected.lines()) {
        assert_eq!(answer, expected);
    }
    assert_eq!(answers(deck).lines().count(), expected.lines().count());
}

#[test]
fn a_database_of_version_0_1_0_gives_the_same_board() {
    assert_answers(&Home::new().open(), "answers.txt");
}

#[test]
fn a_spool_of_version_0_1_0_gives_the_same_board() {
    let home = Home::new();
    let deck = home.open();
    deck.drain(&home.spool());
    assert_answers(&deck, "answers-after-spool.txt");
}
