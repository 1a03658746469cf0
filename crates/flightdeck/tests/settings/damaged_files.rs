//! Unusual and damaged settings files: each is either merged with all foreign settings kept, or refused with a message and not
//! changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::fixture::{SettingsFixture, meaning_without_ours};
use expect_test::expect;
use flightdeck::settings::SettingsOutcome;

/// A file with another tool's hooks in one group with ours, flat entries of both, and outdated handlers of ours.
pub(crate) const SHARED: &str = r##"{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "theirs first"},
        {"type": "command", "command": "'/old/flightdeck' hook 2>/dev/null || true # flightdeck-hook"},
        {"type": "command", "command": "theirs last"}
      ]}
    ],
    "Stop": [
      {"type": "command", "command": "their flat one"},
      {"type": "command", "command": "old flightdeck # flightdeck-hook"}
    ],
    "Notification": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:1/api/live/hook?via=flightdeck-hook"}]}],
    "Madeup": []
  },
  "model": "opus"
}
"##;

fn damaged_texts() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |depth: usize| format!("{{\"x\": {}1{}}}\n", "[".repeat(depth), "]".repeat(depth));
    let big: Vec<String> = (0..20_000).map(|i| format!("\"Bash(tool-{i}:*) {}\"", "x".repeat(30))).collect();
    let big = format!("{{\n  \"permissions\": {{\n    \"allow\": [{}]\n  }}\n}}\n", big.join(", "));
    assert!(big.len() > 1 << 20);
    vec![
        ("empty", "".into()),
        ("white space only", " \n\t\r\n ".into()),
        ("empty with a BOM", "\u{feff}".into()),
        ("empty object", "{}".into()),
        ("empty object with room", "{\n\n}\n".into()),
        ("line comment", "{\n  // mine\n  \"model\": \"opus\"\n}\n".into()),
        ("block comment", "/* mine */ {\"model\": \"opus\"}".into()),
        ("comment at the end", "{\"model\": \"opus\"}\n# bye\n".into()),
        ("trailing comma in an object", "{\n  \"model\": \"opus\",\n}\n".into()),
        ("trailing comma in a list", "{\n  \"a\": [1, 2,]\n}\n".into()),
        ("single quotes", "{'model': 'opus'}".into()),
        ("torn in the middle", "{\n  \"model\": \"op".into()),
        ("two documents", "{}\n{}\n".into()),
        ("BOM", "\u{feff}{\n  \"model\": \"opus\"\n}\n".into()),
        ("CRLF", "{\r\n  \"model\": \"opus\",\r\n  \"env\": {}\r\n}\r\n".into()),
        ("no newline at the end", "{\n  \"model\": \"opus\"\n}".into()),
        ("tabs", "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n".into()),
        ("four spaces", "{\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n".into()),
        ("no indentation", "{\n\"model\": \"opus\",\n\"env\": {}\n}\n".into()),
        ("minified", "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}".into()),
        ("one line with spaces", "{ \"model\": \"opus\", \"hooks\": { } }\n".into()),
        ("comma first", "{ \"a\": 1\n, \"b\": 2\n}\n".into()),
        ("blank lines between", "{\n  \"a\": 1,\n\n\n  \"b\": 2\n\n}\n\n\n".into()),
        (
            "unicode, escapes and emoji",
            "{\n  \"🛫 é\": \"\\u00e9\\/\\ud83d\\udeeb \\\"hooks\\\": {\"\n}\n".into(),
        ),
        ("lone surrogate", "{\n  \"a\": \"\\ud800\", \"\\udc00\": 1\n}\n".into()),
        ("numbers no float holds", "{\"a\": 1e999, \"b\": 123456789012345678901234567890.10}\n".into()),
        ("nested 100 deep", deep(100).into()),
        ("nested 10,000 deep", deep(10_000).into()),
        ("1 MB", big.into()),
        ("more than a settings file may have", vec![b' '; (16 << 20) + 1]),
        ("not UTF-8", b"{\"a\": \"\xff\"}".to_vec()),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("hooks is null", "{\n  \"hooks\": null\n}\n".into()),
        ("hooks is a list", "{\"hooks\": []}".into()),
        ("hooks is a string", "{\"hooks\": \"none\"}".into()),
        ("root is a list", "[]".into()),
        ("root is a string", "\n\"hooks\"".into()),
        ("an event is an object", "{\"hooks\": {\n\"Stop\": {}}}".into()),
        ("hooks twice", "{\n  \"hooks\": {},\n  \"h\\u006foks\": {}\n}\n".into()),
        ("an event twice", "{\"hooks\": {\"Stop\": [],\n\"Stop\": []}}".into()),
        ("another key twice", "{\n  \"model\": \"a\",\n  \"model\": \"b\"\n}\n".into()),
        ("disableAllHooks", "{\n  \"disableAllHooks\": true\n}\n".into()),
        ("shared groups and flat entries", SHARED.into()),
        (
            "groups of unknown shape",
            "{\"hooks\": {\"Stop\": [1, null, \"x\", {}, {\"hooks\": 7}, []]}}\n".into(),
        ),
    ]
}

