//! The requests about efforts: what they accept, what they refuse and why.

use flightdeck::store::Store;
use flightdeck_core::limits::{HANDOFF_BYTES_MAX, INJECTIONS_MAX};
use serde_json::{Value, json};

use super::{Deck, denial};

#[test]
fn an_effort_goes_through_its_phases_and_is_finished() {
    let mut deck = Deck::new();
    let settings =
        json!({"phases": ["1: Plan", {"name": "2: Build", "directives": ["docs/build.md"]}], "heartbeat": 5});
    let id = deck.start_with(json!({"title": "Split the engine", "settings": settings}));
    let shown = deck.data("effort.phase", json!({"id": id, "phase": "2: Build", "proof": "plan approved"}));
    assert_eq!(
        (&shown["phase"], &shown["planned_phases"]),
        (&json!("2: Build"), &json!(["1: Plan", "2: Build"]))
    );
    assert_eq!(shown["phases"][1]["proof"], "plan approved");
    assert_eq!(
        (&shown["ordinal"], &shown["heartbeat_limit"], &shown["title"]),
        (&json!(1), &json!(5), &json!("Split the engine"))
    );
    let filed =
        deck.data("message.append", json!({"effort": id, "text": "tables stay data", "kind": "decision"}));
    let messages = deck.data("message.list", json!({ "effort": id }));
    assert_eq!(messages["messages"].as_array().unwrap().last().unwrap()["id"], filed["id"]);
    let decisions = deck.data("message.list", json!({"effort": id, "kind": "decision"}));
    assert_eq!(decisions["messages"].as_array().unwrap().len(), 1);
    assert_eq!(deck.data("workstream.list", json!({}))["workstreams"][0]["active"], true);
    deck.data("effort.finish", json!({ "id": id }));
    let dir = deck.dir();
    assert_eq!(deck.data("workstream.show", json!({ "dir": dir }))["active"], false);
    assert_eq!(deck.data("effort.list", json!({"lifecycle": "active"}))["efforts"], json!([]));
    assert_eq!(deck.data("effort.list", json!({"lifecycle": "finished"}))["efforts"][0]["id"], json!(id));
    let second = deck.start();
    assert_eq!(deck.show(&second)["ordinal"], 2);
}

#[test]
fn every_refusal_names_what_is_wrong() {
    let mut deck = Deck::new();
    let id = deck.start();
    let rule = |when: Value| json!({"id": "r", "when": when, "then": "deny"});
    let wrong = [
        ("effort.start", json!({"skill": "implement"}), "VALIDATION_ERROR", "dir"),
        ("effort.start", json!({"dir": "relative", "skill": "x"}), "VALIDATION_ERROR", "`dir`"),
        ("effort.start", json!({"dir": "/no/such/place", "skill": "x"}), "VALIDATION_ERROR", "`dir`"),
        ("effort.start", json!({"dir": "/", "skill": " "}), "VALIDATION_ERROR", "`skill`"),
        ("effort.start", json!({"dir": 3, "skill": "x"}), "VALIDATION_ERROR", "`dir`"),
        (
            "effort.start",
            json!({"dir": "/", "skill": "x", "settings": {"hartbeat": 3}}),
            "VALIDATION_ERROR",
            "hartbeat",
        ),
        ("effort.show", json!({"id": "e-none"}), "NOT_FOUND", "e-none"),
        ("effort.phase", json!({"id": "e-none", "phase": "2"}), "NOT_FOUND", "e-none"),
        ("effort.log", json!({"id": id, "text": "  "}), "VALIDATION_ERROR", "`text`"),
        ("window.show", json!({"id": "w-none"}), "NOT_FOUND", "w-none"),
        ("window.finish", json!({"id": "w-none"}), "NOT_FOUND", "w-none"),
        ("workstream.show", json!({"dir": "/none"}), "NOT_FOUND", "/none"),
        (
            "guard.set",
            json!({"effort": id, "rule": rule(json!({"field": "/x", "op": "like", "value": 1}))}),
            "VALIDATION_ERROR",
            "rule.when.op",
        ),
        (
            "guard.set",
            json!({"effort": id, "rule": rule(json!({"field": "phaze", "op": "eq", "value": 1}))}),
            "VALIDATION_ERROR",
            "`when.field`",
        ),
        ("guard.remove", json!({"effort": id, "rule_id": "none"}), "NOT_FOUND", "none"),
        ("seat.release", json!({"name": "x", "effort": id}), "REFUSED", "no seat"),
        ("hooks.preToolUse", json!({"sessionId": "s"}), "VALIDATION_ERROR", "transcriptPath"),
    ];
    for (cmd, args, code, part) in wrong {
        let reply = deck.ask(cmd, args.clone());
        assert_eq!(reply["error"], code, "{cmd} {args}: {reply}");
        assert!(reply["message"].as_str().unwrap().contains(part), "{cmd} {args}: {reply}");
    }
    deck.data("effort.finish", json!({ "id": id }));
    assert_eq!(deck.ask("effort.log", json!({"id": id, "text": "x"}))["error"], "ALREADY_ENDED");
}

