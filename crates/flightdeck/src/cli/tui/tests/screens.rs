//! Compares the screen of every state, size and mode with a text file. `UPDATE_EXPECT=1` writes the files.

use crossterm::event::KeyCode;
use expect_test::expect_file;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::time::Millis;
use flightdeck_core::usage::amounts::{Context, Cost};
use flightdeck_core::view::conversation::{ConversationMessage, ConversationPage, MessageKind, Speaker};
use flightdeck_protocol::terminal::PaneScreen;
use ratatui::style::{Color, Modifier};

use super::Bench;
use super::fleet::{card, dangerous, edit, fleet, form, permission, plan, question, test_now};
use crate::cli::tui::message::{DaemonCall, Reply, ReplyData, TuiMessage};
use crate::cli::tui::model::Mode;
use crate::cli::tui::text::sign;
use crate::cli::tui::theme::{TerminalBackground, Theme};

macro_rules! check {
    ($bench:expr, $name:literal) => {
        expect_file![concat!("screens/", $name, ".txt")].assert_eq(&$bench.screen())
    };
}

fn reply(bench: &mut Bench, call: DaemonCall, data: ReplyData) {
    bench.send(TuiMessage::Reply(Box::new(Reply { call, result: Ok(data) })));
}

#[test]
fn every_size_from_80_by_24_to_300_by_80() {
    check!(Bench::new(Mode::Full, (80, 24), fleet()), "80x24");
    check!(Bench::new(Mode::Full, (120, 40), fleet()), "120x40");
    check!(Bench::new(Mode::Full, (200, 60), fleet()), "200x60");
    check!(Bench::new(Mode::Full, (300, 80), fleet()), "300x80");
}

#[test]
fn no_number_of_the_details_is_cut_at_80_by_24() {
    let mut card = card("a", StateName::Acting, "Bash: cargo test -p payments", 12);
    card.context = Some(Context { tokens: 84_000, window: Some(200_000), percent: Some(42.0) });
    let cost = Cost {
        usd_micros: 12_340_000,
        client_usd_micros: None,
        unpriced_models: Vec::new(),
        by_model: Vec::new(),
    };
    (card.cost, card.turn_count, card.files_touched_total) = (Some(cost), 14, 3);
    (card.lines_added, card.lines_removed) = (1200, 340);
    let screen = Bench::new(Mode::Full, (80, 24), vec![card]).screen();
    for number in ["opus-5-5", "42% of 200.0k", "$12.34", "turn 14, 1:12", "+1200 −340"] {
        assert!(screen.contains(number), "{number}\n{screen}");
    }
}

#[test]
fn every_mode_and_view() {
    check!(Bench::new(Mode::Sidebar, (38, 30), fleet()), "sidebar");
    check!(Bench::new(Mode::Popup, (70, 18), fleet()), "popup");
    let mut bench = Bench::new(Mode::Full, (120, 40), fleet());
    bench.keys("v");
    check!(bench, "columns_without_detail");
    bench.keys("v");
    check!(bench, "tree");
    bench.keys("vc");
    check!(bench, "by_project");
    bench.keys("ccfs");
    check!(bench, "filtered_and_sorted");
    bench.keys("?");
    check!(bench, "help");
    let mut bench = Bench::new(Mode::Full, (80, 24), fleet());
    bench.keys("?");
    check!(bench, "help_80x24");
}

#[test]
fn every_kind_of_request_in_full() {
    check!(Bench::new(Mode::Full, (100, 24), vec![permission("a")]), "ask_command");
    check!(Bench::new(Mode::Full, (100, 24), vec![dangerous("a")]), "ask_dangerous");
    check!(Bench::new(Mode::Full, (100, 24), vec![edit("a")]), "ask_edit");
    check!(Bench::new(Mode::Full, (100, 24), vec![plan("a")]), "ask_plan");
    check!(Bench::new(Mode::Full, (100, 24), vec![form("a")]), "ask_form");
    let mut bench = Bench::new(Mode::Full, (100, 24), vec![question("a")]);
    bench.keys("11");
    check!(bench, "ask_question");
}

#[test]
fn a_long_request_is_scrolled() {
    let mut long = permission("a");
    let command: Vec<String> = (1..60).map(|n| format!("echo line {n}")).collect();
    long.asks[0].tool_input = serde_json::json!({ "command": command.join("\n") }).as_object().cloned();
    let mut bench = Bench::new(Mode::Full, (100, 24), vec![long]);
    assert!(bench.screen().contains("more lines: J"));
    assert!(!bench.screen().contains("echo line 59"));
    bench.keys(&"J".repeat(70));
    assert!(bench.screen().contains("echo line 59"));
    assert!(bench.screen().contains("y allow"));
}

