//! `flightdeck tui` in a real tmux: it draws, answers, jumps, and leaves a clean terminal whatever ends it.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::tmux::{Tmux, WithTmux};

const BINARY: &str = env!("CARGO_BIN_EXE_flightdeck");

/// A shell that runs the TUI, prints its exit code, and prints SAME if the terminal's settings are the same as before.
const SHELL: &str = "stty -g > before; echo BEFORE; \"$0\" tui $1; echo \"LEFT $?\"; stty -g > after; cmp before after && echo SAME; read x";

fn tell(daemon: &TestDaemon, session: &str, name: &str, more: Value) {
    let mut payload =
        json!({"session_id": session, "hook_event_name": name, "cwd": "/w/shop", "prompt_id": "p1"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

/// 54 sessions: three wait for the next prompt, the others work.
fn fleet(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    for n in 0..54 {
        let id = format!("{n:08}-of-a-fleet");
        tell(&daemon, &id, "UserPromptSubmit", json!({"prompt": format!("Task {n} 日本語 🦀")}));
        match n {
            0..3 => tell(&daemon, &id, "Stop", json!({})),
            _ => tell(
                &daemon,
                &id,
                "PreToolUse",
                json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "cargo test"}}),
            ),
        }
    }
    daemon
}

struct TuiTerminal {
    tmux: Tmux,
    home: TestHome,
}

impl TuiTerminal {
    /// `None` where there is no tmux.
    fn new(home: TestHome) -> Option<Self> {
        let tmux = home.tmux()?;
        // This tmux session keeps the server alive when the others end.
        tmux.run(&["new-session", "-d", "-s", "stays", "read x"]);
        Some(Self { tmux, home })
    }

    /// Starts the TUI in the tmux session `a`, and waits for its first frame.
    fn open(&self, (columns, rows): (u16, u16), option: &str) -> String {
        let (x, y) = (columns.to_string(), rows.to_string());
        self.tmux.run(&[
            "new-session",
            "-d",
            "-s",
            "a",
            "-x",
            &x,
            "-y",
            &y,
            "sh",
            "-c",
            SHELL,
            BINARY,
            option,
        ]);
        until("the board is drawn", || Some(self.tmux.screen()).filter(|screen| screen.contains("RUNNING")))
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux.run(&[&["send-keys", "-t", "=a:"], keys].concat());
    }

    #[track_caller]
    fn shows(&self, text: &str) -> String {
        until(text, || Some(self.tmux.screen()).filter(|screen| screen.contains(text)))
    }

    /// The alternate screen, the cursor, the mouse and line wrapping, as the program set them.
    fn modes(&self) -> String {
        let format = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{wrap_flag}";
        self.tmux.run(&["display-message", "-p", "-t", "=a:", format])
    }

    #[track_caller]
    fn is_clean_after(&self, what: &str) {
        self.shows("LEFT 0");
        let screen = self.shows("SAME");
        assert!(screen.starts_with("BEFORE\n"), "{what}: {screen}");
        assert_eq!(self.modes(), "0 1 0 1\n", "{what}");
    }

    /// The process of the TUI: the child of the pane's shell.
    fn tui_pid(&self) -> u32 {
        let shell = self.tmux.run(&["display-message", "-p", "-t", "=a:", "#{pane_pid}"]);
        until("the TUI runs", || {
            let children =
                std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", shell.trim())).ok()?;
            children.split_whitespace().find_map(|pid| {
                let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
                (name.trim() == "flightdeck").then(|| pid.parse().ok())?
            })
        })
    }

    fn signal(&self, name: &str) {
        let pid = self.tui_pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }
}

