//! An answer from here and one at the terminal in the same moment: the client does not tell which it took.

use flightdeck_core::approval::answer::{Answer, Decision};
use flightdeck_core::approval::resolution::{AnsweredBy, AskOutcome, HoldEnd};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::AskId;
use flightdeck_core::log::approvals::{answered_record, hold_ended_record};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;

use crate::registry::tell_all;
use crate::script::{at_seconds, card, read};

/// A session whose request for permission is answered from here at second 3.
fn answered(decision: Decision, before: &str) -> Fleet {
    let mut fleet = Fleet::new(FoldSettings::default());
    let asks = "0 UserPromptSubmit prompt=go
        1 PreToolUse tool_name=Bash tool_input={\"command\":\"make\"} tool_use_id=t1
        1 PermissionRequest tool_name=Bash tool_input={\"command\":\"make\"}
        1.1 registry waiting:permission~prompt";
    tell_all(&mut fleet, &format!("{asks}\n{before}").replace("\n\n", "\n"));
    let ask = card(&fleet, "s").asks[0].id.clone();
    let mut record =
        answered_record(&"s".into(), &ask, &Answer::without_details(decision, AnsweredBy::Web), EventId(99));
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds("3"), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
    fleet
}

#[track_caller]
fn ends(mut fleet: Fleet, after: &str, how: AskOutcome, reads: &str) {
    tell_all(&mut fleet, after);
    let _ = fleet.tick(at_seconds("20"));
    let card = card(&fleet, "s");
    let end = card.asks[0].resolution.clone().unwrap();
    assert_eq!((end.how, read(&card).as_str()), (how, reads));
    assert_eq!(end.by, Some(if how.is_ours() { AnsweredBy::Web } else { AnsweredBy::Terminal }));
}

const RAN: &str = "4 PostToolUse tool_name=Bash tool_input={\"command\":\"make\"} tool_use_id=t1";
const INTERRUPTED: &str = r#"needs_you interrupted "You interrupted Bash""#;

#[test]
fn a_call_that_ran_although_we_refused_it_was_allowed_in_the_terminal() {
    let thinks = r#"running thinking "Thinking""#;
    ends(answered(Decision::Deny, ""), RAN, AskOutcome::AnsweredInTerminal, thinks);
    ends(answered(Decision::Allow, ""), RAN, AskOutcome::Allowed, thinks);
    // Another call of the same tool says nothing.
    let other = RAN.replace("t1", "t2");
    ends(answered(Decision::Deny, ""), &other, AskOutcome::Denied, thinks);
}

#[test]
fn a_client_that_never_went_on_after_our_answer_was_refused_in_the_terminal() {
    let idle = "3.05 registry idle";
    ends(answered(Decision::Allow, ""), idle, AskOutcome::RefusedInTerminal, INTERRUPTED);
    ends(
        answered(Decision::Deny, ""),
        idle,
        AskOutcome::RefusedInTerminal,
        r#"needs_you interrupted "You interrupted""#,
    );
}

#[test]
fn esc_before_our_answer_counts_though_it_is_heard_after() {
    ends(answered(Decision::Allow, ""), "3.1@2.9 registry idle", AskOutcome::RefusedInTerminal, INTERRUPTED);
    ends(answered(Decision::Allow, "2.9 registry idle"), "", AskOutcome::RefusedInTerminal, INTERRUPTED);
}

#[test]
fn esc_while_the_allowed_call_runs_leaves_the_answer_as_it_was() {
    let after = "3.1 registry busy\n9 registry idle";
    ends(answered(Decision::Allow, ""), after, AskOutcome::Allowed, INTERRUPTED);
}

#[test]
fn a_word_from_before_the_request_says_nothing_about_the_answer() {
    let runs = r#"running acting "Bash: make""#;
    ends(answered(Decision::Allow, ""), "3.1@0.5 registry idle", AskOutcome::Allowed, runs);
    ends(
        answered(Decision::Allow, ""),
        "3.1@2.9 registry waiting:permission~prompt",
        AskOutcome::Allowed,
        runs,
    );
}

/// Two requests at once; what became of the second once the first was refused together with the turn.
fn the_other_of_two(
    end: impl Fn(&Fleet, &AskId) -> flightdeck_core::log::record::Record,
) -> (AskOutcome, Option<AnsweredBy>) {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "0 UserPromptSubmit prompt=go
        1 PreToolUse tool_name=Read tool_input={\"file_path\":\"/a\"} tool_use_id=t1
        1 PreToolUse tool_name=Read tool_input={\"file_path\":\"/b\"} tool_use_id=t2
        1 PermissionRequest tool_name=Read tool_input={\"file_path\":\"/a\"}
        1 PermissionRequest tool_name=Read tool_input={\"file_path\":\"/b\"}",
    );
    let ask = card(&fleet, "s").asks[0].id.clone();
    let mut record = end(&fleet, &ask);
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds("3"), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
    let other =
        card(&fleet, "s").asks.iter().find(|a| a.id != ask).and_then(|a| a.resolution.clone()).unwrap();
    (other.how, other.by)
}

#[test]
fn a_turn_refused_with_one_request_refuses_the_other() {
    let here = the_other_of_two(|_, ask| {
        let answer =
            Answer { interrupt: Some(true), ..Answer::without_details(Decision::Deny, AnsweredBy::Web) };
        answered_record(&"s".into(), ask, &answer, EventId(99))
    });
    assert_eq!(here, (AskOutcome::DeniedAndInterrupted, Some(AnsweredBy::Web)));
    let there = the_other_of_two(|_, ask| hold_ended_record(&"s".into(), ask, HoldEnd::Closed, EventId(99)));
    assert_eq!(there, (AskOutcome::RefusedInTerminal, Some(AnsweredBy::Terminal)));
}

#[test]
fn a_form_that_was_filled_in_was_not_refused() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "0 UserPromptSubmit prompt=go
        1 PreToolUse tool_name=mcp__lab__ask tool_input={} tool_use_id=t1
        2 Elicitation mcp_server_name=lab message=Name?",
    );
    let ask = card(&fleet, "s").asks[0].id.clone();
    let mut record = answered_record(
        &"s".into(),
        &ask,
        &Answer::without_details(Decision::Allow, AnsweredBy::Web),
        EventId(99),
    );
    record.seq = fleet.last_seq() + 1;
    from_hook::stamp(&mut record, at_seconds("3"), fleet.now());
    let _ = fleet.apply(&Event::from_record(&record));
    assert_eq!(fleet.get(&"s".into()).unwrap().shown.because.rule, flightdeck_core::rules::Rule::AllowedHere);
}

#[test]
fn an_ask_of_a_session_that_was_replaced_leaves_its_card_like_any_other() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(
        &mut fleet,
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
        1 PermissionRequest session_id=a tool_name=Bash tool_input={\"command\":\"make\"}
        2 SessionStart source=resume session_id=b pid=7 proc_start=1",
    );
    assert_eq!(card(&fleet, "a").asks[0].resolution.as_ref().unwrap().how, AskOutcome::SessionEnded);
    let _ = fleet.tick(at_seconds("63"));
    assert_eq!(card(&fleet, "a").asks.len(), 0);
}

#[test]
fn a_form_that_was_declined_or_closed_in_the_terminal_was_refused() {
    let ended = |action: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        let form = format!(
            "0 UserPromptSubmit prompt=go
            1 PreToolUse tool_name=mcp__lab__ask tool_input={{}} tool_use_id=t1
            2 Elicitation mcp_server_name=lab message=Name?
            5 ElicitationResult mcp_server_name=lab action={action}"
        );
        tell_all(&mut fleet, &form);
        let card = card(&fleet, "s");
        (card.asks[0].resolution.clone().unwrap().how, read(&card))
    };
    let goes_on = r#"running acting "mcp__lab__ask""#.to_owned();
    assert_eq!(ended("accept"), (AskOutcome::AnsweredInTerminal, goes_on.clone()));
    for no in ["decline", "cancel"] {
        assert_eq!(ended(no), (AskOutcome::RefusedInTerminal, goes_on.clone()), "{no}");
    }
}
