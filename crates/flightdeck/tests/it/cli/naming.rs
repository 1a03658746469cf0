//! How a command names a session: id, seat, pid, `next` and `pick`.

use expect_test::expect;
use serde_json::json;

use super::{busy, fails, reads, tell};
use crate::home::test_home;

#[test]
fn a_session_is_named_by_id_seat_pid_or_next() {
    let home = test_home();
    let daemon = busy(&home);
    let pid = std::process::id();
    let seat =
        json!({"pid": pid, "proc_start": flightdeck::process::start_time(pid), "FLIGHTDECK_SEAT": "left"});
    let start =
        json!({"session_id": "e5550000-seat", "hook_event_name": "SessionStart", "source": "startup"});
    home.socket().ask(&json!({"cmd": "hook", "args": start, "env": seat}));
    for name in ["e555", "left", &pid.to_string()] {
        assert_eq!(home.run(&["show", name, "--json"]).json()["id"], "e5550000-seat", "{name}");
        assert!(home.run(&["explain", name]).success().contains("SessionStart"), "{name}");
        let said = home.run(&["answer", name]);
        assert!(said.err.contains(&format!("{name} has no open request")), "{}", said.err);
    }
    assert_eq!(home.run(&["show", "next", "--json"]).json()["id"], "5f1c0000-asks");
    assert!(home.run(&["explain", "next"]).success().contains("PermissionRequest"));
    assert_eq!(home.run(&["answer", "next", "--json"]).json()["session_id"], "5f1c0000-asks");
    let listed = home.run(&["ls"]).success();
    assert!(listed.contains("  left  e5550000  ") && listed.contains("  –  8a2d0000  "), "{listed}");
    let unknown = home.run(&["answer", "nowhere"]);
    assert!(unknown.err.contains("no session and no request is called nowhere"), "{}", unknown.err);
    daemon.stop();
}

#[test]
fn next_is_the_session_that_waits() {
    let home = test_home();
    let daemon = busy(&home);
    reads(
        &home.run(&["next"]).success().replace(env!("CARGO_BIN_EXE_flightdeck"), "flightdeck"),
        expect![[r#"
        ◆ Permission for Bash: cargo test for <time>
          title      Fix the login page and test it
          project    /w/api
          model      claude-opus-5-5
          duration   <time>
          turn       1
          id         5f1c0000-asks
          request    Bash: cargo test
          answer     only in its terminal: flightdeck focus 5f1c0000-asks
    "#]],
    );
    tell(&daemon, "d0000000-idle", "/w/api", "Stop", json!({}));
    let said = home.run(&["next"]).success();
    assert!(said.ends_with("\n1 idle: flightdeck ls\n"), "{said}");
    assert_eq!(home.run(&["next", "--json"]).json()["id"], "5f1c0000-asks");
}

#[test]
fn an_ambiguous_id_is_refused_with_its_candidates() {
    let home = test_home();
    let daemon = home.daemon();
    for (id, prompt) in [("abc00000-1", "Fix the login\npage"), ("abc00000-2", "Make it blue")] {
        tell(&daemon, id, "/w/api", "UserPromptSubmit", json!({"prompt": prompt}));
    }
    for command in ["show", "answer"] {
        fails(
            home.run(&[command, "abc"]),
            expect![[r#"
                flightdeck: 2 sessions start with abc: give more of the id
                  abc00000-1  api  Fix the login page
                  abc00000-2  api  Make it blue
            "#]],
        );
    }
    let unknown = "0b5e7a11-aaaa-4bbb-8ccc-000000000001";
    let said = home.run(&["explain", unknown]);
    assert!(
        said.err.starts_with(&format!("flightdeck: there is no session {unknown}: `flightdeck ls")),
        "{}",
        said.err
    );
}

#[test]
fn picking_without_candidates_is_an_error_with_the_alternatives() {
    let home = test_home();
    let daemon = home.daemon();
    let plan = json!({"tool_name": "ExitPlanMode", "tool_use_id": "t1", "tool_input": {"plan": "Do it"}});
    tell(&daemon, "s", "/w", "PreToolUse", plan.clone());
    tell(&daemon, "s", "/w", "PermissionRequest", plan);
    fails(
        home.run(&["answer", "s", "allow", "--pick", "1"]),
        expect![[r#"
        flightdeck: --pick answers a question, but this request has none: allow [--mode acceptEdits] | deny --message WHY
    "#]],
    );
}
