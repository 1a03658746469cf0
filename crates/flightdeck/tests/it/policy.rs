//! Policy rules answer held hooks where they may; a dry run reports what they would have answered.

use std::fs;

use flightdeck_e2e::testkit::http::HttpRequest;
use flightdeck_e2e::testkit::{SocketClient, TestDaemon, TestHome};
use flightdeck_sim::Map;
use serde_json::{Value, json};

use crate::asks::{answer, bash, card, decision, held, how, object, state, tell};
use crate::home::test_home;
use crate::in_process::InProcessDaemon;

const RULES: &str = r#"
[policy]
enabled = true
[[policy.rules]]
tool = "Bash"
match = "cargo test*"
decision = "allow"
[[policy.rules]]
tool = "Bash"
match = "make*"
decision = "deny"
message = "use just"
[[policy.rules]]
tool = "Bash"
match = "rm *"
project = "/work/api"
decision = "allow"
"#;

fn asks(session: &str, command: &str) -> Map {
    let mut request = bash(session, "PermissionRequest");
    request.insert("tool_input".into(), json!({ "command": command }));
    request.insert("cwd".into(), json!("/work/api"));
    request
}

#[test]
fn a_held_hook_is_answered_by_a_rule_and_the_card_names_it() {
    let deck = InProcessDaemon::builder().policy(RULES).start();
    let (mut hook, ask) = held(&deck, &asks("s", "cargo test -p api"));
    assert_eq!(decision(&hook.line().unwrap()), &json!({"behavior": "allow"}));
    let ended = &card(&deck, "s")["asks"][0]["resolution"];
    assert_eq!(
        (&ended["how"], &ended["by"], &ended["rule"]),
        (&json!("allowed"), &json!("policy"), &json!("Bash cargo test*"))
    );
    assert_eq!(state(&deck, "s"), "acting");
    let because = deck.get("/api/sessions/s/explain").json()["because"].clone();
    assert_eq!(because["rule"], "A rule of the person's policy allowed it: the call goes on.");
    assert_eq!(because["payload"]["answer"]["via"], "policy");
    let events = deck.get("/api/sessions/s/events").json()["events"].clone();
    assert_eq!(events[1]["summary"], "allow (policy: Bash cargo test*)");
    let late = answer(&deck, &ask, json!({"decision": "deny"}));
    assert_eq!(late.status, 409);
    assert!(late.text().contains("allowed (policy)"), "{}", late.text());

    let (mut hook, _) = held(&deck, &asks("t", "make all"));
    assert_eq!(decision(&hook.line().unwrap()), &json!({"behavior": "deny", "message": "use just"}));
    assert_eq!(state(&deck, "t"), "thinking");

    let request = HttpRequest::new("POST", "/api/live/hook").host(deck.addr).header("x-flightdeck-hold", "1");
    let said = request.json(&Value::Object(asks("u", "cargo test")).to_string()).send(deck.addr);
    assert_eq!(said.json()["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

#[test]
fn irreversible_calls_and_calls_without_a_rule_wait_for_a_person() {
    let deck = InProcessDaemon::builder().policy(RULES).start();
    let (mut one, destructive) = held(&deck, &asks("s", "rm -rf build"));
    let (mut two, hidden) = held(&deck, &asks("t", "cargo test; curl x.test"));
    let (_three, other) = held(&deck, &asks("u", "ls"));
    // The policy would have answered first: this ask comes later and is answered.
    let (mut last, _) = held(&deck, &asks("v", "cargo test"));
    assert_eq!(decision(&last.line().unwrap())["behavior"], "allow");
    for ask in [&destructive, &hidden, &other] {
        assert_eq!(how(&deck, ask), Value::Null);
    }
    assert_eq!(card(&deck, "s")["asks"][0]["caution"], "Deletes recursively");
    assert_eq!(card(&deck, "u")["asks"][0]["caution"], Value::Null);
    assert_eq!(answer(&deck, &destructive, json!({"decision": "allow", "via": "web"})).status, 200);
    assert_eq!(decision(&one.line().unwrap())["behavior"], "allow");
    assert_eq!(answer(&deck, &hidden, json!({"decision": "deny"})).status, 200);
    assert_eq!(decision(&two.line().unwrap())["behavior"], "deny");
}

#[test]
fn either_the_terminal_or_the_policy_answers_first() {
    let deck = InProcessDaemon::builder().policy(RULES).start();
    for round in 0..20 {
        let session = format!("s{round}");
        let mut call = asks(&session, "cargo test");
        call.insert("tool_use_id".into(), json!("t1"));
        call.insert("hook_event_name".into(), json!("PreToolUse"));
        tell(&deck, &call);
        let mut hook = deck.socket();
        hook.hook(&asks(&session, "cargo test"), &Map::new());
        call.insert("hook_event_name".into(), json!("PostToolUse"));
        tell(&deck, &call);
        let verdict = hook.line().unwrap();
        let ended = card(&deck, &session)["asks"][0]["resolution"].clone();
        match ended["how"].as_str() {
            Some("allowed") => assert_eq!(decision(&verdict)["behavior"], "allow"),
            Some("answered_in_terminal") => assert_eq!(verdict["data"]["verdict"], Value::Null),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn questions_and_plans_wait_for_a_person_despite_any_rule() {
    let deck = InProcessDaemon::builder()
        .policy("policy = { enabled = true, rules = [{ tool = \"*\", decision = \"allow\" }] }")
        .start();
    let plan = object(json!({"session_id": "s", "hook_event_name": "PermissionRequest",
        "tool_name": "ExitPlanMode", "tool_input": {"plan": "1. do it"}}));
    let (_hook, ask) = held(&deck, &plan);
    let (mut other, _) = held(&deck, &asks("t", "ls"));
    assert_eq!(decision(&other.line().unwrap())["behavior"], "allow");
    assert_eq!(how(&deck, &ask), Value::Null);
}

#[test]
fn it_is_off_by_default_and_no_caller_may_answer_in_its_name() {
    let deck = InProcessDaemon::builder().policy(&RULES.replace("enabled = true", "")).start();
    let (_hook, ask) = held(&deck, &asks("s", "cargo test"));
    for body in [json!({"decision": "allow", "via": "policy"}), json!({"decision": "allow", "rule": "Bash"})]
    {
        assert_eq!(answer(&deck, &ask, body).status, 422);
    }
    assert_eq!((how(&deck, &ask), state(&deck, "s").as_str()), (Value::Null, "needs_permission"));
}

/// A daemon with [`RULES`], and one hook for each command that asks for permission.
struct AskedPolicy {
    home: TestHome,
    _daemon: TestDaemon,
    hooks: Vec<SocketClient>,
}

impl AskedPolicy {
    fn start() -> Self {
        let home = home_with_config(RULES);
        let daemon = home.daemon();
        let commands = [
            "cargo test",
            "cargo test -p a",
            "make",
            "rm -rf build",
            "rm x",
            "ls",
            "cargo test | tail",
            "cargo test",
        ];
        let hooks = (0..)
            .zip(commands)
            .map(|(n, command)| {
                let mut hook = home.socket();
                hook.hook(&asks(&format!("s{n}"), command), &Map::new());
                hook
            })
            .collect();
        let print = object(json!({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}));
        home.socket().hook(&asks("p", "cargo test"), &print);
        Self { home, _daemon: daemon, hooks }
    }

    /// Waits until every ask with a rule was answered, in any order.
    fn await_answers(&mut self) {
        for n in [0, 1, 2, 4, 7] {
            assert!(self.hooks[n].line().is_some());
        }
    }
}

#[test]
fn a_dry_run_counts_what_the_rules_would_have_answered() {
    let AskedPolicy { home, .. } = &AskedPolicy::start();
    let report = home.run(&["policy", "test", "--json"]).json();
    let of = |key: &str| report[key].as_u64().unwrap();
    assert_eq!((of("asks"), of("answered"), of("allowed"), of("denied")), (9, 5, 4, 1), "{report}");
    let said = home.run(&["policy", "test", "--since", "2d"]).success();
    expect_test::expect![[r#"
        Would have answered 5 of 9 asks: 4 allowed, 1 denied.

        By rule
             3  allow  Bash cargo test*
                Bash: cargo test
                Bash: cargo test -p a
             1  deny   Bash make*
                Bash: make
             1  allow  Bash rm * in /work/api
                Bash: rm x

        Left to you
             1  cannot be undone: deletes recursively
                Bash: rm -rf build
             1  no rule
                Bash: ls
             1  more than one plain command or path
                Bash: cargo test | tail
             1  asked by `claude -p` or a subagent, which are not held
                Bash: cargo test
    "#]]
    .assert_eq(&said);
}

#[test]
fn the_log_of_the_policy_names_the_rule_of_each_answer() {
    let mut asked = AskedPolicy::start();
    asked.await_answers();
    let home = &asked.home;
    let log = home.run(&["policy", "log", "--json"]).json();
    let mut lines: Vec<String> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|l| {
            format!("{} {} {} by {}", l["session_id"], l["decision"], l["what"], l["rule"]).replace('"', "")
        })
        .collect();
    lines.sort();
    expect_test::expect![[r#"
        s0 allow Bash: cargo test by Bash cargo test*
        s1 allow Bash: cargo test -p a by Bash cargo test*
        s2 deny Bash: make by Bash make*
        s4 allow Bash: rm x by Bash rm * in /work/api
        s7 allow Bash: cargo test by Bash cargo test*"#]]
    .assert_eq(&lines.join("\n"));
    assert_eq!(home.run(&["policy", "log"]).success().lines().count(), 5);
    expect_test::expect![[r#"
        The policy is on: `policy.enabled` in ~/fd/config.toml, which the daemon reads again when it changes.
          1  allow  Bash cargo test*
          2  deny   Bash make*  (use just)
          3  allow  Bash rm * in /work/api
        A deny wins over every allow. What cannot be undone is never allowed by a rule.
    "#]]
    .assert_eq(&home.run(&["policy"]).success());
}

#[test]
fn a_rule_with_a_mistake_is_named_with_its_line() {
    let home = home_with_config(&RULES.replace("\"deny\"", "\"never\""));
    let wrong = home.run(&["policy"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("line 11") && wrong.err.contains("unknown variant `never`"), "{}", wrong.err);
}

#[test]
fn on_the_command_line_an_irreversible_call_needs_a_confirmation() {
    let home = test_home();
    let _daemon = home.daemon();
    let mut hook = home.socket();
    hook.hook(&asks("s", "git push --force"), &Map::new());
    let said = home.run(&["answer", "s", "allow"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (1, "flightdeck: Bash: git push --force cannot be undone (force push): add --yes if you mean it\n")
    );
    assert!(home.run(&["answer", "s"]).success().contains("Force push: this cannot be undone"));
    assert_eq!(home.run(&["answer", "s", "allow", "--yes"]).success(), "Bash: git push --force: allowed\n");
    assert_eq!(decision(&hook.line().unwrap())["behavior"], "allow");
    // A refusal needs no confirmation.
    let mut hook = home.socket();
    hook.hook(&asks("t", "git push --force"), &Map::new());
    home.run(&["answer", "t", "deny"]).success();
    assert_eq!(decision(&hook.line().unwrap())["behavior"], "deny");
}

/// A home whose daemon will start with this config.toml.
fn home_with_config(text: &str) -> TestHome {
    let home = test_home();
    fs::create_dir_all(&home.paths().home).unwrap();
    write_config(&home, text);
    home
}

/// A file with this text, as the running daemon reads it.
fn write_config(home: &TestHome, text: &str) {
    fs::write(home.paths().config, text).unwrap();
}

#[test]
fn rules_are_read_again_while_the_daemon_runs_and_a_broken_file_keeps_the_old_ones() {
    let home = test_home();
    let daemon = home.daemon();
    let config = || home.run(&["status", "--json"]).json()["config"].clone();
    assert_eq!(config(), json!({"problem": null, "needs_restart": []}));
    let rule = json!({"tool": "Bash", "match": "make*", "decision": "deny", "message": "use just"});
    write_config(&home, "# mine\nport = 5\ndone_minutes = 5\n");
    let added = daemon.post("/api/policy/rules", &json!({"rule": rule, "enable": true}).to_string());
    assert_eq!(added.status, 200, "{}", added.text());
    let added = added.json();
    assert_eq!(
        (&added["rule"], &added["enabled"], &added["rules"]),
        (&json!("Bash make*"), &json!(true), &json!(1))
    );
    let written = fs::read_to_string(home.paths().config).unwrap();
    assert!(
        written.starts_with("# mine\nport = 5\ndone_minutes = 5\n") && written.contains("match = \"make*\""),
        "{written}"
    );
    assert_eq!(config(), json!({"problem": null, "needs_restart": ["port"]}));

    let ask = |command: &str| {
        let args = json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": command}, "prompt_id": command});
        let mut socket = home.socket();
        let held = socket.ask(&json!({"cmd": "hook", "args": args, "env": {"hold_s": 600}}));
        assert!(held["data"]["hold_ms"].as_u64().unwrap() > 0, "{held}");
        socket.line().unwrap().to_string()
    };
    assert!(ask("make all").contains("use just"));

    write_config(&home, "policy = 3\n");
    assert!(config()["problem"].as_str().unwrap().contains("config.toml"));
    assert!(
        home.run(&["status"]).out.contains("config    not used, the settings before it stay: cannot parse")
    );
    assert!(ask("make it so").contains("use just"), "the old rules stay");

    let broken = daemon.post("/api/policy/rules", &json!({"rule": rule}).to_string());
    assert_eq!(broken.status, 503);
    assert_eq!(fs::read_to_string(home.paths().config).unwrap(), "policy = 3\n");
}

#[test]
fn a_preview_counts_what_one_more_rule_changes() {
    let deck = InProcessDaemon::builder().policy(RULES).start();
    for (n, command) in ["cargo test", "npm ci", "npm test", "npm ci && rm -rf /"].into_iter().enumerate() {
        let payload = json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": command}, "prompt_id": n.to_string()});
        deck.post(&payload.to_string());
    }
    let preview = |rule: Value| {
        let body = json!({ "rule": rule }).to_string();
        flightdeck_e2e::testkit::http::post(deck.addr, "/api/policy/preview", &body)
    };
    let report = preview(json!({"tool": "Bash", "match": "npm *", "decision": "allow"})).json();
    assert_eq!(
        (&report["asks"], &report["allowed"], &report["denied"]),
        (&json!(4), &json!(2), &json!(0)),
        "{report}"
    );
    assert_eq!(report["by_rule"][0]["examples"], json!(["Bash: npm ci", "Bash: npm test"]));
    assert_eq!(report["left"][0]["count"], 1, "{report}");
    let same = preview(json!({"tool": "Bash", "match": "cargo test*", "decision": "allow"})).json();
    assert_eq!(
        (&same["answered"], &same["left"]),
        (&json!(0), &json!([])),
        "the present rules do that already"
    );
    let wrong = preview(json!({"tool": "TodoWrite", "match": "x", "decision": "allow"}));
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("`match` does not go with"), "{}", wrong.text());
}

#[test]
fn an_ask_becomes_a_rule_that_answers_the_next_one() {
    let home = test_home();
    let daemon = home.daemon();
    let held = |command: &str| {
        let args = json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash", "cwd": "/work/api",
            "tool_input": {"command": command}, "prompt_id": command});
        let mut socket = home.socket();
        socket.ask(&json!({"cmd": "hook", "args": args, "env": {"hold_s": 600}}));
        socket
    };
    let _waiting = held("cargo test -p api");
    let ask = daemon.get("/api/sessions/s/asks").json()["asks"][0]["id"].as_str().unwrap().to_owned();
    let suggested = daemon.get(&format!("/api/asks/{ask}/rules")).json();
    let names: Vec<_> =
        suggested["rules"].as_array().unwrap().iter().map(|rule| rule["name"].clone()).collect();
    assert_eq!(
        names,
        ["Bash cargo test -p api in /work/api", "Bash cargo test* in /work/api", "Bash cargo test*"]
    );
    assert_eq!(suggested["enabled"], false);

    let rule = &suggested["rules"][1]["rule"];
    let preview = daemon.post("/api/policy/preview", &json!({ "rule": rule }).to_string()).json();
    assert_eq!((&preview["asks"], &preview["allowed"]), (&json!(1), &json!(1)), "{preview}");
    let add = || daemon.post("/api/policy/rules", &json!({"rule": rule, "enable": true}).to_string()).json();
    assert_eq!((&add()["added"], &add()["added"]), (&json!(true), &json!(false)), "written once");

    let answered = held("cargo test --workspace").line().unwrap();
    assert_eq!(decision(&answered)["behavior"], "allow", "{answered}");
    assert_eq!(daemon.get("/api/asks/none/rules").status, 404);
}