#[test]
fn every_state_has_its_details() {
    for state in StateName::ALL {
        let mut bench = Bench::new(Mode::Full, (100, 12), vec![card("a", state, state.title(), 65)]);
        let screen = bench.screen();
        assert!(screen.contains(&format!("│ {} {}", sign(state), state.title())), "in the details: {screen}");
        assert!(
            screen.contains(&format!("▌{} {}", sign(state), &state.title()[..6])),
            "in the list: {screen}"
        );
        assert!(
            screen.lines().count() == 12
                && screen.lines().all(|line| super::super::super::line::columns(line) <= 100)
        );
    }
}

#[test]
fn the_panels_show_what_was_read() {
    let mut bench =
        Bench::new(Mode::Full, (100, 20), vec![card("a", StateName::Acting, "Bash: cargo test", 9)]);
    bench.press(KeyCode::Tab);
    let message = |role, kind, text: &str| ConversationMessage {
        id: "1".into(),
        at: Some(test_now()),
        role,
        kind,
        text: text.into(),
        tool_name: None,
    };
    let messages = vec![
        message(Speaker::User, MessageKind::Text, "Make the tests green"),
        message(Speaker::Assistant, MessageKind::Tool, "Bash: cargo test"),
        message(Speaker::Assistant, MessageKind::Failure, "exit 1"),
        message(Speaker::Assistant, MessageKind::Text, "One test of the cart fails. 通貨が違います。"),
    ];
    let page = ConversationPage { messages, next_before: None, missing: None };
    let waiting = bench.model.details.under_way.clone().unwrap();
    bench.send(TuiMessage::Reply(Box::new(Reply {
        call: waiting,
        result: Err(crate::client::ClientError::Closed),
    })));
    reply(&mut bench, DaemonCall::Conversation("a".into()), ReplyData::Conversation(page));
    check!(bench, "conversation");
    bench.press(KeyCode::Tab);
    let rows = vec!["● Bash(cargo test)".to_owned(), "  ⎿  Running…".to_owned(), "❯ ".to_owned()];
    bench.wait(1000);
    reply(&mut bench, DaemonCall::Pane("a".into()), ReplyData::Pane(PaneScreen { pane: "%5".into(), rows }));
    check!(bench, "pane");
}

#[test]
fn what_the_person_types_and_is_asked_stands_at_the_bottom() {
    let mut bench = Bench::new(Mode::Full, (80, 16), fleet());
    bench.keys("/cart 日本");
    check!(bench, "search");
    bench.press(KeyCode::Esc);
    bench.draw();
    bench.keys("jjjjj");
    bench.keys(
        "pPlease make the tests of the cart green, and then add one for every currency that we sell in 日本.",
    );
    check!(bench, "prompt");
    bench.press(KeyCode::Esc);
    bench.keys("jx");
    assert!(
        bench
            .screen()
            .ends_with("Interrupt seat-7 (Bash: cargo test -p pay)?   x or y: yes   any other key: no\n")
    );
    bench.keys("n");
    bench.send(TuiMessage::Lost("the daemon closed the connection".into()));
    bench.wait(9000);
    check!(bench, "disconnected");
}

#[test]
fn an_empty_board_says_how_to_start() {
    check!(Bench::new(Mode::Full, (80, 10), Vec::new()), "empty");
}

#[test]
fn no_size_is_too_small_to_be_drawn() {
    for mode in [Mode::Full, Mode::Sidebar, Mode::Popup] {
        for (width, height) in [(1, 1), (5, 3), (12, 3), (20, 5), (30, 4), (500, 3), (13, 100)] {
            let mut bench = Bench::new(mode, (width, height), fleet());
            for key in ["", "v", "v", "?", "?", "o", "p", "x", "/"] {
                bench.keys(key);
                bench.draw();
            }
        }
    }
}

#[test]
fn a_board_at_rest_writes_nothing_for_a_minute() {
    let resting = vec![
        card("a", StateName::Idle, "Ready", 60),
        card("b", StateName::SessionEnded, "Session closed", 60),
        card("c", StateName::Error, "Failed: rate_limit", 60),
    ];
    let mut bench = Bench::full(resting);
    bench.wait(1000);
    bench.draw();
    for second in 0..60 {
        bench.wait(1000);
        assert!(!bench.draw(), "after {second} s");
    }
    // A waiting request shows how long it has waited, so it is drawn again each second.
    let mut bench = Bench::full(vec![permission("a")]);
    bench.wait(1000);
    assert!(bench.draw());
}

