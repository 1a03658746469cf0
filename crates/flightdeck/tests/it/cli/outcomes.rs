//! Help, exit codes and errors, and where hooks are registered.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::tell;
use crate::home::test_home;

#[test]
fn without_a_daemon_each_command_prints_how_to_start_it() {
    let home = test_home();
    for args in [&["ls"][..], &["ls", "--watch"], &["show", "x"], &["explain", "x"], &["next"], &["status"]] {
        let said = home.run(args);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{args:?}");
        assert_eq!(
            said.err, "flightdeck: no daemon is running for ~/fd: start it with `flightdeck`\n",
            "{args:?}"
        );
    }
}

#[test]
fn hook_help_explains_the_hook() {
    let home = test_home();
    for command in ["hook", "statusline"] {
        let said = home.run(&[command, "--help"]).success();
        assert!(said.contains("Claude Code") && said.contains("Usage: flightdeck"), "{said}");
    }
}

#[test]
fn hooks_commands_print_where_hooks_are_and_that_they_are_gone() {
    let home = test_home();
    let mut up = home.flightdeck(&["up", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let mut next = || home.with_tilde(&lines.next().unwrap().unwrap());
    assert!(next().starts_with("Flightdeck is at http://"));
    assert_eq!(next(), "Its hooks are registered in ~/claude/settings.json while it runs");
    kill_process(Pid::from_child(&up), Signal::INT).unwrap();
    assert_eq!(next(), "Its hooks were removed from ~/claude/settings.json");
    assert!(up.wait().unwrap().success());
}

#[test]
fn usage_errors_exit_2_and_help_and_version_0() {
    let home = test_home();
    for args in
        [&["frobnicate"][..], &["ls", "--group", "mine"], &["show"], &["up", "--port", "99999"], &["--frob"]]
    {
        let said = home.run(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains("Usage:") || said.err.contains("For more information"), "{}", said.err);
    }
    assert_eq!(home.run(&["--version"]).success(), concat!("flightdeck ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(home.run(&["--help"]).success().contains("completions"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&["completions", shell]).success().contains("flightdeck"));
    }
}

#[test]
fn a_closed_output_pipe_is_no_failure() {
    let home = test_home();
    let daemon = home.daemon();
    for n in 0..100 {
        tell(&daemon, &format!("s{n}"), "/w", "UserPromptSubmit", json!({"prompt": "x".repeat(400)}));
    }
    for args in [&["ls"][..], &["ls", "--json"], &["completions", "bash"], &["completions", "zsh"]] {
        let mut command = home.flightdeck(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr)),
            (Some(0), "".into()),
            "{args:?}"
        );
    }
}
