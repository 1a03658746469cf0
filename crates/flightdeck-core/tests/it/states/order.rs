//! Time, order and identity: late events, clocks set back, sources that find the same session.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::script::{card, check, read, tell};

#[test]
fn an_event_that_fired_before_the_last_change_moves_nothing() {
    check(
        "1 UserPromptSubmit prompt=a
         2 PreToolUse tool_name=Bash tool_use_id=a
         4 Stop
         4.2@3 PostToolUse tool_name=Bash tool_use_id=a
         4.3@2.5 PreToolUse tool_name=Read tool_use_id=b",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

/// The hook of a call is async: on a busy machine it reads the clock after the Stop of its turn did. The times
/// are those of a real client.
#[test]
fn a_stop_ends_its_turn_although_the_hook_of_its_last_call_was_slow() {
    let called = "1.385 UserPromptSubmit prompt=a
                  1.613@1.6 PreToolUse tool_name=Bash tool_use_id=a";
    let post = "PostToolUse tool_name=Bash tool_use_id=a";
    let idle = |script: &str| check(script, expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
    idle(&format!("{called}\n 3.448@3.445 {post}\n 3.449@3.387 PostToolBatch\n 3.449@3.429 Stop"));
    idle(&format!("{called}\n 3.44@3.429 Stop\n 3.448@3.445 {post}"));
    // Even the hook of its start was slow.
    let started = "1.385 UserPromptSubmit prompt=a\n 3.446 PreToolUse tool_name=Bash tool_use_id=a";
    idle(&format!("{started}\n 3.447@3.445 {post}\n 3.45@3.429 Stop"));
    let failed = [
        format!("{called}\n 3.448@3.445 {post}\n 3.449@3.429 StopFailure error=rate_limit"),
        format!("{called}\n 3.44@3.429 StopFailure error=rate_limit\n 3.448@3.445 {post}"),
    ];
    for script in failed {
        check(&script, expect![[r#"needs_you error "Failed: rate limit""#]]);
    }
}

#[test]
fn the_end_of_a_call_ends_it_although_the_hook_of_its_start_was_slow() {
    let called = "1 UserPromptSubmit prompt=a\n 2.014 PreToolUse tool_name=Bash tool_use_id=a";
    for end in [
        "PostToolUse tool_name=Bash tool_use_id=a",
        r#"PostToolBatch tool_calls=[{"tool_name":"Bash","tool_use_id":"a"}]"#,
    ] {
        check(&format!("{called}\n 2.02@1.992 {end}"), expect![[r#"running thinking "Thinking""#]]);
    }
    // One of two.
    let two = "1 UserPromptSubmit prompt=a\n 2 PreToolUse tool_name=Read tool_use_id=a\n 2.1 PreToolUse tool_name=Bash tool_use_id=b";
    check(
        &format!("{two}\n 2.2@2.05 PostToolUse tool_name=Read tool_use_id=a"),
        expect![[r#"running acting "Bash""#]],
    );
}

#[test]
fn a_stop_from_before_the_call_that_runs_or_of_the_turn_before_ends_nothing() {
    check(
        "1 UserPromptSubmit prompt=a
         3 PreToolUse tool_name=Bash tool_use_id=b
         3.1@2.9 Stop",
        expect![[r#"running acting "Bash""#]],
    );
    check(
        "1 UserPromptSubmit prompt=a
         2 UserPromptSubmit prompt=b
         2.1 PostToolUse tool_name=Bash tool_use_id=b
         2.2@1.9 Stop",
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        "1 UserPromptSubmit prompt=a
         3 PostToolUse tool_name=Bash tool_use_id=b
         3.1@1.9 Stop",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn without_a_clock_a_tool_event_of_an_ended_turn_moves_nothing() {
    check(
        "1@- UserPromptSubmit prompt=a prompt_id=1
         2@- PreToolUse tool_name=Bash tool_use_id=a prompt_id=1
         3@- Stop prompt_id=1
         3.1@- PostToolUse tool_name=Bash tool_use_id=a prompt_id=1",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn without_a_clock_the_stop_of_a_turn_that_another_followed_moves_nothing() {
    check(
        "1@- UserPromptSubmit prompt=a prompt_id=1
         2@- UserPromptSubmit prompt=b prompt_id=2
         2.1@- Stop prompt_id=1",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_session_created_by_an_event_that_sets_no_state_is_fresh() {
    check("0 InstructionsLoaded load_reason=session_start", expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn a_clock_set_back_does_not_deafen_a_session() {
    check(
        "100 UserPromptSubmit prompt=a
         50 PreToolUse tool_name=Bash tool_use_id=a
         51 Stop",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

/// Hooks registered for the user and again in a project: two handlers, two ids of ours, one fact.
#[test]
fn what_two_hooks_tell_counts_once() {
    let once = r#"
        0 SessionStart source=startup
        1 UserPromptSubmit prompt=a prompt_id=1
        2 PreToolUse tool_name=Bash tool_use_id=a prompt_id=1 tool_input={"command":"ls"}
        2.1 PermissionRequest tool_name=Bash prompt_id=1 tool_input={"command":"ls"}
        4 PostToolUse tool_name=Bash tool_use_id=a prompt_id=1 tool_input={"command":"ls"}
        5 PreToolUse tool_name=AskUserQuestion tool_use_id=b prompt_id=1 tool_input={"questions":[{"question":"Which?"}]}
        8 PermissionRequest tool_name=AskUserQuestion prompt_id=1 tool_input={"questions":[{"question":"Which?"}]}
        9 PostToolUse tool_name=AskUserQuestion tool_use_id=b prompt_id=1 tool_input={"questions":[{"question":"Which?"}]}
        10 SubagentStart agent_id=x agent_type=Explore prompt_id=1
        11 Elicitation mcp_server_name=m message=Name prompt_id=1
        12 ElicitationResult mcp_server_name=m prompt_id=1
        13 TaskCreated task_id=1 task_subject=t prompt_id=1
        14 SubagentStop agent_id=x agent_type=Explore prompt_id=1
        15 UserPromptSubmit prompt=b prompt_id=2
        16 Stop prompt_id=2
        17 UserPromptSubmit prompt=b prompt_id=3"#;
    let lines: Vec<&str> = once.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    for upto in 1..=lines.len() {
        let (mut single, mut double) =
            (Fleet::new(FoldSettings::default()), Fleet::new(FoldSettings::default()));
        for line in &lines[..upto] {
            tell(&mut single, line);
            tell(&mut double, line);
            let (clock, rest) = line.split_once(' ').unwrap();
            let later: f64 = clock.parse::<f64>().unwrap() + 0.02;
            tell(&mut double, &format!("{later} {rest}"));
        }
        let (a, b) = (card(&single, "s"), card(&double, "s"));
        assert_eq!((read(&a), a.turn_count), (read(&b), b.turn_count), "{}", lines[upto - 1]);
        let needs = |fleet: &Fleet| fleet.get(&"s".into()).unwrap().main.ledger.needs().len();
        assert_eq!(needs(&single), needs(&double), "{}", lines[upto - 1]);
        assert_eq!((a.progress_items.len(), a.asks.len()), (b.progress_items.len(), b.asks.len()));
    }
}

#[test]
fn the_same_prompt_without_an_id_counts_once_within_a_moment_and_twice_later() {
    let count = |second: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, &format!("0 UserPromptSubmit prompt=a\n {second} UserPromptSubmit prompt=a"));
        card(&fleet, "s").turn_count
    };
    assert_eq!((count("0.5"), count("4")), (1, 2));
}

#[test]
fn the_late_end_of_another_call_does_not_undo_a_refusal() {
    let two = "1 UserPromptSubmit prompt=a prompt_id=a
         2 PreToolUse tool_name=Read tool_use_id=a prompt_id=a
         2.1 PreToolUse tool_name=Bash tool_use_id=b prompt_id=a
         2.2 PermissionRequest tool_name=Bash prompt_id=a";
    let late = "5.2@5.05 PostToolUse tool_name=Read tool_use_id=a prompt_id=a";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, two);
    super::turns::hold_closed(&mut fleet, "5");
    tell(&mut fleet, late);
    assert_eq!(read(&card(&fleet, "s")), r#"needs_you interrupted "You interrupted Bash""#);
    // The same after an end that only the registry reported while our hooks were away.
    crate::registry::check(
        "1 UserPromptSubmit prompt=a prompt_id=a
         2 PreToolUse tool_name=Read tool_use_id=a prompt_id=a
         3 hooks gone
         4 registry idle
         4.5 tick
         4.6@4.05 PostToolUse tool_name=Read tool_use_id=a prompt_id=a
         4.6@4.05 PreToolUse tool_name=Bash tool_use_id=b prompt_id=a",
        expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
    );
}

#[test]
fn an_idle_notice_at_the_start_of_a_turn_is_about_the_pause_before_it() {
    check(
        "1 UserPromptSubmit prompt=a prompt_id=a
         2 Stop prompt_id=a
         62 UserPromptSubmit prompt=b prompt_id=b
         62.02 Notification notification_type=idle_prompt",
        expect![[r#"running thinking "Thinking""#]],
    );
}
