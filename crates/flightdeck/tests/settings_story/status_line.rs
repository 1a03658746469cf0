//! A person has one status line: ours goes around it, and comes off again to the byte.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use flightdeck::claude_settings::{LineState, Outcome, SettingsError};
use serde_json::{Value, json};

use crate::world::World;

fn wrapping(bytes: &[u8]) -> World {
    let mut world = World::with(bytes);
    world.registration.status_line = true;
    world
}

fn settings(world: &World) -> Value {
    let text = String::from_utf8(world.bytes()).unwrap();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// Status lines as people have them, and worse.
const NASTY: [(&str, &str); 14] = [
    ("plain", "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"~/line.sh\"\n  }\n}\n"),
    (
        "other keys around it",
        "{\"statusLine\":{\"refreshInterval\":1,\"command\":\"a\",\"padding\":0,\"type\":\"command\",\"x\":[1, 2]}}",
    ),
    (
        "both kinds of quotes",
        r#"{"statusLine": {"type": "command", "command": "jq -r '.model.id + \" it'\\''s\"' | sed \"s/a/'/\""}}"#,
    ),
    ("escapes", r#"{"statusLine": {"type": "command", "command": "printf '\u00e9\/\ud83d\ude00\t\\n'"}}"#),
    (
        "many lines and a comment at the end",
        r#"{"statusLine": {"type": "command", "command": "x=1\necho $x # shows one\n"}}"#,
    ),
    ("speaks of us", r#"{"statusLine": {"type": "command", "command": "echo '# flightdeck-statusline'"}}"#),
    ("BOM and CRLF", "\u{feff}{\r\n  \"statusLine\": {\"type\": \"command\", \"command\": \"cat\"}\r\n}\r\n"),
    (
        "tabs and no newline at the end",
        "{\n\t\"a\": 1,\n\t\"statusLine\": {\n\t\t\"type\": \"command\",\n\t\t\"command\": \"cat\"\n\t}\n}",
    ),
    (
        "hooks of others",
        r#"{"statusLine": {"type": "command", "command": "cat"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}"#,
    ),
    ("command twice", r#"{"statusLine": {"type": "command", "command": "one", "command": "two"}}"#),
    ("an escaped key", r#"{"status\u004cine": {"type": "command", "command": "cat"}}"#),
    ("an empty command", r#"{"statusLine": {"type": "command", "command": ""}}"#),
    ("none, empty object", "{}\n"),
    ("none, other keys", "{\n    \"model\": \"opus\",\n    \"env\": {}\n}\n"),
];

#[test]
fn every_nasty_line_is_wrapped_once_and_comes_back_to_the_byte() {
    for (name, text) in NASTY {
        let before: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        let world = wrapping(text.as_bytes());
        let change = world.install().unwrap();
        assert_eq!((change.outcome, change.status_line), (Outcome::Installed, LineState::Ours), "{name}");
        let once = world.bytes();
        let mut line = settings(&world)["statusLine"].clone();
        let command = line["command"].as_str().unwrap().to_owned();
        assert!(command.ends_with("# flightdeck-statusline"), "{name}: {command}");
        if let Some(theirs) = before.get("statusLine") {
            line["command"] = theirs["command"].clone();
            assert_eq!(line, *theirs, "{name}: other keys stay");
        }
        assert_eq!(world.install().unwrap().outcome, Outcome::Unchanged, "{name}");
        assert_eq!(world.bytes(), once, "{name}: never twice");
        assert!(world.status().in_order(), "{name}");
        world.uninstall().unwrap();
        assert_eq!(String::from_utf8(world.bytes()).unwrap(), text, "{name}");
    }
}

#[test]
fn without_a_receipt_the_command_still_comes_back() {
    for (name, text) in NASTY {
        let world = wrapping(text.as_bytes());
        world.install().unwrap();
        fs::remove_dir_all(world.backups_folder()).unwrap();
        world.uninstall().unwrap();
        let mut before: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        if name == "command twice" {
            before["statusLine"]["command"] = json!("two");
        }
        assert_eq!(settings(&world), before, "{name}");
    }
}

#[test]
fn a_file_edited_since_keeps_the_edit_and_gets_its_command_back() {
    let world = wrapping(br#"{"statusLine": {"type": "command", "command": "it's mine", "padding": 1}}"#);
    world.install().unwrap();
    let edited = String::from_utf8(world.bytes()).unwrap().replace("\"padding\": 1", "\"padding\": 2");
    fs::write(world.settings(), edited).unwrap();
    assert!(world.status().in_order());
    world.uninstall().unwrap();
    assert_eq!(
        String::from_utf8(world.bytes()).unwrap(),
        r#"{"statusLine": {"type": "command", "command": "it's mine", "padding": 2}}"#
    );
}

#[test]
fn installing_without_the_flag_neither_wraps_nor_unwraps() {
    let theirs = br#"{"statusLine": {"type": "command", "command": "cat"}}"#;
    let mut world = World::with(theirs);
    assert_eq!(world.install().unwrap().status_line, LineState::Theirs);
    world.registration.status_line = true;
    assert_eq!(world.install().unwrap().status_line, LineState::Ours);
    world.registration.status_line = false;
    assert_eq!(
        world.install().unwrap().status_line,
        LineState::Ours,
        "a daemon that starts leaves it in place"
    );
    assert_eq!(world.repair().unwrap().status_line, LineState::Ours);
    world.uninstall().unwrap();
    assert_eq!(world.bytes(), theirs);
}

#[test]
fn another_program_or_home_is_out_of_date_and_repaired_without_wrapping_twice() {
    let theirs = br#"{"statusLine": {"type": "command", "command": "cat"}}"#;
    let mut world = wrapping(theirs);
    world.install().unwrap();
    world.registration.binary = "/elsewhere/flightdeck".into();
    let status = world.status();
    assert_eq!((status.status_line, status.drift), (LineState::Stale, true));
    world.repair().unwrap();
    let command = settings(&world)["statusLine"]["command"].as_str().unwrap().to_owned();
    assert!(command.contains("/elsewhere/") && !command.contains("/opt/"), "{command}");
    assert_eq!(command.matches("flightdeck-statusline").count(), 1);
    world.uninstall().unwrap();
    assert_eq!(world.bytes(), theirs);
}

#[test]
fn a_line_that_somebody_put_in_our_place_is_noticed_and_wrapped_by_repair() {
    let world = wrapping(b"{\n  \"model\": \"opus\"\n}\n");
    world.install().unwrap();
    let mut replaced = settings(&world);
    replaced["statusLine"] = json!({"type": "command", "command": "new"});
    fs::write(world.settings(), replaced.to_string()).unwrap();
    let status = world.status();
    assert_eq!((status.status_line, status.in_order(), status.drift), (LineState::Replaced, false, true));
    world.repair().unwrap();
    assert_eq!(world.status().status_line, LineState::Ours);
    world.uninstall().unwrap();
    assert_eq!(
        settings(&world),
        json!({"model": "opus", "statusLine": {"type": "command", "command": "new"}})
    );
}

#[test]
fn what_is_no_command_is_refused_and_left_as_it_is() {
    for odd in [
        r#"{"statusLine": null}"#,
        r#"{"statusLine": "cat"}"#,
        r#"{"statusLine": {"type": "static", "command": "cat"}}"#,
        r#"{"statusLine": {"command": "cat"}}"#,
        r#"{"statusLine": {"type": "command", "command": 7}}"#,
        r#"{"statusLine": {"type": "command", "command": "\ud800"}}"#,
        r#"{"statusLine": {"type": "command", "command": "by hand # flightdeck-statusline"}}"#,
    ] {
        let world = wrapping(odd.as_bytes());
        let refusal = world.install().unwrap_err();
        assert!(matches!(refusal, SettingsError::OddStatusLine { line: 1, .. }), "{odd}: {refusal}");
        assert_eq!(world.bytes(), odd.as_bytes());
    }
    let twice = br#"{"statusLine": {"type": "command", "command": "a"}, "statusLine": {"type": "command", "command": "b"}}"#;
    let world = wrapping(twice);
    assert!(matches!(world.install().unwrap_err(), SettingsError::Duplicate { .. }));
    assert_eq!(world.bytes(), twice);
}

/// As the client runs it, with the input on stdin.
fn run(world: &World, input: &str) -> (Option<i32>, String, String) {
    let command = settings(world)["statusLine"]["command"].as_str().unwrap().to_owned();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &command]).env_clear().env("PATH", "/usr/bin:/bin").current_dir(world.path());
    let mut child =
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Not every command reads it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const OWN: &str = "printf '\\033[32m%s\\033[0m' \"it's $(cat)\"; echo oops >&2; exit 3 # done";

#[test]
fn with_the_program_gone_the_persons_own_line_still_prints() {
    let theirs = json!({"statusLine": {"type": "command", "command": OWN}}).to_string();
    let mut world = wrapping(theirs.as_bytes());
    world.registration.binary = world.path().join("gone");
    world.install().unwrap();
    let expected = (Some(3), "\u{1b}[32mit's {}\u{1b}[0m".to_owned(), "oops\n".to_owned());
    assert_eq!(run(&world, "{}"), expected);
    let mut alone = wrapping(b"{}");
    alone.registration.binary = alone.path().join("gone");
    alone.install().unwrap();
    assert_eq!(run(&alone, "{}"), (Some(0), String::new(), String::new()));
}

#[test]
fn the_program_is_given_the_command_as_it_was_written() {
    let theirs = json!({"statusLine": {"type": "command", "command": OWN}}).to_string();
    let mut world = wrapping(theirs.as_bytes());
    world.registration.binary = world.path().join("it's fd");
    flightdeck_sim::programs::script(&world.registration.binary, r#"printf '%s|' "$@""#).unwrap();
    world.install().unwrap();
    let expected = format!("statusline|--home|/home/dev/.fd|--|{OWN}|");
    assert_eq!(run(&world, "{}"), (Some(0), expected, String::new()));
}
