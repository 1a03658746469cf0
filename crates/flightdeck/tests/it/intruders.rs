//! Hostile input: requests with two meanings, links in place of files, texts with escape sequences.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::time::Instant;

use crate::home::test_home;
use flightdeck::clock;
use flightdeck::ingest::spool;
use flightdeck_core::log::record::EventId;
use flightdeck_core::wire::clip::MARK;
use flightdeck_e2e::testkit::http::{HttpRequest, Response};
use flightdeck_e2e::testkit::{DEADLINE, PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

const STOP: &str = r#"{"session_id":"s","hook_event_name":"Stop","cwd":"/w"}"#;

/// Sends exactly these bytes and returns everything until the daemon closes the connection.
fn raw(daemon: &TestDaemon, request: &str) -> String {
    let mut stream = TcpStream::connect(daemon.addr).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    // The daemon may close the connection early.
    let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn no_second_request_is_read_from_inside_another() {
    let home = test_home();
    let daemon = home.daemon();
    let host = daemon.addr;
    let smuggled = format!(
        "POST /api/live/hook HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{STOP}",
        STOP.len()
    );
    let head = format!(
        "POST /api/sessions/none/seen HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    );
    let length = smuggled.len();
    for request in [
        // Two lengths, and a length beside chunks: the rest must not be read as a request.
        format!("{head}Content-Length: 0\r\nContent-Length: {length}\r\n\r\n{smuggled}"),
        format!(
            "{head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\n0\r\n\r\n{smuggled}"
        ),
        format!("{head}Transfer-Encoding: xchunked\r\nContent-Length: {length}\r\n\r\n{smuggled}"),
        format!("{head}Transfer-Encoding : chunked\r\nContent-Length: {length}\r\n\r\n{smuggled}"),
        format!("{head}Content-Length: +0\r\n\r\n{smuggled}"),
        format!("{head}Content-Length: 0x0\r\n\r\n{smuggled}"),
        format!("{head}X: a\r\n Content-Length: 0\r\n\r\n{smuggled}"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n{smuggled}"),
        format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX: a\rPOST /api/live/hook HTTP/1.1\r\n\r\n{STOP}"),
    ] {
        let answer = raw(&daemon, &request);
        assert_eq!(daemon.events_total(), 0, "{request}\n->\n{answer}");
    }
    // With chunks and a length the chunks count; the bytes after them are a separate request, checked like any other.
    let foreign = smuggled.replace(&host.to_string(), "evil.example");
    let both = format!("{head}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n{foreign}");
    raw(&daemon, &both);
    assert_eq!(daemon.events_total(), 0);
    assert_eq!(daemon.post("/api/live/hook", STOP).status, 204);
}

#[test]
fn endless_headers_and_addresses_are_refused_and_cost_little() {
    let home = test_home();
    let daemon = home.daemon();
    let host = daemon.addr;
    let before = daemon.memory().0;
    let many: String = (0..20_000).map(|n| format!("x{n}: y\r\n")).collect();
    let long = "a".repeat(4 * 1024 * 1024);
    for request in [
        format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n{many}\r\n"),
        format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nCookie: {long}\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ] {
        let answer = raw(&daemon, &request);
        assert!(!answer.starts_with("HTTP/1.1 200"), "{}", &answer[..answer.len().min(80)]);
    }
    assert!(daemon.memory().0 < before + 32 * 1024 * 1024);
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn endlessly_nested_json_is_refused_over_http_and_accepted_clipped_from_a_hook() {
    let home = test_home();
    let daemon = home.daemon();
    let before = daemon.memory().0;
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let body = format!(r#"{{"session_id":"s","hook_event_name":"Stop","x":{deep}}}"#);
    assert_eq!(daemon.post("/api/live/hook", &body).status, 400);
    let mut socket = home.socket();
    let said = socket.ask_raw(&format!(r#"{{"cmd":"hook","args":{body}}}"#));
    assert_eq!(said["ok"], true, "a hook cannot report that its event was refused");
    home.hook(&body);
    fs::write(home.paths().spool().join(spooled_now(1)), format!(r#"{{"cmd":"hook","args":{body}}}"#))
        .unwrap();
    until("the spool is empty", || spool::list(&home.paths().spool()).unwrap().is_empty().then_some(()));
    let events = until("it came by socket, hook and spool", || {
        let page = daemon.get("/api/sessions/s/events?payload=1").json();
        page["events"].as_array().cloned().filter(|events| events.len() == 3)
    });
    for event in events {
        assert!(
            event["payload"].to_string().len() < 10_000 && event["payload"].get(MARK).is_some(),
            "{event}"
        );
    }
    assert!(daemon.memory().0 < before + 64 * 1024 * 1024);
}

/// A spool file name that is new enough not to be dropped unread.
fn spooled_now(id: u128) -> String {
    spool::file_name(clock::now().as_millis() as u64 * 1_000_000, EventId(id))
}

/// A valid event: it would be stored if the daemon followed a link to it.
const PRECIOUS: &str = r#"{"cmd":"hook","args":{"session_id":"stolen","hook_event_name":"Stop"}}"#;

/// A folder of the person that must not change.
fn victim(home: &TestHome) -> std::path::PathBuf {
    let victim = home.path().join("victim");
    fs::DirBuilder::new().mode(0o755).create(&victim).unwrap();
    fs::write(victim.join("precious"), PRECIOUS).unwrap();
    victim
}

fn assert_untouched(victim: &std::path::Path) {
    let names: Vec<_> = fs::read_dir(victim).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["precious"]);
    assert_eq!(fs::read_to_string(victim.join("precious")).unwrap(), PRECIOUS);
    assert_eq!(victim.metadata().unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_link_in_the_spool_is_neither_read_nor_removed_nor_written_through() {
    let home = test_home();
    home.daemon().kill();
    let victim = victim(&home);
    let folder = home.paths().spool();
    symlink(victim.join("precious"), folder.join(spooled_now(1))).unwrap();
    symlink(&victim, folder.join("rejected")).unwrap();
    fs::write(folder.join(spooled_now(2)), "no event").unwrap();
    let daemon = home.daemon();
    home.hook(STOP);
    assert_eq!(daemon.events_total(), 1);
    assert!(daemon.board().iter().all(|card| card["id"] != "stolen"));
    until("what is no event was to be set aside", || {
        let log = fs::read_to_string(home.paths().logs.join("flightdeck.log")).unwrap();
        log.contains("could not set the spool file aside").then_some(())
    });
    assert_untouched(&victim);
}

#[test]
fn a_socket_path_that_is_a_link_is_replaced_not_followed() {
    let home = test_home();
    home.daemon().kill();
    let victim = victim(&home);
    let socket = home.paths().socket();
    let _ = fs::remove_file(&socket);
    symlink(victim.join("precious"), &socket).unwrap();
    let daemon = home.daemon();
    assert!(!socket.is_symlink());
    home.hook(STOP);
    assert_eq!(daemon.events_total(), 1);
    assert_untouched(&victim);
}

/// Every file below Flightdeck's home with its bytes.
fn everything(home: &TestHome) -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![home.paths().home];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    files.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()));
                }
                _ => {}
            }
        }
    }
    files
}

fn holding<'a>(files: &'a [(String, Vec<u8>)], word: &str) -> Vec<&'a str> {
    let holds = |bytes: &[u8]| bytes.windows(word.len()).any(|w| w == word.as_bytes());
    files.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn secrets_of_the_environment_are_not_stored_and_those_of_payloads_are_not_logged() {
    let home = test_home();
    let mut command = home.flightdeck(&["up", "--no-hooks", "--port", "0"]);
    command.env("FLIGHTDECK_LOG", "trace").env("FLIGHTDECK_TOKEN", "t0ken-of-the-daemon");
    command.env("ANTHROPIC_API_KEY", "sk-of-the-daemon");
    let daemon = home.start(command);
    let prompt = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "my password is hunter2-in-a-prompt"});
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    hook.env("ANTHROPIC_API_KEY", "sk-of-the-client").env("AWS_SECRET_ACCESS_KEY", "aws-of-the-client");
    hook.env("CLAUDE_CODE_MESSAGING_KEY", "messaging-of-the-client").env("TMUX_PANE", "%5");
    run_hook(&mut hook, &prompt.to_string());
    // Requests that are refused with a log line.
    let bearer = HttpRequest::new("GET", "/api/sessions")
        .host(daemon.addr)
        .header("authorization", "Bearer guess-0f-the-token");
    assert_eq!(bearer.send(daemon.addr).status, 401);
    assert_eq!(daemon.get("/api/sessions?token=t0ken-of-the-daemon").status, 200);
    home.socket().ask_raw(r#"{"cmd":"hook","args":{"prompt":"hunter2-in-a-torn-line"#);
    let torn = home.paths().spool().join(spooled_now(1));
    fs::write(torn, r#"{"cmd":"hook","args":{"prompt":"hunter2-in-a-torn-file"#).unwrap();
    until("the spool is empty", || spool::list(&home.paths().spool()).unwrap().is_empty().then_some(()));
    assert!(daemon.stop().success());

    let files = everything(&home);
    for word in [
        "sk-of-the",
        "aws-of-the",
        "messaging-of-the",
        "t0ken-of-the-daemon",
        "guess-0f-the-token",
        "hunter2-in-a-torn-line",
    ] {
        assert_eq!(holding(&files, word), Vec::<&str>::new(), "{word}");
    }
    let stored = holding(&files, "hunter2-in-a-prompt");
    assert!(!stored.is_empty() && stored.iter().all(|name| name.contains("flightdeck.db")), "{stored:?}");
    let kept = holding(&files, "hunter2-in-a-torn-file");
    assert!(!kept.is_empty() && kept.iter().all(|name| name.contains("rejected")), "{kept:?}");
}

/// Sets the title, writes the clipboard, clears the screen, hides the cursor, rings, turns the text around; the C1 form.
const HOSTILE: &str = "a\u{1b}]0;pwned\u{7}b\u{1b}]52;c;cHduZWQ=\u{7}c\u{1b}[2J\u{1b}[?25ld\u{9b}31me\u{202e}f\rg\u{8}h\u{0}i\u{85}j";

/// The same without its control characters, on one line.
const TAMED: &str = "abcdef ghij";
/// The same as a command of two lines.
const TAMED_COMMAND: &str = "$ abcdef\n  $ ghij\n";

/// The output of `ls --watch` to a terminal with a full board, without our own sequences.
fn watched_in_a_terminal(home: &TestHome) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let side = || fs::File::options().read(true).write(true).open(&name).unwrap();
    let mut command = home.flightdeck(&["ls", "--watch"]);
    command.env("NO_COLOR", "1").stdin(side()).stdout(side());
    let mut watch = command.spawn().unwrap();
    // Only the child has the terminal open: reading ends with it.
    drop(command);
    let mut terminal = fs::File::from(terminal);
    let (mut screen, mut some, begun) = (Vec::new(), [0; 4096], Instant::now());
    // The command redraws every second, so there is always more to read.
    while let Ok(n @ 1..) = terminal.read(&mut some) {
        screen.extend_from_slice(&some[..n]);
        if String::from_utf8_lossy(&screen).contains(TAMED) || begun.elapsed() > DEADLINE {
            kill_process(Pid::from_child(&watch), Signal::INT).unwrap();
        }
    }
    assert!(watch.wait().unwrap().success());
    let mut text = String::from_utf8(screen).unwrap();
    for ours in ["\u{1b}[?1049h", "\u{1b}[?25l", "\u{1b}[?7l", "\u{1b}[H", "\u{1b}[2K", "\r\r\n"] {
        assert!(text.contains(ours), "{ours:?} in {text:?}");
        text = text.replace(ours, "");
    }
    for ours in ["\u{1b}[?7h", "\u{1b}[?25h", "\u{1b}[?1049l"] {
        text = text.replace(ours, "");
    }
    text
}

fn is_tame(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)))
}

