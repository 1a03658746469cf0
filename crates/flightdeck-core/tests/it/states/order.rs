//! Time, order and identity: STATES.md §3.

use expect_test::expect;

use crate::story::check;

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
