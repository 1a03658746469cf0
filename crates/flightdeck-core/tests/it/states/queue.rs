//! Prompts typed ahead: they wait in the client's queue, are absorbed by the running turn, or start a turn of their own.
//! The times and ids are those of a real client: a queued prompt has the id of the running turn, and everything queued is
//! taken out at once.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use proptest::prelude::*;

use crate::registry::{check, tell_all};
use crate::script::{card, read};

const RUNS: &str = r#"
    0 registry idle
    1 UserPromptSubmit prompt=one prompt_id=a
    1.1 registry busy
    2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a tool_input={"command":"sleep~9"}"#;

fn queued(prompts: &[&str]) -> String {
    let line = |(n, prompt): (usize, &&str)| {
        format!("\n {} UserPromptSubmit prompt={prompt} prompt_id=a", 3.0 + n as f64 * 0.5)
    };
    RUNS.to_owned() + &prompts.iter().enumerate().map(line).collect::<String>()
}

fn fleet_after(script: &str) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    fleet
}

/// Turns, the last message, and the length of the queue.
fn counts(fleet: &Fleet) -> (u32, Option<String>, u32) {
    let card = card(fleet, "s");
    (card.turn_count, card.last_user_message, card.queued_prompts)
}

#[test]
fn prompts_typed_ahead_count_although_they_have_the_id_of_the_running_turn() {
    let fleet = fleet_after(&queued(&["two", "three", "four"]));
    expect![[r#"running acting "Bash: sleep 9""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(counts(&fleet), (4, Some("four".into()), 3));
}

#[test]
fn a_prompt_typed_ahead_while_claude_writes_leaves_it_thinking() {
    let fleet = fleet_after(
        "1 UserPromptSubmit prompt=one prompt_id=a
         2 UserPromptSubmit prompt=two prompt_id=a",
    );
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(counts(&fleet), (2, Some("two".into()), 1));
}

#[test]
fn the_end_of_the_batch_absorbs_the_whole_queue_and_the_turn_ends_once() {
    let absorbed = format!(
        "{}
         8 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a
         8.1 PostToolBatch prompt_id=a",
        queued(&["two", "three"])
    );
    assert_eq!(counts(&fleet_after(&absorbed)), (3, Some("three".into()), 0));
    check(
        &format!("{absorbed}\n 9 Stop prompt_id=a\n 9.1 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn prompts_queued_while_claude_writes_start_a_turn_of_their_own_at_its_stop() {
    let script = "1 UserPromptSubmit prompt=one prompt_id=a
         2 UserPromptSubmit prompt=two prompt_id=a
         3 Stop prompt_id=a";
    let fleet = fleet_after(script);
    expect![[r#"running thinking "Thinking""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(counts(&fleet), (2, Some("two".into()), 0));
    check(
        &format!("{script}\n 3.1 registry idle\n 3.2 registry busy\n 4 Stop prompt_id=b\n 4.1 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    // The person took the queue back before: the client stays idle.
    check(
        &format!("{script}\n 3.1 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    // An Esc in that turn.
    check(
        &format!("{script}\n 3.1 registry idle\n 3.2 registry busy\n 5 registry idle"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
}

#[test]
fn after_esc_the_next_call_of_the_queued_turn_closes_the_interrupted_one() {
    let called = format!(
        "{}\n 6 PreToolUse tool_name=Read tool_use_id=2 prompt_id=b tool_input={{\"file_path\":\"x\"}}",
        queued(&["two", "three"])
    );
    let fleet = fleet_after(&called);
    expect![[r#"running acting "Read: x""#]].assert_eq(&read(&card(&fleet, "s")));
    assert_eq!(counts(&fleet), (3, Some("three".into()), 0));
    check(
        &format!("{called}\n 7 PostToolUse tool_name=Read tool_use_id=2 prompt_id=b"),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn after_esc_the_stop_of_the_queued_turn_ends_everything() {
    check(
        &format!("{}\n 6 Stop prompt_id=b\n 6.1 registry idle", queued(&["two"])),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

/// The client is idle for 50 ms, or so briefly that only the time of its entry changes.
#[test]
fn after_esc_the_registry_alone_takes_the_interrupted_call_off_the_card() {
    for between in ["6 registry idle\n 6.05 registry busy", "6.05 registry busy"] {
        let script = format!("{}\n {between}\n 6.5 tick", queued(&["two", "three"]));
        check(&script, expect![[r#"running thinking "Thinking""#]]);
        assert_eq!(counts(&fleet_after(&script)).2, 0, "{between}");
    }
}

#[test]
fn a_menu_over_running_work_with_a_queue_leaves_the_call() {
    let script = format!("{}\n 6 registry waiting:dialog~open\n 7 registry busy\n 8 tick", queued(&["two"]));
    assert_eq!(counts(&fleet_after(&script)).2, 1);
}

#[test]
fn the_first_call_after_a_brief_idle_belongs_to_another_turn() {
    check(
        &format!(
            "{}\n 6 registry idle\n 6.1 PreToolUse tool_name=Read tool_use_id=2 prompt_id=b\n 6.2 PostToolUse tool_name=Read tool_use_id=2 prompt_id=b",
            queued(&["two"])
        ),
        expect![[r#"running thinking "Thinking""#]],
    );
}

#[test]
fn the_same_prompt_queued_twice_counts_twice_and_told_by_two_hooks_once() {
    let twice = |second: f64| {
        counts(&fleet_after(&format!(
            "{RUNS}\n 3 UserPromptSubmit prompt=go prompt_id=a\n {second} UserPromptSubmit prompt=go prompt_id=a"
        )))
    };
    assert_eq!(twice(3.6), (3, Some("go".into()), 2));
    assert_eq!(twice(3.02), (2, Some("go".into()), 1));
}

#[test]
fn a_notice_of_the_client_is_not_queued() {
    let notice = "Background~agent~\"x\"~was~stopped~by~the~user.";
    let fleet = fleet_after(&format!("{RUNS}\n 3 UserPromptSubmit prompt={notice} prompt_id=c"));
    assert_eq!(counts(&fleet), (1, Some("one".into()), 0));
}

/// The first call of a batch runs while a prompt is typed ahead; the second one asks. The queue is absorbed only after the batch.
const ASKS_WITH_A_QUEUE: &str = r#"
    0 registry idle
    1 UserPromptSubmit prompt=one prompt_id=a
    1.1 registry busy
    2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a tool_input={"command":"one"}
    2.5 UserPromptSubmit prompt=two prompt_id=a
    3 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a
    3.1 PreToolUse tool_name=Bash tool_use_id=2 prompt_id=a tool_input={"command":"two"}
    3.2 PermissionRequest tool_name=Bash prompt_id=a tool_input={"command":"two"}
    3.2 registry waiting:permission~prompt"#;

/// How the only ask ended.
fn resolution(fleet: &Fleet) -> String {
    serde_json::to_string(&card(fleet, "s").asks[0].resolution.as_ref().map(|r| r.how)).unwrap()
}

#[track_caller]
fn refused_and_gone_on(script: &str) {
    let fleet = fleet_after(&format!("{script}\n 8 tick"));
    assert_eq!(read(&card(&fleet, "s")), r#"running thinking "Thinking""#, "{script}");
    assert_eq!((counts(&fleet).2, resolution(&fleet).as_str()), (0, r#""refused_in_terminal""#), "{script}");
    check(
        &format!("{script}\n 9 Stop prompt_id=b\n 9.1 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
    check(
        &format!("{script}\n 8 tick\n 9 registry idle"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
}

/// In whatever order the daemon hears of the end of the hook and of the registry's entries.
#[test]
fn after_esc_in_a_dialog_with_a_queue_the_next_turn_runs() {
    for end in [
        "6 registry idle\n 6.05 registry busy\n 6.1 hold_end closed",
        "6 registry idle\n 6.02 hold_end closed\n 6.05 registry busy",
        "6 hold_end closed\n 6.02 registry busy",
        "6 hold_end closed\n 6.02@5.99 registry busy",
        "6 hold_end closed\n 6.02 registry idle\n 6.06 registry busy",
        "6 registry busy\n 6.2 hold_end closed",
        "6 hold_end closed",
    ] {
        refused_and_gone_on(&format!("{ASKS_WITH_A_QUEUE}\n {end}"));
    }
}

#[test]
fn the_same_without_a_hold_is_seen_by_the_registry_and_by_the_marker() {
    for end in [
        "6 registry idle\n 6.05 registry busy",
        "6 registry idle\n 6.05 registry busy\n 6.4@5.99 marker a",
        // Without a short idle it looks as if the person had allowed it, until the marker is read.
        "6 registry busy\n 6.3@5.99 marker a",
        "6 registry busy\n 6.1@5.99 marker a",
    ] {
        refused_and_gone_on(&format!("{ASKS_WITH_A_QUEUE}\n {end}"));
    }
    let next = "6.1 PreToolUse tool_name=Read tool_use_id=3 prompt_id=b tool_input={\"file_path\":\"x\"}";
    for end in [
        format!("6 registry busy\n {next}"),
        format!("6 registry busy\n {next}\n 6.3@5.99 marker a"),
        format!("6 registry busy\n 6.26 tick\n 6.5@5.99 marker a\n {next}"),
        format!("6 registry busy\n 6.26 tick\n {next}\n 6.5@5.99 marker a"),
    ] {
        let fleet = fleet_after(&format!("{ASKS_WITH_A_QUEUE}\n {end}"));
        assert_eq!(read(&card(&fleet, "s")), r#"running acting "Read: x""#, "{end}");
        assert_eq!(resolution(&fleet), r#""refused_in_terminal""#, "{end}");
    }
}

/// The person took the queue back before, which no hook tells.
#[test]
fn after_esc_in_a_dialog_an_idle_client_was_interrupted_although_the_queue_seemed_full() {
    for end in ["6 registry idle\n 6.02 hold_end closed", "6 hold_end closed\n 6.02@5.99 registry idle"] {
        check(
            &format!("{ASKS_WITH_A_QUEUE}\n {end}"),
            expect![[r#"needs_you interrupted "You interrupted""#]],
        );
    }
}

/// A background agent keeps the client busy: the registry shows neither the end of a turn nor the beginning of the next one.
const BESIDE_AN_AGENT: &str = r#"
    0 registry idle
    1 UserPromptSubmit prompt=one prompt_id=a
    1.1 registry busy
    2 PreToolUse tool_name=Agent tool_use_id=1 prompt_id=a tool_input={"description":"x"}
    2.1 SubagentStart agent_id=x agent_type=Explore prompt_id=a
    2.2 PostToolUse tool_name=Agent tool_use_id=1 prompt_id=a tool_response={"isAsync":true,"agentId":"x"}
    2.3 PostToolBatch prompt_id=a tool_calls=[{"tool_use_id":"1","tool_name":"Agent"}]"#;
const CALL: &str = "3 PreToolUse tool_name=Bash tool_use_id=2 prompt_id=a tool_input={\"command\":\"sleep\"}";
const NEXT_CALL: &str =
    "6.05 PreToolUse tool_name=Bash tool_use_id=3 prompt_id=b tool_input={\"command\":\"until\"}";

#[test]
fn esc_beside_a_background_agent_begins_the_queued_turn() {
    for works in [CALL, ""] {
        let esc = format!(
            "{BESIDE_AN_AGENT}\n {works}\n 4 UserPromptSubmit prompt=two prompt_id=a\n 6.2@6 marker a"
        );
        check(&esc, expect![[r#"running thinking "Thinking" · Explore Working "Thinking""#]]);
        assert_eq!(counts(&fleet_after(&esc)).2, 0, "{works}");
        // A second Esc ends the queued turn. Its prompt has not been named by any hook, or has.
        for second in ["10.2@10 marker b", "7 PostToolBatch prompt_id=b\n 10.2@10 marker b\n 10.4@6 marker a"]
        {
            check(
                &format!("{esc}\n {second}"),
                expect![[r#"needs_you interrupted "You interrupted" · Explore Working "Thinking""#]],
            );
        }
        // The agent's end does not change that turn.
        check(
            &format!("{esc}\n 10 SubagentStop agent_id=x agent_type=Explore"),
            expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
        );
    }
}

#[test]
fn a_marker_ends_only_the_turn_that_it_names() {
    let queued = format!("{BESIDE_AN_AGENT}\n {CALL}\n 4 UserPromptSubmit prompt=two prompt_id=a");
    for script in [
        format!("{queued}\n {NEXT_CALL}\n 6.3@6.06 marker a"),
        // On a call, the client takes out its queue before it writes the marker.
        format!("{queued}\n {NEXT_CALL}\n 6.3@6.06 marker a b"),
        format!("{queued}\n 6.1@6.02 marker a b\n {}", NEXT_CALL.replace("6.05", "6.3")),
        format!(
            "{queued}\n 6.1@6.02 marker a b\n {}\n 6.5@6.02 marker a b",
            NEXT_CALL.replace("6.05", "6.3")
        ),
    ] {
        check(&script, expect![[r#"running acting "Bash: until" · Explore Working "Thinking""#]]);
        check(
            &format!("{script}\n 10.2@10 marker b"),
            expect![[r#"needs_you interrupted "You interrupted Bash" · Explore Working "Thinking""#]],
        );
    }
}

#[test]
fn a_prompt_typed_ahead_in_a_queued_turn_waits_although_no_event_has_named_that_turn() {
    let esc =
        format!("{BESIDE_AN_AGENT}\n {CALL}\n 4 UserPromptSubmit prompt=two prompt_id=a\n 6.2@6 marker a");
    let again = format!("{esc}\n 8 UserPromptSubmit prompt=three prompt_id=b");
    assert_eq!(counts(&fleet_after(&again)), (3, Some("three".into()), 1));
    let second = format!("{again}\n 10.2@10 marker b");
    check(&second, expect![[r#"running thinking "Thinking" · Explore Working "Thinking""#]]);
    assert_eq!(counts(&fleet_after(&second)).2, 0);
    check(
        &format!("{second}\n 12.2@12 marker c"),
        expect![[r#"needs_you interrupted "You interrupted" · Explore Working "Thinking""#]],
    );
}

/// What happens after a number of prompts was queued.
#[derive(Clone, Copy, Debug)]
enum Then {
    Absorbed,
    EscThenCall,
    EscThenStop,
    EscByRegistry,
}

proptest! {
    /// A queue of any length, with an Esc anywhere in it.
    #[test]
    fn a_queue_of_any_length_with_an_esc_anywhere_ends_empty(
        before in 0..6_usize,
        after in 0..6_usize,
        then in prop::sample::select(vec![Then::Absorbed, Then::EscThenCall, Then::EscThenStop, Then::EscByRegistry]),
        idle_is_seen in any::<bool>(),
    ) {
        let mut fleet = fleet_after(RUNS);
        let type_ahead = |fleet: &mut Fleet, from: f64, n: usize, id: &str| {
            for i in 0..n {
                let at = from + i as f64 * 0.5;
                tell_all(fleet, &format!("{at} UserPromptSubmit prompt=p{at} prompt_id={id}"));
            }
        };
        type_ahead(&mut fleet, 3.0, before, "a");
        prop_assert_eq!(counts(&fleet).2 as usize, before);
        prop_assert_eq!(read(&card(&fleet, "s")), r#"running acting "Bash: sleep 9""#);
        if idle_is_seen {
            tell_all(&mut fleet, "10 registry idle");
        }
        match then {
            Then::Absorbed => tell_all(&mut fleet, r#"9.9 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a
                10 PostToolBatch prompt_id=a"#),
            Then::EscThenCall => tell_all(&mut fleet, "10.1 PreToolUse tool_name=Read tool_use_id=2 prompt_id=b"),
            Then::EscThenStop => tell_all(&mut fleet, "10.1 Stop prompt_id=b"),
            Then::EscByRegistry => tell_all(&mut fleet, "10.1 registry busy\n 10.5 tick"),
        }
        prop_assert_eq!(counts(&fleet).2, 0);
        let reads = read(&card(&fleet, "s"));
        let by_registry = matches!(then, Then::EscByRegistry) && before == 0 && !idle_is_seen;
        prop_assert!(by_registry || !reads.contains("Bash"), "{:?}: {}", then, reads);
        // The next turn has a queue of its own.
        if matches!(then, Then::EscThenCall) {
            type_ahead(&mut fleet, 11.0, after, "b");
            prop_assert_eq!(counts(&fleet), (1 + (before + after) as u32, counts(&fleet).1, after as u32));
            tell_all(&mut fleet, "20 PostToolBatch prompt_id=b\n 21 Stop prompt_id=b\n 21.1 registry idle\n 22 tick");
            prop_assert_eq!(read(&card(&fleet, "s")), r#"needs_you idle "Waiting for your next prompt""#);
        }
    }
}
