//! A database and a spool that version 0.1.0 wrote. Opened by this version, they give the same answers byte for byte.
//!
//! `tests/data/v0.1.0/README.md` says how the files were made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flightdeck::engine::snapshots;
use flightdeck::store::Store;
use flightdeck_core::rules::{FoldSettings, RULES_VERSION};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_e2e::testkit::until;
use lz4_flex::frame::FrameDecoder;
use serde_json::{Map, Value, json};

use crate::in_process::InProcessDaemon;

/// A moment after version 0.1.0 was killed.
const NOW_MS: i64 = 1_794_944_575_000;

/// The rules of 0.1.0.
const RULES_VERSION_THEN: &str = "14";
/// The machine it ran on.
const HOST: &str = "vm";

/// The configuration it ran with: `done_minutes = 1`.
fn rules() -> FoldSettings {
    FoldSettings { done_keeps: Millis::minutes(1), ..FoldSettings::default() }
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

    fn store(&self) -> Store {
        let opened = Store::open(&self.folder.path().join("flightdeck.db")).unwrap();
        assert_eq!(opened.set_aside, None);
        opened.store
    }

    fn open(&self) -> InProcessDaemon {
        InProcessDaemon::builder()
            .store(self.store())
            .now(Timestamp::from_millis(NOW_MS))
            .fold_settings(rules())
            .keeping_old_holds()
            .start()
            .following_transcripts()
    }
}

/// From the sessions on: the name of the daemon's run and its number of changes are before them.
fn from_sessions(answer: &str) -> String {
    answer.split_once("\"sessions\":").unwrap().1.to_owned()
}

fn board(deck: &InProcessDaemon) -> String {
    as_then(&from_sessions(&deck.get("/api/sessions").text()))
}

/// Changes the JSON value at the beginning of the text. What follows it stays.
fn edit_json(text: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut json = values.next().unwrap().unwrap();
    let end = values.byte_offset();
    assert_eq!(json.to_string(), text[..end], "reading and writing a text changes no byte of it");
    edit(&mut json);
    json.to_string() + &text[end..]
}

/// The cards of an answer: the answer itself, or each item of a list.
fn cards(answer: &mut Value) -> Vec<&mut Map<String, Value>> {
    match answer {
        Value::Array(cards) => cards.iter_mut().filter_map(Value::as_object_mut).collect(),
        Value::Object(card) if card.contains_key("agent_state") => vec![card],
        _ => Vec::new(),
    }
}

/// The answer as 0.1.0 gave it. Each field that 0.1.0 did not have is taken out, and must have the one value that follows from the
/// other fields.
fn as_then(answer: &str) -> String {
    edit_json(answer, |answer| cards(answer).into_iter().for_each(take_additions))
}

fn take_additions(card: &mut Map<String, Value>) {
    let processes = card.shift_remove("processes").unwrap();
    assert_eq!(processes, processes_of(card, &processes), "{}", card["id"]);
    for (field, expected) in [
        ("host", card["seat"]["host"].clone()),
        ("unreachable_since", Value::Null),
        ("owner", Value::Null),
        ("agent_type", Value::Null),
        ("parked", Value::Null),
        ("failure_is_past", failure_is_past(card).into()),
        ("waiting", waiting(card)),
        ("duration_seconds", seconds(&card["started_at"], [&card["ended_at"], &card["last_activity_at"]])),
    ] {
        assert_eq!(card.shift_remove(field).unwrap(), expected, "{field} of {}", card["id"]);
    }
    take_intent(card);
    take_assignment(card);
    remove_derived(&mut card["background"], "shells_min", |background| background["shells"].clone());
    if card["agent_state"]["group"] == "needs_you" {
        let rank = card["rank"].as_object_mut().unwrap().shift_remove("waiting").unwrap();
        let short_id = &card["id"].as_str().unwrap()[..8];
        assert!(rank.as_str().unwrap().ends_with(short_id), "{rank}");
    } else {
        remove_derived(&mut card["rank"], "waiting", |rank| rank["default"].clone());
    }
    let id = card["id"].clone();
    for agent in card["sub_agents"].as_array_mut().unwrap() {
        remove_derived(agent, "parent_session_id", |_| id.clone());
        remove_derived(agent, "duration_seconds", |agent| {
            seconds(&agent["started_at"], [&agent["ended_at"]; 2])
        });
        take_agent_status(agent);
        ["description", "prompt", "tool_use_id"]
            .iter()
            .for_each(|field| remove_derived(agent, field, |_| Value::Null));
    }
    for ask in card["asks"].as_array_mut().unwrap() {
        if !ask["resolution"].is_null() {
            remove_derived(&mut ask["resolution"], "message", |_| Value::Null);
        }
    }
}

