//! Starting: one daemon per home, on a free port, with the files that an earlier daemon left.

use crate::home::test_home;
use flightdeck_e2e::testkit::{SocketClient, TestDaemon, TestHome, run_hook, until};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

#[test]
fn a_second_daemon_for_the_same_home_names_the_first() {
    let home = test_home();
    let daemon = home.daemon();
    let said = home.run(&["up", "--no-hooks", "--port", "0"]);
    let expected = format!(
        "flightdeck: Flightdeck already runs for this home: pid {}, {}. Stop it first, or use another --home\n",
        daemon.pid(),
        daemon.url
    );
    assert_eq!((said.code, said.out.as_str(), said.err), (1, "", expected));
    assert_eq!(daemon.get("/healthz").status, 200);
    assert_eq!(home.socket().ask(&serde_json::json!({"cmd": "ping"}))["data"]["pid"], daemon.pid());
}

/// Started the usual way: without FLIGHTDECK_HOME, with the XDG folders.
fn xdg(home: &TestHome, runtime: Option<&Path>) -> std::process::Command {
    let mut command = home.bare(Path::new(env!("CARGO_BIN_EXE_flightdeck")));
    command.args(["up", "--no-hooks", "--port", "0"]);
    if let Some(runtime) = runtime {
        fs::create_dir_all(runtime).unwrap();
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    command
}

#[test]
fn a_second_daemon_with_another_runtime_folder_does_not_cut_off_the_first() {
    let home = test_home();
    let data_folder = home.person().join(".local/share/flightdeck");
    let daemon = home.start(xdg(&home, None));
    let second = xdg(&home, Some(&home.path().join("run"))).output().unwrap();
    let err = String::from_utf8(second.stderr).unwrap();
    assert!(err.contains(&format!("already runs for this home: pid {}", daemon.pid())), "{err}");
    let socket = flightdeck_hook::paths::socket_of(&data_folder);
    assert_eq!(SocketClient::connect(&socket).ask(&serde_json::json!({"cmd": "ping"}))["ok"], true);
}

#[test]
fn a_runtime_folder_removed_at_logout_does_not_prevent_the_next_start() {
    let home = test_home();
    let runtime = home.path().join("run-user");
    home.start(xdg(&home, Some(&runtime))).stop();
    fs::remove_dir_all(&runtime).unwrap();
    home.start(xdg(&home, None)).stop();
    home.start(xdg(&home, Some(&runtime))).stop();
}

#[test]
fn an_explicit_port_that_is_taken_names_its_holder() {
    // Another process holds the port: a process that a test forks has the sockets of its parent for a moment.
    let (holders_home, home) = (test_home(), test_home());
    let holder = holders_home.up(&["--no-hooks"]);
    let port = holder.addr.port();
    let mut from_env = home.flightdeck(&["up", "--no-hooks"]);
    from_env.env("FLIGHTDECK_PORT", port.to_string());
    let mut by_flag = home.flightdeck(&["up", "--no-hooks", "--port", &port.to_string()]);
    let mut plain = home.flightdeck(&["--no-hooks"]);
    plain.env("FLIGHTDECK_PORT", port.to_string());
    fs::create_dir_all(home.paths().home).unwrap();
    for command in [&mut by_flag, &mut from_env, &mut plain] {
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        let taken = format!("flightdeck: port {port} is taken by flightdeck (pid {})", holder.pid());
        assert!(err.starts_with(&taken), "{err}");
    }
    fs::write(home.paths().config, format!("port = {port}\n")).unwrap();
    let said = home.run(&["up", "--no-hooks"]);
    assert!(said.err.contains(&format!("port {port} is taken")), "{}", said.err);
}

#[test]
fn with_http_handlers_registered_a_busy_port_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for via in ["http", "curl"] {
        let home = test_home();
        home.run(&["hooks", "install", "--via", via, "--port", &port]).success();
        let said = home.run(&["up"]);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{via}");
        assert!(said.err.starts_with(&format!("flightdeck: port {port} is taken by ")), "{}", said.err);
    }
}

