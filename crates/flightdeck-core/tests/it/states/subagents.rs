//! Subagents, and what they do to their parent.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::registry::tell_all;
use crate::script::{card, check, read, tell};

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

/// The client reports an agent only when it stops with no subagents of its own.
#[test]
fn a_subagent_that_stops_before_its_own_subagents_waits_for_them() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        r#"0 UserPromptSubmit prompt=a
           1 PreToolUse tool_name=Agent tool_use_id=1
           1.1 SubagentStart agent_id=x agent_type=Plan
           1.2 PostToolUse tool_name=Agent tool_use_id=1 tool_response={"status":"async_launched","isAsync":true,"agentId":"x"}
           2 PreToolUse agent_id=x agent_type=Plan tool_name=Agent tool_use_id=2
           2.1 SubagentStart agent_id=y agent_type=Explore
           2.2 PostToolUse agent_id=x agent_type=Plan tool_name=Agent tool_use_id=2 tool_response={"status":"async_launched","isAsync":true,"agentId":"y"}
           3 Stop background_tasks=[{"id":"x","type":"subagent","status":"running"},{"id":"y","type":"subagent","status":"running"}]
           4 SubagentStop agent_id=x agent_type=Plan"#,
    );
    let waits = r#"running waiting_background "Waiting on 2 background agents" · Plan Working "Waiting on 1 background agent" · Explore Working "Thinking""#;
    assert_eq!(read(&card(&fleet, "s")), waits);
    tell_all(&mut fleet, "5 SubagentStop agent_id=y agent_type=Explore");
    let waits = r#"running waiting_background "Waiting on 1 background agent" · Plan Working "Waiting on 1 background agent" · Explore Done "Done""#;
    assert_eq!(read(&card(&fleet, "s")), waits);
    tell_all(
        &mut fleet,
        "5.1 SubagentStart agent_id=x agent_type=Plan\n 5.2 SubagentStop agent_id=x agent_type=Plan",
    );
    assert!(read(&card(&fleet, "s")).ends_with(r#"Plan Done "Done" · Explore Done "Done""#));
}

/// `x` runs `y`, which runs `z`, all in the background.
const THREE_IN_A_CHAIN: &str = r#"0 UserPromptSubmit prompt=a
    1 PreToolUse tool_name=Agent tool_use_id=1
    1.1 SubagentStart agent_id=x agent_type=Plan
    1.2 PostToolUse tool_name=Agent tool_use_id=1 tool_response={"status":"async_launched","isAsync":true,"agentId":"x"}
    1.3 SubagentStart agent_id=y agent_type=Explore
    1.4 PostToolUse agent_id=x agent_type=Plan tool_name=Agent tool_use_id=2 tool_response={"status":"async_launched","isAsync":true,"agentId":"y"}
    1.5 SubagentStart agent_id=z agent_type=Review
    1.6 PostToolUse agent_id=y agent_type=Explore tool_name=Agent tool_use_id=3 tool_response={"status":"async_launched","isAsync":true,"agentId":"z"}"#;
const ONLY_Z_IS_LISTED: &str = r#"Stop background_tasks=[{"id":"z","type":"subagent","status":"running"}]"#;

/// The state on the card after these events, the number of agents that it waits for, and each subagent's state.
fn waits_after(script: &str) -> (String, u32, Vec<String>) {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    let card = card(&fleet, "s");
    let labels = card.sub_agents.iter().map(|agent| agent.label.clone()).collect();
    (card.agent_state.label, card.background.agents, labels)
}

/// A Stop does not list an agent that has ended its turn and waits for an agent of its own. The client's screen counts it.
#[test]
fn a_stop_spares_the_agents_that_wait_for_an_agent_which_it_lists() {
    let stopped = format!(
        "{THREE_IN_A_CHAIN}
         2 SubagentStop agent_id=y agent_type=Explore
         2.1 SubagentStop agent_id=x agent_type=Plan
         3 {ONLY_Z_IS_LISTED}"
    );
    let one = "Waiting on 1 background agent";
    let (label, agents, labels) = waits_after(&stopped);
    assert_eq!((label.as_str(), agents), ("Waiting on 3 background agents", 3));
    assert_eq!(labels, [one, one, "Thinking"]);
    let went_on =
        "4 SubagentStop agent_id=z agent_type=Review\n 4.1 SubagentStart agent_id=y agent_type=Explore";
    let (label, agents, labels) = waits_after(&format!("{stopped}\n {went_on}"));
    assert_eq!((label.as_str(), agents), ("Waiting on 2 background agents", 2));
    assert_eq!(labels, [one, "Thinking", "Done"]);
}

/// The hooks of both are processes of their own, so either may arrive first.
#[test]
fn an_agent_that_starts_after_the_end_of_its_call_is_known_to_work_for_its_starter() {
    let launched = r#"1.2 PostToolUse agent_id=x agent_type=Plan tool_name=Agent tool_use_id=2 tool_response={"status":"async_launched","isAsync":true,"agentId":"y"}"#;
    let starts = "1.3 SubagentStart agent_id=y agent_type=Explore";
    let stops = "1.4 SubagentStop agent_id=x agent_type=Plan";
    let orders: [&[&str]; 4] = [
        &[starts, launched, stops],
        &[launched, starts, stops],
        &[launched, stops, starts],
        &[launched, launched, starts, stops],
    ];
    for order in orders {
        let (.., labels) = waits_after(&format!(
            "0 UserPromptSubmit prompt=a\n 1 SubagentStart agent_id=x agent_type=Plan\n {}",
            order.join("\n")
        ));
        assert_eq!(labels, ["Waiting on 1 background agent", "Thinking"], "{order:?}");
    }
    let twice = format!(
        "0 UserPromptSubmit prompt=a\n 1 SubagentStart agent_id=x agent_type=Plan\n {launched}\n {launched}\n {starts}
         1.35 SubagentStop agent_id=y agent_type=Explore\n {stops}"
    );
    assert_eq!(waits_after(&twice).2, ["Done", "Done"]);
}

#[test]
fn a_stop_spares_no_agent_that_works_or_whose_own_agents_are_over() {
    let (label, agents, labels) = waits_after(&format!("{THREE_IN_A_CHAIN}\n 3 {ONLY_Z_IS_LISTED}"));
    assert_eq!((label.as_str(), agents), ("Waiting on 1 background agent", 1));
    assert_eq!(labels, ["Done", "Done", "Thinking"]);
    let (_, agents, labels) = waits_after(&format!(
        "{THREE_IN_A_CHAIN}\n 2 SubagentStop agent_id=y agent_type=Explore\n 3 Stop background_tasks=[]"
    ));
    assert_eq!((agents, labels), (0, vec!["Done".to_owned(); 3]));
}

#[test]
fn a_subagent_that_starts_after_the_turn_is_one_more_to_wait_for() {
    let script = r#"0 UserPromptSubmit prompt=a
         1 SubagentStart agent_id=x agent_type=Plan
         2 Stop background_tasks=[{"id":"x","type":"subagent","status":"running"}]"#;
    let waits_for = |more: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{script}\n {more}"));
        let card = card(&fleet, "s");
        (card.agent_state.label, card.background.agents)
    };
    let two = ("Waiting on 2 background agents".to_owned(), 2);
    assert_eq!(waits_for("3 SubagentStart agent_id=y agent_type=Explore"), two);
    // The start of the same one again, and a start that arrives after the Stop that names it, are no second one.
    let one = ("Waiting on 1 background agent".to_owned(), 1);
    assert_eq!(waits_for("3 SubagentStart agent_id=x agent_type=Plan"), one);
    let ended =
        "3 SubagentStart agent_id=y agent_type=Explore\n 4 SubagentStop agent_id=y agent_type=Explore";
    assert_eq!(waits_for(ended), one);
}