#[test]
fn a_handoff_at_the_size_limit_is_accepted_and_one_byte_more_is_refused() {
    let mut deck = Deck::new();
    let id = deck.start();
    let whole = "x".repeat(HANDOFF_BYTES_MAX);
    let refused = deck.ask("effort.dehydrate", json!({"id": id, "payload": format!("{whole}x")}));
    assert_eq!(refused["error"], "VALIDATION_ERROR");
    assert!(refused["message"].as_str().unwrap().contains("`payload`"));
    deck.data("effort.dehydrate", json!({"id": id, "payload": whole}));
    let text = super::context(&deck.hook("s", "SessionStart", json!({"source": "startup"})));
    assert!(
        text.chars().count() <= 10_000 && text.contains("1_IMPLEMENT_HANDOFF_1.md"),
        "{}",
        &text[text.len() - 300..]
    );
    let injected = "y".repeat(HANDOFF_BYTES_MAX);
    let pending = deck.data("effort.inject", json!({"id": id, "text": injected}));
    assert_eq!(pending["pending_injections"], 1);
    for _ in 1..INJECTIONS_MAX {
        deck.data("effort.inject", json!({"id": id, "text": "z"}));
    }
    assert_eq!(deck.ask("effort.inject", json!({"id": id, "text": "z"}))["error"], "REFUSED");
}

#[test]
fn of_two_equal_phase_changes_at_once_one_is_refused() {
    let mut deck = Deck::new();
    let id = deck.start();
    let mut others: Vec<_> = (0..8).map(|_| deck.daemon.socket()).collect();
    let enter = json!({"cmd": "effort.phase", "args": {"id": id, "phase": "2: Build"}});
    others.iter_mut().for_each(|socket| socket.send(&enter).unwrap());
    let replies: Vec<Value> = others.iter_mut().map(|socket| socket.line().unwrap()).collect();
    assert_eq!(replies.iter().filter(|reply| reply["ok"] == true).count(), 1, "{replies:?}");
    assert_eq!(deck.show(&id)["phases"].as_array().unwrap().len(), 1);
}

#[test]
fn a_seat_is_claimed_once_and_can_be_released() {
    let mut deck = Deck::new();
    let id = deck.start();
    let claimed = deck.data("seat.claim", json!({"name": "backend"}));
    assert_eq!(claimed["efforts"], json!([id]));
    let refused = deck.ask("seat.claim", json!({"name": "tests", "effort": id}));
    assert_eq!(refused["error"], "REFUSED");
    assert!(refused["message"].as_str().unwrap().contains("belongs to seat \"backend\";"), "{refused}");
    assert_eq!(deck.data("seat.release", json!({"name": "backend"}))["efforts"], json!([]));
    assert_eq!(deck.data("seat.claim", json!({"name": "tests", "parent": "backend"}))["efforts"], json!([]));
}