#[test]
fn escape_sequences_reach_neither_the_terminal_nor_the_log() {
    let home = test_home();
    let mut command = home.flightdeck(&["up", "--no-hooks", "--port", "0"]);
    command.env("FLIGHTDECK_LOG", "trace");
    let daemon = home.start(command);
    let sent = send_hostile_events(&daemon);
    send_hostile_frames(&home);

    let recording = home.paths().home.join("recording.jsonl");
    fs::write(&recording, sent).unwrap();
    let recording = recording.to_str().unwrap();
    // Gives the dry run a result.
    fs::write(home.paths().config, "[[policy.rules]]\ntool = \"*\"\ndecision = \"deny\"\n").unwrap();
    // The harmless part is shown, or all of it escaped; some commands print nothing about sessions.
    for (args, code, shown) in [
        (&["ls"][..], 0, true),
        (&["ls", "--json"], 0, true),
        (&["replay", recording], 0, true),
        (&["replay", recording, "--json"], 0, true),
        (&["answer"], 0, true),
        (&["answer", "--json"], 0, true),
        (&["answer", "s1"], 0, true),
        (&["answer", "s1", "--json"], 0, true),
        (&["answer", "s1", "allow"], 1, false),
        (&["policy"], 0, false),
        (&["policy", "--json"], 0, false),
        (&["policy", "test"], 0, true),
        (&["policy", "test", "--json"], 0, true),
        (&["policy", "log"], 0, false),
        (&["show", "s1"], 0, true),
        (&["explain", "s1"], 0, true),
        (&["next"], 0, true),
        (&["status"], 0, false),
        // `doctor` reports that no hooks are registered.
        (&["doctor"], 1, false),
        (&["usage"], 0, false),
        (&["show", "s1", "--json"], 0, true),
        (&["explain", HOSTILE.trim_end_matches(|c: char| c != 'a')], 0, true),
    ] {
        assert_tame_command(&home, args, code, shown);
    }
    let screen = watched_in_a_terminal(&home);
    assert!(is_tame(&screen) && !screen.contains("pwned"), "{screen:?}");
    let log = fs::read_to_string(home.paths().logs.join("flightdeck.log")).unwrap();
    assert!(
        log.contains("is not a frame; it was refused") && log.contains("contains no event; it is set aside")
    );
    assert!(is_tame(&log), "{:?}", log.lines().find(|line| !is_tame(line)));
}

