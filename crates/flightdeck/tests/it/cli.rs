//! The output of the commands.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::home::test_home;
use expect_test::{Expect, expect};
use flightdeck_e2e::testkit::{CommandOutput, TestDaemon, TestHome};
use flightdeck_sim::corpus;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn tell(daemon: &TestDaemon, session: &str, cwd: &str, name: &str, more: Value) {
    let mut payload = json!({"session_id": session, "hook_event_name": name, "cwd": cwd, "prompt_id": "p1"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

/// Three sessions: one asks, one works, one has ended.
fn busy(home: &TestHome) -> TestDaemon {
    let daemon = home.daemon();
    let (asks, works, over) = ("5f1c0000-asks", "8a2d0000-works", "c3e40000-over");
    tell(&daemon, asks, "/w/api", "SessionStart", json!({"source": "startup", "model": "claude-opus-5-5"}));
    tell(&daemon, asks, "/w/api", "UserPromptSubmit", json!({"prompt": "Fix the login page\nand test it"}));
    let bash = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "cargo test"}});
    tell(&daemon, asks, "/w/api", "PreToolUse", bash.clone());
    tell(&daemon, asks, "/w/api", "PermissionRequest", bash.clone());
    tell(&daemon, works, "/w/web", "UserPromptSubmit", json!({"prompt": "Make it blue"}));
    tell(
        &daemon,
        works,
        "/w/web",
        "PreToolUse",
        json!({"tool_name": "Read", "tool_use_id": "t2", "tool_input": {"file_path": "/w/web/a.css"}}),
    );
    tell(&daemon, over, "/w/web", "UserPromptSubmit", json!({"prompt": "Say hi"}));
    tell(&daemon, over, "/w/web", "SessionEnd", json!({"reason": "prompt_input_exit"}));
    daemon
}

/// Times of day and durations differ from run to run.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !(c.is_ascii_digit() || ":.-TZ".contains(c))).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out += before;
        out += match word {
            _ if word.trim_end_matches(':').contains(':') => "<time>",
            _ if word.len() == 10 && word.matches('-').count() == 2 => "<date>",
            _ => word,
        };
        rest = after;
    }
    out + rest
}

#[track_caller]
pub(crate) fn reads(text: &str, expected: Expect) {
    expected.assert_eq(&timeless(text));
}

/// The text without the names of this run.
pub(crate) fn anonymous(text: &str, daemon: &TestDaemon) -> String {
    text.replace(&daemon.url, "<url>").replace(&format!("pid {}", daemon.pid()), "pid <pid>")
}

