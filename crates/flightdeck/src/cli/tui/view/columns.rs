//! Three columns for wide terminals: Needs you, Running, Done.

use flightdeck_core::view::card::Card;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::place;
use super::super::super::owner;
use super::super::listing::GROUPS;
use super::super::model::{Drawn, Hit, Model};
use super::super::text::since;
use super::canvas::{Span, put, put_both, row, scrolled};
use super::session_line::{activity, is_selected, lead, model_of, numbers, title};

/// Lines of a card in each column: what needs the person is shown with its numbers, what is done in one line.
const CARD_LINES: [usize; 3] = [3, 2, 1];

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut Drawn) {
    drawn.page = usize::from(area.height) / 2;
    let width = area.width / 3;
    for column in 0..3 {
        let x = area.x + width * column;
        let width = if column == 2 { area.right() - x } else { width.saturating_sub(1) };
        draw_column(model, frame, Rect { x, width, ..area }, usize::from(column), drawn);
    }
}

fn draw_column(model: &Model, frame: &mut Buffer, area: Rect, column: usize, drawn: &mut Drawn) {
    let members = &model.listing.columns[column];
    let at = put(frame, area, 1, &Span::new(GROUPS[column].1, model.theme.strong()));
    let count = model.listing.count(members.iter());
    put(frame, area, at, &Span::new(format!(" {count}"), model.theme.dim()));
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let selected = model.selected.as_ref().and_then(|id| members.iter().position(|member| member == id));
    let lines = CARD_LINES[column];
    let shown = usize::from(area.height) / lines;
    let top = match selected {
        Some(at) => scrolled(drawn.tops[column], at, at, shown, members.len()),
        None => drawn.tops[column].min(members.len().saturating_sub(shown)),
    };
    drawn.tops[column] = top;
    for (n, id) in members.iter().skip(top).take(shown).enumerate() {
        if let Some(card) = model.board.card(id) {
            let area = Rect { height: lines as u16, ..row(area, n * lines) };
            drawn.hits.push((area, Hit::Session(id.clone())));
            draw_card(model, frame, area, card);
        }
    }
}

fn draw_card(model: &Model, frame: &mut Buffer, area: Rect, card: &Card) {
    let style = if card.needs_person() { model.theme.urgent() } else { model.theme.dim() };
    let mut first = lead(model, card);
    first.push(if area.height > 1 { activity(model, card) } else { title(model, card) });
    put_both(frame, row(area, 0), &first, &[Span::new(since(card, model.now, &model.zone), style)]);
    let bar = Span::new(if is_selected(model, card) { "▌" } else { " " }, model.theme.accent());
    if area.height > 1 {
        let where_it_is =
            Span::new(format!(" {}", owner::with_host(card, &card.project.name)), model.theme.dim());
        let right = if area.height == 2 { vec![where_it_is] } else { Vec::new() };
        put_both(frame, row(area, 1), &[bar.clone(), Span::plain("  "), title(model, card)], &right);
    }
    if area.height > 2 {
        let mut about = place(card);
        if area.width > 50 {
            about = format!("{about} · {}", model_of(card));
        }
        put_both(
            frame,
            row(area, 2),
            &[bar, Span::new(format!("  {about}"), model.theme.dim())],
            &numbers(model, card),
        );
    }
}