/// Events with escape sequences in every field; returns their lines.
fn send_hostile_events(daemon: &TestDaemon) -> String {
    let mut base = json!({"session_id": "s1", "cwd": format!("/w/{HOSTILE}"), "transcript_path": HOSTILE, "permission_mode": HOSTILE});
    let mut sent = String::new();
    let mut send = |more: Value| {
        base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(daemon.post("/api/live/hook", &base.to_string()).status, 204, "{base}");
        sent += &format!("{base}\n");
    };
    send(
        json!({"hook_event_name": "SessionStart", "source": HOSTILE, "model": HOSTILE, "session_title": HOSTILE}),
    );
    send(json!({"hook_event_name": "UserPromptSubmit", "prompt": HOSTILE}));
    send(
        json!({"hook_event_name": "PreToolUse", "tool_name": HOSTILE, "tool_use_id": HOSTILE, "tool_input": {"command": HOSTILE, "description": HOSTILE}}),
    );
    send(json!({"hook_event_name": "PostToolUseFailure", "error": HOSTILE, "tool_response": HOSTILE}));
    send(json!({"hook_event_name": "SubagentStart", "agent_id": HOSTILE, "agent_type": HOSTILE}));
    send(
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": HOSTILE}}),
    );
    send(json!({"hook_event_name": "Notification", "message": HOSTILE, "title": HOSTILE}));
    send(json!({"hook_event_name": HOSTILE}));
    let stop = json!({"session_id": HOSTILE, "hook_event_name": "Stop", "last_assistant_message": HOSTILE});
    assert_eq!(daemon.post("/api/live/hook", &stop.to_string()).status, 204);
    let stored = daemon.get("/api/sessions/s1/events?payload=1").json();
    assert_eq!(stored["events"][1]["payload"]["prompt"], HOSTILE, "it is stored as it came");
    sent
}

