//! Callers that the gate refuses get no data and change nothing; invalid events are refused with a reason.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_e2e::testkit::http::{HttpRequest, Response};
use flightdeck_e2e::testkit::{DEADLINE, TestDaemon};
use flightdeck_protocol::openapi;
use serde_json::{Value, json};

use crate::home::test_home;

const STOP: &str = r#"{"session_id":"s","hook_event_name":"Stop","cwd":"/w"}"#;

/// Method and path of every route, and of the page.
fn every_route() -> Vec<(String, String)> {
    let routes = openapi::routes().map(|route| {
        let path = route.path.replace("{id}", "s").replace("{event}", "user-prompt-submit");
        (route.method.as_str().to_ascii_uppercase(), path)
    });
    let page = ["/", "/index.html", "/assets/none.js"].map(|path| ("GET".to_owned(), path.to_owned()));
    routes.chain(page).collect()
}

fn request(method: &str, path: &str) -> HttpRequest {
    let request = HttpRequest::new(method, path);
    if method == "GET" {
        request
    } else {
        request.json(r#"{"session_id":"evil","prompt":"x","hook_event_name":"Stop"}"#)
    }
}

/// Everything that a refused caller might have changed.
fn world(daemon: &TestDaemon) -> (Vec<Value>, u64) {
    (daemon.board(), daemon.events_total())
}

fn assert_hardened(answer: &Response) {
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn a_refused_caller_gets_no_data_on_any_route_and_changes_nothing() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", STOP);
    let before = world(&daemon);
    let (own, port) = (daemon.addr.to_string(), daemon.addr.port());
    let foreign_hosts = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        String::new(),
    ];
    for (method, path) in every_route() {
        let plain = request(&method, &path);
        let well = plain.clone().header("host", &own);
        let mut refused = vec![
            (421, plain.clone()),
            (421, well.clone().header("host", &own)),
            (421, well.clone().header("host", "evil.example")),
            (403, well.clone().header("origin", "https://evil.example")),
            (403, well.clone().header("origin", "null")),
            (403, well.clone().header("origin", "http://127.0.0.1:1")),
            (403, well.clone().header("origin", &format!("http://{own}.evil.example"))),
            (403, well.clone().header("origin", &format!("http://{own}")).header("origin", "null")),
            (403, well.clone().header("sec-fetch-site", "cross-site")),
            (403, well.clone().header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate")),
            (403, well.clone().header("sec-fetch-site", "same-site")),
            (403, well.clone().header("sec-fetch-site", "same-site").header("sec-fetch-mode", "no-cors")),
        ];
        refused.extend(foreign_hosts.iter().map(|host| (421, plain.clone().header("host", host))));
        for (status, request) in refused {
            let answer = request.send(daemon.addr);
            assert_eq!(answer.status, status, "{request:?}");
            assert!(answer.json().as_object().unwrap().keys().eq(["error"]), "{request:?}");
            assert_hardened(&answer);
        }
    }
    assert_eq!(world(&daemon), before);
    let metrics = daemon.get("/metrics").text();
    assert!(!metrics.contains("flightdeck_requests_refused_total 0\n"), "{metrics}");
}

#[test]
fn the_page_and_clients_other_than_browsers_are_admitted() {
    let home = test_home();
    let daemon = home.daemon();
    let port = daemon.addr.port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        format!("[::1]:{port}"),
    ] {
        let get = HttpRequest::new("GET", "/api/sessions").header("host", &host);
        assert_eq!(get.send(daemon.addr).status, 200, "{host}");
        let page = get.header("origin", &format!("http://{host}")).header("sec-fetch-site", "same-origin");
        assert_eq!(page.send(daemon.addr).status, 200, "{host}");
    }
    // A link from another port of this machine is allowed.
    let link = HttpRequest::new("GET", "/").host(daemon.addr).header("sec-fetch-site", "same-site");
    assert_ne!(link.header("sec-fetch-mode", "navigate").send(daemon.addr).status, 403);
}

#[test]
fn only_json_is_accepted() {
    let home = test_home();
    let daemon = home.daemon();
    let before = world(&daemon);
    for (method, path) in every_route().into_iter().filter(|(method, _)| method == "POST") {
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data"),
            Some("application/jsonx"),
        ] {
            let request = HttpRequest::new(&method, &path).host(daemon.addr).body(STOP);
            let request = kind.map_or(request.clone(), |kind| request.header("content-type", kind));
            let answer = request.send(daemon.addr);
            assert_eq!(answer.status, 415, "{request:?}");
            assert_hardened(&answer);
        }
    }
    assert_eq!(world(&daemon), before);
    let charset = HttpRequest::new("POST", "/api/live/hook")
        .host(daemon.addr)
        .header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(charset.body(STOP).send(daemon.addr).status, 204);
}

