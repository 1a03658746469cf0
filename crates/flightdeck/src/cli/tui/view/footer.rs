//! The last line: a question, the text that is typed, an answer that waits, a note, or the keys that act now.

use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::view::lens::TerminalInput;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthChar;

use super::super::super::line::{columns, cut_to_width};
use super::super::super::owner;
use super::super::answers;
use super::super::input::{InputPurpose, TextInput};
use super::super::keys::{BINDINGS, KeyAction, shown_key};
use super::super::listing::View;
use super::super::model::{ConnectionState, DrawnFrame, Mode, Model, OpenQuestion};
use super::super::parking::can_park;
use super::super::text::{place_name, wrap};
use super::canvas::{StyledLine, StyledText, draw_styled, put_both, put_line, row, width};

/// Most rows of a text that is typed; a longer one shows its end.
const INPUT_ROWS_MAX: usize = 8;

/// Most rows of a note; a longer one is cut.
const NOTE_ROWS_MAX: usize = 4;

pub(super) fn rows(model: &Model, columns: u16) -> u16 {
    let note = note_lines(model, columns).len();
    let input = match &model.input {
        Some(input) if model.question.is_none() => {
            cells(&label(model, input), &input.text, columns).1.len().min(INPUT_ROWS_MAX)
        }
        _ => 0,
    };
    (note + input).max(1) as u16
}

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    let theme = model.theme;
    if let Some(question) = &model.question {
        frame.set_style(area, theme.question());
        let (text, keys) = question_text(question);
        let room = usize::from(area.width).saturating_sub(columns(&keys) + 2);
        let line = format!(" {}{keys} ", cut_to_width(&text, room));
        draw_styled(frame, area, 0, &StyledText::new(line, theme.question()));
        return;
    }
    let note = note_lines(model, area.width);
    let input_rows = u16::from(model.input.is_some());
    let shown = note.len().min(usize::from(area.height - input_rows));
    for (n, line) in note.iter().take(shown).enumerate() {
        draw_styled(frame, row(area, n), 0, line);
    }
    let below = Rect { y: area.y + shown as u16, height: area.height - shown as u16, ..area };
    if let Some(input) = &model.input {
        return draw_input(model, frame, below, input, drawn);
    }
    let ends = [key_hint(model, KeyAction::Help), key_hint(model, KeyAction::Quit)].concat();
    match &model.pending {
        Some(pending) => {
            let left = [
                StyledText::new(format!(" {}", pending.words), theme.strong()),
                StyledText::new("  z", theme.accent()),
                StyledText::unstyled(" takes it back"),
            ];
            put_both(frame, area, &left, &ends);
        }
        None if shown == 0 => put_both(frame, area, &fitting(model, area.width, &ends), &ends),
        None if model.note.is_none() && width(&note) + width(&ends) < usize::from(area.width) => {
            put_both(frame, area, &note, &ends);
        }
        None => {}
    }
}

/// The note about what happened, or else that there is no connection, in as many lines as it needs. Above a text field it has lines of its
/// own. A question and a waiting answer are shown instead of it.
fn note_lines(model: &Model, columns: u16) -> Vec<StyledText> {
    if model.question.is_some() || (model.pending.is_some() && model.input.is_none()) {
        return Vec::new();
    }
    let theme = model.theme;
    let (text, style) = match (&model.note, &model.link) {
        (Some(note), _) if note.is_refusal => (note.text.clone(), theme.alarm()),
        (Some(note), _) => (note.text.clone(), theme.strong()),
        (None, ConnectionState::Lost(why)) => (format!("not connected, trying again: {why}"), theme.alarm()),
        (None, _) => return Vec::new(),
    };
    let lines = wrap(&text, usize::from(columns).saturating_sub(2));
    lines.into_iter().take(NOTE_ROWS_MAX).map(|line| StyledText::new(format!(" {line}"), style)).collect()
}

