//! The commands for scripts, and each recipe of docs/scripts.md.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use flightdeck_e2e::testkit::{PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::tmux::WithTmux;

fn tell(daemon: &TestDaemon, session: &str, name: &str, more: &Value) {
    let mut payload =
        json!({"session_id": session, "hook_event_name": name, "cwd": format!("/w/{}", project(session))});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

/// `api-works` is a session of the project `api`.
fn project(session: &str) -> &str {
    session.split('-').next().unwrap()
}

fn prompt(daemon: &TestDaemon, session: &str) {
    tell(daemon, session, "UserPromptSubmit", &json!({"prompt": "go"}));
}

fn stop(daemon: &TestDaemon, session: &str) {
    tell(daemon, session, "Stop", &json!({}));
}

fn asks(daemon: &TestDaemon, session: &str) {
    let bash = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "cargo test"}});
    tell(daemon, session, "PreToolUse", &bash);
    tell(daemon, session, "PermissionRequest", &bash);
}

#[test]
fn ls_filters_by_state_project_and_need_and_prints_a_template() {
    let home = test_home();
    let daemon = home.daemon();
    for session in ["api-works", "api-asks", "web-idle"] {
        prompt(&daemon, session);
    }
    asks(&daemon, "api-asks");
    stop(&daemon, "web-idle");
    let ls = |args: &[&str]| home.run(&[&["ls", "--format", "{id}"], args].concat()).success();
    assert_eq!(ls(&[]), "api-asks\nweb-idle\napi-works\n");
    assert_eq!(ls(&["--needs-you"]), "api-asks\nweb-idle\n");
    assert_eq!(ls(&["--state", "idle,needs-permission"]), "api-asks\nweb-idle\n");
    assert_eq!(ls(&["--project", "api", "--group", "running"]), "api-works\n");
    assert_eq!(ls(&["--project", "/w/web"]), "web-idle\n");
    assert_eq!(ls(&["--project", "/w/we"]), "");
    let fields = home.run(&["ls", "--needs-you", "--project", "api", "--format", r"{state}\t{label}"]);
    assert_eq!(fields.success(), "needs_permission\tPermission for Bash: cargo test\n");
    let listed = home.run(&["ls", "--state", "idle", "--json"]).json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"]), (1, &json!("web-idle")));
    assert_eq!(home.run(&["ls", "--state", "sleeping"]).code, 2);
    assert_eq!(home.run(&["ls", "--format", "{not a field}"]).code, 2);
    assert!(home.run(&["ls", "--format", "{colour}"]).err.contains("no field colour"));
}