#[test]
fn a_method_that_a_path_does_not_have_is_refused_as_such() {
    let home = test_home();
    let daemon = home.daemon();
    for (_, path) in every_route().into_iter().filter(|(method, _)| method == "POST") {
        for method in ["DELETE", "PUT", "PATCH"] {
            let answer = HttpRequest::new(method, &path).host(daemon.addr).send(daemon.addr);
            assert_eq!(answer.status, 405, "{method} {path}");
            assert!(answer.error().contains("possible: "), "{}", answer.error());
            assert_hardened(&answer);
        }
    }
}

#[test]
fn a_session_cannot_be_parked_until_a_time_that_is_over() {
    let home = test_home();
    let daemon = home.daemon();
    assert_eq!(daemon.post("/api/live/hook", STOP).status, 204);
    let session = daemon.board()[0]["id"].as_str().unwrap().to_owned();
    let park = |until: &str| {
        let body = json!({"until": until}).to_string();
        daemon.post(&format!("/api/sessions/{session}/park"), &body)
    };
    let past = park("2020-01-01T08:00:00Z");
    assert_eq!(past.status, 422);
    assert!(past.error().contains("that time is over"), "{}", past.error());
    assert_eq!(daemon.board()[0]["parked"], Value::Null);
    assert_eq!(park("2999-01-01T08:00:00Z").status, 200);
}

