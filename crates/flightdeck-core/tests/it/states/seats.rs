//! Which seat a session is given, and why. One card each, never two.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::HostId;
use flightdeck_core::log::event::Event;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view;
use flightdeck_core::view::seats::seat_cards;
use serde_json::json;

use crate::registry::tell_all;
use crate::script::{at_seconds, record};

/// The seats as `chosen_by session pane`, with a mark if one is free; and the number of cards on the board.
fn seated(script: &str) -> (Vec<String>, usize) {
    let mut fleet = Fleet::new(FoldSettings::default());
    tell_all(&mut fleet, script);
    let seat = |seat: &view::seats::KnownSeatCard| {
        let free = if seat.occupied { "" } else { " free" };
        let pane = seat.pane.as_deref().unwrap_or("-");
        format!("{} {} {pane}{free}", seat.chosen_by.as_str(), seat.session_id)
    };
    let live = view::board(&fleet).iter().filter(|card| card.ended_at.is_none()).count();
    (seat_cards(&fleet).iter().map(seat).collect(), live)
}

#[track_caller]
fn check(script: &str, seats: &[&str], live: usize) {
    assert_eq!(seated(script), (seats.iter().map(|s| (*s).to_owned()).collect(), live));
}

const PANE_1: &str = "TMUX=/tmp/tmux,1,0 TMUX_PANE=%1 pid=7 proc_start=1";
const PANE_2: &str = "TMUX=/tmp/tmux,1,0 TMUX_PANE=%2 pid=8 proc_start=2";

#[test]
fn a_session_keeps_its_seat() {
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 1 UserPromptSubmit prompt=a {PANE_1}
             2 PreCompact trigger=auto {PANE_1}\n 3 SessionStart source=compact {PANE_1}\n 4 Stop {PANE_1}"
        ),
        &["new s %1"],
        1,
    );
}

#[test]
fn clear_leaves_the_next_session_in_the_same_seat() {
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 5 SessionStart source=clear session_id=t {PANE_1}"
        ),
        &["pane t %1"],
        1,
    );
    let no_pane = "pid=7 proc_start=1";
    check(
        &format!(
            "0 SessionStart source=startup {no_pane}\n 5 SessionStart source=clear session_id=t {no_pane}"
        ),
        &["pid t -"],
        1,
    );
}

#[test]
fn a_restart_in_the_same_pane_takes_its_seat() {
    let again = PANE_1.replace("pid=7 proc_start=1", "pid=9 proc_start=3");
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 1 SessionEnd reason=other {PANE_1}
             5 SessionStart source=startup session_id=t {again}"
        ),
        &["pane t %1"],
        1,
    );
}

#[test]
fn a_session_that_is_resumed_in_the_same_pane_sits_there_again() {
    let again = PANE_1.replace("pid=7 proc_start=1", "pid=9 proc_start=3");
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 1 SessionEnd reason=other {PANE_1}
             5 SessionStart source=resume {again}"
        ),
        &["pane s %1"],
        1,
    );
}

#[test]
fn a_session_that_is_resumed_in_another_pane_is_one_card() {
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 1 SessionEnd reason=other {PANE_1}
             5 SessionStart source=resume {PANE_2}"
        ),
        &["directory s %2"],
        1,
    );
}

#[test]
fn two_sessions_in_one_directory_have_a_seat_each() {
    check(
        &format!(
            "0 SessionStart source=startup {PANE_1}\n 1 SessionStart source=startup session_id=t {PANE_2}"
        ),
        &["new s %1", "new t %2"],
        2,
    );
}

