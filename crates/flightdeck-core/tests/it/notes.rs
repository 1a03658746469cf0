//! When the fold makes a note for the person: only on entering a state, after it has settled, and not too often.

use expect_test::{Expect, expect};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::log::event::{PARKED, SEEN};
use flightdeck_core::notify::{NoteKind, NotifyRules};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};

use crate::script::{NOON, person, tell_for_effects};

fn rules() -> FoldSettings {
    let notify = NotifyRules {
        kinds: NoteKind::ALL.to_vec(),
        settle: Millis::seconds(1),
        again_after: Millis::seconds(30),
    };
    FoldSettings { notify: Some(notify), ..FoldSettings::default() }
}

/// One line for each note, such as `1.0 Completed s since 0`. Times are seconds after noon.
fn notes(effects: &[Effect]) -> String {
    let seconds = |at: Timestamp| (at - Timestamp::from_millis(NOON)).as_seconds();
    let line = |effect: &Effect| match effect {
        Effect::Notify(n) => {
            Some(format!("{} {:?} {} since {}", seconds(n.at), n.kind, n.session_id, seconds(n.since)))
        }
        _ => None,
    };
    effects.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn check_notes(script: &str, expected: Expect) {
    expected.assert_eq(&notes(&tell_for_effects(&mut Fleet::new(rules()), script)));
}

#[test]
fn each_kind_of_state_gives_its_note_after_the_settle_time() {
    check_notes(
        "0 UserPromptSubmit prompt=a
         1 PermissionRequest tool_name=Bash
         1 UserPromptSubmit session_id=q prompt=a
         2 PermissionRequest session_id=q tool_name=AskUserQuestion
         2 UserPromptSubmit session_id=p prompt=a
         3 PermissionRequest session_id=p tool_name=ExitPlanMode
         3 UserPromptSubmit session_id=e prompt=a
         4 Elicitation session_id=e mcp_server_name=m message=x
         4 UserPromptSubmit session_id=f prompt=a
         5 StopFailure session_id=f error=rate_limit
         5 UserPromptSubmit session_id=c prompt=a
         6 Stop session_id=c
         9 tick",
        expect![[r#"
            2 NeedsPermission s since 1
            3 Asks q since 2
            4 Asks p since 3
            5 Asks e since 4
            6 Failed f since 5
            7 Completed c since 6"#]],
    );
}

#[test]
fn a_turn_that_ends_with_a_question_asks_and_any_other_end_completes() {
    check_notes(
        "0 UserPromptSubmit session_id=a prompt=fix
         1 Stop session_id=a last_assistant_message=Shall~I~drop~the~users~table?
         1 UserPromptSubmit session_id=b prompt=fix
         2 Stop session_id=b last_assistant_message=I~fixed~the~bug~and~all~tests~pass.
         2 UserPromptSubmit session_id=c prompt=fix
         3 Stop session_id=c last_assistant_message=Which~one~do~you~prefer:~A~or~B?
         9 tick",
        expect![[r#"
            2 Asks a since 1
            3 Completed b since 2
            4 Asks c since 3"#]],
    );
}

#[test]
fn a_question_is_noted_where_only_questions_are_wanted_and_a_completed_turn_is_not() {
    let script = "0 UserPromptSubmit prompt=fix
         1 Stop last_assistant_message=Shall~I~push~the~branch?
         40 UserPromptSubmit prompt=yes
         41 Stop last_assistant_message=Pushed.
         60 tick";
    for (kind, expected) in
        [(NoteKind::Asks, "2 Asks s since 1"), (NoteKind::Completed, "42 Completed s since 41")]
    {
        let mut rules = rules();
        rules.notify.as_mut().unwrap().kinds = vec![kind];
        assert_eq!(notes(&tell_for_effects(&mut Fleet::new(rules), script)), expected);
    }
}

#[test]
fn a_fresh_session_an_interrupt_and_an_end_give_no_note() {
    check_notes(
        "0 SessionStart source=startup
         5 SessionStart session_id=i source=startup
         6 UserPromptSubmit session_id=i prompt=a
         7 PreToolUse session_id=i tool_name=Bash tool_use_id=a
         8 PostToolUseFailure session_id=i tool_name=Bash tool_use_id=a is_interrupt=true error=x
         9 UserPromptSubmit session_id=e prompt=a
         9.2 Stop session_id=e
         9.4 SessionEnd session_id=e reason=other
         60 tick",
        expect![""],
    );
}

#[test]
fn a_state_that_does_not_hold_for_the_settle_time_gives_no_note() {
    check_notes(
        "0 UserPromptSubmit prompt=a
         1 Stop
         1.9 UserPromptSubmit prompt=b
         20 tick",
        expect![""],
    );
}

#[test]
fn a_state_that_flaps_gives_one_note_once_it_settles() {
    check_notes(
        "0 UserPromptSubmit prompt=a
         1 Stop
         1.5 UserPromptSubmit prompt=b
         2 Stop
         2.5 UserPromptSubmit prompt=c
         3 Stop
         20 tick",
        expect!["4 Completed s since 3"],
    );
}

#[test]
fn a_second_note_of_a_session_is_delayed_and_made_only_if_the_state_still_holds() {
    let asked_twice = "0 UserPromptSubmit prompt=a
         1 Stop
         5 UserPromptSubmit prompt=b
         6 Stop
         31.9 tick";
    check_notes(asked_twice, expect!["2 Completed s since 1"]);
    check_notes(
        &format!("{asked_twice}\n 33 tick"),
        expect![[r#"
            2 Completed s since 1
            32 Completed s since 6"#]],
    );
    check_notes(
        &format!("{asked_twice}\n 31.95 UserPromptSubmit prompt=c\n 99 tick"),
        expect!["2 Completed s since 1"],
    );
}

#[test]
fn a_state_that_stays_gives_one_note_however_many_events_follow() {
    check_notes(
        "0 UserPromptSubmit prompt=a
         1 Stop
         40 Notification notification_type=idle_prompt message=x
         80 Notification notification_type=idle_prompt message=x
         200 tick",
        expect!["2 Completed s since 1"],
    );
}

#[test]
fn a_kind_that_is_not_wanted_gives_no_note_and_does_not_delay_another() {
    let mut rules = rules();
    rules.notify.as_mut().unwrap().kinds = vec![NoteKind::NeedsPermission];
    let script = "0 UserPromptSubmit prompt=a
         1 Stop
         5 UserPromptSubmit prompt=b
         6 PermissionRequest tool_name=Bash
         9 tick";
    let said = notes(&tell_for_effects(&mut Fleet::new(rules), script));
    expect!["7 NeedsPermission s since 6"].assert_eq(&said);
    assert_eq!(
        notes(&tell_for_effects(&mut Fleet::new(FoldSettings::default()), script)),
        "",
        "no target, no notes"
    );
}

#[test]
fn a_stop_that_a_stop_hook_overrules_gives_no_note() {
    // The next tool call starts before the state has settled, so the turn did not end.
    let mut fleet = Fleet::new(rules());
    let before = tell_for_effects(
        &mut fleet,
        "0 UserPromptSubmit prompt=a\n 1 Stop\n 1.5 PreToolUse tool_name=Bash\n 9 tick",
    );
    assert_eq!(notes(&before), "");
}

#[test]
fn a_snapshot_between_the_state_and_its_note_neither_loses_nor_repeats_the_note() {
    let mut fleet = Fleet::new(rules());
    assert_eq!(notes(&tell_for_effects(&mut fleet, "0 UserPromptSubmit prompt=a\n 1 Stop")), "");
    let json = serde_json::to_string(&fleet).unwrap();
    let mut read: Fleet = serde_json::from_str::<Fleet>(&json).unwrap().with_settings(rules());
    expect!["2 Completed s since 1"].assert_eq(&notes(&tell_for_effects(&mut read, "3 tick")));
    let json = serde_json::to_string(&read).unwrap();
    let mut read: Fleet = serde_json::from_str::<Fleet>(&json).unwrap().with_settings(rules());
    assert_eq!(notes(&tell_for_effects(&mut read, "90 tick")), "");
}

#[test]
fn a_session_that_the_person_saw_or_parked_gives_no_note() {
    for action in [SEEN, PARKED] {
        let mut fleet = Fleet::new(rules());
        tell_for_effects(&mut fleet, "0 UserPromptSubmit prompt=a\n 1 Stop");
        person(&mut fleet, "1.5", action, &[]);
        assert_eq!(notes(&tell_for_effects(&mut fleet, "9 tick")), "", "{action}");
    }
}

#[test]
fn changed_settings_apply_to_states_that_have_not_settled() {
    let mut fleet = Fleet::new(rules());
    tell_for_effects(&mut fleet, "0 UserPromptSubmit prompt=a\n 1 Stop");
    let slower = NotifyRules { settle: Millis::seconds(5), ..rules().notify.unwrap() };
    fleet.set_notify_rules(Some(slower));
    assert_eq!(notes(&tell_for_effects(&mut fleet, "5.9 tick")), "");
    expect!["6 Completed s since 1"].assert_eq(&notes(&tell_for_effects(&mut fleet, "7 tick")));
    tell_for_effects(&mut fleet, "60 UserPromptSubmit prompt=b\n 61 Stop");
    fleet.set_notify_rules(None);
    assert_eq!(notes(&tell_for_effects(&mut fleet, "99 tick")), "");
}