/// Frames and a spool file that are hostile and cannot be read.
fn send_hostile_frames(home: &TestHome) {
    let mut socket = home.socket();
    socket.ask_raw(&json!({"cmd": HOSTILE}).to_string());
    socket.ask_raw(&format!("{{\"cmd\":\"{HOSTILE}"));
    fs::write(home.paths().spool().join(spooled_now(1)), format!("{{\"{HOSTILE}")).unwrap();
    until("the spool is empty", || spool::list(&home.paths().spool()).unwrap().is_empty().then_some(()));
}

/// The command shows at most the harmless part of the hostile text.
#[track_caller]
fn assert_tame_command(home: &TestHome, args: &[&str], code: i32, shown: bool) {
    let said = home.run(args);
    let tells = [TAMED, TAMED_COMMAND, "\\u001b"].iter().any(|text| said.out.contains(text));
    assert_eq!((said.code, tells), (code, shown), "{args:?}: {}{}", said.out, said.err);
    assert!(is_tame(&said.out) && is_tame(&said.err), "{args:?}: {:?}", said.out + &said.err);
    assert!(
        !said.out.contains("pwned") || args.contains(&"--json") || ["explain", "answer"].contains(&args[0]),
        "{args:?}: {}",
        said.out
    );
}

#[test]
fn a_card_is_served_as_json_and_never_as_html() {
    let home = test_home();
    let daemon = home.daemon();
    let html = "<script>alert(1)</script>";
    daemon.post(
        "/api/live/hook",
        &json!({"session_id": html, "hook_event_name": "UserPromptSubmit", "prompt": html}).to_string(),
    );
    let is_json = |answer: &Response| {
        answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"))
    };
    for path in [
        "/api/sessions",
        "/api/sessions/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/api/sessions/%3Cscript%3E",
        "/api/fleet",
    ] {
        let answer = daemon.get(path);
        assert!(is_json(&answer), "{path}: {:?}", answer.header("content-type"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}
