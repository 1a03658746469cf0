//! Our status line wraps the person's own, and uninstall restores it byte for byte.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use flightdeck::settings::{SettingsError, SettingsOutcome, StatusLineState};
use serde_json::{Value, json};

use crate::fixture::SettingsFixture;

fn wrapping(bytes: &[u8]) -> SettingsFixture {
    let mut fixture = SettingsFixture::with(bytes);
    fixture.registration.status_line = true;
    fixture
}

fn settings(fixture: &SettingsFixture) -> Value {
    let text = String::from_utf8(fixture.bytes()).unwrap();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// Common and unusual status lines.
const STATUS_LINES: [(&str, &str); 14] = [
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
fn every_status_line_is_wrapped_once_and_restored_byte_for_byte() {
    for (name, text) in STATUS_LINES {
        let before: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        let fixture = wrapping(text.as_bytes());
        let change = fixture.install().unwrap();
        assert_eq!(
            (change.outcome, change.status_line),
            (SettingsOutcome::Installed, StatusLineState::Ours),
            "{name}"
        );
        let once = fixture.bytes();
        let mut line = settings(&fixture)["statusLine"].clone();
        let command = line["command"].as_str().unwrap().to_owned();
        assert!(command.ends_with("# flightdeck-statusline"), "{name}: {command}");
        if let Some(theirs) = before.get("statusLine") {
            line["command"] = theirs["command"].clone();
            assert_eq!(line, *theirs, "{name}: other keys stay");
        }
        assert_eq!(fixture.install().unwrap().outcome, SettingsOutcome::Unchanged, "{name}");
        assert_eq!(fixture.bytes(), once, "{name}: never twice");
        assert!(fixture.status().in_order(), "{name}");
        fixture.uninstall().unwrap();
        assert_eq!(String::from_utf8(fixture.bytes()).unwrap(), text, "{name}");
    }
}

#[test]
fn the_command_is_restored_without_a_receipt() {
    for (name, text) in STATUS_LINES {
        let fixture = wrapping(text.as_bytes());
        fixture.install().unwrap();
        fs::remove_dir_all(fixture.backups_folder()).unwrap();
        fixture.uninstall().unwrap();
        let mut before: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        if name == "command twice" {
            before["statusLine"]["command"] = json!("two");
        }
        assert_eq!(settings(&fixture), before, "{name}");
    }
}

#[test]
fn a_file_edited_after_install_keeps_the_edit_and_its_command_is_restored() {
    let fixture = wrapping(br#"{"statusLine": {"type": "command", "command": "it's mine", "padding": 1}}"#);
    fixture.install().unwrap();
    let edited = String::from_utf8(fixture.bytes()).unwrap().replace("\"padding\": 1", "\"padding\": 2");
    fs::write(fixture.settings(), edited).unwrap();
    assert!(fixture.status().in_order());
    fixture.uninstall().unwrap();
    assert_eq!(
        String::from_utf8(fixture.bytes()).unwrap(),
        r#"{"statusLine": {"type": "command", "command": "it's mine", "padding": 2}}"#
    );
}

#[test]
fn installing_without_the_flag_neither_wraps_nor_unwraps() {
    let theirs = br#"{"statusLine": {"type": "command", "command": "cat"}}"#;
    let mut fixture = SettingsFixture::with(theirs);
    assert_eq!(fixture.install().unwrap().status_line, StatusLineState::Theirs);
    fixture.registration.status_line = true;
    assert_eq!(fixture.install().unwrap().status_line, StatusLineState::Ours);
    fixture.registration.status_line = false;
    assert_eq!(
        fixture.install().unwrap().status_line,
        StatusLineState::Ours,
        "a daemon that starts leaves it in place"
    );
    assert_eq!(fixture.repair().unwrap().status_line, StatusLineState::Ours);
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), theirs);
}

#[test]
fn a_status_line_of_another_binary_is_repaired_without_wrapping_twice() {
    let theirs = br#"{"statusLine": {"type": "command", "command": "cat"}}"#;
    let mut fixture = wrapping(theirs);
    fixture.install().unwrap();
    fixture.registration.binary = "/elsewhere/flightdeck".into();
    let status = fixture.status();
    assert_eq!((status.status_line, status.drift), (StatusLineState::Stale, true));
    fixture.repair().unwrap();
    let command = settings(&fixture)["statusLine"]["command"].as_str().unwrap().to_owned();
    assert!(command.contains("/elsewhere/") && !command.contains("/opt/"), "{command}");
    assert_eq!(command.matches("flightdeck-statusline").count(), 1);
    fixture.uninstall().unwrap();
    assert_eq!(fixture.bytes(), theirs);
}

#[test]
fn a_replaced_status_line_is_reported_and_wrapped_by_repair() {
    let fixture = wrapping(b"{\n  \"model\": \"opus\"\n}\n");
    fixture.install().unwrap();
    let mut replaced = settings(&fixture);
    replaced["statusLine"] = json!({"type": "command", "command": "new"});
    fs::write(fixture.settings(), replaced.to_string()).unwrap();
    let status = fixture.status();
    assert_eq!(
        (status.status_line, status.in_order(), status.drift),
        (StatusLineState::Replaced, false, true)
    );
    fixture.repair().unwrap();
    assert_eq!(fixture.status().status_line, StatusLineState::Ours);
    fixture.uninstall().unwrap();
    assert_eq!(
        settings(&fixture),
        json!({"model": "opus", "statusLine": {"type": "command", "command": "new"}})
    );
}

#[test]
fn a_status_line_that_is_not_a_command_is_refused_and_unchanged() {
    for odd in [
        r#"{"statusLine": null}"#,
        r#"{"statusLine": "cat"}"#,
        r#"{"statusLine": {"type": "static", "command": "cat"}}"#,
        r#"{"statusLine": {"command": "cat"}}"#,
        r#"{"statusLine": {"type": "command", "command": 7}}"#,
        r#"{"statusLine": {"type": "command", "command": "\ud800"}}"#,
        r#"{"statusLine": {"type": "command", "command": "by hand # flightdeck-statusline"}}"#,
    ] {
        let fixture = wrapping(odd.as_bytes());
        let refusal = fixture.install().unwrap_err();
        assert!(matches!(refusal, SettingsError::OddStatusLine { line: 1, .. }), "{odd}: {refusal}");
        assert_eq!(fixture.bytes(), odd.as_bytes());
    }
    let twice = br#"{"statusLine": {"type": "command", "command": "a"}, "statusLine": {"type": "command", "command": "b"}}"#;
    let fixture = wrapping(twice);
    assert!(matches!(fixture.install().unwrap_err(), SettingsError::Duplicate { .. }));
    assert_eq!(fixture.bytes(), twice);
}

/// Runs the command as Claude Code does, with the input on stdin.
fn run(fixture: &SettingsFixture, input: &str) -> (Option<i32>, String, String) {
    let command = settings(fixture)["statusLine"]["command"].as_str().unwrap().to_owned();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &command]).env_clear().env("PATH", "/usr/bin:/bin").current_dir(fixture.path());
    let mut child =
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Fails with a broken pipe if the command does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const OWN: &str = "printf '\\033[32m%s\\033[0m' \"it's $(cat)\"; echo oops >&2; exit 3 # done";

