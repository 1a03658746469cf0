//! The simulated fleet on a real daemon: its asks can be answered, and it continues as a client would.

use std::collections::BTreeSet;
use std::fs;

use crate::home::test_home;
use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use serde_json::{Value, json};

/// Fast enough that an unanswered session continues within seconds, slow enough that most asks can be answered.
const SPEED: &str = "8";

struct Demo {
    daemon: TestDaemon,
    home: TestHome,
}

/// An ask that this test answered before the simulated terminal did.
struct Answered {
    session: String,
    ask: Value,
}

impl Demo {
    fn start() -> Self {
        let home = test_home();
        let tmp = home.path().join("tmp");
        fs::create_dir(&tmp).unwrap();
        let args = ["demo", "--sessions", "24", "--speed", SPEED, "--answer-after", "1", "--port", "0"];
        let mut demo = home.flightdeck(&args);
        demo.env("TMPDIR", &tmp);
        Self { daemon: home.start(demo), home }
    }

    /// Asks that can be answered now and are the only one on their card. Reads always come in pairs.
    fn open(&self, kind: &str) -> Vec<(String, Value)> {
        let alone = |card: &Value| {
            let asks = card["asks"].as_array().unwrap();
            let mut open = asks.iter().filter(|ask| ask["resolution"].is_null());
            let first = open.next().filter(|ask| ask["kind"] == kind && ask["tool_name"] != "Read")?;
            assert_eq!(first["answerable"], true, "{first}");
            open.next().is_none().then(|| (card["id"].as_str().unwrap().to_owned(), first.clone()))
        };
        self.daemon.board().iter().filter_map(alone).collect()
    }

    /// Answers the first ask of this kind that the terminal has not answered yet.
    fn answer(&self, kind: &str, with: impl Fn(&Value) -> Value) -> Answered {
        until("a request was answered here", || {
            self.open(kind).into_iter().find_map(|(session, ask)| {
                let path = format!("/api/asks/{}/answer", ask["id"].as_str().unwrap());
                let said = self.daemon.post(&path, &with(&ask).to_string());
                assert!(said.status == 200 || said.status == 409, "{}", said.text());
                (said.status == 200).then_some(Answered { session, ask })
            })
        })
    }

    /// Waits for the first of these events after the answer.
    fn next(&self, answered: &Answered, awaited: &[&str]) -> String {
        let path = format!("/api/sessions/{}/events?limit=1000", answered.session);
        let name = |event: &Value| event["name"].as_str().unwrap().to_owned();
        until("the session went on", || {
            let events = self.daemon.get(&path).json()["events"].as_array().unwrap().clone();
            let asked = events.into_iter().skip_while(|event| event["id"] != answered.ask["id"]);
            let mut then: Vec<Value> = asked.skip_while(|event| name(event) != "answered").skip(1).collect();
            then.retain(|event| name(event) != "Notification");
            // Hooks may arrive out of order.
            then.sort_by_key(|event| event["fired_at"].as_str().unwrap().to_owned());
            then.iter().any(|event| awaited.contains(&name(event).as_str())).then(|| name(&then[0]))
        })
    }

    /// The resolution on the card.
    fn resolution(&self, answered: &Answered) -> Value {
        let card = self.daemon.card(&answered.session);
        let mut asks = card["asks"].as_array().unwrap().iter();
        asks.find(|ask| ask["id"] == answered.ask["id"]).unwrap()["resolution"].clone()
    }

    /// Waits until the session has worked since the answer; in a fast demo that may already be over.
    fn ran(&self, answered: &Answered) {
        let since = self.resolution(answered)["at"].as_str().unwrap().to_owned();
        until("it runs", || {
            let explained = self.daemon.get(&format!("/api/sessions/{}/explain", answered.session)).json();
            let mut steps = explained["history"].as_array().unwrap().iter();
            steps.find(|s| s["at"].as_str().unwrap() >= &*since && s["role"] == "working").map(drop)
        });
    }
}