#[test]
fn a_seat_names_its_parent_once_the_parent_has_been_occupied() {
    let mut deck = Deck::new();
    let dir = deck.dir();
    deck.data("seat.claim", json!({"name": "tests", "parent": "lead"}));
    let env = |pid: u32, seat: &str| json!({"pid": pid, "proc_start": "1", "AGENT_ID": seat});
    deck.hook_in(&dir, "two", "UserPromptSubmit", json!({"prompt": "go"}), env(12, "tests"));
    let seat = |deck: &mut Deck, name: &str| {
        let seats = deck.data("seat.list", json!({}))["seats"].clone();
        seats.as_array().unwrap().iter().find(|seat| seat["name"] == name).unwrap().clone()
    };
    assert_eq!(seat(&mut deck, "tests")["parent"], json!(null), "no session has sat at lead");
    deck.hook_in(&dir, "one", "UserPromptSubmit", json!({"prompt": "go"}), env(11, "lead"));
    let lead = seat(&mut deck, "lead");
    assert_eq!((&seat(&mut deck, "tests")["parent"], &lead["parent"]), (&lead["id"], &json!(null)));
    let seats = deck.data("fleet.status", json!({}))["seats"].clone();
    assert!(seats.as_array().unwrap().iter().any(|seat| seat["parent"] == lead["id"]), "{seats}");
}

#[test]
fn a_session_that_is_known_only_by_the_name_of_its_seat_occupies_it() {
    let mut deck = Deck::new();
    let dir = deck.dir();
    for (session, env) in [("one", json!({"FLIGHTDECK_SEAT": "lead"})), ("two", json!({"AGENT_ID": "tests"}))]
    {
        deck.hook_in(&dir, session, "UserPromptSubmit", json!({"prompt": "go"}), env);
    }
    let seats = deck.data("fleet.status", json!({}))["seats"].clone();
    let mut told: Vec<_> = seats
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| (seat["name"].as_str().unwrap(), seat["session_id"].as_str().unwrap(), &seat["occupied"]))
        .collect();
    told.sort_by_key(|(name, ..)| *name);
    assert_eq!(told, [("lead", "one", &json!(true)), ("tests", "two", &json!(true))]);
}

#[test]
fn the_fleet_status_is_the_worst_of_all_seats() {
    let mut deck = Deck::new();
    deck.start();
    let dir = deck.dir();
    let env = |pid: u32| json!({"pid": pid, "proc_start": "1"});
    deck.hook_in(&dir, "one", "UserPromptSubmit", json!({"prompt": "go"}), env(11));
    deck.hook_in(&dir, "two", "UserPromptSubmit", json!({"prompt": "go"}), env(12));
    deck.hook_in(&dir, "two", "PermissionRequest", super::bash("t", "rm x"), env(12));
    let fleet = deck.data("fleet.status", json!({}));
    assert_eq!(fleet["status"], "attention");
    let told: Vec<_> = fleet["seats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (&s["session_id"], &s["status"], &s["skill"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("two"), &json!("attention"), &json!("implement")),
            (&json!("one"), &json!("working"), &json!("implement"))
        ]
    );
}

#[test]
fn a_dry_run_counts_what_the_rules_would_have_denied() {
    let mut deck = Deck::new();
    let id = deck.start();
    for (n, command) in
        ["git push --force", "git push", "git push --force origin", "ls"].into_iter().enumerate()
    {
        deck.hook("s", "PreToolUse", super::bash(&format!("t{n}"), command));
    }
    let rule = json!({"id": "no-force", "then": "deny",
        "when": {"field": "/tool_input/command", "op": "contains", "value": "--force"}});
    let report = deck.data("guard.test", json!({"effort": id, "rule": rule}));
    assert_eq!((&report["calls"], &report["rules"][0]["decided"]), (&json!(4), &json!(2)));
    assert_eq!(report["denied"][0]["call"], "Bash: git push --force origin");
    assert_eq!(deck.data("guard.list", json!({ "effort": id }))["guards"], json!([]), "nothing was saved");
    deck.data("guard.set", json!({"effort": id, "rule": rule}));
    let history = deck.daemon.get(&format!("/api/efforts/{id}/guard-history")).json();
    assert_eq!(history, report, "the page reads the same over HTTP");
    assert_eq!(deck.daemon.get("/api/efforts/e-none/guard-history").status, 404);
}