/// The client summarises a conversation with a helper, which fails without a start and without a type.
#[test]
fn a_compaction_that_fails_leaves_no_failed_subagent() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
         1 Stop
         2 PreCompact trigger=manual
         2.1 registry busy
         3 StopFailure agent_id=x error=unknown
         3 registry idle
         4 tick",
    );
    assert_eq!(read(&card(&fleet, "s")), r#"needs_you idle "Waiting for your next prompt""#);
    // A subagent has a type, also if its start was lost.
    tell_all(
        &mut fleet,
        "5 UserPromptSubmit prompt=b\n 6 StopFailure agent_id=y agent_type=Explore error=unknown",
    );
    assert_eq!(
        read(&card(&fleet, "s")),
        r#"running thinking "Thinking" · Explore Failed "Explore failed: unknown""#
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
            r#"running waiting_background "Waiting on 2 background agents" · Explore Working "Thinking" · Plan Working "Thinking""#
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

/// The turn waits for a foreground agent, which waits for an agent of its own. A background agent works beside them.
const AWAITED: &str = r#"0 registry idle
    1 UserPromptSubmit prompt=one prompt_id=a
    1.1 registry busy
    2 PreToolUse tool_name=Agent tool_use_id=1 prompt_id=a tool_input={"description":"bg"}
    2.1 SubagentStart agent_id=b agent_type=Explore prompt_id=a
    2.2 PostToolUse tool_name=Agent tool_use_id=1 prompt_id=a tool_response={"isAsync":true,"agentId":"b"}
    2.3 PreToolUse tool_name=Agent tool_use_id=2 prompt_id=a tool_input={"description":"fg"}
    2.4 SubagentStart agent_id=f agent_type=Plan prompt_id=a
    2.5 PreToolUse agent_id=f agent_type=Plan tool_name=Agent tool_use_id=3 prompt_id=a tool_input={"description":"n"}
    2.6 SubagentStart agent_id=n agent_type=Verify prompt_id=a"#;

#[test]
fn an_agent_that_a_turn_waits_for_ends_when_the_turn_is_cut_off() {
    let queued = format!("{AWAITED}\n 4 UserPromptSubmit prompt=two prompt_id=a");
    let next_call = "6.1 PreToolUse tool_name=Bash tool_use_id=9 prompt_id=b";
    let over = r#"Explore Working "Thinking" · Plan Done "Done" · Verify Done "Done""#;
    for (script, main) in [
        (format!("{AWAITED}\n 6.2@6 marker a"), r#"needs_you interrupted "You interrupted""#),
        (format!("{queued}\n 6.2@6 marker a"), r#"running thinking "Thinking""#),
        (
            format!("{queued}\n 6 registry idle\n 6.05 registry busy\n 7 tick"),
            r#"running thinking "Thinking""#,
        ),
        (format!("{queued}\n 6.05 registry busy\n 7 tick"), r#"running thinking "Thinking""#),
        (format!("{queued}\n {next_call}"), r#"running acting "Bash""#),
        (format!("{queued}\n {next_call}\n 6.5@6.2 marker a"), r#"running acting "Bash""#),
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &script);
        assert_eq!(read(&card(&fleet, "s")), format!("{main} · {over}"), "{script}");
    }
}

#[test]
fn a_turn_that_goes_on_leaves_its_agents_running() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, &format!("{AWAITED}\n 4 UserPromptSubmit prompt=two prompt_id=a\n 8 tick"));
    assert!(read(&card(&fleet, "s")).contains(r#"Plan Working"#), "typed ahead, and nothing was cut off");
}

const TWO_IN_BACKGROUND: &str = r#"0 registry idle
    1 UserPromptSubmit prompt=one prompt_id=a
    1.1 registry busy
    2 SubagentStart agent_id=x agent_type=Explore prompt_id=a
    2.1 SubagentStart agent_id=y agent_type=Plan prompt_id=a
    3 Stop prompt_id=a background_tasks=[{"id":"x","type":"subagent","status":"running"},{"id":"y","type":"subagent","status":"running"}]"#;
const X_IS_STOPPED: &str = r#"5 UserPromptSubmit prompt=<task-notification>~x~killed prompt_id=b
    6 Stop prompt_id=b background_tasks=[{"id":"y","type":"subagent","status":"running"}]"#;

/// The person stopped it in `/tasks`: no SubagentStop is fired.
#[test]
fn a_background_agent_that_the_next_stop_does_not_list_has_ended() {
    crate::registry::check(
        &format!("{TWO_IN_BACKGROUND}\n {X_IS_STOPPED}"),
        expect![[
            r#"running waiting_background "Waiting on 1 background agent" · Explore Done "Done" · Plan Working "Thinking""#
        ]],
    );
    // An agent that started after the list was written, and a list without ids or none at all, say nothing.
    let working = r#"Explore Working "Thinking" · Plan Working "Thinking""#;
    for stop in [
        r#"6 Stop prompt_id=b background_tasks=[{"type":"subagent","status":"running"}]"#,
        "6 Stop prompt_id=b",
        r#"6@2.05 Stop prompt_id=b background_tasks=[]"#,
        r#"6 SubagentStop agent_id=z agent_type=Explore background_tasks=[{"id":"z","type":"subagent","status":"running"}]"#,
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{TWO_IN_BACKGROUND}\n {stop}"));
        assert!(read(&card(&fleet, "s")).ends_with(working), "{stop}: {}", read(&card(&fleet, "s")));
    }
}

fn outcome_of_first_ask(script: &str) -> String {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    serde_json::to_string(&card(&fleet, "s").asks[0].resolution.as_ref().map(|r| r.how)).unwrap()
}

const X_ASKS: &str = r#"3.5 PreToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=9 prompt_id=a
    3.6 PermissionRequest agent_id=x agent_type=Explore tool_name=Bash prompt_id=a"#;

#[test]
fn an_agent_that_ends_while_it_asks_was_not_answered() {
    for end in [
        "4 StopFailure agent_id=x agent_type=Explore error=server_error".to_owned(),
        X_IS_STOPPED.replace("5 UserPromptSubmit prompt=<task-notification>~x~killed prompt_id=b", ""),
    ] {
        assert_eq!(
            outcome_of_first_ask(&format!("{TWO_IN_BACKGROUND}\n {X_ASKS}\n {end}")),
            r#""agent_ended""#,
            "{end}"
        );
    }
}

#[test]
fn when_the_last_background_agent_has_ended_none_is_waited_for() {
    let failed = "4 StopFailure agent_id=x agent_type=Explore error=server_error
        4.1 StopFailure agent_id=y agent_type=Plan error=rate_limit";
    let ended = "4 SubagentStop agent_id=x agent_type=Explore\n 4.1 SubagentStop agent_id=y agent_type=Plan";
    for end in [failed, ended] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{TWO_IN_BACKGROUND}\n {end}"));
        let card = card(&fleet, "s");
        assert_eq!(card.agent_state.label, "Background agents have ended", "{end}");
        assert_eq!(card.background.agents, 0);
    }
    crate::registry::check(
        &format!("{TWO_IN_BACKGROUND}\n {ended}\n 5 registry idle"),
        expect![[
            r#"needs_you idle "Waiting for your next prompt" · Explore Done "Done" · Plan Done "Done""#
        ]],
    );
}

/// The client sends it six seconds after it asked, or later, and does not name the agent.
#[test]
fn a_late_notice_of_a_request_that_was_answered_opens_nothing() {
    let answered = format!(
        "{TWO_IN_BACKGROUND}\n {X_ASKS}\n 9.7 PostToolUse agent_id=x agent_type=Explore tool_name=Bash tool_use_id=9"
    );
    let waits = expect![[
        r#"running waiting_background "Waiting on 2 background agents" · Explore Working "Thinking" · Plan Working "Thinking""#
    ]];
    crate::registry::check(
        &format!("{answered}\n 9.8 Notification notification_type=permission_prompt"),
        waits,
    );
    let own = "1 UserPromptSubmit prompt=one prompt_id=a
        1.1 registry busy
        2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
        2.1 PermissionRequest tool_name=Bash prompt_id=a
        2.1 registry waiting:permission~prompt
        8.1 registry busy";
    crate::registry::check(
        &format!("{own}\n 8.6 Notification notification_type=permission_prompt"),
        expect![[r#"running acting "Bash""#]],
    );
    // Much later it is about another request.
    crate::registry::check(
        &format!("{own}\n 30 Notification notification_type=permission_prompt"),
        expect![[r#"needs_you needs_permission "Permission for Bash""#]],
    );
}
