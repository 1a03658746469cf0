//! Changes the model: one message in, commands out. It never waits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use flightdeck_core::ids::SessionId;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::lens::TerminalInput;
use flightdeck_protocol::sessions::ParkSession;
use flightdeck_protocol::terminal::{Draft, PromptKind, SendPrompt, TerminalRefusal, TerminalRefusalCode};
use ratatui::layout::{Position, Size};

use super::super::owner;
use super::answering;
use super::input::{InputPurpose, KeyEffect, TextInput};
use super::keys::{KeyAction, action_of, digit_of};
use super::listing::{Filter, View};
use super::message::{DaemonCall, Reply, ReplyData, TuiCommand, TuiMessage};
use super::model::{ClickTarget, ConnectionState, Mode, Model, OpenQuestion, Panel, PanelContent, Totals};
use super::parking;
use super::text::place_name;
use crate::client::ClientError;

/// How often the sums in the header are read again.
const TOTALS_EVERY: Millis = Millis::seconds(30);
/// Two clicks within this time go to the pane.
const DOUBLE_CLICK: Millis = Millis(400);
/// Sessions that one turn of the mouse wheel passes.
const WHEEL_STEP: isize = 3;

pub(super) fn update(model: &mut Model, now: Timestamp, message: TuiMessage) -> Vec<TuiCommand> {
    model.now = now;
    let mut commands = handle(model, message);
    commands.extend(answering::send_if_due(model));
    if model.note.as_ref().is_some_and(|note| note.until <= now) {
        model.note = None;
    }
    commands.extend(model.wanted_call().map(TuiCommand::Call));
    commands.extend(wanted_totals(model));
    commands
}

fn handle(model: &mut Model, message: TuiMessage) -> Vec<TuiCommand> {
    match message {
        TuiMessage::Key(key) => {
            model.refresh();
            press_key(model, key)
        }
        TuiMessage::Mouse(event) => {
            model.refresh();
            mouse(model, event)
        }
        TuiMessage::Paste(text) => {
            if let Some(input) = &mut model.input {
                input.insert(&text);
                note_typed(model);
            }
            Vec::new()
        }
        TuiMessage::Resize(width, height) => {
            model.size = Size { width, height };
            model.forget_listing();
            Vec::new()
        }
        TuiMessage::Changes(changes) => {
            changes.into_iter().for_each(|change| model.board.apply(change));
            model.link = ConnectionState::Live;
            model.forget_listing();
            Vec::new()
        }
        TuiMessage::Lost(why) => {
            model.link = ConnectionState::Lost(why);
            Vec::new()
        }
        TuiMessage::Reply(reply) => take_reply(model, *reply),
        TuiMessage::Started(sentence) => {
            model.show_note(sentence);
            Vec::new()
        }
        TuiMessage::Tick => Vec::new(),
    }
}

fn wanted_totals(model: &mut Model) -> Option<TuiCommand> {
    let due = model.now - model.totals.read_at >= TOTALS_EVERY;
    (due && model.link == ConnectionState::Live && model.mode == Mode::Full).then(|| {
        model.totals.read_at = model.now;
        TuiCommand::Call(DaemonCall::Totals)
    })
}

fn press_key(model: &mut Model, key: KeyEvent) -> Vec<TuiCommand> {
    if model.help {
        model.help = false;
        return Vec::new();
    }
    if model.question.is_none() && model.input.is_none() && model.belongs_to_lost_text(key) {
        return Vec::new();
    }
    if let Some(question) = model.question.take() {
        model.note = None;
        return answer_question(model, question, key);
    }
    if model.input.is_some() {
        return type_key(model, key);
    }
    model.note = None;
    if let Some(digit) = digit_of(key) {
        return answering::digit(model, digit);
    }
    action_of(key).map(|action| do_action(model, action)).unwrap_or_default()
}

