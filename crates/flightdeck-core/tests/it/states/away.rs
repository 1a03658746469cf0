//! "You interrupted" is said only if the person did: turns that ended while Flightdeck's hooks were away.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::registry::{check, tell_all};
use crate::script::card;

const TOOL: &str = "1 UserPromptSubmit prompt=one prompt_id=a
     1.1 registry busy
     2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a";
const ASKS: &str = "1 UserPromptSubmit prompt=one prompt_id=a
     1.1 registry busy
     2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
     2.1 PermissionRequest tool_name=Bash prompt_id=a";

fn resolution(script: &str) -> String {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    let _ = fleet.tick(fleet.now() + flightdeck_core::time::Millis(500));
    let asks = card(&fleet, "s").asks;
    serde_json::to_string(&asks[0].resolution.as_ref().map(|r| r.how)).unwrap()
}

#[test]
fn an_idle_client_was_interrupted_only_if_our_hooks_were_there_all_the_time() {
    check(&format!("{TOOL}\n 9 registry idle"), expect![[r#"needs_you interrupted "You interrupted Bash""#]]);
    for away in ["3 hooks gone", "3 hooks gone\n 4 hooks back", "3 hooks gone_at_start\n 3.1 hooks back"] {
        check(
            &format!("{TOOL}\n {away}\n 9 registry idle"),
            expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
        );
    }
}

#[test]
fn the_interrupt_marker_confirms_an_interrupt_before_and_after_the_registry() {
    check(
        &format!("{TOOL}\n 3 hooks gone\n 8.9 marker\n 9 registry idle"),
        expect![[r#"needs_you interrupted "You interrupted Bash""#]],
    );
    check(
        &format!("{TOOL}\n 3 hooks gone\n 9 registry idle\n 9.6 tick\n 9.7@8.9 marker"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
    // A marker of an earlier turn confirms nothing.
    check(
        &format!("0.5 marker\n {TOOL}\n 3 hooks gone\n 9 registry idle\n 9.6 tick\n 9.7@0.6 marker"),
        expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
    );
}

#[test]
fn a_marker_never_moves_a_session_that_was_heard() {
    check(&format!("{TOOL}\n 3 marker"), expect![[r#"running acting "Bash""#]]);
    check(
        &format!("{TOOL}\n 8 Stop prompt_id=a\n 9 registry idle\n 10@8.5 marker"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn hooks_that_come_back_and_are_heard_are_believed_again() {
    check(
        &format!(
            "{TOOL}\n 3 hooks gone\n 10 hooks back\n 12 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a
             13 PreToolUse tool_name=Read tool_use_id=2 prompt_id=a\n 15 registry idle"
        ),
        expect![[r#"needs_you interrupted "You interrupted Read""#]],
    );
    // A project has hooks of its own: its sessions are heard although ours are gone.
    check(
        &format!(
            "{TOOL}\n 3 hooks gone\n 12 PreToolUse tool_name=Read tool_use_id=2 prompt_id=a\n 15 registry idle"
        ),
        expect![[r#"needs_you interrupted "You interrupted Read""#]],
    );
}

#[test]
fn a_prompt_just_after_the_hooks_went_was_sent_by_the_old_settings() {
    check(
        "1 hooks gone
         1.5 UserPromptSubmit prompt=one prompt_id=a
         1.6 registry busy
         9 registry idle",
        expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
    );
}

#[test]
fn the_turn_after_that_is_heard_from_its_start() {
    check(
        &format!(
            "{TOOL}\n 3 hooks gone\n 9 registry idle\n 10 hooks back
             20 UserPromptSubmit prompt=two prompt_id=b\n 20.1 registry busy\n 25 registry idle"
        ),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
}

#[test]
fn a_turn_that_no_hook_reported_is_interrupted_only_if_its_transcript_says_so() {
    let turn = "1 registry idle\n 2 registry busy\n 5 registry idle";
    check(turn, expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
    check(
        &format!("{turn}\n 5.6 tick\n 5.7@4.9 marker"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
    // Also after a turn that was heard.
    let heard = "1 UserPromptSubmit prompt=one prompt_id=a\n 2 Stop prompt_id=a\n 2.1 registry idle\n 3 tick";
    check(
        &format!("{heard}\n 4 registry busy\n 5 tick\n 8 registry idle\n 8.6 tick\n 8.7@7.9 marker"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
}

#[test]
fn an_ask_that_closed_meanwhile_says_so() {
    for end in ["9 registry idle", "9 registry busy"] {
        assert_eq!(resolution(&format!("{ASKS}\n 3 hooks gone\n {end}")), r#""closed_while_away""#, "{end}");
    }
    assert_eq!(resolution(&format!("{ASKS}\n 9 registry idle")), r#""refused_in_terminal""#);
    check(
        &format!("{ASKS}\n 3 hooks gone\n 9 registry idle"),
        expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
    );
}

/// The hooks were back before it was answered.
#[test]
fn an_ask_whose_call_ran_was_answered() {
    let answered = format!("{ASKS}\n 3 hooks gone\n 5 hooks back\n 9 registry busy\n 9.3 tick");
    assert_eq!(resolution(&answered), r#""closed_while_away""#);
    let ran = format!("{answered}\n 9.4 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a");
    assert_eq!(resolution(&ran), r#""answered_in_terminal""#);
}

#[test]
fn a_client_that_dies_in_a_dialog_neither_answered_nor_refused() {
    assert_eq!(resolution(&format!("{ASKS} pid=7 proc_start=1\n 9 gone 7@1")), r#""client_died""#);
}

#[test]
fn a_permission_of_a_subagent_refused_in_the_terminal_is_a_refusal() {
    let asks = "1 UserPromptSubmit prompt=one
         2 SubagentStart agent_id=x agent_type=Explore
         3 PreToolUse tool_name=Bash tool_use_id=1 agent_id=x agent_type=Explore
         3.1 PermissionRequest tool_name=Bash agent_id=x agent_type=Explore";
    let batch = |response: &str| {
        format!(
            r#"{asks}
               5 PostToolBatch agent_id=x agent_type=Explore tool_calls=[{{"tool_name":"Bash","tool_use_id":"1","tool_response":"{response}"}}]"#
        )
    };
    assert_eq!(
        resolution(&batch("Permission~for~this~tool~use~was~denied.~The")),
        r#""refused_in_terminal""#
    );
    assert_eq!(resolution(&batch("done")), r#""answered_in_terminal""#);
}

/// "Tell Claude what to do differently", and a plan that is sent back: the turn goes on.
#[test]
fn a_request_refused_with_words_is_a_refusal() {
    let batch = |response: &str| {
        format!(
            r#"6@5 PostToolBatch prompt_id=a tool_calls=[{{"tool_name":"Bash","tool_use_id":"1","tool_response":"{response}"}}]"#
        )
    };
    let refused = batch("The~user~doesn't~want~to~proceed~with~this~tool~use.~The~user~said:~no");
    // The registry may have closed the request before.
    for before in ["", "4.9 registry busy\n 5.3 tick"] {
        assert_eq!(
            resolution(&format!("{ASKS}\n {before}\n {refused}").replace("\n \n", "\n")),
            r#""refused_in_terminal""#,
            "{before}"
        );
        let ran = batch("done");
        assert_eq!(
            resolution(&format!("{ASKS}\n {before}\n {ran}").replace("\n \n", "\n")),
            r#""answered_in_terminal""#,
            "{before}"
        );
    }
}

#[test]
fn hooks_that_leave_while_two_terminals_work_leave_both_turns_unheard() {
    let both = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
         2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a pid=7 proc_start=1
         3 SessionStart source=resume pid=8 proc_start=2
         4 UserPromptSubmit prompt=two prompt_id=b pid=8 proc_start=2
         5 PreToolUse tool_name=Read tool_use_id=2 prompt_id=b pid=8 proc_start=2";
    let ended = "20 registry idle\n 20 registry idle pid=8 procStart=\"2\"\n 21 tick";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, &format!("{both}\n 6 hooks gone\n {ended}"));
    let labels = |fleet: &Fleet| -> Vec<String> {
        card(fleet, "s").processes.into_iter().map(|process| process.label).collect()
    };
    assert_eq!(labels(&fleet), ["Ended while Flightdeck was away"; 2]);
    // The same if the hook that shows the turn is of the process that the card does not show.
    let late = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
         2 Stop prompt_id=a pid=7 proc_start=1
         3 SessionStart source=resume pid=8 proc_start=2
         4 UserPromptSubmit prompt=two prompt_id=b pid=8 proc_start=2
         5 PreToolUse tool_name=Bash tool_use_id=2 prompt_id=b pid=8 proc_start=2
         5.1 PermissionRequest tool_name=Bash prompt_id=b pid=8 proc_start=2
         6 hooks gone
         7 UserPromptSubmit prompt=three prompt_id=c pid=7 proc_start=1";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, &format!("{late}\n {ended}"));
    assert_eq!(labels(&fleet), ["Ended while Flightdeck was away"; 2]);
}

#[test]
fn a_request_that_ended_with_its_client_was_not_refused() {
    let ended_after = |said: &str, reason: &str, when: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{ASKS}\n 2.2 registry waiting:permission~prompt"));
        super::turns::hold_closed(&mut fleet, "9");
        tell_all(&mut fleet, &format!("9.1 registry {said}\n {when} SessionEnd reason={reason}"));
        let asks = card(&fleet, "s").asks;
        serde_json::to_string(&asks[0].resolution.as_ref().map(|r| (r.how, r.by))).unwrap()
    };
    let never_left = "waiting:permission~prompt statusUpdatedAt=1794744002200";
    // The terminal was closed: the client ends its hooks before it says goodbye, which may take a second and a half.
    for when in ["9.2", "10.5"] {
        assert_eq!(ended_after(never_left, "other", when), r#"["session_ended",null]"#);
    }
    // The person refused, and the session ended later or by its prompt.
    assert_eq!(ended_after("idle", "other", "20"), r#"["refused_in_terminal","terminal"]"#);
    assert_eq!(ended_after("idle", "prompt_input_exit", "9.2"), r#"["refused_in_terminal","terminal"]"#);
}

#[test]
fn the_marker_ends_a_turn_beside_a_background_agent_because_the_client_stays_busy() {
    let beside = "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 SubagentStart agent_id=x agent_type=Explore prompt_id=a
         3 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a";
    for busy in ["", " 6 registry busy"] {
        check(
            &format!("{beside}\n 5.2@5 marker\n{busy}"),
            expect![[r#"needs_you interrupted "You interrupted Bash" · Explore Working "Thinking""#]],
        );
    }
    // The agent's report begins a turn.
    check(
        &format!(
            "{beside}\n 5.2@5 marker\n 7 SubagentStop agent_id=x agent_type=Explore
             7.1 UserPromptSubmit prompt=<task-notification>~done prompt_id=b"
        ),
        expect![[r#"running thinking "Thinking" · Explore Done "Done""#]],
    );
    // The marker of an Esc before this call.
    check(
        &format!("{beside}\n 5.2@2.5 marker"),
        expect![[r#"running acting "Bash" · Explore Working "Thinking""#]],
    );
    // Of two terminals, only the first one works beside an agent.
    let first = beside.replace("prompt_id=a", "prompt_id=a pid=7 proc_start=1");
    check(
        &format!("{first}\n 4 SessionStart source=resume pid=8 proc_start=2\n 5.2@5 marker"),
        expect![[r#"needs_you interrupted "You interrupted Bash" · Explore Working "Thinking""#]],
    );
}

/// The second request opens while the entry between the two has not settled, or was never read.
#[test]
fn a_second_request_without_hooks_closes_the_first() {
    for between in [
        "9 registry busy\n 9.15 registry waiting:permission~prompt",
        "9.15 registry waiting:permission~prompt",
    ] {
        let script = format!("{ASKS}\n 2.1 registry waiting:permission~prompt\n 4 hooks gone\n {between}");
        check(&script, expect![[r#"needs_you needs_permission "Permission needed""#]]);
        assert_eq!(resolution(&script), r#""closed_while_away""#, "{between}");
        check(
            &format!("{script}\n 12 registry busy\n 12.1 registry idle"),
            expect![[r#"needs_you idle "Ended while Flightdeck was away""#]],
        );
    }
    // With hooks, the registry says nothing about a request that a hook reported.
    let heard = format!(
        "{ASKS}\n 2.1 registry waiting:permission~prompt\n 9 registry busy\n 9.15 registry waiting:permission~prompt"
    );
    assert_eq!(resolution(&heard), "null");
}
