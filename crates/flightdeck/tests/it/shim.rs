//! From the command that stands in settings.json to the board: whatever environment the client was started in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flightdeck_sim::programs;
use serde_json::{Value, json};

use crate::stage::{Daemon, PATIENT_HOOK, Stage, feed};

/// The commands `hooks print --json` would have a person register, by event. `daemon` is the command that starts the
/// daemon: its environment is the one the person has.
fn registered(mut print: Command) -> Vec<(String, String)> {
    let output = print.args(["hooks", "print", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hooks = printed["hooks"].as_object().unwrap_or_else(|| panic!("{printed}"));
    let command = |groups: &Value| groups[0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    hooks.iter().map(|(event, groups)| (event.clone(), command(groups))).collect()
}

/// Runs every registered command as the client does, in an environment of the client's own. The one that is held gets
/// its answer.
fn fire_all(stage: &Stage, daemon: &Daemon, commands: &[(String, String)]) {
    for (event, command) in commands {
        let mut shell = stage.bare(Path::new("/bin/sh"));
        shell.args(["-c", command]).env("CLAUDE_PROJECT_DIR", "/w/api").env("CLAUDE_CODE_ENTRYPOINT", "cli");
        let payload =
            json!({"session_id": "s", "hook_event_name": event, "cwd": "/w/api", "transcript_path": "/t"});
        if event == "PermissionRequest" {
            answered(shell, &payload, daemon);
        } else {
            feed(&mut shell, &payload.to_string());
        }
    }
}

fn answered(mut hook: Command, payload: &Value, daemon: &Daemon) {
    let (stdin, _) = programs::stdin(payload.to_string().into()).unwrap();
    let child = hook.stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let open = || daemon.card("s")["asks"][0]["id"].as_str().map(str::to_owned);
    let ask = crate::stage::until("the ask", open);
    let said = daemon.post(&format!("/api/asks/{ask}/answer"), r#"{"decision":"allow"}"#);
    assert_eq!(said.status, 200, "{}", said.text());
    let output = child.wait_with_output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

fn arrived(daemon: &Daemon) -> Vec<String> {
    let page = daemon.get("/api/sessions/s/events?limit=1000").json();
    page["events"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect()
}

fn check(stage: &Stage, daemon: &Daemon, commands: &[(String, String)]) {
    assert!(commands.len() > 20);
    fire_all(stage, daemon, commands);
    let names = commands.iter().map(|(event, _)| event.clone()).chain(["answered".to_owned()]);
    let names: Vec<_> = names.collect();
    // A hook that got no answer in time spooled; that arrives a little later, and then the order is another.
    let mut came = crate::stage::until("every event has arrived", || {
        Some(arrived(daemon)).filter(|a| a.len() >= names.len())
    });
    came.sort();
    let mut names = names;
    names.sort();
    assert_eq!(came, names);
}

#[test]
fn a_daemon_under_a_flightdeck_home_gets_every_event() {
    let stage = Stage::new();
    let daemon = stage.daemon();
    check(&stage, &daemon, &registered(stage.flightdeck(&[])));
    assert_eq!(daemon.card("s")["project"]["path"], "/w/api");
}

#[test]
fn a_daemon_with_a_runtime_folder_gets_every_event_of_clients_that_have_none() {
    let stage = Stage::new();
    let runtime = stage.path().join("run-user-1000");
    fs::create_dir(&runtime).unwrap();
    let flightdeck = || {
        let mut command = stage.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
        command.env("XDG_RUNTIME_DIR", &runtime);
        command
    };
    let mut up = flightdeck();
    up.args(["up", "--no-hooks", "--port", "0"]);
    let daemon = Daemon::start(up, &stage);
    assert!(runtime.join("flightdeck/daemon.sock").exists());
    check(&stage, &daemon, &registered(flightdeck()));
}

#[test]
fn a_daemon_in_a_home_too_long_for_a_socket_gets_every_event() {
    let stage = Stage::with_home(&format!("a home with spaces, 'quotes' and ü {}", "x".repeat(100)));
    let daemon = stage.daemon();
    let socket = stage.paths().socket();
    assert!(!socket.starts_with(stage.path()) && socket.exists());
    check(&stage, &daemon, &registered(stage.flightdeck(&[])));
    daemon.stop();
    assert!(!socket.exists());
    // The folder is made anew by the next daemon of this home, of which there is none.
    fs::remove_dir(socket.parent().unwrap()).unwrap();
}

#[test]
fn the_home_may_stand_before_the_command() {
    let stage = Stage::new();
    let daemon = stage.daemon();
    let payload = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
    for before in [vec!["--home".into(), stage.paths().home], vec![join("--home=", &stage.paths().home)]] {
        let mut hook = stage.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
        hook.args(before).args(PATIENT_HOOK);
        feed(&mut hook, payload);
    }
    assert_eq!(arrived(&daemon), ["Stop", "Stop"]);
}

fn join(flag: &str, path: &Path) -> PathBuf {
    let mut text = std::ffi::OsString::from(flag);
    text.push(path);
    text.into()
}
