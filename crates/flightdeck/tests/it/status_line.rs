//! `flightdeck statusline`: the person's own line is printed unchanged, and the daemon gets the client's data.

use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::home::test_home;
use flightdeck_e2e::testkit::{DEADLINE, TestDaemon, TestHome, until};
use flightdeck_sim::{corpus, programs};
use serde_json::{Value, json};

fn line(usd: f64) -> String {
    json!({"session_id": "s", "model": {"id": "opus", "display_name": "Opus 5.5"},
        "cost": {"total_cost_usd": usd, "total_duration_ms": 559},
        "context_window": {"context_window_size": 1_000_000, "current_usage": {"input_tokens": 152_409}},
        "rate_limits": {"five_hour": {"used_percentage": 41.5, "resets_at": 4_000_000_000_u64}}})
    .to_string()
}

fn given(mut command: Command, input: &[u8]) -> Output {
    // Not every command reads its whole input.
    let (stdin, _) = programs::stdin_with(input.to_vec()).unwrap();
    command.stdin(stdin).output().unwrap()
}

fn status_line(home: &TestHome, own: Option<&str>, input: &[u8]) -> Output {
    let mut command = home.flightdeck(&["statusline"]);
    command.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1").env("MINE", "kept");
    if let Some(own) = own {
        command.args(["--", own]);
    }
    given(command, input)
}

/// Runs the person's own command directly, without Flightdeck.
fn directly(home: &TestHome, own: &str, input: &[u8]) -> Output {
    let mut command = home.bare("/bin/sh".as_ref());
    command.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1").env("MINE", "kept");
    command.env("FLIGHTDECK_HOME", &home.paths().home).args(["-c", own]);
    given(command, input)
}

#[track_caller]
fn printed(output: &Output, expected: &str) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = (output.status.code(), text(&output.stdout), text(&output.stderr));
    assert_eq!(said, (Some(0), expected.to_owned(), String::new()));
}

/// Typical and unusual status line commands.
const OWN: [&str; 9] = [
    "cat",
    "printf '\\033[1;32m%s\\033[0m\\n' \"$MINE\"; printf '\\r\\n\\000\\377'",
    "echo out; echo err >&2; exit 7",
    "read -r first; echo \"${#first}\"",
    "exit 0",
    "no-such-command-at-all",
    "echo 'it'\\''s' \"$0\" $# # a comment",
    "echo a\necho b | tr b c",
    "kill -9 $$",
];

#[track_caller]
fn all_come_out_the_same(home: &TestHome) {
    for input in [line(0.5).as_bytes(), b"", b"{\"torn", b"\xff\xfe not json\n", &vec![b'x'; 1 << 20][..]] {
        for own in OWN {
            assert_eq!(status_line(home, Some(own), input), directly(home, own, input), "{own}");
        }
    }
}

#[test]
fn the_persons_own_line_is_the_same_with_and_without_a_daemon() {
    let home = test_home();
    all_come_out_the_same(&home);
    let _daemon = home.daemon();
    all_come_out_the_same(&home);
}

#[test]
fn a_large_line_reaches_both_the_command_and_the_daemon() {
    let home = test_home();
    let daemon = with_a_session(&home);
    let large = line(0.5).replacen('{', &format!("{{\"novelty\":\"{}\",", "x".repeat(1 << 20)), 1);
    let output = status_line(&home, Some("cat"), large.as_bytes());
    assert!(output.stdout == large.as_bytes());
    card_with_cost(&daemon, 500_000);
}

#[test]
fn without_a_command_a_short_line_is_printed() {
    let home = test_home();
    printed(&status_line(&home, None, line(0.064524).as_bytes()), "Opus 5.5 · 15% context · $0.06\n");
    let mut coloured = home.flightdeck(&["statusline"]);
    coloured.env("NO_COLOR", "");
    assert!(
        String::from_utf8(given(coloured, line(0.5).as_bytes()).stdout).unwrap().contains("\u{1b}[32m15%")
    );
    for garbage in [&b""[..], b"garbage", b"[1]", b"{}", b"\"x\"", &vec![b'['; 1 << 20][..]] {
        printed(&status_line(&home, None, garbage), "");
    }
    assert!(!home.paths().spool().exists(), "only the newest line matters: nothing is spooled");
}

#[test]
fn a_daemon_that_never_replies_does_not_delay_the_line() {
    let home = test_home();
    let socket = home.paths().socket();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(socket.parent().unwrap()).unwrap();
    let at_once = || {
        let began = Instant::now();
        printed(&status_line(&home, Some("echo mine"), line(0.5).as_bytes()), "mine\n");
        printed(&status_line(&home, None, line(0.5).as_bytes()), "Opus 5.5 · 15% context · $0.50\n");
        assert!(began.elapsed() < DEADLINE, "took {:?}", began.elapsed());
    };
    let listener = UnixListener::bind(&socket).unwrap();
    at_once();
    drop(listener);
    at_once();
    std::fs::remove_file(&socket).unwrap();
    let _full = full_backlog(&socket);
    at_once();
}

/// A listener that never accepts, with a full backlog.
fn full_backlog(path: &Path) -> Vec<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};
    let new = || socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    let address = SocketAddrUnix::new(path).unwrap();
    let listener = new();
    bind(&listener, &address).unwrap();
    listen(&listener, 0).unwrap();
    let waiting = std::iter::from_fn(|| {
        let client = new();
        rustix::io::ioctl_fionbio(&client, true).unwrap();
        connect(&client, &address).is_ok().then_some(client)
    });
    let mut all: Vec<OwnedFd> = waiting.collect();
    assert!(!all.is_empty());
    all.push(listener);
    all
}