#[test]
fn an_invalid_event_is_refused_with_the_position_or_the_reason() {
    let home = test_home();
    let daemon = home.daemon();
    let deep = format!(
        r#"{{"session_id":"s","hook_event_name":"Stop","x":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let long = json!({"session_id": "x".repeat(129), "hook_event_name": "Stop"}).to_string();
    for (body, why) in [
        ("", "line 1 column 0"),
        ("{\"session_id\": \"s\",\n  \"x\": }", "line 2 column 8"),
        ("[1]", "line 1 column 0"),
        ("\"text\"", "line 1 column"),
        (deep.as_str(), "recursion limit exceeded at line 1 column"),
        (r#"{"hook_event_name":"Stop"}"#, "no session_id"),
        (r#"{"hook_event_name":"Stop","session_id":""}"#, "no session_id"),
        (r#"{"hook_event_name":"Stop","session_id":null}"#, "no session_id"),
        (r#"{"session_id":"s"}"#, "no name"),
        (r#"{"session_id":"s","hook_event_name":{}}"#, "no name"),
        (long.as_str(), "129 bytes long"),
    ] {
        let answer = daemon.post("/api/live/hook", body);
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.error().contains(why), "{body:.60}: {}", answer.error());
        assert_hardened(&answer);
    }
    assert_eq!(world(&daemon), (Vec::new(), 0));

    // The socket gives the same reply and stays open.
    let mut socket = home.socket();
    socket.raw(b"nonsense\n");
    assert_eq!(socket.line().unwrap()["error"], "VALIDATION_ERROR");
    assert_eq!(socket.ask(&json!({"cmd": "hook", "args": {}}))["message"], "the payload has no session_id");
    assert_eq!(socket.ask(&json!({"cmd": "rm"}))["error"], "UNKNOWN_COMMAND");
    assert_eq!(socket.ask(&json!({"cmd": "session", "args": {"session_id": "s"}}))["error"], "NOT_FOUND");
    assert_eq!(socket.ask(&json!({"cmd": "ping"}))["ok"], true);
    // A last line without its newline still counts.
    socket.raw(format!(r#"{{"cmd":"hook","args":{STOP}}}"#).as_bytes());
    socket.close_write();
    assert_eq!(socket.line().unwrap()["data"]["seq"], 1);
}

/// A hook cannot report a refusal, so its event is accepted and counted without the part that cannot be parsed.
#[test]
fn a_hook_nested_deeper_than_the_parser_allows_still_counts() {
    let home = test_home();
    let daemon = home.daemon();
    let event = |name: &str| {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        format!(
            r#"{{"session_id":"s","hook_event_name":"{name}","tool_name":"mcp__x__y","tool_use_id":"t","tool_input":{{"a":{open}{close}}}}}"#
        )
    };
    home.hook(&event("PreToolUse"));
    assert_eq!(daemon.card("s")["agent_state"]["state"], "acting");
    home.hook(&event("PostToolUse"));
    assert_eq!(daemon.card("s")["agent_state"]["state"], "thinking");
    let page = daemon.get("/api/sessions/s/events?payload=1").json();
    let stored = &page["events"][0]["payload"];
    assert!(stored["flightdeck_clipped"]["bytes"].as_u64().unwrap() > 200_000);
    assert!(stored["tool_input"].to_string().contains("nested too deep: clipped"));
    assert_eq!(daemon.events_total(), 2);
}

#[test]
fn an_unknown_event_is_stored_and_changes_no_state() {
    let home = test_home();
    let daemon = home.daemon();
    let strange = r#"{"session_id":"s","hook_event_name":"FutureThing","novelty":{"a":[1,2.5,null]}}"#;
    assert_eq!(daemon.post("/api/live/hook", strange).status, 204);
    for nameless in [r#"{"session_id":"s"}"#, r#"{"session_id":"s","hook_event_name":null}"#] {
        assert_eq!(daemon.post("/hook/some-new-event", nameless).status, 204);
    }
    assert_eq!(
        daemon.post("/hook/stop", r#"{"session_id":"s","timestamp":"1999-01-01T00:00:00Z"}"#).status,
        204
    );
    let events = daemon.get("/api/sessions/s/events?payload=1").json()["events"].clone();
    let names: Vec<_> = events.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["FutureThing", "some-new-event", "some-new-event", "Stop"]);
    assert_eq!(events[0]["payload"].to_string(), strange);
    assert_eq!(events[3]["payload"]["timestamp"], "1999-01-01T00:00:00Z");
    assert_eq!(events[3]["fired_at"], events[3]["received_at"]);
    assert_eq!(daemon.card("s")["agent_state"]["label"], "Waiting for your next prompt");
}

/// Sends a body of so many bytes in pieces over HTTP/1.1, optionally chunked.
fn pour(addr: SocketAddr, bytes: usize, chunked: bool) -> Response {
    const PIECE: usize = 1 << 20;
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let length =
        if chunked { "transfer-encoding: chunked".to_owned() } else { format!("content-length: {bytes}") };
    let head = format!(
        "POST /api/live/hook HTTP/1.1\r\nhost: {addr}\r\ncontent-type: application/json\r\nconnection: close\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut writing = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let open =
            br#"{"session_id":"big","hook_event_name":"PostToolUse","tool_name":"Write","tool_response":""#;
        let close = b"\"}";
        let filler = bytes - open.len() - close.len();
        let mut send = |piece: &[u8]| -> std::io::Result<()> {
            if chunked {
                writing.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
            }
            writing.write_all(piece)?;
            if chunked { writing.write_all(b"\r\n") } else { Ok(()) }
        };
        // The daemon closes the connection after a refusal; only the reply matters.
        let _ = (|| {
            send(open)?;
            let piece = vec![b'x'; PIECE];
            for at in (0..filler).step_by(PIECE) {
                send(&piece[..PIECE.min(filler - at)])?;
            }
            send(close)?;
            if chunked { send(&[]) } else { Ok(()) }
        })();
    });
    let mut answer = Vec::new();
    let ended = stream.read_to_end(&mut answer);
    writer.join().unwrap();
    assert!(ended.is_ok() || !answer.is_empty(), "{ended:?}");
    Response::parse(&answer)
}

#[test]
fn a_body_over_64_mb_is_413_and_one_of_64_mb_is_accepted() {
    let home = test_home();
    let daemon = home.daemon();
    for chunked in [false, true] {
        let answer = pour(daemon.addr, HOOK_BODY_BYTES_MAX + 1, chunked);
        assert_eq!(answer.status, 413);
        assert_hardened(&answer);
    }
    assert_eq!(world(&daemon), (Vec::new(), 0));
    assert_eq!(pour(daemon.addr, HOOK_BODY_BYTES_MAX, false).status, 204);
    assert_eq!(daemon.events_total(), 1);
}

#[test]
fn no_path_leads_to_a_file_of_the_machine() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", r#"{"session_id":"../../etc/passwd","hook_event_name":"Stop"}"#);
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/api/sessions/../../../etc/passwd",
        "/api/sessions/..%2f..%2fetc%2fshadow",
        "/api/sessions/%00",
        "/api/sessions/%ff",
        "/api/sessions/none/explain",
    ] {
        let answer = daemon.get(path);
        assert!(answer.status == 404 || answer.status == 400, "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{path}");
        assert_hardened(&answer);
    }
    // The path is an opaque session id here, never a path of a file.
    assert_eq!(daemon.card("..%2f..%2fetc%2fpasswd")["id"], "../../etc/passwd");
    for (method, path) in
        [("DELETE", "/api/sessions"), ("POST", "/api/sessions"), ("PUT", "/"), ("GET", "/api/live/hook")]
    {
        let answer = request(method, path).host(daemon.addr).send(daemon.addr);
        assert_eq!(answer.status, 405, "{method} {path}");
        assert_hardened(&answer);
    }
}

#[test]
fn listening_beyond_this_machine_needs_a_token() {
    let home = test_home();
    // Other spellings of the loopback address: not reachable from outside, but not plainly loopback either.
    let bind = ["up", "--no-hooks", "--port", "0", "--bind", "::ffff:127.0.0.1"];
    let said = home.run(&bind);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert_eq!(
        said.err,
        "flightdeck: to listen on ::ffff:127.0.0.1, beyond this machine, set a token: FLIGHTDECK_TOKEN, FLIGHTDECK_TOKEN_FILE or `token` in config.toml\n"
    );

    let secret = home.path().join("secret");
    std::fs::write(&secret, "s3cret\n").unwrap();
    let mut command = home.flightdeck(&bind);
    command.env("FLIGHTDECK_TOKEN_FILE", &secret);
    let daemon = home.start(command);
    let addr: SocketAddr = ([127, 0, 0, 1], daemon.addr.port()).into();
    for (method, path) in every_route() {
        for bad in [
            None,
            Some("Bearer wrong"),
            Some("Bearer s3cre"),
            Some("Bearer s3crett"),
            Some("s3cret"),
            Some("Basic s3cret"),
        ] {
            let request = request(&method, &path).host(addr);
            let request = bad.map_or(request.clone(), |bad| request.header("authorization", bad));
            let answer = request.send(addr);
            assert_eq!(answer.status, 401, "{request:?}");
            assert_hardened(&answer);
        }
    }
    let get = |path: &str| HttpRequest::new("GET", path).host(addr);
    assert_eq!(get("/api/sessions").header("authorization", "Bearer s3cret").send(addr).status, 200);
    assert_eq!(get("/api/sessions").header("cookie", "a=b; flightdeck_token=s3cret").send(addr).status, 200);
    let opened = get("/api/sessions?token=s3cret").send(addr);
    assert_eq!(opened.status, 200);
    let cookie = opened.header("set-cookie").unwrap();
    assert!(cookie.starts_with("flightdeck_token=s3cret; HttpOnly; SameSite=Strict"), "{cookie}");
    // A token does not admit another site.
    let refused =
        get("/api/sessions").header("authorization", "Bearer s3cret").header("origin", "http://evil.example");
    assert_eq!(refused.send(addr).status, 403);
    // Requests to the printed address are accepted.
    let printed =
        HttpRequest::new("GET", "/healthz").host(daemon.addr).header("authorization", "Bearer s3cret");
    assert_eq!(printed.send(addr).status, 200);
}

#[test]
fn a_configured_token_is_required_on_this_machine_too_and_the_command_line_needs_none() {
    let home = test_home();
    let mut command = home.flightdeck(&["--no-hooks", "--port", "0"]);
    command.env("FLIGHTDECK_TOKEN", "s3cret");
    let daemon = home.start(command);
    assert_eq!(daemon.get("/api/sessions").status, 401);
    assert_eq!(daemon.get("/api/sessions?token=s3cret").status, 200);
    home.run(&["status"]).success();
    // A browser gets a page that asks for the token and loads nothing else.
    for (path, said) in [("/", "asks for a token"), ("/?token=guess", "not the token")] {
        let page = HttpRequest::new("GET", path).host(daemon.addr).header("accept", "text/html,*/*;q=0.8");
        let page = page.send(daemon.addr);
        assert_eq!((page.status, page.header("content-type")), (401, Some("text/html; charset=utf-8")));
        assert!(page.text().contains(said) && page.text().contains("<form>"), "{}", page.text());
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    }
}

#[test]
fn an_empty_token_counts_as_no_token() {
    let home = test_home();
    let mut command = home.flightdeck(&["up", "--no-hooks", "--port", "0", "--bind", "::ffff:127.0.0.1"]);
    let output = command.env("FLIGHTDECK_TOKEN", "").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("set a token"));
}

#[test]
fn files_on_disk_are_readable_by_the_owner_only() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", STOP);
    let paths = home.paths();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&paths.socket()), 0o600);
    for folder in [&paths.home, &paths.runtime, &paths.spool(), &paths.logs] {
        assert_eq!(mode(folder), 0o700, "{folder:?}");
    }
    for file in
        [paths.database(), paths.database().with_extension("db-wal"), paths.logs.join("flightdeck.log")]
    {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
}

#[test]
fn a_runtime_folder_of_another_user_is_not_used() {
    let home = test_home();
    home.daemon().kill();
    let run = home.paths().runtime;
    if std::os::unix::fs::chown(&run, Some(12345), None).is_err() {
        return eprintln!("only root can give a folder away");
    }
    let said = home.run(&["up", "--no-hooks", "--port", "0"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.starts_with("flightdeck: ~/fd/run must belong to you alone"), "{}", said.err);
}
