//! Subagents, and what they do to their parent.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::script::{card, check, tell};

#[test]
fn a_foreground_subagent_delegates_and_its_end_is_thinking() {
    let script = "0 UserPromptSubmit prompt=a
                 1 PreToolUse tool_name=Agent tool_use_id=a
                 2 SubagentStart agent_id=x agent_type=Explore";
    check(script, expect![[r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#]]);
    check(
        &format!("{script}\n 3 SubagentStop agent_id=x agent_type=Explore"),
        expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
    );
}

#[test]
fn a_call_reported_after_its_own_end_brings_no_subagent_back() {
    let script = "0 UserPromptSubmit prompt=a
                 1 SubagentStart agent_id=x agent_type=Explore
                 2 PostToolUse tool_name=Read tool_use_id=r agent_id=x agent_type=Explore
                 3 SubagentStop agent_id=x agent_type=Explore";
    let done = expect![[r#"running thinking "Thinking" · Explore Done "Done""#]];
    check(
        &format!("{script}\n 3.1 PreToolUse tool_name=Read tool_use_id=r agent_id=x agent_type=Explore"),
        done,
    );
    // A hook of the person's own sent it on.
    check(
        &format!("{script}\n 3.1 PreToolUse tool_name=Read tool_use_id=s agent_id=x agent_type=Explore"),
        expect![[r#"running thinking "Thinking" · Explore Working "Read""#]],
    );
}

#[test]
fn a_subagent_never_wakes_an_idle_main() {
    check(
        "0 Stop
         1 SubagentStart agent_id=x agent_type=Explore
         2 SubagentStop agent_id=x agent_type=Explore",
        expect![[r#"needs_you idle "Waiting for your next prompt" · Explore Done "Done""#]],
    );
}

#[test]
fn the_stop_of_an_unknown_or_nameless_subagent_is_ignored() {
    check(
        "0 UserPromptSubmit prompt=a
         1 SubagentStop agent_id=x agent_type=
         2 SubagentStop agent_id=y agent_type=Explore",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_subagent_whose_stop_overtook_its_start_is_done_and_not_running_for_ever() {
    check(
        "0 UserPromptSubmit prompt=a
         2 SubagentStop agent_id=y agent_type=Explore
         2.2@1.9 SubagentStart agent_id=y agent_type=Explore",
        expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
    );
}

#[test]
fn a_blocked_subagent_raises_the_card_even_after_the_main_stop() {
    let script = r#"0 UserPromptSubmit prompt=a
                   1 SubagentStart agent_id=x agent_type=Explore
                   2 Stop background_tasks=[{"type":"subagent","status":"running"}]
                   3 PreToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=b
                   4 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash"#;
    check(
        script,
        expect![[
            r#"needs_you needs_permission "Explore needs permission for Bash" · Explore Blocked "Explore needs permission for Bash""#
        ]],
    );
    check(
        &format!("{script}\n 5 PostToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=b"),
        expect![[
            r#"running waiting_background "Waiting on 1 background agent" · Explore Working "Thinking""#
        ]],
    );
}

#[test]
fn the_most_urgent_need_of_main_and_children_shows() {
    check(
        r#"0 PreToolUse tool_name=AskUserQuestion tool_use_id=q tool_input={"questions":[{"question":"Which?"}]}
           1 SubagentStart agent_id=x agent_type=Explore
           2 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash"#,
        expect![[
            r#"needs_you needs_permission "Explore needs permission for Bash" · Explore Blocked "Explore needs permission for Bash""#
        ]],
    );
}

#[test]
fn a_subagent_in_print_mode_opens_no_ask_either() {
    check(
        "0 UserPromptSubmit prompt=a CLAUDE_CODE_ENTRYPOINT=sdk-cli
         1 SubagentStart agent_id=x agent_type=Explore CLAUDE_CODE_ENTRYPOINT=sdk-cli
         2 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash CLAUDE_CODE_ENTRYPOINT=sdk-cli",
        expect![[r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#]],
    );
}

#[test]
fn a_failed_subagent_is_failed_and_no_longer_runs() {
    let one = "0 UserPromptSubmit prompt=a
               1 PreToolUse tool_name=Agent tool_use_id=a
               2 SubagentStart agent_id=x agent_type=Explore
               3 StopFailure agent_id=x agent_type=Explore error=rate_limit";
    let failed = expect![[r#"running thinking "Thinking" · Explore Failed "Explore failed: rate limit""#]];
    check(one, failed);
    // Of two, the other goes on.
    check(
        "0 UserPromptSubmit prompt=a
         1 SubagentStart agent_id=x agent_type=Explore
         2 SubagentStart agent_id=y agent_type=Plan
         3 StopFailure agent_id=x agent_type=Explore error=overloaded",
        expect![[
            r#"running delegating "Running Plan subagent" · Explore Failed "Explore failed: overloaded" · Plan Working "Thinking""#
        ]],
    );
    // A later hook of the same kind from the main agent is the end of the turn.
    check(
        &format!("{one}\n 4 StopFailure error=server_error"),
        expect![[r#"needs_you error "Failed: server error" · Explore Failed "Explore failed: rate limit""#]],
    );
}

#[test]
fn a_background_agent_that_fails_is_not_waited_for() {
    let script = r#"0 UserPromptSubmit prompt=a prompt_id=1
                   1 SubagentStart agent_id=x agent_type=Explore
                   2 SubagentStart agent_id=y agent_type=Plan
                   3 Stop prompt_id=1 background_tasks=[{"type":"subagent","status":"running"},{"type":"subagent","status":"running"}]
                   4 StopFailure agent_id=x agent_type=Explore error=unknown prompt_id=1"#;
    check(
        script,
        expect![[
            r#"running waiting_background "Waiting on 1 background agent" · Explore Failed "Explore failed: unknown" · Plan Working "Thinking""#
        ]],
    );
    check(
        &format!("{script}\n 5 SubagentStart agent_id=x agent_type=Explore"),
        expect![[
            r#"running delegating "Running Plan subagent" · Explore Working "Thinking" · Plan Working "Thinking""#
        ]],
    );
}

#[test]
fn a_failure_that_is_the_first_word_of_a_subagent_shows_it_failed() {
    check(
        "0 UserPromptSubmit prompt=a
         1 StopFailure agent_id=x agent_type=Explore error=overloaded
         1.1@0.9 SubagentStart agent_id=x agent_type=Explore",
        expect![[r#"running thinking "Thinking" · Explore Failed "Explore failed: overloaded""#]],
    );
}

#[test]
fn the_folder_and_the_mode_of_a_subagent_are_not_those_of_the_session() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "1 UserPromptSubmit prompt=a permission_mode=default
         2 SubagentStart agent_id=x agent_type=Explore
         3 PreToolUse tool_name=Bash tool_use_id=1 agent_id=x agent_type=Explore permission_mode=acceptEdits cwd=/w/other",
    );
    assert_eq!(card(&fleet, "s").permission_mode.as_deref(), Some("default"));
    assert_eq!(fleet.get(&"s".into()).unwrap().cwd.as_deref(), Some("/w/api"));
}
