//! `flightdeck service` with a systemctl that records its calls, and `flightdeck man`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flightdeck_e2e::testkit::TestHome;
use serde_json::{Value, json};

use crate::home::test_home;

/// Runs the command with a systemctl that writes its arguments to `calls`, and fails if `broken` exists.
fn run(home: &TestHome, args: &[&str]) -> (i32, String, String) {
    let programs = home.path().join("bin");
    if !programs.exists() {
        fs::create_dir(&programs).unwrap();
        let script =
            "#!/bin/sh\necho \"$@\" >> calls\nif [ -e broken ]; then echo 'no bus' >&2; exit 1; fi\n";
        fs::write(programs.join("systemctl"), script).unwrap();
        fs::set_permissions(programs.join("systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = home.flightdeck(args);
    let output = command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).output().unwrap();
    let text = |bytes: &[u8]| home.with_tilde(&String::from_utf8_lossy(bytes));
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn calls(home: &TestHome) -> String {
    let path = home.path().join("calls");
    let told = fs::read_to_string(&path).unwrap_or_default();
    // The next call starts a new list.
    let _ = fs::remove_file(path);
    told
}

#[test]
fn the_service_is_installed_started_and_removed() {
    let home = test_home();
    let unit = home.person().join(".config/systemd/user/flightdeck.service");
    let (code, out, err) = run(&home, &["service", "install"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "~/person/.config/systemd/user/flightdeck.service runs now and from every login on.\n");
    assert_eq!(
        calls(&home),
        "--user daemon-reload\n--user enable flightdeck.service\n--user restart flightdeck.service\n"
    );
    let text = fs::read_to_string(&unit).unwrap();
    let start = format!(
        "ExecStart={} --home {} up\n",
        env!("CARGO_BIN_EXE_flightdeck"),
        home.flightdeck_home().display()
    );
    assert!(text.contains(&start), "{text}");
    let (code, out, _) = run(&home, &["service", "status", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &status["running"], &status["manager"]), (0, &true.into(), &"systemd".into()));
    calls(&home);
    assert_eq!(run(&home, &["service", "uninstall"]).0, 0);
    assert_eq!(calls(&home), "--user disable --now flightdeck.service\n--user daemon-reload\n");
    assert!(!unit.exists());
    let (code, out, _) = run(&home, &["service", "status"]);
    assert_eq!(
        (code, out.as_str()),
        (1, "~/person/.config/systemd/user/flightdeck.service: not installed, running\n")
    );
    assert_eq!(run(&home, &["service", "uninstall"]).1, "The service is not installed.\n");
}

#[test]
fn what_is_there_after_an_install_and_an_uninstall_is_printed_as_json() {
    let home = test_home();
    let file = "~/person/.config/systemd/user/flightdeck.service";
    for (command, installed) in
        [("install", true), ("status", true), ("uninstall", false), ("uninstall", false)]
    {
        let (code, out, err) = run(&home, &["service", command, "--json"]);
        assert_eq!((code, err.as_str()), (0, ""), "{command}");
        let said: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(said["installed"], installed, "{command}: {said}");
        assert_eq!((&said["file"], &said["manager"]), (&json!(file), &json!("systemd")), "{said}");
    }
}

#[test]
fn a_complaint_of_systemd_is_shown() {
    let home = test_home();
    fs::write(home.path().join("broken"), "").unwrap();
    let (code, _, err) = run(&home, &["service", "install"]);
    assert_eq!(code, 1);
    assert_eq!(err, "flightdeck: the service is written, but could not be started: no bus\n");
    let (code, _, err) = run(&home, &["service", "uninstall"]);
    assert!(code == 1 && err.contains("no bus"), "{err}");
    assert!(!home.person().join(".config/systemd/user/flightdeck.service").exists());
}

#[test]
fn each_command_has_a_manual_page() {
    let home = test_home();
    let page = home.run(&["man"]).success();
    assert!(page.contains(".TH flightdeck 1") && page.contains("Mission control"), "{page}");
    home.run(&["man", "--dir", "pages"]).success();
    let pages = home.path().join("pages");
    for (name, text) in [
        ("flightdeck", "flightdeck\\-wait(1)"),
        ("flightdeck-wait", "3 timed out"),
        ("flightdeck-tmux-install", "popup"),
    ] {
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(text), "{name}: {page}");
    }
    assert!(!pages.join("flightdeck-tmux-checked.1").exists(), "tmux runs it, not a person");
}
