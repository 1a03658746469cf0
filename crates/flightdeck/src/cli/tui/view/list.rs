//! The list and the tree: one line per session, headings, subagents.

use flightdeck_core::view::card::Card;
use flightdeck_core::view::sub_agents::{SubAgentCard, SubAgentState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::duration;
use super::super::listing::ListingRow;
use super::super::model::{ClickTarget, DrawnFrame, Mode, Model};
use super::canvas::{StyledText, draw_styled, put_both, row, scrolled};
use super::session_line::{is_selected, parts, right_columns, title};

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    let rows = &model.listing.rows;
    let heights: Vec<usize> = rows.iter().map(|row| height(model, row, area.width)).collect();
    let total: usize = heights.iter().sum();
    let (first, last) = selected_lines(model, &heights);
    let top = scrolled(drawn.tops[0], first, last, usize::from(area.height), total);
    (drawn.tops[0], drawn.page) = (top, usize::from(area.height));
    let mut line = 0;
    for (entry, height) in rows.iter().zip(&heights) {
        // A row whose first line is above the top is left out.
        if line >= top && line < top + usize::from(area.height) {
            let left = usize::from(area.height) - (line - top);
            let place = row(area, line - top);
            let place = Rect { height: (*height).min(left) as u16, ..place };
            draw_row(model, frame, place, entry, drawn);
        }
        line += height;
    }
}

/// The lines of the selected session, with the heading above it.
fn selected_lines(model: &Model, heights: &[usize]) -> (usize, usize) {
    let mut line = 0;
    for (at, (entry, height)) in model.listing.rows.iter().zip(heights).enumerate() {
        if matches!(entry, ListingRow::Session { id, .. } if Some(id) == model.selected.as_ref()) {
            let below_heading = at > 0 && matches!(model.listing.rows[at - 1], ListingRow::Heading { .. });
            return (line - usize::from(below_heading), line + height - 1);
        }
        line += height;
    }
    (0, 0)
}

/// The lines of a row. In a sidebar every session has a second line for its title. Otherwise only the selected session has one,
/// and only if its first line has no room for the title.
fn height(model: &Model, entry: &ListingRow, width: u16) -> usize {
    match entry {
        ListingRow::Session { .. } if model.mode == Mode::Sidebar => 2,
        ListingRow::Session { id, .. } if Some(id) == model.selected.as_ref() => {
            if super::session_line::has_title(usize::from(width)) {
                1
            } else {
                2
            }
        }
        _ => 1,
    }
}

fn draw_row(model: &Model, frame: &mut Buffer, area: Rect, entry: &ListingRow, drawn: &mut DrawnFrame) {
    match entry {
        ListingRow::Heading { text, count, idle, indent } => {
            let style = model.theme.strong();
            let text = StyledText::new(format!(" {}{text}", "  ".repeat(usize::from(*indent))), style);
            let at = draw_styled(frame, area, 0, &text);
            draw_styled(frame, area, at, &StyledText::new(count_words(*count, *idle), model.theme.dim()));
        }
        ListingRow::Session { id, indent } => {
            if let Some(card) = model.board.card(id) {
                drawn.hits.push((area, ClickTarget::Session(id.clone())));
                draw_session(model, frame, area, card, *indent);
            }
        }
        ListingRow::Agent { session, agent, indent, last } => {
            let agent = model.board.card(session).and_then(|card| card.sub_agents.get(*agent));
            if let Some(agent) = agent {
                let right = right_columns(usize::from(area.width));
                draw_agent(model, frame, area, agent, (*indent, *last), right);
            }
        }
        ListingRow::MoreAgents { count, indent } => draw_more_agents(model, frame, area, *count, *indent),
        ListingRow::Parked { count } => {
            drawn.hits.push((area, ClickTarget::Parked));
            let at = draw_styled(frame, area, 0, &StyledText::new(" PARKED", model.theme.dim()));
            draw_styled(
                frame,
                area,
                at,
                &StyledText::new(format!(" {count}  f or / shows them"), model.theme.dim()),
            );
        }
    }
}

/// ` 29 + 11 idle`: the second number is left out of the first.
pub(super) fn count_words(count: usize, idle: usize) -> String {
    match idle {
        0 => format!(" {count}"),
        _ => format!(" {count} + {idle} idle"),
    }
}

fn draw_session(model: &Model, frame: &mut Buffer, area: Rect, card: &Card, indent: u16) {
    let indent = indent * 2;
    let inside = Rect { x: area.x + indent, width: area.width.saturating_sub(indent), ..area };
    let (left, right) = parts(model, card, usize::from(inside.width));
    put_both(frame, inside, &left, &right);
    if inside.height > 1 {
        let second = row(inside, 1);
        let bar = if is_selected(model, card) { "▌" } else { " " };
        let at = draw_styled(frame, second, 0, &StyledText::new(bar, model.theme.accent()));
        let title = title(model, card);
        draw_styled(frame, second, at + 2, &StyledText::new(title.text, model.theme.dim()));
    }
}

pub(super) fn draw_more_agents(model: &Model, frame: &mut Buffer, area: Rect, count: usize, indent: u16) {
    let text = format!("{}   └ and {count} more", "  ".repeat(usize::from(indent)));
    draw_styled(frame, area, 0, &StyledText::new(text, model.theme.dim()));
}

/// A subagent below its session. At the right stand its time and room for the name of a place.
pub(super) fn draw_agent(
    model: &Model,
    frame: &mut Buffer,
    area: Rect,
    agent: &SubAgentCard,
    (indent, last): (u16, bool),
    (time_columns, name_columns): (usize, usize),
) {
    let dim = model.theme.dim();
    let branch = if last { "└" } else { "├" };
    let is_blocked = agent.state == SubAgentState::Blocked;
    let style = if is_blocked { model.theme.urgent() } else { dim };
    let about = agent.description.as_deref().filter(|_| !is_blocked).unwrap_or(&agent.label);
    let left = [
        StyledText::new(format!("{}   {branch} ", "  ".repeat(usize::from(indent))), dim),
        StyledText::new(if is_blocked { "◆ " } else { "● " }, style),
        StyledText::new(format!("{} {about}", agent.agent_type), style),
    ];
    let room = if name_columns > 0 { name_columns + 1 } else { 0 };
    let time = format!("{:>time_columns$}{}", duration(model.now - agent.started_at), " ".repeat(room));
    put_both(frame, area, &left, &[StyledText::new(time, dim)]);
}