#[test]
fn a_slow_command_replaces_our_process_so_that_killing_it_leaves_nothing_behind() {
    let home = test_home();
    let mut command = home.flightdeck(&["statusline", "--", "echo $$; exec sleep 60"]);
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut first)
        .unwrap();
    assert_eq!(first.trim(), child.id().to_string());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

fn with_a_session(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    home.hook(r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup","cwd":"/w/api"}"#);
    daemon
}

#[track_caller]
fn card_with_cost(daemon: &TestDaemon, micros: u64) -> Value {
    until("the card has the cost", || {
        Some(daemon.card("s")).filter(|card| card["cost"]["client_usd_micros"] == micros)
    })
}

#[test]
fn card_and_fleet_show_the_data_of_the_line_also_after_a_restart() {
    let home = test_home();
    let daemon = with_a_session(&home);
    status_line(&home, Some("cat"), line(0.064524).as_bytes());
    let card = card_with_cost(&daemon, 64_524);
    assert_eq!(card["context"], json!({"tokens": 152_409, "window": 1_000_000, "percent": 15.2}));
    assert_eq!(card["model"], "opus");
    let fleet = daemon.get("/api/fleet").json();
    let expected = json!({"rate_limits": {"five_hour": {"percent": 41.5, "resets_at": "2096-10-02T07:06:40.000Z"},
        "seven_day": null}, "sessions": 1, "blocks_or_asks": 0, "needs_you": 1, "running": 0, "done": 0});
    assert_eq!(fleet, expected);
    assert_eq!(home.socket().ask(&json!({"cmd": "fleet"}))["data"], expected);

    daemon.kill();
    let daemon = home.daemon();
    assert_eq!(daemon.card("s")["cost"], card["cost"]);
    assert_eq!(daemon.card("s")["context"], card["context"]);
    let usage = daemon.get("/api/usage?by=hour&since=today").json();
    assert_eq!(usage["rate_limits"], expected["rate_limits"]);
    assert!(
        usage["rows"].as_array().is_some_and(|rows| !rows.is_empty()) && usage["total"]["usd_micros"] == 0
    );
    assert_eq!(daemon.get("/api/usage?by=moon").status, 400);
    let said = String::from_utf8(home.flightdeck(&["usage"]).output().unwrap().stdout).unwrap();
    assert!(said.contains("rate limits: 5 h 42 %"), "{said}");
    assert_eq!(daemon.get("/api/fleet").json(), expected);
    daemon.stop();
    let daemon = home.daemon();
    assert_eq!(daemon.card("s")["context"], card["context"]);
    assert_eq!(daemon.get("/api/fleet").json(), expected);
}

#[test]
fn a_repeated_line_is_not_stored_again() {
    let home = test_home();
    let daemon = with_a_session(&home);
    let mut socket = home.socket();
    let mut calls = 0;
    let mut tell = |usd: f64| {
        calls += 1;
        let mut payload: Value = serde_json::from_str(&line(usd)).unwrap();
        payload["cost"]["total_duration_ms"] = json!(calls);
        socket.ask(&json!({"cmd": "statusline", "args": payload, "env": {}}))["data"]["seq"].clone()
    };
    assert_eq!(
        [tell(0.5), tell(0.5), tell(0.6), tell(0.6)].map(|seq| seq.is_u64()),
        [true, false, true, false]
    );
    assert_eq!(daemon.events_total(), 3);
    let refused = home.socket().ask(&json!({"cmd": "statusline", "args": {}}));
    assert_eq!(refused["error"], "VALIDATION_ERROR");
}

#[test]
fn the_captured_lines_reach_their_card() {
    let home = test_home();
    let daemon = home.daemon();
    let scenario = corpus::scenario("statusline");
    home.hook(&Value::from(scenario.hooks[0].event.clone()).to_string());
    for line in &scenario.status_lines {
        let line = Value::from(line.clone()).to_string();
        printed(&status_line(&home, Some("cat"), line.as_bytes()), &line);
    }
    let id = scenario.hooks[0].session_id();
    let card = until("the last line is on the card", || {
        Some(daemon.card(id)).filter(|card| card["cost"]["client_usd_micros"] == 64_524)
    });
    assert_eq!(card["context"], json!({"tokens": 152_409, "window": 1_000_000, "percent": 15.2}));
    assert_eq!(card["cache"]["expires_at"], "2026-11-15T18:53:37.000Z");
}

#[test]
fn installed_it_runs_as_the_client_runs_it_and_uninstalled_it_is_gone() {
    let home = test_home();
    let theirs = "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"printf 'mine: '; cat; exit 4\", \"padding\": 0}\n}\n";
    std::fs::write(home.settings(), theirs).unwrap();
    home.run(&["hooks", "install", "--statusline"]).success();
    let settings: Value = serde_json::from_slice(&std::fs::read(home.settings()).unwrap()).unwrap();
    let command = settings["statusLine"]["command"].as_str().unwrap().to_owned();
    let daemon = with_a_session(&home);
    let mut shell = home.bare("/bin/sh".as_ref());
    shell.args(["-c", &command]).env("PATH", "/usr/bin:/bin");
    let output = given(shell, line(0.5).as_bytes());
    let said = (output.status.code(), String::from_utf8(output.stdout).unwrap());
    assert_eq!(said, (Some(4), format!("mine: {}", line(0.5))));
    card_with_cost(&daemon, 500_000);
    home.run(&["hooks", "uninstall"]).success();
    assert_eq!(std::fs::read_to_string(home.settings()).unwrap(), theirs);
}