#[test]
fn the_seat_of_a_dead_process_is_taken_by_the_next_session_in_its_directory() {
    let dead = format!("0 SessionStart source=startup {PANE_1}\n 1 gone 7@1");
    check(&dead, &["new s %1 free"], 0);
    check(&format!("{dead}\n 5 SessionStart source=startup session_id=t {PANE_2}"), &["directory t %2"], 1);
    check(
        &format!("{dead}\n 5 SessionStart source=startup session_id=t cwd=/w/other {PANE_2}"),
        &["new t %2", "new s %1 free"],
        1,
    );
    let other_server = PANE_2.replace("/tmp/tmux,", "/tmp/other,");
    check(
        &format!("{dead}\n 5 SessionStart source=startup session_id=t {other_server}"),
        &["new t %2", "new s %1 free"],
        1,
    );
}

#[test]
fn a_claimed_seat_waits_for_its_name() {
    let claimed = format!("0 SessionStart source=startup AGENT_ID=reviewer {PANE_1}\n 1 gone 7@1");
    check(
        &format!("{claimed}\n 5 SessionStart source=startup session_id=t {PANE_2}"),
        &["new t %2", "new s %1 free"],
        1,
    );
    check(
        &format!("{claimed}\n 5 SessionStart source=startup session_id=t AGENT_ID=reviewer {PANE_2}"),
        &["explicit_id t %2"],
        1,
    );
}

#[test]
fn a_session_that_only_the_registry_reported_finds_its_pane_later() {
    check(
        &format!(
            "0 SessionStart source=startup session_id=old {PANE_1}\n 1 SessionEnd reason=other session_id=old {PANE_1}
             2 registry idle pid=8 procStart=2\n 3 UserPromptSubmit prompt=a {}",
            PANE_1.replace("pid=7 proc_start=1", "pid=8 proc_start=2")
        ),
        &["pane s %1"],
        1,
    );
}

#[test]
fn a_name_alone_is_a_seat() {
    let named = "0 SessionStart source=startup FLIGHTDECK_SEAT=reviewer";
    check(named, &["new s -"], 1);
    check("0 SessionStart source=startup AGENT_ID=reviewer\n 1 Stop AGENT_ID=reviewer", &["new s -"], 1);
    check(&format!("{named}\n 1 SessionEnd reason=other FLIGHTDECK_SEAT=reviewer"), &["new s - free"], 0);
}

#[test]
fn a_session_with_the_same_name_takes_the_seat_and_another_name_is_another_seat() {
    let two = "0 SessionStart source=startup FLIGHTDECK_SEAT=a
               1 SessionStart source=startup session_id=t FLIGHTDECK_SEAT=b";
    check(two, &["new s -", "new t -"], 2);
    check(
        &format!(
            "{two}\n 2 SessionEnd reason=other FLIGHTDECK_SEAT=a
             3 SessionStart source=startup session_id=u FLIGHTDECK_SEAT=a"
        ),
        &["explicit_id u -", "new t -"],
        2,
    );
}

#[test]
fn the_same_name_on_another_host_is_another_seat() {
    let mut fleet = Fleet::new(FoldSettings::default());
    let hosts = [("s", HostId::this_machine()), ("t@build-1", HostId::new("build-1"))];
    for (n, (session, host)) in hosts.into_iter().enumerate() {
        let payload = json!({"session_id": session, "cwd": "/w/api", "hook_event_name": "SessionStart"});
        let env = json!({"AGENT_ID": "lead"}).as_object().unwrap().clone();
        let at = at_seconds(&n.to_string());
        let mut start = record(payload.as_object().unwrap().clone(), env, n as u64 + 1, at, fleet.now());
        start.host = host;
        fleet.apply(&Event::from_record(&start));
    }
    let of: Vec<_> =
        seat_cards(&fleet).iter().map(|seat| (seat.session_id.to_string(), seat.occupied)).collect();
    assert_eq!(of, [("s".to_owned(), true), ("t@build-1".to_owned(), true)]);
}

#[test]
fn a_seat_known_by_its_name_learns_its_pane_later() {
    check(
        &format!(
            "0 SessionStart source=startup FLIGHTDECK_SEAT=a\n 1 UserPromptSubmit prompt=a FLIGHTDECK_SEAT=a {PANE_1}"
        ),
        &["new s %1"],
        1,
    );
}
