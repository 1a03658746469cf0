//! What keys do: commands and notes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use flightdeck_core::approval::answer::{Answer, Decision, OneOrMany};
use flightdeck_core::approval::resolution::AnsweredBy;
use flightdeck_core::session::state_name::StateName;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::timeline::{EventPage, TimelineEvent};
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::terminal::SendPrompt;
use flightdeck_protocol::{ErrorCode, ErrorReply};
use serde_json::json;

use super::fleet::{card, dangerous, edit, fleet, form, one_question, permission, plan, question, test_now};
use super::{Bench, without_reading};
use crate::cli::tui::listing::Sort;
use crate::cli::tui::message::{DaemonCall, Reply, ReplyData, TuiCommand, TuiMessage};
use crate::cli::tui::model::{ConnectionState, Mode};
use crate::client::ClientError;

fn answered(session: &str, answer: Answer) -> TuiCommand {
    TuiCommand::Call(DaemonCall::Answer {
        ask: format!("ask-{session}").as_str().into(),
        answer: Box::new(answer),
    })
}

fn answer_without_details(decision: Decision) -> Answer {
    Answer::without_details(decision, AnsweredBy::Tui)
}

#[test]
fn an_answer_waits_two_seconds_and_is_then_sent() {
    let mut bench = Bench::full(vec![permission("a")]);
    assert_eq!(bench.keys("y"), []);
    assert!(bench.screen().contains("allowed: Bash: git rebase main  z takes it back"));
    assert_eq!(without_reading(bench.wait(1900)), []);
    assert_eq!(without_reading(bench.wait(200)), [answered("a", answer_without_details(Decision::Allow))]);
    assert_eq!(without_reading(bench.wait(5000)), []);
}

#[test]
fn a_key_that_does_nothing_here_says_why() {
    let mut bench = Bench::full(vec![permission("a"), edit("b")]);
    for (key, why) in [
        ("h", "columns: v shows them"),
        ("l", "columns: v shows them"),
        ("[", "this asks none"),
        ("u", "nothing to show one by one"),
        ("r", "D denies and says why"),
    ] {
        assert_eq!(without_reading(bench.keys(key)), []);
        assert!(bench.note().contains(why), "{key}: {}", bench.note());
        // A text that was meant for a field is ignored for a moment.
        bench.wait(9_000);
    }
}

#[test]
fn an_answer_can_be_taken_back() {
    let mut bench = Bench::full(vec![permission("a"), edit("b")]);
    bench.keys("d");
    assert_eq!(bench.selected(), "b", "the next request is selected");
    assert_eq!(bench.keys("z"), []);
    assert_eq!((bench.selected(), bench.note()), ("a", "taken back: nothing was sent"));
    assert_eq!(without_reading(bench.wait(9000)), []);
}

#[test]
fn the_same_key_again_sends_at_once_and_does_not_answer_the_next_request() {
    let mut bench = Bench::full(vec![permission("a"), edit("b")]);
    bench.keys("y");
    assert_eq!(bench.keys("y"), [answered("a", answer_without_details(Decision::Allow))]);
    assert!(bench.model.pending.is_none());
    // The next request has just come into view by itself.
    assert_eq!(bench.keys("y"), []);
    assert!(bench.note().starts_with("the request has just changed"), "{}", bench.note());
    bench.wait(500);
    bench.keys("y");
    assert_eq!(bench.model.pending.as_ref().unwrap().session.as_str(), "b");
}

#[test]
fn an_answer_that_waits_is_sent_when_the_person_leaves_or_answers_the_next() {
    let mut bench = Bench::full(vec![permission("a"), edit("b")]);
    bench.keys("y");
    bench.wait(500);
    assert_eq!(bench.keys("d"), [answered("a", answer_without_details(Decision::Allow))]);
    assert_eq!(bench.keys("q"), [answered("b", answer_without_details(Decision::Deny)), TuiCommand::Quit]);
}

