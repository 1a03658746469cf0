//! The client's registry of live sessions, as a running daemon reads it from disk.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::home::test_home;
use crate::tmux::WithTmux;
use flightdeck::{clock, process};
use flightdeck_e2e::testkit::{PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde_json::{Value, json};

/// A process that stands for a client. It is killed when it is dropped.
struct FakeClient(Child);

impl FakeClient {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }
    fn entry(&self, session: &str, status: &str) -> Value {
        let start = process::start_time(self.0.id()).unwrap();
        let now = clock::now().as_millis();
        json!({"pid": self.0.id(), "procStart": start, "sessionId": session, "cwd": "/w/api", "kind": "interactive",
            "startedAt": now, "status": status, "statusUpdatedAt": now})
    }
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for FakeClient {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write(folder: &Path, entry: &Value) -> PathBuf {
    let path = folder.join(format!("{}.json", entry["pid"]));
    fs::write(&path, entry.to_string()).unwrap();
    path
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Whether a process has this pipe open for reading: only then a non-blocking writer can open it.
fn has_reader(path: &Path) -> bool {
    let nonblock = OFlags::NONBLOCK.bits() as i32;
    match fs::OpenOptions::new().write(true).custom_flags(nonblock).open(path) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.raw_os_error(), Some(Errno::NXIO.raw_os_error()), "{error}");
            false
        }
    }
}

fn shows(daemon: &TestDaemon, session: &str, group: &str) -> Option<Value> {
    Some(daemon.card(session)).filter(|card| card["agent_state"]["group"] == group)
}

#[test]
fn a_running_daemon_follows_the_clients_list_from_the_first_entry_to_the_death_of_its_process() {
    let home = test_home();
    let daemon = home.daemon();
    let sessions = home.claude().join("sessions");
    fs::create_dir(&sessions).unwrap();
    let mut dead = FakeClient::new();
    let leftover = dead.entry("dead", "busy");
    dead.kill();
    write(&sessions, &leftover);
    let mut client = FakeClient::new();
    let secret = sessions.join(format!("{}.ab12.key", client.0.id()));
    fifo(&secret);
    let odd = sessions.join("1.json");
    fifo(&odd);

    let path = write(&sessions, &client.entry("one", "busy"));
    until("the entry is on the board", || shows(&daemon, "one", "running"));
    // The file watch must report it; polling would be reported as a problem.
    assert_eq!(daemon.get("/healthz").status, 200, "{}", daemon.stderr());

    // `/clear`: the same file, another session.
    write(&sessions, &client.entry("two", "idle"));
    until("the new session is on the board", || shows(&daemon, "two", "needs_you"));
    let one = until("the old one is done", || shows(&daemon, "one", "done"));
    assert_eq!(one["replaced_by"], "two");

    client.kill();
    let two = until("the death is noticed", || shows(&daemon, "two", "done"));
    assert_eq!(two["end_reason"], "process_died");
    assert!(path.exists(), "a killed client leaves its entry");

    let ids: Vec<_> = daemon.board().iter().map(|card| card["id"].clone()).collect();
    assert!(!ids.contains(&json!("dead")), "{ids:?}");
    assert_eq!([has_reader(&secret), has_reader(&odd)], [false, false]);
}

/// A session that works, by its own hooks and its registry entry.
fn works(home: &TestHome, client: &FakeClient, folder: &Path) {
    let hook = |body: Value| {
        let mut hook = home.flightdeck(&PATIENT_HOOK);
        run_hook(hook.env("CLAUDE_PID", client.0.id().to_string()), &body.to_string());
    };
    hook(json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go", "prompt_id": "a"}));
    hook(json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "1",
        "tool_input": {"command": "make"}, "prompt_id": "a"}));
    write(folder, &client.entry("s", "busy"));
}

