//! What each fact does to the assignment of a session: a row of the agreement a test.

use expect_test::{Expect, expect};
use flightdeck_core::approval::answer::{Answer, Decision};
use flightdeck_core::approval::resolution::AnsweredBy;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::approvals::answered_record;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;

use crate::registry::tell_all;
use crate::script::{at_seconds, card, tell};

const ASKS: &str = "Stop last_assistant_message=I~read~both.~Should~I~keep~`a.rs`~or~`b.rs`?";
const DONE: &str = "Stop last_assistant_message=Fixed.~All~tests~pass.";
const READ: &str = "PreToolUse tool_name=Read tool_use_id=r";
const BASH: &str = "tool_name=Bash tool_input={\"command\":\"make\"} tool_use_id=b";

fn fleet(script: &str) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    fleet
}

/// `awaiting_input asked "fix it" 2 turns · worked 5 waited 7`, as of `now`.
fn told_at(fleet: &Fleet, id: &str, now: Timestamp) -> String {
    let Some(a) = fleet.get(&id.into()).and_then(|session| session.assignment()) else {
        return "none".to_owned();
    };
    let reason = a.reason.map(|reason| format!(" {}", reason.as_str())).unwrap_or_default();
    let outcome = a.outcome.map(|outcome| format!(" {}", outcome.as_str())).unwrap_or_default();
    let inferred = if a.inferred { " inferred" } else { "" };
    let (worked, waited) = (a.worked_until(now).as_seconds(), a.waited_until(now).as_seconds());
    let state = a.state.as_str();
    format!(
        "{state}{reason}{outcome}{inferred} {:?} {} turns · worked {worked} waited {waited}",
        a.title, a.turns
    )
}

fn assignment_text(fleet: &Fleet) -> String {
    told_at(fleet, "s", fleet.now())
}

/// Plays the script, lets half a second pass, and compares the assignment of session `s`.
#[track_caller]
fn check(script: &str, expect: Expect) {
    let mut fleet = fleet(script);
    let last = fleet.now();
    let _ = fleet.tick(last + flightdeck_core::time::Millis(500));
    expect.assert_eq(&told_at(&fleet, "s", last));
}

/// Actor, intent and text of each message.
fn messages(fleet: &Fleet) -> Vec<String> {
    let assignment = fleet.get(&"s".into()).unwrap().assignment().unwrap();
    let message = |m: &flightdeck_core::assignment::AssignmentMessage| {
        format!("{:?} {}: {}", m.actor, m.intent.as_str(), m.text)
    };
    assignment.messages.iter().map(message).collect()
}

