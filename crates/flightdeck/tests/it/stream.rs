//! The event stream: a snapshot, then every change once, and recovery after a lost connection.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use flightdeck::engine::changes::REPLAY_CHANGES_MAX;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::time::Millis;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::http::HttpRequest;
use flightdeck_e2e::testkit::{SocketClient, until};
use flightdeck_protocol::sessions::Snapshot;
use serde_json::{Map, Value, json};

use crate::home::test_home;
use crate::in_process::InProcessDaemon;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    event: String,
    boot: String,
    n: u64,
    data: Value,
}

impl Frame {
    fn new(event: &str, id: &str, data: Value) -> Self {
        let (boot, n) = id.rsplit_once('-').unwrap();
        Self { event: event.to_owned(), boot: boot.to_owned(), n: n.parse().unwrap(), data }
    }
    fn id(&self) -> String {
        format!("{}-{}", self.boot, self.n)
    }
    /// `session_updated 3 s needs_you`
    fn says(&self) -> String {
        let session = &self.data["session"];
        match session["id"].as_str() {
            Some(id) => format!(
                "{} {} {id} {}",
                self.event,
                self.n,
                session["agent_state"]["state"].as_str().unwrap()
            ),
            None => format!("{} {}", self.event, self.n),
        }
    }
}

struct Sse(BufReader<TcpStream>);

impl Sse {
    fn open(addr: SocketAddr, last_event_id: Option<&str>) -> Self {
        let request = HttpRequest::new("GET", "/api/live/stream").host(addr);
        let request = match last_event_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let mut reader = BufReader::new(request.open(addr));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(
            head.starts_with("HTTP/1.0 200") && head.contains("content-type: text/event-stream"),
            "{head}"
        );
        Self(reader)
    }

    /// The next event; `None` for a heartbeat.
    fn next(&mut self) -> Option<Frame> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            match line.trim_end_matches('\n') {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        if let [comment] = lines.as_slice() {
            assert!(comment.starts_with(':'), "{comment}");
            return None;
        }
        let [id, event, data] = lines.as_slice() else { panic!("{lines:?}") };
        let field = |line: &str, name: &str| line.strip_prefix(name).unwrap().to_owned();
        let data = serde_json::from_str(&field(data, "data: ")).unwrap();
        Some(Frame::new(&field(event, "event: "), &field(id, "id: "), data))
    }

    fn frames(&mut self, count: usize) -> Vec<Frame> {
        (0..count).map(|_| self.next().unwrap()).collect()
    }
    fn says(&mut self, count: usize) -> Vec<String> {
        self.frames(count).iter().map(Frame::says).collect()
    }
    fn ended(&mut self) -> bool {
        self.0.read_line(&mut String::new()).unwrap() == 0
    }
}

fn hook(session: &str, name: &str, more: Value) -> String {
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.to_string()
}

fn prompt(session: &str, text: &str) -> String {
    hook(session, "UserPromptSubmit", json!({ "prompt": text }))
}

/// A notice that the client gives its agent, in a permission mode of this name: it changes the card and no assignment.
fn notice(session: &str, mode: &str) -> String {
    let prompt = "<task-notification>done</task-notification>";
    hook(session, "UserPromptSubmit", json!({ "prompt": prompt, "permission_mode": mode }))
}

/// One prompt in each of so many sessions: a change of a card and of an assignment.
fn prompts(sessions: usize, text: &str) -> Vec<Record> {
    let one = |n: usize| {
        let payload: Map<String, Value> = serde_json::from_str(&prompt(&format!("s{n}"), text)).unwrap();
        let draft = HookDraft { name_in_path: None, payload, env: Map::new(), bytes: 0 };
        draft.into_record(EventId(u128::from(rand_id()))).unwrap()
    };
    (0..sessions).map(one).collect()
}

fn rand_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn a_viewer_gets_the_board_and_then_each_change_with_its_number() {
    let deck = InProcessDaemon::new();
    deck.post(&hook("a", "SessionStart", json!({"source": "startup"})));
    let mut viewer = Sse::open(deck.addr, None);
    let snapshot = viewer.next().unwrap();
    assert_eq!((snapshot.says().as_str(), &snapshot.boot), ("snapshot 1", &deck.health.boot));
    assert_eq!(snapshot.data, deck.get("/api/sessions").json());
    // The snapshot is assembled from encoded cards; the page reads it as this type.
    let typed: Snapshot = serde_json::from_value(snapshot.data.clone()).unwrap();
    assert_eq!(snapshot.data, json!(typed));

    deck.post(&notice("a", "hello"));
    deck.post(&hook(
        "b",
        "PermissionRequest",
        json!({"tool_name": "Bash", "tool_input": {"command": "ls\n\n:x"}}),
    ));
    let frames = viewer.frames(4);
    assert_eq!(frames[0].says(), "session_updated 2 a thinking");
    assert_eq!(frames[1].says(), "session_discovered 3 b needs_permission");
    assert_eq!(frames[1].data["session"], deck.get("/api/sessions/b").json());
    assert_eq!(frames[2].says(), "ask_opened 4");
    assert_eq!(frames[2].data["ask"], frames[1].data["session"]["asks"][0]);
    assert_eq!(frames[3].says(), "assignment_updated 5");
    assert_eq!(frames[3].data["assignment"]["session_id"], "b");
    assert_eq!(deck.get("/api/sessions").json()["n"], 5);
}

