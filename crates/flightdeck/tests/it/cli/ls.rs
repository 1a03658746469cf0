//! The lists of sessions: `ls` and its options.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use expect_test::expect;
use flightdeck_e2e::testkit::{TestDaemon, TestHome};
use serde_json::{Value, json};

use super::{busy, reads, tell};
use crate::home::test_home;

/// Four sessions wait: one blocks, one ended its turn with a question, one is finished, and one is parked.
fn waiting(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    for (id, said) in [
        ("5f1c0000-blocks", ""),
        ("8a2d0000-asks", "Shall I drop the users table?"),
        ("c3e40000-idle", "Done."),
        ("d7f50000-parked", "Which one do you prefer: A or B?"),
    ] {
        tell(&daemon, id, "/w/api", "UserPromptSubmit", json!({"prompt": "Work"}));
        match said {
            "" => tell(
                &daemon,
                id,
                "/w/api",
                "PermissionRequest",
                json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}),
            ),
            said => tell(&daemon, id, "/w/api", "Stop", json!({"last_assistant_message": said})),
        }
    }
    let parked = daemon.post("/api/sessions/d7f50000-parked/park", r#"{"parked": true}"#);
    assert!((200..300).contains(&parked.status), "{}", parked.text());
    daemon
}

#[test]
fn ls_lists_what_needs_you_first() {
    let home = test_home();
    let _daemon = busy(&home);
    reads(
        &home.run(&["ls"]).success(),
        expect![[r#"
            Needs you 1
              ◆ cargo test · Permission for Bash  <time>  api  5f1c0000  Fix the login page and test it
            Running 1
              ▸ Read: /w/web/a.css  <time>  web  8a2d0000  Make it blue
        "#]],
    );
    reads(
        &home.run(&["ls", "--done"]).success(),
        expect![[r#"
            Needs you 1
              ◆ cargo test · Permission for Bash  <time>  api  5f1c0000  Fix the login page and test it
            Running 1
              ▸ Read: /w/web/a.css  <time>  web  8a2d0000  Make it blue
            Done 1
              ✓ Session closed  <time>  web  c3e40000  Say hi
        "#]],
    );
    reads(
        &home.run(&["ls", "--group", "running"]).success(),
        expect![[r#"
        Running 1
          ▸ Read: /w/web/a.css  <time>  web  8a2d0000  Make it blue
    "#]],
    );
    let ids = |args: &[&str]| {
        let cards = home.run(args).json();
        cards.as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["ls", "--json"]), ["5f1c0000-asks", "8a2d0000-works"]);
    assert_eq!(ids(&["ls", "--json", "--done"]), ["5f1c0000-asks", "8a2d0000-works", "c3e40000-over"]);
    let done = home.run(&["ls", "--json", "--group", "done"]).json();
    assert_eq!((done.as_array().unwrap().len(), &done[0]["end_reason"]), (1, &json!("prompt_input_exit")));
}

#[test]
fn the_number_of_those_that_need_you_is_the_same_everywhere() {
    let home = test_home();
    let daemon = waiting(&home);
    let fleet = daemon.get("/api/fleet").json();
    assert_eq!((&fleet["blocks_or_asks"], &fleet["needs_you"]), (&json!(2), &json!(4)));
    assert_eq!(home.run(&["status", "--line"]).success(), "● 2 need you\n");
}

#[test]
fn a_parked_session_is_listed_apart_and_is_never_the_next() {
    let home = test_home();
    let daemon = waiting(&home);
    reads(
        &home.run(&["ls"]).success(),
        expect![[r#"
        Needs you 2 + 1 idle
          ◆ ls · Permission for Bash  <time>  api  5f1c0000  Work
          ○ Asks: Shall I drop the users table?  <time>  api  8a2d0000  Work
          ○ Finished  <time>  api  c3e40000  Work
        Parked 1
          ○ Asks: Which one do you prefer: A or B?  <time>  api  d7f50000  Work [parked]
    "#]],
    );
    for id in ["5f1c0000-blocks", "8a2d0000-asks", "c3e40000-idle"] {
        tell(&daemon, id, "/w/api", "SessionEnd", json!({"reason": "other"}));
    }
    let next = home.run(&["next"]);
    assert_eq!((next.code, next.out.as_str()), (1, "No session waits for you.\n"));
    let error = "flightdeck: no session waits for you\n";
    assert_eq!(home.run(&["show", "next"]).err, error);
    assert!(home.run(&["show", "d7f5"]).success().contains("  parked     until its next event\n"));
}

#[test]
fn ls_marks_a_failed_tool_only_until_the_agent_goes_on() {
    let home = test_home();
    let daemon = home.daemon();
    let bash = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
    tell(&daemon, "5f1c0000-fails", "/w/api", "UserPromptSubmit", json!({"prompt": "Build it"}));
    tell(&daemon, "5f1c0000-fails", "/w/api", "PreToolUse", bash.clone());
    let mut failed = bash;
    failed["error"] = json!("exit code 2");
    tell(&daemon, "5f1c0000-fails", "/w/api", "PostToolUseFailure", failed);
    assert!(home.run(&["ls"]).success().contains("[failed: Bash]"));
    let read = json!({"tool_name": "Read", "tool_use_id": "t2", "tool_input": {"file_path": "/w/a"}});
    tell(&daemon, "5f1c0000-fails", "/w/api", "PreToolUse", read);
    assert_eq!(daemon.card("5f1c0000-fails")["failure_is_past"], true);
    assert!(!home.run(&["ls"]).success().contains("failed"));
    assert!(home.run(&["show", "5f1c"]).success().contains("Bash: exit code 2 (the agent went on)"));
}

#[test]
fn ls_all_also_lists_replaced_sessions() {
    let home = test_home();
    let daemon = home.daemon();
    let pid = std::process::id();
    let seat = json!({"pid": pid, "proc_start": flightdeck::process::start_time(pid)});
    for (id, source) in [("old", "startup"), ("new", "clear")] {
        let start =
            json!({"session_id": id, "hook_event_name": "SessionStart", "source": source, "cwd": "/w/api"});
        home.socket().ask(&json!({"cmd": "hook", "args": start, "env": seat}));
    }
    let ids = |args: &[&str]| {
        let cards = home.run(args).json();
        cards.as_array().unwrap().iter().map(|c| c["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["ls", "--json"]), ["new"]);
    assert_eq!(ids(&["ls", "--json", "--all"]), ["new", "old"]);
    // The start of the id is enough there too.
    assert_eq!(home.run(&["show", "ol", "--json"]).json()["id"], "old");
    assert!(home.run(&["explain", "o"]).success().contains("SessionStart"));
    // The session is over, so there is nothing to wait for.
    home.run(&["wait", "old", "--until", "ended", "--timeout", "60"]).success();
    let said = home.run(&["wait", "old", "--until", "idle", "--timeout", "60"]);
    assert_eq!(
        (said.code, said.err.as_str()),
        (1, "flightdeck: the session is over: new continues in its terminal\n")
    );
    drop(daemon);
}

#[test]
fn an_empty_board_prints_what_to_do() {
    let home = test_home();
    let _daemon = home.daemon();
    reads(
        &home.run(&["ls"]).success(),
        expect![[r#"
        No session yet. Start `claude` anywhere, or try `flightdeck demo`.
    "#]],
    );
    let next = home.run(&["next"]);
    assert_eq!((next.code, next.out.as_str(), next.err.as_str()), (1, "No session waits for you.\n", ""));
    let next = home.run(&["next", "--json"]);
    assert_eq!((next.code, next.out.as_str()), (1, "null\n"));
}

#[test]
fn a_board_of_ended_sessions_prints_how_to_list_them() {
    let home = test_home();
    let daemon = home.daemon();
    tell(&daemon, "s", "/w", "SessionEnd", json!({"reason": "other"}));
    assert_eq!(home.run(&["ls"]).success(), "No session is open. 1 ended: `flightdeck ls --done`.\n");
}

#[test]
fn ls_watch_follows_every_change() {
    let home = test_home();
    let daemon = home.daemon();
    let mut command = home.flightdeck(&["ls", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["event"], "snapshot");
    tell(&daemon, "s", "/w", "Stop", json!({}));
    assert_eq!(next()["data"]["session"]["id"], "s");
    daemon.stop();
    let output = child.wait_with_output().unwrap();
    let said = (output.status.code(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(said, (Some(1), "flightdeck: the daemon stopped\n".to_owned()));
}

#[test]
fn ls_watch_in_a_pipe_draws_changes_that_come_together_once() {
    let home = test_home();
    let daemon = home.daemon();
    let begun = Instant::now();
    let mut child = home.flightdeck(&["ls", "--watch"]).stdout(Stdio::piped()).spawn().unwrap();
    for n in 0..40 {
        tell(&daemon, &format!("s-{n}"), "/w", "Stop", json!({}));
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut boards = 0;
    for line in lines.filter(|line| line.starts_with("Needs you")) {
        boards += 1;
        if line == "Needs you 0 + 40 idle" {
            break;
        }
    }
    let most = begun.elapsed().as_millis() / 250 + 1;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(boards <= most, "{boards} boards, at most {most}");
}
