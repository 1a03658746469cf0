use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use bytes::Bytes;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view::{self, card::Card};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_protocol::ErrorCode;
use flightdeck_protocol::changes::{Change, ChangeFrame};
use flightdeck_protocol::daemon::Ping;
use flightdeck_protocol::sessions::Snapshot;
use flightdeck_protocol::terminal::{Draft, SendPrompt, TerminalRefusal, TerminalRefusalCode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::reconnect::Reconnect;
use super::*;
use crate::engine::changes::{self, ChangeFeed as DaemonChanges, SubscribeFrom};
use crate::paths::Paths;

fn card(id: &str, title: &str) -> Card {
    let payload = json!({ "session_id": id, "hook_event_name": "UserPromptSubmit", "prompt": title });
    let Value::Object(payload) = payload else { unreachable!() };
    let draft = HookDraft { name_in_path: None, payload, env: serde_json::Map::new(), bytes: 0 };
    let mut fleet = Fleet::new(FoldSettings::default());
    fleet.apply(&Event::from_record(&draft.into_record(EventId(1)).unwrap()));
    view::card(fleet.get(&id.into()).unwrap(), fleet.settings())
}

fn encoded(card: &Card) -> Bytes {
    serde_json::to_vec(card).unwrap().into()
}

fn snapshot_of(changes: &DaemonChanges) -> Snapshot {
    serde_json::from_slice(&changes.snapshot()).unwrap()
}

fn assert_mirrors(mirror: &BoardMirror, board: &Snapshot) {
    assert_eq!(mirror.cards().collect::<Vec<_>>(), board.sessions.iter().collect::<Vec<_>>());
    assert!(!mirror.is_stale());
}

/// A viewer without a socket: reads the lines that the daemon would send.
struct Viewer {
    subscription: changes::Subscription,
    mirror: BoardMirror,
    reconnect: Reconnect,
}

impl Viewer {
    fn new(changes: &DaemonChanges) -> Self {
        let subscription = changes.subscribe(&SubscribeFrom::Now);
        Self { subscription, mirror: BoardMirror::default(), reconnect: Reconnect::default() }
    }

    fn receive_all(&mut self) {
        let mut received = std::mem::take(&mut self.subscription.first);
        received.extend(std::iter::from_fn(|| self.subscription.next.try_recv().ok()));
        for change in received {
            let frame = ChangeFrame::read(&change.line()).unwrap();
            self.reconnect.received(&frame);
            self.mirror.apply(frame.change);
        }
    }

    /// Drops the changes that were sent but not received yet, as a lost connection does.
    fn reconnect(&mut self, changes: &DaemonChanges) {
        self.subscription = changes.subscribe(&SubscribeFrom::last_event_id(self.reconnect.last_event_id()));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Complete(u8),
    Replace(u8),
    Remove(u8),
    Receive,
    Reconnect,
    /// The daemon starts again with the same cards.
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4_u8, 0..3_u8).prop_map(|(session, title)| Step::Put(session, title)),
        1 => (0..4_u8).prop_map(Step::Complete),
        1 => (0..4_u8).prop_map(Step::Replace),
        1 => (0..4_u8).prop_map(Step::Remove),
        2 => Just(Step::Receive),
        1 => Just(Step::Reconnect),
        1 => Just(Step::Restart),
    ]
}

