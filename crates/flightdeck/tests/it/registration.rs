//! `up` registers with Claude Code for as long as it runs and leaves the settings as it found them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use flightdeck::process;
use rustix::process::Signal;

use crate::stage::{Daemon, Stage, until};

/// Another tool's hooks, an odd order, odd spaces, no newline at the end.
const THEIRS: &str = "{\n\t\"model\":   \"opus\",\n\t\"hooks\": {\"Stop\": [{\"hooks\": [ {\"type\":\"command\", \"command\":\"say done\"}]}]},\n\t\"a\":[1,2 ]\n}";

fn with_settings(bytes: &str) -> Stage {
    let stage = Stage::new();
    fs::write(stage.settings(), bytes).unwrap();
    stage
}

fn settings(stage: &Stage) -> String {
    fs::read_to_string(stage.settings()).unwrap()
}

fn ours(stage: &Stage) -> usize {
    settings(stage).matches("# flightdeck-hook").count()
}

/// `up` that a closed terminal ends, also where the stories themselves run under nohup.
fn hearing_of_its_terminal(stage: &Stage) -> Command {
    let up = stage.flightdeck(&["up", "--port", "0"]);
    if !(cfg!(target_os = "linux") && process::outlives_its_terminal()) {
        return up;
    }
    let mut command = stage.bare(Path::new("/usr/bin/env"));
    command.arg("--default-signal=HUP").arg(up.get_program()).args(up.get_args());
    command.env("FLIGHTDECK_HOME", stage.paths().home);
    command
}

#[test]
fn a_stop_and_a_closed_terminal_take_out_exactly_what_up_put_in() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let stage = with_settings(THEIRS);
        let daemon = Daemon::start(hearing_of_its_terminal(&stage), &stage);
        assert!(ours(&stage) > 20);
        let status = daemon.get("/hook/status").json();
        assert_eq!((&status["missing"], &status["drift"]), (&serde_json::json!([]), &false.into()));
        assert!(daemon.stop_with(signal).success());
        assert_eq!(settings(&stage), THEIRS);
        assert!(!stage.paths().socket().exists() && !stage.paths().daemon_file().exists());
    }
}

#[test]
fn a_daemon_under_nohup_outlives_its_terminal() {
    let stage = Stage::new();
    let mut command = stage.bare(Path::new("/bin/sh"));
    command.env("FLIGHTDECK_HOME", stage.paths().home);
    command.args(["-c", "trap '' HUP; exec \"$0\" up --port 0", env!("CARGO_BIN_EXE_flightdeck")]);
    let daemon = Daemon::start(command, &stage);
    daemon.signal(Signal::HUP);
    // Had that ended it, it would take out its hooks first and then stop answering.
    (0..50).for_each(|_| assert_eq!(daemon.get("/healthz").status, 200));
    assert!(ours(&stage) > 20);
    assert!(daemon.stop().success());
}

/// Ends by itself; says how, and what it complained of.
fn up_into(stdout: impl Into<Stdio>, stage: &Stage) -> (bool, String) {
    let mut command = stage.flightdeck(&["up", "--port", "0"]);
    let errors = stage.path().join("stderr");
    let mut child = command.stdout(stdout).stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    let ended = until("the daemon has ended", || child.try_wait().unwrap());
    (ended.success(), fs::read_to_string(errors).unwrap())
}

#[test]
fn one_who_cannot_say_where_it_is_takes_out_what_it_put_in() {
    let stage = with_settings(THEIRS);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(up_into(writer, &stage), (true, String::new()));
    assert_eq!(settings(&stage), THEIRS);
    assert!(!stage.paths().socket().exists() && !stage.paths().daemon_file().exists());
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (well, complaint) = up_into(full, &stage);
        assert!(!well && complaint.contains("cannot say where the board is"), "{complaint}");
        assert_eq!(settings(&stage), THEIRS);
    }
}

#[test]
fn where_there_was_no_file_there_is_none_again() {
    let stage = Stage::new();
    let daemon = stage.up(&[]);
    assert!(ours(&stage) > 20);
    daemon.stop();
    assert!(!stage.settings().exists());
}

#[test]
fn what_was_installed_for_good_survives_a_stop() {
    let stage = with_settings(THEIRS);
    stage.run(&["hooks", "install"]).well();
    let installed = settings(&stage);
    let daemon = stage.up(&[]);
    assert_eq!(settings(&stage), installed);
    daemon.stop();
    assert_eq!(settings(&stage), installed);
    stage.run(&["hooks", "uninstall"]).well();
    assert_eq!(settings(&stage), THEIRS);
}