#[test]
fn every_damaged_text_is_merged_or_refused() {
    let rows: Vec<String> = damaged_texts().into_iter().map(|(name, bytes)| describe(name, &bytes)).collect();
    expect![[r#"
        empty: merged, 0 foreign; restored to the byte, without receipt in meaning
        white space only: merged, 0 foreign; restored to the byte, without receipt in meaning
        empty with a BOM: merged, 0 foreign; restored to the byte, without receipt in meaning
        empty object: merged, 0 foreign; restored to the byte, without receipt to the byte
        empty object with room: merged, 0 foreign; restored to the byte, without receipt in meaning
        line comment: REFUSED ~/claude/settings.json, line 2, column 3: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again. Nothing was changed
        block comment: REFUSED ~/claude/settings.json, line 1, column 1: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again. Nothing was changed
        comment at the end: REFUSED ~/claude/settings.json, line 2, column 1: this looks like a comment. Claude Code reads strict JSON only and ignores the whole file; remove it, then run this again. Nothing was changed
        trailing comma in an object: REFUSED ~/claude/settings.json, line 3, column 1: there is a comma before this closing bracket. Claude Code reads strict JSON only and ignores the whole file; remove the comma, then run this again. Nothing was changed
        trailing comma in a list: REFUSED ~/claude/settings.json, line 2, column 14: there is a comma before this closing bracket. Claude Code reads strict JSON only and ignores the whole file; remove the comma, then run this again. Nothing was changed
        single quotes: REFUSED ~/claude/settings.json, line 1, column 2: this is not JSON (key must be a string). Claude Code reads strict JSON only and ignores the whole file; correct it, then run this again. Nothing was changed
        torn in the middle: REFUSED ~/claude/settings.json, line 2, column 14: the file ends here, too early. Claude Code reads strict JSON only and ignores the whole file; complete it, then run this again. Nothing was changed
        two documents: REFUSED ~/claude/settings.json, line 2, column 1: this is not JSON (trailing characters). Claude Code reads strict JSON only and ignores the whole file; correct it, then run this again. Nothing was changed
        BOM: merged, 0 foreign; restored to the byte, without receipt to the byte
        CRLF: merged, 0 foreign; restored to the byte, without receipt to the byte
        no newline at the end: merged, 0 foreign; restored to the byte, without receipt to the byte
        tabs: merged, 0 foreign; restored to the byte, without receipt to the byte
        four spaces: merged, 0 foreign; restored to the byte, without receipt in meaning
        no indentation: merged, 0 foreign; restored to the byte, without receipt to the byte
        minified: merged, 0 foreign; restored to the byte, without receipt to the byte
        one line with spaces: merged, 0 foreign; restored to the byte, without receipt in meaning
        comma first: merged, 0 foreign; restored to the byte, without receipt to the byte
        blank lines between: merged, 0 foreign; restored to the byte, without receipt to the byte
        unicode, escapes and emoji: merged, 0 foreign; restored to the byte, without receipt to the byte
        lone surrogate: merged, 0 foreign; restored to the byte, without receipt to the byte
        numbers no float holds: merged, 0 foreign; restored to the byte, without receipt to the byte
        nested 100 deep: merged, 0 foreign; restored to the byte, without receipt to the byte
        nested 10,000 deep: merged, 0 foreign; restored to the byte, without receipt to the byte
        1 MB: merged, 0 foreign; restored to the byte, without receipt to the byte
        more than a settings file may have: REFUSED ~/claude/settings.json has 16777217 bytes, more than the 16777216 a settings file may have. Nothing was changed
        not UTF-8: REFUSED ~/claude/settings.json is not UTF-8 at byte 7: save it as UTF-8, then run this again. Nothing was changed
        UTF-16: REFUSED ~/claude/settings.json is not UTF-8 at byte 0: save it as UTF-8, then run this again. Nothing was changed
        hooks is null: REFUSED ~/claude/settings.json, line 2: "hooks" is null where Claude Code expects an object: correct it, then run this again. Nothing was changed
        hooks is a list: REFUSED ~/claude/settings.json, line 1: "hooks" is a list where Claude Code expects an object: correct it, then run this again. Nothing was changed
        hooks is a string: REFUSED ~/claude/settings.json, line 1: "hooks" is a string where Claude Code expects an object: correct it, then run this again. Nothing was changed
        root is a list: REFUSED ~/claude/settings.json, line 1: the whole file is a list where Claude Code expects an object: correct it, then run this again. Nothing was changed
        root is a string: REFUSED ~/claude/settings.json, line 2: the whole file is a string where Claude Code expects an object: correct it, then run this again. Nothing was changed
        an event is an object: REFUSED ~/claude/settings.json, line 2: "hooks.Stop" is an object where Claude Code expects a list: correct it, then run this again. Nothing was changed
        hooks twice: REFUSED ~/claude/settings.json, line 3: "hooks" is there twice and Claude Code obeys only the last: join them, then run this again. Nothing was changed
        an event twice: REFUSED ~/claude/settings.json, line 2: "hooks.Stop" is there twice and Claude Code obeys only the last: join them, then run this again. Nothing was changed
        another key twice: merged, 0 foreign; restored to the byte, without receipt to the byte
        disableAllHooks: merged, 0 foreign; restored to the byte, without receipt to the byte; note: disableAllHooks is true in this file: Claude Code runs no hooks until that is removed
        shared groups and flat entries: merged, 3 foreign; restored in meaning, without receipt in meaning
        groups of unknown shape: merged, 0 foreign; restored to the byte, without receipt to the byte
    "#]].assert_eq(&rows.concat());
}

/// Runs install, a second install and uninstall on a file and describes the results.
fn describe(name: &str, bytes: &[u8]) -> String {
    let fixture = SettingsFixture::with(bytes);
    let change = match fixture.install() {
        Ok(change) => change,
        Err(refusal) => {
            assert_eq!(fixture.bytes(), bytes, "{name}: touched");
            assert_eq!(fixture.listing(), ["settings.json"], "{name}: litter");
            return format!("{name}: REFUSED {}\n", fixture.with_tilde(&refusal.to_string()));
        }
    };
    let merged = fixture.bytes();
    assert_eq!(fixture.listing(), ["settings.json"], "{name}: litter");
    assert_eq!(fs::read(change.backup.as_ref().unwrap()).unwrap(), bytes, "{name}: backup");
    assert_kept(name, bytes, &merged);
    let status = fixture.status();
    assert!(status.missing.is_empty() && status.stale.is_empty(), "{name}: {status}");

    assert_eq!(fixture.install().unwrap().outcome, SettingsOutcome::Unchanged, "{name}");
    assert_eq!(fixture.bytes(), merged, "{name}: the second install changed something");

    // Without the receipt the values are restored, and nearly always the bytes.
    let elsewhere = SettingsFixture::with(&merged);
    elsewhere.uninstall().unwrap();
    assert_kept(name, bytes, &elsewhere.bytes());
    let by_handler = if elsewhere.bytes() == bytes { "to the byte" } else { "in meaning" };

    fixture.uninstall().unwrap();
    let exact = if fixture.bytes() == bytes { "to the byte" } else { "in meaning" };
    let notes: String = change.notes.iter().map(|note| format!("; note: {note}")).collect();
    format!(
        "{name}: merged, {} foreign; restored {exact}, without receipt {by_handler}{notes}\n",
        status.foreign
    )
}

/// Asserts that all foreign settings are kept: compared as values if they parse, otherwise line by line.
fn assert_kept(name: &str, before: &[u8], after: &[u8]) {
    match (meaning_without_ours(before), meaning_without_ours(after)) {
        (Some(before), Some(after)) => assert_eq!(before, after, "{name}"),
        _ => {
            let after = String::from_utf8_lossy(after);
            for line in String::from_utf8_lossy(before).lines() {
                assert!(after.contains(line.trim_end_matches('}')), "{name}: lost {line}");
            }
        }
    }
}

#[test]
fn every_unusual_path_is_written_through_or_refused() {
    let mut told = String::new();
    let mut case = |name: &str, arrange: &dyn Fn(&Path)| {
        let fixture = SettingsFixture::empty();
        arrange(&fixture.settings());
        let before = fixture.listing();
        let result = match fixture.install() {
            Ok(_) => {
                let during = fixture.listing();
                fixture.uninstall().unwrap();
                format!("merged: {}", during.join(" "))
            }
            Err(refusal) => format!("REFUSED {}", fixture.with_tilde(&refusal.to_string())),
        };
        assert_eq!(fixture.listing(), before, "{name}");
        told += &format!("{name}: {result}\n");
    };
    case("no file", &|_| ());
    case("no folder", &|path| fs::remove_dir(path.parent().unwrap()).unwrap());
    case("a folder in its place", &|path| fs::create_dir(path).unwrap());
    case("a pipe in its place", &|path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    });
    case("a link", &|path| {
        fs::write(path.with_file_name("dotfile.json"), "{\"a\": 1}").unwrap();
        symlink("dotfile.json", path).unwrap();
    });
    case("a link to a file that does not exist yet", &|path| symlink("dotfile.json", path).unwrap());
    case("a link into a folder that does not exist", &|path| symlink("gone/dotfile.json", path).unwrap());
    case("a link to itself", &|path| symlink("settings.json", path).unwrap());
    case("a read-only file", &|path| {
        fs::write(path, "{}").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
    });
    case("a read-only folder", &|path| {
        fs::write(path, "{}").unwrap();
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o555)).unwrap();
    });
    case("a private file", &|path| {
        fs::write(path, "{\"a\": 1}").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    });
    expect![[r#"
        no file: merged: settings.json
        no folder: merged: settings.json
        a folder in its place: REFUSED ~/claude/settings.json is a folder, not a file: move it away, then run this again. Nothing was changed
        a pipe in its place: REFUSED ~/claude/settings.json is a device, pipe or socket, not a file: move it away, then run this again. Nothing was changed
        a link: merged: dotfile.json settings.json->dotfile.json
        a link to a file that does not exist yet: merged: dotfile.json settings.json->dotfile.json
        a link into a folder that does not exist: REFUSED ~/claude/settings.json is a link to ~/claude/gone/dotfile.json, whose folder does not exist: create the folder or remove the link, then run this again. Nothing was changed
        a link to itself: REFUSED ~/claude/settings.json leads through more than 40 links: it seems to point at itself. Nothing was changed
        a read-only file: REFUSED ~/claude/settings.json is read-only: make it writable (chmod u+w), then run this again. Nothing was changed
        a read-only folder: REFUSED ~/claude is read-only: make it writable (chmod u+w), then run this again. Nothing was changed
        a private file: merged: settings.json
    "#]].assert_eq(&told);
}