#[test]
fn the_board_of_54_sessions_is_drawn_searched_and_left() {
    let home = test_home();
    let daemon = fleet(&home);
    let Some(desk) = TuiTerminal::new(home) else { return };
    let screen = desk.open((80, 24), "");
    assert!(screen.contains("51 running") && screen.contains("NEEDS YOU 0 + 3 idle"), "{screen}");
    assert_eq!(desk.modes(), "1 0 1 0\n");
    tell(&daemon, "00000009-of-a-fleet", "Stop", json!({}));
    desk.shows("NEEDS YOU 0 + 4 idle");
    desk.keys(&["/", "Task 42", "Enter"]);
    desk.shows("Task 42 日本語 🦀");
    // The terminal would read an Escape that is sent together with the next key as Alt.
    desk.keys(&["Escape"]);
    until("the search is cleared", || (!desk.tmux.screen().contains("[/Task 42]")).then_some(()));
    desk.keys(&["?"]);
    desk.shows("the next that needs you");
    desk.keys(&["?", "q"]);
    desk.is_clean_after("q");
}

#[test]
fn y_allows_the_request_of_a_held_hook() {
    let home = test_home();
    let daemon = home.daemon();
    let Some(desk) = TuiTerminal::new(home) else { return };
    tell(&daemon, "s-1", "UserPromptSubmit", json!({"prompt": "tidy up"}));
    let request = json!({"session_id": "s-1", "hook_event_name": "PermissionRequest", "cwd": "/w/shop", "tool_name": "Bash",
        "tool_input": {"command": "git rebase main"}});
    let mut hook = desk.home.flightdeck(&["hook"]);
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), request.to_string().as_bytes()).unwrap();
    until("the request is there", || {
        (daemon.card("s-1")["asks"].as_array()?.first()?["answerable"] == true).then_some(())
    });
    desk.tmux.run(&["new-session", "-d", "-s", "a", "-x", "100", "-y", "20", "sh", "-c", SHELL, BINARY, ""]);
    desk.shows("$ git rebase main");
    // The TUI ignores answer keys until the request has been on the screen for a moment.
    until("the key is taken", || {
        desk.keys(&["y"]);
        Some(desk.tmux.screen())
            .filter(|screen| screen.contains("takes it back") || screen.contains("allowed"))
    });
    let verdict = hook.wait_with_output().unwrap();
    let verdict: Value = serde_json::from_slice(&verdict.stdout).unwrap();
    assert_eq!(verdict["hookSpecificOutput"]["decision"]["behavior"], "allow", "{verdict}");
    let resolution = daemon.card("s-1")["asks"][0]["resolution"].clone();
    assert_eq!((&resolution["how"], &resolution["by"]), (&json!("allowed"), &json!("tui")));
}

#[test]
fn a_daemon_that_restarts_is_found_again() {
    let home = test_home();
    let daemon = fleet(&home);
    let Some(desk) = TuiTerminal::new(home) else { return };
    desk.open((100, 20), "");
    daemon.stop();
    desk.shows("not connected");
    let daemon = desk.home.daemon();
    tell(&daemon, "00000009-of-a-fleet", "Stop", json!({}));
    desk.shows("NEEDS YOU 0 + 4 idle");
    until("the note is gone", || (!desk.tmux.screen().contains("not connected")).then_some(()));
    desk.keys(&["q"]);
    desk.is_clean_after("a restart");
}

#[test]
fn without_a_daemon_one_is_started_and_stays() {
    let home = test_home();
    let Some(desk) = TuiTerminal::new(home) else { return };
    desk.tmux.run(&["new-session", "-d", "-s", "a", "-x", "160", "-y", "20", "sh", "-c", SHELL, BINARY, ""]);
    let screen = desk.shows("started a daemon (pid ");
    let started = StartedDaemon(screen.split("pid ").nth(1).unwrap().split(',').next().unwrap().to_owned());
    desk.shows("No session yet.");
    desk.keys(&["q"]);
    desk.is_clean_after("a start");
    let status = desk.home.run(&["status", "--json"]).json();
    assert_eq!(status["pid"].to_string(), started.0);
    drop(started);
    until("it has ended", || (desk.home.run(&["status"]).code != 0).then_some(()));
}