#[test]
fn a_change_is_sent_only_when_something_changed() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    let noise = hook("a", "Notification", json!({"notification_type": "auth_success"}));
    (0..5).for_each(|_| drop(deck.post(&noise)));
    let mut socket = deck.socket();
    let seen = |socket: &mut SocketClient| socket.ask(&json!({"cmd": "seen", "args": {"session_id": "a"}}));
    assert_eq!(seen(&mut socket)["ok"], true);
    assert_eq!(seen(&mut socket)["ok"], true);
    deck.post(&notice("a", "x"));
    assert_eq!(
        viewer.says(4),
        [
            "snapshot 0",
            "session_discovered 1 a idle",
            "session_updated 2 a idle",
            "session_updated 3 a thinking"
        ]
    );
}

#[test]
fn a_reconnecting_viewer_gets_the_missed_changes_once() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    deck.post(&notice("a", "1"));
    let last = viewer.frames(2).pop().unwrap();
    drop(viewer);
    deck.post(&notice("a", "2"));
    deck.post(&notice("a", "3"));
    let mut viewer = Sse::open(deck.addr, Some(&last.id()));
    assert_eq!(viewer.says(2), ["session_updated 2 a thinking", "session_updated 3 a thinking"]);
    deck.post(&notice("a", "4"));
    assert_eq!(viewer.says(1), ["session_updated 4 a thinking"]);
}

#[test]
fn an_id_of_another_boot_the_future_or_the_distant_past_gets_a_gap_and_a_snapshot() {
    let deck = InProcessDaemon::new();
    let count = REPLAY_CHANGES_MAX + 100;
    let records = prompts(count, "x");
    for batch in records.chunks(500) {
        deck.append(batch.to_vec()).unwrap();
    }
    let changes = 2 * count;
    let boot = &deck.health.boot;
    for last in [format!("{boot}-1"), format!("{boot}-999999"), "0000-3".to_owned(), "nonsense".to_owned()] {
        let mut viewer = Sse::open(deck.addr, Some(&last));
        let [gap, snapshot] = viewer.frames(2).try_into().unwrap();
        assert_eq!(
            (gap.says(), snapshot.says()),
            (format!("gap {changes}"), format!("snapshot {changes}")),
            "{last}"
        );
        assert_eq!(snapshot.data["sessions"].as_array().unwrap().len(), count);
    }
    let mut viewer = Sse::open(deck.addr, Some(&format!("{boot}-{}", changes - 1)));
    assert_eq!(viewer.next().unwrap().n, changes as u64);
}

#[test]
fn a_quiet_stream_sends_heartbeats() {
    let deck = InProcessDaemon::builder().heartbeat_every(Duration::from_millis(20)).start();
    let mut viewer = Sse::open(deck.addr, None);
    assert_eq!(viewer.says(1), ["snapshot 0"]);
    assert_eq!((viewer.next(), viewer.next()), (None, None));
    deck.post(&notice("a", "x"));
    let frame = until("the change comes between heartbeats", || viewer.next());
    assert_eq!(frame.says(), "session_discovered 1 a thinking");
}

