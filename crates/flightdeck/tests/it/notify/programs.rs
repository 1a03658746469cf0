//! The built binary with fakes on its PATH: the desktop, a command, a missing program, and kill -9.

use std::fs;
use std::path::Path;
use std::process::Command;

use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use serde_json::json;

use super::{NoteServer, notes_in_file, script, unused_addr};
use crate::home::test_home;

/// A daemon with this config.toml.
pub(super) fn up_with(home: &TestHome, config: &str, change: impl FnOnce(&mut Command)) -> TestDaemon {
    fs::create_dir_all(home.flightdeck_home()).unwrap();
    fs::write(home.paths().config, config).unwrap();
    let mut command = home.flightdeck(&["up", "--port", "0", "--no-hooks"]);
    change(&mut command);
    home.start(command)
}

/// A daemon that has only these programs on its PATH.
fn up(home: &TestHome, bin: &Path, config: &str) -> TestDaemon {
    up_with(home, config, |command| {
        command.env("PATH", bin);
    })
}

fn say(daemon: &TestDaemon, session: &str, name: &str) {
    let payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api", "prompt": "go"});
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

pub(super) fn end_a_turn(daemon: &TestDaemon, session: &str) {
    say(daemon, session, "UserPromptSubmit");
    say(daemon, session, "Stop");
}

pub(super) fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn the_desktop_gets_a_note_from_the_program_on_the_path() {
    let home = test_home();
    let (bin, said) = (home.path().join("bin"), home.path().join("said"));
    fs::create_dir(&bin).unwrap();
    script(&bin, "notify-send", &format!("printf '%s|' \"$@\" >> {0}; echo >> {0}", said.display()));
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    until("the note is shown", || fs::read_to_string(&said).ok()?.ends_with("|\n").then_some(()));
    let text = fs::read_to_string(&said).unwrap();
    let head = "--print-id|--action=default=Open|--app-name=Flightdeck|--urgency=normal|--|api: Waiting for your next prompt|go\nsince ";
    assert!(text.starts_with(head) && text.contains(&format!("{}/#/session/s|", daemon.url)), "{text}");
    let tested = home.run(&["notify", "test", "--target", "desktop"]);
    assert_eq!(tested.success(), "desktop: delivered\n");
}

#[test]
fn a_click_on_the_note_opens_its_card() {
    let home = test_home();
    let (bin, opened) = (home.path().join("bin"), home.path().join("opened"));
    fs::create_dir(&bin).unwrap();
    script(&bin, "notify-send", "echo 7; echo default");
    script(&bin, "xdg-open", &format!("echo \"$1\" >> {}", opened.display()));
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    until("the card is opened", || (!lines(&opened).is_empty()).then_some(()));
    assert_eq!(lines(&opened), [format!("{}/#/session/s", daemon.url)]);
}

#[test]
fn an_old_notify_send_shows_the_note_without_a_click() {
    let home = test_home();
    let (bin, said) = (home.path().join("bin"), home.path().join("said"));
    fs::create_dir(&bin).unwrap();
    let old = "case \"$1\" in --print-id) echo 'Unknown option --print-id' >&2; exit 1;; esac";
    script(&bin, "notify-send", &format!("{old}\necho \"$4\" >> {}", said.display()));
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    until("the note is shown", || (!lines(&said).is_empty()).then_some(()));
    assert_eq!(lines(&said), ["api: Waiting for your next prompt"]);
}

#[test]
fn a_missing_program_is_one_line_in_the_status() {
    let home = test_home();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    let missing = "notify-send was not found on the daemon's PATH";
    let status = until("the status names it", || {
        let status = home.run(&["status"]).success();
        status.contains(missing).then_some(status)
    });
    assert!(status.contains("notify    desktop: 0 sent, 1 not delivered"), "{status}");
    assert_eq!(status.matches(missing).count(), 1);
    let tested = home.run(&["notify", "test"]);
    assert_eq!((tested.code, tested.out), (1, format!("desktop: not delivered: {missing}\n")));
    let unknown = home.run(&["notify", "test", "--target", "phone"]);
    assert!(unknown.code == 1 && unknown.err.contains("no target is called \"phone\""), "{unknown:?}");
}

#[test]
fn secrets_of_targets_are_in_no_other_file_and_in_no_output() {
    let home = test_home();
    let addr = unused_addr();
    let config = format!(
        "[notify]\ntargets = [{{ kind = \"webhook\", url = \"http://{addr}/\", secret = \"hunter2\" }}, \
         {{ kind = \"ntfy\", url = \"http://{addr}/topic\", token = \"hunter2\" }}]\n"
    );
    let daemon = up_with(&home, &config, |command| {
        command.env("FLIGHTDECK_LOG", "debug");
    });
    end_a_turn(&daemon, "s");
    let mut said = home.run(&["notify", "test"]).out;
    assert!(said.contains("webhook: not delivered"), "{said}");
    fs::write(home.paths().config, config.replace("kind = \"ntfy\"", "kind = \"nty\"")).unwrap();
    said += &until("the mistake is reported", || {
        let status = home.run(&["status"]).success();
        status.contains("nty").then_some(status)
    });
    fs::remove_file(home.paths().config).unwrap();
    assert!(!said.contains("hunter2") && !daemon.stderr().contains("hunter2"), "{said}");
    let found =
        std::process::Command::new("grep").args(["-rlF", "hunter2"]).arg(home.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn after_kill_9_only_the_target_that_had_not_got_the_note_gets_it() {
    let home = test_home();
    let (bin, said) = (home.path().join("bin"), home.path().join("said"));
    fs::create_dir(&bin).unwrap();
    let teller =
        script(&bin, "teller", &format!("read -r line; printf '%s\\n' \"$line\" >> {}", said.display()));
    let addr = unused_addr();
    let config = format!(
        "[notify]\nsettle_ms = 50\ntargets = [{{ kind = \"webhook\", url = \"http://{addr}/\" }}, \
         {{ kind = \"command\", command = \"{}\" }}]\n",
        teller.display()
    );
    let daemon = up(&home, &bin, &config);
    end_a_turn(&daemon, "s");
    until("the command has run, and its row is marked", || {
        let status = home.run(&["status", "--json"]).json();
        (status["notify"][1]["sent"] == 1).then_some(())
    });
    // The mark follows the count; a later note of the same target shows that it is stored.
    end_a_turn(&daemon, "t");
    until("the second note has come", || (notes_in_file(&said).len() == 2).then_some(()));
    daemon.kill();
    let server = NoteServer::start_at(addr);
    let daemon = up(&home, &bin, &config);
    until("the webhook has both notes", || (server.notes().len() >= 2).then_some(()));
    end_a_turn(&daemon, "u");
    until("the third note has come", || (server.notes().len() >= 3).then_some(()));
    until("it has reached the command", || {
        notes_in_file(&said).contains(&"completed u".to_owned()).then_some(())
    });
    let mut notes = server.notes();
    notes.sort();
    assert_eq!(notes, ["completed s", "completed t", "completed u"]);
    // The mark of the second note may be lost: the daemon was killed just after it was sent.
    let first: Vec<_> = notes_in_file(&said).into_iter().filter(|note| note == "completed s").collect();
    assert_eq!(first.len(), 1, "{:?}", notes_in_file(&said));
}
