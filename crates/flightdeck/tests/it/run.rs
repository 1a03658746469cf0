//! `flightdeck run` in a real terminal: keys, job control, size, exit code, and restarts that a daemon orders.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use flightdeck_e2e::testkit::{TestHome, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::tmux::{Tmux, WithTmux};

/// A shell with job control in a terminal, and a stand-in for the client.
struct RunTerminal {
    tmux: Tmux,
    home: TestHome,
}

/// `None` where there is no tmux.
fn desk() -> Option<RunTerminal> {
    let home = test_home();
    let tmux = home.tmux()?;
    install_client(&home);
    let desk = RunTerminal { tmux, home };
    desk.tmux.run(&[
        "new-session",
        "-d",
        "-s",
        "a",
        "-x",
        "90",
        "-y",
        "24",
        "bash",
        "--norc",
        "--noprofile",
        "-i",
    ]);
    desk.types("PS1='$ '; echo shell is ready$((1 + 1))");
    desk.shows("shell is ready2");
    Some(desk)
}

fn install_client(home: &TestHome) {
    // `claude` itself is the folder of the client's settings.
    fs::create_dir(home.path().join("bin")).unwrap();
    for (name, script) in [("claude", "fake-claude.sh"), ("interrupted", "interrupted-client.sh")] {
        let script = format!("exec bash '{}/tests/it/{script}' \"$@\"", env!("CARGO_MANIFEST_DIR"));
        flightdeck_sim::programs::write_script(&home.path().join("bin").join(name), &script).unwrap();
    }
}

fn log(home: &TestHome) -> String {
    fs::read_to_string(home.path().join("client-log")).unwrap_or_default()
}

fn logged(home: &TestHome, text: &str) {
    until(text, || log(home).contains(text).then_some(()));
}

impl RunTerminal {
    fn types(&self, line: &str) {
        self.tmux.run(&["send-keys", "-t", "=a:", "-l", line]);
        self.press("Enter");
    }

    fn press(&self, key: &str) {
        self.tmux.run(&["send-keys", "-t", "=a:", key]);
    }

    fn shows(&self, text: &str) {
        until(text, || self.tmux.screen().contains(text).then_some(()));
    }

    fn runs(&self, options: &str) {
        self.types(&format!("{} run {options}", env!("CARGO_BIN_EXE_flightdeck")));
    }
}

/// The daemon's side of the connection.
struct Orders(BufReader<UnixStream>);