fn do_action(model: &mut Model, action: KeyAction) -> Vec<TuiCommand> {
    match action {
        KeyAction::Down => step(model, 1),
        KeyAction::Up => step(model, -1),
        KeyAction::Top => select_at(model, 0),
        KeyAction::Bottom => select_at(model, usize::MAX),
        KeyAction::PageDown => step(model, half_page(model)),
        KeyAction::PageUp => step(model, -half_page(model)),
        KeyAction::Left => step_column(model, -1),
        KeyAction::Right => step_column(model, 1),
        KeyAction::Next => next_in_need(model, 1),
        KeyAction::Previous => next_in_need(model, -1),
        KeyAction::ScrollDown => scroll_details(model, 1),
        KeyAction::ScrollUp => scroll_details(model, -1),
        KeyAction::Search => {
            model.input = Some(TextInput::new(InputPurpose::Search, &model.view_options.search))
        }
        KeyAction::Filter => change_view_option(model, |model| {
            model.view_options.filter = model.view_options.filter.next();
            format!("showing {}", model.view_options.filter.name())
        }),
        KeyAction::Sort => change_view_option(model, |model| {
            model.view_options.sort = model.view_options.sort.next();
            format!("sorted by {}", model.view_options.sort.name())
        }),
        KeyAction::Grouping => change_view_option(model, next_grouping),
        KeyAction::View => change_view_option(model, next_view),
        KeyAction::Detail => model.chosen_detail = Some(!model.shows_detail()),
        KeyAction::Panel => show_panel(model, model.panel.next()),
        KeyAction::Why => show_panel(model, Panel::Why),
        KeyAction::Help => model.help = true,
        KeyAction::Leave => return close_one(model),
        KeyAction::Redraw => return vec![TuiCommand::Redraw],
        KeyAction::Suspend => return vec![TuiCommand::Suspend],
        KeyAction::Quit => return quit(model),
        KeyAction::Focus => return focus(model),
        KeyAction::Prompt => open_prompt(model),
        KeyAction::Interrupt => ask_to_interrupt(model, false),
        KeyAction::EndClient => ask_to_interrupt(model, true),
        KeyAction::Park => return parking::press_park_key(model),
        answer => return answering::press_answer_key(model, answer),
    }
    Vec::new()
}

/// An answer that waits is sent before the program ends.
fn quit(model: &mut Model) -> Vec<TuiCommand> {
    let mut commands = answering::send_now(model);
    commands.push(TuiCommand::Quit);
    commands
}

fn half_page(model: &Model) -> isize {
    isize::try_from(model.drawn.page / 2).unwrap_or(1).max(1)
}

/// Moves within the list, or within the column.
fn step(model: &mut Model, by: isize) {
    let columns = &model.listing.columns;
    let place = model.selected.as_ref().and_then(|id| model.listing.place_in_columns(id));
    let target = match (model.view(), place) {
        (View::Columns, Some((column, at))) => {
            let members = &columns[column];
            members.get(at.saturating_add_signed(by).min(members.len().saturating_sub(1))).cloned()
        }
        _ => {
            let order = &model.listing.order;
            order
                .get(model.selected_at().saturating_add_signed(by).min(order.len().saturating_sub(1)))
                .cloned()
        }
    };
    if let Some(id) = target {
        model.select(&id);
    }
}

fn select_at(model: &mut Model, at: usize) {
    let order = &model.listing.order;
    if let Some(id) = order.get(at.min(order.len().saturating_sub(1))).cloned() {
        model.select(&id);
    }
}

/// The column beside, at the same height. Empty columns are passed over.
fn step_column(model: &mut Model, by: isize) {
    if model.view() != View::Columns {
        let how = if model.mode == Mode::Full { ": v shows them" } else { "" };
        return model.refuse(format!("h and l go between columns{how}"));
    }
    let Some((column, at)) = model.selected.as_ref().and_then(|id| model.listing.place_in_columns(id)) else {
        return;
    };
    let columns = &model.listing.columns;
    let mut next = column.checked_add_signed(by);
    while let Some(members) = next.and_then(|next| columns.get(next)) {
        if let Some(id) = members.get(at.min(members.len().saturating_sub(1))).cloned() {
            return model.select(&id);
        }
        next = next.and_then(|next| next.checked_add_signed(by));
    }
}

/// The next session that blocks or asks, around the end.
fn next_in_need(model: &mut Model, by: isize) {
    let order = &model.listing.order;
    let waits = |id: &SessionId| model.board.card(id).is_some_and(Card::needs_person);
    let count = order.len();
    let at = |step: usize| match by {
        1.. => (model.selected_at() + step) % count,
        _ => (model.selected_at() + count - step % count) % count,
    };
    match (1..=count).map(|step| &order[at(step)]).find(|id| waits(id)).cloned() {
        Some(id) => model.select(&id),
        None => model.show_note("no session waits for you"),
    }
}

/// Scrolls the details by these lines, down if positive.
fn scroll_details(model: &mut Model, by: isize) {
    let by = if model.drawn.scrolls_back { -by } else { by };
    model.scroll = model.scroll.saturating_add_signed(by).min(model.drawn.scroll_max);
}

fn change_view_option(model: &mut Model, change: impl FnOnce(&mut Model) -> String) {
    let words = change(model);
    model.forget_listing();
    model.show_note(words);
}

