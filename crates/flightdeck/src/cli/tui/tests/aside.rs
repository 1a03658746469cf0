//! Requests that are alike and answered together, and sessions that are put aside.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use flightdeck_core::approval::answer::{Answer, Decision};
use flightdeck_core::approval::resolution::AnsweredBy;
use flightdeck_core::session::Parking;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::sessions::ParkSession;
use serde_json::json;

use super::fleet::{asking, card, dangerous, edit, permission, test_now};
use super::{Bench, without_reading};
use crate::cli::tui::message::{DaemonCall, Reply, ReplyData, TuiCommand, TuiMessage};
use crate::cli::tui::model::Mode;

/// Each of these texts is on the screen.
#[track_caller]
fn shows(bench: &mut Bench, texts: &[&str]) {
    let screen = bench.screen();
    for text in texts {
        assert!(screen.contains(text), "{text:?} is not on\n{screen}");
    }
}

fn answered(session: &str, decision: Decision) -> TuiCommand {
    let answer = Box::new(Answer::without_details(decision, AnsweredBy::Tui));
    TuiCommand::Call(DaemonCall::Answer { ask: format!("ask-{session}").as_str().into(), answer })
}

fn update(bench: &mut Bench, card: Card) {
    bench.change(Change::SessionUpdated { session: Box::new(card) });
    bench.draw();
}

fn five() -> Vec<Card> {
    let mut cards: Vec<Card> = ["a", "b", "c", "d", "e"].map(permission).into();
    for card in &mut cards {
        card.seat.name = Some(format!("seat-{}", card.id).into());
    }
    cards
}

/// Requests for different commands for which the same rule is suggested.
fn tests_of(packages: &[&str]) -> Vec<Card> {
    let rule = json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "cargo test:*"}]});
    let card = |package: &&str| {
        let input = json!({ "command": format!("cargo test -p {package}"), "description": package });
        let mut card = asking(
            package,
            &format!("Permission for Bash: cargo test -p {package}"),
            json!({ "tool_input": input, "suggestions": [rule] }),
        );
        card.status.reason = Some("Permission for Bash".to_owned());
        card.seat.name = Some(format!("seat-{package}").into());
        card
    };
    packages.iter().map(card).collect()
}

#[test]
fn five_requests_that_are_the_same_are_one_line_and_one_key_allows_them() {
    let mut bench = Bench::new(Mode::Full, (100, 20), [five(), vec![edit("z")]].concat());
    shows(&mut bench, &["NEEDS YOU 6", "◆ 5× git rebase main", "Permission for Bash in 5 sessions"]);
    shows(&mut bench, &["  $ git rebase main", "    seat-a, seat-b, seat-c, seat-d, seat-e"]);
    shows(
        &mut bench,
        &["  y allow all 5   d deny all 5   u one by one", " y allow all 5  d deny all 5  u one by one"],
    );
    assert_eq!(bench.screen().matches("git rebase main").count(), 2, "in the list and in the details");
    assert_eq!(bench.keys("y"), []);
    assert!(bench.screen().contains(" allowed 5  z takes it back"));
    assert_eq!(bench.selected(), "z", "the next request is selected");
    let sent = without_reading(bench.wait(2000));
    assert_eq!(sent, ["a", "b", "c", "d", "e"].map(|id| answered(id, Decision::Allow)));
}

#[test]
fn they_are_taken_back_together() {
    let mut bench = Bench::full([five(), vec![edit("z")]].concat());
    bench.keys("d");
    bench.keys("z");
    assert_eq!((bench.selected(), bench.note()), ("a", "taken back: nothing was sent"));
    assert_eq!(without_reading(bench.wait(9000)), []);
    bench.keys("d");
    assert_eq!(bench.keys("d"), ["a", "b", "c", "d", "e"].map(|id| answered(id, Decision::Deny)));
}

#[test]
fn one_by_one_answers_only_the_selected_request() {
    let mut bench = Bench::full(five());
    bench.keys("a");
    assert_eq!(bench.note(), "these are answered together: u shows them one by one");
    bench.keys("u");
    bench.draw();
    assert_eq!(bench.model.listing.order.len(), 5);
    bench.wait(1000);
    bench.keys("jy");
    assert_eq!(without_reading(bench.wait(2000)), [answered("b", Decision::Allow)]);
}