/// As many hints for the keys that act now as fit.
fn fitting(model: &Model, columns: u16, ends: &[StyledText]) -> StyledLine {
    let room = usize::from(columns).saturating_sub(width(ends) + 1);
    let mut line: StyledLine = vec![StyledText::unstyled(" ")];
    let listed = BINDINGS.iter().filter(|binding| !binding.word.is_empty());
    for binding in listed.filter(|binding| !matches!(binding.action, KeyAction::Help | KeyAction::Quit)) {
        let span = key_hint(model, binding.action);
        if acts(model, binding.action) && width(&line) + width(&span) <= room {
            line.extend(span);
        }
    }
    line
}

fn key_hint(model: &Model, action: KeyAction) -> StyledLine {
    let word = BINDINGS.iter().find(|binding| binding.action == action).map_or("", |binding| binding.word);
    let word = match (action, model.selected_bunch().len()) {
        (KeyAction::Allow | KeyAction::Deny, alike @ 1..) => format!("{word} all {alike}"),
        _ => word.to_owned(),
    };
    vec![StyledText::new(shown_key(action), model.theme.accent()), StyledText::unstyled(format!(" {word}  "))]
}

/// Whether the key does something to the selected session now.
pub(super) fn acts(model: &Model, action: KeyAction) -> bool {
    let card = model.selected_card();
    let ask = card.and_then(answers::answerable_ask);
    match action {
        KeyAction::Allow => ask.is_some() && card.and_then(owner::allow_refusal).is_none(),
        KeyAction::Deny => ask.is_some(),
        KeyAction::Always => {
            ask.is_some_and(|ask| !ask.suggestions.is_empty()) && model.selected_bunch().is_empty()
        }
        KeyAction::OneByOne => !model.selected_bunch().is_empty(),
        KeyAction::Park => card.is_some_and(|card| card.parked.is_some() || can_park(card)),
        KeyAction::DenyWithReason => ask.is_some_and(|ask| ask.kind == NeedKind::Plan),
        KeyAction::OwnWords => ask.is_some_and(|ask| ask.kind == NeedKind::Question),
        KeyAction::Undo => model.pending.is_some(),
        KeyAction::Prompt => card.is_some_and(|card| card.takes == Some(TerminalInput::Prompt)),
        KeyAction::Interrupt => card.is_some_and(|card| card.takes == Some(TerminalInput::Interrupt)),
        KeyAction::Focus => card.is_some_and(|card| card.ended_at.is_none()),
        KeyAction::Detail => card.is_some() && !model.has_room_for_detail(),
        KeyAction::View => model.mode == Mode::Full || model.view() == View::Tree,
        _ => true,
    }
}

/// The question, and the keys that answer it. The keys are never cut.
fn question_text(question: &OpenQuestion) -> (String, String) {
    let (text, keys) = match question {
        OpenQuestion::SecondPress { key, why, .. } => {
            let keys = format!(" {} again: do it   any other key: leave it", shown_key(*key));
            return (format!("{why}."), keys);
        }
        OpenQuestion::Interrupt { stop: false, label, .. } => {
            (format!("Interrupt {label}?"), "   x or y: yes   any other key: no")
        }
        OpenQuestion::Interrupt { stop: true, label, .. } => {
            (format!("End Claude Code of {label}?"), "   y: yes   any other key: no")
        }
        OpenQuestion::PromptKind(_) => (
            "Claude Code would run this text.".to_owned(),
            "   c: as a command   t: as text   any other key: leave it",
        ),
        OpenQuestion::PromptDraft(_) => (
            "The prompt box has a draft.".to_owned(),
            "   k: keep it   r: replace it   any other key: leave it",
        ),
        OpenQuestion::Suggestion(_) => {
            ("Which one is always allowed?".to_owned(), "   1 to 9: as listed   any other key: leave it")
        }
        OpenQuestion::Park(_) => {
            ("Park it until".to_owned(), "   e: its next event   h: in an hour   t: tomorrow, 8:00")
        }
    };
    (text, keys.to_owned())
}

