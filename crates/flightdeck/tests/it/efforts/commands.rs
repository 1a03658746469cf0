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

/// A daemon, a directory, and the commands that are run in it.
struct Shell {
    home: flightdeck_e2e::testkit::TestHome,
    dir: tempfile::TempDir,
}

impl Shell {
    fn new() -> Self {
        Self { home: test_home(), dir: tempfile::tempdir().unwrap() }
    }

    fn output(&self, args: &[&str], env: &[(&str, &str)]) -> std::process::Output {
        let mut command = self.home.flightdeck(args);
        command.current_dir(self.dir.path()).envs(env.iter().copied()).stdin(Stdio::null()).output().unwrap()
    }

    fn run(&self, args: &[&str]) -> String {
        self.run_with(args, &[])
    }

    fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> String {
        let output = self.output(args, env);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(args)).unwrap()
    }
}

#[test]
fn a_text_may_begin_with_a_hyphen_and_options_after_it_are_options() {
    let shell = Shell::new();
    let daemon = shell.home.up(&["--no-hooks"]);
    shell.run(&["effort", "start", "fix", "--title", "- a list"]);
    let home = shell.home.flightdeck_home();
    let home = home.to_str().unwrap();
    for (args, text) in [
        (vec!["- nine rules moved"], "- nine rules moved"),
        (vec!["--done with it", "--json"], "--done with it"),
        (vec!["--json", "-h is short"], "-h is short"),
        (vec!["-x", "and", "more", "--json", "--home", home], "-x and more"),
        (vec!["--json", "--", "--json"], "--json"),
    ] {
        let printed = shell.run(&[vec!["effort", "log", "."], args.clone()].concat());
        assert_eq!(printed.starts_with('{'), args.contains(&"--json"), "{args:?}: {printed}");
        let shown = shell.json(&["effort", "show", ".", "--json"]);
        assert_eq!(shown["log"].as_array().unwrap().last().unwrap()["text"], text, "{args:?}");
    }
    let phase = shell.json(&["effort", "phase", ".", "- 2", "--proof", "- a", "--json"]);
    assert_eq!([&phase["phase"], &phase["phases"][0]["proof"]], ["- 2", "- a"]);
    shell.run(&["effort", "inject", ".", "- the key moved"]);
    let rule = [
        "guard",
        "add",
        ".",
        "--id",
        "force",
        "--field",
        "/tool_input/command",
        "--op",
        "contains",
        "--value",
        "--force",
        "--then",
        "deny",
        "--message",
        "- no",
        "--json",
    ];
    let rules = shell.json(&rule);
    assert_eq!([&rules[0]["when"]["value"], &rules[0]["message"]], ["--force", "- no"]);
    let forgotten = shell.output(&["effort", "phase", ".", "3", "--proof", "--json"], &[]);
    assert_eq!(forgotten.status.code(), Some(2));
    daemon.stop();
}

#[test]
fn every_change_of_an_effort_can_be_printed_as_json() {
    let shell = Shell::new();
    let daemon = shell.home.up(&["--no-hooks"]);
    let started = shell.json(&["effort", "start", "fix", "--json"]);
    let id = started["id"].as_str().unwrap();
    for args in [
        vec!["phase", ".", "2", "--json"],
        vec!["log", ".", "entry", "--json"],
        vec!["inject", ".", "text", "--json"],
    ] {
        assert_eq!(shell.json(&[vec!["effort"], args].concat())["id"], id);
    }
    let mut child = shell
        .home
        .flightdeck(&["effort", "dehydrate", ".", "--json", "--session", "s"])
        .current_dir(shell.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"where it stands").unwrap();
    let dehydrated: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(dehydrated["handoff"]["payload"], "where it stands");
    let when = ["--field", "/x", "--op", "exists", "--then", "deny"];
    for rule in ["a", "b"] {
        shell.run(&[vec!["guard", "add", ".", "--id", rule], when.to_vec()].concat());
    }
    let left = shell.json(&["guard", "remove", ".", "a", "--json"]);
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["id"], "b");
    assert_eq!(shell.json(&["effort", "finish", ".", "--json"])["lifecycle"], "finished");
    daemon.stop();
}

