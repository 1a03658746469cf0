//! STATES.md §1 and §3, a row a test.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::lens::FleetStatus;
use flightdeck_core::rules::Rules;

use crate::story::{card, check, check_with, read, tell};

#[test]
fn a_session_starts_ready() {
    check("0 SessionStart source=startup", expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn a_start_drops_calls_needs_and_children() {
    check(
        "0 UserPromptSubmit prompt=fix
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PermissionRequest tool_name=Bash
         3 SubagentStart agent_id=x agent_type=Explore
         4 SessionStart source=resume",
        expect![[r#"needs_you idle "Ready""#]],
    );
}

#[test]
fn a_restart_after_compaction_changes_nothing() {
    check(
        "0 UserPromptSubmit prompt=fix
         1 PreToolUse tool_name=Bash tool_use_id=a tool_input={\"command\":\"ls\"}
         2 SessionStart source=compact",
        expect![[r#"running acting "Bash: ls""#]],
    );
}

#[test]
fn setup_shows_as_thinking() {
    check("0 Setup trigger=init", expect![[r#"running thinking "Setup""#]]);
}

#[test]
fn a_prompt_of_a_person_counts_titles_and_starts_the_turn() {
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "0 SessionStart source=startup\n 1 UserPromptSubmit prompt=fix~the~bug");
    let card = card(&fleet, "s");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card));
    assert_eq!((card.turn_count, card.title.as_deref()), (1, Some("fix the bug")));
    assert_eq!(card.current_turn_started_at, Some(crate::story::at("1")));
    assert_eq!(card.status.detail, None);
}

#[test]
fn a_prompt_drops_what_was_open_and_clears_a_permission() {
    check(
        "0 UserPromptSubmit prompt=a
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PermissionRequest tool_name=Bash
         9 UserPromptSubmit prompt=b",
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_message_typed_ahead_leaves_the_tool_running_and_moves_the_turn() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Bash tool_use_id=a prompt_id=1
         5 UserPromptSubmit prompt=b prompt_id=2",
    );
    let card = card(&fleet, "s");
    expect![[r#"running acting "Bash""#]].assert_eq(&read(&card));
    assert_eq!((card.turn_count, card.current_turn_started_at), (2, Some(crate::story::at("5"))));
}

#[test]
fn a_typed_ahead_turn_still_ends_with_the_stop_of_either_prompt() {
    for prompt in ["1", "2"] {
        check(
            &format!(
                "0@- UserPromptSubmit prompt=a prompt_id=1
                 1@- PreToolUse tool_name=Bash tool_use_id=a prompt_id=1
                 5@- UserPromptSubmit prompt=b prompt_id=2
                 6@- PostToolUse tool_name=Bash tool_use_id=a prompt_id=1
                 7@- Stop prompt_id={prompt}"
            ),
            expect![[r#"needs_you idle "Waiting for your next prompt""#]],
        );
    }
}

#[test]
fn a_notice_the_client_writes_itself_is_no_turn_of_a_person() {
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "0 Stop\n 1 UserPromptSubmit prompt=<task-notification>~done");
    let card = card(&fleet, "s");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card));
    assert_eq!((card.turn_count, card.title), (0, None));
}

#[test]
fn a_notice_of_the_client_touches_no_need() {
    check(
        "0 UserPromptSubmit prompt=a
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PermissionRequest tool_name=Bash
         3 UserPromptSubmit prompt=<task-notification>",
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
}

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
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        r#"0 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}
           1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}"#,
    );
    let card = card(&fleet, "s");
    expect![[r#"needs_you needs_permission "Permission for Bash: ls""#]].assert_eq(&read(&card));
    assert_eq!(card.status.reason.as_deref(), Some("Permission for Bash"));
    assert_eq!(card.agent_state.since, crate::story::at("1"));
}

#[test]
fn print_mode_shows_no_prompt_so_nothing_waits() {
    let story = r#"0 PreToolUse tool_name=Bash tool_use_id=a CLAUDE_CODE_ENTRYPOINT=sdk-cli
                   1 PermissionRequest tool_name=Bash CLAUDE_CODE_ENTRYPOINT=sdk-cli"#;
    check(story, expect![[r#"running acting "Bash""#]]);
    let held = Rules { hold_print: true, ..Rules::default() };
    check_with(held, story, expect![[r#"needs_you needs_permission "Permission for Bash""#]]);
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
    let story = "0 PreToolUse tool_name=Bash tool_use_id=a
                 1 PostToolUseFailure tool_name=Bash tool_use_id=a error=exit~3";
    check(story, expect![[r#"running thinking "Thinking" · note Failed: Bash"#]]);
    let strict = Rules { tool_failure_needs_you: true, ..Rules::default() };
    check_with(strict, story, expect![[r#"needs_you error "Failed: Bash" · note Failed: Bash"#]]);
}

#[test]
fn a_permission_notification_blocks_only_while_something_is_open_and_not_twice() {
    let note = "2 Notification notification_type=permission_prompt";
    check(&format!("0 UserPromptSubmit prompt=a\n {note}"), expect![[r#"running thinking "Thinking""#]]);
    check(
        &format!("0 PreToolUse tool_name=Bash tool_use_id=a\n {note}"),
        expect![[r#"needs_you needs_permission "Permission needed""#]],
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
    let story =
        "0 PreToolUse tool_name=Bash tool_use_id=a\n 1 Notification notification_type=agent_needs_input";
    check(&format!("{story}\n 2 PostToolBatch"), expect![[r#"running acting "Bash""#]]);
    check(&format!("{story}\n 2 Stop"), expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
}

#[test]
fn an_elicitation_waits_until_its_result() {
    let story = "0 PreToolUse tool_name=mcp__a__b tool_use_id=a
                 1 Elicitation mcp_server_name=a message=Your~name?
                 2 Notification notification_type=elicitation_dialog message=Other";
    check(story, expect![[r#"needs_you awaiting_input "Your name?""#]]);
    check(
        &format!("{story}\n 3 ElicitationResult mcp_server_name=a action=accept"),
        expect![[r#"running acting "mcp__a__b""#]],
    );
}

#[test]
fn the_idle_notice_ends_a_turn_whose_stop_was_lost_but_not_background_work() {
    check(
        "0 UserPromptSubmit prompt=a\n 60 Notification notification_type=idle_prompt",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check(
        r#"0 Stop background_tasks=[{"type":"subagent","status":"running"}]
           60 Notification notification_type=idle_prompt"#,
        expect![[r#"running waiting_background "Waiting on 1 background agent""#]],
    );
}

#[test]
fn notices_nobody_knows_change_nothing() {
    for kind in ["auth_success", "something_new", ""] {
        check(
            &format!("0 UserPromptSubmit prompt=a\n 1 Notification notification_type={kind}"),
            expect![[r#"running thinking "Thinking""#]],
        );
    }
}

#[test]
fn a_stop_freezes_the_turn_and_closes_everything_of_main() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PermissionRequest tool_name=Bash
         12.5 Stop",
    );
    let card = card(&fleet, "s");
    expect![[r#"needs_you idle "Waiting for your next prompt""#]].assert_eq(&read(&card));
    assert_eq!(card.last_turn_task_seconds, Some(12.5));
}

#[test]
fn a_stop_with_background_shells_is_idle_with_a_chip() {
    check(
        r#"0 Stop background_tasks=[{"type":"shell","status":"running"}]"#,
        expect![[r#"needs_you idle "Waiting for your next prompt" · 1 shells"#]],
    );
}

#[test]
fn a_failed_turn_names_its_cause() {
    check("0 StopFailure error=rate_limit", expect![[r#"needs_you error "Failed: rate limit""#]]);
}

#[test]
fn a_foreground_subagent_delegates_and_its_end_is_thinking() {
    let story = "0 UserPromptSubmit prompt=a
                 1 PreToolUse tool_name=Agent tool_use_id=a
                 2 SubagentStart agent_id=x agent_type=Explore";
    check(story, expect![[r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#]]);
    check(
        &format!("{story}\n 3 SubagentStop agent_id=x agent_type=Explore"),
        expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
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
    let story = r#"0 UserPromptSubmit prompt=a
                   1 SubagentStart agent_id=x agent_type=Explore
                   2 Stop background_tasks=[{"type":"subagent","status":"running"}]
                   3 PreToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=b
                   4 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash"#;
    check(
        story,
        expect![[
            r#"needs_you needs_permission "Explore needs permission for Bash" · Explore Blocked "Explore needs permission for Bash""#
        ]],
    );
    check(
        &format!("{story}\n 5 PostToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=b"),
        expect![[
            r#"running waiting_background "Waiting on 1 background agent" · Explore Working "Thinking""#
        ]],
    );
}

#[test]
fn compaction_goes_back_to_what_was_before() {
    check(
        "0 UserPromptSubmit prompt=a\n 1 PreCompact trigger=auto",
        expect![[r#"running compacting "Compacting""#]],
    );
    check(
        "0 Stop\n 1 PreCompact trigger=manual\n 2 PostCompact",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn data_events_change_the_card_and_not_the_state() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
         1 PostModelSwitch to_model=claude-haiku-5-5
         2 TaskCreated task_id=1 task_subject=Write
         3 TaskCreated task_id=2 task_subject=Test
         4 TaskCompleted task_id=1 task_subject=Write
         5 ConfigChange source=user_settings
         6 BrandNewEvent anything=here",
    );
    let card = card(&fleet, "s");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card));
    assert_eq!(card.model.as_deref(), Some("claude-haiku-5-5"));
    let todos: Vec<_> = card.progress_items.iter().map(|t| format!("{}={}", t.title, t.status)).collect();
    assert_eq!(todos, ["Write=completed", "Test=pending"]);
}

#[test]
fn an_ended_session_is_done_at_once_and_only_a_start_brings_it_back() {
    let ended = "0 UserPromptSubmit prompt=a\n 1 SubagentStart agent_id=x agent_type=Explore\n 2 SessionEnd reason=other";
    check(ended, expect![[r#"done session_ended "Session closed" · Explore Done "Done""#]]);
    check(
        &format!("{ended}\n 3 PreToolUse tool_name=Bash tool_use_id=z\n 4 UserPromptSubmit prompt=b"),
        expect![[r#"done session_ended "Session closed" · Explore Done "Done""#]],
    );
    check(&format!("{ended}\n 5 SessionStart source=resume"), expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn done_keeps_a_card_for_half_an_hour_and_a_late_hook_makes_no_ghost() {
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "0 SessionStart source=startup\n 10 SessionEnd reason=other\n 1809 tick");
    assert!(fleet.get("s").is_some());
    tell(&mut fleet, "1811 PostToolUse tool_name=Bash tool_use_id=a");
    assert!(fleet.get("s").is_none(), "a late hook made a ghost");
    tell(&mut fleet, "1812 SessionStart source=resume");
    assert!(fleet.get("s").is_some());
}

#[test]
fn clear_replaces_the_card_instead_of_doubling_it() {
    for story in [
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         1 SessionEnd reason=clear session_id=a pid=7 proc_start=1
         2 SessionStart source=clear session_id=b pid=7 proc_start=1",
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         1 SessionStart source=clear session_id=b pid=7 proc_start=1
         2@0.5 SessionEnd reason=clear session_id=a pid=7 proc_start=1",
    ] {
        let mut fleet = Fleet::new(Rules::default());
        tell(&mut fleet, story);
        let board = flightdeck_core::board::board(&fleet);
        assert_eq!(board.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(board[0].continues.as_deref(), Some("a"));
        assert_eq!(card(&fleet, "a").agent_state.state.as_str(), "session_ended");
    }
}

#[test]
fn the_same_pid_of_another_process_replaces_nothing() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         2 SessionStart source=startup session_id=b pid=7 proc_start=2",
    );
    assert_eq!(flightdeck_core::board::board(&fleet).len(), 2);
}

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
fn a_permission_request_that_overtakes_its_own_call_is_the_same_need() {
    let story = r#"1@1.1 PermissionRequest tool_name=Bash tool_input={"command":"ls"}
                   1.2@1 PreToolUse tool_name=Bash tool_use_id=a tool_input={"command":"ls"}"#;
    check(story, expect![[r#"needs_you needs_permission "Permission for Bash: ls""#]]);
    check(
        &format!("{story}\n 2 PostToolUse tool_name=Bash tool_use_id=a"),
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
    let story = r#"1 PreToolUse tool_name=Read tool_use_id=a tool_input={"file_path":"x"}
                   2 PreToolUse tool_name=Read tool_use_id=b tool_input={"file_path":"x"}
                   3 PermissionRequest tool_name=Read tool_input={"file_path":"x"}
                   4 PermissionRequest tool_name=Read tool_input={"file_path":"x"}
                   5 PostToolUse tool_name=Read tool_use_id=a"#;
    check(story, expect![[r#"needs_you needs_permission "Permission for Read: x""#]]);
    check(
        &format!("{story}\n 6 PostToolUse tool_name=Read tool_use_id=b"),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn a_session_created_by_an_event_that_sets_no_state_is_fresh() {
    check("0 InstructionsLoaded load_reason=session_start", expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn a_working_session_without_a_sign_of_life_is_marked_quiet_and_stays_where_it_is() {
    check("0 UserPromptSubmit prompt=a\n 59 tick", expect![[r#"running thinking "Thinking""#]]);
    check("0 UserPromptSubmit prompt=a\n 61 tick", expect![[r#"running thinking "Thinking" · quiet"#]]);
    check(
        "0 UserPromptSubmit prompt=a\n 61 tick\n 62 PreToolUse tool_name=Bash tool_use_id=a",
        expect![[r#"running acting "Bash""#]],
    );
    check(
        "0 UserPromptSubmit prompt=a\n 30 PreToolUse tool_name=Bash tool_use_id=a\n 61 tick\n 91 tick",
        expect![[r#"running acting "Bash" · quiet"#]],
    );
}

#[test]
fn a_session_that_gave_a_sign_of_life_can_go_quiet_and_stale_again() {
    check(
        "0 UserPromptSubmit prompt=a
         61 tick
         70 PreToolUse tool_name=Bash tool_use_id=a
         131 tick",
        expect![[r#"running acting "Bash" · quiet"#]],
    );
    check(
        "0 Stop
         28801 tick
         28900 Notification notification_type=auth_success
         57800 tick",
        expect![[r#"needs_you idle "Waiting for your next prompt" · stale"#]],
    );
}

#[test]
fn after_eight_hours_a_session_is_stale_and_nothing_more() {
    check("0 Stop\n 28799 tick", expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
    check("0 Stop\n 28801 tick", expect![[r#"needs_you idle "Waiting for your next prompt" · stale"#]]);
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
fn since_runs_on_while_the_state_reads_the_same() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "1 PreToolUse tool_name=Bash tool_use_id=a
         2 PostToolUse tool_name=Bash tool_use_id=a
         3 PostToolBatch",
    );
    assert_eq!(card(&fleet, "s").agent_state.since, crate::story::at("2"));
}

#[test]
fn needs_you_sorts_by_urgency_then_recency_and_running_by_turn() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "1 Stop session_id=idle-old
         2 Stop session_id=idle-new
         3 StopFailure session_id=failed error=overloaded
         4 PermissionRequest session_id=perm tool_name=Bash
         5 UserPromptSubmit session_id=run-old prompt=a
         6 UserPromptSubmit session_id=run-new prompt=a
         7 PreToolUse session_id=run-old tool_name=Bash tool_use_id=a",
    );
    let mut cards = flightdeck_core::board::board(&fleet);
    cards.sort_by(|a, b| (a.agent_state.group, &a.rank.default).cmp(&(b.agent_state.group, &b.rank.default)));
    let order: Vec<_> = cards.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(order, ["perm", "failed", "idle-new", "idle-old", "run-new", "run-old"]);
}

#[test]
fn an_idle_session_is_checked_once_the_person_opened_it_and_not_after_its_next_change() {
    use flightdeck_core::event::{Event, SEEN};
    use flightdeck_core::record::Source;
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "1 Stop");
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Done);
    let payload = serde_json::Map::from_iter([
        ("session_id".into(), "s".into()),
        ("hook_event_name".into(), SEEN.into()),
    ]);
    let mut seen =
        crate::story::record(payload, serde_json::Map::new(), 2, crate::story::at("2"), fleet.now());
    seen.source = Source::User;
    fleet.apply(&Event::from_record(&seen));
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Checked);
    tell(&mut fleet, "3 UserPromptSubmit prompt=b\n 4 Stop");
    assert_eq!(card(&fleet, "s").fleet_status, FleetStatus::Done);
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

#[test]
fn the_time_of_a_turn_stays_frozen_until_the_next_prompt() {
    for later in ["3600 SessionEnd reason=other", "3600 Stop"] {
        let mut fleet = Fleet::new(Rules::default());
        tell(&mut fleet, &format!("0 UserPromptSubmit prompt=a\n 12 Stop\n {later}"));
        assert_eq!(card(&fleet, "s").last_turn_task_seconds, Some(12.0), "{later}");
    }
}

#[test]
fn a_start_that_lay_in_the_spool_does_not_end_who_sits_there_since() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "5 SessionStart source=clear session_id=b pid=7 proc_start=1
         6@1 SessionStart source=startup session_id=a pid=7 proc_start=1",
    );
    assert_eq!(card(&fleet, "b").replaced_by, None);
    assert_eq!(card(&fleet, "b").agent_state.state.as_str(), "idle");
}

#[test]
fn a_subagent_in_print_mode_asks_nobody_either() {
    check(
        "0 UserPromptSubmit prompt=a CLAUDE_CODE_ENTRYPOINT=sdk-cli
         1 SubagentStart agent_id=x agent_type=Explore CLAUDE_CODE_ENTRYPOINT=sdk-cli
         2 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash CLAUDE_CODE_ENTRYPOINT=sdk-cli",
        expect![[r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#]],
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
fn a_session_resumed_in_another_terminal_leaves_its_old_pane() {
    let mut fleet = Fleet::new(Rules::default());
    tell(
        &mut fleet,
        "0 SessionStart source=startup pid=7 proc_start=1 TMUX_PANE=%5
         9 SessionStart source=resume pid=8 proc_start=2",
    );
    assert_eq!(card(&fleet, "s").seat.pane, None);
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
fn looking_at_a_card_does_not_move_it_up() {
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "1 Stop");
    let before = card(&fleet, "s").rank;
    let payload = serde_json::Map::from_iter([
        ("session_id".into(), "s".into()),
        ("hook_event_name".into(), "seen".into()),
    ]);
    let mut seen =
        crate::story::record(payload, serde_json::Map::new(), 2, crate::story::at("9"), fleet.now());
    seen.source = flightdeck_core::record::Source::User;
    let _ = fleet.apply(&flightdeck_core::event::Event::from_record(&seen));
    assert_eq!(card(&fleet, "s").rank, before);
}

#[test]
fn nothing_a_terminal_would_obey_gets_onto_a_card() {
    let mut fleet = Fleet::new(Rules::default());
    tell(&mut fleet, "1 UserPromptSubmit prompt=a\u{1b}]0;x\u{7} cwd=/w/\u{1b}[31mapi TMUX_PANE=%\u{1b}[2J5");
    let json = serde_json::to_string(&card(&fleet, "s")).unwrap();
    assert!(!json.contains("\\u001b") && !json.contains('\u{1b}'), "{json}");
}