fn label(daemon: &TestDaemon) -> String {
    daemon.card("s")["agent_state"]["label"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_turn_that_ends_while_the_daemon_and_its_hooks_are_away_was_not_interrupted() {
    let home = test_home();
    let folder = home.claude().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let client = FakeClient::new();
    let daemon = home.up(&[]);
    works(&home, &client, &folder);
    until("it works", || (label(&daemon) == "Bash: make").then_some(()));
    // The daemon removes the hooks that it had registered.
    assert!(daemon.stop().success());
    write(&folder, &client.entry("s", "idle"));
    let daemon = home.up(&[]);
    until("it ended", || (label(&daemon) == "Ended while Flightdeck was away").then_some(()));
}

#[test]
fn hooks_that_were_installed_stay_believed_while_the_daemon_is_down() {
    let home = test_home();
    let folder = home.claude().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let client = FakeClient::new();
    home.run(&["hooks", "install"]).success();
    let daemon = home.up(&[]);
    works(&home, &client, &folder);
    until("it works", || (label(&daemon) == "Bash: make").then_some(()));
    assert!(daemon.stop().success());
    write(&folder, &client.entry("s", "idle"));
    let daemon = home.up(&[]);
    until("it was interrupted", || (label(&daemon) == "You interrupted Bash").then_some(()));
}

#[test]
fn hooks_that_are_removed_and_returned_while_the_daemon_runs_are_noticed() {
    let home = test_home();
    let folder = home.claude().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let client = FakeClient::new();
    home.run(&["hooks", "install"]).success();
    let daemon = home.daemon();
    works(&home, &client, &folder);
    until("it works", || (label(&daemon) == "Bash: make").then_some(()));
    let before = daemon.events_total();
    home.run(&["hooks", "uninstall"]).success();
    until("their absence is in the log", || (daemon.events_total() > before).then_some(()));
    write(&folder, &client.entry("s", "idle"));
    until("it ended", || (label(&daemon) == "Ended while Flightdeck was away").then_some(()));
}

#[test]
fn the_pane_of_a_session_without_hooks_is_found_on_its_own_tmux_server() {
    let home = test_home();
    let (Some(one), Some(two)) = (home.tmux(), home.tmux_named("a second server")) else { return };
    for tmux in [&one, &two] {
        tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
        // The client is a child of the shell in the pane.
        tmux.run(&["split-window", "-t", "=a:", "sh -c 'sleep 600; true'"]);
    }
    let sessions = home.claude().join("sessions");
    fs::create_dir(&sessions).unwrap();
    let daemon = home.daemon();
    for (tmux, session) in [(&one, "in-one"), (&two, "in-two")] {
        let shell = tmux.run(&["display-message", "-p", "-t", "%1", "#{pane_pid} #{pane_tty}"]);
        let (shell, tty) = shell.trim().split_once(' ').unwrap();
        let pid = until("the client runs", || child_of(shell.parse().unwrap()));
        let now = clock::now().as_millis();
        let entry = json!({"pid": pid, "procStart": process::start_time(pid).unwrap(), "sessionId": session, "cwd": "/w/api",
            "kind": "interactive", "startedAt": now, "status": "idle", "statusUpdatedAt": now});
        write(&sessions, &entry);
        let card = until("the session is there", || shows(&daemon, session, "needs_you"));
        let seat = &card["seat"];
        assert_eq!((&seat["pane"], &seat["pid"]), (&json!("%1"), &json!(pid)), "{card}");
        assert_eq!(seat["tmux_socket"], json!(tmux.socket), "{card}");
        assert_eq!(card["processes"][0]["tty"], tty, "{card}");
        assert_eq!(card["project"]["path"], "/w/api");
        let screen = home.run(&["peek", session, "--json"]).json();
        assert_eq!(screen["pane"], "%1");
    }
}

/// The first child of a process.
fn child_of(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn what_a_hook_said_about_its_pane_stays() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    let pid: u32 = tmux.run(&["display-message", "-p", "-t", "%0", "#{pane_pid}"]).trim().parse().unwrap();
    let sessions = home.claude().join("sessions");
    fs::create_dir(&sessions).unwrap();
    let daemon = home.daemon();
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    hook.env("CLAUDE_PID", pid.to_string()).env("TMUX", "/somewhere/else,1,0").env("TMUX_PANE", "%77");
    run_hook(
        &mut hook,
        r#"{"session_id":"hooked","hook_event_name":"SessionStart","source":"startup","cwd":"/w"}"#,
    );
    let now = clock::now().as_millis();
    let entry = json!({"pid": pid, "procStart": process::start_time(pid).unwrap(), "sessionId": "hooked", "cwd": "/w",
        "kind": "interactive", "startedAt": now, "status": "busy", "statusUpdatedAt": now + 1});
    write(&sessions, &entry);
    let card = until("the registry counts", || shows(&daemon, "hooked", "running"));
    assert_eq!(
        (&card["seat"]["pane"], &card["seat"]["tmux_socket"]),
        (&json!("%77"), &json!("/somewhere/else")),
        "{card}"
    );
}
