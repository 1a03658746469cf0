//! `flightdeck tmux install` on real tmux servers: files, keys, the status bar, colours, and the mark "seen".

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use flightdeck_e2e::testkit::{PATIENT_HOOK, TestHome, run_hook, until};
use serde_json::{Value, json};

use crate::home::test_home;
use crate::tmux::{Tmux, WithTmux};

#[test]
fn uninstall_restores_the_configuration_byte_for_byte() {
    let home = test_home();
    let (config, real) = (home.person().join(".tmux.conf"), home.path().join("dotfiles.conf"));
    symlink(&real, &config).unwrap();
    for before in ["set -g mouse on\n", "set -g mouse on", "# ü\r\n\r\n", ""] {
        fs::write(&real, before).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        home.run(&["tmux", "install"]).success();
        let installed = fs::read_to_string(&real).unwrap();
        assert!(installed.starts_with(before) && installed.contains("tmux.conf'"), "{installed}");
        home.run(&["tmux", "install"]).success();
        assert_eq!(fs::read_to_string(&real).unwrap(), installed, "a second install changes nothing");
        assert_eq!(home.run(&["tmux", "status", "--json"]).json()["installed"], true);
        home.run(&["tmux", "uninstall"]).success();
        assert_eq!(fs::read_to_string(&real).unwrap(), before);
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&config).unwrap().is_symlink());
        assert!(!home.flightdeck_home().join("tmux.conf").exists());
    }
    fs::remove_file(&config).unwrap();
    home.run(&["tmux", "install"]).success();
    assert!(config.exists());
    home.run(&["tmux", "uninstall"]).success();
    assert!(!config.exists(), "there was no file before");
    let status = home.run(&["tmux", "status"]);
    assert_eq!((status.code, status.out.as_str()), (1, "config  ~/person/.tmux.conf: not installed\n"));
}

/// All options, hooks and key bindings of a server.
fn whole(tmux: &Tmux) -> Vec<String> {
    let shown = [
        &["show-options", "-g"][..],
        &["show-options", "-s"],
        &["show-options", "-gw"],
        &["show-hooks", "-g"],
        &["show-hooks", "-gw"],
        &["list-keys"],
    ];
    shown.iter().map(|args| tmux.run(args)).collect()
}

fn install(home: &TestHome, tmux: &Tmux, more: &[&str]) -> String {
    let socket = tmux.socket.display().to_string();
    home.run(&[&["tmux", "install", "--socket", &socket], more].concat()).success()
}

#[test]
fn a_running_server_is_as_before_after_the_uninstall() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    for (name, value) in
        [("window-status-style", "fg=cyan,bold"), ("status-right", "%H:%M #{host}, 'x' \"y\"")]
    {
        tmux.run(&["set-option", "-g", name, value]);
    }
    let before = whole(&tmux);
    install(&home, &tmux, &["--popup-key", "M-f"]);
    install(&home, &tmux, &["--popup-key", "M-f"]);
    let status_right = tmux.run(&["show-options", "-gv", "status-right"]);
    assert!(status_right.starts_with("#("), "the line of the fleet comes first: {status_right}");
    assert!(status_right.ends_with("status --line) %H:%M #{host}, 'x' \"y\"\n"), "{status_right}");
    assert_eq!(status_right.matches("status --line").count(), 1, "{status_right}");
    let keys = tmux.run(&["list-keys", "-T", "prefix"]);
    for part in ["M-f", "tui --popup", "tui --sidebar", "focus next"] {
        assert!(keys.contains(part), "{part}: {keys}");
    }
    let socket = tmux.socket.display().to_string();
    assert_eq!(home.run(&["tmux", "status", "--socket", &socket, "--json"]).json()["loaded"], true);
    home.run(&["tmux", "uninstall", "--socket", &socket]).success();
    assert_eq!(whole(&tmux), before);
}

#[test]
fn the_line_of_the_fleet_shows_beside_a_long_pane_title() {
    let home = test_home();
    let (Some(tmux), Some(outer)) = (home.tmux(), home.tmux_named("outer")) else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "-x", "100", "-y", "24", "sleep 600"]);
    tmux.run(&["select-pane", "-t", "%0", "-T", "the title of a pane that is much longer than all"]);
    let length = |tmux: &Tmux| tmux.run(&["show-options", "-gv", "status-right-length"]);
    assert_eq!(length(&tmux), "40\n");
    let _daemon = home.daemon();
    works(&home, &tmux, "%0", "s-0");
    install(&home, &tmux, &[]);
    let raised = length(&tmux);
    let attach = format!("env -u TMUX tmux -u -S {} attach -t =a", tmux.socket.display());
    outer.run(&["new-session", "-d", "-s", "o", "-x", "100", "-y", "30", &attach]);
    let screen = until("the status bar has the line", || {
        Some(outer.screen_of("o")).filter(|screen| screen.contains("1 running"))
    });
    let bar = screen.lines().last().unwrap();
    // The person's own part is whole, up to the year of the date.
    assert!(bar.contains("1 running \"the title of a pane t\" "), "{bar}");
    assert!(bar.trim_end().chars().rev().take(2).all(|c| c.is_ascii_digit()), "{bar}");
    // A second install adds nothing, and a length that the person sets later counts.
    install(&home, &tmux, &[]);
    assert_eq!(length(&tmux), raised);
    tmux.run(&["set-option", "-g", "status-right-length", "60"]);
    install(&home, &tmux, &[]);
    let longer = |text: &str, by: i32| format!("{}\n", text.trim().parse::<i32>().unwrap() + by);
    assert_eq!(length(&tmux), longer(&raised, 20));
    home.run(&["tmux", "uninstall", "--socket", &tmux.socket.display().to_string()]).success();
    assert_eq!(length(&tmux), "60\n");
}

