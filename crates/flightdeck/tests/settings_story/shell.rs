//! The commands we write, run as the client runs them: by a shell, with the payload on stdin.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::world::World;
use flightdeck::claude_settings::Via;
use serde_json::Value;

/// The command as it stands in the settings file.
fn command_of(world: &World, event: &str) -> String {
    let root: Value = serde_json::from_slice(&world.bytes()).unwrap();
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
    // A command that does not run reads nothing, and the pipe breaks.
    let _ = child.stdin.take().unwrap().write_all(b"{\"session_id\":\"s\"}");
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn whatever_the_paths_hold_the_binary_gets_them_as_they_are() {
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
        let mut world = World::with(b"{}");
        let folder = world.path().join(odd);
        fs::create_dir(&folder).unwrap();
        let binary = folder.join("flight deck");
        let script = "for a in \"$@\"; do printf '[%s]' \"$a\"; done; cat; echo noise >&2; exit 3";
        flightdeck_sim::programs::script(&binary, script).unwrap();
        world.registration.binary = binary;
        world.registration.home = folder.clone();
        world.install().unwrap();
        let output = said(&run(&command_of(&world, "Stop"), world.path()));
        let expected = format!("[hook][--home][{}]{{\"session_id\":\"s\"}}", folder.display());
        assert_eq!(output, (Some(0), expected, String::new()), "{odd}");
        assert!(world.status().in_order(), "{odd}");
    }
}

#[test]
fn a_binary_that_is_gone_makes_no_sound() {
    let mut world = World::with(b"{}");
    world.registration.binary = "/nowhere/it's gone/flightdeck".into();
    world.install().unwrap();
    let output = said(&run(&command_of(&world, "Stop"), world.path()));
    assert_eq!(output, (Some(0), String::new(), String::new()));
}

/// Runs the curl form against a server of ours; what it asked for.
fn request_of(world: &mut World, prepare: impl Fn(&mut Command)) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    world.registration.via = Via::Curl;
    world.registration.port = listener.local_addr().unwrap().port();
    world.install().unwrap();
    let command = command_of(world, "Stop");
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
    assert_eq!(said(&run_with(&command, world.path(), prepare)), (Some(0), String::new(), String::new()));
    (server.join().unwrap(), command)
}

fn has_curl() -> bool {
    // Where there is no curl, nobody installs that form.
    Command::new("curl").arg("--version").output().is_ok()
}

#[test]
fn the_curl_form_posts_the_payload_and_swallows_the_answer() {
    if !has_curl() {
        return;
    }
    let mut world = World::with(b"{}");
    let (request, command) = request_of(&mut world, |_| ());
    assert!(request.starts_with("POST /api/live/hook HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("Content-Type: application/json\r\n"), "{request}");
    // Nobody listens any more.
    assert_eq!(said(&run(&command, world.path())), (Some(0), String::new(), String::new()));
}

#[test]
fn the_curl_form_sends_the_token_of_its_environment() {
    if !has_curl() {
        return;
    }
    let mut world = World::with(b"{}");
    world.registration.token = true;
    let (request, command) = request_of(&mut world, |shell| {
        shell.env("FLIGHTDECK_TOKEN", "s3cret-Ä");
    });
    assert!(request.contains("Authorization: Bearer s3cret-Ä\r\n"), "{request}");
    assert_eq!(said(&run(&command, world.path())), (Some(0), String::new(), String::new()));
}