#[test]
fn a_popup_says_that_it_started_a_daemon_why_it_did_not_jump_and_that_the_daemon_is_gone() {
    let home = test_home();
    let Some(desk) = TuiTerminal::new(home) else { return };
    desk.tmux.run(&[
        "new-session",
        "-d",
        "-s",
        "a",
        "-x",
        "60",
        "-y",
        "16",
        "sh",
        "-c",
        SHELL,
        BINARY,
        "--popup",
    ]);
    let screen = desk.shows("started a daemon (pid ");
    let started = StartedDaemon(screen.split("pid ").nth(1).unwrap().split(',').next().unwrap().to_owned());
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains("it stays when you leave"), "{screen}");
    desk.home
        .hook(r#"{"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "go", "cwd": "/w"}"#);
    desk.shows("RUNNING 1");
    desk.keys(&["Enter"]);
    let screen = desk.shows("knows no tmux pane of this session");
    assert!(screen.lines().last().unwrap().starts_with(" /"), "the text field stays: {screen}");
    drop(started);
    desk.shows("not connected, trying again");
    desk.keys(&["Escape"]);
    desk.is_clean_after("a popup without a daemon");
}

/// A daemon that the TUI started; it is asked to end when this is dropped.
struct StartedDaemon(String);

impl Drop for StartedDaemon {
    fn drop(&mut self) {
        // The daemon may have ended by itself; then the test has failed already.
        let _ = Command::new("kill").arg(&self.0).status();
    }
}

#[test]
fn signals_and_a_resize_storm_leave_the_terminal_clean() {
    let home = test_home();
    let _daemon = fleet(&home);
    let Some(desk) = TuiTerminal::new(home) else { return };
    for signal in ["TERM", "INT", "HUP"] {
        desk.open((100, 20), "");
        desk.signal(signal);
        desk.is_clean_after(signal);
        desk.tmux.run(&["kill-session", "-t", "=a"]);
    }
    desk.open((100, 20), "");
    for n in 0..60_u16 {
        let (x, y) = ((20 + n * 7 % 200).to_string(), (4 + n * 3 % 60).to_string());
        desk.tmux.run(&["resize-window", "-t", "=a:", "-x", &x, "-y", &y]);
    }
    desk.tmux.run(&["resize-window", "-t", "=a:", "-x", "90", "-y", "12"]);
    until("the last size is drawn", || {
        let screen = desk.tmux.screen();
        let lines: Vec<&str> = screen.lines().collect();
        (lines.len() == 12 && lines[0].contains("51 running") && lines[11].ends_with("q quit")).then_some(())
    });
    desk.keys(&["q"]);
    desk.is_clean_after("a resize storm");
}

#[test]
fn a_suspended_tui_gives_the_terminal_back_and_continues() {
    let home = test_home();
    let _daemon = fleet(&home);
    let Some(desk) = TuiTerminal::new(home) else { return };
    // Ctrl-Z needs an interactive shell with job control.
    let script = "PS1='READY '; export PS1; exec bash --norc --noprofile -i";
    desk.tmux.run(&["new-session", "-d", "-s", "a", "-x", "100", "-y", "20", "sh", "-c", script]);
    desk.shows("READY");
    desk.keys(&[&format!("{BINARY} tui"), "Enter"]);
    desk.shows("RUNNING");
    for how in ["key", "TSTP"] {
        match how {
            "key" => desk.keys(&["C-z"]),
            signal => desk.signal(signal),
        }
        desk.shows("Stopped");
        assert_eq!(desk.modes(), "0 1 0 1\n", "{how}");
        desk.keys(&["clear; fg", "Enter"]);
        desk.shows("51 running");
        assert_eq!(desk.modes(), "1 0 1 0\n", "{how}");
    }
    // The TUI cannot handle SIGSTOP. It draws the screen again when it continues.
    desk.signal("STOP");
    desk.shows("Stopped");
    desk.keys(&["clear; fg", "Enter"]);
    desk.shows("51 running");
    desk.keys(&["q"]);
    until("the prompt is back", || (desk.modes() == "0 1 0 1\n").then_some(()));
    desk.keys(&["echo AL''IVE", "Enter"]);
    desk.shows("ALIVE");
}