#[test]
fn an_install_with_another_key_takes_the_earlier_key_back() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    install(&home, &tmux, &["--popup-key", "M-f"]);
    let one = tmux.run(&["list-keys", "-T", "prefix"]);
    assert!(
        one.contains("M-f") && one.contains("display-message -d 4000"),
        "a message stays to be read: {one}"
    );
    install(&home, &tmux, &["--popup-key", "M-g"]);
    let other = tmux.run(&["list-keys", "-T", "prefix"]);
    assert!(!other.contains("M-f") && other.contains("M-g"), "{other}");
}

#[test]
fn a_key_that_the_configuration_binds_is_refused_without_a_server_too() {
    let home = test_home();
    let config = home.person().join(".tmux.conf");
    let taken = "set -g mouse on\nbind -r -N 'my windows' F choose-tree\n";
    fs::write(&config, taken).unwrap();
    let said = home.run(&["tmux", "install"]);
    assert!(said.code == 1 && said.err.contains("prefix F is bound to something else"), "{said:?}");
    assert!(said.err.contains("~/person/.tmux.conf, line 2"), "{}", said.err);
    assert_eq!(fs::read_to_string(&config).unwrap(), taken);
    home.run(&["tmux", "install", "--popup-key", "M-f"]).success();
    home.run(&["tmux", "install", "--popup-key", "M-f"]).success();
    // Another table, and a key that is unbound again, are free.
    home.run(&["tmux", "uninstall"]).success();
    fs::write(&config, "bind -n F choose-tree\nbind-key -T copy-mode B x\nbind N x\nunbind N\n").unwrap();
    home.run(&["tmux", "install"]).success();
}

#[test]
fn uninstalling_in_one_home_leaves_the_install_of_another() {
    let (home, other) = (test_home(), test_home());
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    let config = home.person().join(".tmux.conf").display().to_string();
    let socket = tmux.socket.display().to_string();
    install(&home, &tmux, &["--config", &config]);
    let (loaded, text) = (whole(&tmux), fs::read(&config).unwrap());
    let place = ["--config", &config, "--socket", &socket];
    let status = other.run(&[&["tmux", "status", "--json"], &place[..]].concat());
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!((&status["installed"], &status["loaded"]), (&json!(false), &json!(false)));
    let said = other.run(&[&["tmux", "uninstall"], &place[..]].concat()).success();
    assert!(said.ends_with("includes the file of another home. That install stays.\n"), "{said}");
    assert_eq!((whole(&tmux), fs::read(&config).unwrap()), (loaded, text));
    home.run(&[&["tmux", "uninstall"], &place[..]].concat()).success();
    assert!(!fs::exists(&config).unwrap() && !whole(&tmux).concat().contains("flightdeck"));
}

#[test]
fn what_is_there_after_an_install_and_an_uninstall_is_printed_as_json() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    let socket = tmux.socket.display().to_string();
    for (command, is) in [("install", true), ("status", true), ("uninstall", false), ("uninstall", false)] {
        let said = home.run(&["tmux", command, "--socket", &socket, "--json"]).json();
        let expected = json!({
            "installed": is, "config": "~/person/.tmux.conf", "included": "~/fd/tmux.conf", "server": "~/tmux",
            "loaded": is,
        });
        assert_eq!(said, expected, "{command}");
    }
}

#[test]
fn a_key_that_is_bound_to_something_else_is_refused() {
    let home = test_home();
    let Some(tmux) = home.tmux() else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "sleep 600"]);
    tmux.run(&["bind-key", "F", "display-message", "mine"]);
    let socket = tmux.socket.display().to_string();
    let said = home.run(&["tmux", "install", "--socket", &socket]);
    assert!(said.code == 1 && said.err.contains("prefix F is bound"), "{said:?}");
    assert!(!home.person().join(".tmux.conf").exists() && !home.flightdeck_home().join("tmux.conf").exists());
    assert_eq!(home.run(&["tmux", "install", "--next-key", "a b"]).code, 2);
}

/// Sends a hook as the process in a pane would.
fn hook(home: &TestHome, tmux: &Tmux, pane: &str, session: &str, name: &str, more: &Value) {
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    let pid = tmux.run(&["display-message", "-p", "-t", pane, "#{pane_pid}"]);
    hook.env("CLAUDE_PID", pid.trim()).env("TMUX_PANE", pane);
    hook.env("TMUX", format!("{},1,0", tmux.socket.display()));
    run_hook(&mut hook, &payload.to_string());
}