#[test]
fn deny_has_two_keys_and_may_have_a_reason() {
    for key in ["d", "N"] {
        let mut bench = Bench::full(vec![permission("a")]);
        bench.keys(key);
        assert_eq!(
            without_reading(bench.wait(2000)),
            [answered("a", answer_without_details(Decision::Deny))]
        );
    }
    let mut bench = Bench::full(vec![plan("a")]);
    bench.keys("Dfirst the tests");
    bench.press(KeyCode::Enter);
    let answer = Answer { message: Some("first the tests".into()), ..answer_without_details(Decision::Deny) };
    assert_eq!(without_reading(bench.wait(2000)), [answered("a", answer)]);
}

#[test]
fn always_sends_the_suggestion() {
    let mut bench = Bench::full(vec![permission("a")]);
    bench.keys("a");
    let commands = without_reading(bench.wait(2000));
    let [TuiCommand::Call(DaemonCall::Answer { answer, .. })] = commands.as_slice() else {
        panic!("{commands:?}")
    };
    assert_eq!(answer.updated_permissions.as_ref().unwrap()[0]["rules"][0]["ruleContent"], "git rebase:*");
    let mut bench = Bench::full(vec![plan("b")]);
    bench.keys("a");
    assert_eq!(bench.note(), "nothing is suggested to be always allowed");
}

#[test]
fn a_command_that_cannot_be_undone_needs_two_presses() {
    let mut bench = Bench::full(vec![dangerous("a")]);
    assert_eq!(bench.keys("y"), []);
    assert!(bench.model.pending.is_none());
    assert!(bench.screen().contains("Deletes files: this cannot be undone. y again: do it"));
    bench.keys("n");
    assert_eq!(bench.note(), "left as it is");
    bench.keys("yy");
    assert_eq!(without_reading(bench.wait(2000)), [answered("a", answer_without_details(Decision::Allow))]);
    // To deny it needs one.
    let mut bench = Bench::full(vec![dangerous("b")]);
    bench.keys("d");
    assert_eq!(without_reading(bench.wait(2000)), [answered("b", answer_without_details(Decision::Deny))]);
}

#[test]
fn a_digit_answers_a_single_question() {
    let mut bench = Bench::full(vec![one_question("a")]);
    bench.keys("3");
    assert_eq!(bench.note(), "there is no option 3");
    bench.keys("2");
    let answers = [("Which currency?".to_owned(), OneOrMany::One("円".to_owned()))].into();
    let answer = Answer { answers: Some(answers), ..answer_without_details(Decision::Allow) };
    assert_eq!(without_reading(bench.wait(2000)), [answered("a", answer)]);
}

#[test]
fn several_questions_are_answered_one_after_the_other_and_sent_together() {
    let mut bench = Bench::full(vec![question("a")]);
    bench.keys("y");
    assert_eq!(bench.note(), "choose an option with its digit first");
    // The first has one answer, the second several: 1 is chosen and left again.
    bench.keys("1123");
    bench.keys("[rpounds");
    bench.press(KeyCode::Enter);
    assert_eq!(without_reading(bench.wait(2000)), []);
    bench.keys("y");
    let answers = [
        ("Which currency?".to_owned(), OneOrMany::One("pounds".to_owned())),
        ("Which sizes?".to_owned(), OneOrMany::Many(vec!["S".into(), "M".into(), "L".into()])),
    ];
    let answer = Answer { answers: Some(answers.into()), ..answer_without_details(Decision::Allow) };
    assert_eq!(without_reading(bench.wait(2000)), [answered("a", answer)]);
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let mut bench = Bench::full(vec![form("a")]);
    bench.keys("y");
    bench.press(KeyCode::Enter);
    assert_eq!(bench.note(), "env must be filled in");
    bench.keys("test");
    bench.press(KeyCode::Enter);
    bench.keys("many");
    bench.press(KeyCode::Enter);
    assert_eq!(bench.note(), "count needs a integer, not \"many\"");
    (0..4).for_each(|_| drop(bench.press(KeyCode::Backspace)));
    bench.keys("3");
    bench.press(KeyCode::Enter);
    let content = json!({ "env": "test", "count": 3 }).as_object().cloned();
    let answer = Answer { content, ..answer_without_details(Decision::Allow) };
    assert_eq!(without_reading(bench.wait(2000)), [answered("a", answer)]);
}

