//! The disk of the server is full: the member says so, local work goes on, and the backlog is drained once there is room.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::{Host, assert_same_log, on_the_server, until};

/// Together more than the server has room for.
const EVENTS: usize = 200;
const EVENT_BYTES: usize = 20_000;
const ROOM_MEGABYTES: u32 = 2;

/// Fills the server, lets `make_room` run while it is stopped, and compares the logs.
fn fill_and_drain(mut nats: NatsServer, make_room: impl FnOnce(&mut NatsServer)) {
    nats.run();
    let (mut a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "first");
    hub.until_card("s@a", |_| true);
    let padding = "x".repeat(EVENT_BYTES);
    for n in 0..EVENTS {
        a.post(&json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": format!("{n} {padding}")}));
    }
    let is_last =
        |card: &serde_json::Value| card["last_user_message"].as_str().is_some_and(|m| m.starts_with("199 "));
    assert!(is_last(&a.daemon().card("s")), "local work goes on");
    let link = until("the member says what the server refused", || {
        Some(a.link()).filter(|link| link["connected"] == false && link["problem"].is_string())
    });
    assert!(link["backlog"].as_u64().unwrap() > 0, "{link}");
    let listed = a.home.run(&["hosts", "list"]).success();
    assert!(listed.contains("events to forward") && !listed.contains(" 0 events to forward"), "{listed}");

    nats.kill();
    make_room(&mut nats);
    nats.run();
    hub.until_card("s@a", is_last);
    a.until_forwarded();
    assert_eq!(a.link()["problem"], json!(null));
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

#[test]
fn a_server_at_the_limit_of_its_files_is_drained_into_once_the_limit_is_raised() {
    let Some(mut nats) = NatsServer::stopped(Ipv4Addr::LOCALHOST) else { return };
    let folder = nats.folder().join("store");
    nats.set_store(&folder, ROOM_MEGABYTES);
    fill_and_drain(nats, |nats| nats.set_store(&folder, 512));
}

/// Room for a few events.
const SMALL_LOG_BYTES: i64 = 100_000;

#[test]
fn a_log_at_its_limit_forgets_its_oldest_events_and_goes_on() {
    let Some(mut nats) = NatsServer::stopped(Ipv4Addr::LOCALHOST) else { return };
    let folder = nats.folder().join("store");
    // Not enough for the usual limit.
    nats.set_store(&folder, 2_048);
    nats.run();
    let (a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.until_forwarded();
    on_the_server(&nats.url(), async |js| {
        let mut stream = js.get_stream("FLIGHTDECK_main_LOG").await.unwrap();
        let mut config = stream.info().await.unwrap().config.clone();
        assert_eq!(config.max_bytes, 1 << 30);
        config.max_bytes = SMALL_LOG_BYTES;
        js.update_stream(config).await.unwrap();
    });
    let padding = "x".repeat(EVENT_BYTES);
    for n in 0..20 {
        a.post(&json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": format!("{n} {padding}")}));
    }
    hub.until_card("s@a", |card| card["last_user_message"].as_str().is_some_and(|m| m.starts_with("19 ")));
    a.until_forwarded();
    assert_eq!(a.link()["problem"], json!(null));
}

/// A file system of its own. It is unmounted when it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` if this machine does not let us mount one.
    fn mount(at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={ROOM_MEGABYTES}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(at).output();
        mounted.is_ok_and(|o| o.status.success()).then(|| Self(at.to_owned()))
    }

    fn grow(&self) {
        let grown = Command::new("mount").args(["-o", "remount,size=256m"]).arg(&self.0).status();
        assert!(grown.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the server may still have files open if the test failed.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_server_whose_disk_is_full_is_drained_into_once_the_disk_has_room() {
    let Some(mut nats) = NatsServer::stopped(Ipv4Addr::LOCALHOST) else { return };
    let folder = tempfile::Builder::new().prefix("fd-disk-").tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")) else {
        println!("skipped: mounting a small file system needs root");
        return;
    };
    nats.set_store(&disk.0.join("store"), 512);
    fill_and_drain(nats, |_| disk.grow());
}
