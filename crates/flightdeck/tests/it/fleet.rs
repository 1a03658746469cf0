//! `flightdeck fleet` with a real tmux server.

use std::fs;
use std::process::Command;

use flightdeck_e2e::testkit::{TestHome, until};

use crate::home::test_home;

/// A person with a tmux server of their own.
struct SeatFleet {
    home: TestHome,
}

/// `None` where there is no tmux.
fn fleet() -> Option<SeatFleet> {
    if Command::new("tmux").arg("-V").output().is_err() {
        assert!(std::env::var("CI").is_err(), "tmux is not installed");
        eprintln!("SKIPPED: tmux is not installed");
        return None;
    }
    let home = test_home();
    for dir in ["api", "web"] {
        fs::create_dir(home.path().join(dir)).unwrap();
    }
    let command = "sh -c 'echo $FLIGHTDECK_SEAT in $PWD >> ../seats; exec cat'";
    let file = format!(
        "session: shop\nseats:\n  - {{name: api, dir: api, command: \"{command}\"}}\n  - {{name: web, dir: web, parent: api, command: \"{command}\"}}\n"
    );
    fs::write(home.path().join("fleet.yaml"), file).unwrap();
    Some(SeatFleet { home })
}

impl SeatFleet {
    fn run(&self, args: &[&str]) -> (i32, String) {
        let mut command = self.home.flightdeck(&[&["fleet"], args].concat());
        let output = self.in_terminal(&mut command).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    }

    fn in_terminal<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("PATH", "/usr/bin:/bin")
            .env("TMUX_TMPDIR", self.home.path())
            .env("TERM", "xterm-256color")
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut tmux = self.home.bare("tmux".as_ref());
        let output = self.in_terminal(&mut tmux).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn windows(&self) -> Vec<String> {
        self.tmux(&["list-windows", "-t", "=shop", "-F", "#{window_name}"])
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

impl Drop for SeatFleet {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_fleet_is_started_once_repaired_and_stopped() {
    let Some(fleet) = fleet() else { return };
    assert_eq!(fleet.run(&["attach"]).0, 1, "nothing runs yet");
    assert_eq!(fleet.run(&["up"]), (0, "api started\nweb started\n".into()));
    let seats = until("both seats run", || {
        let seats = fs::read_to_string(fleet.home.path().join("seats")).unwrap_or_default();
        (seats.lines().count() == 2).then_some(seats)
    });
    let expected =
        |seat: &str| format!("{seat} in {}", fleet.home.path().join(seat).canonicalize().unwrap().display());
    assert!(seats.contains(&expected("api")) && seats.contains(&expected("web")), "{seats}");
    assert_eq!(fleet.run(&["up"]), (0, "api was running\nweb was running\n".into()));
    // A person may give a window another name; another window is not ours.
    fleet.tmux(&["rename-window", "-t", "=shop:web", "my site"]);
    fleet.tmux(&["new-window", "-d", "-t", "=shop:", "-n", "mine", "cat"]);
    fleet.tmux(&["kill-window", "-t", "=shop:api"]);
    assert_eq!(fleet.run(&["up"]), (0, "api started\nweb was running\n".into()));
    assert_eq!(fleet.windows().len(), 3);
    assert_eq!(fleet.run(&["down"]), (0, "api stopped\nweb stopped\n".into()));
    assert_eq!(fleet.windows(), ["mine"]);
    assert_eq!(fleet.run(&["down"]), (0, "api was not running\nweb was not running\n".into()));
}

#[test]
fn a_mistake_in_the_file_starts_nothing() {
    let Some(fleet) = fleet() else { return };
    fs::write(fleet.home.path().join("fleet.yaml"), "seats: [{name: api}, {name: web, dir: nowhere}]")
        .unwrap();
    let (code, said) = fleet.run(&["up"]);
    assert!(code == 1 && said.contains("seat web: there is no directory"), "{said}");
    assert_eq!(fleet.windows(), [""; 0]);
    assert_eq!(fleet.run(&["up", "other.yaml"]).0, 1);
}