fn take_step(step: &Step, boot: usize, changes: &mut DaemonChanges, viewer: &mut Viewer) {
    let id = |session: &u8| SessionId::from(format!("session-{session}"));
    match step {
        Step::Put(session, title) => {
            let id = id(session);
            changes.send_card(&id, encoded(&card(&id, &format!("title {title}"))));
        }
        Step::Complete(session) => changes.complete(&id(session)),
        Step::Replace(session) => {
            let id = id(session);
            let last = Card { replaced_by: Some("another".into()), ..card(&id, "replaced") };
            changes.replace(&id, encoded(&last));
        }
        Step::Remove(session) => changes.remove(&id(session)),
        Step::Receive => viewer.receive_all(),
        Step::Reconnect => viewer.reconnect(changes),
        Step::Restart => {
            let board = snapshot_of(changes);
            *changes = DaemonChanges::new(format!("boot{boot}"));
            board.sessions.iter().for_each(|card| changes.seed(&card.id, encoded(card)));
            viewer.reconnect(changes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_mirror_equals_the_board_after_any_changes(steps in prop::collection::vec(any_step(), 0..40)) {
        let mut changes = DaemonChanges::new("boot".into());
        let mut viewer = Viewer::new(&changes);
        for (boot, step) in steps.iter().enumerate() {
            take_step(step, boot, &mut changes, &mut viewer);
        }
        viewer.receive_all();
        assert_mirrors(&viewer.mirror, &snapshot_of(&changes));
    }
}

#[test]
fn a_gap_makes_the_mirror_stale_until_the_next_snapshot() {
    let mut mirror = BoardMirror::default();
    mirror.apply(Change::SessionDiscovered { session: Box::new(card("a", "one")) });
    mirror.apply(Change::Gap {});
    assert!(mirror.is_stale() && mirror.card(&"a".into()).is_some());
    let board = Snapshot { boot: "b".into(), n: 1, sessions: vec![card("b", "two")] };
    mirror.apply(Change::Snapshot(board.clone()));
    assert_mirrors(&mirror, &board);
}

#[test]
fn changes_that_do_not_concern_cards_leave_the_mirror_unchanged() {
    let mut mirror = BoardMirror::default();
    mirror.apply(Change::SessionDiscovered { session: Box::new(card("a", "one")) });
    let before = mirror.clone();
    mirror.apply(Change::Unknown { event: "effort_updated".into() });
    assert_eq!(mirror, before);
}

/// A daemon that sends only the lines that a test gives it.
struct FakeDaemon {
    home: tempfile::TempDir,
    listener: UnixListener,
}

impl FakeDaemon {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::in_home(home.path());
        std::fs::create_dir_all(paths.socket().parent().unwrap()).unwrap();
        let listener = UnixListener::bind(paths.socket()).unwrap();
        Self { home, listener }
    }

    fn paths(&self) -> Paths {
        Paths::in_home(self.home.path())
    }

    fn restart(&mut self) {
        std::fs::remove_file(self.paths().socket()).unwrap();
        self.listener = UnixListener::bind(self.paths().socket()).unwrap();
    }

    /// Reads one request of the next client and sends these lines. Dropping the stream closes the connection.
    fn serve(&self, lines: &[Bytes]) -> (Value, UnixStream) {
        let mut stream = self.listener.accept().unwrap().0;
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).unwrap();
        stream.write_all(&lines.concat()).unwrap();
        (serde_json::from_str(&request).unwrap(), stream)
    }

    fn reply<T>(line: &'static str, call: impl FnOnce(BlockingClient) -> T) -> T {
        let daemon = Self::start();
        std::thread::scope(|threads| {
            let serving = threads.spawn(|| drop(daemon.serve(&[Bytes::from_static(line.as_bytes())])));
            let result = call(BlockingClient::connect(&daemon.paths()).unwrap());
            serving.join().unwrap();
            result
        })
    }
}

fn first_lines(changes: &DaemonChanges, last_event_id: Option<&str>) -> Vec<Bytes> {
    changes
        .subscribe(&SubscribeFrom::last_event_id(last_event_id))
        .first
        .iter()
        .map(|change| change.line())
        .collect()
}

fn change(next: LiveChange) -> ChangeFrame {
    match next {
        LiveChange::Change(frame) => frame,
        LiveChange::Disconnected { error, .. } => panic!("{error}"),
    }
}

/// Serves a board with one session, restarts, and serves a board with two. Returns the two requests.
fn serve_two_boots(daemon: &mut FakeDaemon) -> [Value; 2] {
    let mut changes = DaemonChanges::new("one".into());
    changes.seed(&"a".into(), encoded(&card("a", "first")));
    let (first, connection) = daemon.serve(&first_lines(&changes, None));
    drop(connection);
    daemon.restart();
    let mut changes = DaemonChanges::new("two".into());
    changes.seed(&"a".into(), encoded(&card("a", "first")));
    changes.seed(&"b".into(), encoded(&card("b", "second")));
    let (second, _connection) = daemon.serve(&first_lines(&changes, Some("one-0")));
    [first, second]
}

fn assert_two_boots(requests: &[Value; 2], mirror: &BoardMirror) {
    assert_eq!(requests[0], json!({ "cmd": "subscribe", "args": {} }));
    assert_eq!(requests[1], json!({ "cmd": "subscribe", "args": { "last_event_id": "one-0" } }));
    let titles: Vec<_> = mirror.cards().map(|card| card.title.as_deref().unwrap()).collect();
    assert_eq!(titles, ["first", "second"]);
    assert!(!mirror.is_stale());
}

#[test]
fn live_changes_continue_after_the_daemon_restarts() {
    let mut daemon = FakeDaemon::start();
    let mut live = LiveChanges::new(daemon.paths());
    let serving = std::thread::spawn(move || serve_two_boots(&mut daemon));
    let mut mirror = BoardMirror::default();
    mirror.apply(change(live.next_change()).change);
    let lost = live.next_change();
    assert!(
        matches!(
            lost,
            LiveChange::Disconnected { error: ClientError::Closed, retry_in: RECONNECT_DELAY_MIN }
        ),
        "{lost:?}"
    );
    // The socket may be gone for a moment while the daemon restarts.
    let gap = loop {
        match live.next_change() {
            LiveChange::Change(frame) => break frame.change,
            LiveChange::Disconnected { .. } => {}
        }
    };
    assert_eq!(gap, Change::Gap {});
    mirror.apply(gap);
    assert!(mirror.is_stale());
    mirror.apply(change(live.next_change()).change);
    assert_two_boots(&serving.join().unwrap(), &mirror);
}

#[tokio::test]
async fn async_live_changes_continue_after_the_daemon_restarts() {
    let mut daemon = FakeDaemon::start();
    let mut live = AsyncLiveChanges::new(daemon.paths());
    let serving = std::thread::spawn(move || serve_two_boots(&mut daemon));
    let mut mirror = BoardMirror::default();
    let mut disconnects = 0;
    while mirror.cards().len() < 2 {
        match live.next_change().await {
            LiveChange::Change(frame) => mirror.apply(frame.change),
            LiveChange::Disconnected { .. } => disconnects += 1,
        }
    }
    assert!(disconnects > 0);
    assert_two_boots(&serving.join().unwrap(), &mirror);
}

#[tokio::test]
async fn a_cancelled_wait_for_a_change_loses_nothing() {
    let daemon = FakeDaemon::start();
    let line = r#"{"event":"session_removed","id":"b-1","data":{"id":"s"}}"#;
    let (first, second) = line.split_at(20);
    let client = AsyncClient::connect(&daemon.paths()).await.unwrap();
    let mut changes = client.subscribe(None).await.unwrap();
    let (_, mut connection) = daemon.serve(&[Bytes::from(first.to_owned())]);
    for _ in 0..3 {
        let wait = tokio::time::timeout(Duration::from_millis(10), changes.next());
        assert!(wait.await.is_err(), "half a line is not a change");
    }
    connection.write_all(format!("{second}\n").as_bytes()).unwrap();
    let frame = changes.next().await.unwrap().unwrap();
    assert_eq!(frame, ChangeFrame::read(line.as_bytes()).unwrap());
}

#[test]
fn a_refusal_keeps_its_code_message_and_details() {
    let line = concat!(
        r#"{"ok":false,"error":"REFUSED","message":"the prompt box already has a draft","#,
        r#""details":{"error":"draft","draft":"half","choices":["keep","replace"]}}"#,
        "\n"
    );
    let request = SendPrompt { session_id: "s".into(), text: "go".into(), kind: None, draft: None };
    let error = FakeDaemon::reply(line, |mut client| client.call(&request).unwrap_err());
    assert_eq!(error.to_string(), "the prompt box already has a draft");
    assert_eq!(error.code(), Some(ErrorCode::Refused));
    assert_eq!(error.details().unwrap()["draft"], "half");
    let ClientError::Refused(refusal) = error else { panic!("{error}") };
    let details = TerminalRefusal::read(&refusal).unwrap();
    assert_eq!(details.error, TerminalRefusalCode::Draft);
    assert!(details.has_choices());
    assert_eq!(details.choices.unwrap(), [Draft::Keep, Draft::Replace]);
}

#[test]
fn a_raw_reply_keeps_fields_that_this_version_does_not_know() {
    let line = "{\"ok\":true,\"data\":{\"newer\":[1.50],\"version\":\"9\",\"pid\":7}}\n";
    let reply = FakeDaemon::reply(line, |mut client| client.call_raw(&Ping {}).unwrap());
    assert_eq!(reply.json().unwrap().to_string(), r#"{"newer":[1.5],"version":"9","pid":7}"#);
    assert_eq!(reply.decode().unwrap().pid, 7);
}

#[test]
fn a_reply_of_another_shape_and_a_closed_connection_are_errors() {
    let call = |mut client: BlockingClient| client.call(&Ping {}).unwrap_err();
    let error = FakeDaemon::reply("{\"ok\":true,\"data\":{\"pid\":\"x\"}}\n", call);
    assert!(matches!(error, ClientError::Reply(_)), "{error}");
    let error = FakeDaemon::reply("{\"ok\":tr", call);
    assert!(matches!(error, ClientError::Closed), "{error}");
}

#[test]
fn without_a_daemon_the_error_names_the_home() {
    let home = tempfile::tempdir().unwrap();
    let error = BlockingClient::connect(&Paths::in_home(home.path())).unwrap_err();
    assert!(matches!(&error, ClientError::NotRunning { home: named } if named == home.path()));
    assert!(error.to_string().ends_with("start it with `flightdeck`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_does_not_reply_is_a_timeout() {
    let daemon = FakeDaemon::start();
    let mut client = AsyncClient::connect(&daemon.paths()).await.unwrap();
    let started = tokio::time::Instant::now();
    let error = client.call(&Ping {}).await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout), "{error}");
    assert_eq!(started.elapsed(), REPLY_MAX);
}
