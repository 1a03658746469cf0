//! What `flightdeck doctor` finds, and how a mistake in the settings is reported.

use std::fs;

use crate::cli::{anonymous, fails, reads};
use crate::home::test_home;
use expect_test::expect;
use serde_json::{Value, json};

#[test]
fn doctor_names_each_finding_and_its_fix() {
    let home = test_home();
    home.daemon().stop();
    home.hook(r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 1);
    let spooled = said.out.split("spool (").nth(1).and_then(|s| s.split(')').next()).unwrap();
    reads(
        &said.out.replace(spooled, "<n> bytes"),
        expect![[r#"
            ✓ version   flightdeck 0.1.0
            ✓ home      ~/fd
            ✓ config    all defaults (~/fd/config.toml does not exist)
            ✗ daemon    no daemon is running for ~/fd
                        to mend: start it with `flightdeck`
            ✓ socket    ~/fd/run/daemon.sock (made by the daemon)
            – store     unknown: only the daemon can read it
            – client    no `claude` on PATH and no running session: assumed Claude Code 2.1.325. An older one may complain about event names it does not know; run `flightdeck hooks repair` once `claude` is on PATH
            ✗ hooks     no hook of Flightdeck is in ~/claude/settings.json, so no session is heard
                        to mend: start the daemon with `flightdeck`, or run `flightdeck hooks install` to keep them
            – line      the status line does not tell us (flightdeck hooks install --statusline)
            ✗ spool     1 event waiting in ~/fd/spool (<n> bytes)
                        to mend: start the daemon with `flightdeck`: it takes them in
            ✓ log       ~/fd/state/flightdeck.log
        "#]],
    );

    // With hooks, a daemon and an empty spool there is nothing to report.
    let daemon = home.up(&[]);
    let said = home.run(&["doctor"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let plain = anonymous(&said.out, &daemon);
    let size = plain.split("event, ").nth(1).and_then(|s| s.split(" MB").next()).unwrap().to_owned();
    reads(
        &plain.replace(&format!("{size} MB"), "<n> MB"),
        expect![[r#"
            ✓ version   flightdeck 0.1.0
            ✓ home      ~/fd
            ✓ config    all defaults (~/fd/config.toml does not exist)
            ✓ daemon    <url> (pid <pid>), 1 session
            ✓ socket    ~/fd/run/daemon.sock is private
            ✓ store     1 event, <n> MB
            – client    no `claude` on PATH and no running session: assumed Claude Code 2.1.325. An older one may complain about event names it does not know; run `flightdeck hooks repair` once `claude` is on PATH
            ✓ hooks     30 events in ~/claude/settings.json
            – line      the status line does not tell us (flightdeck hooks install --statusline)
            ✓ spool     empty
            ✓ log       ~/fd/state/flightdeck.log
        "#]],
    );

    // Another tool removed one of our handlers.
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(home.settings()).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("Stop");
    fs::write(home.settings(), settings.to_string()).unwrap();
    let said = home.run(&["doctor", "--json"]);
    assert_eq!(said.code, 1);
    let findings: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let ill: Vec<_> = findings.iter().filter(|f| f["ok"] == false).collect();
    assert_eq!(ill.len(), 1, "{ill:?}");
    assert_eq!(
        (&ill[0]["says"], &ill[0]["fix"]),
        (
            &json!("~/claude/settings.json lacks 1 hook, and 0 are out of date"),
            &json!("run `flightdeck hooks repair`")
        )
    );
    home.run(&["hooks", "repair"]).success();
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn doctor_reports_invalid_spool_files_and_another_home() {
    let home = test_home();
    home.daemon().stop();
    home.hook(r#"{"session_id": "s", "hook_event_name": "Stop"}"#);
    let spooled = flightdeck::ingest::spool::list(&home.paths().spool()).unwrap();
    fs::write(&spooled[0].path, "no event").unwrap();
    let mut install = home.flightdeck(&["hooks", "install"]);
    assert!(install.env("FLIGHTDECK_HOME", home.path().join("second")).output().unwrap().status.success());
    let _daemon = home.daemon();
    let said = home.run(&["doctor"]).out;
    assert!(said.contains("1 file in ~/fd/spool/rejected could not be read as an event"), "{said}");
    assert!(said.contains("registered for another Flightdeck home, ~/second"), "{said}");
    // A daemon with --no-hooks has no hooks to repair.
    let said = home.run(&["status"]).success();
    assert!(said.contains("\nhooks     none for this home\n") && !said.contains("to mend"), "{said}");
}

#[test]
fn an_error_in_the_settings_is_reported_once_with_its_fix() {
    let home = test_home();
    fs::create_dir_all(&home.paths().home).unwrap();
    fs::write(&home.paths().config, "port = =\n").unwrap();
    fs::write(home.settings(), "{,}").unwrap();
    fails(
        home.run(&["up", "--port", "0"]),
        expect![[r#"
        flightdeck: cannot parse ~/fd/config.toml: TOML parse error at line 1, column 8
          |
        1 | port = =
          |        ^
        extra `=`, expected nothing
        correct that line, or move the file away to start with defaults
    "#]],
    );
    // Without a daemon `status` reads the file itself.
    fails(
        home.run(&["status"]),
        expect![[r#"
        flightdeck: no daemon is running for ~/fd: start it with `flightdeck`, after its settings are corrected:
        cannot parse ~/fd/config.toml: TOML parse error at line 1, column 8
          |
        1 | port = =
          |        ^
        extra `=`, expected nothing
        correct that line, or move the file away to start with defaults
    "#]],
    );
    let said = home.run(&["doctor"]);
    let lines = said.out.lines().filter(|l| !l.starts_with("✓ "));
    reads(
        &lines.map(|l| format!("{l}\n")).collect::<String>(),
        expect![[r#"
        ✗ config    cannot parse ~/fd/config.toml: TOML parse error at line 1, column 8
                      |
                    1 | port = =
                      |        ^
                    extra `=`, expected nothing
                    to mend: correct that line, or move the file away to start with defaults
        ✗ daemon    no daemon is running for ~/fd
                    to mend: start it with `flightdeck`
        – store     unknown: only the daemon can read it
        ✗ hooks     ~/claude/settings.json, line 1, column 2: this is not JSON (key must be a string). Claude Code reads strict JSON only and ignores the whole file; correct it, then run this again
                    to mend: correct the file that is named here
    "#]],
    );
}
