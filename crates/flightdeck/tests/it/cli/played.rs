//! Sessions that are played: `demo` and `replay`.

use std::fs;

use expect_test::expect;
use flightdeck_sim::corpus;
use serde_json::Value;

use super::{fails, reads};
use crate::home::test_home;

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