#[test]
fn different_inputs_of_one_rule_are_all_listed_before_they_are_allowed() {
    let mut bench = Bench::new(Mode::Full, (100, 24), tests_of(&["cart", "mail", "pay", "ship", "tax"]));
    shows(
        &mut bench,
        &["5 different inputs that one rule would cover:", "cargo test:*", "◆ 5× cargo test -p cart"],
    );
    shows(&mut bench, &["$ cargo test -p pay", "    seat-pay", "+2 more: y shows them", "y allow all 5"]);
    assert!(!bench.screen().contains("cargo test -p ship"));
    bench.keys("y");
    assert!(bench.model.pending.is_none());
    assert_eq!(bench.note(), "all 5 are listed now: press again to allow them");
    shows(&mut bench, &["$ cargo test -p ship", "$ cargo test -p tax", "    seat-tax", "  y allow all 5"]);
    bench.keys("yy");
    assert!(bench.model.pending.is_none(), "the second press sent them");
}

#[test]
fn what_cannot_be_undone_or_is_long_or_asks_twice_stays_apart() {
    let mut long = [permission("a"), permission("b")];
    for card in &mut long {
        let command = "echo line\n".repeat(20);
        card.asks[0].tool_input = json!({ "command": command }).as_object().cloned();
    }
    let mut twice = [permission("a"), permission("b")];
    for card in &mut twice {
        let mut second = card.asks[0].clone();
        second.id = "another".into();
        card.asks.push(second);
    }
    let everything = json!({"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Edit"}]});
    let mut edits = [edit("a"), edit("b")];
    edits[1].asks[0].tool_input = json!({ "file_path": "/other" }).as_object().cloned();
    edits.iter_mut().for_each(|card| card.asks[0].suggestions = vec![everything.clone()]);
    for cards in [vec![dangerous("a"), dangerous("b")], long.into(), twice.into(), edits.into()] {
        assert_eq!(Bench::full(cards).model.listing.order.len(), 2);
    }
    // A popup picks one session, and the tree shows each at its place.
    assert_eq!(Bench::new(Mode::Popup, (60, 15), five()).model.listing.order.len(), 5);
    let mut bench = Bench::full(five());
    bench.keys("vv");
    bench.draw();
    assert_eq!(bench.model.listing.order.len(), 5);
}

#[test]
fn a_request_that_joins_the_others_under_the_finger_is_not_answered() {
    let mut bench = Bench::full(vec![permission("b"), card("a", StateName::Acting, "Bash", 5)]);
    update(&mut bench, permission("a"));
    assert_eq!(bench.selected(), "b", "the selected line stays");
    bench.keys("y");
    assert!(bench.note().starts_with("the request has just changed"), "{}", bench.note());
    bench.wait(500);
    bench.keys("y");
    let sent = without_reading(bench.wait(2000));
    assert_eq!(sent, ["b", "a"].map(|id| answered(id, Decision::Allow)));
}

#[test]
fn one_that_was_answered_elsewhere_is_left_out() {
    let mut bench = Bench::full(five());
    update(&mut bench, card("c", StateName::Acting, "Bash", 1));
    bench.wait(500);
    assert!(bench.screen().contains("y allow all 4"));
    bench.keys("y");
    assert_eq!(without_reading(bench.wait(2000)).len(), 4);
    // The session that stands for all is answered in its terminal: its line no longer stands for others.
    let mut bench = Bench::full(five());
    bench.change(Change::SessionUpdated { session: Box::new(card("a", StateName::Acting, "Bash", 1)) });
    bench.wait(500);
    bench.keys("y");
    assert_eq!(bench.note(), "the selected session asks nothing");
}

fn parked(id: &str, until: Option<Timestamp>) -> Card {
    Card {
        parked: Some(Parking { since: test_now(), until }),
        ..card(id, StateName::Idle, "Waiting for your next prompt", 60)
    }
}

fn park(session: &str, until: Option<Timestamp>) -> ParkSession {
    ParkSession { session_id: session.into(), until, parked: true }
}