#[test]
fn keys_that_cannot_act_say_why() {
    let mut bench = Bench::full(vec![card("a", StateName::Acting, "Bash", 5)]);
    let mut said = |keys: &str| {
        bench.keys(keys);
        bench.note().to_owned()
    };
    assert_eq!(said("y"), "the selected session asks nothing");
    // What is typed for a prompt that cannot be sent does not act on the board.
    assert_eq!(said("px?q"), "it is not waiting for a prompt (Bash)");
    assert!(!bench.model.help && bench.model.question.is_none());
    bench.wait(800);
    let mut said = |keys: &str| {
        bench.keys(keys);
        bench.note().to_owned()
    };
    assert_eq!(said("z"), "there is nothing to take back");
    assert_eq!(said("n"), "no session waits for you");
    let mut bench = Bench::full(vec![permission("a")]);
    bench.send(TuiMessage::Lost("the daemon closed the connection".into()));
    bench.keys("y");
    assert_eq!(bench.note(), "the daemon does not answer: nothing was sent");
    assert_eq!(bench.model.link, ConnectionState::Lost("the daemon closed the connection".into()));
}

#[test]
fn a_request_that_only_the_terminal_can_answer_is_left_alone() {
    let mut late = permission("a");
    late.asks[0].answerable = false;
    let mut bench = Bench::full(vec![late]);
    bench.keys("y");
    assert_eq!(bench.note(), "only its terminal can answer this: Enter goes there");
    assert_eq!(
        without_reading(bench.press(KeyCode::Enter)),
        [TuiCommand::Call(DaemonCall::Focus("a".into()))]
    );
}

#[test]
fn in_a_small_terminal_the_request_is_shown_before_it_is_answered() {
    let mut bench = Bench::new(Mode::Sidebar, (40, 20), vec![permission("a")]);
    bench.keys("y");
    assert_eq!(bench.note(), "read the request and press again");
    assert!(bench.screen().contains("$ git rebase main"));
    bench.keys("y");
    assert!(bench.model.pending.is_some());
}

#[test]
fn a_request_that_appears_under_the_finger_is_not_answered() {
    let mut bench = Bench::full(vec![card("a", StateName::Acting, "Bash", 5)]);
    bench.change(Change::SessionUpdated { session: Box::new(permission("a")) });
    bench.draw();
    bench.keys("y");
    assert!(bench.note().starts_with("the request has just changed"), "{}", bench.note());
}

#[test]
fn an_interrupt_asks_first() {
    let mut bench = Bench::full(vec![card("a", StateName::Acting, "Bash", 5)]);
    assert_eq!(bench.keys("x"), []);
    assert_eq!(bench.keys("j"), []);
    assert_eq!(
        bench.keys("xx"),
        [TuiCommand::Call(DaemonCall::Interrupt { session: "a".into(), stop: false })]
    );
    assert_eq!(bench.keys("Xx"), []);
    assert_eq!(
        bench.keys("Xy"),
        [TuiCommand::Call(DaemonCall::Interrupt { session: "a".into(), stop: true })]
    );
    let mut bench = Bench::full(vec![card("a", StateName::Idle, "Ready", 5)]);
    bench.keys("x");
    assert_eq!(bench.note(), "it is not working: there is nothing to interrupt");
}

fn prompt(text: &str) -> SendPrompt {
    SendPrompt { session_id: "a".into(), text: text.into(), kind: None, draft: None }
}

fn refused(call: DaemonCall, code: &str) -> TuiMessage {
    let details = json!({ "error": code, "message": "not now", "choices": ["keep", "replace"] });
    let reply =
        ErrorReply { error: ErrorCode::Refused, message: "not now".to_owned(), details: Some(details) };
    TuiMessage::Reply(Box::new(Reply { call, result: Err(ClientError::Refused(reply)) }))
}