fn label(model: &Model, input: &TextInput) -> String {
    match &input.purpose {
        InputPurpose::Search => " /".to_owned(),
        InputPurpose::Prompt(id) => {
            let named = |card| owner::with_host(card, place_name(card));
            let name = model.board.card(id).map_or_else(|| "it".to_owned(), named);
            format!(" prompt for {name} ❯ ")
        }
        InputPurpose::Reason(_) => " why not? ❯ ".to_owned(),
        InputPurpose::OwnWords { .. } => " your answer ❯ ".to_owned(),
        InputPurpose::Field(form) => format!(" {} ❯ ", form.label()),
    }
}

/// The rows of label and text, broken anywhere, and the place of each byte of the text: its row and column.
fn cells(label: &str, text: &str, columns: u16) -> (Vec<(usize, usize, usize)>, Vec<String>) {
    let most = usize::from(columns).max(4);
    let mut rows = vec![label.to_owned()];
    let mut x = super::super::super::line::columns(label);
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        let wide = c.width().unwrap_or(0);
        if x + wide >= most {
            rows.push(String::new());
            x = 0;
        }
        places.push((at, rows.len() - 1, x));
        if c == '\n' {
            rows.push(String::new());
            x = 0;
        } else if let Some(last) = rows.last_mut() {
            last.push(c);
            x += wide;
        }
    }
    places.push((text.len(), rows.len() - 1, x));
    (places, rows)
}

/// The keys of the text field: while it is empty, and at the right edge of a search that has room for them.
fn draw_hint(model: &Model, frame: &mut Buffer, area: Rect, input: &TextInput, cursor_column: usize) {
    let words = match (&input.purpose, model.mode) {
        (InputPurpose::Search, Mode::Popup) => "↑↓ select  Enter goes there  Esc closes ",
        (InputPurpose::Search, _) => "↑↓ select  Enter keeps it  Esc clears ",
        (InputPurpose::Field(_), _) => "Enter goes on  Esc leaves",
        _ => "Enter sends  Ctrl-J new line  Esc leaves",
    };
    let hint = StyledText::new(words, model.theme.dim());
    let wide = hint.columns() as u16;
    match input.purpose {
        InputPurpose::Search if cursor_column as u16 + wide + 2 < area.width => {
            draw_styled(frame, area, area.width - wide, &hint);
        }
        InputPurpose::Search => {}
        _ if input.text.is_empty() => {
            draw_styled(frame, area, cursor_column as u16 + 1, &hint);
        }
        _ => {}
    }
}

fn draw_input(model: &Model, frame: &mut Buffer, area: Rect, input: &TextInput, drawn: &mut DrawnFrame) {
    let label = label(model, input);
    let (places, rows) = cells(&label, &input.text, area.width);
    let cursor = places.iter().find(|(at, _, _)| *at == input.cursor).copied();
    let (_, cursor_row, cursor_column) = cursor.unwrap_or_default();
    let first = (cursor_row + 1).saturating_sub(usize::from(area.height));
    for (n, text) in rows.iter().skip(first).take(usize::from(area.height)).enumerate() {
        let place = row(area, n);
        match text.strip_prefix(label.as_str()).filter(|_| first + n == 0) {
            Some(typed) => {
                put_line(
                    frame,
                    place,
                    &[StyledText::new(label.as_str(), model.theme.accent()), StyledText::unstyled(typed)],
                );
            }
            None => {
                draw_styled(frame, place, 0, &StyledText::unstyled(text.as_str()));
            }
        }
    }
    draw_hint(model, frame, area, input, cursor_column);
    let x = area.x + (cursor_column as u16).min(area.width - 1);
    drawn.cursor = Some(Position { x, y: area.y + (cursor_row - first) as u16 });
}