#[test]
fn an_idle_session_is_parked_until_an_event_an_hour_or_tomorrow() {
    let tomorrow = Timestamp::parse("2026-11-19T08:00:00.000Z").unwrap();
    let hour = test_now() + Millis::hours(1);
    for (keys, until) in [("Pe", None), ("PP", None), ("Ph", Some(hour)), ("Pt", Some(tomorrow))] {
        let mut bench = Bench::full(vec![card("a", StateName::Idle, "Ready", 60)]);
        assert_eq!(bench.keys(keys), [TuiCommand::Call(DaemonCall::Park(park("a", until)))], "{keys}");
    }
    let mut bench = Bench::new(Mode::Full, (80, 12), vec![card("a", StateName::Idle, "Ready", 60)]);
    bench.keys("P");
    let asked = " Park it until   e: its next event   h: in an hour   t: tomorrow, 8:00\n";
    assert!(bench.screen().ends_with(asked));
    assert_eq!(bench.keys("x"), []);
    assert_eq!(bench.note(), "left as it is");
    bench.keys("Pt");
    let call = DaemonCall::Park(park("a", Some(tomorrow)));
    bench.send(TuiMessage::Reply(Box::new(Reply { call, result: Ok(ReplyData::Parked) })));
    assert_eq!(bench.note(), "parked until 19 Nov 08:00");
}

#[test]
fn a_session_that_blocks_or_works_is_not_parked() {
    for card in [permission("a"), card("a", StateName::Acting, "Bash", 5)] {
        let mut bench = Bench::full(vec![card]);
        assert_eq!(bench.keys("Pe"), []);
        assert!(bench.model.question.is_none());
    }
    let mut bench = Bench::full(vec![permission("a")]);
    bench.keys("P");
    assert_eq!(bench.note(), "only a session that waits for its next prompt can be parked");
}

#[test]
fn parked_sessions_are_folded_counted_found_and_taken_back() {
    let cards = vec![
        card("a", StateName::Acting, "Bash: cargo test", 5),
        parked("b", Some(test_now() + Millis::hours(1))),
        parked("c", None),
    ];
    let mut bench = Bench::new(Mode::Full, (120, 14), cards.clone());
    shows(&mut bench, &["1 running · 0 done · 2 parked", " PARKED 2  f or / shows them"]);
    assert!(!bench.screen().contains("Waiting for your next prompt"));
    assert_eq!(bench.model.listing.order.len(), 1);
    bench.keys("/waiting");
    assert_eq!(bench.model.listing.order.len(), 2, "a search finds them");
    bench.press(KeyCode::Esc);
    bench.draw();
    bench.keys("ffff");
    shows(&mut bench, &["[only parked]", "NEEDS YOU 0 + 2 idle", "[parked until 11:30]"]);
    let back = ParkSession { session_id: "b".into(), until: None, parked: false };
    assert_eq!(bench.keys("P"), [TuiCommand::Call(DaemonCall::Park(back.clone()))]);
    bench.send(TuiMessage::Reply(Box::new(Reply {
        call: DaemonCall::Park(back),
        result: Ok(ReplyData::Parked),
    })));
    assert_eq!(bench.note(), "back on the board");
    // A click on the folded line shows them too, and the columns count them in the first line.
    let mut bench = Bench::new(Mode::Full, (100, 14), cards.clone());
    let row = bench.screen().lines().position(|line| line.contains("PARKED")).unwrap() as u16;
    let kind = MouseEventKind::Down(MouseButton::Left);
    bench.send(TuiMessage::Mouse(MouseEvent { kind, column: 3, row, modifiers: KeyModifiers::NONE }));
    bench.draw();
    assert_eq!(bench.model.listing.order.len(), 2);
    let mut bench = Bench::new(Mode::Full, (200, 14), cards);
    let screen = bench.screen();
    assert!(screen.contains("· 2 parked") && screen.contains("NEEDS YOU 0"), "{screen}");
}

#[test]
fn a_board_on_which_all_are_parked_says_so() {
    let mut bench = Bench::new(Mode::Full, (140, 14), vec![parked("a", None)]);
    assert!(bench.screen().contains("All 1 are parked: f shows them."));
    bench.keys("ffff");
    assert!(bench.screen().contains("[parked until its next event]"), "{}", bench.screen());
}