#[test]
fn asks_of_a_demo_are_answered_on_the_board_and_its_sessions_continue() {
    let demo = Demo::start();
    let allowed = demo.answer("permission", |_| json!({"decision": "allow", "via": "web"}));
    assert_eq!(demo.resolution(&allowed)["how"], "allowed");
    demo.ran(&allowed);
    let refused = demo.answer("permission", |_| json!({"decision": "deny", "message": "not today"}));
    assert_eq!(demo.resolution(&refused)["how"], "denied");
    demo.ran(&refused);
    let picked = demo.answer("question", |ask| {
        let question = &ask["questions"][0];
        let label = &question["options"][1]["label"];
        json!({"decision": "allow", "answers": {question["question"].as_str().unwrap(): label}})
    });

    assert_eq!(demo.resolution(&picked)["how"], "answered");
    demo.ran(&picked);

    assert_eq!(demo.next(&allowed, &["PostToolUse"]), "PostToolUse");
    assert_eq!(demo.next(&picked, &["PostToolUse"]), "PostToolUse");
    // A call that was asked for together with another one continues with that one.
    let without = ["PostToolBatch", "PreToolUse"];
    assert!(without.contains(&demo.next(&refused, &without).as_str()));
}

#[test]
fn sessions_of_a_demo_have_conversations() {
    let demo = Demo::start();
    until("a session has a prompt and a tool call", || {
        demo.daemon.board().iter().find_map(|card| {
            let path = format!("/api/sessions/{}/conversation", card["id"].as_str().unwrap());
            let page = demo.daemon.get(&path).json();
            let messages = page["messages"].as_array().unwrap();
            let has =
                |role: &str, kind: &str| messages.iter().any(|m| m["role"] == role && m["kind"] == kind);
            (has("user", "text") && has("assistant", "tool")).then_some(())
        })
    });
}

#[test]
fn the_sessions_of_a_demo_sit_at_their_seats() {
    let Demo { daemon, .. } = Demo::start();
    until("each open session has its seat", || {
        let seats = daemon.get("/api/seats").json()["seats"].as_array().unwrap().clone();
        let occupied = seats.iter().filter(|seat| seat["occupied"] == true);
        let seated: BTreeSet<_> = occupied.map(|seat| seat["name"].as_str().unwrap().to_owned()).collect();
        let board = daemon.board();
        let open = board.iter().filter(|card| card["ended_at"].is_null());
        let named: BTreeSet<_> = open.map(|card| card["seat"]["name"].as_str().unwrap().to_owned()).collect();
        (named.len() > 10 && seated == named).then_some(())
    });
}

#[test]
fn a_demo_says_that_it_has_no_hooks_by_design() {
    let Demo { daemon, home } = Demo::start();
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["simulated"], &status["wanted"]), (&true.into(), &false.into()));
    let tmp = fs::read_dir(home.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    let homes: Vec<_> = tmp.filter(|path| path.join("daemon.lock").exists()).collect();
    let demo_home = homes[0].to_str().unwrap();
    for command in [vec!["status"], vec!["doctor"], vec!["hooks", "status"]] {
        let said = home.run(&[vec!["--home", demo_home], command].concat());
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let says = "none, on purpose: the sessions are simulated";
        assert!(said.out.lines().any(|line| line.contains("hooks") && line.ends_with(says)), "{}", said.out);
    }
    // Also after the demo was killed and left its home behind.
    daemon.kill();
    for action in ["install", "repair", "print"] {
        let mut hooks = home.flightdeck(&["hooks", action]);
        let output = hooks.env("FLIGHTDECK_HOME", demo_home).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{action}: {said}");
        assert!(said.contains("is the home of a demo") && said.contains("Nothing was changed"), "{said}");
    }
    assert!(!home.settings().exists());
}

#[test]
fn an_unanswered_ask_of_a_demo_is_answered_in_its_terminal() {
    let demo = Demo::start();
    let waiting = until("a request is open", || {
        let open = ["permission", "question", "plan"].into_iter().flat_map(|kind| demo.open(kind));
        let ids: BTreeSet<String> = open.map(|(_, ask)| ask["id"].as_str().unwrap().to_owned()).collect();
        (!ids.is_empty()).then_some(ids)
    });
    for ask in waiting {
        let how = until("it ended by itself", || {
            let how = demo.daemon.get(&format!("/api/asks/{ask}")).json()["resolution"]["how"].clone();
            how.as_str().map(str::to_owned)
        });
        assert!(how.ends_with("_in_terminal"), "{how}");
    }
    let Demo { daemon, home } = demo;
    assert!(daemon.stop().success());
    assert_eq!(fs::read_dir(home.path().join("tmp")).unwrap().count(), 0);
}
