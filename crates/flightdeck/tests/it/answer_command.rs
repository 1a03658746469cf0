//! `flightdeck answer`: the list of requests, how one is named, and what a wrong or incomplete answer is told.

use expect_test::expect;
use flightdeck_e2e::testkit::{SocketClient, TestHome};
use flightdeck_sim::Map;
use serde_json::{Value, json};

use crate::asks::{decision, object};
use crate::cli::{fails, reads};
use crate::home::test_home;

/// A request whose hook is held.
fn hold(home: &TestHome, session: &str, tool: &str, input: Value) -> SocketClient {
    let mut hook = home.socket();
    let payload = json!({"session_id": session, "hook_event_name": "PermissionRequest", "cwd": "/w/api",
        "tool_name": tool, "tool_input": input});
    let first = hook.hook(&object(payload), &Map::new());
    assert!(first["data"]["hold_ms"].as_u64().unwrap() > 0, "{first}");
    hook
}

fn colour() -> Value {
    let option = |label: &str| json!({"label": label, "description": ""});
    json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [option("Red"), option("Blue")]}]})
}

/// The ids of the open requests, as the list prints them.
fn listed_ids(home: &TestHome) -> Vec<String> {
    let listed = home.run(&["answer"]).success();
    listed.lines().map(|line| line.split_once("  ").unwrap().0.to_owned()).collect()
}

/// The text with the same word for this program and for each request's id.
fn without_ids(home: &TestHome, text: &str) -> String {
    let named = text.replace(env!("CARGO_BIN_EXE_flightdeck"), "flightdeck");
    listed_ids(home).iter().fold(named, |text, id| text.replace(id.as_str(), "<request>"))
}

