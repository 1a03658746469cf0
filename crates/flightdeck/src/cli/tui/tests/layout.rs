//! What columns, headings, popup and timeline show, and where.

use crossterm::event::KeyCode;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::timeline::{EventPage, TimelineEvent};
use flightdeck_protocol::{ErrorCode, ErrorReply};
use serde_json::json;

use super::Bench;
use super::fleet::{card, edit, fleet, on_host, permission, test_now};
use crate::cli::tui::message::{DaemonCall, Reply, ReplyData, TuiMessage};
use crate::cli::tui::model::Mode;
use crate::client::ClientError;

/// The number of the first line that contains the text, and the column in which the text begins.
#[track_caller]
fn place(screen: &str, text: &str) -> (usize, usize) {
    let found = screen.lines().enumerate().find_map(|(row, line)| Some((row, line.find(text)?)));
    found.unwrap_or_else(|| panic!("{text:?} is not on\n{screen}"))
}

fn in_project(project: &str, card: Card) -> Card {
    let mut card = card;
    card.project.name = project.to_owned();
    card.project.path = Some(format!("/w/{project}"));
    card
}

/// Two projects, each with one session that asks and one that works.
fn two_projects() -> Vec<Card> {
    let works = |id: &str| card(id, StateName::Acting, &format!("Bash: make {id}"), 5);
    vec![
        in_project("web", permission("a")),
        in_project("api", edit("b")),
        in_project("web", works("c")),
        in_project("api", works("d")),
    ]
}

#[test]
fn a_wide_list_does_not_cut_the_name_of_a_project() {
    let screen = |width| {
        let card = in_project("api-idempotency-service", permission("a"));
        let mut bench = Bench::new(Mode::Full, (width, 30), vec![card]);
        // Without the details, which name the project too.
        bench.keys(" ");
        bench.screen()
    };
    assert!(!screen(100).contains("api-idempotency-service"), "{}", screen(100));
    assert!(screen(140).contains("api-idempotency-service"), "{}", screen(140));
}

#[test]
fn columns_are_grouped_inside_each_column() {
    let mut bench = Bench::new(Mode::Full, (200, 40), two_projects());
    assert!(!bench.screen().contains("─ api"));
    bench.keys("c");
    assert_eq!(bench.note(), "grouped by project");
    let screen = bench.screen();
    assert_eq!((screen.matches("─ api 1").count(), screen.matches("─ web 1").count()), (2, 2), "{screen}");
    assert!(place(&screen, "─ api 1").0 < place(&screen, "─ web 1").0);
    assert!(place(&screen, "─ web 1").0 < place(&screen, "Bash: make c").0, "{screen}");
    let order: Vec<&str> = bench.model.listing.order.iter().map(|id| id.as_str()).collect();
    assert_eq!(order, ["b", "a", "d", "c"], "the keys move in the order of the screen");
    bench.keys("c");
    assert_eq!(
        bench.note(),
        "grouped by state",
        "a column is a state, so there is no third way without hosts"
    );
}

#[test]
fn a_grouping_by_host_stays_in_columns_and_tree() {
    let own =
        Card { host: Some("desk".into()), ..in_project("web", card("a", StateName::Acting, "Bash", 5)) };
    let other = on_host("build-2", &[], in_project("web", card("b", StateName::Acting, "Bash", 5)));
    let mut bench = Bench::new(Mode::Full, (120, 30), vec![other, own]);
    bench.keys("ccv");
    let columns = bench.screen();
    assert!(place(&columns, "─ desk 1").0 < place(&columns, "─ build-2 1").0, "{columns}");
    bench.keys("v");
    let tree = bench.screen();
    let at = |text: &str| place(&tree, text);
    assert_eq!((at(" desk 1").1, at("   web 1").1), (0, 0), "{tree}");
    assert!(at(" desk 1").0 < at("   web 1").0 && at("   web 1").0 < at(" build-2 1").0, "{tree}");
    assert!(tree.contains("[by host]"));
    bench.keys("c");
    assert_eq!(bench.note(), "grouped by project");
    assert!(!bench.screen().contains(" desk 1"), "{}", bench.screen());
}

