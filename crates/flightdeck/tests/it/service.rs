//! `flightdeck service` with a systemctl that records its calls, and `flightdeck man`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flightdeck_e2e::testkit::TestHome;
use serde_json::{Value, json};

use crate::home::test_home;

/// A systemctl for one unit. It records what changes something, and starts and stops the daemon of the unit with the environment of
/// the unit alone. It fails if `broken` exists; with `exits` the daemon ends at once.
const SYSTEMCTL: &str = r#"#!/bin/sh
case "$2" in is-active|show) ;; *) echo "$@" >> calls ;; esac
if [ -e broken ]; then echo 'no bus' >&2; exit 1; fi
unit="$HOME/.config/systemd/user/flightdeck.service"
case "$2" in
restart)
  start=$(sed -n 's/^ExecStart=//p' "$unit")
  if [ -e exits ]; then start=true; fi
  env -i HOME="$HOME" PATH="$PATH" $(sed -n 's/^Environment=//p' "$unit") $start --no-hooks --port 0 > /dev/null 2> started &
  echo $! > pid ;;
is-active) grep -q "^State:[[:space:]]*[^Z]" "/proc/$(cat pid)/status" 2> /dev/null ;;
show) cat pid ;;
disable) if [ -e pid ]; then kill "$(cat pid)" 2> /dev/null; rm pid; fi ;;
esac
exit $?
"#;

/// Ends the daemon that the service started.
struct Started<'a>(&'a TestHome);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        if let Ok(pid) = fs::read_to_string(self.0.path().join("pid")) {
            // The daemon may have ended by itself.
            let _ = std::process::Command::new("kill")
                .arg(pid.trim())
                .stderr(std::process::Stdio::null())
                .status();
        }
    }
}

fn run(home: &TestHome, args: &[&str]) -> (i32, String, String) {
    run_with(home, args, &[])
}

fn run_with(home: &TestHome, args: &[&str], env: &[(&str, &str)]) -> (i32, String, String) {
    let programs = home.path().join("bin");
    if !programs.exists() {
        fs::create_dir(&programs).unwrap();
        fs::write(programs.join("systemctl"), SYSTEMCTL).unwrap();
        fs::set_permissions(programs.join("systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = home.flightdeck(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let output = command.envs(env.iter().copied()).output().unwrap();
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
    let _started = Started(&home);
    let unit = home.person().join(".config/systemd/user/flightdeck.service");
    let (code, out, err) = run(&home, &["service", "install"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let status = home.run(&["status", "--json"]).json();
    let answers = format!("pid {}, {}", status["pid"], status["url"].as_str().unwrap());
    assert_eq!(
        out,
        format!(
            "~/person/.config/systemd/user/flightdeck.service runs now ({answers}) and from every login on.\n"
        )
    );
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
        (1, "~/person/.config/systemd/user/flightdeck.service: not installed, not running\n")
    );
    assert_eq!(run(&home, &["service", "uninstall"]).1, "The service is not installed.\n");
}

#[test]
fn what_is_there_after_an_install_and_an_uninstall_is_printed_as_json() {
    let home = test_home();
    let _started = Started(&home);
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
fn a_daemon_that_ends_at_once_is_an_error() {
    let home = test_home();
    fs::write(home.path().join("exits"), "").unwrap();
    let (code, out, err) = run(&home, &["service", "install"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("its daemon ended after the start") && err.contains("journalctl --user"), "{err}");
}

#[test]
fn a_daemon_that_runs_already_is_named() {
    let home = test_home();
    let _started = Started(&home);
    let other = home.daemon();
    let (code, out, err) = run(&home, &["service", "install"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    let named = format!("another daemon uses this home already (pid {},", other.pid());
    assert!(err.contains(&named), "{err}");
}

#[test]
fn the_daemon_of_the_service_has_the_folders_of_the_person() {
    let home = test_home();
    let _started = Started(&home);
    let data = home.path().join("data").display().to_string();
    let own = home.person().join(".config").display().to_string();
    let env =
        [("XDG_DATA_HOME", data.as_str()), ("XDG_CONFIG_HOME", own.as_str()), ("XDG_STATE_HOME", "relative")];
    let (code, _, err) = run_with(&home, &["service", "install"], &env);
    assert_eq!((code, err.as_str()), (0, ""));
    let unit = fs::read_to_string(home.person().join(".config/systemd/user/flightdeck.service")).unwrap();
    let set: Vec<&str> = unit.lines().filter(|line| line.starts_with("Environment=")).collect();
    let claude = format!("Environment=CLAUDE_CONFIG_DIR={}", home.claude().display());
    let expected = [claude, format!("Environment=XDG_DATA_HOME={data}")];
    assert_eq!(set, expected, "what is as usual is left out");
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