#[test]
fn a_socket_file_of_a_dead_daemon_is_replaced() {
    let home = test_home();
    fs::create_dir_all(home.paths().runtime).unwrap();
    drop(UnixListener::bind(home.paths().socket()).unwrap());
    fs::write(home.paths().daemon_file(), r#"{"pid":1,"port":1,"url":"http://old","version":"0"}"#).unwrap();
    let daemon = home.daemon();
    assert_eq!(home.socket().ask(&serde_json::json!({"cmd": "ping"}))["data"]["pid"], daemon.pid());
    let file = fs::read_to_string(home.paths().daemon_file()).unwrap();
    assert!(file.contains(&daemon.url), "{file}");
}

#[test]
fn the_time_of_the_last_event_is_known_after_a_restart() {
    let home = test_home();
    let daemon = home.daemon();
    let last = |daemon: &TestDaemon| daemon.get("/hook/status").json()["last_event_at"].clone();
    assert!(last(&daemon).is_null());
    daemon.post("/api/live/hook", r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    let told = last(&daemon);
    assert!(told.is_string());
    daemon.stop();
    assert_eq!(last(&home.daemon()), told);
}

#[test]
fn a_damaged_database_is_set_aside_and_reported_and_the_daemon_works() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    daemon.stop();
    let database = home.paths().database();
    let mut bytes = fs::read(&database).unwrap();
    bytes[..4096].fill(0x5a);
    fs::write(&database, &bytes).unwrap();

    let daemon = home.daemon();
    let said = home.with_tilde(&daemon.stderr());
    assert!(said.starts_with("The event log was damaged ("), "{said}");
    assert!(said.contains("It was set aside as ~/fd/flightdeck.db"), "{said}");
    let log = fs::read_to_string(home.paths().logs.join("flightdeck.log")).unwrap();
    assert!(log.contains("The event log was damaged"), "{log}");
    let kept = fs::read_dir(&home.paths().home).unwrap().map(|e| e.unwrap().path());
    assert!(kept.filter(|p| *p != database).any(|p| fs::read(p).is_ok_and(|kept| kept == bytes)));
    daemon.post("/api/live/hook", r#"{"session_id":"t","hook_event_name":"Stop"}"#);
    assert_eq!(daemon.board().len(), 1);
}

#[test]
fn an_invalid_config_is_an_error_with_its_line() {
    let home = test_home();
    fs::create_dir_all(home.paths().home).unwrap();
    fs::write(home.paths().config, "done_minutes = 5\nprot = 3\n").unwrap();
    let said = home.run(&["up", "--no-hooks"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("config.toml") && said.err.contains("line 2") && said.err.contains("prot"),
        "{}",
        said.err
    );
}

#[test]
fn a_home_that_is_a_symbolic_link_works() {
    let home = test_home();
    let real = home.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, home.paths().home).unwrap();
    let daemon = home.daemon();
    home.hook(r#"{"session_id":"s","hook_event_name":"Stop"}"#);
    assert_eq!(daemon.board().len(), 1);
}

#[test]
fn a_port_other_than_that_of_the_hooks_is_refused() {
    let home = test_home();
    home.run(&["hooks", "install", "--via", "curl", "--port", "4123"]).success();
    let said = home.run(&["--port", "4124"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("send to port 4123, but port 4124 was asked for"), "{}", said.err);
}

#[test]
fn a_session_that_began_and_died_while_no_daemon_ran_is_ended_at_the_start() {
    let home = test_home();
    home.daemon().stop();
    let mut client = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut hook = home.flightdeck(&["hook"]);
    hook.env("CLAUDE_PID", client.id().to_string());
    run_hook(&mut hook, r#"{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}"#);
    client.kill().unwrap();
    client.wait().unwrap();
    let daemon = home.daemon();
    until("the session has ended", || daemon.card("s")["ended_at"].is_string().then_some(()));
}
