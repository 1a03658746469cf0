//! The board in a real terminal (tmux).

use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::tmux::{Tmux, WithTmux};

const BINARY: &str = env!("CARGO_BIN_EXE_flightdeck");

fn tell(daemon: &TestDaemon, session: &str, name: &str, more: Value) {
    let cwd = "/w/a-project-with-a-rather-long-name";
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": cwd, "prompt_id": "p1"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

/// Three sessions wait; 27 work, with long activity texts.
fn fleet(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    for n in 0..30 {
        let id = format!("{n:08}-of-a-fleet");
        let words = if n % 2 == 0 {
            "Make the login page blue again "
        } else {
            "ログインページを青くする "
        };
        tell(&daemon, &id, "UserPromptSubmit", json!({"prompt": words.repeat(9)}));
        let read = |t: &str| {
            json!({"tool_name": "Read", "tool_use_id": t, "error": "gone",
            "tool_input": {"file_path": "/w/a-project-with-a-rather-long-name/src/page.css"}})
        };
        tell(&daemon, &id, "PreToolUse", read("t1"));
        // Two calls at once: the second still runs after the first has failed, so the failure is the newest event.
        if n >= 3 {
            tell(&daemon, &id, "PreToolUse", read("t2"));
        }
        tell(&daemon, &id, "PostToolUseFailure", read("t1"));
        if n < 3 {
            tell(&daemon, &id, "Stop", json!({}));
        }
    }
    daemon
}

fn open(tmux: &Tmux, (columns, rows): (u16, u16), script: &str) {
    let (x, y) = (columns.to_string(), rows.to_string());
    tmux.run(&["new-session", "-d", "-s", "a", "-x", &x, "-y", &y, "sh", "-c", script, BINARY]);
}

#[test]
fn a_session_is_one_line_in_a_terminal_of_any_width() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    let _daemon = fleet(&home);
    // Otherwise the server would end with each session, and the next session might still find it.
    tmux.run(&["new-session", "-d", "-s", "stays", "read x"]);
    for columns in [45, 80, 100, 120] {
        open(&tmux, (columns, 50), "\"$0\" ls; echo END; read x");
        let screen = until("all is listed", || Some(tmux.screen()).filter(|s| s.contains("END")));
        let lines: Vec<_> = screen.lines().take_while(|line| *line != "END").collect();
        assert_eq!(
            (lines[0], lines[4], lines.len()),
            ("Needs you 0 + 3 idle", "Running 27", 32),
            "{columns}: {screen}"
        );
        assert!(lines[5..].iter().all(|line| line.starts_with("  ▸ Read: /w/a-pro")), "{columns}: {screen}");
        if columns == 120 {
            assert!(lines[5..].iter().all(|line| line.ends_with("… [failed: Read]")), "{screen}");
        }
        tmux.run(&["kill-session", "-t", "=a"]);
    }
}

#[test]
fn watch_uses_the_alternate_screen_and_restores_the_terminal() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    let daemon = fleet(&home);
    // tmux reports the alternate screen and the cursor as the program set them.
    let modes = || {
        tmux.run(&["display-message", "-p", "-t", "=a:", "#{alternate_on} #{cursor_flag} #{history_size}"])
    };
    open(&tmux, (100, 20), "trap : INT; echo BEFORE; \"$0\" ls --watch; echo \"LEFT $?\"; read x");
    let screen = until("the board is drawn", || Some(tmux.screen()).filter(|s| s.contains("more")));
    let lines: Vec<_> = screen.lines().collect();
    assert_eq!((lines[0], lines[4]), ("Needs you 0 + 3 idle", "Running 27"), "{screen}");
    assert_eq!((lines.len(), lines[19]), (20, "… and 13 more"), "{screen}");
    assert_eq!(modes(), "1 0 0\n");

    tell(&daemon, "00000009-of-a-fleet", "Stop", json!({}));
    until("the change is drawn", || tmux.screen().starts_with("Needs you 0 + 4 idle\n").then_some(()));
    tmux.run(&["resize-window", "-t", "=a:", "-x", "60", "-y", "10"]);
    until("it fits again", || tmux.screen().trim_end().ends_with("\n… and 23 more").then_some(()));

    tmux.run(&["send-keys", "-t", "=a:", "x", "C-c"]);
    until("the terminal is back", || tmux.screen().starts_with("BEFORE\nLEFT 0\n").then_some(()));
    assert_eq!(modes(), "0 1 0\n");
}

#[test]
fn watch_prints_why_it_ended_below_the_old_screen() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    let daemon = fleet(&home);
    open(&tmux, (100, 20), "\"$0\" ls --watch; echo \"LEFT $?\"; read x");
    until("the board is drawn", || tmux.screen().contains("more").then_some(()));
    daemon.stop();
    let told = "flightdeck: the daemon stopped\nLEFT 1\n";
    until("the terminal is back", || tmux.screen().starts_with(told).then_some(()));
}