/// Chooses the next view. Returns its name.
fn next_view(model: &mut Model) -> String {
    let next = match model.view() {
        View::List if model.mode == Mode::Full => View::Columns,
        View::List | View::Columns => View::Tree,
        View::Tree => View::List,
    };
    (model.chosen_view, model.chosen_detail) = (Some(next), None);
    match next {
        View::List => "list".to_owned(),
        View::Columns => "columns".to_owned(),
        View::Tree => "tree: project, worktree, session, subagents".to_owned(),
    }
}

fn next_grouping(model: &mut Model) -> String {
    let many_hosts = model.board.cards().any(|card| card.owner.is_some());
    if model.view() == View::Tree && !many_hosts {
        return "a tree is always grouped by project and worktree".to_owned();
    }
    model.view_options.grouping = model.view_options.grouping.next(model.view(), many_hosts);
    format!("grouped {}", model.view_options.grouping.name()).replace("grouped not", "not")
}

fn show_panel(model: &mut Model, panel: Panel) {
    (model.panel, model.scroll) = (panel, 0);
    if !model.shows_detail() {
        model.chosen_detail = Some(true);
    }
}

/// Esc closes one thing: the search first, then details that cover the list. A popup closes itself.
fn close_one(model: &mut Model) -> Vec<TuiCommand> {
    if !model.view_options.search.is_empty() {
        model.view_options.search.clear();
        model.forget_listing();
    } else if model.mode == Mode::Popup {
        return vec![TuiCommand::Quit];
    } else if model.shows_detail() && !model.has_room_for_detail() {
        model.chosen_detail = Some(false);
    }
    Vec::new()
}

fn focus(model: &mut Model) -> Vec<TuiCommand> {
    match model.selected.clone() {
        Some(id) => vec![TuiCommand::Call(DaemonCall::Focus(id))],
        None => Vec::new(),
    }
}

fn open_prompt(model: &mut Model) {
    let Some(card) = model.selected_card() else { return };
    let (id, label) = (card.id.clone(), card.agent_state.label.clone());
    let why_not = match card.takes {
        Some(TerminalInput::Prompt) => {
            return model.input = Some(TextInput::new(InputPurpose::Prompt(id), ""));
        }
        Some(TerminalInput::Interrupt) => format!("it is not waiting for a prompt ({label})"),
        None if card.ended_at.is_some() => "the session has ended".to_owned(),
        None => owner::refusal(card, "prompt")
            .unwrap_or_else(|| "no tmux pane of this session is known: type in its own terminal".to_owned()),
    };
    model.refuse(why_not);
    model.swallow_typing(None);
}

fn ask_to_interrupt(model: &mut Model, stop: bool) {
    let Some(card) = model.selected_card() else { return };
    let label = format!("{} ({})", owner::with_host(card, place_name(card)), card.agent_state.label);
    let not_accepted = owner::refusal(card, "interrupt");
    match card.takes {
        _ if card.ended_at.is_some() => model.refuse("the session has ended"),
        _ if not_accepted.is_some() => model.refuse(not_accepted.unwrap_or_default()),
        Some(TerminalInput::Interrupt) | None if stop || card.takes.is_some() => {
            model.question = Some(OpenQuestion::Interrupt { session: card.id.clone(), stop, label });
        }
        Some(TerminalInput::Prompt) if stop => {
            model.question = Some(OpenQuestion::Interrupt { session: card.id.clone(), stop, label });
        }
        Some(_) => model.refuse("it is not working: there is nothing to interrupt"),
        None => model.refuse("no tmux pane of this session is known: press Esc in its own terminal"),
    }
}

fn answer_question(model: &mut Model, question: OpenQuestion, key: KeyEvent) -> Vec<TuiCommand> {
    let letter = match key.code {
        KeyCode::Char(c) if key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE => c,
        _ => '\0',
    };
    match (question, letter) {
        (OpenQuestion::SecondPress { ask, key: first, answer, .. }, _) if action_of(key) == Some(first) => {
            answering::wait_and_send(model, &ask, first, *answer)
        }
        (OpenQuestion::Interrupt { session, stop, .. }, 'y') => {
            vec![TuiCommand::Call(DaemonCall::Interrupt { session, stop })]
        }
        (OpenQuestion::Interrupt { session, stop: false, .. }, 'x') => {
            vec![TuiCommand::Call(DaemonCall::Interrupt { session, stop: false })]
        }
        (OpenQuestion::PromptKind(prompt), 'c') => {
            send_prompt(SendPrompt { kind: Some(PromptKind::Command), ..prompt })
        }
        (OpenQuestion::PromptKind(prompt), 't') => {
            send_prompt(SendPrompt { kind: Some(PromptKind::Text), ..prompt })
        }
        (OpenQuestion::PromptDraft(prompt), 'k') => {
            send_prompt(SendPrompt { draft: Some(Draft::Keep), ..prompt })
        }
        (OpenQuestion::PromptDraft(prompt), 'r') => {
            send_prompt(SendPrompt { draft: Some(Draft::Replace), ..prompt })
        }
        (OpenQuestion::Suggestion(ask), '1'..='9') => answering::allow_with_suggestion(
            model,
            &ask,
            letter.to_digit(10).map_or(0, |digit| digit as usize - 1),
        ),
        (OpenQuestion::Park(session_id), letter) => park(model, session_id, letter),
        _ => {
            model.show_note("left as it is");
            Vec::new()
        }
    }
}