#[test]
fn a_prompt_is_typed_sent_and_kept_if_it_is_refused() {
    let mut bench = Bench::full(vec![card("a", StateName::Idle, "Ready", 5)]);
    bench.keys("pfix q");
    bench.send(TuiMessage::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL)));
    bench.send(TuiMessage::Paste("two".into()));
    let sent = without_reading(bench.press(KeyCode::Enter));
    assert_eq!(sent, [TuiCommand::Call(DaemonCall::Prompt(prompt("fix q\ntwo")))]);
    bench.send(refused(DaemonCall::Prompt(prompt("fix")), "busy"));
    assert_eq!(bench.model.input.as_ref().unwrap().text, "fix");
    bench.press(KeyCode::Esc);
    bench.send(refused(DaemonCall::Prompt(prompt("fix")), "draft"));
    assert_eq!(
        bench.keys("k"),
        [TuiCommand::Call(DaemonCall::Prompt(SendPrompt {
            draft: Some(flightdeck_protocol::terminal::Draft::Keep),
            ..prompt("fix")
        }))]
    );
    bench.send(refused(DaemonCall::Prompt(prompt("/clear")), "command"));
    assert_eq!(
        bench.keys("c"),
        [TuiCommand::Call(DaemonCall::Prompt(SendPrompt {
            kind: Some(flightdeck_protocol::terminal::PromptKind::Command),
            ..prompt("/clear")
        }))]
    );
}

#[test]
fn next_goes_only_to_sessions_that_block_or_ask() {
    let mut bench = Bench::full(fleet());
    let mut visited = vec![bench.selected().to_owned()];
    for _ in 0..3 {
        bench.keys("n");
        visited.push(bench.selected().to_owned());
    }
    assert_eq!(visited, ["s-permission", "s-question", "s-plan", "s-permission"]);
    bench.keys("b");
    assert_eq!(bench.selected(), "s-plan");
}

#[test]
fn the_selection_stays_with_its_session_and_goes_to_the_neighbour_if_it_leaves() {
    let mut bench = Bench::full(fleet());
    bench.keys("jj");
    assert_eq!(bench.selected(), "s-interrupted");
    bench.change(Change::SessionRemoved { id: "s-permission".into() });
    bench.draw();
    assert_eq!(bench.selected(), "s-interrupted");
    bench.change(Change::SessionRemoved { id: "s-interrupted".into() });
    bench.draw();
    assert_eq!(bench.selected(), "s-error");
}

#[test]
fn columns_are_walked_in_both_directions() {
    let mut bench = Bench::new(Mode::Full, (200, 60), fleet());
    assert_eq!(bench.selected(), "s-permission");
    bench.keys("l");
    assert_eq!(bench.selected(), "s-acting");
    bench.keys("jl");
    assert_eq!(bench.selected(), "s-ended");
    bench.keys("h");
    assert_eq!(bench.selected(), "s-acting");
}

#[test]
fn a_search_finds_letters_in_order_and_esc_clears_it() {
    let mut bench = Bench::full(fleet());
    bench.keys("/crgtst");
    assert_eq!(bench.model.listing.order.len(), 1);
    assert_eq!(bench.selected(), "s-acting");
    bench.press(KeyCode::Enter);
    assert!(bench.model.input.is_none());
    bench.press(KeyCode::Esc);
    assert_eq!(bench.model.listing.order.len(), 1, "computed with the next frame");
    bench.draw();
    assert_eq!(bench.model.listing.order.len(), 12);
}

#[test]
fn a_popup_picks_by_typing_and_closes_after_the_jump() {
    let mut bench = Bench::new(Mode::Popup, (60, 15), fleet());
    bench.keys("comp");
    assert_eq!(bench.selected(), "s-compacting");
    assert_eq!(
        without_reading(bench.press(KeyCode::Enter)),
        [TuiCommand::Call(DaemonCall::Focus("s-compacting".into()))]
    );
    let focused =
        flightdeck_protocol::terminal::Focused { client: None, message: "its pane is in front".into() };
    let reply = Reply {
        call: DaemonCall::Focus("s-compacting".into()),
        result: Ok(super::super::message::ReplyData::Focused(focused)),
    };
    assert_eq!(bench.send(TuiMessage::Reply(Box::new(reply))), [TuiCommand::Quit]);
    assert_eq!(bench.press(KeyCode::Esc), [TuiCommand::Quit]);
}

