//! The simulated fleet on a real daemon: what it asks can be answered, and it goes on as a client would.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::stage::{Daemon, Stage, until};

/// Busy enough that whoever is not answered goes on within seconds, slow enough that most can be.
const SPEED: &str = "8";

struct Demo {
    daemon: Daemon,
    stage: Stage,
}

/// An open request that was answered here before anybody did in its terminal.
struct Answered {
    session: String,
    ask: Value,
}

impl Demo {
    fn start() -> Self {
        let stage = Stage::new();
        let tmp = stage.path().join("tmp");
        fs::create_dir(&tmp).unwrap();
        let mut demo = stage.flightdeck(&["demo", "--sessions", "24", "--speed", SPEED, "--port", "0"]);
        demo.env("TMPDIR", &tmp);
        Self { daemon: Daemon::start(demo, &stage), stage }
    }

    /// Requests that a person could answer now, each alone on its card. Reads are asked for two at a time.
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

    /// The first one of this kind that nobody was quicker with.
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

    /// What the client did next, as soon as it has done one of these.
    fn next(&self, answered: &Answered, awaited: &[&str]) -> String {
        let path = format!("/api/sessions/{}/events?limit=1000", answered.session);
        let name = |event: &Value| event["name"].as_str().unwrap().to_owned();
        until("the session went on", || {
            let events = self.daemon.get(&path).json()["events"].as_array().unwrap().clone();
            let asked = events.into_iter().skip_while(|event| event["id"] != answered.ask["id"]);
            let mut then: Vec<Value> = asked.skip_while(|event| name(event) != "answered").skip(1).collect();
            then.retain(|event| name(event) != "Notification");
            // Hooks overtake each other.
            then.sort_by_key(|event| event["fired_at"].as_str().unwrap().to_owned());
            then.iter().any(|event| awaited.contains(&name(event).as_str())).then(|| name(&then[0]))
        })
    }

    /// As the card says it.
    fn resolution(&self, answered: &Answered) -> Value {
        let card = self.daemon.card(&answered.session);
        let mut asks = card["asks"].as_array().unwrap().iter();
        asks.find(|ask| ask["id"] == answered.ask["id"]).unwrap()["resolution"].clone()
    }

    /// At some time after it was answered: at the speed of a demo it may be over by now.
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
fn what_a_demo_asks_is_answered_on_the_board_and_its_sessions_go_on() {
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
    // One that was asked for together with another call goes on with that.
    let without = ["PostToolBatch", "PreToolUse"];
    assert!(without.contains(&demo.next(&refused, &without).as_str()));
}

#[test]
fn a_demo_says_that_it_has_no_hooks_on_purpose() {
    let Demo { daemon, stage } = Demo::start();
    let status = daemon.get("/hook/status").json();
    assert_eq!((&status["simulated"], &status["wanted"]), (&true.into(), &false.into()));
    let tmp = fs::read_dir(stage.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    let homes: Vec<_> = tmp.filter(|path| path.join("daemon.lock").exists()).collect();
    let home = homes[0].to_str().unwrap();
    for command in ["status", "doctor"] {
        let said = stage.run(&["--home", home, command]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let says = "none, on purpose: the sessions are simulated";
        assert!(said.out.lines().any(|line| line.contains("hooks") && line.ends_with(says)), "{}", said.out);
    }
}

#[test]
fn what_nobody_answers_in_a_demo_is_answered_in_its_terminal() {
    let demo = Demo::start();
    let waiting: BTreeSet<String> = ["permission", "question", "plan"]
        .into_iter()
        .flat_map(|kind| demo.open(kind))
        .map(|(_, ask)| ask["id"].as_str().unwrap().to_owned())
        .collect();
    assert!(!waiting.is_empty(), "those open when the demo opens can be answered");
    for ask in waiting {
        let how = until("it ended by itself", || {
            let how = demo.daemon.get(&format!("/api/asks/{ask}")).json()["resolution"]["how"].clone();
            how.as_str().map(str::to_owned)
        });
        assert!(how.ends_with("_in_terminal"), "{how}");
    }
    let Demo { daemon, stage } = demo;
    assert!(daemon.stop().success());
    assert_eq!(fs::read_dir(stage.path().join("tmp")).unwrap().count(), 0);
}
