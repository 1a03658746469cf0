//! What the last message of a turn does to an idle card.

use expect_test::expect;
use flightdeck_core::assignment::intent::{Intent, IntentRule};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view;
use flightdeck_core::view::explain::explain;

use crate::script::{card, check, tell};

const ASKS: &str = "Stop last_assistant_message=I~read~both.~Should~I~keep~`a.rs`~or~`b.rs`?";
const DONE: &str = "Stop last_assistant_message=Fixed.~All~tests~pass.";

#[test]
fn an_idle_card_says_what_the_last_message_asks() {
    check(
        &format!("0 UserPromptSubmit prompt=a\n 1 {ASKS}"),
        expect![[r#"needs_you idle "Asks: Should I keep a.rs or b.rs?""#]],
    );
}

#[test]
fn an_idle_card_says_that_the_work_is_finished() {
    check(&format!("0 UserPromptSubmit prompt=a\n 1 {DONE}"), expect![[r#"needs_you idle "Finished""#]]);
}

#[test]
fn a_message_that_says_neither_leaves_the_label() {
    let waits = || expect![[r#"needs_you idle "Waiting for your next prompt""#]];
    check("1 Stop last_assistant_message=The~port~is~8080.", waits());
    check("1 Stop", waits());
    check("1 Stop last_assistant_message=", waits());
}

#[test]
fn a_long_question_is_shortened() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, &format!("1 Stop last_assistant_message=Should~I~{}?", "use~it~or~".repeat(60)));
    let label = card(&fleet, "s").agent_state.label;
    assert_eq!(label.chars().count(), "Asks: ".len() + 101);
    assert!(label.ends_with('…'));
}

#[test]
fn work_forgets_the_intent_and_a_compaction_does_not() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, &format!("1 {ASKS}\n 2 PreCompact trigger=manual"));
    assert_eq!(card(&fleet, "s").intent, None);
    tell(&mut fleet, "3 PostCompact trigger=manual");
    assert!(card(&fleet, "s").agent_state.label.starts_with("Asks: "));
    tell(&mut fleet, "4 UserPromptSubmit prompt=b\n 5 Stop");
    expect![[r#"Waiting for your next prompt"#]].assert_eq(&card(&fleet, "s").agent_state.label);
}

#[test]
fn a_subagents_message_is_not_the_sessions() {
    let stop = "SubagentStop agent_id=x agent_type=Explore last_assistant_message=Which~one?";
    check(
        &format!("0 SubagentStart agent_id=x agent_type=Explore\n 1 {DONE}\n 2 {stop}"),
        expect![[r#"needs_you idle "Finished" · Explore Done "Done""#]],
    );
}

#[test]
fn a_late_stop_does_not_change_the_intent() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, &format!("0 UserPromptSubmit prompt=a\n 2 {DONE}\n 3@-60 {ASKS}"));
    assert_eq!(card(&fleet, "s").agent_state.label, "Finished");
}

#[test]
fn the_card_and_the_explanation_name_rule_and_line() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, &format!("1 {ASKS}"));
    let found = card(&fleet, "s").intent.unwrap();
    assert_eq!((found.intent, found.evidence.rule), (Intent::Question, IntentRule::AsksThePerson));
    assert_eq!(found.evidence.line, "Should I keep a.rs or b.rs?");
    let why = explain(fleet.get(&"s".into()).unwrap());
    assert_eq!(why.intent, Some(found));
    assert_eq!(why.label, "Asks: Should I keep a.rs or b.rs?");
}

#[test]
fn idle_cards_that_ask_come_before_other_idle_cards_in_both_orders() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        &format!(
            "1 StopFailure session_id=failed error=overloaded
             2 {ASKS} session_id=asks
             3 {DONE} session_id=finished
             4 Stop session_id=unclear"
        ),
    );
    let order = |rank: fn(&view::card::Card) -> &str| {
        let mut cards = view::board(&fleet);
        cards.sort_by(|a, b| rank(a).cmp(rank(b)));
        cards.iter().map(|card| card.id.to_string()).collect::<Vec<_>>()
    };
    let expected = ["failed", "asks", "unclear", "finished"];
    assert_eq!(order(|card| &card.rank.default), expected);
    assert_eq!(order(|card| &card.rank.urgency), expected);
}

const STATE: &str = "Stop last_assistant_message=The~two~services~talk~over~gRPC.";

#[test]
fn a_description_after_changed_files_is_finished_work_in_whatever_order_it_is_heard() {
    let turn = |edit: &str| format!("0 UserPromptSubmit prompt=a\n {edit}");
    let edited = "1 PostToolUse tool_name=Edit tool_use_id=e";
    let finished = || expect![[r#"needs_you idle "Finished""#]];
    check(&turn(&format!("{edited}\n 2 {STATE}")), finished());
    check(&turn(&format!("2 {STATE}\n 2.1@1 PostToolUse tool_name=Edit tool_use_id=e")), finished());
    let waits = || expect![[r#"needs_you idle "Waiting for your next prompt""#]];
    check(&turn(&format!("1 PostToolUse tool_name=Read tool_use_id=e\n 2 {STATE}")), waits());
    // The files were changed in the turn before.
    check(&turn(&format!("{edited}\n 2 {DONE}\n 3 UserPromptSubmit prompt=b\n 4 {STATE}")), waits());
}

#[test]
fn a_question_after_changed_files_is_asked_unless_it_offers_something_on_top() {
    let stop = |said: &str| {
        format!(
            "0 UserPromptSubmit prompt=a\n 1 PostToolUse tool_name=Write tool_use_id=e\n 2 Stop last_assistant_message={said}"
        )
    };
    check(
        &stop("The~field~takes~free~text.~Should~I~validate~it?"),
        expect![[r#"needs_you idle "Asks: Should I validate it?""#]],
    );
    check(&stop("The~button~is~44~px~high.~Want~a~screenshot?"), expect![[r#"needs_you idle "Finished""#]]);
}