fn mouse(bench: &mut Bench, kind: MouseEventKind, (column, row): (u16, u16)) -> Vec<TuiCommand> {
    without_reading(bench.send(TuiMessage::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    })))
}

#[test]
fn the_mouse_selects_opens_panels_and_scrolls() {
    let mut bench = Bench::full(fleet());
    let screen = bench.screen();
    let row = screen.lines().position(|line| line.contains("Failed: rate_limit")).unwrap() as u16;
    let click = MouseEventKind::Down(MouseButton::Left);
    assert_eq!(mouse(&mut bench, click, (10, row)), []);
    assert_eq!(bench.selected(), "s-error");
    assert_eq!(mouse(&mut bench, click, (10, row)), [TuiCommand::Call(DaemonCall::Focus("s-error".into()))]);
    mouse(&mut bench, MouseEventKind::ScrollDown, (10, row));
    assert_eq!(bench.selected(), "s-acting");
    let screen = bench.screen();
    let row = screen.lines().position(|line| line.contains("▸timeline")).unwrap();
    let column = screen.lines().nth(row).unwrap().chars().position(|c| c == 'w').unwrap();
    mouse(&mut bench, click, (column as u16, row as u16));
    assert!(bench.screen().contains("▸why"));
}

#[test]
fn only_one_call_for_the_details_is_under_way() {
    let mut bench = Bench::full(fleet());
    assert!(bench.model.details.under_way.is_some());
    let commands = bench.press(KeyCode::Char('j'));
    assert_eq!(commands, [], "the first timeline is still being read");
    let reply =
        Reply { call: bench.model.details.under_way.clone().unwrap(), result: Err(ClientError::Closed) };
    let commands = bench.send(TuiMessage::Reply(Box::new(reply)));
    assert_eq!(commands, [TuiCommand::Call(DaemonCall::Timeline("s-question".into()))]);
}

#[test]
fn words_are_found_literally_before_letters_in_order() {
    let titled = |id: &str, title: &str| Card {
        title: Some(title.to_owned()),
        ..card(id, StateName::Acting, "Thinking", 5)
    };
    let mut bench = Bench::full(vec![titled("a", "Which browsers?"), titled("b", "Walk charts")]);
    bench.keys("/wh");
    assert_eq!(bench.model.listing.order.len(), 1, "only one has the word");
    assert_eq!(bench.selected(), "a");
    bench.press(KeyCode::Esc);
    bench.keys("/wcbs");
    assert_eq!(bench.model.listing.order.len(), 0, "its letters are far apart");
    bench.press(KeyCode::Esc);
    bench.keys("/wlch");
    assert_eq!(bench.selected(), "b", "its letters are near each other");
}

#[test]
fn a_project_lists_what_needs_the_person_first_and_what_is_done_last() {
    let mut cards = vec![
        card("done", StateName::SessionEnded, "Session closed", 5),
        card("works", StateName::Thinking, "Thinking", 5),
        permission("asks"),
    ];
    for (card, rank) in cards.iter_mut().zip(["1", "2", "3"]) {
        card.rank.default = rank.to_owned();
    }
    let mut bench = Bench::full(cards);
    bench.keys("c");
    bench.draw();
    let order: Vec<&str> = bench.model.listing.order.iter().map(|id| id.as_str()).collect();
    assert_eq!(order, ["asks", "works", "done"]);
}

/// The timeline of the session "a", from names and summaries.
fn show_timeline(bench: &mut Bench, events: &[(&str, String)]) {
    let event = |(n, (name, summary)): (usize, &(&str, String))| -> TimelineEvent {
        serde_json::from_value(json!({
            "seq": n, "id": format!("{n}"), "fired_at": test_now(), "received_at": test_now(), "source": "hook",
            "name": name, "agent_id": null, "by_person": false, "summary": summary
        }))
        .unwrap()
    };
    let events = events.iter().enumerate().map(event).collect();
    let page = EventPage { events, next_before: None, next_after: None };
    let call = DaemonCall::Timeline("a".into());
    bench.send(TuiMessage::Reply(Box::new(Reply { call, result: Ok(ReplyData::Timeline(page)) })));
}