#[test]
fn the_list_has_the_id_and_age_of_each_request_and_the_id_answers_it() {
    let home = test_home();
    let _daemon = home.daemon();
    let mut first = hold(&home, "5f1c0000-one", "Bash", json!({"command": "make"}));
    let mut second = hold(&home, "5f1c0000-one", "Read", json!({"file_path": "/etc/hosts"}));
    reads(
        &without_ids(&home, &home.run(&["answer"]).success()),
        expect![[r#"
            <request>  <time>  5f1c0000  api  Bash: make
            <request>  <time>  5f1c0000  api  Read: /etc/hosts
        "#]],
    );
    let ids = listed_ids(&home);
    let whole: Vec<String> = home
        .run(&["answer", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|ask| ask["id"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        ids.iter().zip(&whole).all(|(id, whole)| whole.starts_with(id) && id.len() < whole.len()),
        "{ids:?}"
    );
    let several = home.run(&["answer", "5f1c"]);
    reads(
        &without_ids(&home, &several.err),
        expect![[r#"
            flightdeck: 5f1c has 2 open requests; name one by its id:
              <request>  api  Bash: make
              <request>  api  Read: /etc/hosts
        "#]],
    );
    let shared: String =
        ids[0].chars().zip(ids[1].chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let said = home.run(&["answer", &shared]);
    assert!(said.code == 1 && said.err.contains("2 requests start with"), "{said:?}");
    assert_eq!(home.run(&["answer", &ids[1], "allow"]).success(), "Read: /etc/hosts: allowed\n");
    assert_eq!(decision(&second.line().unwrap())["behavior"], "allow");
    home.run(&["answer", &ids[0], "deny"]).success();
    assert_eq!(decision(&first.line().unwrap())["behavior"], "deny");
    let over = home.run(&["answer", &ids[0], "allow"]);
    assert!(over.code == 1 && over.err.contains("already decided: denied (cli)"), "{over:?}");
}

#[test]
fn an_incomplete_answer_is_refused_with_the_argument_it_lacks() {
    let home = test_home();
    let _daemon = home.daemon();
    let _question = hold(&home, "a-question", "AskUserQuestion", colour());
    let _call = hold(&home, "b-call", "Bash", json!({"command": "make"}));
    fails(
        home.run(&["answer", "a-question", "allow"]),
        expect![[r#"
            flightdeck: not answered: choose with --pick N or --pick 'your own words', once per question:
              Which colour? (1 Red, 2 Blue)
        "#]],
    );
    fails(
        home.run(&["answer", "b-call", "deny", "use", "just"]),
        expect![[r#"
            flightdeck: not answered: a reason follows --message, as in `deny --message 'use just'`
        "#]],
    );
    fails(
        home.run(&["answer", "b-call", "allow", "--message", "use just"]),
        expect![[r#"
            flightdeck: not answered: --message belongs to deny; to allow it, leave --message out
        "#]],
    );
    fails(
        home.run(&["answer", "a-question", "--pick", "3"]),
        expect![[r#"
            flightdeck: there is no option 3 of "Which colour?", there are: 1 Red, 2 Blue; to answer with the number itself, add a word to it
        "#]],
    );
    fails(
        home.run(&["answer", "a-question", "--pick", "1", "--pick", "2"]),
        expect![[r#"
            flightdeck: 1 question but 2 answers: give one --pick for each question
        "#]],
    );
    fails(
        home.run(&["answer", "b-call", "--always", "2"]),
        expect![[r#"
            flightdeck: there is no suggestion 2: nothing was suggested to remember
        "#]],
    );
    assert_eq!(home.run(&["answer", "a-question", "--pick", "2"]).success(), "Which colour?: answered\n");
}

#[test]
fn an_unknown_option_is_refused_with_the_options_of_the_command() {
    let home = test_home();
    let said = home.run(&["answer", "a-question", "--reason", "use just"]);
    assert_eq!(said.code, 2);
    reads(
        said.err.split_once("--help'.\n").unwrap().1,
        expect![[r#"

            Options of answer: --message, --interrupt, --always, --pick, --field, --mode, --yes, --json
        "#]],
    );
}

#[test]
fn a_form_without_a_required_field_names_the_field() {
    let home = test_home();
    std::fs::create_dir_all(home.flightdeck_home()).unwrap();
    std::fs::write(home.paths().config, "hold_elicitation = true\n").unwrap();
    let _daemon = home.daemon();
    let mut hook = home.socket();
    let form = json!({"session_id": "f", "hook_event_name": "Elicitation", "mcp_server_name": "deploy",
        "message": "Where to?", "requested_schema": {"type": "object", "required": ["env"],
        "properties": {"env": {"type": "string"}}}});
    hook.hook(&object(form), &object(json!({"hold_s": 600})));
    fails(
        home.run(&["answer", "f", "allow"]),
        expect![[r#"
            flightdeck: not answered: the form needs "env": add --field env=VALUE
        "#]],
    );
}

#[test]
fn show_and_next_print_the_commands_that_answer() {
    let home = test_home();
    let _daemon = home.daemon();
    let mut call = hold(&home, "b-call", "Bash", json!({"command": "make"}));
    let shown = without_ids(&home, &home.run(&["show", "b-call", "--events", "0"]).success());
    let expected = "\n  request    Bash: make\n  answer     flightdeck answer <request> allow\n  answer     flightdeck answer <request> deny --message WHY\n";
    assert!(shown.ends_with(expected), "{shown}");
    assert!(without_ids(&home, &home.run(&["next"]).success()).ends_with(expected));
    let id = listed_ids(&home).remove(0);
    home.run(&["answer", &id, "deny", "--message", "use just"]).success();
    assert_eq!(decision(&call.line().unwrap())["message"], "use just");
    let shown = home.run(&["show", "b-call"]).success();
    assert!(shown.contains("\n  request    Bash: make: denied (cli): use just\n"), "{shown}");
    assert!(shown.ends_with("answered             deny (cli): use just\n"), "{shown}");
}

/// A command that is typed as printed must reach the same home.
#[test]
fn the_printed_command_names_a_home_that_the_environment_does_not() {
    let home = test_home();
    let _daemon = home.daemon();
    let _question = hold(&home, "a-question", "AskUserQuestion", colour());
    let folder = home.flightdeck_home().display().to_string();
    let mut next = home.flightdeck(&["--home", &folder, "next"]);
    let said = String::from_utf8(next.env_remove("FLIGHTDECK_HOME").output().unwrap().stdout).unwrap();
    let said = without_ids(&home, &said);
    assert!(said.contains(&format!("flightdeck --home {folder} answer <request> --pick N\n")), "{said}");
}
