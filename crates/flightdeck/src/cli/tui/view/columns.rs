//! Three columns for wide terminals: Needs you, Running, Done.

use flightdeck_core::view::card::Card;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::{duration, money, project_label};
use super::super::super::line::cut_to_width;
use super::super::super::owner;
use super::super::listing::{GROUPS, ListingRow};
use super::super::model::{ClickTarget, DrawnFrame, Model};
use super::super::text::{gauge, in_state_since, is_at_rest, session_length};
use super::canvas::{StyledLine, StyledText, draw_styled, put_both, put_line, row, width};
use super::list::{count_words, draw_agent, draw_more_agents};
use super::session_line::{activity, bar_and_sign, is_selected, model_of, title};

/// Fewest lines of a card in each column: what needs the person is shown with its numbers, what is done in one line.
const CARD_LINES_MIN: [usize; 3] = [3, 2, 1];
/// Narrowest column that has a gauge: in a narrower one the name of the place needs the room.
const GAUGE_MIN: u16 = 36;
/// Narrowest column whose numbers have words.
const WORDS_MIN: u16 = 60;
/// Columns of a subagent's time.
const AGENT_TIME_COLUMNS: usize = 7;

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    drawn.page = usize::from(area.height) / 2;
    let width = area.width / 3;
    for column in 0..3 {
        let x = area.x + width * column;
        let width = if column == 2 { area.right() - x } else { width.saturating_sub(1) };
        draw_column(model, frame, Rect { x, width, ..area }, usize::from(column), drawn);
    }
}

fn draw_column(model: &Model, frame: &mut Buffer, area: Rect, column: usize, drawn: &mut DrawnFrame) {
    draw_heading(model, frame, area, column);
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let (rows, room) = (&model.listing.column_rows[column], usize::from(area.height));
    let lines = card_lines(rows, column, area);
    let heights: Vec<usize> = rows.iter().map(|row| height(row, lines)).collect();
    let top = first_row(drawn.tops[column], selected_rows(model, rows), &heights, room);
    drawn.tops[column] = top;
    let mut line = 0;
    for (entry, height) in rows.iter().zip(&heights).skip(top) {
        if line >= room {
            break;
        }
        let place = Rect { height: (*height).min(room - line) as u16, ..row(area, line) };
        draw_row(model, frame, place, entry, drawn);
        line += height;
    }
}

fn draw_heading(model: &Model, frame: &mut Buffer, area: Rect, column: usize) {
    let members = &model.listing.columns[column];
    let idle = match column {
        0 => members.iter().filter_map(|id| model.board.card(id)).filter(|card| !card.needs_person()).count(),
        _ => 0,
    };
    let at = draw_styled(frame, area, 1, &StyledText::new(GROUPS[column].1, model.theme.strong()));
    let count = model.listing.count(members.iter()).saturating_sub(idle);
    draw_styled(frame, area, at, &StyledText::new(count_words(count, idle), model.theme.dim()));
}

/// As many lines for each card as all cards of the column have room for.
fn card_lines(rows: &[ListingRow], column: usize, area: Rect) -> usize {
    let most = if area.width < GAUGE_MIN { 4 } else { 3 };
    let fits =
        |lines: &usize| rows.iter().map(|row| height(row, *lines)).sum::<usize>() <= usize::from(area.height);
    let least = CARD_LINES_MIN[column];
    (least + 1..=most).rev().find(fits).unwrap_or(least)
}

fn height(row: &ListingRow, card_lines: usize) -> usize {
    if matches!(row, ListingRow::Session { .. }) { card_lines } else { 1 }
}

/// The rows of the selected session: a heading directly above it, its card, and its subagents.
fn selected_rows(model: &Model, rows: &[ListingRow]) -> Option<(usize, usize)> {
    let is_it = |row: &ListingRow| matches!(row, ListingRow::Session { id, .. } if Some(id) == model.selected.as_ref());
    let at = rows.iter().position(is_it)?;
    let agents = rows[at + 1..]
        .iter()
        .take_while(|row| matches!(row, ListingRow::Agent { .. } | ListingRow::MoreAgents { .. }));
    let below_heading = at > 0 && matches!(rows[at - 1], ListingRow::Heading { .. });
    Some((at - usize::from(below_heading), at + agents.count()))
}

/// The first row to show so that the selected rows are visible. Scrolls as little as possible from `top`, by whole rows, and leaves no
/// room empty at the end.
fn first_row(top: usize, selected: Option<(usize, usize)>, heights: &[usize], room: usize) -> usize {
    let lines = |from: usize, to: usize| heights[from..to].iter().sum::<usize>();
    let mut top = top.min(heights.len());
    if let Some((first, last)) = selected {
        top = top.min(first);
        while top < first && lines(top, last + 1) > room {
            top += 1;
        }
    }
    while top > 0 && lines(top - 1, heights.len()) <= room {
        top -= 1;
    }
    top
}

