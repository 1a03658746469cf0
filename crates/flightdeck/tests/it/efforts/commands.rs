//! The commands, on a real daemon.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::home::test_home;

#[test]
fn a_person_starts_an_effort_logs_hands_over_and_finishes_it() {
    let home = test_home();
    let daemon = home.up(&["--no-hooks"]);
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = home.flightdeck(args).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let started = run(&["effort", "start", "implement", "--title", "Split the engine"]);
    assert!(started.contains("Started implement 1 in ") && started.contains("e-"), "{started}");
    let list: Value = serde_json::from_str(&run(&["effort", "list", "--json"])).unwrap();
    let id = list["efforts"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(run(&["effort", "log", ".", "first", "entry"]), "Logged; implement 1 has 1 entry.\n");
    assert_eq!(
        run(&["effort", "phase", &id, "2: Build", "--proof", "ok"]),
        "implement 1 is in phase 2: Build.\n"
    );
    run(&[
        "guard",
        "add",
        ".",
        "--id",
        "no-force",
        "--field",
        "/tool_input/command",
        "--op",
        "contains",
        "--value",
        "push --force",
        "--then",
        "deny",
    ]);
    assert!(run(&["guard", "list", "."]).contains("no-force"));
    assert!(run(&["guard", "test", "."]).contains("0 calls recorded"));
    run(&["guard", "remove", ".", "no-force"]);
    run(&["effort", "inject", ".", "the key moved"]);
    let mut child = home
        .flightdeck(&["effort", "dehydrate", "."])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"where it stands").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let shown = run(&["effort", "show", "."]);
    for part in ["Split the engine", "2: Build", "first entry", "handoff"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let rpc: Value =
        serde_json::from_str(&run(&["rpc", "effort.show", &format!("{{\"id\":\"{id}\"}}")])).unwrap();
    assert_eq!(rpc["handoff"]["payload"], "where it stands");
    assert!(run(&["fleet", "status"]).contains("No seat is occupied"));
    assert_eq!(run(&["effort", "finish", "."]), "implement 1 is finished.\n");
    daemon.stop();
}

#[test]
fn a_refused_command_says_what_to_do() {
    let home = test_home();
    let daemon = home.up(&["--no-hooks"]);
    let dir = tempfile::tempdir().unwrap();
    let refused = |args: &[&str]| {
        let output = home.flightdeck(args).current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["effort", "log", ".", "x"]).contains("flightdeck effort start"));
    assert!(refused(&["effort", "show", "e-1"]).contains("effort list"));
    assert!(refused(&["effort", "dehydrate", "e-1"]).contains("handoff is empty"));
    assert!(refused(&["rpc", "effort.show", "[]"]).contains("JSON object"));
    assert!(refused(&["rpc", "no.such"]).contains("no command"));
    assert!(refused(&["rpc", "effort.show", "{}"]).contains("missing field `id`"));
    daemon.stop();
}

#[test]
fn the_list_of_commands_needs_no_daemon() {
    let home = test_home();
    let list: Value = serde_json::from_str(&home.run(&["rpc", "--list", "--json"]).success()).unwrap();
    let commands: Vec<&str> =
        list.as_array().unwrap().iter().map(|c| c["command"].as_str().unwrap()).collect();
    assert_eq!(commands.iter().filter(|name| name.starts_with("hooks.")).count(), 15);
    for name in
        ["effort.start", "guard.test", "window.finish", "seat.claim", "message.list", "fleet.status", "hook"]
    {
        assert!(commands.contains(&name), "{name}");
    }
}