/// From the start to the first of these times that is known.
fn seconds(start: &Value, ends: [&Value; 2]) -> Value {
    let at = |value: &Value| value.as_str().and_then(Timestamp::parse);
    let end = ends.into_iter().find_map(at);
    end.map_or(Value::Null, |end| json!((end - at(start).unwrap()).as_seconds()))
}

/// The three-state view follows from the state.
fn take_agent_status(agent: &mut Value) {
    let status = agent.as_object_mut().unwrap().shift_remove("status").unwrap();
    let kind = match agent["state"].as_str().unwrap() {
        "working" => "working",
        "blocked" => "attention_needed",
        _ => "ended",
    };
    assert_eq!(status["kind"], kind, "{agent}");
}

/// No message of 0.1.0 asks or reports the end, so the label stays. Among idle cards, those that ask have the digit that all had.
fn take_intent(card: &mut Map<String, Value>) {
    let intent = card.shift_remove("intent").unwrap();
    assert!(intent.is_null() || intent["intent"] == "progress", "{intent}");
    if card["agent_state"]["state"] != "idle" {
        return;
    }
    for (name, digit) in [("default", 1), ("urgency", 0)] {
        let mut rank = card["rank"][name].as_str().unwrap().to_owned();
        assert_eq!(&rank[digit..=digit], "6", "{name} of {}", card["id"]);
        rank.replace_range(digit..=digit, "5");
        card["rank"][name] = rank.into();
    }
}

/// 0.1.0 had the field, always null. Now it follows from the log, and must fit the state of the session.
fn take_assignment(card: &mut Map<String, Value>) {
    let assignment = std::mem::take(&mut card["assignment"]);
    let state = assignment["state"].as_str();
    let fits = match card["agent_state"]["group"].as_str().unwrap() {
        _ if state.is_none() => card["turn_count"] == 0,
        "done" => state == Some("complete"),
        "running" => matches!(state, Some("commanded" | "processing")),
        _ if card["agent_state"]["state"] == "idle" => state == Some("complete"),
        _ => state == Some("awaiting_input"),
    };
    assert!(fits, "{assignment} of {} {}", card["id"], card["agent_state"]);
}

/// Removes a field, which must have the value that follows from the fields beside it.
fn remove_derived(of: &mut Value, field: &str, expected: impl Fn(&Value) -> Value) {
    let value = of.as_object_mut().unwrap().shift_remove(field).unwrap();
    assert_eq!(value, expected(of), "{field}");
}

fn failure_is_past(card: &Map<String, Value>) -> bool {
    let at = |value: &Value| value.as_str().map(str::to_owned);
    at(&card["last_failure"]["at"]).is_some_and(|failed| Some(failed) < at(&card["agent_state"]["since"]))
}

fn waiting(card: &Map<String, Value>) -> Value {
    let (state, label) = (&card["agent_state"]["state"], card["agent_state"]["label"].as_str().unwrap());
    let asks = card["last_assistant_text"].as_str().is_some_and(|text| text.trim_end().ends_with('?'));
    let (kind, label, icon) = match state.as_str().unwrap() {
        "idle" if label == "Ready" => ("idle", "Ready", "fresh"),
        "idle" if asks => ("asks", "Asks you", "asks"),
        "idle" => ("idle", "Waiting for your next prompt", "circle"),
        "interrupted" => ("interrupted", "Interrupted", "pause"),
        "error" => ("failed", "Failed", "triangle"),
        "needs_permission" | "awaiting_input" | "awaiting_approval" => {
            ("blocks", "Blocked", card["agent_state"]["icon"].as_str().unwrap())
        }
        _ => return Value::Null,
    };
    json!({ "kind": kind, "label": label, "icon": icon, "counts": matches!(kind, "blocks" | "asks") })
}

/// No session of 0.1.0 has several processes: the one of the card, while it lives. Its card does not say how it was started.
fn processes_of(card: &Map<String, Value>, processes: &Value) -> Value {
    let (seat, state) = (&card["seat"], &card["agent_state"]);
    if seat["pid"].is_null() || !card["ended_at"].is_null() {
        return json!([]);
    }
    let entrypoint = &processes[0]["entrypoint"];
    assert!(*entrypoint == "cli" || *entrypoint == "sdk-cli", "{processes}");
    json!([{ "pid": seat["pid"], "pane": seat["pane"], "tty": null, "entrypoint": entrypoint, "state": state["state"],
        "label": state["label"], "role": state["role"], "shown": true }])
}

