//! Tool calls, and what they make a person decide.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Millis;

use crate::registry::tell_all;
use crate::script::{card, check, check_with, read, tell};

#[test]
fn a_tool_shows_with_one_line_of_its_input() {
    check(
        r#"0 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"cargo~test"}"#,
        expect![[r#"running acting "Bash: cargo test""#]],
    );
}

#[test]
fn a_question_waits_for_the_person_until_its_own_answer() {
    let ask = r#"0 PreToolUse tool_name=AskUserQuestion tool_use_id=q tool_input={"questions":[{"question":"Which~one?"}]}
                 1 PermissionRequest tool_name=AskUserQuestion tool_input={"questions":[{"question":"Which~one?"}]}
                 2 PostToolUse tool_name=Read tool_use_id=other"#;
    check(ask, expect![[r#"needs_you awaiting_input "Which one?""#]]);
    check(
        &format!("{ask}\n 3 PostToolUse tool_name=AskUserQuestion tool_use_id=q"),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_plan_waits_for_approval() {
    check(
        r#"0 PreToolUse tool_name=ExitPlanMode tool_use_id=p tool_input={"plan":"x"}
           1 PermissionRequest tool_name=ExitPlanMode tool_input={"plan":"x"}"#,
        expect![[r#"needs_you awaiting_approval "Plan ready""#]],
    );
}

#[test]
fn entering_plan_mode_asks_nothing_unless_permission_is_requested_for_it() {
    let enter = "0 PreToolUse tool_name=EnterPlanMode tool_use_id=e";
    check(enter, expect![[r#"running acting "EnterPlanMode""#]]);
    check(
        &format!("{enter}\n 1 PermissionRequest tool_name=EnterPlanMode"),
        expect![[r#"needs_you needs_permission "Permission for EnterPlanMode""#]],
    );
}

#[test]
fn a_permission_request_blocks_at_once() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        r#"0 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}
           1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}"#,
    );
    let card = card(&fleet, "s");
    expect![[r#"needs_you needs_permission "Permission for Bash: ls""#]].assert_eq(&read(&card));
    assert_eq!(card.status.reason.as_deref(), Some("Permission for Bash"));
    assert_eq!(card.agent_state.since, crate::script::at_seconds("1"));
}

#[test]
fn print_mode_shows_no_prompt_so_nothing_waits() {
    let script = r#"0 PreToolUse tool_name=Bash tool_use_id=a CLAUDE_CODE_ENTRYPOINT=sdk-cli
                   1 PermissionRequest tool_name=Bash CLAUDE_CODE_ENTRYPOINT=sdk-cli"#;
    check(script, expect![[r#"running acting "Bash""#]]);
    let held = FoldSettings { hold_print: true, ..FoldSettings::default() };
    check_with(held, script, expect![[r#"needs_you needs_permission "Permission for Bash""#]]);
}

#[test]
fn a_late_post_tool_use_does_not_clear_another_tools_permission() {
    check(
        "1 UserPromptSubmit prompt=fix
         2 PreToolUse tool_name=Bash tool_use_id=a
         3 PermissionRequest tool_name=Bash
         4 PostToolUse tool_name=Read tool_use_id=b",
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
}

#[test]
fn with_other_calls_open_the_newest_shows() {
    check(
        "0 PreToolUse tool_name=Read tool_use_id=a
         1 PreToolUse tool_name=Grep tool_use_id=b
         2 PreToolUse tool_name=Bash tool_use_id=c
         3 PostToolUse tool_name=Bash tool_use_id=c",
        expect![[r#"running acting "Grep""#]],
    );
}

#[test]
fn a_batch_closes_the_calls_it_names() {
    check(
        r#"0 PreToolUse tool_name=Bash tool_use_id=a
           1 PermissionRequest tool_name=Bash
           2 PostToolBatch tool_calls=[{"tool_name":"Bash","tool_use_id":"a"}]"#,
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn an_interrupted_tool_waits_for_the_person() {
    check(
        "0 PreToolUse tool_name=Bash tool_use_id=a
         1 PostToolUseFailure tool_name=Bash tool_use_id=a is_interrupt=true",
        expect![[r#"needs_you interrupted "You interrupted Bash""#]],
    );
}

#[test]
fn a_failed_tool_is_a_note_and_no_call_for_help_unless_configured() {
    let script = "0 PreToolUse tool_name=Bash tool_use_id=a
                 1 PostToolUseFailure tool_name=Bash tool_use_id=a error=exit~3";
    check(script, expect![[r#"running thinking "Thinking" · note Failed: Bash"#]]);
    let strict = FoldSettings { tool_failure_needs_you: true, ..FoldSettings::default() };
    check_with(strict, script, expect![[r#"needs_you error "Failed: Bash" · note Failed: Bash"#]]);
}

#[test]
fn a_permission_notification_blocks_only_while_something_is_open_and_not_twice() {
    let note = "2 Notification notification_type=permission_prompt";
    let over = "1 PreToolUse tool_name=Bash tool_use_id=a\n 1 PostToolUse tool_name=Bash tool_use_id=a";
    check(
        &format!("0 UserPromptSubmit prompt=a\n {over}\n {note}"),
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        &format!("0 PreToolUse tool_name=Bash tool_use_id=a\n {note}"),
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
    check(
        &format!(
            "0 PreToolUse tool_name=Bash tool_use_id=a\n 1 PermissionRequest tool_name=Bash\n {note}\n 3 PostToolUse tool_name=Bash tool_use_id=a"
        ),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_need_from_a_notification_ends_with_the_next_batch_or_stop() {
    let script =
        "0 PreToolUse tool_name=Bash tool_use_id=a\n 1 Notification notification_type=agent_needs_input";
    check(&format!("{script}\n 2 PostToolBatch"), expect![[r#"running acting "Bash""#]]);
    check(&format!("{script}\n 2 Stop"), expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
}

#[test]
fn an_elicitation_waits_until_its_result() {
    let script = "0 PreToolUse tool_name=mcp__a__b tool_use_id=a
                 1 Elicitation mcp_server_name=a message=Your~name?
                 2 Notification notification_type=elicitation_dialog message=Other";
    check(script, expect![[r#"needs_you awaiting_input "Your name?""#]]);
    check(
        &format!("{script}\n 3 ElicitationResult mcp_server_name=a action=accept"),
        expect![[r#"running acting "mcp__a__b""#]],
    );
}

#[test]
fn an_elicitation_behind_another_need_shows_when_that_is_answered() {
    check(
        "0 PreToolUse tool_name=Bash tool_use_id=a
         1 PermissionRequest tool_name=Bash
         2 Elicitation mcp_server_name=jira message=Which~project?
         3 PostToolUse tool_name=Bash tool_use_id=a",
        expect![[r#"needs_you awaiting_input "Which project?""#]],
    );
}

#[test]
fn a_permission_request_that_overtakes_its_own_call_is_the_same_need() {
    let script = r#"1@1.1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}
                   1.2@1 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}"#;
    check(script, expect![[r#"needs_you needs_permission "Permission for Bash: ls""#]]);
    check(
        &format!("{script}\n 2 PostToolUse tool_name=Bash tool_use_id=a"),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_need_without_a_call_ends_with_the_next_call_of_the_same_tool_and_input() {
    check(
        r#"1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}
           5 PostToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}"#,
        expect![[r#"running thinking "Thinking""#]],
    );
    check(
        r#"1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}
           5 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}"#,
        expect![[r#"running acting "Bash: ls""#]],
    );
}

#[test]
fn twins_are_taken_in_order() {
    let script = r#"1 PreToolUse tool_name=Read tool_use_id=a tool_input={"file_path":"x"}
                   2 PreToolUse tool_name=Read tool_use_id=b tool_input={"file_path":"x"}
                   3 PermissionRequest tool_name=Read tool_input={"file_path":"x"}
                   4 PermissionRequest tool_name=Read tool_input={"file_path":"x"}
                   5 PostToolUse tool_name=Read tool_use_id=a"#;
    check(script, expect![[r#"needs_you needs_permission "Permission for Read: x""#]]);
    check(
        &format!("{script}\n 6 PostToolUse tool_name=Read tool_use_id=b"),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_call_whose_end_came_first_is_never_shown_as_running() {
    check(
        "1@- UserPromptSubmit prompt=a prompt_id=1
         2@- PostToolUse tool_name=Bash tool_use_id=a prompt_id=1
         2.1@- PreToolUse tool_name=Bash tool_use_id=a prompt_id=1",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_permission_notice_counts_where_no_hook_reports_tools() {
    // A registration without PreToolUse and PermissionRequest.
    let asked =
        "0 UserPromptSubmit prompt=a prompt_id=1\n 8 Notification notification_type=permission_prompt";
    check(asked, expect![[r#"needs_you needs_permission "Permission needed""#]]);
    check(&format!("{asked}\n 9 Stop"), expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
    check(
        &format!("{asked}\n 9 UserPromptSubmit prompt=b prompt_id=2"),
        expect![[r#"running thinking "Thinking""#]],
    );
    // With these hooks, only an open call can wait for a permission.
    check(
        "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PostToolUse tool_name=Bash tool_use_id=a
         8 Notification notification_type=permission_prompt",
        expect![[r#"running thinking "Thinking""#]],
    );
    // An idle session asks for nothing.
    check(
        "0 UserPromptSubmit prompt=a prompt_id=1\n 2 Stop\n 8 Notification notification_type=permission_prompt",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

/// The client asks without a hook if its own check of a call is not available.
#[test]
fn a_permission_that_no_hook_reports_names_the_only_call() {
    let runs = "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a tool_input={\"command\":\"ls\"}";
    let reads = |more: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{runs}\n {more}"));
        let _ = fleet.tick(fleet.now() + Millis(500));
        read(&card(&fleet, "s"))
    };
    let named = r#"needs_you needs_permission "Permission for Bash: ls""#;
    assert_eq!(reads("2.1 registry waiting:permission~prompt"), named);
    assert_eq!(reads("8.2 Notification notification_type=permission_prompt"), named);
    // The prompt may belong to either of two calls, or to a subagent.
    let unnamed = r#"needs_you needs_permission "Permission needed""#;
    let read_too = "2 PreToolUse tool_name=Read tool_use_id=2 prompt_id=a";
    assert_eq!(reads(&format!("{read_too}\n 2.1 registry waiting:permission~prompt")), unnamed);
    let agent = "2 SubagentStart agent_id=x agent_type=Explore";
    let beside = reads(&format!("{agent}\n 2.1 registry waiting:permission~prompt"));
    assert!(beside.starts_with(unnamed), "{beside}");
    // The call that ended leaves the other one.
    let ended = "2.5@2.05 PostToolUse tool_name=Read tool_use_id=2 prompt_id=a";
    assert_eq!(reads(&format!("{read_too}\n 2.1 registry waiting:permission~prompt\n {ended}")), named);
}
