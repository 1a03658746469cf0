use super::*;
use crate::ids::SessionId;
use crate::log::record::{EventId, Record, Source};
use expect_test::{Expect, expect};
use serde_json::{Map, Value, json};

fn policy(rules: Value) -> Policy {
    serde_json::from_value(json!({"enabled": true, "rules": rules})).unwrap()
}

fn asked(tool: &str, input: Value) -> Record {
    let payload = json!({"tool_name": tool, "tool_input": input, "cwd": "/work/api/src"});
    let Value::Object(payload) = payload else { unreachable!() };
    Record::noticed_here(Source::Hook, "PermissionRequest", SessionId::from("s"), payload, EventId(1))
}

fn said(policy: &Policy, record: &Record) -> String {
    let Some(request) = PolicyRequest::from_record(record) else {
        return "not the policy's to answer".to_owned();
    };
    let outcome = policy.decide(&request);
    match &outcome {
        PolicyOutcome::Allow(_) => format!("allow by {}", outcome.rules().unwrap()),
        PolicyOutcome::Deny(_) => format!("deny by {}", outcome.rules().unwrap()),
        PolicyOutcome::LeftAlone(why) => format!("left: {}", why.sentence()),
        PolicyOutcome::NoRule => "no rule".to_owned(),
    }
}

fn bash(policy: &Policy, commands: &[&str], expected: Expect) {
    let line = |c: &&str| {
        format!("{:<36} {}\n", c.replace('\n', "⏎"), said(policy, &asked("Bash", json!({ "command": c }))))
    };
    expected.assert_eq(&commands.iter().map(line).collect::<String>());
}