#[test]
fn a_dry_run_looks_only_through_the_newest_events() {
    let mut deck = Deck::new();
    let id = deck.start();
    for n in 0..3 {
        deck.call("s", &format!("t{n}"));
    }
    let all = deck.data("guard.test", json!({ "effort": id }));
    assert_eq!((&all["calls"], &all["since"]), (&json!(3), &Value::Null));
    let newest = deck.data("guard.test", json!({"effort": id, "events": 2}));
    assert_eq!(newest["calls"], 2);
    let second = deck.daemon.get("/api/sessions/s/events").json()["events"][1]["fired_at"].clone();
    assert_eq!(newest["since"], second);
}

#[test]
fn a_restart_gives_the_same_effort() {
    let store = Store::in_memory().unwrap();
    let mut deck = Deck::on(store.clone());
    let id = deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    deck.call("s", "t1");
    deck.data("effort.log", json!({"id": id, "text": "so far"}));
    deck.call("s", "t2");
    let before = deck.show(&id);
    let dir = deck.dir;
    let daemon = crate::in_process::InProcessDaemon::builder().store(store).start();
    let socket = daemon.socket();
    let mut deck = Deck { daemon, dir, socket };
    assert_eq!(deck.show(&id), before);
    assert_eq!(
        deck.data("message.list", json!({"effort": id, "kind": "log"}))["messages"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn viewers_get_an_effort_when_it_changes() {
    let mut deck = Deck::new();
    let mut viewer = deck.daemon.socket();
    viewer.ask(&json!({"cmd": "subscribe", "args": {}}));
    let id = deck.start();
    let change = viewer.line().unwrap();
    assert_eq!((&change["event"], &change["data"]["effort"]["id"]), (&json!("effort_updated"), &json!(id)));
}

#[test]
fn only_its_own_seat_releases_an_effort() {
    let mut deck = Deck::new();
    let id = deck.start_with(json!({"seat": "backend"}));
    let refused = deck.ask("seat.release", json!({"name": "tests", "effort": id}));
    assert_eq!(refused["error"], "REFUSED", "{refused}");
    let said = "belongs to seat \"backend\", so \"tests\" cannot release it";
    assert!(refused["message"].as_str().unwrap().contains(said), "{refused}");
    assert_eq!(deck.show(&id)["seat"], "backend");
    deck.data("seat.release", json!({"name": "backend", "effort": id}));
    assert_eq!(deck.show(&id)["seat"], Value::Null);
}

#[test]
fn a_seat_whose_claim_is_refused_gets_no_parent_either() {
    let mut deck = Deck::new();
    let lead = deck.start_with(json!({"seat": "lead"}));
    let claim = json!({"name": "tests", "parent": "lead", "effort": lead});
    assert_eq!(deck.ask("seat.claim", claim)["error"], "REFUSED");
    let idle = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "TeammateIdle",
        "teammate_name": "tests", "team_name": "api"});
    let reply =
        deck.socket.ask(&json!({"cmd": "hooks.teammateIdle", "args": idle, "env": {"AGENT_ID": "tests"}}));
    assert_eq!(reply["data"]["signalled"], Value::Null, "{reply}");
}

#[test]
fn a_workstream_has_a_title_and_keywords_and_an_effort_has_metadata() {
    let mut deck = Deck::new();
    let dir = deck.dir();
    let id = deck.start_with(json!({"title": "Split the engine", "metadata": {"ticket": 7}}));
    assert_eq!(deck.show(&id)["metadata"], json!({"ticket": 7}));
    let shown = deck.data("workstream.show", json!({ "dir": dir }));
    assert_eq!((&shown["title"], &shown["keywords"]), (&json!("Split the engine"), &json!([])));
    deck.start_with(json!({"workstreamTitle": "Taxes", "keywords": ["tax", "rounding"]}));
    let shown = deck.data("workstream.show", json!({ "dir": dir }));
    assert_eq!((&shown["title"], &shown["keywords"]), (&json!("Taxes"), &json!(["tax", "rounding"])));
    let big = json!({"dir": dir, "skill": "fix", "metadata": {"x": "y".repeat(20_000)}});
    assert!(deck.ask("effort.start", big)["message"].as_str().unwrap().contains("`metadata`"));
}

#[test]
fn a_dry_run_counts_a_call_once_and_a_rule_with_once_once() {
    let mut deck = Deck::new();
    let id = deck.start();
    for n in 0..3 {
        deck.call("s", &format!("t{n}"));
    }
    let twin = super::payload(&deck.dir(), "s", "PreToolUse", super::bash("t0", "cargo test"));
    deck.data("hooks.preToolUse", Value::Object(twin));
    let rule = json!({"id": "first", "then": "deny", "once": true, "when": {"field": "/tool_name", "op": "eq", "value": "Bash"}});
    let report = deck.data("guard.test", json!({"effort": id, "rule": rule}));
    let row = &report["rules"][0];
    assert_eq!((&report["calls"], &row["matched"], &row["decided"]), (&json!(3), &json!(3), &json!(1)));
    assert_eq!(report["denied"].as_array().unwrap().len(), 1);
}

#[test]
fn a_dry_run_uses_up_a_rule_with_once_as_the_fold_does() {
    let mut deck = Deck::new();
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    let id = deck.start_with(json!({"settings": {"heartbeat": 3}}));
    for rule in [
        json!({"id": "deny-all", "when": when, "then": "deny"}),
        json!({"id": "one-exception", "when": when, "then": "allow", "once": true, "priority": 1}),
    ] {
        deck.data("guard.set", json!({"effort": id, "rule": rule}));
    }
    let mut is_denied = |n: u32| denial(&deck.call("s", &format!("t{n}"))).is_some();
    assert_eq!([is_denied(1), is_denied(2)], [false, true]);
    // The same session in its next window.
    deck.hook("s", "SessionStart", json!({"source": "clear"}));
    let mut is_denied = |n: u32| denial(&deck.call("s", &format!("t{n}"))).is_some();
    assert_eq!([is_denied(3), is_denied(4)], [false, true]);
    let report = deck.data("guard.test", json!({ "effort": id }));
    let decided: Vec<_> = report["rules"].as_array().unwrap().iter().map(|row| &row["decided"]).collect();
    assert_eq!(decided, [&json!(2), &json!(2)], "{report}");
    // With a limit of 1 the heartbeat denies every call, and none of them uses the exception up.
    let strict = deck.start_with(json!({"settings": {"heartbeat": 1}}));
    let rule = json!({"id": "one-exception", "when": when, "then": "allow", "once": true});
    let report = deck.data("guard.test", json!({"effort": strict, "rule": rule}));
    assert_eq!(report["rules"][0]["decided"], 4, "{report}");
}

#[test]
fn a_rule_may_not_have_the_name_under_which_the_heartbeat_counts() {
    let mut deck = Deck::new();
    let id = deck.start();
    let when = json!({"field": "/tool_name", "op": "eq", "value": "Bash"});
    let rule = json!({"id": "heartbeat", "when": when, "then": "deny"});
    let refused = deck.ask("guard.set", json!({"effort": id, "rule": rule}));
    assert_eq!(refused["error"], "VALIDATION_ERROR", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("`id`"), "{refused}");
}

#[test]
fn the_log_file_has_every_entry() {
    let mut deck = Deck::new();
    let id = deck.start();
    for n in 0..=200 {
        deck.data("effort.log", json!({"id": id, "text": format!("entry {n}.")}));
    }
    let file = std::fs::read_to_string(deck.dir().join(".flightdeck/1_IMPLEMENT_LOG.md")).unwrap();
    let found: Vec<&str> = file.lines().filter(|line| line.starts_with("entry ")).collect();
    assert_eq!((found.len(), found[0], found[200]), (201, "entry 0.", "entry 200."));
}

#[test]
fn a_link_out_of_the_project_shows_the_agent_no_other_file() {
    let mut deck = Deck::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "A SECRET").unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), deck.dir().join("build.md")).unwrap();
    std::fs::write(deck.dir().join("plan.md"), "THE PLAN").unwrap();
    let phase = json!({"name": "1: Build", "directives": ["build.md", "plan.md"]});
    deck.start_with(json!({"settings": {"phases": [phase]}}));
    let text = super::context(&deck.hook("s", "SessionStart", json!({"source": "startup"})));
    assert!(text.contains("THE PLAN") && !text.contains("A SECRET"), "{text}");
    assert!(text.contains("build.md now"), "the agent may ask for it: {text}");
    let many: Vec<String> = (0..40).map(|n| format!("{n}.md")).collect();
    let many = json!({"dir": deck.dir(), "skill": "fix", "settings": {"phases": [{"name": "1", "directives": many}]}});
    assert!(
        deck.ask("effort.start", many)["message"].as_str().unwrap().contains("`settings.phases.directives`")
    );
}

