//! What is printed about one session, one request and the daemon: `show`, `explain`, `answer`, `status`.

use expect_test::expect;
use serde_json::json;

use super::{anonymous, busy, fails, reads};
use crate::home::test_home;

#[test]
fn show_prints_everything_about_one_session() {
    let home = test_home();
    let _daemon = busy(&home);
    reads(
        &home.run(&["show", "5f1c"]).success().replace(env!("CARGO_BIN_EXE_flightdeck"), "flightdeck"),
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

        Last events
          <time>  SessionStart         The session started
          <time>  UserPromptSubmit     Fix the login page and test it
          <time>  PreToolUse           Bash: cargo test
          <time>  PermissionRequest    Bash: cargo test
    "#]],
    );
    assert_eq!(home.run(&["show", "8a2d", "--json"]).json()["last_user_message"], "Make it blue");
    fails(
        home.run(&["show", "unknown"]),
        expect![[r#"
        flightdeck: there is no session unknown: `flightdeck ls --done` also lists ended sessions, `flightdeck ls --all` all that are known
    "#]],
    );
}

#[test]
fn show_lists_the_newest_events_of_a_long_session() {
    let home = test_home();
    let _daemon = home.daemon();
    let mut socket = home.socket();
    const EVENTS: usize = 1030;
    for n in 0..EVENTS {
        let args = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": format!("Tool{n}"), "tool_use_id": n});
        socket.send(&json!({"cmd": "hook", "args": args})).unwrap();
        if n >= 32 {
            socket.line().unwrap();
        }
    }
    (0..32).for_each(|_| drop(socket.line().unwrap()));
    let said = home.run(&["show", "s", "--events", "2"]).success();
    assert!(said.ends_with(&format!("Tool{}\n", EVENTS - 1)), "{said}");
    assert_eq!(said.matches("PreToolUse").count(), 2);
}

#[test]
fn explain_prints_the_event_and_the_rule() {
    let home = test_home();
    let _daemon = busy(&home);
    reads(
        &home.run(&["explain", "5f1c"]).success(),
        expect![[r#"
            Permission for Bash: cargo test (needs_permission)
              since   <date> <time>
              because PermissionRequest (event 4)
              rule    The client asks permission: the session waits for a person until that call goes on.

            How it came there
              <time>  idle               → thinking           A person submitted a prompt: Claude thinks.
              <time>  thinking           → acting             A tool call began.
              <time>  acting             → needs_permission   The client asks permission: the session waits for a person until that call goes on.

            The event as it came
            {
              "session_id": "5f1c0000-asks",
              "hook_event_name": "PermissionRequest",
              "cwd": "/w/api",
              "prompt_id": "p1",
              "tool_name": "Bash",
              "tool_use_id": "t1",
              "tool_input": {
                "command": "cargo test"
              }
            }
        "#]],
    );
    let why = home.run(&["explain", "c3e4", "--json"]).json();
    assert_eq!((&why["state"], &why["because"]["name"]), (&json!("session_ended"), &json!("SessionEnd")));
}

#[test]
fn answer_prints_a_request_as_text_and_json_only_on_request() {
    let home = test_home();
    let _daemon = busy(&home);
    reads(
        &home.run(&["answer", "5f1c"]).success(),
        expect![[r#"
            Permission for Bash
              $ cargo test
              allow | deny [--message WHY] [--interrupt]
              only the terminal can answer this
        "#]],
    );
    reads(
        home.run(&["answer"]).success().split_once("  ").unwrap().1,
        expect![[r#"
            <time>  5f1c0000  api  Bash: cargo test  (answer in the terminal)
        "#]],
    );
    assert_eq!(
        home.run(&["answer", "5f1c", "--json"]).json()["tool_input"],
        json!({"command": "cargo test"})
    );
}

#[test]
fn status_prints_the_health_of_the_daemon() {
    let home = test_home();
    let daemon = busy(&home);
    let said = anonymous(&home.run(&["status"]).success(), &daemon);
    let size = said.split(" in ").nth(1).and_then(|s| s.split(" MB").next()).unwrap();
    reads(
        &said.replace(&format!("{size} MB"), "<n> MB"),
        expect![[r#"
            board     <url>
            daemon    ok (pid <pid>, version 0.1.0)
            sessions  3, seen by 0 viewers
            events    8 in <n> MB, last <time>
            hooks     not registered, as asked for
        "#]],
    );
    let status = home.run(&["status", "--json"]).json();
    assert_eq!(
        (&status["status"], &status["sessions"], &status["hooks"]["events_total"]),
        (&json!("ok"), &json!(3), &json!(8))
    );
    // After a restart they are known before any event.
    daemon.stop();
    let _daemon = home.daemon();
    assert_eq!(home.run(&["status", "--json"]).json()["sessions"], 3);
}