#[test]
fn an_ended_session_is_completed_after_ten_seconds_and_leaves_after_half_an_hour() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    deck.post(&notice("a", "x"));
    deck.post(&hook("a", "SessionEnd", json!({"reason": "other"})));
    deck.pass(Millis(9_999));
    deck.post(&notice("b", "x"));
    let end = "session_updated 2 a session_ended";
    assert_eq!(
        viewer.says(4),
        ["snapshot 0", "session_discovered 1 a thinking", end, "session_discovered 3 b thinking"]
    );

    deck.pass(Millis(1));
    let completed = viewer.next().unwrap();
    assert_eq!(completed.says(), "session_completed 4 a session_ended");
    assert_eq!(completed.data["session"], deck.get("/api/sessions/a").json());
    assert_eq!(deck.board()["sessions"].as_array().unwrap().len(), 2);

    deck.pass(Millis::minutes(30));
    let frames = viewer.frames(2);
    assert_eq!(
        (frames[0].event.as_str(), &frames[0].data["session"]["id"]),
        ("session_updated", &json!("b"))
    );
    assert_eq!((frames[1].event.as_str(), &frames[1].data), ("session_removed", &json!({"id": "a"})));
    assert_eq!(deck.board()["sessions"].as_array().unwrap().len(), 1);
    // An ended id is kept: a late hook creates no new card, and a resumed session has one card.
    deck.post(&hook("a", "PostToolUse", json!({"tool_name": "Bash"})));
    assert_eq!(deck.get("/api/sessions/a").json()["agent_state"]["state"], "session_ended");
    assert_eq!(deck.board()["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(deck.get("/api/sessions?all=1").json()["sessions"].as_array().unwrap().len(), 2);
    deck.post(&hook("a", "SessionStart", json!({"source": "resume"})));
    assert_eq!(deck.board()["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(deck.get("/api/sessions?all=1").json()["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_cleared_session_is_replaced_and_not_duplicated() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    let mut socket = deck.socket();
    let seat = json!({"pid": 42, "proc_start": "7"});
    for (id, source) in [("old", "startup"), ("new", "clear")] {
        let start: Value =
            serde_json::from_str(&hook(id, "SessionStart", json!({ "source": source }))).unwrap();
        socket.ask(&json!({"cmd": "hook", "args": start, "env": seat}));
    }
    let frames = viewer.frames(4);
    let mut says: Vec<_> = frames[2..].iter().map(|f| f.says().replace(['2', '3'], "n")).collect();
    says.sort();
    assert_eq!(says, ["session_completed n old session_ended", "session_discovered n new idle"]);
    let board = deck.board();
    let ids: Vec<_> = board["sessions"].as_array().unwrap().iter().map(|s| &s["id"]).collect();
    assert_eq!(ids, ["new"]);
    assert_eq!(deck.get("/api/sessions/old").json()["replaced_by"], "new");
    assert_eq!(deck.get("/api/sessions/new").json()["continues"], "old");

    // The list of all sessions is complete, both from the fleet and from the store.
    let all = || {
        let page = deck.get("/api/sessions?all=1").json();
        page["sessions"].as_array().unwrap().iter().map(|s| s["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(all(), ["new", "old"]);
    deck.pass(Millis::minutes(31));
    assert_eq!(all(), ["new", "old"]);
}

#[test]
fn a_viewer_that_does_not_read_gets_a_gap_and_a_new_snapshot() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    assert_eq!(viewer.says(1), ["snapshot 0"]);
    // Until the daemon has cut the stream, regardless of the kernel's buffers.
    let gaps = || deck.health.metrics.gaps.load(std::sync::atomic::Ordering::Relaxed);
    let (mut sent, mut read) = (0, Vec::new());
    while gaps() == 0 && sent < 60_000 {
        deck.append(prompts(2000, &format!("{sent} {}", "x".repeat(450)))).unwrap();
        sent += 2000;
        // Reads a little, as a slow viewer would, so that the daemon notices the lag.
        if sent > 10_000 {
            read.append(&mut viewer.frames(1));
        }
    }
    let (mut last, mut read) = (0, read.into_iter());
    let gap = loop {
        let frame = read.next().or_else(|| viewer.next()).unwrap();
        if frame.event == "gap" {
            break frame;
        }
        assert!(frame.n > last, "{} after {last}", frame.n);
        last = frame.n;
    };
    assert!(gap.n > last + 1);
    let snapshot = read.next().or_else(|| viewer.next()).unwrap();
    assert_eq!(snapshot.event, "snapshot");
    assert_eq!(snapshot.data["sessions"].as_array().unwrap().len(), 2000);
    deck.append(prompts(1, "the end")).unwrap();
    let (last, mut heard) = (deck.board()["n"].as_u64().unwrap(), false);
    until("the last change", || {
        let frame = viewer.next()?;
        heard |= frame.data["session"]["last_user_message"] == "the end";
        (frame.n == last).then_some(())
    });
    assert!(heard, "the last prompt is among the changes");
}

#[test]
fn viewers_that_never_read_cost_no_memory() {
    const VIEWERS: usize = 20;
    const CHANGES: usize = 6_000;
    let home = test_home();
    let daemon = home.daemon();
    let _viewers: Vec<_> = (0..VIEWERS)
        .map(|_| HttpRequest::new("GET", "/api/live/stream").host(daemon.addr).open(daemon.addr))
        .collect();
    let (before, _) = daemon.memory();
    let mut socket = home.socket();
    let mut lines = home.socket();
    // Two connections, many events in flight on each.
    for n in 0..CHANGES / 2 {
        for socket in [&mut socket, &mut lines] {
            let payload: Value =
                serde_json::from_str(&prompt(&format!("s{}", n % 54), &format!("{n} {}", "x".repeat(450))))
                    .unwrap();
            socket.send(&json!({"cmd": "hook", "args": payload})).unwrap();
            if n >= 8 {
                assert_eq!(socket.line().unwrap()["ok"], true);
            }
        }
    }
    let (after, most) = daemon.memory();
    eprintln!(
        "{VIEWERS} stuck viewers, {CHANGES} changes: {before} bytes before, {after} after, {most} at most"
    );
    // Separate queues would take more than 200 MB.
    assert!(most - before < 80 << 20, "{before} → {most}");
}

#[test]
fn the_socket_sends_the_same_as_the_stream() {
    let deck = InProcessDaemon::new();
    let mut viewer = Sse::open(deck.addr, None);
    let mut socket = deck.socket();
    socket.send(&json!({"cmd": "subscribe"})).unwrap();
    let next = |socket: &mut SocketClient| {
        let line = socket.line().unwrap();
        Frame::new(line["event"].as_str().unwrap(), line["id"].as_str().unwrap(), line["data"].clone())
    };
    let snapshot = next(&mut socket);
    assert_eq!(snapshot.says(), "snapshot 0");
    (0..3).for_each(|n| drop(deck.post(&notice("a", &n.to_string()))));
    let told: Vec<_> = (0..3).map(|_| next(&mut socket)).collect();
    assert_eq!(told, viewer.frames(4)[1..]);

    let subscribe = |last: String| {
        let mut socket = deck.socket();
        socket.send(&json!({"cmd": "subscribe", "args": {"last_event_id": last}})).unwrap();
        socket
    };
    assert_eq!(next(&mut subscribe(told[1].id())), told[2]);
    let mut lost = subscribe("another-1".to_owned());
    assert_eq!([next(&mut lost).says(), next(&mut lost).says()], ["gap 3", "snapshot 3"]);
}

#[test]
fn a_slow_socket_reader_gets_a_gap_and_a_snapshot() {
    let deck = InProcessDaemon::new();
    let mut socket = deck.socket();
    socket.send(&json!({"cmd": "subscribe"})).unwrap();
    assert_eq!(socket.line().unwrap()["event"], "snapshot");
    let gaps = || deck.health.metrics.gaps.load(std::sync::atomic::Ordering::Relaxed);
    (0..2).for_each(|n| drop(deck.append(prompts(2000, &format!("{n} {}", "x".repeat(450)))).unwrap()));
    let mut read = 0;
    while socket.line().unwrap()["event"] != "gap" {
        read += 1;
    }
    assert!(read < 8000 && gaps() > 0, "{read}");
    let snapshot = socket.line().unwrap();
    assert_eq!(snapshot["event"], "snapshot");
    assert_eq!(snapshot["data"]["sessions"].as_array().unwrap().len(), 2000);
    let last = format!("{}-8000", deck.health.boot);
    if snapshot["id"] != last.as_str() {
        until("it is up to date", || socket.line().filter(|line| line["id"] == last.as_str()));
    }
}

/// A foreign HTTP client (reqwest), over HTTP/1.1 with a kept connection.
#[tokio::test]
async fn an_ordinary_http_client_posts_and_follows_the_stream() {
    let deck = tokio::task::spawn_blocking(InProcessDaemon::new).await.unwrap();
    let client = reqwest::Client::new();
    let url = format!("http://{}", deck.addr);
    let mut stream = client.get(format!("{url}/api/live/stream")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    for n in 0..3 {
        let body: Value = serde_json::from_str(&notice("a", &n.to_string())).unwrap();
        let answer = client.post(format!("{url}/api/live/hook")).json(&body).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["x-flightdeck-seq"].to_str().unwrap()),
            (204, (n + 1).to_string().as_str())
        );
    }
    let mut text = String::new();
    while text.matches("\n\n").count() < 4 {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
    }
    let events: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(events, ["snapshot", "session_discovered", "session_updated", "session_updated"]);
    tokio::task::spawn_blocking(move || drop(deck)).await.unwrap();
}

#[test]
fn streams_end_when_the_daemon_does() {
    let home = test_home();
    let daemon = home.daemon();
    let mut viewer = Sse::open(daemon.addr, None);
    let mut socket = home.socket();
    socket.send(&json!({"cmd": "subscribe"})).unwrap();
    assert_eq!(viewer.says(1), ["snapshot 0"]);
    assert_eq!(socket.line().unwrap()["event"], "snapshot");
    assert!(daemon.stop().success());
    assert!(viewer.ended());
    assert_eq!(socket.line(), None);
}
