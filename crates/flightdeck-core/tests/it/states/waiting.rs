//! Why a session waits, what its agent said last, and sessions that the person put aside.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::{PARKED, UNPARKED};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view::waiting::WaitKind;
use serde_json::json;

use crate::script::{at_seconds, card, person, tell};

fn fleet(script: &str) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, script);
    fleet
}

fn waits(fleet: &Fleet) -> Option<(WaitKind, bool)> {
    card(fleet, "s").waiting.map(|waiting| (waiting.kind, waiting.counts))
}

#[test]
fn needs_and_idleness_are_told_apart_and_only_what_blocks_or_asks_counts() {
    let said = |message: &str| {
        fleet(&format!("0 UserPromptSubmit prompt=a\n1 Stop last_assistant_message={message}"))
    };
    assert_eq!(waits(&said("Both~pass.~Drop~it?")), Some((WaitKind::Asks, true)));
    assert_eq!(waits(&said("Is~it?~I~fixed~it.")), Some((WaitKind::Idle, false)));
    assert_eq!(
        waits(&fleet("0 UserPromptSubmit prompt=a\n1 StopFailure error=x")),
        Some((WaitKind::Failed, false))
    );
    let blocked = fleet("0 UserPromptSubmit prompt=a\n1 PermissionRequest tool_name=Bash");
    assert_eq!(waits(&blocked), Some((WaitKind::Blocks, true)));
    assert_eq!(waits(&fleet("0 UserPromptSubmit prompt=a")), None);
}

/// The words of the card and of its state are the same.
#[test]
fn a_card_is_finished_only_if_the_last_message_says_so() {
    let words = |stop: &str| {
        let card = card(&fleet(&format!("0 UserPromptSubmit prompt=a\n1 Stop{stop}")), "s");
        let waiting = card.waiting.unwrap();
        (waiting.label, waiting.icon, card.agent_state.label)
    };
    let all = |label: &str, icon: &str| (label.to_owned(), icon.to_owned(), label.to_owned());
    for done in ["Fixed.~All~tests~pass.", "Fixed~it.~Let~me~know~if~you~need~more."] {
        assert_eq!(words(&format!(" last_assistant_message={done}")), all("Finished", "finished"));
    }
    for unclear in
        ["", " last_assistant_message=The~port~is~8080.", " last_assistant_message=Next:~the~docs."]
    {
        assert_eq!(words(unclear), all("Waiting for your next prompt", "circle"), "{unclear}");
    }
}

#[test]
fn the_last_message_of_a_turn_is_on_the_card_until_the_next_prompt() {
    let mut fleet = fleet("0 UserPromptSubmit prompt=a\n1 Stop last_assistant_message=Shall~I?");
    assert_eq!(card(&fleet, "s").last_assistant_text.as_deref(), Some("Shall I?"));
    tell(&mut fleet, "2 UserPromptSubmit prompt=b");
    assert_eq!(card(&fleet, "s").last_assistant_text, None);
}

#[test]
fn a_parked_session_comes_back_with_its_next_change() {
    let mut fleet = fleet("0 UserPromptSubmit prompt=a\n1 Stop");
    person(&mut fleet, "2", PARKED, &[]);
    assert_eq!(card(&fleet, "s").parked.map(|p| (p.since, p.until)), Some((at_seconds("2"), None)));
    tell(&mut fleet, "3 UserPromptSubmit prompt=b\n4 Stop");
    assert_eq!(card(&fleet, "s").parked, None);
}

#[test]
fn a_session_parked_until_a_time_comes_back_then_or_when_the_person_takes_it_back() {
    let mut fleet = fleet("0 UserPromptSubmit prompt=a\n1 Stop");
    let until = [("until", json!(at_seconds("60").to_string()))];
    person(&mut fleet, "2", PARKED, &until);
    tell(&mut fleet, "59 tick");
    assert!(card(&fleet, "s").parked.is_some());
    tell(&mut fleet, "60 tick");
    assert_eq!(card(&fleet, "s").parked, None);
    person(&mut fleet, "61", PARKED, &[]);
    person(&mut fleet, "62", UNPARKED, &[]);
    assert_eq!(card(&fleet, "s").parked, None);
}

#[test]
fn a_session_that_works_or_blocks_cannot_be_parked() {
    for script in
        ["0 UserPromptSubmit prompt=a", "0 UserPromptSubmit prompt=a\n1 PermissionRequest tool_name=Bash"]
    {
        let mut fleet = fleet(script);
        person(&mut fleet, "2", PARKED, &[]);
        assert_eq!(card(&fleet, "s").parked, None, "{script}");
    }
}

#[test]
fn a_failure_is_past_once_the_agent_went_on() {
    let mut fleet = fleet(
        "0 UserPromptSubmit prompt=a
         1 PreToolUse tool_name=Bash tool_use_id=a
         2 PostToolUseFailure tool_name=Bash tool_use_id=a error=x",
    );
    assert!(!card(&fleet, "s").failure_is_past);
    tell(&mut fleet, "3 PreToolUse tool_name=Bash tool_use_id=b");
    assert!(card(&fleet, "s").failure_is_past);
}

#[test]
fn the_longest_waiting_order_puts_needs_before_idle_sessions_and_old_before_new() {
    let fleet = fleet(
        "1 Stop session_id=idle-old
         2 PermissionRequest session_id=need-old tool_name=Bash
         3 PermissionRequest session_id=need-new tool_name=Bash
         4 Stop session_id=idle-new",
    );
    let mut cards = flightdeck_core::view::board(&fleet);
    cards.sort_by(|a, b| a.rank.waiting.cmp(&b.rank.waiting));
    let order: Vec<_> = cards.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(order, ["need-old", "need-new", "idle-old", "idle-new"]);
}

#[test]
fn the_end_of_a_second_terminal_changes_neither_parking_nor_the_last_message() {
    let mut fleet = fleet(
        "0 SessionStart source=startup pid=7 proc_start=1
         1 SessionStart source=resume pid=8 proc_start=2
         2 UserPromptSubmit prompt=a pid=7 proc_start=1
         3 Stop last_assistant_message=Shall~I? pid=7 proc_start=1",
    );
    person(&mut fleet, "4", PARKED, &[]);
    tell(&mut fleet, "5 SessionEnd reason=prompt_input_exit pid=8 proc_start=2");
    let shown = card(&fleet, "s");
    assert!(shown.parked.is_some());
    assert_eq!(shown.last_assistant_text.as_deref(), Some("Shall I?"));
    assert_eq!(waits(&fleet), Some((WaitKind::Asks, true)));
    tell(&mut fleet, "6 UserPromptSubmit prompt=b pid=7 proc_start=1\n7 Stop pid=7 proc_start=1");
    assert_eq!(card(&fleet, "s").parked, None);
}