#[track_caller]
pub(crate) fn fails(said: CommandOutput, expected: Expect) {
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    reads(&said.err, expected);
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
        Needs you 3
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
    // It is over, so there is nothing to wait for.
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
fn a_demo_refuses_a_speed_that_is_not_above_zero() {
    let home = test_home();
    for speed in ["0", "-1", "nan"] {
        let said = home.run(&["demo", &format!("--speed={speed}"), "--stop-after", "0"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{speed}");
        assert!(said.err.contains("a fleet runs at a speed between 0.01 and 1000"), "{}", said.err);
    }
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
    assert!(said.ends_with("\n1 more: flightdeck ls\n"), "{said}");
    assert_eq!(home.run(&["next", "--json"]).json()["id"], "5f1c0000-asks");
}

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

#[test]
fn without_a_daemon_each_command_prints_how_to_start_it() {
    let home = test_home();
    for args in [&["ls"][..], &["ls", "--watch"], &["show", "x"], &["explain", "x"], &["next"], &["status"]] {
        let said = home.run(args);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{args:?}");
        assert_eq!(
            said.err, "flightdeck: no daemon is running for ~/fd: start it with `flightdeck`\n",
            "{args:?}"
        );
    }
}

#[test]
fn replay_prints_the_state_after_each_recorded_event() {
    let home = test_home();
    let recorded = |name: &str| corpus::dir().join(name).join("hooks.jsonl").display().to_string();
    reads(
        &home.run(&["replay", &recorded("perm_accept")]).success(),
        expect![[r#"
        <time>  727abfd4  SessionStart         ○ idle Ready
        <time>  727abfd4  InstructionsLoaded   ○ idle Ready
        <time>  727abfd4  UserPromptSubmit     ✦ thinking Thinking
        <time>  727abfd4  PreToolUse           ▸ acting Bash: touch made-by-bash.txt && echo bash-ok
        <time>  727abfd4  PermissionRequest    ◆ needs_permission Permission for Bash: touch made-by-bash.txt && echo bash-ok
        <time>  727abfd4  Notification         ◆ needs_permission Permission for Bash: touch made-by-bash.txt && echo bash-ok
        <time>  727abfd4  PostToolUse          ✦ thinking Thinking
        <time>  727abfd4  PostToolBatch        ✦ thinking Thinking
        <time>  727abfd4  Stop                 ○ idle Waiting for your next prompt
        <time>  727abfd4  SessionEnd           ✓ session_ended Session closed
    "#]],
    );
    let json = home.run(&["replay", "--json", &recorded("clear")]).success();
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["session"]["agent_state"]["state"], "session_ended");
    for scenario in corpus::scenarios() {
        let said = home.run(&["replay", &recorded(&scenario.name)]).success();
        assert_eq!(said.lines().count(), scenario.hooks.len(), "{}", scenario.name);
    }

    fs::write(
        home.path().join("torn.jsonl"),
        "{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}\n{\"session_id\":",
    )
    .unwrap();
    let said = home.run(&["replay", "torn.jsonl"]);
    assert_eq!(said.code, 1);
    reads(
        &said.err,
        expect![[r#"
            flightdeck: torn.jsonl line 2: EOF while parsing a value at line 1 column 14
        "#]],
    );
    fails(
        home.run(&["replay", "none.jsonl"]),
        expect![[r#"
        flightdeck: cannot open none.jsonl: No such file or directory (os error 2)
    "#]],
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

#[test]
fn hook_help_explains_the_hook() {
    let home = test_home();
    for command in ["hook", "statusline"] {
        let said = home.run(&[command, "--help"]).success();
        assert!(said.contains("Claude Code") && said.contains("Usage: flightdeck"), "{said}");
    }
}

#[test]
fn hooks_commands_print_where_hooks_are_and_that_they_are_gone() {
    let home = test_home();
    let mut up = home.flightdeck(&["up", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let mut next = || home.plain(&lines.next().unwrap().unwrap());
    assert!(next().starts_with("Flightdeck is at http://"));
    assert_eq!(next(), "Its hooks are registered in ~/claude/settings.json while it runs");
    kill_process(Pid::from_child(&up), Signal::INT).unwrap();
    assert_eq!(next(), "Its hooks were removed from ~/claude/settings.json");
    assert!(up.wait().unwrap().success());
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
fn a_demo_ends_at_its_time_and_leaves_no_files() {
    let home = test_home();
    let folder = |name: &str| fs::read_dir(home.path().join(name)).unwrap().count();
    let tmp = home.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    let mut demo = home.flightdeck(&["demo", "--sessions", "6", "--port", "0", "--stop-after", "1"]);
    let output = demo.env("TMPDIR", &tmp).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(0), "".into()));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("A simulated fleet of 6 sessions is at http://127.0.0.1:"), "{said}");
    assert_eq!((folder("person"), folder("claude"), folder("tmp")), (0, 0, 0));
    assert!(!home.paths().home.exists());
}

#[test]
fn usage_errors_exit_2_and_help_and_version_0() {
    let home = test_home();
    for args in
        [&["frobnicate"][..], &["ls", "--group", "mine"], &["show"], &["up", "--port", "99999"], &["--frob"]]
    {
        let said = home.run(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains("Usage:") || said.err.contains("For more information"), "{}", said.err);
    }
    assert_eq!(home.run(&["--version"]).success(), concat!("flightdeck ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(home.run(&["--help"]).success().contains("completions"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.run(&["completions", shell]).success().contains("flightdeck"));
    }
}

#[test]
fn a_closed_output_pipe_is_no_failure() {
    let home = test_home();
    let daemon = home.daemon();
    for n in 0..100 {
        tell(&daemon, &format!("s{n}"), "/w", "UserPromptSubmit", json!({"prompt": "x".repeat(400)}));
    }
    for args in [&["ls"][..], &["ls", "--json"], &["completions", "bash"], &["completions", "zsh"]] {
        let mut command = home.flightdeck(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr)),
            (Some(0), "".into()),
            "{args:?}"
        );
    }
}