#[test]
fn a_command_is_allowed_only_if_the_whole_line_is_understood() {
    let policy = policy(json!([
        {"tool": "Bash", "match": "cargo test*", "decision": "allow"},
        {"tool": "Bash", "match": "cd *", "decision": "allow"},
        {"tool": "Bash", "match": "make check > log.txt 2>&1; tail log.txt", "decision": "allow"},
    ]));
    bash(
        &policy,
        &[
            "cargo test",
            "cargo test -p 'a b'",
            "cargo build",
            "FOO=1 cargo test",
            "cd api && cargo test 2>&1",
            "cargo test && cargo test",
            "cargo test; cargo publish",
            "cargo test && make",
            "cargo test | tail",
            "cargo test $(make)",
            "cargo test `make`",
            "cargo test > out",
            "cargo test\nmake",
            "cargo test &",
            "make check > log.txt 2>&1; tail log.txt",
            "make check > log.txt 2>&1; tail log.txt; ls",
        ],
        expect![[r#"
            cargo test                           allow by Bash cargo test*
            cargo test -p 'a b'                  allow by Bash cargo test*
            cargo build                          no rule
            FOO=1 cargo test                     no rule
            cd api && cargo test 2>&1            allow by Bash cd * + Bash cargo test*
            cargo test && cargo test             allow by Bash cargo test*
            cargo test; cargo publish            left: cannot be undone: publishes a package
            cargo test && make                   left: more than one plain command or path
            cargo test | tail                    left: more than one plain command or path
            cargo test $(make)                   left: more than one plain command or path
            cargo test `make`                    left: more than one plain command or path
            cargo test > out                     left: more than one plain command or path
            cargo test⏎make                      left: more than one plain command or path
            cargo test &                         left: more than one plain command or path
            make check > log.txt 2>&1; tail log.txt allow by Bash make check > log.txt 2>&1; tail log.txt
            make check > log.txt 2>&1; tail log.txt; ls no rule
        "#]],
    );
}

#[test]
fn a_command_that_cannot_be_undone_is_never_allowed() {
    let policy = policy(json!([
        {"tool": "*", "decision": "allow"},
        {"tool": "Bash", "match": "rm -rf build", "decision": "allow"},
    ]));
    bash(
        &policy,
        &["ls", "rm -rf build", "git -C x push -f", "r\"m\" -rf /", "rm 2>&1 -rf build"],
        expect![[r#"
            ls                                   allow by *
            rm -rf build                         left: cannot be undone: deletes recursively
            git -C x push -f                     left: cannot be undone: force push
            r"m" -rf /                           left: cannot be undone: deletes recursively
            rm 2>&1 -rf build                    left: cannot be undone: deletes recursively
        "#]],
    );
}

#[test]
fn a_command_that_cannot_be_undone_is_not_allowed_through_an_mcp_tool_either() {
    let policy = policy(json!([{"tool": "mcp__shell__*", "decision": "allow"}]));
    let told = |command: &str| said(&policy, &asked("mcp__shell__run", json!({ "command": command })));
    assert_eq!(told("ls"), "allow by mcp__shell__*");
    assert_eq!(told("rm -rf /"), "left: cannot be undone: deletes recursively");
}

#[test]
fn a_path_with_dots_or_double_slashes_does_not_avoid_a_deny_rule() {
    let policy = policy(json!([
        {"tool": "Edit", "match": "/work/api/*", "decision": "allow"},
        {"tool": "Edit", "match": "/work/api/secrets/*", "decision": "deny"},
    ]));
    let told = |path: &str| said(&policy, &asked("Edit", json!({ "file_path": path })));
    assert_eq!(told("/work/api/src/a.rs"), "allow by Edit /work/api/*");
    for path in ["/work/api//secrets/k", "/work/api/./secrets/k", "/work/api/src/../secrets/k"] {
        assert_eq!(told(path), "deny by Edit /work/api/secrets/*", "{path}");
    }
    assert_eq!(told("/work/api//src/a.rs"), "left: more than one plain command or path");
}

#[test]
fn a_deny_rule_wins_at_any_position_and_on_a_partial_match() {
    let policy = policy(json!([
        {"tool": "Bash", "decision": "allow"},
        {"tool": "Bash", "match": "git push*", "decision": "deny", "message": "push by hand"},
        {"tool": "Bash", "match": "git push --dry-run", "decision": "allow"},
        {"tool": "Bash", "match": "rm -rf /*", "decision": "deny"},
    ]));
    bash(
        &policy,
        &[
            "ls",
            "git push",
            "git push --dry-run",
            "cd x && git push",
            "echo $(git push)",
            "'git' push",
            "git  push",
            "git\tpush",
            "if true; then git push; fi",
            "sudo git push",
            "bash -c \"git push\"",
            "/usr/bin/git push",
            "rm -rf /x",
        ],
        expect![[r#"
            ls                                   allow by Bash
            git push                             deny by Bash git push*
            git push --dry-run                   deny by Bash git push*
            cd x && git push                     deny by Bash git push*
            echo $(git push)                     deny by Bash git push*
            'git' push                           deny by Bash git push*
            git  push                            deny by Bash git push*
            git	push                             deny by Bash git push*
            if true; then git push; fi           deny by Bash git push*
            sudo git push                        deny by Bash git push*
            bash -c "git push"                   deny by Bash git push*
            /usr/bin/git push                    deny by Bash git push*
            rm -rf /x                            deny by Bash rm -rf /*
        "#]],
    );
    let answer = policy.answer(&asked("Bash", json!({"command": "git push"}))).unwrap();
    assert_eq!((answer.message.as_deref(), answer.answered_by()), (Some("push by hand"), AnsweredBy::Policy));
    let answer = policy.answer(&asked("Bash", json!({"command": "rm -rf /x"}))).unwrap();
    assert_eq!(answer.message.as_deref(), Some(DENIED));
}

#[test]
fn a_rule_may_name_a_project_and_also_applies_to_folders_below_it() {
    let one = |project: &str| {
        let policy = policy(json!([{"tool": "Bash", "project": project, "decision": "allow"}]));
        said(&policy, &asked("Bash", json!({"command": "ls"})))
    };
    assert_eq!(one("/work/api"), "allow by Bash in /work/api");
    assert_eq!(one("/work/api/"), "allow by Bash in /work/api");
    assert_eq!(one("/work/*"), "allow by Bash in /work/*");
    assert_eq!(one("/work/ap"), "no rule");
    assert_eq!(one("/work/api/src/deep"), "no rule");
}

#[test]
fn the_project_of_a_rule_is_compared_with_the_folder_in_which_the_session_started() {
    let policy = policy(json!([{"tool": "Bash", "project": "/work/api", "decision": "allow"}]));
    let mut record = asked("Bash", json!({"command": "ls"}));
    record.envelope.project_dir = Some("/work/other".to_owned());
    assert_eq!(said(&policy, &record), "no rule");
    record.envelope.project_dir = Some("/work/api/.claude/worktrees/fix-1".to_owned());
    assert_eq!(said(&policy, &record), "allow by Bash in /work/api");
}

#[test]
fn a_rule_about_a_file_or_an_address_matches_its_path_or_url() {
    let policy = policy(json!([
        {"tool": "Edit", "match": "/work/api/src/*", "decision": "allow"},
        {"tool": "WebFetch", "match": "https://docs.rs/*", "decision": "allow"},
        {"tool": "mcp__docs__*", "decision": "allow"},
    ]));
    let told = |tool: &str, input: Value| said(&policy, &asked(tool, input));
    assert_eq!(told("Edit", json!({"file_path": "/work/api/src/a.rs"})), "allow by Edit /work/api/src/*");
    assert_eq!(
        told("Edit", json!({"file_path": "/work/api/src/../../.ssh/config"})),
        "left: more than one plain command or path"
    );
    assert_eq!(told("Write", json!({"file_path": "/work/api/src/a.rs"})), "no rule");
    assert_eq!(told("WebFetch", json!({"url": "https://docs.rs/x"})), "allow by WebFetch https://docs.rs/*");
    assert_eq!(told("WebFetch", json!({"url": "https://docs.rs.evil.test/"})), "no rule");
    assert_eq!(told("mcp__docs__find", json!({"any": "thing"})), "allow by mcp__docs__*");
}

#[test]
fn a_clipped_request_or_one_outside_the_sandbox_is_left_to_the_person() {
    let policy = policy(json!([{"tool": "*", "decision": "allow"}]));
    let left = "left: not whole, or outside the sandbox";
    let outside = json!({"command": "ls", "dangerouslyDisableSandbox": true});
    assert_eq!(said(&policy, &asked("Bash", outside)), left);
    assert_eq!(said(&policy, &asked("Bash", json!({}))), left);
    let mut cut = asked("Bash", json!({"command": "ls …"}));
    cut.payload.insert(crate::wire::clip::MARK.to_owned(), json!({"bytes": 1}));
    assert_eq!(said(&policy, &cut), left);
}

#[test]
fn questions_plans_and_forms_are_left_to_the_person() {
    let policy = policy(json!([{"tool": "*", "decision": "allow"}, {"tool": "*", "decision": "deny"}]));
    let not = "not the policy's to answer";
    assert_eq!(said(&policy, &asked("AskUserQuestion", json!({"questions": []}))), not);
    assert_eq!(said(&policy, &asked("ExitPlanMode", json!({"plan": "x"}))), not);
    let form =
        Record::noticed_here(Source::Hook, "Elicitation", SessionId::from("s"), Map::new(), EventId(1));
    assert_eq!(said(&policy, &form), not);
}

#[test]
fn a_policy_that_is_turned_off_answers_nothing() {
    let mut policy = policy(json!([{"tool": "*", "decision": "allow"}]));
    let record = asked("Bash", json!({"command": "ls"}));
    assert_eq!(policy.answer(&record).unwrap().rule.as_deref(), Some("*"));
    policy.enabled = false;
    assert_eq!(policy.answer(&record), None);
    assert_eq!(Policy::default().answer(&record), None);
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_with_a_sentence() {
    let refused = |rule: Value| serde_json::from_value::<PolicyRule>(rule).unwrap_err().to_string();
    expect!["`message` goes with decision = \"deny\" only"]
        .assert_eq(&refused(json!({"tool": "Bash", "decision": "allow", "message": "x"})));
    expect!["`tool` is empty: leave it out, or write \"*\" for anything"]
        .assert_eq(&refused(json!({"tool": " ", "decision": "allow"})));
    expect!["`match` does not go with mcp__x: nothing of its input says for certain what it does. Name the tool alone"]
        .assert_eq(&refused(json!({"tool": "mcp__x", "match": "a*", "decision": "allow"})));
    assert!(
        refused(json!({"tool": "mcp__x__*", "match": "a*", "decision": "deny"}))
            .starts_with("`match` does not go")
    );
    assert!(refused(json!({"tool": "Bash", "decision": "ask"})).contains("unknown variant `ask`"));
    assert!(refused(json!({"tool": "Bash", "decison": "allow"})).contains("unknown field `decison`"));
}

#[test]
fn a_request_suggests_rules_from_narrow_to_wide() {
    let lines = |tool: &str, input: Value| {
        let record = asked(tool, input);
        let rules = suggested_rules(&PolicyRequest::from_record(&record).unwrap());
        let line = |s: &SuggestedRule| {
            format!("  {}{}\n", s.name, if s.would_answer { "" } else { "  (never answers)" })
        };
        rules.iter().map(line).collect::<String>()
    };
    let mut text = String::new();
    for command in [
        "cargo test -p api",
        "ls -la",
        "npm run build:web",
        "rm -rf build",
        "cargo test && make",
        "echo *",
        "cargo test a*",
    ] {
        text += &format!("{command}\n{}", lines("Bash", json!({ "command": command })));
    }
    for (tool, input) in [
        ("Edit", json!({"file_path": "/work/api/src/main.rs"})),
        ("WebFetch", json!({"url": "https://docs.rs/serde/latest"})),
        ("mcp__tracker__list", json!({"page": 1})),
    ] {
        text += &format!("{tool}\n{}", lines(tool, input));
    }
    expect![[r#"
        cargo test -p api
          Bash cargo test -p api in /work/api/src
          Bash cargo test* in /work/api/src
          Bash cargo test*
        ls -la
          Bash ls -la in /work/api/src
          Bash ls -la
        npm run build:web
          Bash npm run build:web in /work/api/src
          Bash npm run build:web* in /work/api/src
          Bash npm run build:web*
        rm -rf build
          Bash rm -rf build in /work/api/src  (never answers)
          Bash rm -rf build  (never answers)
        cargo test && make
          Bash cargo test && make in /work/api/src
          Bash cargo test* in /work/api/src  (never answers)
          Bash cargo test*  (never answers)
        echo *
        cargo test a*
          Bash cargo test* in /work/api/src
          Bash cargo test*
        Edit
          Edit /work/api/src/main.rs
          Edit /work/api/src/*
        WebFetch
          WebFetch https://docs.rs/serde/latest
          WebFetch https://docs.rs/*
        mcp__tracker__list
          mcp__tracker__list in /work/api/src
          mcp__tracker__list
    "#]]
    .assert_eq(&text);
}