fn park(model: &mut Model, session_id: SessionId, letter: char) -> Vec<TuiCommand> {
    match parking::parked_until(letter, model.now, &model.zone) {
        Some(until) => {
            vec![TuiCommand::Call(DaemonCall::Park(ParkSession { session_id, until, parked: true }))]
        }
        None => {
            model.show_note("left as it is");
            Vec::new()
        }
    }
}

fn send_prompt(prompt: SendPrompt) -> Vec<TuiCommand> {
    vec![TuiCommand::Call(DaemonCall::Prompt(prompt))]
}

fn type_key(model: &mut Model, key: KeyEvent) -> Vec<TuiCommand> {
    let Some(input) = &mut model.input else { return Vec::new() };
    let is_search = input.purpose == InputPurpose::Search;
    let moves = match (key.code, key.modifiers) {
        (KeyCode::Down, _) | (KeyCode::Char('n'), KeyModifiers::CONTROL) => Some(1),
        (KeyCode::Up, _) | (KeyCode::Char('p'), KeyModifiers::CONTROL) => Some(-1),
        _ => None,
    };
    if let Some(by) = moves.filter(|_| is_search) {
        step(model, by);
        return Vec::new();
    }
    match input.press(key) {
        KeyEffect::Changed => note_typed(model),
        KeyEffect::Unused => {}
        KeyEffect::Left => return leave_input(model),
        KeyEffect::Finished => return finish_input(model),
    }
    Vec::new()
}

/// A search filters while it is typed.
fn note_typed(model: &mut Model) {
    if let Some(TextInput { purpose: InputPurpose::Search, text, .. }) = &model.input {
        model.view_options.search = text.trim().to_owned();
        model.forget_listing();
        model.refresh();
        if model.mode == Mode::Popup {
            select_at(model, 0);
        }
    }
}

fn leave_input(model: &mut Model) -> Vec<TuiCommand> {
    if model.mode == Mode::Popup {
        return vec![TuiCommand::Quit];
    }
    if let Some(TextInput { purpose: InputPurpose::Search, .. }) = model.input.take() {
        model.view_options.search.clear();
        model.forget_listing();
    }
    Vec::new()
}

fn finish_input(model: &mut Model) -> Vec<TuiCommand> {
    if model.mode == Mode::Popup {
        return focus(model);
    }
    let Some(input) = model.input.take() else { return Vec::new() };
    match input.purpose {
        InputPurpose::Search => Vec::new(),
        InputPurpose::Prompt(_) if input.text.trim().is_empty() => Vec::new(),
        InputPurpose::Prompt(session_id) => {
            send_prompt(SendPrompt { session_id, text: input.text, kind: None, draft: None })
        }
        purpose => answering::finish_text(model, purpose, &input.text),
    }
}

fn mouse(model: &mut Model, event: MouseEvent) -> Vec<TuiCommand> {
    let at = Position { x: event.column, y: event.row };
    let hit = model.drawn.hits.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, hit)| hit.clone());
    let on_detail = matches!(hit, Some(ClickTarget::Detail | ClickTarget::Panel(_)));
    match (event.kind, hit) {
        (MouseEventKind::Down(_), _) if model.help => model.help = false,
        (MouseEventKind::Down(MouseButton::Left), Some(ClickTarget::Session(id))) => {
            return click(model, &id);
        }
        (MouseEventKind::Down(MouseButton::Left), Some(ClickTarget::Panel(panel))) => {
            show_panel(model, panel)
        }
        (MouseEventKind::Down(MouseButton::Left), Some(ClickTarget::Parked)) => {
            change_view_option(model, |model| {
                model.view_options.filter = Filter::Parked;
                "showing parked".to_owned()
            })
        }
        (MouseEventKind::Down(MouseButton::Left), Some(ClickTarget::Help)) => model.help = true,
        (MouseEventKind::ScrollDown, _) if on_detail => scroll_details(model, WHEEL_STEP),
        (MouseEventKind::ScrollUp, _) if on_detail => scroll_details(model, -WHEEL_STEP),
        (MouseEventKind::ScrollDown, _) => step(model, WHEEL_STEP),
        (MouseEventKind::ScrollUp, _) => step(model, -WHEEL_STEP),
        _ => {}
    }
    Vec::new()
}

