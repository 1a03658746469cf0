//! Sessions of other machines: where they are shown, and what may be done to them from here.

use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::Millis;
use flightdeck_core::view::card::Card;

use super::Bench;
use super::fleet::{card, on_host, permission, test_now};
use crate::cli::tui::message::{DaemonCall, TuiCommand};
use crate::cli::tui::model::Mode;

fn idle(id: &str) -> Card {
    card(id, StateName::Idle, "Waiting for your next prompt", 60)
}

fn unreachable(card: Card) -> Card {
    Card { unreachable_since: Some(test_now() - Millis::minutes(5)), takes: None, ..card }
}

#[test]
fn the_board_says_on_which_host_a_session_is_and_that_the_host_is_gone() {
    let gone = unreachable(on_host("build-2", &["answer"], permission("b")));
    let mut bench = Bench::new(Mode::Full, (120, 30), vec![idle("a"), gone]);
    bench.keys("g");
    let screen = bench.screen();
    for text in ["build-2:storefront", "unreachable · git rebase main", "[unreachable since 10:25]"] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    bench.keys("/build");
    assert_eq!(bench.model.listing.order.len(), 1, "a search finds the host");
}

#[test]
fn sessions_are_grouped_by_host_if_there_is_more_than_one() {
    let own = Card { host: Some("desk".into()), ..idle("a") };
    let other = on_host("build-2", &[], idle("b"));
    let mut bench = Bench::new(Mode::Full, (120, 30), vec![other, own.clone()]);
    bench.keys("cc");
    assert_eq!(bench.note(), "grouped by host");
    let screen = bench.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("no {text}: {screen}"));
    assert!(at(" desk 1") < at(" build-2 1"), "this machine first: {screen}");
    let mut bench = Bench::new(Mode::Full, (120, 30), vec![own]);
    bench.keys("cc");
    assert_eq!(bench.note(), "not grouped");
}

#[test]
fn what_the_host_does_not_accept_is_refused_in_its_terms() {
    let refused = |card: Card, key: &str| {
        let mut bench = Bench::full(vec![card]);
        assert_eq!(bench.keys(key), []);
        assert!(
            bench.model.question.is_none() && bench.model.input.is_none() && bench.model.pending.is_none()
        );
        bench.note().to_owned()
    };
    let no = |action: &str| format!("build-2 does not accept `{action}` from other hosts");
    let no_terminal = |card: Card| Card { takes: None, ..card };
    assert_eq!(refused(no_terminal(on_host("build-2", &["answer"], idle("b"))), "p"), no("prompt"));
    let works = card("b", StateName::Acting, "Bash", 5);
    assert_eq!(refused(no_terminal(on_host("build-2", &["answer"], works)), "x"), no("interrupt"));
    assert_eq!(refused(on_host("build-2", &["prompt"], permission("b")), "y"), no("answer"));
    let gone = refused(unreachable(on_host("build-2", &["answer"], permission("b"))), "y");
    assert!(gone.starts_with("build-2 is unreachable since "), "{gone}");
}

#[test]
fn a_request_whose_command_is_not_shared_is_denied_but_not_allowed() {
    let mut hidden = on_host("build-2", &["answer"], permission("b"));
    hidden.owner.as_mut().unwrap().shares_payloads = false;
    let mut bench = Bench::full(vec![hidden]);
    assert_eq!(bench.keys("y"), []);
    assert_eq!(bench.note(), "build-2 shares no payloads, so its requests can be allowed only there");
    bench.keys("d");
    let sent = super::without_reading(bench.wait(2000));
    assert!(matches!(&sent[..], [TuiCommand::Call(DaemonCall::Answer { .. })]), "{sent:?}");
}

#[test]
fn projects_of_one_name_are_one_heading_only_if_they_are_one_folder() {
    let at = |id: &str, path: &str| {
        let mut card = idle(id);
        card.project.path = Some(path.to_owned());
        card
    };
    let other = on_host("build-2", &[], at("d", "/w/storefront"));
    let cards =
        vec![at("a", "/w/storefront"), at("b", "/w/storefront"), at("c", "/old/storefront"), other.clone()];
    let mut bench = Bench::new(Mode::Full, (120, 30), cards);
    let headings =
        [" storefront · /old/storefront 1", " storefront · /w/storefront 2", " build-2:storefront 1"];
    bench.keys("c");
    let by_project = bench.screen();
    bench.keys("cccvv");
    let tree = bench.screen();
    for screen in [by_project, tree] {
        assert!(headings.iter().all(|heading| screen.contains(heading)), "{screen}");
    }
    let mut bench = Bench::new(Mode::Full, (120, 30), vec![at("a", "/w/storefront"), other]);
    bench.keys("c");
    assert!(bench.screen().contains(" storefront 1"), "{}", bench.screen());
}
