//! `up` registers its hooks while it runs and restores the settings when it stops.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::home::test_home;
use flightdeck::process;
use flightdeck_e2e::testkit::{TestHome, until};
use rustix::process::Signal;

/// Another tool's hooks, an odd order, odd spaces, no newline at the end.
const THEIRS: &str = "{\n\t\"model\":   \"opus\",\n\t\"hooks\": {\"Stop\": [{\"hooks\": [ {\"type\":\"command\", \"command\":\"say done\"}]}]},\n\t\"a\":[1,2 ]\n}";

fn with_settings(bytes: &str) -> TestHome {
    let home = test_home();
    fs::write(home.settings(), bytes).unwrap();
    home
}

fn settings(home: &TestHome) -> String {
    fs::read_to_string(home.settings()).unwrap()
}

fn ours(home: &TestHome) -> usize {
    settings(home).matches("# flightdeck-hook").count()
}

/// `up` that ends when its terminal closes, also if the tests themselves run under nohup.
fn hearing_of_its_terminal(home: &TestHome) -> Command {
    let up = home.flightdeck(&["up", "--port", "0"]);
    if !(cfg!(target_os = "linux") && process::outlives_its_terminal()) {
        return up;
    }
    let mut command = home.bare(Path::new("/usr/bin/env"));
    command.arg("--default-signal=HUP").arg(up.get_program()).args(up.get_args());
    command.env("FLIGHTDECK_HOME", home.paths().home);
    command
}

#[test]
fn a_stop_and_a_closed_terminal_remove_exactly_the_hooks_of_up() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = with_settings(THEIRS);
        let daemon = home.start(hearing_of_its_terminal(&home));
        assert!(ours(&home) > 20);
        let status = daemon.get("/hook/status").json();
        assert_eq!((&status["missing"], &status["drift"]), (&serde_json::json!([]), &false.into()));
        assert!(daemon.stop_with(signal).success());
        assert_eq!(settings(&home), THEIRS);
        assert!(!home.paths().socket().exists() && !home.paths().daemon_file().exists());
    }
}

#[test]
fn a_daemon_under_nohup_outlives_its_terminal() {
    let home = test_home();
    let mut command = home.bare(Path::new("/bin/sh"));
    command.env("FLIGHTDECK_HOME", home.paths().home);
    command.args(["-c", "trap '' HUP; exec \"$0\" up --port 0", env!("CARGO_BIN_EXE_flightdeck")]);
    let daemon = home.start(command);
    daemon.signal(Signal::HUP);
    // If the signal had ended it, it would have removed its hooks first and then stopped replying.
    (0..50).for_each(|_| assert_eq!(daemon.get("/healthz").status, 200));
    assert!(ours(&home) > 20);
    assert!(daemon.stop().success());
}

/// Waits for its end; returns the exit status and stderr.
fn up_into(stdout: impl Into<Stdio>, home: &TestHome) -> (bool, String) {
    let mut command = home.flightdeck(&["up", "--port", "0"]);
    let errors = home.path().join("stderr");
    let mut child = command.stdout(stdout).stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    let ended = until("the daemon has ended", || child.try_wait().unwrap());
    (ended.success(), fs::read_to_string(errors).unwrap())
}

#[test]
fn up_that_cannot_print_its_address_removes_its_hooks() {
    let home = with_settings(THEIRS);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(up_into(writer, &home), (true, String::new()));
    assert_eq!(settings(&home), THEIRS);
    assert!(!home.paths().socket().exists() && !home.paths().daemon_file().exists());
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (well, complaint) = up_into(full, &home);
        assert!(!well && complaint.contains("cannot print the address of the board"), "{complaint}");
        assert_eq!(settings(&home), THEIRS);
    }
}

#[test]
fn a_settings_file_that_up_created_is_removed_again() {
    let home = test_home();
    let daemon = home.up(&[]);
    assert!(ours(&home) > 20);
    daemon.stop();
    assert!(!home.settings().exists());
}

#[test]
fn permanently_installed_hooks_survive_a_stop() {
    let home = with_settings(THEIRS);
    home.run(&["hooks", "install"]).success();
    let installed = settings(&home);
    let daemon = home.up(&[]);
    assert_eq!(settings(&home), installed);
    daemon.stop();
    assert_eq!(settings(&home), installed);
    home.run(&["hooks", "uninstall"]).success();
    assert_eq!(settings(&home), THEIRS);
}