fn click(model: &mut Model, id: &SessionId) -> Vec<TuiCommand> {
    model.select(id);
    let before = model.last_click.replace((id.clone(), model.now));
    match before {
        Some((same, at)) if same == *id && model.now - at < DOUBLE_CLICK => focus(model),
        _ => Vec::new(),
    }
}

fn take_reply(model: &mut Model, reply: Reply) -> Vec<TuiCommand> {
    if model.details.under_way.as_ref() == Some(&reply.call) {
        model.details.under_way = None;
    }
    match reply.result {
        Ok(data) => take_data(model, reply.call, data),
        Err(error) => {
            take_failure(model, reply.call, error);
            Vec::new()
        }
    }
}

fn take_data(model: &mut Model, call: DaemonCall, data: ReplyData) -> Vec<TuiCommand> {
    let is_shown = match &call {
        DaemonCall::Timeline(id)
        | DaemonCall::Conversation(id)
        | DaemonCall::Pane(id)
        | DaemonCall::Why(id) => model.details.of.as_ref().is_some_and(|(of, _)| of == id),
        _ => false,
    };
    match data {
        ReplyData::Timeline(page) if is_shown => model.details.content = Some(PanelContent::Timeline(page)),
        ReplyData::Conversation(page) if is_shown => {
            model.details.content = Some(PanelContent::Conversation(page))
        }
        ReplyData::Pane(screen) if is_shown => model.details.content = Some(PanelContent::Pane(screen)),
        ReplyData::Why(why) if is_shown => model.details.content = Some(PanelContent::Why(why)),
        ReplyData::WholeAsk(ask) => model.details.whole_ask = Some(ask),
        ReplyData::Totals(report) => {
            model.totals = Totals {
                today_usd_micros: report.today.usd_micros,
                five_hour_percent: report.rate_limits.and_then(|limits| Some(limits.five_hour?.percent)),
                read_at: model.totals.read_at,
            };
        }
        ReplyData::Focused(_) if model.mode == Mode::Popup => return vec![TuiCommand::Quit],
        ReplyData::Focused(focused) => model.show_note(focused.message),
        ReplyData::Pressed(pressed) => model.show_note(pressed.message),
        ReplyData::Parked => {
            if let DaemonCall::Park(request) = &call {
                model.show_note(parking::done_words(model, request));
            }
        }
        ReplyData::Answered
        | ReplyData::Timeline(_)
        | ReplyData::Conversation(_)
        | ReplyData::Pane(_)
        | ReplyData::Why(_) => {}
    }
    Vec::new()
}

fn take_failure(model: &mut Model, call: DaemonCall, error: ClientError) {
    let details = match &error {
        ClientError::Refused(refusal) => TerminalRefusal::read(refusal),
        _ => None,
    };
    match (call, details.as_ref().map(|details| details.error)) {
        (
            DaemonCall::Timeline(_) | DaemonCall::Conversation(_) | DaemonCall::Pane(_) | DaemonCall::Why(_),
            _,
        ) => {
            model.details.content = Some(PanelContent::Failed(error.to_string()));
        }
        // The card has a part of the request; the header has no sums.
        (DaemonCall::WholeAsk(_) | DaemonCall::Totals, _) => {}
        (DaemonCall::Prompt(prompt), Some(TerminalRefusalCode::Command)) if prompt.kind.is_none() => {
            model.question = Some(OpenQuestion::PromptKind(prompt));
        }
        (DaemonCall::Prompt(prompt), Some(TerminalRefusalCode::Draft))
            if prompt.draft.is_none() && details.is_some_and(|details| details.has_choices()) =>
        {
            model.question = Some(OpenQuestion::PromptDraft(prompt));
        }
        (DaemonCall::Prompt(prompt), _) => {
            // The text is not lost: it is in the field again.
            model.input = Some(TextInput::new(InputPurpose::Prompt(prompt.session_id), &prompt.text));
            model.refuse(error.to_string());
        }
        _ => model.refuse(error.to_string()),
    }
}