#[test]
fn a_call_its_request_and_its_result_are_one_step() {
    let mut bench = Bench::new(Mode::Full, (120, 24), vec![card("a", StateName::Acting, "Bash", 5)]);
    let event = |name| (name, "Bash: git push".to_owned());
    show_timeline(&mut bench, &[event("PreToolUse"), event("PermissionRequest")]);
    let screen = bench.screen();
    assert_eq!(
        (screen.matches("Bash: git push").count(), screen.matches("◆ Bash: git push").count()),
        (1, 1)
    );
    show_timeline(&mut bench, &["PreToolUse", "PermissionRequest", "PostToolUse"].map(event));
    let screen = bench.screen();
    assert_eq!(
        (screen.matches("Bash: git push").count(), screen.matches("✓ Bash: git push").count()),
        (1, 1)
    );
}

#[test]
fn a_timeline_is_scrolled_up_to_what_was_before_and_down_to_the_news() {
    let mut bench = Bench::new(Mode::Full, (120, 24), vec![card("a", StateName::Acting, "Bash", 5)]);
    let prompts: Vec<(&str, String)> = (1..60).map(|n| ("UserPromptSubmit", format!("step {n}."))).collect();
    show_timeline(&mut bench, &prompts);
    assert!(bench.screen().contains("step 59."));
    bench.keys("KKKKK");
    let screen = bench.screen();
    assert!(!screen.contains("step 55.") && screen.contains("step 54."), "{screen}");
    bench.keys("JJJ");
    assert!(bench.screen().contains("step 57."));
    mouse(&mut bench, MouseEventKind::ScrollUp, (100, 20));
    assert!(!bench.screen().contains("step 55."));
    mouse(&mut bench, MouseEventKind::ScrollDown, (100, 20));
    mouse(&mut bench, MouseEventKind::ScrollDown, (100, 20));
    assert!(bench.screen().contains("step 59."));
}

#[test]
fn words_for_a_request_that_is_gone_do_nothing_on_the_board() {
    for key in ["r", "D"] {
        let mut bench = Bench::full(vec![card("a", StateName::Thinking, "Thinking", 5), permission("b")]);
        bench.keys("G");
        assert_eq!(bench.selected(), "a");
        bench.keys(key);
        bench.keys("sky");
        assert_eq!(bench.model.view_options.sort, Sort::Rank, "{key}");
        assert_eq!(bench.selected(), "a");
        bench.wait(1000);
        bench.keys("s");
        assert_eq!(bench.model.view_options.sort, Sort::Urgency, "after a pause keys act again");
    }
    // The request appeared by itself: the same key is refused for a moment, and then opens the field.
    let mut bench = Bench::full(vec![card("a", StateName::Thinking, "Thinking", 5)]);
    bench.change(Change::SessionUpdated { session: Box::new(permission("a")) });
    bench.draw();
    bench.keys("D");
    assert!(bench.note().starts_with("the request has just changed"), "{}", bench.note());
    bench.wait(500);
    bench.keys("D");
    assert!(bench.model.input.is_some());
}

#[test]
fn the_keys_of_a_question_are_never_cut() {
    let label = format!("Bash: {}", "cargo test ".repeat(12));
    let mut card = card("a", StateName::Acting, &label, 5);
    card.takes = Some(flightdeck_core::view::lens::TerminalInput::Interrupt);
    let mut bench = Bench::new(Mode::Full, (80, 24), vec![card]);
    bench.keys("X");
    let screen = bench.screen();
    let last = screen.lines().last().unwrap();
    assert!(last.starts_with(" End Claude Code of storefront (Bash: cargo"), "{last}");
    assert!(last.ends_with("…   y: yes   any other key: no"), "{last}");
}