#[test]
fn no_hooks_changes_no_settings() {
    let home = with_settings(THEIRS);
    let daemon = home.up(&["--no-hooks"]);
    assert_eq!(settings(&home), THEIRS);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["wanted"], &status["fix"]), (&false.into(), &serde_json::Value::Null));
    daemon.stop();
    assert_eq!(settings(&home), THEIRS);
    let names: Vec<_> = fs::read_dir(home.claude()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.json"]);
}

#[test]
fn permanently_installed_hooks_are_checked_with_no_hooks_too() {
    let home = with_settings(THEIRS);
    home.run(&["hooks", "install"]).success();
    let daemon = home.up(&["--no-hooks"]);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["wanted"], &status["drift"]), (&true.into(), &false.into()));
    fs::write(home.settings(), settings(&home).replacen("# flightdeck-hook", "# another tool", 1)).unwrap();
    let status = daemon.get("/hook/status").json();
    // This home has no PATH with our binary.
    let whole = format!("{} hooks repair", env!("CARGO_BIN_EXE_flightdeck"));
    assert_eq!((&status["drift"], &status["fix"]), (&true.into(), &whole.into()));
}

#[test]
fn hooks_left_by_a_killed_daemon_are_cleaned_up_by_the_next() {
    let home = with_settings(THEIRS);
    home.up(&[]).kill();
    assert!(ours(&home) > 20);
    let left = settings(&home);
    let daemon = home.up(&[]);
    assert_eq!(settings(&home), left);
    daemon.stop();
    assert_eq!(settings(&home), THEIRS);
}

#[test]
fn unreadable_settings_are_left_alone_and_reported() {
    let broken = "{ \"hooks\": , }";
    let home = with_settings(broken);
    let daemon = home.up(&[]);
    assert!(daemon.stderr().contains("The hooks are not registered: "), "{}", daemon.stderr());
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(daemon.get("/hook/status").json()["problem"].is_string());
    daemon.stop();
    assert_eq!(settings(&home), broken);
}

#[test]
fn up_leaves_an_http_install_unchanged_and_reports_no_problem() {
    let home = with_settings(THEIRS);
    // The port is part of the handlers, so the daemon must use it. It is below the range that the system assigns by itself.
    let mut low = 20_000 + std::process::id() as u16 % 10_000..;
    let free = low.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap();
    home.run(&["hooks", "install", "--via", "http", "--port", &free.to_string()]).success();
    let installed = settings(&home);
    let daemon = home.start(home.flightdeck(&["up"]));
    assert_eq!(daemon.addr.port(), free);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["via"], &status["drift"]), (&"http".into(), &false.into()), "{status}");
    daemon.stop();
    assert_eq!(settings(&home), installed);
}

#[test]
fn a_damaged_permanent_install_is_reported_and_not_rewritten() {
    let home = with_settings("{}");
    home.run(&["hooks", "install"]).success();
    let damaged = settings(&home).replace("\"timeout\": 5", "\"timeout\": 6");
    fs::write(home.settings(), &damaged).unwrap();
    let daemon = home.up(&[]);
    assert!(daemon.stderr().contains("run `flightdeck hooks repair`"), "{}", daemon.stderr());
    daemon.stop();
    assert_eq!(settings(&home), damaged);
}

#[test]
fn a_second_home_leaves_the_hooks_of_the_first_alone() {
    let home = with_settings(THEIRS);
    let first = home.up(&[]);
    let registered = settings(&home);
    let mut command = home.flightdeck(&["up", "--port", "0"]);
    command.env("FLIGHTDECK_HOME", home.path().join("second"));
    let second = home.start(command);
    assert!(second.stderr().contains("another Flightdeck home, "), "{}", second.stderr());
    assert!(
        second.get("/hook/status").json()["problem"].as_str().unwrap().contains("another Flightdeck home")
    );
    second.stop();
    assert_eq!(settings(&home), registered);
    first.stop();
    assert_eq!(settings(&home), THEIRS);
}

#[test]
fn a_stop_leaves_hooks_that_another_home_took_over() {
    for more in [&[][..], &["--statusline"]] {
        let home = with_settings(THEIRS);
        let first = home.up(&[]);
        let mut install = home.flightdeck(&["hooks", "install"]);
        install.args(more).env("FLIGHTDECK_HOME", home.path().join("second"));
        assert!(install.output().unwrap().status.success());
        let taken = settings(&home);
        assert!(taken.contains("second"));
        assert_eq!(taken.contains("# flightdeck-statusline"), !more.is_empty());
        first.stop();
        assert_eq!(settings(&home), taken);
    }
}