#[test]
fn a_tree_on_one_host_says_how_it_is_grouped() {
    let mut bench = Bench::new(Mode::Full, (120, 30), two_projects());
    bench.keys("vv");
    let before = bench.screen().replace(bench.note(), "");
    bench.keys("c");
    assert_eq!(bench.note(), "a tree is always grouped by project and worktree");
    assert_eq!(bench.screen().replace(bench.note(), ""), before);
}

#[test]
fn the_heading_counts_what_the_first_line_counts() {
    for size in [(80, 24), (200, 40)] {
        let screen = Bench::new(Mode::Full, size, fleet()).screen();
        assert!(screen.contains("● 3 need you") && screen.contains("NEEDS YOU 3 + 3 idle"), "{screen}");
    }
    let screen = Bench::new(Mode::Full, (80, 24), vec![permission("a")]).screen();
    assert!(screen.contains("NEEDS YOU 1\n") || screen.contains("NEEDS YOU 1 "), "{screen}");
    assert!(!screen.contains("idle"), "{screen}");
}

fn refuse_focus(bench: &mut Bench, id: &str) {
    let said = "no tmux pane of this session is known: start Claude Code inside tmux to jump to it";
    let refusal = ErrorReply { error: ErrorCode::Refused, message: said.to_owned(), details: None };
    let result = Err(ClientError::Refused(refusal));
    bench.send(TuiMessage::Reply(Box::new(Reply { call: DaemonCall::Focus(id.into()), result })));
}

#[test]
fn a_popup_says_what_went_wrong_and_keeps_its_text_field() {
    let mut bench = Bench::new(Mode::Popup, (60, 15), fleet());
    bench.press(KeyCode::Enter);
    refuse_focus(&mut bench, "s-permission");
    let screen = bench.screen();
    for part in ["no tmux pane of this session is known", "jump to it"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(screen.lines().last().unwrap().starts_with(" /"), "{screen}");
    bench.wait(9000);
    assert!(!bench.screen().contains("no tmux pane"));
    bench.send(TuiMessage::Lost("the daemon closed the connection".into()));
    let screen = bench.screen();
    let words: Vec<&str> = screen.split_whitespace().collect();
    let lost = "not connected, trying again: the daemon closed the connection";
    assert!(words.join(" ").contains(lost), "{screen}");
}

#[test]
fn a_long_note_is_wrapped_and_not_cut() {
    let started = "started a daemon (pid 12345, http://127.0.0.1:47892); it stays when you leave";
    for (mode, size) in [(Mode::Popup, (60, 15)), (Mode::Sidebar, (30, 20)), (Mode::Full, (60, 15))] {
        let mut bench = Bench::new(mode, size, Vec::new());
        bench.send(TuiMessage::Started(started.to_owned()));
        let screen = bench.screen();
        let words: Vec<&str> = screen.split_whitespace().collect();
        assert!(words.join(" ").contains(started), "{screen}");
    }
}

#[test]
fn a_text_field_of_the_board_shows_a_lost_connection_too() {
    let mut bench = Bench::new(Mode::Full, (80, 16), fleet());
    bench.keys("/cart");
    bench.send(TuiMessage::Lost("the daemon closed the connection".into()));
    let screen = bench.screen();
    assert!(screen.contains("not connected") && screen.contains(" /cart"), "{screen}");
}

#[test]
fn the_timeline_says_why_a_call_failed() {
    let mut bench = Bench::new(Mode::Full, (120, 24), vec![card("a", StateName::Acting, "Bash", 5)]);
    let event = |seq: usize, name: &str, summary: &str| -> TimelineEvent {
        serde_json::from_value(json!({
            "seq": seq, "id": format!("{seq}"), "fired_at": test_now(), "received_at": test_now(), "source": "hook",
            "name": name, "agent_id": null, "by_person": false, "summary": summary
        }))
        .unwrap()
    };
    let long = format!("Bash: {}", "cargo test ".repeat(12).trim_end());
    let events = vec![
        event(1, "PreToolUse", "Bash: pytest -q"),
        event(2, "PostToolUseFailure", "Bash: pytest -q failed: Exit code 1 ==== FAILURES ===="),
        event(3, "PreToolUse", &long),
        event(4, "PostToolUseFailure", &format!("{long} failed: Timed out after 2m")),
        event(5, "PostToolUseFailure", "Read: /w/none failed: File does not exist."),
    ];
    let page = EventPage { events, next_before: None, next_after: None };
    let call = DaemonCall::Timeline("a".into());
    bench.send(TuiMessage::Reply(Box::new(Reply { call, result: Ok(ReplyData::Timeline(page)) })));
    let screen = bench.screen();
    let line = |part: &str| {
        screen.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {screen}"))
    };
    assert!(line("✗ Bash: pytest -q").ends_with("exit 1 ==== FAILURES ===="), "{screen}");
    assert!(line("✗ Bash: cargo test cargo").ends_with("… Timed out after 2m"), "{screen}");
    assert!(line("✗ Read: /w/none").ends_with("File does not exist."), "{screen}");
}

#[test]
fn several_suggestions_are_named_with_their_numbers() {
    let rule = |content: &str| {
        json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
            "rules": [{"toolName": "Bash", "ruleContent": content}]})
    };
    let with = |rules: &[&str]| {
        let mut card = permission("a");
        card.asks[0].suggestions = rules.iter().map(|content| rule(content)).collect();
        Bench::new(Mode::Full, (100, 24), vec![card]).screen()
    };
    let screen = with(&["git rebase:*", "git:*"]);
    assert!(screen.contains("a always: 1 or 2") && !screen.contains("always …"), "{screen}");
    let [key, first, second] = ["a always: 1 or 2", "1 always allow git rebase:*", "2 always allow git:*"]
        .map(|text| place(&screen, text).0);
    assert_eq!((first, second), (key + 1, key + 2), "each is explained below the key: {screen}");
    assert!(with(&["a:*", "b:*", "c:*"]).contains("a always: 1, 2 or 3"));
    assert!(with(&["a:*"]).contains("a always allow a:* in this checkout"));
}

