//! Runs the commands we write as Claude Code does: in a shell, with the payload on stdin.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::fixture::SettingsFixture;
use flightdeck::settings::Via;
use serde_json::Value;

/// The command of an event, read from the settings file.
fn command_of(fixture: &SettingsFixture, event: &str) -> String {
    let root: Value = serde_json::from_slice(&fixture.bytes()).unwrap();
    root["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

fn run(command: &str, folder: &Path) -> Output {
    run_with(command, folder, |_| ())
}

fn run_with(command: &str, folder: &Path, prepare: impl Fn(&mut Command)) -> Output {
    let mut shell = Command::new("sh");
    prepare(&mut shell);
    shell.arg("-c").arg(command).current_dir(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    // Fails with a broken pipe if the command does not read its input.
    let _ = child.stdin.take().unwrap().write_all(b"{\"session_id\":\"s\"}");
    child.wait_with_output().unwrap()
}

fn result_of(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_binary_gets_any_path_unchanged() {
    for odd in [
        "plain",
        "a space",
        "it's",
        "''",
        "$HOME `id` $(id)",
        "\"q\" \\ back",
        "# hash; && | > x",
        "ünï 🛫\nline",
    ] {
        let mut fixture = SettingsFixture::with(b"{}");
        let folder = fixture.path().join(odd);
        fs::create_dir(&folder).unwrap();
        let binary = folder.join("flight deck");
        let script = "for a in \"$@\"; do printf '[%s]' \"$a\"; done; cat; echo noise >&2; exit 3";
        flightdeck_sim::programs::write_script(&binary, script).unwrap();
        fixture.registration.binary = binary;
        fixture.registration.home = folder.clone();
        fixture.install().unwrap();
        let output = result_of(&run(&command_of(&fixture, "Stop"), fixture.path()));
        let expected = format!("[hook][--home][{}]{{\"session_id\":\"s\"}}", folder.display());
        assert_eq!(output, (Some(0), expected, String::new()), "{odd}");
        assert!(fixture.status().in_order(), "{odd}");
    }
}

#[test]
fn a_missing_binary_prints_nothing() {
    let mut fixture = SettingsFixture::with(b"{}");
    fixture.registration.binary = "/nowhere/it's gone/flightdeck".into();
    fixture.install().unwrap();
    let output = result_of(&run(&command_of(&fixture, "Stop"), fixture.path()));
    assert_eq!(output, (Some(0), String::new(), String::new()));
}

/// Runs the curl command against a test server; returns the request and the command.
fn request_of(fixture: &mut SettingsFixture, prepare: impl Fn(&mut Command)) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    fixture.registration.via = Via::Curl;
    fixture.registration.port = listener.local_addr().unwrap().port();
    fixture.install().unwrap();
    let command = command_of(fixture, "Stop");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"{\"session_id\":\"s\"}") {
            let mut part = [0; 4096];
            let n = stream.read(&mut part).unwrap();
            assert!(n > 0, "{}", String::from_utf8_lossy(&request));
            request.extend_from_slice(&part[..n]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nloud").unwrap();
        String::from_utf8(request).unwrap()
    });
    assert_eq!(
        result_of(&run_with(&command, fixture.path(), prepare)),
        (Some(0), String::new(), String::new())
    );
    (server.join().unwrap(), command)
}

fn has_curl() -> bool {
    // Without curl on this machine the curl tests are skipped.
    Command::new("curl").arg("--version").output().is_ok()
}

#[test]
fn the_curl_command_posts_the_payload_and_prints_no_reply() {
    if !has_curl() {
        return;
    }
    let mut fixture = SettingsFixture::with(b"{}");
    let (request, command) = request_of(&mut fixture, |_| ());
    assert!(request.starts_with("POST /api/live/hook HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("Content-Type: application/json\r\n"), "{request}");
    // The server has ended.
    assert_eq!(result_of(&run(&command, fixture.path())), (Some(0), String::new(), String::new()));
}

#[test]
fn the_curl_command_sends_the_token_from_the_environment() {
    if !has_curl() {
        return;
    }
    let mut fixture = SettingsFixture::with(b"{}");
    fixture.registration.token = true;
    let (request, command) = request_of(&mut fixture, |shell| {
        shell.env("FLIGHTDECK_TOKEN", "s3cret-Ä");
    });
    assert!(request.contains("Authorization: Bearer s3cret-Ä\r\n"), "{request}");
    assert_eq!(result_of(&run(&command, fixture.path())), (Some(0), String::new(), String::new()));
}