/// The hooks that claude-view writes for two events, for a daemon at this port.
fn claude_view(port: &str) -> String {
    let command = format!(
        "curl -s -X POST http://localhost:{port}/api/live/hook -H 'Content-Type: application/json' --data-binary @- \
         2>/dev/null || true # claude-view-hook"
    );
    let group = serde_json::json!([{"hooks": [{"type": "command", "command": command, "statusMessage": "Mission Control"}]}]);
    serde_json::json!({"hooks": {"SessionStart": group, "Stop": group}}).to_string()
}

/// Runs every handler of an event, as the client does.
fn fire(home: &TestHome, event: &str) {
    let root: serde_json::Value = serde_json::from_str(&settings(home)).unwrap();
    let groups = root["hooks"][event].as_array().unwrap();
    for handler in groups.iter().flat_map(|group| group["hooks"].as_array().unwrap()) {
        let mut shell = home.bare(Path::new("/bin/sh"));
        shell.args(["-c", handler["command"].as_str().unwrap()]).env("PATH", "/usr/bin:/bin");
        flightdeck_e2e::testkit::run_hook(
            &mut shell,
            &format!(r#"{{"session_id":"s","hook_event_name":"{event}"}}"#),
        );
    }
}

#[test]
fn with_the_hooks_of_claude_view_events_count_twice_until_they_are_replaced() {
    let home = test_home();
    let daemon = home.daemon();
    let port = daemon.url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    fs::write(home.settings(), claude_view(&port)).unwrap();
    let counted = || daemon.get("/hook/status").json()["by_event"]["Stop"].as_u64().unwrap_or(0);
    let said = home.run(&["hooks", "install", "--port", &port]).success();
    assert!(
        said.contains("2 handlers of claude-view beside ours: every such event is sent to this daemon too"),
        "{said}"
    );
    let doctor = home.run(&["doctor"]).out;
    let finding = "✗ earlier   2 handlers of claude-view beside ours: every such event is sent to this daemon too and stored twice\n";
    assert!(doctor.contains(finding), "{doctor}");
    assert!(doctor.contains("to mend: flightdeck hooks install --replace=claude-view\n"), "{doctor}");
    fire(&home, "Stop");
    assert_eq!(counted(), 2);

    let said = home.run(&["hooks", "install", "--replace"]).success();
    assert!(said.contains("took out 2 handlers of claude-view"), "{said}");
    fire(&home, "Stop");
    assert_eq!(counted(), 3, "one event more");
    assert!(!home.run(&["doctor"]).out.contains("earlier"));
    home.run(&["hooks", "uninstall"]).success();
    assert!(!settings(&home).contains("claude-view"), "they do not come back");
}

/// Settings with the hooks of all four earlier tools, as each of them writes its own.
fn four_tools(port: &str) -> String {
    let mut root: serde_json::Value = serde_json::from_str(&claude_view(port)).unwrap();
    let commands = [
        "/home/dev/.local/bin/atm-hook".to_owned(),
        format!("curl -s -X POST http://localhost:{port}/hook/stop --data-binary @- # notify-headspace.sh"),
        "/home/dev/.claude/hooks/notify-headspace.sh stop".to_owned(),
        "~/.claude/hooks/stop-notify.sh".to_owned(),
        "rpc-cli hooks.stop".to_owned(),
        "touch ~/mine".to_owned(),
    ];
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
        let groups = commands
            .iter()
            .map(|command| serde_json::json!({"hooks": [{"type": "command", "command": command}]}));
        let mut all = root["hooks"][event].as_array().cloned().unwrap_or_default();
        all.extend(groups);
        root["hooks"][event] = all.into();
    }
    root.to_string()
}

#[test]
fn moved_from_all_four_tools_each_event_is_counted_once() {
    let home = test_home();
    let daemon = home.daemon();
    let port = daemon.url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    fs::write(home.settings(), four_tools(&port)).unwrap();
    let doctor = home.run(&["doctor"]).out;
    for tool in ["claude-view", "agent-tmux-monitor", "headspace", "engine"] {
        assert!(doctor.contains(&format!("of {tool} beside ours")), "{tool}: {doctor}");
    }
    home.run(&["hooks", "install", "--replace"]).success();
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    for event in events {
        fire(&home, event);
        let counted = daemon.get("/hook/status").json()["by_event"][event].clone();
        assert_eq!(counted, 1, "{event}");
    }
    assert_eq!(settings(&home).matches("touch ~/mine").count(), events.len(), "other handlers stay");
    assert!(!home.run(&["doctor"]).out.contains("beside ours"));
}