#[test]
fn a_prompt_opens_it_and_the_first_work_begins_it() {
    let prompt = "0 UserPromptSubmit prompt=fix~it";
    check(prompt, expect![[r#"commanded "fix it" 1 turns · worked 0 waited 0"#]]);
    for work in [
        format!("2 {READ}"),
        "2 registry busy".to_owned(),
        "2 SubagentStart agent_id=x agent_type=Explore".to_owned(),
    ] {
        check(&format!("{prompt}\n{work}"), expect![[r#"processing "fix it" 1 turns · worked 2 waited 0"#]]);
    }
    // A word of the registry from before the prompt is no work on it.
    check(
        &format!("{prompt}\n 2@-1 registry idle"),
        expect![[r#"commanded "fix it" 1 turns · worked 2 waited 0"#]],
    );
}

#[test]
fn tools_of_a_subagent_are_no_progress() {
    check(
        "0 UserPromptSubmit prompt=fix~it\n 1 PreToolUse agent_id=x agent_type=Explore tool_name=Read tool_use_id=r",
        expect![[r#"commanded "fix it" 1 turns · worked 1 waited 0"#]],
    );
}

#[test]
fn the_last_message_decides_at_the_end_of_a_turn() {
    let turn = "0 UserPromptSubmit prompt=fix~it";
    check(
        &format!("{turn}\n 5 {DONE}"),
        expect![[r#"complete completed "fix it" 1 turns · worked 5 waited 0"#]],
    );
    check(
        &format!("{turn}\n 5 {ASKS}\n 12 tick"),
        expect![[r#"awaiting_input asked "fix it" 1 turns · worked 5 waited 7"#]],
    );
    let unclear = fleet(&format!("{turn}\n 5 Stop last_assistant_message=The~port~is~8080."));
    expect![[r#"complete completed "fix it" 1 turns · worked 5 waited 0"#]]
        .assert_eq(&assignment_text(&unclear));
    let last = unclear.get(&"s".into()).unwrap().assignment().unwrap().last_intent.clone().unwrap();
    assert!(last.confidence < 0.5, "{last:?}");
    check(
        &format!("{turn}\n 5 Stop"),
        expect![[r#"complete completed "fix it" 1 turns · worked 5 waited 0"#]],
    );
}

#[test]
fn a_prompt_after_completion_opens_another() {
    let fleet = fleet(&format!("0 UserPromptSubmit prompt=a\n 1 {DONE}\n 9 UserPromptSubmit prompt=b"));
    expect![[r#"commanded "b" 1 turns · worked 0 waited 0"#]].assert_eq(&assignment_text(&fleet));
    assert_eq!(fleet.get(&"s".into()).unwrap().assignment().unwrap().id, format!("a-{:032x}", 3));
}

#[test]
fn a_prompt_while_commanded_joins_it() {
    let fleet = fleet("0 UserPromptSubmit prompt=a\n 1 UserPromptSubmit prompt=b");
    expect![[r#"commanded "a" 2 turns · worked 1 waited 0"#]].assert_eq(&assignment_text(&fleet));
    assert_eq!(messages(&fleet), ["User command: a", "User command: b"]);
}

#[test]
fn two_prompts_typed_ahead_stay_in_it() {
    let turn = format!(
        "0 UserPromptSubmit prompt=a prompt_id=p\n 1 {READ} prompt_id=p
         2 UserPromptSubmit prompt=b prompt_id=p\n 3 UserPromptSubmit prompt=c prompt_id=p"
    );
    check(&turn, expect![[r#"processing "a" 3 turns · worked 3 waited 0"#]]);
    // Typed after the last call: the client goes on with its queue, and no hook says so.
    let goes_on = format!("{turn}\n 4 {DONE} prompt_id=p");
    check(&goes_on, expect![[r#"processing "a" 3 turns · worked 4 waited 0"#]]);
    check(
        &format!("{goes_on}\n 6 {DONE} prompt_id=q"),
        expect![[r#"complete completed "a" 3 turns · worked 6 waited 0"#]],
    );
    // Absorbed by the running turn.
    check(
        &format!(
            "{turn}\n 4 PostToolBatch prompt_id=p tool_calls=[{{\"tool_name\":\"Read\",\"tool_use_id\":\"r\"}}]
             5 {DONE} prompt_id=p"
        ),
        expect![[r#"complete completed "a" 3 turns · worked 5 waited 0"#]],
    );
}

#[test]
fn a_prompt_while_it_awaits_is_the_answer() {
    let fleet = fleet(&format!(
        "0 UserPromptSubmit prompt=a\n 2 {ASKS}\n 7 UserPromptSubmit prompt=keep~a.rs\n 9 {DONE}"
    ));
    expect![[r#"complete completed "a" 2 turns · worked 4 waited 5"#]].assert_eq(&assignment_text(&fleet));
    assert_eq!(
        messages(&fleet),
        [
            "User command: a",
            "Agent question: I read both. Should I keep `a.rs` or `b.rs`?",
            "User answer: keep a.rs",
            "Agent completion: Fixed. All tests pass."
        ]
    );
}

#[test]
fn a_permission_makes_it_wait_until_the_call_goes_on() {
    let asks = format!("0 UserPromptSubmit prompt=a\n 1 PreToolUse {BASH}\n 1 PermissionRequest {BASH}");
    check(&asks, expect![[r#"awaiting_input permission "a" 1 turns · worked 1 waited 0"#]]);
    check(
        &format!("{asks}\n 8 PostToolUse {BASH}"),
        expect![[r#"processing "a" 1 turns · worked 1 waited 7"#]],
    );
}

#[test]
fn a_denied_call_without_a_post_tool_use_moves_it_by_the_end_of_the_batch() {
    let fleet = fleet(&format!(
        "0 UserPromptSubmit prompt=a\n 1 PreToolUse {BASH}\n 1 PermissionRequest {BASH}
         6 PostToolBatch tool_calls=[{{\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"make\"}},\"tool_use_id\":\"b\"}}]"
    ));
    expect![[r#"processing "a" 1 turns · worked 1 waited 5"#]].assert_eq(&assignment_text(&fleet));
    assert_eq!(
        messages(&fleet)[1..],
        ["Agent question: Permission for Bash: make", "User answer: answered in terminal"]
    );
}

#[test]
fn every_kind_of_need_is_its_reason() {
    let prompt = "0 UserPromptSubmit prompt=a";
    check(
        &format!(
            "{prompt}\n 1 PreToolUse tool_name=AskUserQuestion tool_use_id=q tool_input={{\"questions\":[{{\"question\":\"Which?\"}}]}}"
        ),
        expect![[r#"awaiting_input question "a" 1 turns · worked 1 waited 0"#]],
    );
    check(
        &format!(
            "{prompt}\n 1 PreToolUse tool_name=ExitPlanMode tool_use_id=q tool_input={{\"plan\":\"x\"}}"
        ),
        expect![[r#"awaiting_input plan "a" 1 turns · worked 1 waited 0"#]],
    );
    let form =
        format!("{prompt}\n 1 PreToolUse tool_name=mcp__x__y tool_use_id=q\n 2 Elicitation message=Who?");
    check(&form, expect![[r#"awaiting_input elicitation "a" 1 turns · worked 2 waited 0"#]]);
    check(
        &format!("{form}\n 5 ElicitationResult"),
        expect![[r#"processing "a" 1 turns · worked 2 waited 3"#]],
    );
}

#[test]
fn an_approved_plan_goes_on_in_the_same_assignment() {
    let plan = "tool_name=ExitPlanMode tool_use_id=q tool_input={\"plan\":\"x\"}";
    check(
        &format!(
            "0 UserPromptSubmit prompt=a\n 2 PreToolUse {plan}\n 2 PermissionRequest {plan}\n 12 PostToolUse {plan}\n 15 {DONE}"
        ),
        expect![[r#"complete completed "a" 1 turns · worked 5 waited 10"#]],
    );
}

#[test]
fn the_registry_alone_may_say_that_it_waits() {
    let script =
        "0 UserPromptSubmit prompt=a\n 1 registry busy\n 5 registry waiting:permission~prompt\n 6 tick";
    check(script, expect![[r#"awaiting_input permission "a" 1 turns · worked 5 waited 1"#]]);
    check(
        &format!("{script}\n 9 registry busy\n 10 tick"),
        expect![[r#"processing "a" 1 turns · worked 6 waited 4"#]],
    );
}

#[test]
fn a_permission_of_a_subagent_counts_also_after_the_main_stop() {
    let child = "agent_id=x agent_type=Explore";
    let background = "background_tasks=[{\"id\":\"x\",\"type\":\"subagent\",\"status\":\"running\",\"agent_type\":\"Explore\"}]";
    let script = format!(
        "0 UserPromptSubmit prompt=a\n 1 SubagentStart {child}\n 2 {DONE} {background}
         4 PreToolUse {child} {BASH}\n 4 PermissionRequest {child} {BASH}"
    );
    let asking = fleet(&script);
    expect![[r#"awaiting_input permission "a" 1 turns · worked 4 waited 0"#]]
        .assert_eq(&assignment_text(&asking));
    let mut answered = asking;
    tell(&mut answered, &format!("9 PostToolUse {child} {BASH}"));
    expect![[r#"processing "a" 1 turns · worked 4 waited 5"#]].assert_eq(&assignment_text(&answered));
    tell(
        &mut answered,
        &format!(
            "10 SubagentStop {child}\n 11 UserPromptSubmit prompt=<task-notification>done</task-notification>\n 12 {DONE}"
        ),
    );
    expect![[r#"complete completed "a" 1 turns · worked 7 waited 5"#]].assert_eq(&assignment_text(&answered));
}

#[test]
fn an_answer_on_the_board_moves_it() {
    for (decision, reads) in [
        (Decision::Allow, r#"processing "a" 1 turns · worked 1 waited 2"#),
        (Decision::Deny, r#"processing "a" 1 turns · worked 1 waited 2"#),
    ] {
        let mut fleet =
            fleet(&format!("0 UserPromptSubmit prompt=a\n 1 PreToolUse {BASH}\n 1 PermissionRequest {BASH}"));
        let ask = card(&fleet, "s").asks[0].id.clone();
        let answer = Answer::without_details(decision, AnsweredBy::Web);
        let mut record = answered_record(&"s".into(), &ask, &answer, EventId(99));
        record.seq = fleet.last_seq() + 1;
        from_hook::stamp(&mut record, at_seconds("3"), fleet.now());
        let _ = fleet.apply(&Event::from_record(&record));
        assert_eq!(assignment_text(&fleet), reads, "{decision:?}");
        let words = if decision == Decision::Allow { "allowed" } else { "denied" };
        assert_eq!(messages(&fleet).last().unwrap(), &format!("User answer: {words}"));
    }
}

#[test]
fn parallel_calls_with_one_waiting_wait_until_the_last_need_closes() {
    let two = "tool_name=Bash tool_input={\"command\":\"ls\"} tool_use_id=c";
    let script = format!(
        "0 UserPromptSubmit prompt=a\n 1 PreToolUse {BASH}\n 1 PreToolUse {two}\n 1 PermissionRequest {BASH}
         2 PermissionRequest {two}\n 5 PostToolUse {BASH}"
    );
    check(&script, expect![[r#"awaiting_input permission "a" 1 turns · worked 1 waited 4"#]]);
    check(
        &format!("{script}\n 8 PostToolUse {two}"),
        expect![[r#"processing "a" 1 turns · worked 1 waited 7"#]],
    );
}

#[test]
fn a_stop_while_a_question_is_open_closes_the_question_first() {
    let question = "PreToolUse tool_name=AskUserQuestion tool_use_id=q";
    check(
        &format!("0 UserPromptSubmit prompt=a\n 1 {question}\n 4 {DONE}"),
        expect![[r#"complete completed "a" 1 turns · worked 1 waited 3"#]],
    );
    check(
        &format!("0 UserPromptSubmit prompt=a\n 1 {question}\n 4 {ASKS}\n 6 tick"),
        expect![[r#"awaiting_input asked "a" 1 turns · worked 1 waited 5"#]],
    );
}

#[test]
fn a_failure_and_an_interrupt_wait_for_the_person() {
    let turn = format!("0 UserPromptSubmit prompt=a prompt_id=p\n 1 {READ} prompt_id=p");
    check(
        &format!("{turn}\n 3 StopFailure error=rate_limit\n 5 tick"),
        expect![[r#"awaiting_input failed "a" 1 turns · worked 3 waited 2"#]],
    );
    let interrupted = format!("{turn}\n 2 registry busy\n 4 registry idle\n 6 tick");
    check(&interrupted, expect![[r#"awaiting_input interrupted "a" 1 turns · worked 4 waited 2"#]]);
    check(
        &format!("{interrupted}\n 9 UserPromptSubmit prompt=b prompt_id=q\n 10 {DONE} prompt_id=q"),
        expect![[r#"complete completed "a" 2 turns · worked 5 waited 5"#]],
    );
}

#[test]
fn an_interrupt_at_a_request_changes_only_the_reason() {
    check(
        &format!(
            "0 UserPromptSubmit prompt=a\n 1 PreToolUse {BASH}\n 1 PermissionRequest {BASH}\n 1.1 registry waiting:permission~prompt\n 4 registry idle\n 6 tick"
        ),
        expect![[r#"awaiting_input interrupted "a" 1 turns · worked 1 waited 5"#]],
    );
}

#[test]
fn running_background_agents_keep_it_at_work() {
    let background = "background_tasks=[{\"id\":\"x\",\"type\":\"subagent\",\"status\":\"running\",\"agent_type\":\"Explore\"}]";
    let script = format!(
        "0 UserPromptSubmit prompt=a\n 1 SubagentStart agent_id=x agent_type=Explore\n 3 {DONE} {background}"
    );
    check(&script, expect![[r#"processing "a" 1 turns · worked 3 waited 0"#]]);
    check(
        &format!("{script}\n 8 SubagentStop agent_id=x agent_type=Explore\n 9 registry idle\n 10 tick"),
        expect![[r#"complete completed "a" 1 turns · worked 9 waited 0"#]],
    );
}

#[test]
fn a_notice_of_the_client_is_neither_command_nor_answer() {
    check(
        "0 UserPromptSubmit prompt=<task-notification>x</task-notification>\n 1 PreToolUse tool_name=Read tool_use_id=r",
        expect![["none"]],
    );
    let notice = "UserPromptSubmit prompt=<system-reminder>x</system-reminder> prompt_id=n";
    let mut woken = fleet(&format!("0 UserPromptSubmit prompt=a prompt_id=p\n 2 {ASKS} prompt_id=p"));
    let record = crate::script::record(
        serde_json::from_value(serde_json::json!({
            "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt_id": "n",
            "prompt": "<system-reminder>x</system-reminder>",
        }))
        .unwrap(),
        serde_json::Map::new(),
        9,
        at_seconds("5"),
        woken.now(),
    );
    let refused = woken.apply(&Event::from_record(&record)).into_iter().find_map(|effect| match effect {
        Effect::StepRefused(_, step) => Some(step.reason.to_string()),
        _ => None,
    });
    assert_eq!(
        refused.as_deref(),
        Some("the agent waits for an answer, so it does not continue without one")
    );
    expect![[r#"awaiting_input asked "a" 1 turns · worked 2 waited 3"#]].assert_eq(&assignment_text(&woken));
    // The woken turn may say that the work is done, ask again, or neither.
    let woken = format!(
        "0 UserPromptSubmit prompt=a prompt_id=p\n 2 {ASKS} prompt_id=p\n 5 {notice}\n 6 {READ} prompt_id=n"
    );
    check(
        &format!("{woken}\n 8 {DONE} prompt_id=n"),
        expect![[r#"complete completed "a" 1 turns · worked 2 waited 6"#]],
    );
    for open in [ASKS, "Stop last_assistant_message=The~port~is~8080."] {
        check(
            &format!("{woken}\n 8 {open} prompt_id=n"),
            expect![[r#"awaiting_input asked "a" 1 turns · worked 2 waited 6"#]],
        );
    }
}

#[test]
fn hooks_that_were_installed_during_a_turn_infer_it() {
    let mid_turn = format!("0 {READ} prompt_id=p");
    check(&mid_turn, expect![[r#"processing inferred "" 1 turns · worked 0 waited 0"#]]);
    check(
        &format!("{mid_turn}\n 2 UserPromptSubmit prompt=b prompt_id=p"),
        expect![[r#"processing inferred "b" 1 turns · worked 2 waited 0"#]],
    );
    check(
        &format!("{mid_turn}\n 2 {DONE} prompt_id=p\n 3 UserPromptSubmit prompt=b prompt_id=q"),
        expect![[r#"commanded "b" 1 turns · worked 0 waited 0"#]],
    );
    // A prompt of the next turn answers; it is not what was asked first.
    check(
        &format!("{mid_turn}\n 2 {ASKS} prompt_id=p\n 3 UserPromptSubmit prompt=b prompt_id=q"),
        expect![[r#"processing inferred "" 2 turns · worked 2 waited 1"#]],
    );
    check("0 Stop\n 1 registry busy\n 2 tick", expect![["none"]]);
}

#[test]
fn a_prompt_that_arrives_after_its_first_call_is_the_command() {
    check(
        &format!("1 {READ} prompt_id=p\n 1.2@0.5 UserPromptSubmit prompt=a prompt_id=p"),
        expect![[r#"processing "a" 1 turns · worked 0.7 waited 0"#]],
    );
}

#[test]
fn work_after_a_stop_hook_sent_claude_on_is_no_second_assignment() {
    check(
        &format!(
            "0 UserPromptSubmit prompt=a prompt_id=p\n 2 {DONE} prompt_id=p\n 3 {READ} prompt_id=p\n 5 {DONE} prompt_id=p"
        ),
        expect![[r#"complete completed "a" 1 turns · worked 2 waited 0"#]],
    );
}

#[test]
fn the_end_of_the_session_completes_it() {
    let asking = format!(
        "0 SessionStart source=startup pid=7 proc_start=1\n 1 UserPromptSubmit prompt=a pid=7 proc_start=1\n 3 {ASKS} pid=7 proc_start=1"
    );
    check(
        &format!("{asking}\n 8 SessionEnd reason=prompt_input_exit"),
        expect![[r#"complete ended "a" 1 turns · worked 2 waited 5"#]],
    );
    check(&format!("{asking}\n 8 gone 7@1"), expect![[r#"complete died "a" 1 turns · worked 2 waited 5"#]]);
    // A SessionStart without an end before it: the client began anew.
    check(
        &format!("{asking}\n 8 SessionStart source=resume pid=7 proc_start=1"),
        expect![[r#"complete ended "a" 1 turns · worked 2 waited 5"#]],
    );
    check(
        &format!(
            "{asking}\n 4 SessionEnd reason=other\n 5 SessionStart source=resume pid=7 proc_start=1\n 6 UserPromptSubmit prompt=b pid=7 proc_start=1"
        ),
        expect![[r#"commanded "b" 1 turns · worked 0 waited 0"#]],
    );
}

#[test]
fn clear_ends_it_and_the_next_session_begins_with_none() {
    let fleet = fleet(
        "0 SessionStart source=startup pid=7 proc_start=1\n 1 UserPromptSubmit prompt=a pid=7 proc_start=1
         5 SessionStart source=clear session_id=t pid=7 proc_start=1",
    );
    expect![[r#"complete ended "a" 1 turns · worked 4 waited 0"#]].assert_eq(&assignment_text(&fleet));
    assert_eq!(told_at(&fleet, "t", fleet.now()), "none");
}

#[test]
fn a_compaction_changes_nothing() {
    let compaction = "PreCompact trigger=auto\n 5 SessionStart source=compact\n 6 PostCompact trigger=auto";
    check(
        &format!("0 UserPromptSubmit prompt=a\n 1 {READ}\n 4 {compaction}"),
        expect![[r#"processing "a" 1 turns · worked 6 waited 0"#]],
    );
    check(
        &format!("0 UserPromptSubmit prompt=a\n 1 {ASKS}\n 4 {compaction}"),
        expect![[r#"awaiting_input asked "a" 1 turns · worked 1 waited 5"#]],
    );
}

#[test]
fn a_fork_has_assignments_of_its_own() {
    let fleet = fleet(&format!(
        "0 UserPromptSubmit prompt=a pid=7 proc_start=1\n 1 {ASKS} pid=7 proc_start=1
         2 SessionStart source=fork session_id=f pid=8 proc_start=2\n 3 UserPromptSubmit prompt=b session_id=f pid=8 proc_start=2"
    ));
    expect![[r#"awaiting_input asked "a" 1 turns · worked 1 waited 2"#]].assert_eq(&assignment_text(&fleet));
    expect![[r#"commanded "b" 1 turns · worked 0 waited 0"#]].assert_eq(&told_at(&fleet, "f", fleet.now()));
}

#[test]
fn the_end_of_one_session_leaves_the_other_alone() {
    let fleet = fleet(
        "0 UserPromptSubmit prompt=a\n 0 UserPromptSubmit prompt=b session_id=t\n 3 SessionEnd reason=other session_id=t",
    );
    expect![[r#"commanded "a" 1 turns · worked 3 waited 0"#]].assert_eq(&assignment_text(&fleet));
    expect![[r#"complete ended "b" 1 turns · worked 3 waited 0"#]].assert_eq(&told_at(
        &fleet,
        "t",
        fleet.now(),
    ));
}

#[test]
fn a_second_terminal_on_the_session_ends_nothing() {
    check(
        &format!(
            "0 UserPromptSubmit prompt=a pid=7 proc_start=1\n 1 {ASKS} pid=7 proc_start=1\n 4 SessionStart source=resume pid=8 proc_start=2"
        ),
        expect![[r#"awaiting_input asked "a" 1 turns · worked 1 waited 3"#]],
    );
}

#[test]
fn only_changes_are_reported() {
    let mut fleet = fleet(&format!("0 UserPromptSubmit prompt=a\n 1 {READ}"));
    let record = |script: serde_json::Value, seq, fleet: &Fleet| {
        let payload = serde_json::from_value(script).unwrap();
        crate::script::record(payload, serde_json::Map::new(), seq, at_seconds("9"), fleet.now())
    };
    let changed = |fleet: &mut Fleet, name: &str, seq| {
        let payload = serde_json::json!({"session_id": "s", "hook_event_name": name, "tool_name": "Read", "tool_use_id": "r"});
        let effects = fleet.apply(&Event::from_record(&record(payload, seq, fleet)));
        effects.into_iter().any(|effect| matches!(effect, Effect::AssignmentChanged(_)))
    };
    assert!(!changed(&mut fleet, "PostToolUse", 10));
    assert!(changed(&mut fleet, "Stop", 11));
    assert!(!changed(&mut fleet, "Notification", 12));
}

#[test]
fn the_card_carries_it() {
    let fleet =
        fleet(&format!("0 UserPromptSubmit prompt=a\n 2 {ASKS}\n 7 UserPromptSubmit prompt=b\n 9 {ASKS}"));
    let brief = card(&fleet, "s").assignment.unwrap();
    assert_eq!((brief.title.as_str(), brief.state.as_str()), ("a", "awaiting_input"));
    assert_eq!((brief.since, brief.waiting_seconds), (at_seconds("9"), 5.0));
}