#[test]
fn the_tui_ends_with_its_tmux_server_and_refuses_a_pipe() {
    let home = test_home();
    let _daemon = fleet(&home);
    let Some(desk) = TuiTerminal::new(home) else { return };
    desk.open((100, 20), "");
    let pid = desk.tui_pid();
    desk.tmux.run(&["kill-server"]);
    until("it has ended", || (!std::path::Path::new(&format!("/proc/{pid}/exe")).exists()).then_some(()));
    let piped = desk.home.run(&["tui"]);
    assert_eq!(piped.code, 1);
    assert!(piped.err.contains("the TUI needs a terminal"), "{}", piped.err);
}

/// A pseudo terminal: the side of the person, and the path of the side of the program.
fn pseudo_terminal() -> (File, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_col: 80, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (File::from(master), name)
}

#[test]
fn it_ends_without_a_word_when_its_output_closes() {
    let home = test_home();
    let _daemon = fleet(&home);
    let (keys, screen) = (pseudo_terminal(), pseudo_terminal());
    let open = |name: &str| File::options().read(true).write(true).open(name).unwrap();
    // Without a controlling terminal no signal says that the terminal is gone.
    let mut command = home.bare("setsid".as_ref());
    command.arg(BINARY).arg("--home").arg(home.flightdeck_home()).arg("tui").env("TERM", "xterm-256color");
    command.stdin(open(&keys.1)).stdout(open(&screen.1)).stderr(Stdio::piped());
    let mut tui = command.spawn().unwrap();
    drop(command);
    let mut drawn = [0; 4096];
    let mut text = Vec::new();
    let mut reader = screen.0;
    while !String::from_utf8_lossy(&text).contains("RUNNING") {
        let read = reader.read(&mut drawn).unwrap();
        text.extend_from_slice(&drawn[..read]);
    }
    drop(reader);
    let code = until("it has ended", || tui.try_wait().unwrap());
    let mut said = String::new();
    tui.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((code.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn the_popup_jumps_to_the_right_pane_among_60() {
    let home = test_home();
    let Some(desk) = TuiTerminal::new(home) else { return };
    let daemon = desk.home.daemon();
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/jump-client.sh");
    desk.tmux.run(&["new-session", "-d", "-s", "work", "-x", "200", "-y", "50", "sleep 600"]);
    for n in 0..60 {
        desk.tmux.run(&["new-window", "-d", "-t", "=work:", "sh", client, BINARY, &format!("jump-{n:02}")]);
    }
    until("all sessions have their panes", || {
        let panes = daemon.board().iter().filter(|card| card["seat"]["pane"].is_string()).count();
        (panes == 60).then_some(())
    });
    let wanted = daemon.card("jump-37")["seat"]["pane"].clone();
    // A tmux client in a pane of another server attaches to the session, so that the jump has a terminal to be seen in.
    let attached = desk.tmux.attach("=work");
    until("a terminal is attached", || (!desk.tmux.run(&["list-clients"]).is_empty()).then_some(()));
    desk.tmux.run(&[
        "new-session",
        "-d",
        "-s",
        "a",
        "-x",
        "80",
        "-y",
        "20",
        "sh",
        "-c",
        SHELL,
        BINARY,
        "--popup",
    ]);
    desk.shows("60 ");
    desk.keys(&["-l", "jump-37"]);
    desk.shows("/jump-37");
    desk.keys(&["Enter"]);
    desk.is_clean_after("the jump");
    until("the pane is in front", || {
        let front = desk.tmux.run(&["display-message", "-p", "-t", "=work:", "#{pane_id}"]);
        (wanted == front.trim()).then_some(())
    });
    drop(attached);
}
