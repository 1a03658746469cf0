//! The commands in settings.json deliver events to the board in every environment that a client may be started in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::home::{test_home, test_home_named};
use flightdeck_e2e::testkit::{PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use flightdeck_sim::programs;
use serde_json::{Value, json};

/// The commands that `hooks print --json` tells a person to register, by event. `print` has the person's environment.
fn registered(mut print: Command) -> Vec<(String, String)> {
    let output = print.args(["hooks", "print", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hooks = printed["hooks"].as_object().unwrap_or_else(|| panic!("{printed}"));
    let command = |groups: &Value| groups[0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    hooks.iter().map(|(event, groups)| (event.clone(), command(groups))).collect()
}

/// Runs every registered command as the client does, in the client's environment. The held hook gets its answer.
fn fire_all(home: &TestHome, daemon: &TestDaemon, commands: &[(String, String)]) {
    for (event, command) in commands {
        let mut shell = home.bare(Path::new("/bin/sh"));
        shell.args(["-c", command]).env("CLAUDE_PROJECT_DIR", "/w/api").env("CLAUDE_CODE_ENTRYPOINT", "cli");
        let payload =
            json!({"session_id": "s", "hook_event_name": event, "cwd": "/w/api", "transcript_path": "/t"});
        if event == "PermissionRequest" {
            answered(shell, &payload, daemon);
        } else {
            run_hook(&mut shell, &payload.to_string());
        }
    }
}

fn answered(mut hook: Command, payload: &Value, daemon: &TestDaemon) {
    let (stdin, _) = programs::stdin_with(payload.to_string().into()).unwrap();
    let child = hook.stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let open = || daemon.card("s")["asks"][0]["id"].as_str().map(str::to_owned);
    let ask = until("the ask", open);
    let said = daemon.post(&format!("/api/asks/{ask}/answer"), r#"{"decision":"allow"}"#);
    assert_eq!(said.status, 200, "{}", said.text());
    let output = child.wait_with_output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

fn arrived(daemon: &TestDaemon) -> Vec<String> {
    let page = daemon.get("/api/sessions/s/events?limit=1000").json();
    page["events"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect()
}

fn check(home: &TestHome, daemon: &TestDaemon, commands: &[(String, String)]) {
    assert!(commands.len() > 20);
    fire_all(home, daemon, commands);
    let names = commands.iter().map(|(event, _)| event.clone()).chain(["answered".to_owned()]);
    let names: Vec<_> = names.collect();
    // A hook without an acknowledgement in time spools. Its event arrives later, so the order may differ.
    let mut came =
        until("every event has arrived", || Some(arrived(daemon)).filter(|a| a.len() >= names.len()));
    came.sort();
    let mut names = names;
    names.sort();
    assert_eq!(came, names);
}

#[test]
fn a_daemon_under_a_flightdeck_home_gets_every_event() {
    let home = test_home();
    let daemon = home.daemon();
    check(&home, &daemon, &registered(home.flightdeck(&[])));
    assert_eq!(daemon.card("s")["project"]["path"], "/w/api");
}

#[test]
fn a_daemon_with_a_runtime_folder_gets_every_event_of_clients_that_have_none() {
    let home = test_home();
    let runtime = home.path().join("run-user-1000");
    fs::create_dir(&runtime).unwrap();
    let flightdeck = || {
        let mut command = home.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
        command.env("XDG_RUNTIME_DIR", &runtime);
        command
    };
    let mut up = flightdeck();
    up.args(["up", "--no-hooks", "--port", "0"]);
    let daemon = home.start(up);
    assert!(runtime.join("flightdeck/daemon.sock").exists());
    check(&home, &daemon, &registered(flightdeck()));
}

#[test]
fn a_daemon_in_a_home_too_long_for_a_socket_gets_every_event() {
    let home = test_home_named(&format!("a home with spaces, 'quotes' and ü {}", "x".repeat(100)));
    let daemon = home.daemon();
    let socket = home.paths().socket();
    assert!(!socket.starts_with(home.path()) && socket.exists());
    check(&home, &daemon, &registered(home.flightdeck(&[])));
    daemon.stop();
    assert!(!socket.exists());
    // Only another daemon of this home would use the folder again.
    fs::remove_dir(socket.parent().unwrap()).unwrap();
}

#[test]
fn the_home_may_come_before_the_command() {
    let home = test_home();
    let daemon = home.daemon();
    let payload = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
    for before in [vec!["--home".into(), home.paths().home], vec![join("--home=", &home.paths().home)]] {
        let mut hook = home.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
        hook.args(before).args(PATIENT_HOOK);
        run_hook(&mut hook, payload);
    }
    assert_eq!(arrived(&daemon), ["Stop", "Stop"]);
}

fn join(flag: &str, path: &Path) -> PathBuf {
    let mut text = std::ffi::OsString::from(flag);
    text.push(path);
    text.into()
}
