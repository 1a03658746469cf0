//! The client's registry of live sessions, as a running daemon reads it from disk.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::home::test_home;
use flightdeck::{clock, process};
use flightdeck_e2e::testkit::{TestDaemon, until};
use rustix::fs::OFlags;
use rustix::io::Errno;
use serde_json::{Value, json};

/// A process that stands for a client. It is killed when it is dropped.
struct Client(Child);

impl Client {
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

impl Drop for Client {
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
    let mut dead = Client::new();
    let leftover = dead.entry("dead", "busy");
    dead.kill();
    write(&sessions, &leftover);
    let mut client = Client::new();
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