#[test]
fn a_dot_names_the_effort_that_a_session_of_this_directory_works_on() {
    let shell = Shell::new();
    let daemon = shell.home.up(&["--no-hooks"]);
    let start = |args: &[&str], env: &[(&str, &str)]| -> String {
        let started = shell.run_with(&[&["effort", "start", "fix", "--json"], args].concat(), env);
        serde_json::from_str::<Value>(&started).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let here = |env: &[(&str, &str)]| -> String {
        let shown = shell.run_with(&["effort", "show", ".", "--json"], env);
        serde_json::from_str::<Value>(&shown).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let seated = start(&["--seat", "backend"], &[]);
    let refused = shell.output(&["effort", "log", ".", "x"], &[]);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && why.contains(&seated) && why.contains("backend"), "{why}");
    let unclaimed = start(&[], &[]);
    start(&["--seat", "tests"], &[]);
    assert_eq!(here(&[]), unclaimed, "a newer effort of another seat does not count");
    let backend = [("AGENT_ID", "backend")];
    assert_eq!(here(&backend), seated);
    let elsewhere = tempfile::tempdir().unwrap();
    let newer = start(&["--dir", elsewhere.path().to_str().unwrap()], &backend);
    assert_eq!(here(&backend), newer, "the newest of the seat, wherever it is");
    assert_eq!(shell.output(&["effort", "show", "."], &[("AGENT_ID", "other")]).status.code(), Some(1));
    daemon.stop();
}

/// Each command of hooks.* with arguments that the daemon understands.
fn hook_calls() -> Vec<(String, String)> {
    let home = test_home();
    let list: Value = serde_json::from_str(&home.run(&["rpc", "--list", "--json"]).success()).unwrap();
    let commands = list.as_array().unwrap().iter();
    let calls =
        commands.map(|known| (known["command"].as_str().unwrap().to_owned(), known["example"].to_string()));
    calls.filter(|(command, _)| command.starts_with("hooks.")).collect()
}

/// Runs each command of hooks.*; the agent must be able to go on at once.
fn hooks_fail_open(home: &flightdeck_e2e::testkit::TestHome) {
    /// A machine that is busy may stop the command meanwhile. A command that waits for the daemon is late each time.
    const TRIES: usize = 10;
    /// Time to start the command, and the 50 ms.
    const DONE_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);
    for (command, arguments) in hook_calls() {
        let mut shortest = std::time::Duration::MAX;
        for _ in 0..TRIES {
            let begun = std::time::Instant::now();
            let output = home.run(&["rpc", &command, &arguments]);
            shortest = shortest.min(begun.elapsed());
            let reply: Value = serde_json::from_str(&output.success()).unwrap();
            assert_eq!(reply, flightdeck_protocol::fail_open_reply(&command).unwrap(), "{command}");
            if shortest < DONE_WITHIN {
                break;
            }
        }
        assert!(shortest < DONE_WITHIN, "{command}: {shortest:?}");
    }
}

#[test]
fn a_hook_of_a_script_goes_on_if_no_daemon_runs_or_it_does_not_answer() {
    let home = test_home();
    hooks_fail_open(&home);
    let socket = home.paths().socket();
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let _mute = std::os::unix::net::UnixListener::bind(socket).unwrap();
    hooks_fail_open(&home);
    assert_eq!(home.run(&["rpc", "hooks.stop", "no JSON"]).code, 1, "a mistake of the script is an error");
}

#[test]
fn a_hook_of_a_script_is_answered_by_the_daemon_and_its_mistakes_are_errors() {
    let home = test_home();
    let daemon = home.up(&["--no-hooks"]);
    let dir = tempfile::tempdir().unwrap();
    let started = home.run(&["effort", "start", "fix", "--dir", dir.path().to_str().unwrap(), "--json"]);
    let id = serde_json::from_str::<Value>(&started.success()).unwrap()["id"].clone();
    let start = serde_json::json!({"sessionId": "s", "transcriptPath": "/t", "cwd": dir.path(),
        "hookEventName": "SessionStart", "source": "startup"});
    // On a busy machine the daemon may need longer than the command waits.
    let found = flightdeck_e2e::testkit::until("the daemon answers in time", || {
        let reply = home.run(&["rpc", "hooks.sessionStart", &start.to_string()]).success();
        let reply: Value = serde_json::from_str(&reply).unwrap();
        (reply["found"] == true).then_some(reply)
    });
    assert_eq!(found["effortId"], id);
    let compacts = serde_json::json!({"sessionId": "s", "transcriptPath": "/t", "cwd": dir.path(),
        "hookEventName": "PreCompact", "trigger": "auto"});
    let reply = home.run(&["rpc", "hooks.preCompact", &compacts.to_string()]).success();
    assert!(reply.contains("\"action\":\"none\""), "no supervisor: {reply}");
    let wrong = home.run(&["rpc", "hooks.sessionStart", "{\"sessionId\": \"s\"}"]);
    assert!(wrong.code == 1 && wrong.err.contains("transcriptPath"), "{wrong:?}");
    daemon.stop();
}