#[test]
fn only_what_needs_the_person_blinks_and_what_rests_is_dim() {
    let mut bench = Bench::full(fleet());
    let screen = bench.screen();
    let buffer = bench.painter.backend().buffer().clone();
    let row_of = |text: &str| screen.lines().position(|line| line.contains(text)).unwrap() as u16;
    let is = |row: u16, modifier: Modifier| (0..40).any(|x| buffer[(x, row)].modifier.contains(modifier));
    for (text, blinks) in
        [("Question: Which", true), ("Failed: rate_limit", false), ("Bash: cargo test", false)]
    {
        assert_eq!(is(row_of(text), Modifier::SLOW_BLINK), blinks, "{text}");
    }
    let sign_and_label = |row: u16| (3..20).all(|x| buffer[(x, row)].modifier.contains(Modifier::DIM));
    assert!(sign_and_label(row_of("Waiting for your next")));
    assert!(!sign_and_label(row_of("Bash: cargo test")));
}

#[test]
fn a_theme_uses_only_the_terminals_own_colours_and_no_background() {
    for (colour, background) in [
        (true, TerminalBackground::Dark),
        (true, TerminalBackground::Light),
        (false, TerminalBackground::Dark),
    ] {
        let mut bench = Bench::full(fleet());
        bench.model.theme = Theme { colour, background };
        bench.screen();
        let buffer = bench.painter.backend().buffer().clone();
        for cell in buffer.content() {
            assert_eq!(cell.bg, Color::Reset);
            assert!(!matches!(cell.fg, Color::Rgb(..) | Color::Indexed(_)));
            assert!(colour || cell.fg == Color::Reset);
            // Bright yellow is not readable on white.
            assert!(
                background == TerminalBackground::Dark
                    || !matches!(cell.fg, Color::LightYellow | Color::Yellow)
            );
        }
    }
}

#[test]
fn a_resize_changes_the_view_and_keeps_the_selection() {
    let mut bench = Bench::new(Mode::Full, (200, 60), fleet());
    bench.keys("jj");
    let selected = bench.selected().to_owned();
    for (width, height) in [(80, 24), (40, 10), (300, 80), (100, 30)] {
        bench.send(TuiMessage::Resize(width, height));
        bench.painter = super::Painter::new(ratatui::backend::TestBackend::new(width, height));
        bench.now = bench.now + Millis(10);
        assert_eq!(bench.screen().lines().count(), usize::from(height));
        assert_eq!(bench.selected(), selected);
    }
}

#[test]
fn a_chosen_view_is_named_in_full_before_the_sums_at_80_columns() {
    let mut bench = Bench::new(Mode::Full, (80, 24), fleet());
    bench.model.totals.today_usd_micros = 94_510_000;
    assert!(bench.screen().contains("$94.51 today"));
    bench.keys("fc");
    let first = bench.screen().lines().next().unwrap().to_owned();
    assert!(first.contains("[only needs you]  [by project]"), "{first}");
    assert!(first.ends_with("?"), "{first}");
}

#[test]
fn a_narrow_column_names_the_place_and_the_numbers() {
    let mut card = permission("a");
    card.context = Some(Context { tokens: 84_000, window: Some(200_000), percent: Some(42.0) });
    let cost = Cost {
        usd_micros: 12_340_000,
        client_usd_micros: None,
        unpriced_models: Vec::new(),
        by_model: Vec::new(),
    };
    card.cost = Some(cost);
    let mut bench = Bench::new(Mode::Full, (80, 24), vec![card]);
    bench.keys("v");
    let screen = bench.screen();
    assert!(screen.contains("storefront  42% $12.34"), "{screen}");
}

#[test]
fn a_long_activity_leaves_the_time_in_the_details_and_paths_are_short() {
    let label = format!("Edit: /w/shop/{}/cart.rs", "deep/".repeat(12).trim_end_matches('/'));
    let mut bench = Bench::new(Mode::Full, (80, 24), vec![card("a", StateName::Acting, &label, 9)]);
    let screen = bench.screen();
    let state = screen.lines().find(|line| line.contains("│ ▸ Edit: deep/deep")).unwrap();
    assert!(state.ends_with("…  0:09"), "{state}");
}

#[test]
fn sessions_that_are_alike_are_counted_beside_a_short_name() {
    let mut bench = Bench::new(Mode::Full, (80, 24), vec![permission("a"), permission("b")]);
    let screen = bench.screen();
    assert!(screen.contains("…front +1"), "{screen}");
    assert_eq!(screen.matches("u one by one").count(), 2, "in the details and at the bottom: {screen}");
    let mut bench = Bench::new(Mode::Full, (120, 24), vec![permission("a"), permission("b")]);
    assert!(bench.screen().contains("2 sessions"));
}