#[test]
fn no_hooks_touches_nothing() {
    let stage = with_settings(THEIRS);
    let daemon = stage.up(&["--no-hooks"]);
    assert_eq!(settings(&stage), THEIRS);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["wanted"], &status["fix"]), (&false.into(), &serde_json::Value::Null));
    daemon.stop();
    assert_eq!(settings(&stage), THEIRS);
    let names: Vec<_> = fs::read_dir(stage.claude()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.json"]);
}

#[test]
fn what_was_installed_for_good_is_looked_after_without_hooks_too() {
    let stage = with_settings(THEIRS);
    stage.run(&["hooks", "install"]).well();
    let daemon = stage.up(&["--no-hooks"]);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["wanted"], &status["drift"]), (&true.into(), &false.into()));
    fs::write(stage.settings(), settings(&stage).replacen("# flightdeck-hook", "# somebody else", 1))
        .unwrap();
    let status = daemon.get("/hook/status").json();
    // Nothing of ours is on this person's PATH.
    let whole = format!("{} hooks repair", env!("CARGO_BIN_EXE_flightdeck"));
    assert_eq!((&status["drift"], &status["fix"]), (&true.into(), &whole.into()));
}

#[test]
fn hooks_left_by_a_killed_daemon_are_cleaned_up_by_the_next() {
    let stage = with_settings(THEIRS);
    stage.up(&[]).kill();
    assert!(ours(&stage) > 20);
    let left = settings(&stage);
    let daemon = stage.up(&[]);
    assert_eq!(settings(&stage), left);
    daemon.stop();
    assert_eq!(settings(&stage), THEIRS);
}

#[test]
fn settings_that_cannot_be_read_are_left_alone_and_the_daemon_says_so() {
    let broken = "{ \"hooks\": , }";
    let stage = with_settings(broken);
    let daemon = stage.up(&[]);
    assert!(daemon.stderr().contains("The hooks are not registered: "), "{}", daemon.stderr());
    assert_eq!(daemon.get("/healthz").status, 200);
    assert!(daemon.get("/hook/status").json()["problem"].is_string());
    daemon.stop();
    assert_eq!(settings(&stage), broken);
}

#[test]
fn up_leaves_an_http_install_as_it_is_and_finds_nothing_wrong_with_it() {
    let stage = with_settings(THEIRS);
    // The port is baked in, so the daemon takes it by itself. Below those that the system gives out, nobody takes it by chance.
    let mut low = 20_000 + std::process::id() as u16 % 10_000..;
    let free = low.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap();
    stage.run(&["hooks", "install", "--via", "http", "--port", &free.to_string()]).well();
    let installed = settings(&stage);
    let daemon = Daemon::start(stage.flightdeck(&["up"]), &stage);
    assert_eq!(daemon.addr.port(), free);
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["via"], &status["drift"]), (&"http".into(), &false.into()), "{status}");
    daemon.stop();
    assert_eq!(settings(&stage), installed);
}

#[test]
fn a_damaged_install_for_good_is_named_and_not_rewritten() {
    let stage = with_settings("{}");
    stage.run(&["hooks", "install"]).well();
    let damaged = settings(&stage).replace("\"timeout\": 5", "\"timeout\": 6");
    fs::write(stage.settings(), &damaged).unwrap();
    let daemon = stage.up(&[]);
    assert!(daemon.stderr().contains("run `flightdeck hooks repair`"), "{}", daemon.stderr());
    daemon.stop();
    assert_eq!(settings(&stage), damaged);
}

#[test]
fn a_second_home_leaves_the_hooks_of_the_first_alone() {
    let stage = with_settings(THEIRS);
    let first = stage.up(&[]);
    let registered = settings(&stage);
    let mut command = stage.flightdeck(&["up", "--port", "0"]);
    command.env("FLIGHTDECK_HOME", stage.path().join("second"));
    let second = Daemon::start(command, &stage);
    assert!(second.stderr().contains("another Flightdeck home, "), "{}", second.stderr());
    assert!(
        second.get("/hook/status").json()["problem"].as_str().unwrap().contains("another Flightdeck home")
    );
    second.stop();
    assert_eq!(settings(&stage), registered);
    first.stop();
    assert_eq!(settings(&stage), THEIRS);
}

#[test]
fn a_stop_leaves_hooks_that_another_home_took_over() {
    for more in [&[][..], &["--statusline"]] {
        let stage = with_settings(THEIRS);
        let first = stage.up(&[]);
        let mut install = stage.flightdeck(&["hooks", "install"]);
        install.args(more).env("FLIGHTDECK_HOME", stage.path().join("second"));
        assert!(install.output().unwrap().status.success());
        let taken = settings(&stage);
        assert!(taken.contains("second"));
        assert_eq!(taken.contains("# flightdeck-statusline"), !more.is_empty());
        first.stop();
        assert_eq!(settings(&stage), taken);
    }
}
