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
    without_additions(&from_sessions(&as_0_1_0(&deck.get("/api/sessions").text())))
}

/// Fields of a card that 0.1.0 did not have: numbers and lists of plain objects.
const ADDED_SINCE: [&str; 2] = [",\"shells_min\":", ",\"processes\":"];

/// Without the fields that a card of 0.1.0 does not have, and without the name of the machine: the daemon of 0.1.0 had one, the
/// daemon of this test has none, and it writes the rows of past sessions anew because the rules have changed since.
fn without_additions(answer: &str) -> String {
    let answer = answer.replace("\"host\":\"vm\"", "\"host\":null");
    ADDED_SINCE.iter().fold(answer, |text, field| without_field(&text, field))
}

fn without_field(text: &str, field: &str) -> String {
    let mut parts = text.split(field);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.strip_prefix('[') {
        Some(list) => text + list.split_once(']').unwrap().1,
        None => text + part.trim_start_matches(|c: char| c.is_ascii_digit()),
    })
}

/// The answer without what this version adds: the assignment, the intent of the last message, and its digit in the rank of idle
/// cards.
fn as_0_1_0(answer: &str) -> String {
    let mut value = serde_json::from_str(answer).unwrap();
    forget_intents(&mut value);
    value.to_string()
}

fn forget_intents(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_intents),
        Value::Object(fields) => {
            fields.shift_remove("intent");
            if let Some(assignment) = fields.get_mut("assignment") {
                *assignment = Value::Null;
            }
            if fields.get("agent_state").is_some_and(|state| state["state"] == "idle") {
                let ranks = fields["rank"].as_object_mut().unwrap();
                ranks
                    .values_mut()
                    .for_each(|rank| *rank = rank.as_str().unwrap().replacen('6', "5", 1).into());
            }
            fields.values_mut().for_each(forget_intents);
        }
        _ => {}
    }
}

/// Everything the daemon says about its sessions, one answer a line.
fn answers(deck: &InProcessDaemon) -> String {
    let get = |path: &str| as_0_1_0(&deck.get(path).text());
    let socket =
        |args| from_sessions(&as_0_1_0(&deck.socket().ask_text(&json!({"cmd": "sessions", "args": args}))));
    let mut lines = vec![
        board(deck),
        from_sessions(&get("/api/sessions?all=1")),
        socket(json!({})),
        socket(json!({"all": true})),
        get("/api/fleet"),
        get("/api/fleet/history?since=2026-11-17T00:00:00Z"),
    ];
    let all = deck.get("/api/sessions?all=1").json();
    for id in all["sessions"].as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap()) {
        for what in ["", "/explain", "/events", "/numbers"] {
            lines.push(get(&format!("/api/sessions/{id}{what}")));
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