/// An explanation as 0.1.0 gave it: without the processes and the intent, which must be those of the card.
fn explanation_as_then(answer: &str, card: &Map<String, Value>) -> String {
    edit_json(answer, |answer| {
        if let Some(intent) = answer.as_object_mut().unwrap().shift_remove("intent") {
            assert_eq!(intent, card["intent"], "{}", card["id"]);
        }
        if let Some(processes) = answer.as_object_mut().unwrap().shift_remove("processes") {
            assert_eq!(processes, card["processes"], "{}", card["id"]);
        }
    })
}

/// The counts of the fleet as 0.1.0 gave them: without the number of sessions that block or ask, which must be that of the cards.
fn fleet_as_then(deck: &InProcessDaemon) -> String {
    let mut board = deck.get("/api/sessions").json();
    let counted =
        cards(&mut board["sessions"]).into_iter().filter(|card| card["waiting"]["counts"] == true).count();
    edit_json(&deck.get("/api/fleet").text(), |fleet| {
        remove_derived(fleet, "blocks_or_asks", |_| counted.into())
    })
}

/// Everything the daemon says about its sessions, one answer a line.
fn answers(deck: &InProcessDaemon) -> String {
    let socket =
        |args| as_then(&from_sessions(&deck.socket().ask_text(&json!({"cmd": "sessions", "args": args}))));
    let mut lines = vec![
        board(deck),
        as_then(&from_sessions(&deck.get("/api/sessions?all=1").text())),
        socket(json!({})),
        socket(json!({"all": true})),
        fleet_as_then(deck),
        deck.get("/api/fleet/history?since=2026-11-17T00:00:00Z").text(),
    ];
    let mut all = deck.get("/api/sessions?all=1").json();
    for card in cards(&mut all["sessions"]) {
        let get = |what| deck.get(&format!("/api/sessions/{}{what}", card["id"].as_str().unwrap())).text();
        lines.push(as_then(&get("")));
        lines.push(explanation_as_then(&get("/explain"), card));
        lines.extend([get("/events"), get("/numbers")]);
    }
    lines.join("\n") + "\n"
}

/// A line that 0.1.0 said, with the host that this test's daemon has: none. The replay with today's rules writes the rows of past
/// sessions again, so only those had one.
fn without_host_of_past_sessions(line: &str) -> String {
    edit_json(line, |answer| {
        for card in cards(answer) {
            if card["seat"]["host"] == HOST {
                assert!(!card["ended_at"].is_null(), "{}", card["id"]);
                card["seat"]["host"] = Value::Null;
            }
        }
    })
}

/// Waits for the board, which fills while transcripts are read, and then compares every answer.
#[track_caller]
fn assert_answers(deck: &InProcessDaemon, recorded: &str) {
    let recorded = fs::read_to_string(data().join(recorded)).unwrap();
    let expected: Vec<String> = recorded.lines().map(without_host_of_past_sessions).collect();
    until("the board is the recorded one", || (board(deck) == expected[0]).then_some(()));
    let answers = answers(deck);
    for (answer, expected) in answers.lines().zip(&expected) {
        assert_eq!(answer, expected);
    }
    assert_eq!(answers.lines().count(), expected.len());
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

/// Today's rules are others, so that a daemon replays the log. Without this test the snapshot would not be read at all.
#[tokio::test]
async fn the_snapshot_of_version_0_1_0_can_be_read() {
    let home = Home::new();
    let version = rules().fold_version().replacen(RULES_VERSION, RULES_VERSION_THEN, 1);
    let snapshot = home.store().latest_snapshot(&version).await.unwrap().unwrap();
    let mut fleet = snapshots::unpack(&snapshot.body.joined()).unwrap().with_settings(rules());
    assert_eq!(fleet.last_seq(), snapshot.seq);
    assert_eq!((fleet.len(), fleet.occupants().count(), fleet.past_sessions().count()), (10, 10, 6));
    assert!(fleet.occupants().all(|occupant| occupant.host.is_this() && occupant.proc_start.is_some()));
    // The timers of the fleet run: after a night without events every session is stale.
    assert!(fleet.sessions().all(|session| !session.stale));
    let changed = fleet.tick(fleet.now() + Millis::hours(9));
    assert!(changed.len() >= 10, "{changed:?}");
    assert!(fleet.sessions().all(|session| session.stale));
}