#[test]
fn the_persons_own_status_line_still_prints_if_the_binary_is_gone() {
    let theirs = json!({"statusLine": {"type": "command", "command": OWN}}).to_string();
    let mut fixture = wrapping(theirs.as_bytes());
    fixture.registration.binary = fixture.path().join("gone");
    fixture.install().unwrap();
    let expected = (Some(3), "\u{1b}[32mit's {}\u{1b}[0m".to_owned(), "oops\n".to_owned());
    assert_eq!(run(&fixture, "{}"), expected);
    let mut alone = wrapping(b"{}");
    alone.registration.binary = alone.path().join("gone");
    alone.install().unwrap();
    assert_eq!(run(&alone, "{}"), (Some(0), String::new(), String::new()));
}

#[test]
fn the_binary_gets_the_wrapped_command_unchanged() {
    let theirs = json!({"statusLine": {"type": "command", "command": OWN}}).to_string();
    let mut fixture = wrapping(theirs.as_bytes());
    fixture.registration.binary = fixture.path().join("it's fd");
    flightdeck_sim::programs::write_script(&fixture.registration.binary, r#"printf '%s|' "$@""#).unwrap();
    fixture.install().unwrap();
    let expected = format!("statusline|--home|/home/dev/.fd|--|{OWN}|");
    assert_eq!(run(&fixture, "{}"), (Some(0), expected, String::new()));
}
