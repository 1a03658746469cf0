//! The last line: a question, the text that is typed, an answer that waits, a note, or the keys that act now.

use flightdeck_core::approval::resolution::NeedKind;
use flightdeck_core::view::lens::TerminalInput;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthChar;

use super::super::super::owner;
use super::super::answers;
use super::super::input::{Input, Purpose};
use super::super::keys::{Action, BINDINGS, shown_key};
use super::super::listing::View;
use super::super::model::{Drawn, Link, Mode, Model, OpenQuestion};
use super::super::parking::can_park;
use super::super::text::place_name;
use super::canvas::{Line, Span, put, put_both, put_line, row, width};

/// Most rows of a text that is typed; a longer one shows its end.
const INPUT_ROWS_MAX: usize = 8;

pub(super) fn rows(model: &Model, columns: u16) -> u16 {
    match &model.input {
        Some(input) if model.question.is_none() => {
            (cells(&label(model, input), &input.text, columns).1.len().min(INPUT_ROWS_MAX)) as u16
        }
        _ => 1,
    }
}

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut Drawn) {
    let theme = model.theme;
    if let Some(question) = &model.question {
        frame.set_style(area, theme.question());
        put(frame, area, 0, &Span::new(format!(" {} ", words(question)), theme.question()));
        return;
    }
    if let Some(input) = &model.input {
        return draw_input(model, frame, area, input, drawn);
    }
    let ends = [key_span(model, Action::Help), key_span(model, Action::Quit)].concat();
    match (&model.pending, &model.note, &model.link) {
        (Some(pending), _, _) => {
            let left = [
                Span::new(format!(" {}", pending.words), theme.strong()),
                Span::new("  z", theme.accent()),
                Span::plain(" takes it back"),
            ];
            put_both(frame, area, &left, &ends);
        }
        (None, Some(note), _) => {
            let style = if note.is_refusal { theme.alarm() } else { theme.strong() };
            put_line(frame, area, &[Span::new(format!(" {}", note.text), style)]);
        }
        (None, None, Link::Lost(why)) => {
            let text = format!(" not connected ({why}); trying again");
            put_both(frame, area, &[Span::new(text, theme.alarm())], &ends);
        }
        _ => put_both(frame, area, &fitting(model, area.width, &ends), &ends),
    }
}

/// As many of the keys that act now as fit.
fn fitting(model: &Model, columns: u16, ends: &[Span]) -> Line {
    let room = usize::from(columns).saturating_sub(width(ends) + 1);
    let mut line: Line = vec![Span::plain(" ")];
    let listed = BINDINGS.iter().filter(|binding| !binding.word.is_empty());
    for binding in listed.filter(|binding| !matches!(binding.action, Action::Help | Action::Quit)) {
        let span = key_span(model, binding.action);
        if acts(model, binding.action) && width(&line) + width(&span) <= room {
            line.extend(span);
        }
    }
    line
}

fn key_span(model: &Model, action: Action) -> Line {
    let word = BINDINGS.iter().find(|binding| binding.action == action).map_or("", |binding| binding.word);
    let word = match (action, model.selected_bunch().len()) {
        (Action::Allow | Action::Deny, alike @ 1..) => format!("{word} all {alike}"),
        _ => word.to_owned(),
    };
    vec![Span::new(shown_key(action), model.theme.accent()), Span::plain(format!(" {word}  "))]
}

/// Whether the key does something to the selected session now.
pub(super) fn acts(model: &Model, action: Action) -> bool {
    let card = model.selected_card();
    let ask = card.and_then(answers::answerable_ask);
    match action {
        Action::Allow => ask.is_some() && card.and_then(owner::allow_refusal).is_none(),
        Action::Deny => ask.is_some(),
        Action::Always => {
            ask.is_some_and(|ask| !ask.suggestions.is_empty()) && model.selected_bunch().is_empty()
        }
        Action::OneByOne => !model.selected_bunch().is_empty(),
        Action::Park => card.is_some_and(|card| card.parked.is_some() || can_park(card)),
        Action::DenyWithReason => ask.is_some_and(|ask| ask.kind == NeedKind::Plan),
        Action::OwnWords => ask.is_some_and(|ask| ask.kind == NeedKind::Question),
        Action::Undo => model.pending.is_some(),
        Action::Prompt => card.is_some_and(|card| card.takes == Some(TerminalInput::Prompt)),
        Action::Interrupt => card.is_some_and(|card| card.takes == Some(TerminalInput::Interrupt)),
        Action::Focus => card.is_some_and(|card| card.ended_at.is_none()),
        Action::Detail => card.is_some() && !model.has_room_for_detail(),
        Action::View => model.mode == Mode::Full || model.view() == View::Tree,
        _ => true,
    }
}

fn words(question: &OpenQuestion) -> String {
    match question {
        OpenQuestion::SecondPress { key, why, .. } => {
            format!("{why}. {} again: do it   any other key: leave it", shown_key(*key))
        }
        OpenQuestion::Interrupt { stop: false, label, .. } => {
            format!("Interrupt {label}?   x or y: yes   any other key: no")
        }
        OpenQuestion::Interrupt { stop: true, label, .. } => {
            format!("End Claude Code of {label}?   y: yes   any other key: no")
        }
        OpenQuestion::PromptKind(_) => {
            "Claude Code would run this text.   c: as a command   t: as text   any other key: leave it"
                .to_owned()
        }
        OpenQuestion::PromptDraft(_) => {
            "The prompt box has a draft.   k: keep it   r: replace it   any other key: leave it".to_owned()
        }
        OpenQuestion::Suggestion(_) => {
            "Which one is always allowed?   1 to 9: as listed   any other key: leave it".to_owned()
        }
        OpenQuestion::Park(_) => {
            "Park it until   e: its next event   h: in an hour   t: tomorrow, 8:00".to_owned()
        }
    }
}

fn label(model: &Model, input: &Input) -> String {
    match &input.purpose {
        Purpose::Search => " /".to_owned(),
        Purpose::Prompt(id) => {
            let named = |card| owner::with_host(card, place_name(card));
            let name = model.board.card(id).map_or_else(|| "it".to_owned(), named);
            format!(" prompt for {name} ❯ ")
        }
        Purpose::Reason(_) => " why not? ❯ ".to_owned(),
        Purpose::OwnWords { .. } => " your answer ❯ ".to_owned(),
        Purpose::Field(form) => format!(" {} ❯ ", form.label()),
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

fn draw_input(model: &Model, frame: &mut Buffer, area: Rect, input: &Input, drawn: &mut Drawn) {
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
                    &[Span::new(label.as_str(), model.theme.accent()), Span::plain(typed)],
                );
            }
            None => {
                put(frame, place, 0, &Span::plain(text.as_str()));
            }
        }
    }
    if input.purpose != Purpose::Search && input.text.is_empty() {
        let hint = Span::new("Enter sends  Ctrl-J new line  Esc leaves", model.theme.dim());
        put(frame, area, cursor_column as u16 + 1, &hint);
    }
    if let Some(note) = model.note.as_ref().filter(|note| note.is_refusal && input.purpose != Purpose::Search)
    {
        let text = Span::new(format!("  {} ", note.text), model.theme.alarm());
        let wide = (text.columns() as u16).min(area.width / 2);
        let last = row(area, usize::from(area.height) - 1);
        put(frame, Rect { x: last.right() - wide, width: wide, ..last }, 0, &text);
    }
    let x = area.x + (cursor_column as u16).min(area.width - 1);
    drawn.cursor = Some(Position { x, y: area.y + (cursor_row - first) as u16 });
}
