//! Three columns for wide terminals: Needs you, Running, Done.

use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::{money, project_label};
use super::super::super::line::cut_to_width;
use super::super::super::owner;
use super::super::listing::GROUPS;
use super::super::model::{Drawn, Hit, Model};
use super::super::text::in_state_since;
use super::canvas::{StyledLine, StyledText, draw_styled, put_both, row, scrolled};
use super::session_line::{activity, bar_and_sign, is_selected, model_of, numbers, title};

/// Lines of a card in each column: what needs the person is shown with its numbers, what is done in one line.
const CARD_LINES: [usize; 3] = [3, 2, 1];
/// Narrowest column that has a gauge: in a narrower one the name of the place needs the room.
const GAUGE_MIN: u16 = 36;

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
    let at = draw_styled(frame, area, 1, &StyledText::new(GROUPS[column].1, model.theme.strong()));
    let cards = members.iter().filter_map(|id| model.board.card(id));
    let count = match GROUPS[column].0 {
        Group::NeedsYou => model.listing.count_waiting(cards),
        _ => model.listing.count(members.iter()).to_string(),
    };
    draw_styled(frame, area, at, &StyledText::new(format!(" {count}"), model.theme.dim()));
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
    let mut first = bar_and_sign(model, card);
    first.push(if area.height > 1 { activity(model, card) } else { title(model, card) });
    put_both(
        frame,
        row(area, 0),
        &first,
        &[StyledText::new(in_state_since(card, model.now, &model.zone), style)],
    );
    let bar = StyledText::new(if is_selected(model, card) { "▌" } else { " " }, model.theme.accent());
    if area.height > 1 {
        let project = cut_to_width(&owner::with_host(card, &card.project.name), usize::from(area.width) / 2);
        let where_it_is = StyledText::new(format!(" {project}"), model.theme.dim());
        let right = if area.height == 2 { vec![where_it_is] } else { Vec::new() };
        put_both(frame, row(area, 1), &[bar.clone(), StyledText::unstyled("  "), title(model, card)], &right);
    }
    if area.height > 2 {
        let mut about = project_label(card);
        if area.width > 50 {
            about = format!("{about} · {}", model_of(card));
        }
        put_both(
            frame,
            row(area, 2),
            &[bar, StyledText::new(format!("  {about}"), model.theme.dim())],
            &match area.width {
                ..GAUGE_MIN => numbers_in_words(model, card),
                _ => numbers(model, card),
            },
        );
    }
}

/// Context and cost as short as possible: `42% $1.20`.
fn numbers_in_words(model: &Model, card: &Card) -> StyledLine {
    let percent = card.context.as_ref().and_then(|context| context.percent);
    let context =
        percent.map(|percent| StyledText::new(format!("{percent:.0}%"), model.theme.gauge(percent)));
    let cost = card
        .cost
        .as_ref()
        .map(|cost| StyledText::new(format!(" {}", money(cost.usd_micros)), model.theme.dim()));
    context.into_iter().chain(cost).collect()
}