/// A repository with a package in it, in which an effort may work.
fn repository(deck: &Deck) -> std::path::PathBuf {
    let package = deck.dir().join("pkg/src");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::create_dir_all(deck.dir().join("docs")).unwrap();
    std::fs::create_dir(deck.dir().join(".git")).unwrap();
    for (file, text) in
        [("AGENTS.md", "OF THE ROOT"), ("pkg/AGENTS.md", "OF THE PACKAGE"), ("docs/build.md", "HOW TO BUILD")]
    {
        std::fs::write(deck.dir().join(file), text).unwrap();
    }
    deck.dir().join("pkg")
}

#[test]
fn directives_are_found_up_to_the_root_of_the_project() {
    let mut deck = Deck::new();
    let package = repository(&deck);
    let both = json!([deck.dir().join("AGENTS.md"), package.join("AGENTS.md")]);
    let file = package.join("src/a.rs");
    let bare = deck.data("directives.discover", json!({"files": [file]}));
    assert_eq!(bare["directives"], both, "without a root and without an effort");
    let phase = json!({"name": "1: Build", "directives": ["docs/build.md"]});
    let start = json!({"dir": package, "skill": "fix", "settings": {"phases": [phase]}});
    let id = deck.data("effort.start", start)["id"].clone();
    let of_effort = deck.data("directives.discover", json!({"files": [file], "effort": id}));
    assert_eq!(of_effort["directives"], both);
    let ends = deck.data("directives.discover", json!({"files": [file], "root": package}));
    assert_eq!(ends["directives"], json!([package.join("AGENTS.md")]), "a given root is the root");
    let started = deck.hook_in(&package, "s", "SessionStart", json!({"source": "startup"}), json!({}));
    let text = super::context(&started);
    for part in ["HOW TO BUILD", "OF THE ROOT", "OF THE PACKAGE"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_file_that_is_touched_shows_the_directives_up_to_the_root_of_the_project() {
    let mut deck = Deck::new();
    let package = repository(&deck);
    deck.data("effort.start", json!({"dir": package, "skill": "fix"}));
    deck.hook_in(&package, "s", "SessionStart", json!({"source": "startup"}), json!({}));
    let read = json!({"tool_name": "Read", "tool_use_id": "r1", "tool_response": "x",
        "tool_input": {"file_path": package.join("src/a.rs")}});
    let text = super::context(&deck.hook_in(&package, "s", "PostToolUse", read, json!({})));
    assert!(text.contains("OF THE ROOT") && text.contains("OF THE PACKAGE"), "{text}");
}

#[test]
fn pages_of_efforts_count_the_active_ones_and_are_cut_after_the_filters() {
    let mut deck = Deck::new();
    let start = |deck: &mut Deck, skill: &str, seat: Option<&str>| {
        let args = json!({"dir": deck.dir(), "skill": skill, "seat": seat});
        deck.data("effort.start", args)["id"].as_str().unwrap().to_owned()
    };
    let mut finished = Vec::new();
    for n in 0..5 {
        let id = start(&mut deck, if n < 2 { "fix" } else { "ship" }, None);
        deck.data("effort.finish", json!({ "id": id }));
        finished.push(id);
    }
    let active: Vec<_> = [None, Some("tests"), None].map(|seat| start(&mut deck, "fix", seat)).into();
    let list = |deck: &mut Deck, args: Value| {
        let page = deck.data("effort.list", args);
        let ids = page["efforts"].as_array().unwrap().iter();
        let ids: Vec<_> = ids.map(|effort| effort["id"].as_str().unwrap().to_owned()).collect();
        (ids, page["next_before"].clone())
    };
    let pages = |deck: &mut Deck, mut args: Value| {
        let mut all = Vec::new();
        loop {
            let (ids, next) = list(deck, args.clone());
            assert!(ids.len() <= args["limit"].as_u64().unwrap() as usize, "{ids:?}");
            all.push(ids);
            match next {
                Value::Null => return all,
                next => args["before"] = next,
            }
        }
    };
    let newest_first: Vec<_> = active.iter().rev().chain(finished.iter().rev()).cloned().collect();
    for limit in 1..=8 {
        let all = pages(&mut deck, json!({ "limit": limit }));
        assert_eq!(all.concat(), newest_first, "{limit}");
        assert!(all.iter().all(|page| !page.is_empty()), "{limit}: {all:?}");
    }
    let fixes: Vec<_> = active.iter().rev().chain(finished[..2].iter().rev()).cloned().collect();
    let found = pages(&mut deck, json!({"limit": 5, "skill": "fix"}));
    assert_eq!(found, [fixes], "one page is filled with what fits");
    let below = deck.dir().join("src");
    let (of_seat, _) = list(&mut deck, json!({"limit": 9, "seat": "tests", "dir": below}));
    assert_eq!(of_seat, active[1..2]);
    let old = list(&mut deck, json!({"limit": 2, "lifecycle": "finished", "skill": "fix"}));
    assert_eq!(old.0, [finished[1].clone(), finished[0].clone()]);
    assert_eq!(list(&mut deck, json!({"lifecycle": "finished", "dir": "/elsewhere"})).0, [""; 0]);
    assert_eq!(deck.ask("effort.list", json!({"before": "active-x"}))["error"], "VALIDATION_ERROR");
}

#[test]
fn a_workstream_is_found_by_any_spelling_of_its_directory() {
    let mut deck = Deck::new();
    deck.start();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(deck.dir(), &link).unwrap();
    let dir = deck.dir();
    for spelling in [format!("{}/", dir.display()), link.display().to_string()] {
        assert_eq!(deck.data("workstream.show", json!({ "dir": spelling }))["dir"], json!(dir));
    }
}

#[test]
fn a_log_entry_is_added_only_by_effort_log() {
    let mut deck = Deck::new();
    let id = deck.start();
    let refused = deck.ask("message.append", json!({"effort": id, "text": "FAKE", "kind": "log"}));
    let why = refused["message"].as_str().unwrap();
    assert_eq!(refused["error"], "VALIDATION_ERROR");
    assert!(why.contains("`kind`") && why.contains("effort.log") && why.contains("note"), "{why}");
    deck.data("effort.log", json!({"id": id, "text": "real"}));
    let file = std::fs::read_to_string(deck.dir().join(".flightdeck/1_IMPLEMENT_LOG.md")).unwrap();
    assert!(file.contains("real") && !file.contains("FAKE"), "{file}");
}

#[test]
fn a_dry_run_uses_the_phase_and_the_heartbeat_of_each_call() {
    let mut deck = Deck::new();
    let phases = json!(["1: Plan", "2: Build"]);
    let id = deck.start_with(json!({"settings": {"phases": phases, "heartbeat": 0}}));
    let call = |deck: &mut Deck, session: &str, n: u32| {
        deck.hook(
            session,
            "PreToolUse",
            super::bash(&format!("{session}{n}"), &format!("echo {session}{n}")),
        );
    };
    for n in 1..=3 {
        call(&mut deck, "s", n);
    }
    deck.data("effort.log", json!({"id": id, "text": "planned"}));
    call(&mut deck, "s", 4);
    deck.data("effort.phase", json!({"id": id, "phase": "2: Build"}));
    for n in 5..=6 {
        call(&mut deck, "s", n);
    }
    // A new window begins to count again, and another session counts for itself.
    deck.hook("s", "SessionStart", json!({"source": "clear"}));
    call(&mut deck, "s", 7);
    call(&mut deck, "t", 1);
    let denied = |deck: &mut Deck, when: Value| {
        let rule = json!({"id": "r", "then": "deny", "when": when});
        let report = deck.data("guard.test", json!({"effort": id, "rule": rule}));
        let calls = report["denied"].as_array().unwrap().iter();
        let mut calls: Vec<_> = calls
            .map(|call| call["call"].as_str().unwrap().trim_start_matches("Bash: echo ").to_owned())
            .collect();
        calls.reverse();
        calls
    };
    let planning = json!({"field": "phase", "op": "eq", "value": "1: Plan"});
    assert_eq!(denied(&mut deck, planning), ["s1", "s2", "s3", "s4"]);
    let building = json!({"field": "phase", "op": "eq", "value": "2: Build"});
    assert_eq!(denied(&mut deck, building), ["s5", "s6", "s7", "t1"]);
    let long = json!({"field": "window.heartbeat", "op": "gt", "value": 2});
    assert_eq!(denied(&mut deck, long), ["s3", "s6"]);
    // A log entry of one session leaves the heartbeat of the other.
    call(&mut deck, "t", 2);
    deck.data("effort.log", json!({"id": id, "text": "built", "session_id": "s"}));
    call(&mut deck, "t", 3);
    call(&mut deck, "s", 8);
    let three = json!({"field": "window.heartbeat", "op": "eq", "value": 3});
    assert_eq!(denied(&mut deck, three), ["s3", "s6", "t3"]);
    let heartbeat = deck.hook("s", "UserPromptSubmit", json!({"prompt": "go"})).to_string();
    assert!(heartbeat.contains("heartbeat 1"), "the fold counts the same: {heartbeat}");
}

#[test]
fn a_session_logs_and_hands_over_for_itself() {
    let mut deck = Deck::new();
    let id = deck.start();
    for session in ["one", "two"] {
        deck.call(session, &format!("{session}-1"));
    }
    deck.data("effort.log", json!({"id": id, "text": "done", "sessionId": "one"}));
    deck.data("effort.dehydrate", json!({"id": id, "payload": "over", "session_id": "one"}));
    let windows = deck.show(&id)["windows"].clone();
    let of: Vec<_> = windows
        .as_array()
        .unwrap()
        .iter()
        .map(|window| (&window["session_id"], &window["heartbeat"], window["ended_at"].is_null()))
        .collect();
    assert_eq!(of, [(&json!("one"), &json!(0), false), (&json!("two"), &json!(1), true)]);
    let long = json!({"id": id, "text": "x", "session_id": "s".repeat(129)});
    assert!(deck.ask("effort.log", long)["message"].as_str().unwrap().contains("`session_id`"));
}