impl Orders {
    /// Waits for the supervisor of the client, and returns the process group that it names.
    fn accept(listener: &UnixListener) -> (Self, u64) {
        let mut orders = Self(BufReader::new(listener.accept().unwrap().0));
        let request = orders.line();
        assert_eq!(request["cmd"], "supervise");
        let group = request["args"]["group"].as_u64().unwrap();
        (orders, group)
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn restart(&mut self, prompt: &str) -> Value {
        let frame = json!({"ok": true, "data": {"prompt": prompt}});
        writeln!(self.0.get_mut(), "{frame}").unwrap();
        self.line()
    }
}

fn listen(home: &TestHome) -> UnixListener {
    let socket = home.paths().socket();
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    UnixListener::bind(socket).unwrap()
}

#[test]
fn keys_job_control_and_the_size_of_the_terminal_reach_the_client() {
    let Some(desk) = desk() else { return };
    let home = &desk.home;
    desk.types("stty -g > before");
    desk.runs("-- bin/claude one");
    logged(home, "args=one|");
    desk.press("C-c");
    logged(home, "interrupted");
    desk.press("C-z");
    desk.shows("Stopped");
    desk.types("echo shell has it$((1 + 1))");
    desk.shows("shell has it2");
    assert!(!log(home).contains("line echo"), "{}", log(home));
    desk.types("fg");
    logged(home, "continued");
    desk.types("hello");
    logged(home, "line hello");
    desk.tmux.run(&["resize-window", "-t", "=a:", "-x", "70", "-y", "20"]);
    logged(home, "size 20 70");
    desk.types("raw");
    logged(home, "line raw");
    desk.types("exit 7");
    logged(home, "line exit 7");
    desk.types("echo code=$?; stty -g > after");
    desk.shows("code=7");
    let settings = |name: &str| {
        until(name, || fs::read_to_string(home.path().join(name)).ok().filter(|t| t.ends_with('\n')))
    };
    assert_eq!(settings("before"), settings("after"));
}

#[test]
fn a_client_in_the_background_leaves_the_terminal_to_the_shell() {
    let Some(desk) = desk() else { return };
    desk.runs("-- bin/claude &");
    logged(&desk.home, "start");
    desk.types("echo shell has it$((1 + 1))");
    desk.shows("shell has it2");
    desk.types("fg");
    desk.types("hello");
    logged(&desk.home, "line hello");
}

#[test]
fn a_restart_starts_fresh_with_the_prompt_in_the_same_terminal_and_stops_at_the_limit() {
    let Some(desk) = desk() else { return };
    let (home, listener) = (&desk.home, listen(&desk.home));
    desk.runs("--seat builder --max-restarts 2 -- bin/claude --resume old --model opus 'fix it'");
    let mut groups = Vec::new();
    for prompt in ["go on", "go on again"] {
        let (mut orders, group) = Orders::accept(&listener);
        logged(home, &format!("start {group} seat=builder agent=builder"));
        assert_eq!(orders.restart(prompt), json!({"accepted": true}));
        groups.push(group);
        logged(home, &format!("args={prompt}|--model|opus|"));
    }
    let (mut orders, group) = Orders::accept(&listener);
    assert_eq!(orders.restart("once more"), json!({"accepted": false}));
    assert!(!groups.contains(&group) && log(home).matches("term").count() == 2, "{}", log(home));
    desk.types("still here");
    logged(home, "line still here");
    desk.types("exit 3");
    logged(home, "line exit 3");
    desk.types("echo code=$?");
    desk.shows("code=3");
}

#[test]
fn without_a_terminal_and_a_daemon_it_only_runs_the_command() {
    let home = test_home();
    let run = |script: &str| {
        let mut command = home.flightdeck(&["run", "--", "/bin/sh", "-c", script]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"from the pipe").unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run("cat; exit 5"), (Some(5), "from the pipe".into()));
    assert_eq!(run("cat > /dev/null; kill -9 $$"), (Some(137), String::new()));
    let missing = home.run(&["run", "--", "/no/such/claude"]);
    assert_eq!(missing.code, 127, "{missing:?}");
    assert!(missing.err.contains("cannot start /no/such/claude"), "{missing:?}");
    assert_eq!(home.run(&["run", "--seat", "a b", "--", "claude"]).code, 2);
}

#[test]
fn a_signal_to_the_supervisor_reaches_the_client_and_two_interrupts_end_both() {
    for (signals, code) in [(vec![Signal::TERM], 143), (vec![Signal::INT, Signal::INT], 143)] {
        let home = test_home();
        install_client(&home);
        let claude = home.path().join("bin/claude");
        let mut command = home.flightdeck(&["run", "--"]);
        command.arg(claude).env("PATH", "/usr/bin:/bin").stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        logged(&home, "start");
        for (sent, signal) in signals.iter().enumerate() {
            kill_process(Pid::from_child(&child), *signal).unwrap();
            if *signal == Signal::INT && sent == 0 {
                logged(&home, "interrupted");
            }
        }
        let ended = until("the supervisor has ended", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(code), "{signals:?}: {}", log(&home));
        assert!(log(&home).ends_with("term\n"), "{}", log(&home));
    }
}

#[test]
fn ctrl_c_twice_ends_a_client_that_ignores_it() {
    let Some(desk) = desk() else { return };
    desk.types("stty -g > before");
    desk.runs("-- bin/interrupted stubborn");
    logged(&desk.home, "start");
    // Two keys count if they come within a second: on a busy machine more may be needed.
    until("the client is told to end", || match log(&desk.home).contains("term") {
        true => Some(()),
        false => {
            desk.press("C-c");
            None
        }
    });
    desk.types("stty -g > after; echo shell has it$((1 + 1))");
    desk.shows("shell has it2");
    let settings = |name: &str| fs::read_to_string(desk.home.path().join(name)).unwrap();
    assert_eq!(settings("before"), settings("after"));
    assert_eq!(log(&desk.home).matches("start").count(), 1, "{}", log(&desk.home));
}

#[test]
fn a_client_that_ends_itself_at_the_second_ctrl_c_keeps_its_exit_code_and_is_not_started_again() {
    for (kind, seen, code) in [("twice", "interrupted", "code=9"), ("raw", "key", "code=7")] {
        let Some(desk) = desk() else { return };
        let listener = listen(&desk.home);
        desk.runs(&format!("-- bin/interrupted {kind}"));
        let _orders = Orders::accept(&listener);
        logged(&desk.home, "start");
        for n in 1..=2 {
            desk.press("C-c");
            logged(&desk.home, &format!("{seen} {n}"));
        }
        desk.types("echo code=$?");
        desk.shows(code);
        let log = log(&desk.home);
        assert!(log.matches("start").count() == 1 && !log.contains("term"), "{kind}: {log}");
    }
}

#[test]
fn a_signal_that_the_supervisor_passes_on_counts_once() {
    let Some(desk) = desk() else { return };
    desk.runs("-- bin/interrupted patient");
    logged(&desk.home, "start");
    let log_now = log(&desk.home);
    let (_, after) = log_now.split_once("supervisor=").unwrap();
    let supervisor = after.split('.').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(supervisor).unwrap(), Signal::INT).unwrap();
    logged(&desk.home, "still here");
    assert!(!log(&desk.home).contains("term"), "{}", log(&desk.home));
}
