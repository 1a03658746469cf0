//! Files of a member, a hub or the server are replaced by an earlier copy of them.

use std::fs;
use std::path::Path;

use flightdeck_e2e::testkit::NatsServer;

use crate::fleet::{Host, assert_same_log, until};

/// Copies every file of the folder, while no daemon runs.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy_folder(&path, &to),
            kind if kind.is_file() => drop(fs::copy(&path, &to).unwrap()),
            // A socket of a daemon that has ended.
            _ => {}
        }
    }
}

#[test]
fn events_after_a_restored_backup_are_not_taken_for_those_that_were_lost() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "before the backup");
    a.until_forwarded();
    a.stop();
    let (files, backup) = (a.home.flightdeck_home().to_owned(), a.home.path().join("backup"));
    copy_folder(&files, &backup);
    a.start();
    for n in 0..20 {
        a.works("lost", &n.to_string());
    }
    a.until_forwarded();
    a.stop();
    fs::remove_dir_all(&files).unwrap();
    copy_folder(&backup, &files);
    a.start();
    // Fewer events than were lost, and later more.
    a.works("s", "after the backup");
    hub.until_card("s@a", |card| card["last_user_message"] == "after the backup");
    for n in 0..30 {
        a.works("t", &n.to_string());
    }
    a.until_forwarded();
    hub.until_card("t@a", |card| card["last_user_message"] == "29");
    a.stop();
    a.start();
    a.works("t", "after a restart");
    hub.until_card("t@a", |card| card["last_user_message"] == "after a restart");
    assert_eq!(hub.sees("a").unwrap()["refused"], 0);
}

#[test]
fn a_hub_with_an_earlier_copy_of_its_files_reads_again_what_it_lost() {
    let Some(nats) = NatsServer::start() else { return };
    let (mut a, mut hub) = (Host::member(&nats, "a"), Host::hub(&nats, "desk"));
    a.works("s", "before the backup");
    hub.until_card("s@a", |card| card["last_user_message"] == "before the backup");
    hub.stop();
    let (files, backup) = (hub.home.flightdeck_home().to_owned(), hub.home.path().join("backup"));
    copy_folder(&files, &backup);
    hub.start();
    a.works("s", "lost");
    hub.until_card("s@a", |card| card["last_user_message"] == "lost");
    hub.stop();
    fs::remove_dir_all(&files).unwrap();
    copy_folder(&backup, &files);
    hub.start();
    hub.until_card("s@a", |card| card["last_user_message"] == "lost");
    assert_eq!(hub.sees("a").unwrap()["refused"], 0);
    a.until_forwarded();
    a.stop();
    hub.stop();
    assert_same_log(&a, &hub);
}

/// As after a power failure: acknowledged messages were not on the disk yet, and their positions are given to other messages.
#[test]
fn a_server_that_lost_its_last_messages_hides_no_new_ones_from_a_hub() {
    let Some(mut nats) = NatsServer::start() else { return };
    let (mut a, mut b) = (Host::member(&nats, "a"), Host::member(&nats, "b"));
    let mut hub = Host::hub(&nats, "desk");
    a.works("s", "kept");
    b.works("s", "kept");
    hub.until_card("s@a", |card| card["last_user_message"] == "kept");
    hub.until_card("s@b", |card| card["last_user_message"] == "kept");
    let (store, copy) = (nats.folder().join("store"), nats.folder().join("copy"));
    nats.kill();
    copy_folder(&store, &copy);
    nats.run();
    for n in 0..10 {
        b.works("s", &format!("lost {n}"));
    }
    hub.until_card("s@b", |card| card["last_user_message"] == "lost 9");
    // The hub has stored how far it read.
    std::thread::sleep(std::time::Duration::from_secs(2));
    // `b` sends its messages again only after the new ones of `a` have their positions.
    b.stop();
    nats.kill();
    fs::remove_dir_all(&store).unwrap();
    copy_folder(&copy, &store);
    a.works("s", "new");
    nats.run();
    hub.until_card("s@a", |card| card["last_user_message"] == "new");
    b.start();
    b.works("s", "back");
    hub.until_card("s@b", |card| card["last_user_message"] == "back");
    for host in [&mut a, &mut b] {
        host.until_forwarded();
        until("nothing is missing", || (hub.sees(&host.name)?["backlog"] == 0).then_some(()));
        host.stop();
    }
    hub.stop();
    assert_same_log(&a, &hub);
    assert_same_log(&b, &hub);
}