#[test]
fn a_wide_column_shows_model_context_cost_turn_and_length_of_each_card() {
    for size in [(200, 60), (300, 80)] {
        let mut bench = Bench::new(Mode::Full, size, fleet());
        let screen = bench.screen();
        let row = place(&screen, "Bash: cargo test -p pay").0;
        let lines: Vec<&str> = screen.lines().skip(row).take(3).collect();
        assert!(lines[1].contains("Work of session s-acting"), "{screen}");
        for part in ["opus-5-5", "███░░", " 63%", "$2.87", "1:12", "12m"] {
            assert!(lines[2].contains(part), "{part} at {size:?}\n{screen}");
        }
        assert!(screen.contains("├ ● Explore find the css") && screen.contains("└ ◆ Plan"), "{screen}");
        assert!(screen.contains("✓ Session closed"), "a column with room shows all of its cards: {screen}");
    }
}

#[test]
fn a_narrow_column_with_room_has_a_line_for_model_and_times() {
    let screen = Bench::new(Mode::Full, (150, 60), fleet()).screen();
    let row = place(&screen, "Bash: cargo test -p pay").0;
    let lines: Vec<&str> = screen.lines().skip(row).take(4).collect();
    assert!(lines[2].contains("63% $2.87"), "{screen}");
    assert!(
        lines[3].contains("opus-5-5") && lines[3].contains("1:12") && lines[3].contains("12m"),
        "{screen}"
    );
}

#[test]
fn a_column_without_room_shortens_its_cards_and_scrolls_by_whole_cards() {
    let works = |n: usize| card(&format!("w{n:02}"), StateName::Acting, &format!("Bash: make {n:02}"), 5);
    let mut bench = Bench::new(Mode::Full, (200, 24), (0..30).map(works).collect());
    let screen = bench.screen();
    assert!(
        screen.contains("make 00") && screen.contains("make 09") && !screen.contains("opus-5-5 ░"),
        "{screen}"
    );
    bench.keys("G");
    let screen = bench.screen();
    let line = |at: usize| screen.lines().nth(at).unwrap().to_owned();
    assert!(line(2).contains("Bash: make "), "the first line below the heading begins a card: {screen}");
    assert!(screen.contains("make 29"), "{screen}");
}