#[test]
fn wait_ends_when_the_state_is_reached_and_its_exit_code_says_how() {
    let home = test_home();
    let daemon = home.daemon();
    prompt(&daemon, "api-works");
    let timed_out = home.run(&["wait", "api", "--until", "needs-you", "--timeout", "0.05"]);
    assert_eq!((timed_out.code, timed_out.out.as_str()), (3, ""));
    assert_eq!(timed_out.err, "flightdeck: not after 0.05 s: Thinking\n");
    until_watched(&daemon, 0);
    let waits = |until: &str| wait(&home, &["wait", "api", "--until", until, "--timeout", "60"]);
    let waiting = waits("needs-you");
    until_watched(&daemon, 1);
    asks(&daemon, "api-works");
    assert_eq!(ended(waiting), (0, "Permission for Bash: cargo test\n".into()));
    assert_eq!(ended(waits("needs-you")).0, 0, "it is there already");
    until_watched(&daemon, 0);
    let waiting = [waits("idle"), waits("ended")];
    until_watched(&daemon, 2);
    tell(&daemon, "api-works", "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    let [idle, over] = waiting.map(ended);
    assert_eq!((idle.0, over.0), (1, 0), "{idle:?} {over:?}");
    assert_eq!(home.run(&["wait", "unknown", "--until", "idle"]).code, 1);
    assert_eq!(home.run(&["wait", "api"]).code, 2);
}

fn wait(home: &TestHome, args: &[&str]) -> Child {
    home.flightdeck(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (i32, String) {
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap())
}

fn until_watched(daemon: &TestDaemon, viewers: u64) {
    until("this many commands are subscribed", || {
        // The engine counts its viewers whenever it has handled something.
        daemon.board();
        let metrics = daemon.get("/metrics").text();
        metrics.lines().any(|line| line == format!("flightdeck_viewers {viewers}")).then_some(())
    });
}

#[test]
fn watch_prints_a_line_of_json_for_each_change_and_survives_a_restart() {
    let home = test_home();
    let daemon = home.daemon();
    let mut watching =
        home.flightdeck(&["watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["event"], "snapshot");
    prompt(&daemon, "api-works");
    let discovered = next();
    assert_eq!(
        (&discovered["event"], &discovered["data"]["session"]["id"]),
        (&json!("session_discovered"), &json!("api-works"))
    );
    drop(daemon);
    let daemon = home.daemon();
    while next()["event"] != "snapshot" {}
    asks(&daemon, "api-works");
    while next()["event"] != "ask_opened" {}
    watching.kill().unwrap();
    watching.wait().unwrap();
}

/// Reads the first line of the output and leaves.
#[track_caller]
fn read_one_line(mut child: Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let code = until("the command has ended", || child.try_wait().unwrap());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((code.code(), said.as_str()), (Some(0), ""));
    line
}

#[test]
fn a_reader_that_leaves_ends_the_commands_that_follow_the_board() {
    let home = test_home();
    let daemon = home.daemon();
    prompt(&daemon, "api-works");
    // Nothing happens on the board after the first lines.
    for (args, first) in [
        (&["watch"][..], r#"{"event":"snapshot""#),
        (&["watch", "--format", "{id}"], "api-works"),
        (&["ls", "--watch"], "Running 1"),
        (&["ls", "--watch", "--json"], r#"{"event":"snapshot""#),
    ] {
        let mut command = home.flightdeck(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let line = read_one_line(child);
        assert!(line.replace(": ", ":").starts_with(first), "{args:?}: {line}");
    }
    let mut shell = home.bare(Path::new("/bin/sh"));
    let script = r#""$0" --home "$1" watch | head -1 | wc -l"#;
    let output =
        shell.args(["-c", script, env!("CARGO_BIN_EXE_flightdeck")]).arg(home.flightdeck_home()).output();
    let output = output.unwrap();
    let printed = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((printed.0.trim(), printed.1.as_ref()), ("1", ""));
}

#[test]
fn a_session_is_found_by_the_pid_of_its_client() {
    let home = test_home();
    let _daemon = home.daemon();
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    hook.env("CLAUDE_PID", std::process::id().to_string());
    run_hook(&mut hook, r#"{"session_id":"by-pid","hook_event_name":"Stop","cwd":"/w"}"#);
    let recipe = Recipe::read("Who is in this pane")
        .command(&home)
        .env("CLAUDE_PID", std::process::id().to_string())
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&recipe.stdout).unwrap()["id"], "by-pid");
}

/// A shell script of docs/scripts.md.
struct Recipe(String);

impl Recipe {
    /// The script below this heading.
    fn read(heading: &str) -> Self {
        let page = include_str!("../../../../docs/scripts.md");
        let section = page.split(&format!("### {heading}\n")).nth(1).unwrap();
        let script = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
        Self(script.to_owned())
    }

    fn command(&self, home: &TestHome) -> Command {
        let programs = home.path().join("bin");
        if !programs.exists() {
            fs::create_dir(&programs).unwrap();
            symlink(env!("CARGO_BIN_EXE_flightdeck"), programs.join("flightdeck")).unwrap();
        }
        let mut sh = home.bare(Path::new("/bin/sh"));
        sh.args(["-c", &self.0]).env("FLIGHTDECK_HOME", home.flightdeck_home());
        sh.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        sh
    }
}

#[test]
fn the_recipe_notify_me_runs_notify_send_once_for_each_session_that_begins_to_wait() {
    let home = test_home();
    let daemon = home.daemon();
    prompt(&daemon, "api-works");
    stop(&daemon, "api-works");
    prompt(&daemon, "web-works");
    let mut recipe = Recipe::read("Notify me").command(&home);
    let (program, sent) = (home.path().join("bin/notify-send"), home.path().join("sent"));
    fs::write(&program, format!("#!/bin/sh\necho \"$1|$2\" >> {}\n", sent.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut running = recipe.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until_watched(&daemon, 1);
    asks(&daemon, "web-works");
    stop(&daemon, "web-works");
    let told = || fs::read_to_string(&sent).unwrap_or_default();
    until("the notification is sent", || (!told().is_empty()).then_some(()));
    // Both sides of its pipeline, which would outlive the shell.
    kill_process_group(Pid::from_child(&running), Signal::KILL).unwrap();
    running.wait().unwrap();
    assert_eq!(told(), "Claude Code|web: Permission for Bash: cargo test\n");
}

#[test]
fn the_recipe_gate_a_deploy_waits_for_the_sessions_of_the_project() {
    let home = test_home();
    let daemon = home.daemon();
    prompt(&daemon, "api-works");
    prompt(&daemon, "web-works");
    let recipe = Recipe::read("Gate a deploy");
    let impatient = Recipe(recipe.0.replace("--timeout 600", "--timeout 0.05"));
    let output = impatient.command(&home).output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b"api is still being changed\n"[..]));
    until_watched(&daemon, 0);
    let waiting = recipe.command(&home).stdout(Stdio::piped()).spawn().unwrap();
    until_watched(&daemon, 1);
    stop(&daemon, "api-works");
    assert_eq!(ended(waiting), (0, "Waiting for your next prompt\ndeploying\n".into()));
}

#[test]
fn the_recipe_fan_out_prompts_types_into_every_idle_session() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    let daemon = home.daemon();
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fake-client.sh");
    for (n, name) in ["a", "b"].iter().enumerate() {
        let session = format!("0b5e7a11-aaaa-4bbb-8ccc-00000000000{n}");
        tmux.run(&[
            "new-session",
            "-d",
            "-s",
            name,
            "-x",
            "90",
            "-y",
            "24",
            "bash",
            client,
            env!("CARGO_BIN_EXE_flightdeck"),
            &session,
        ]);
        until("its prompt box is drawn", || tmux.screen_of(name).contains('❯').then_some(()));
    }
    until("both sessions are idle", || {
        (daemon.board().iter().filter(|card| card["agent_state"]["state"] == "idle").count() == 2)
            .then_some(())
    });
    let output = Recipe::read("Fan out prompts").command(&home).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().matches("sent\n").count(), 2);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fs::read_to_string(home.path().join("prompts")).unwrap(), "run the tests\nrun the tests\n");
    let screen = home.run(&["peek", "0b5e7a11-aaaa-4bbb-8ccc-000000000001"]).success();
    assert!(screen.contains("● ready") && screen.contains('❯'), "{screen}");
    let screen = home.run(&["peek", "0b5e7a11-aaaa-4bbb-8ccc-000000000001", "--json"]).json();
    assert_eq!((&screen["rows"][0], &screen["pane"]), (&json!("● ready"), &json!("%1")));
}

#[test]
fn a_pane_that_is_gone_cannot_be_peeked_at() {
    let home = test_home();
    let daemon = home.daemon();
    prompt(&daemon, "api-works");
    let said = home.run(&["peek", "api"]);
    assert!(said.code == 1 && said.err.contains("claude --resume api-works"), "{said:?}");
    assert!(home.run(&["peek", "unknown"]).err.contains("no session unknown"));
}

#[test]
fn the_status_line_is_one_line_and_always_succeeds() {
    let home = test_home();
    let line = |args: &[&str]| home.run(args).success();
    assert_eq!(line(&["status", "--line"]), "flightdeck off\n");
    let daemon = home.daemon();
    assert_eq!(line(&["status", "--line"]), "no sessions\n");
    prompt(&daemon, "api-works");
    prompt(&daemon, "web-asks");
    asks(&daemon, "web-asks");
    assert_eq!(line(&["status", "--line"]), "● 1 needs you · 1 running\n");
    let nowhere = home
        .bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")))
        .args(["status", "--line"])
        .env_remove("HOME")
        .output()
        .unwrap();
    assert_eq!((nowhere.status.code(), &nowhere.stdout[..]), (Some(0), &b"flightdeck off\n"[..]));
}