/// Each prompt has an id of its own: an equal payload within two seconds counts once.
fn works(home: &TestHome, tmux: &Tmux, pane: &str, session: &str) {
    static PROMPTS: AtomicU32 = AtomicU32::new(0);
    let id = PROMPTS.fetch_add(1, Ordering::Relaxed).to_string();
    hook(home, tmux, pane, session, "UserPromptSubmit", &json!({"prompt": "go", "prompt_id": id}));
}

/// The status of a pane and of its window, as they are written in the server's options.
fn status(tmux: &Tmux, pane: &str) -> String {
    tmux.run(&["display-message", "-p", "-t", pane, "#{@flightdeck_pane} #{@flightdeck_window}"])
        .trim()
        .to_owned()
}

#[track_caller]
fn shows(tmux: &Tmux, pane: &str, expected: &str) {
    until(&format!("{pane} shows {expected}"), || (status(tmux, pane) == expected).then_some(()));
}

#[test]
fn colours_follow_the_states_on_each_server_by_itself() {
    let home = test_home();
    let (Some(one), Some(two), Some(plain)) = (home.tmux(), home.tmux_named("two"), home.tmux_named("plain"))
    else {
        return;
    };
    for tmux in [&one, &two, &plain] {
        tmux.run(&["new-session", "-d", "-s", "a", "-x", "90", "-y", "24", "sleep 600"]);
        tmux.run(&["split-window", "-t", "=a:", "sleep 600"]);
    }
    let _daemon = home.daemon();
    works(&home, &one, "%0", "s-one-0");
    install(&home, &one, &[]);
    install(&home, &two, &[]);
    // The pane ids of the three servers are the same.
    works(&home, &two, "%0", "s-two-0");
    works(&home, &plain, "%0", "s-plain-0");
    shows(&one, "%0", "working working");
    shows(&two, "%0", "working working");
    works(&home, &one, "%1", "s-one-1");
    hook(&home, &one, "%1", "s-one-1", "StopFailure", &json!({"error": "rate_limit"}));
    shows(&one, "%1", "error error");
    shows(&one, "%0", "working error");
    let since = Instant::now();
    works(&home, &one, "%1", "s-one-1");
    shows(&one, "%1", "working working");
    assert!(since.elapsed() >= Duration::from_millis(1500), "a calmer status shows after two seconds");
    assert_eq!((status(&two, "%0").as_str(), status(&two, "%1").as_str()), ("working working", "working"));
    assert_eq!(status(&plain, "%0"), "", "this server did not load the file");
    // The style that tmux makes of it.
    let style = |tmux: &Tmux| {
        tmux.run(&["display-message", "-p", "-t", "%0", "#{E:window-status-style}|#{E:pane-border-style}"])
    };
    assert_eq!(style(&one).trim(), "fg=blue|fg=blue");
    hook(&home, &one, "%0", "s-one-0", "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    hook(&home, &one, "%1", "s-one-1", "SessionEnd", &json!({"reason": "prompt_input_exit"}));
    shows(&one, "%0", "");
    assert_eq!(style(&one).trim(), "default|default");
    home.run(&["tmux", "uninstall", "--socket", &two.socket.display().to_string()]).success();
    assert_eq!(status(&two, "%0"), "");
}

#[test]
fn the_pane_that_the_person_looks_at_is_marked_as_seen() {
    let home = test_home();
    let (Some(tmux), Some(outer)) = (home.tmux(), home.tmux_named("outer")) else { return };
    tmux.run(&["new-session", "-d", "-s", "a", "-x", "90", "-y", "24", "sleep 600"]);
    tmux.run(&["split-window", "-t", "=a:", "sleep 600"]);
    install(&home, &tmux, &[]);
    let daemon = home.daemon();
    for (pane, session) in [("%0", "s-0"), ("%1", "s-1")] {
        works(&home, &tmux, pane, session);
        hook(&home, &tmux, pane, session, "Stop", &json!({}));
    }
    let attach = format!("env -u TMUX tmux -S {} attach -t =a", tmux.socket.display());
    outer.run(&["new-session", "-d", "-s", "o", "-x", "100", "-y", "30", &attach]);
    until("a terminal is attached", || (!tmux.run(&["list-clients"]).is_empty()).then_some(()));
    until("the status bar has the line", || outer.screen_of("o").contains("0 need you").then_some(()));
    tmux.run(&["select-pane", "-t", "%0"]);
    until("it is seen", || (daemon.card("s-0")["seen"] == true).then_some(()));
    shows(&tmux, "%0", "checked checked");
    tmux.run(&["select-pane", "-t", "%1"]);
    until("the other one is seen too", || (daemon.card("s-1")["seen"] == true).then_some(()));
}

#[test]
fn checked_is_silent_without_a_daemon_and_for_an_unknown_pane() {
    let home = test_home();
    let checked = ["tmux", "checked", "--socket", "/none", "--pane", "%5"];
    assert_eq!(home.run(&checked).success(), "");
    let _daemon = home.daemon();
    assert_eq!(home.run(&checked).success(), "");
}
