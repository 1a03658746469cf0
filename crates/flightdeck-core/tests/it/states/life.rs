//! How a session begins, ends, is replaced, goes quiet and stale.

use expect_test::expect;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::rules::FoldSettings;

use crate::script::{at_seconds, card, check, tell};

#[test]
fn an_ended_session_is_done_at_once_and_only_a_start_brings_it_back() {
    let ended = "0 UserPromptSubmit prompt=a\n 1 SubagentStart agent_id=x agent_type=Explore\n 2 SessionEnd reason=other";
    check(ended, expect![[r#"done session_ended "Session closed" · Explore Done "Done""#]]);
    check(
        &format!("{ended}\n 3 PreToolUse tool_name=Bash tool_use_id=z\n 4 UserPromptSubmit prompt=b"),
        expect![[r#"done session_ended "Session closed" · Explore Done "Done""#]],
    );
    check(&format!("{ended}\n 5 SessionStart source=resume"), expect![[r#"needs_you idle "Ready""#]]);
}

#[test]
fn done_keeps_a_card_for_half_an_hour_and_a_late_hook_makes_no_ghost() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(&mut fleet, "0 SessionStart source=startup\n 10 SessionEnd reason=other\n 1809 tick");
    assert!(fleet.get(&"s".into()).is_some());
    tell(&mut fleet, "1811 PostToolUse tool_name=Bash tool_use_id=a");
    assert!(fleet.get(&"s".into()).is_none(), "a late hook made a ghost");
    tell(&mut fleet, "1812 SessionStart source=resume");
    assert!(fleet.get(&"s".into()).is_some());
}

#[test]
fn done_counts_from_the_end_itself_also_if_it_was_stored_late() {
    let on_board = |script: &str| {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, script);
        fleet.get(&"s".into()).is_some()
    };
    // Twenty minutes in the spool: ten are left.
    let spooled = "0@0 SessionStart source=startup\n 1210@10 SessionEnd reason=other";
    assert!(on_board(&format!("{spooled}\n 1809 tick")));
    assert!(!on_board(&format!("{spooled}\n 1811 tick")));
    // Stored after its half hour: it is still announced as completed before it leaves.
    let old = "0@0 SessionStart source=startup\n 7200@10 SessionEnd reason=other";
    assert!(on_board(&format!("{old}\n 7209 tick")));
    assert!(!on_board(&format!("{old}\n 7211 tick")));
}

#[test]
fn clear_replaces_the_card_instead_of_doubling_it() {
    for script in [
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         1 SessionEnd reason=clear session_id=a pid=7 proc_start=1
         2 SessionStart source=clear session_id=b pid=7 proc_start=1",
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         1 SessionStart source=clear session_id=b pid=7 proc_start=1
         2@0.5 SessionEnd reason=clear session_id=a pid=7 proc_start=1",
    ] {
        let mut fleet = Fleet::new(FoldSettings::default());
        tell(&mut fleet, script);
        let board = flightdeck_core::view::board(&fleet);
        assert_eq!(board.iter().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(board[0].continues.as_deref(), Some("a"));
        assert_eq!(card(&fleet, "a").agent_state.state.as_str(), "session_ended");
    }
}

#[test]
fn the_same_pid_of_another_process_replaces_nothing() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "0 SessionStart source=startup session_id=a pid=7 proc_start=1
         2 SessionStart source=startup session_id=b pid=7 proc_start=2",
    );
    assert_eq!(flightdeck_core::view::board(&fleet).len(), 2);
}

#[test]
fn a_start_that_lay_in_the_spool_does_not_end_who_sits_there_since() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "5 SessionStart source=clear session_id=b pid=7 proc_start=1
         6@1 SessionStart source=startup session_id=a pid=7 proc_start=1",
    );
    assert_eq!(card(&fleet, "b").replaced_by, None);
    assert_eq!(card(&fleet, "b").agent_state.state.as_str(), "idle");
}

#[test]
fn a_session_resumed_in_another_terminal_leaves_its_old_pane() {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell(
        &mut fleet,
        "0 SessionStart source=startup pid=7 proc_start=1 TMUX_PANE=%5
         9 SessionStart source=resume pid=8 proc_start=2",
    );
    assert_eq!(card(&fleet, "s").seat.pane, None);
}

#[test]
fn a_working_session_without_a_sign_of_life_is_marked_quiet_and_stays_where_it_is() {
    check("0 UserPromptSubmit prompt=a\n 59 tick", expect![[r#"running thinking "Thinking""#]]);
    check("0 UserPromptSubmit prompt=a\n 61 tick", expect![[r#"running thinking "Thinking" · quiet"#]]);
    check(
        "0 UserPromptSubmit prompt=a\n 61 tick\n 62 PreToolUse tool_name=Bash tool_use_id=a",
        expect![[r#"running acting "Bash""#]],
    );
    check(
        "0 UserPromptSubmit prompt=a\n 30 PreToolUse tool_name=Bash tool_use_id=a\n 61 tick\n 91 tick",
        expect![[r#"running acting "Bash" · quiet"#]],
    );
}

#[test]
fn a_session_that_gave_a_sign_of_life_can_go_quiet_and_stale_again() {
    check(
        "0 UserPromptSubmit prompt=a
         61 tick
         70 PreToolUse tool_name=Bash tool_use_id=a
         131 tick",
        expect![[r#"running acting "Bash" · quiet"#]],
    );
    check(
        "0 Stop
         28801 tick
         28900 Notification notification_type=auth_success
         57800 tick",
        expect![[r#"needs_you idle "Waiting for your next prompt" · stale"#]],
    );
}

#[test]
fn after_eight_hours_a_session_is_stale_and_nothing_more() {
    check("0 Stop\n 28799 tick", expect![[r#"needs_you idle "Waiting for your next prompt""#]]);
    check("0 Stop\n 28801 tick", expect![[r#"needs_you idle "Waiting for your next prompt" · stale"#]]);
}

#[test]
fn the_overview_tells_of_sessions_that_left_the_board_and_nothing_of_what_was_forgotten() {
    let mut fleet = Fleet::new(FoldSettings::default());
    crate::registry::tell_all(
        &mut fleet,
        "0 UserPromptSubmit prompt=a
        10 Stop
        20 SessionEnd reason=exit",
    );
    let _ = fleet.tick(at_seconds("20") + FoldSettings::default().done_keeps);
    assert!(fleet.get(&"s".into()).is_none());
    let rows = flightdeck_core::view::fleet_history::fleet_history(&fleet, at_seconds("5")).sessions;
    let spans: Vec<_> = rows[0].spans.iter().map(|s| (s.from, s.to, s.label.as_str())).collect();
    assert_eq!(spans[0], (at_seconds("0"), Some(at_seconds("10")), "Working"));
    assert_eq!(spans.last().unwrap().1, Some(at_seconds("20")));
    // A look at a later stretch leaves it out.
    assert!(
        flightdeck_core::view::fleet_history::fleet_history(&fleet, at_seconds("21")).sessions.is_empty()
    );
}
