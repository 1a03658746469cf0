//! A hook of the person ends a turn or blocks a prompt: no Stop follows, and the person interrupted nothing.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::registry::{check, tell_all};
use crate::script::card;

const TOOL: &str = "1 UserPromptSubmit prompt=one prompt_id=a
     1.1 registry busy
     2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a
     3 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a";
const PROMPT: &str = "1 UserPromptSubmit prompt=one prompt_id=a";

#[test]
fn a_turn_that_a_hook_ended_is_stopped_whichever_source_is_first() {
    for end in [
        "3.1 hook_stop\n 3.2 registry idle",
        "3.2 registry idle\n 4 tick\n 5@3.1 hook_stop",
        "3.05 hooks gone\n 3.1 hook_stop\n 3.2 registry idle",
    ] {
        check(&format!("{TOOL}\n {end}"), expect![[r#"needs_you idle "Stopped by a hook""#]]);
    }
}

#[test]
fn a_prompt_that_a_hook_blocked_is_not_interrupted() {
    let stopped = "0.5 UserPromptSubmit prompt=zero prompt_id=z\n 0.6 Stop prompt_id=z";
    let notice = "8 UserPromptSubmit prompt=<task-notification>~done prompt_id=b";
    for script in [
        format!("{PROMPT}\n 1.1 registry busy\n 1.2 prompt_blocked\n 1.3 registry idle"),
        // Our hook for the prompt read the clock after the client wrote the line, and arrived after it.
        format!("{stopped}\n 0.9@0.8 prompt_blocked\n {PROMPT}\n 1.3 registry idle"),
        // A prompt of the client itself.
        format!("{TOOL}\n 7 Stop prompt_id=a\n {notice}\n 8.1 prompt_blocked\n 8.2 registry idle"),
    ] {
        check(&script, expect![[r#"needs_you idle "Prompt blocked by a hook""#]]);
    }
}

#[test]
fn the_end_of_a_later_turn_is_its_own() {
    let stopped = format!("{TOOL}\n 3.1 hook_stop\n 3.2 registry idle\n 4 tick");
    check(
        &format!(
            "{stopped}\n 9 UserPromptSubmit prompt=two prompt_id=b\n 9.1 registry busy\n 12 registry idle"
        ),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
    let woken = "9 UserPromptSubmit prompt=<task-notification>~done prompt_id=b";
    check(
        &format!("{stopped}\n {woken}\n 9.1 registry busy\n 12 registry idle"),
        expect![[r#"needs_you interrupted "You interrupted""#]],
    );
    // A line about a Stop hook says nothing new.
    check(
        &format!("{TOOL}\n 7 Stop prompt_id=a\n 7.1 hook_stop\n 7.2 registry idle"),
        expect![[r#"needs_you idle "Waiting for your next prompt""#]],
    );
}

#[test]
fn an_interrupt_after_the_hook_is_the_persons() {
    let parallel =
        format!("{TOOL}\n 3.05 PreToolUse tool_name=Bash tool_use_id=2 prompt_id=a\n 3.1 hook_stop");
    for marks in ["8.9 marker\n 9 registry idle", "9 registry idle\n 10 tick\n 11@8.9 marker"] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell_all(&mut fleet, &format!("{parallel}\n {marks}\n 12 tick"));
        assert!(card(&fleet, "s").agent_state.label.starts_with("You interrupted"), "{marks}");
    }
}

#[test]
fn the_line_ends_a_turn_beside_a_background_agent_because_the_client_stays_busy() {
    let beside = "1 UserPromptSubmit prompt=one prompt_id=a
         1.1 registry busy
         2 SubagentStart agent_id=x agent_type=Explore prompt_id=a
         3 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a";
    let ended = "4 PostToolUse tool_name=Bash tool_use_id=1 prompt_id=a";
    check(
        &format!("{beside}\n {ended}\n 4.2@3.9 hook_stop"),
        expect![[r#"needs_you idle "Stopped by a hook" · Explore Working "Thinking""#]],
    );
    // Of two calls at once, the other one still runs.
    check(
        &format!("{beside}\n 3.5 hook_stop"),
        expect![[r#"running acting "Bash" · Explore Working "Thinking""#]],
    );
}

#[test]
fn of_two_terminals_the_one_whose_hooks_just_fired_was_stopped() {
    let both = "1 UserPromptSubmit prompt=one prompt_id=a pid=7 proc_start=1
         2 PreToolUse tool_name=Bash tool_use_id=1 prompt_id=a pid=7 proc_start=1
         3 SessionStart source=resume pid=8 proc_start=2
         9 UserPromptSubmit prompt=two prompt_id=b pid=8 proc_start=2
         9.1 prompt_blocked
         9.2 registry idle pid=8 procStart=\"2\"
         10 tick";
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, both);
    let mut labels: Vec<_> = card(&fleet, "s").processes.into_iter().map(|process| process.label).collect();
    labels.sort();
    assert_eq!(labels, ["Bash", "Prompt blocked by a hook"]);
}
