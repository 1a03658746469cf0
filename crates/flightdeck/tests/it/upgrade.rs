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

/// Fields of a card, of a subagent on it and of its background work that 0.1.0 did not have.
const LATER_CARD_FIELDS: [&str; 2] = ["agent_type", "processes"];
const LATER_AGENT_FIELDS: [&str; 3] = ["description", "prompt", "tool_use_id"];
const LATER_BACKGROUND_FIELD: &str = "shells_min";

/// The answer as 0.1.0 gave it: without later fields, everything else as it is.
fn as_then(answer: &str) -> String {
    let mut json: Value = serde_json::from_str(answer).unwrap();
    remove_later_fields(&mut json);
    json.to_string()
}

fn remove_later_fields(json: &mut Value) {
    match json {
        Value::Array(items) => items.iter_mut().for_each(remove_later_fields),
        Value::Object(fields) => {
            if fields.contains_key("fleet_status") {
                LATER_CARD_FIELDS.iter().for_each(|name| drop(fields.shift_remove(*name)));
            }
            if let Some(background) = fields.get_mut("background").and_then(Value::as_object_mut) {
                background.shift_remove(LATER_BACKGROUND_FIELD);
            }
            for agent in fields.get_mut("sub_agents").and_then(Value::as_array_mut).into_iter().flatten() {
                let agent = agent.as_object_mut().unwrap();
                LATER_AGENT_FIELDS.iter().for_each(|name| drop(agent.shift_remove(*name)));
            }
            fields.values_mut().for_each(remove_later_fields);
        }
        _ => {}
    }
}

/// From the sessions on: the name of the daemon's run and its number of changes are before them.
fn from_sessions(answer: &str) -> String {
    answer.split_once("\"sessions\":").unwrap().1.to_owned()
}

fn board(deck: &InProcessDaemon) -> String {
    from_sessions(&as_then(&deck.get("/api/sessions").text()))
}

/// Everything the daemon says about its sessions, one answer a line.
fn answers(deck: &InProcessDaemon) -> String {
    let socket =
        |args| from_sessions(&as_then(&deck.socket().ask_text(&json!({"cmd": "sessions", "args": args}))));
    let mut lines = vec![
        board(deck),
        from_sessions(&as_then(&deck.get("/api/sessions?all=1").text())),
        socket(json!({})),
        socket(json!({"all": true})),
        deck.get("/api/fleet").text(),
        deck.get("/api/fleet/history?since=2026-11-17T00:00:00Z").text(),
    ];
    let all = deck.get("/api/sessions?all=1").json();
    for id in all["sessions"].as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap()) {
        for what in ["", "/explain", "/events", "/numbers"] {
            lines.push(as_then(&deck.get(&format!("/api/sessions/{id}{what}")).text()));
        }
    }
    lines.join("\n") + "\n"
}

/// Waits for the board, which fills while transcripts are read, and then compares every answer.
#[track_caller]
fn assert_answers(deck: &InProcessDaemon, recorded: &str) {
    let expected = fs::read_to_string(data().join(recorded)).unwrap();
    // The replay of another rules version writes the rows of past sessions again, with the host of this test: none.
    let expected = expected.replace(r#""host":"vm""#, r#""host":null"#);
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