fn draw_row(model: &Model, frame: &mut Buffer, area: Rect, entry: &ListingRow, drawn: &mut DrawnFrame) {
    match entry {
        ListingRow::Heading { text, count, .. } => {
            let text = format!(" ─ {text} {count} {}", "─".repeat(usize::from(area.width)));
            let inside = Rect { width: area.width.saturating_sub(1), ..area };
            frame.set_stringn(inside.x, inside.y, &text, usize::from(inside.width), model.theme.dim());
        }
        ListingRow::Session { id, .. } => {
            if let Some(card) = model.board.card(id) {
                drawn.hits.push((area, ClickTarget::Session(id.clone())));
                draw_card(model, frame, area, card);
            }
        }
        ListingRow::Agent { session, agent, indent, last } => {
            let agent = model.board.card(session).and_then(|card| card.sub_agents.get(*agent));
            if let Some(agent) = agent {
                draw_agent(model, frame, area, agent, (*indent, *last), (AGENT_TIME_COLUMNS, 0));
            }
        }
        ListingRow::MoreAgents { count, indent } => draw_more_agents(model, frame, area, *count, *indent),
        // The first line of the screen counts them.
        ListingRow::Parked { .. } => {}
    }
}

fn draw_card(model: &Model, frame: &mut Buffer, area: Rect, card: &Card) {
    let style = if card.needs_person() { model.theme.urgent() } else { model.theme.dim() };
    let mut first = bar_and_sign(model, card);
    first.push(if area.height > 1 { activity(model, card) } else { title(model, card) });
    let since = StyledText::new(in_state_since(card, model.now, &model.zone), style);
    put_both(frame, row(area, 0), &first, &[since]);
    let bar = StyledText::new(if is_selected(model, card) { "▌" } else { " " }, model.theme.accent());
    let is_narrow = area.width < GAUGE_MIN;
    if area.height > 1 {
        let has_place_below = is_narrow && area.height > 2;
        let right = if has_place_below { Vec::new() } else { vec![place(model, card, area.width)] };
        put_both(frame, row(area, 1), &[bar.clone(), StyledText::unstyled("  "), title(model, card)], &right);
    }
    let dim = |text: String| StyledText::new(text, model.theme.dim());
    if area.height > 2 && is_narrow {
        let left = [bar.clone(), dim(format!("  {}", project_label(card)))];
        put_both(frame, row(area, 2), &left, &numbers_in_words(model, card));
    } else if area.height > 2 {
        let right = [gauge_and_cost(model, card), vec![dim(times(model, card, area.width))]].concat();
        let room = usize::from(area.width).saturating_sub(width(&right) + 4);
        let left = [bar.clone(), dim(format!("  {}", cut_to_width(&model_of(card), room)))];
        put_both(frame, row(area, 2), &left, &right);
    }
    if area.height > 3 {
        put_line(frame, row(area, 3), &[bar, dim(format!("  {}", model_and_times(model, card)))]);
    }
}

/// Where it runs, beside its title: with the branch if there is room.
fn place(model: &Model, card: &Card, columns: u16) -> StyledText {
    let name = owner::with_host(card, &card.project.name);
    let label = match (columns, &card.project.worktree) {
        (WORDS_MIN.., _) => project_label(card),
        (_, Some(tree)) => format!("{name}/{tree}"),
        (_, None) => name,
    };
    StyledText::new(format!(" {}", cut_to_width(&label, usize::from(columns) / 2)), model.theme.dim())
}

/// Context and cost in fixed columns: `███░░  63%  $2.87`.
fn gauge_and_cost(model: &Model, card: &Card) -> StyledLine {
    /// Above this, cents are left out.
    const CENTS_BELOW_USD_MICROS: u64 = 100_000_000;
    let cost = match card.cost.as_ref().map(|cost| cost.usd_micros) {
        Some(usd_micros @ ..CENTS_BELOW_USD_MICROS) => money(usd_micros),
        Some(usd_micros) => format!("${}", usd_micros / 1_000_000),
        None => String::new(),
    };
    let percent = card.context.as_ref().and_then(|context| context.percent);
    let context = match percent {
        Some(percent) => vec![
            StyledText::new(gauge(percent, 5), model.theme.gauge(percent)),
            StyledText::new(format!("{percent:>4.0}%"), model.theme.dim()),
        ],
        None => vec![StyledText::unstyled(" ".repeat(10))],
    };
    context.into_iter().chain([StyledText::new(format!("{cost:>7}"), model.theme.dim())]).collect()
}

/// How long its turn and the session have lasted, in fixed columns: `   1:12    12m`.
fn times(model: &Model, card: &Card, columns: u16) -> String {
    let (turn, length) = (turn_time(model, card).unwrap_or_default(), length(model, card));
    match columns {
        WORDS_MIN.. if turn.is_empty() => format!("{:>14}{length:>8}", ""),
        WORDS_MIN.. => format!("   turn {turn:>6}{length:>8}"),
        _ => format!("{turn:>6}{length:>6}"),
    }
}

/// `opus-5-5 · turn 1:12 · 12m`
fn model_and_times(model: &Model, card: &Card) -> String {
    let turn = turn_time(model, card).map(|turn| format!("turn {turn}"));
    let parts = [Some(model_of(card)).filter(|name| !name.is_empty()), turn, Some(length(model, card))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// How long the present turn lasts. A session at rest has none.
fn turn_time(model: &Model, card: &Card) -> Option<String> {
    let started = card.current_turn_started_at.filter(|_| !is_at_rest(card))?;
    Some(duration(model.now - started))
}

/// The length of the session without blanks: `3h05m`.
fn length(model: &Model, card: &Card) -> String {
    session_length(card, model.now).replace(' ', "")
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
