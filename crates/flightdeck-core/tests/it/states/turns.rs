//! Starts, prompts and the end of a turn.

use expect_test::expect;
use flightdeck_core::approval::resolution::HoldEnd;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::approvals::hold_ended_record;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;

use crate::registry::tell_all;
use crate::script::{at_seconds, card, check, read, tell};

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
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "0 SessionStart source=startup\n 1 UserPromptSubmit prompt=fix~the~bug");
    let card = card(&fleet, "s");
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card));
    assert_eq!((card.turn_count, card.title.as_deref()), (1, Some("fix the bug")));
    assert_eq!(card.current_turn_started_at, Some(crate::script::at_seconds("1")));
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
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Bash tool_use_id=a prompt_id=1
         5 UserPromptSubmit prompt=b prompt_id=2",
    );
    let card = card(&fleet, "s");
    expect![[r#"running acting "Bash""#]].assert_eq(&read(&card));
    assert_eq!((card.turn_count, card.current_turn_started_at), (2, Some(crate::script::at_seconds("5"))));
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
    let mut fleet = Fleet::new(FoldSettings::default());
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
fn unknown_notices_change_nothing() {
    for kind in ["auth_success", "something_new", ""] {
        check(
            &format!("0 UserPromptSubmit prompt=a\n 1 Notification notification_type={kind}"),
            expect![[r#"running thinking "Thinking""#]],
        );
    }
}

#[test]
fn a_stop_freezes_the_turn_and_closes_everything_of_main() {
    let mut fleet = Fleet::new(FoldSettings::default());
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
fn the_time_of_a_turn_stays_frozen_until_the_next_prompt() {
    for later in ["3600 SessionEnd reason=other", "3600 Stop"] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, &format!("0 UserPromptSubmit prompt=a\n 12 Stop\n {later}"));
        assert_eq!(card(&fleet, "s").last_turn_task_seconds, Some(12.0), "{later}");
    }
}

#[test]
fn a_prompt_typed_while_a_subagent_runs_drops_neither_it_nor_its_call() {
    let script = "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Agent tool_use_id=a prompt_id=1
         2 SubagentStart agent_id=x agent_type=Explore prompt_id=1
         3 UserPromptSubmit prompt=b prompt_id=2";
    check(script, expect![[r#"running delegating "Running Explore subagent" · Explore Working "Thinking""#]]);
    // Only while a call is open is a notice of a prompt believed.
    check(
        &format!(
            "{script}
             4 SubagentStop agent_id=x agent_type=Explore prompt_id=1
             5 Notification notification_type=permission_prompt prompt_id=1"
        ),
        // The call has its agent already: the client does not ask for it again.
        expect![[r#"needs_you needs_permission "Permission needed" · Explore Done "Done""#]],
    );
}

#[test]
fn a_call_whose_agent_has_not_started_may_be_what_the_prompt_is_about() {
    check(
        "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Agent tool_use_id=a prompt_id=1
         2 SubagentStart agent_id=x agent_type=Explore prompt_id=1
         3 SubagentStop agent_id=x agent_type=Explore prompt_id=1
         4 PostToolUse tool_name=Agent tool_use_id=a prompt_id=1
         9 PreToolUse tool_name=Agent tool_use_id=b prompt_id=1
         9.1 Notification notification_type=permission_prompt prompt_id=1",
        expect![[r#"needs_you needs_permission "Permission for Agent" · Explore Done "Done""#]],
    );
}

#[test]
fn after_a_refusal_inside_a_subagent_a_prompt_drops_the_call_it_ran_in() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "0 UserPromptSubmit prompt=a prompt_id=1
         1 PreToolUse tool_name=Agent tool_use_id=a prompt_id=1
         2 SubagentStart agent_id=x agent_type=Explore prompt_id=1
         3 PermissionRequest tool_name=Bash agent_id=x agent_type=Explore prompt_id=1
         9 UserPromptSubmit prompt=b prompt_id=2",
    );
    assert!(!fleet.get(&"s".into()).unwrap().main.ledger.has_open_call());
}

#[test]
fn an_interrupted_tool_and_an_idle_notice_end_the_turns_time() {
    for (end, seconds) in [
        ("5 PostToolUseFailure tool_name=Bash tool_use_id=a is_interrupt=true", Some(5.0)),
        ("65 Notification notification_type=idle_prompt", Some(65.0)),
        ("5 PostToolUseFailure tool_name=Bash tool_use_id=a error=no", None),
        ("65@-1 Notification notification_type=idle_prompt", None),
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(
            &mut fleet,
            &format!(
                "0 UserPromptSubmit prompt=a\n 1 PreToolUse tool_name=Bash tool_use_id=a\n {end}\n 99 tick"
            ),
        );
        assert_eq!(card(&fleet, "s").last_turn_task_seconds, seconds, "{end}");
    }
}

/// A Stop hook of the person sent Claude on: its work has the prompt id of the turn that seemed to have ended.
const CONTINUED: &str = "1 UserPromptSubmit prompt=one prompt_id=a
     1.1 registry busy
     3 Stop prompt_id=a
     4 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a";

#[test]
fn a_turn_that_a_stop_hook_continued_ends_with_its_last_stop() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let end =
        "5 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a\n 6 Stop prompt_id=a stop_hook_active=true";
    tell_all(&mut fleet, &format!("{CONTINUED}\n {end}"));
    assert_eq!(card(&fleet, "s").last_turn_task_seconds, Some(5.0));
    // Also if it continued without a tool.
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "1 UserPromptSubmit prompt=one prompt_id=a\n 3 Stop prompt_id=a\n 4.5 Stop prompt_id=a stop_hook_active=true",
    );
    assert_eq!(card(&fleet, "s").last_turn_task_seconds, Some(3.5));
}

#[test]
fn an_esc_in_a_turn_that_a_stop_hook_continued_is_an_interrupt() {
    crate::registry::check(
        &format!("{CONTINUED}\n 9 registry idle"),
        expect![[r#"needs_you interrupted "You interrupted Bash""#]],
    );
    // A slow call hook of the turn does not open it again.
    crate::registry::check(
        "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
         3 Stop prompt_id=a
         3.1@3.05 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a
         3.2@3.05 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
         9 registry idle",
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn a_prompt_typed_ahead_in_a_continued_turn_waits_in_the_queue() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        &format!(
            "{CONTINUED}\n 5 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a\n 6 UserPromptSubmit prompt=two prompt_id=a"
        ),
    );
    assert_eq!((card(&fleet, "s").queued_prompts, card(&fleet, "s").turn_count), (1, 2));
}

#[test]
fn a_dialog_refused_with_feedback_continues_its_turn() {
    let refused = "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
         2.1 PermissionRequest tool_name=Bash prompt_id=a
         2.2 registry waiting:permission~prompt";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, refused);
    hold_closed(&mut fleet, "5");
    assert_eq!(read(&card(&fleet, "s")), r#"needs_you interrupted "You interrupted Bash""#);
    tell_all(
        &mut fleet,
        r#"5.2 registry busy
           5.3 PostToolBatch prompt_id=a tool_calls=[{"tool_name":"Bash","tool_use_id":"1"}]"#,
    );
    assert_eq!(read(&card(&fleet, "s")), r#"running thinking "Thinking""#);
    tell_all(&mut fleet, "9 Stop prompt_id=a");
    assert_eq!(card(&fleet, "s").last_turn_task_seconds, Some(8.0));
}

/// The client closed the held hook of the open ask.
pub(super) fn hold_closed(fleet: &mut Fleet, when: &str) {
    let ask = card(fleet, "s").asks.into_iter().find(|ask| ask.resolution.is_none()).unwrap();
    let id = EventId(u128::from(fleet.last_seq() + 1) << 64);
    let mut record = hold_ended_record(&"s".into(), &ask.id, HoldEnd::Closed, id);
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds(when), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
}

/// The client sends a scheduled prompt as if a person had typed it. The last Stop lists it, or a call has just scheduled it.
#[test]
fn a_scheduled_prompt_is_no_prompt_of_a_person() {
    let stop = |crons: &str| format!("3 Stop prompt_id=1 session_crons=[{crons}]");
    let cron = r#"{"id":"x","schedule":"*~*~*~*~*","recurring":true,"prompt":"check~the~build"}"#;
    let call = r#"2 PostToolUse tool_name=CronCreate tool_use_id=c prompt_id=1 tool_input={"cron":"*~*~*~*~*","prompt":"check~the~build"}"#;
    let fires = "60 UserPromptSubmit prompt=check~the~build prompt_id=2";
    let prompts = |script: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, &format!("1 UserPromptSubmit prompt=watch prompt_id=1\n {script}"));
        let card = card(&fleet, "s");
        (read(&card), card.turn_count, card.last_user_message.unwrap())
    };
    let by_client = (r#"running thinking "Thinking""#.to_owned(), 1, "watch".to_owned());
    assert_eq!(prompts(&format!("{}\n {fires}", stop(cron))), by_client);
    assert_eq!(prompts(&format!("{call}\n {fires}")), by_client);
    // Another text, and a schedule that was taken back.
    for typed in [
        format!("{}\n 60 UserPromptSubmit prompt=check prompt_id=2", stop(cron)),
        format!("{call}\n {}\n {fires}", stop("")),
    ] {
        assert_eq!(prompts(&typed).1, 2, "{typed}");
    }
}
