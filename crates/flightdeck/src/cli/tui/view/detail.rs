//! The details of the selected session: where it runs, its request in full, its numbers, and a panel below.

use flightdeck_core::usage::amounts::Context;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::sub_agents::{SubAgentCard, SubAgentState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::super::draw::{count, duration, money, project_label, short_number};
use super::super::super::line::cut_to_width;
use super::super::model::{ClickTarget, DrawnFrame, Model, Panel};
use super::super::parking;
use super::super::text::{
    gauge, in_state_since, is_at_rest, moment, session_length, short_paths, sign, wrap,
};
use super::canvas::{StyledLine, StyledText, draw_styled, put_both, put_line, row, width};
use super::session_line::model_of;
use super::{ask, panel};

/// Rows that the panel keeps below a long request.
const PANEL_ROWS_MIN: u16 = 5;
/// Lines of a subagent list and of a to-do list; the page shows all.
const LIST_LINES_MAX: usize = 6;
/// Columns between two numbers.
const NUMBERS_GAP: usize = 2;

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    let Some(card) = model.selected_card() else { return };
    let bunch = model.selected_bunch();
    match bunch.is_empty() {
        true => draw_title(model, frame, area, card),
        false => draw_bunch_title(model, frame, area, &bunch),
    }
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let lines = match bunch.is_empty() {
        true => summary_lines(model, card, usize::from(area.width)),
        false => ask::alike_lines(model, &bunch, usize::from(area.width)),
    };
    let room = area.height.saturating_sub(PANEL_ROWS_MIN + 1).max(area.height / 2);
    let shown = usize::from(room).min(lines.len());
    let hidden = lines.len() - shown;
    // A request that does not fit is scrolled; otherwise the panel is.
    let scroll = model.scroll.min(hidden);
    for (n, line) in lines.iter().skip(scroll).take(shown).enumerate() {
        put_line(frame, row(area, n), line);
    }
    if hidden > 0 {
        drawn.scroll_max = hidden;
        mark_hidden(model, frame, row(area, shown.saturating_sub(1)), hidden - scroll);
    }
    let below = Rect { y: area.y + shown as u16, height: area.height - shown as u16, ..area };
    draw_tabs(model, frame, below, drawn);
    let inside = Rect { y: below.y + 1, height: below.height.saturating_sub(1), ..below };
    let scroll = if hidden == 0 { model.scroll } else { 0 };
    let below = panel::draw(model, frame, inside, scroll);
    if hidden == 0 {
        (drawn.scroll_max, drawn.scrolls_back) = (below.most, below.from_end);
    }
}

fn mark_hidden(model: &Model, frame: &mut Buffer, area: Rect, below: usize) {
    if below > 0 {
        let text = StyledText::new(format!(" … {below} more lines: J "), model.theme.accent());
        let wide = (text.columns() as u16).min(area.width);
        draw_styled(frame, Rect { x: area.right() - wide, width: wide, ..area }, 0, &text);
    }
}

fn draw_title(model: &Model, frame: &mut Buffer, area: Rect, card: &Card) {
    let seat = card.seat.name.as_ref().map(|name| format!(" · {name}")).unwrap_or_default();
    let left = [StyledText::new(format!("{}{seat}", project_label(card)), model.theme.strong())];
    let right = [StyledText::new(session_length(card, model.now), model.theme.dim())];
    put_both(frame, row(area, 0), &left, &right);
}

fn draw_bunch_title(model: &Model, frame: &mut Buffer, area: Rect, bunch: &[&Card]) {
    let reason = bunch.first().and_then(|card| card.status.reason.as_deref()).unwrap_or("Permission");
    let text = format!("{reason} in {} sessions", bunch.len());
    put_line(frame, row(area, 0), &[StyledText::new(text, model.theme.urgent())]);
}

fn draw_tabs(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    let line = row(area, 0);
    draw_styled(frame, line, 0, &StyledText::new("─".repeat(usize::from(area.width)), model.theme.dim()));
    let mut x = 1;
    for tab in Panel::ALL {
        let style = if tab == model.panel { model.theme.strong() } else { model.theme.dim() };
        let text =
            if tab == model.panel { format!(" ▸{} ", tab.name()) } else { format!(" {} ", tab.name()) };
        let end = draw_styled(frame, line, x, &StyledText::new(text, style));
        drawn.hits.push((Rect { x: line.x + x, width: end - x, ..line }, ClickTarget::Panel(tab)));
        x = end + 1;
    }
}

/// Title, state, request and numbers, wrapped to the width.
fn summary_lines(model: &Model, card: &Card, columns: usize) -> Vec<StyledLine> {
    let mut lines = wrapped(card.title.as_deref().unwrap_or("–"), columns, Style::new(), 2);
    lines.push(state(model, card, columns));
    match model.selected_ask() {
        Some(open) => lines.extend(ask::lines(model, open, columns)),
        None => lines.extend(last_words(model, card, columns)),
    }
    lines.extend(numbers(model, card, columns));
    lines.extend(progress(model, card));
    lines.extend(agents(model, card));
    if let Some(failure) = card.last_failure.as_ref().filter(|_| !card.failure_is_past) {
        lines.extend(wrapped(
            &format!("✗ {}: {}", failure.tool, failure.error),
            columns,
            model.theme.removed(),
            2,
        ));
    }
    lines
}

/// At most `most` lines of a text.
fn wrapped(text: &str, width: usize, style: Style, most: usize) -> Vec<StyledLine> {
    let text = flightdeck_core::text::without_controls(text);
    wrap(&text, width).into_iter().take(most).map(|line| vec![StyledText::new(line, style)]).collect()
}

/// What it does or asks, since when, and marks. A long label is cut, not what follows it.
fn state(model: &Model, card: &Card, columns: usize) -> StyledLine {
    let state = &card.agent_state;
    let style = if card.needs_person() { model.theme.urgent() } else { model.theme.role(state.role) };
    let label = match model.selected_ask() {
        Some(open) => ask::ask_heading(card, open),
        None => short_paths(card, &state.label),
    };
    let since = format!("  {}", in_state_since(card, model.now, &model.zone));
    let mut line = vec![StyledText::new(since, model.theme.dim())];
    let mut mark = |is: bool, word: &str| {
        if is {
            line.push(StyledText::new(format!("  [{word}]"), model.theme.dim()));
        }
    };
    if let Some(unreachable) = unreachable(model, card) {
        mark(true, &unreachable);
    }
    mark(card.quiet_since.is_some(), "quiet");
    mark(card.stale, "stale");
    if let Some(parked) = &card.parked {
        mark(true, &parking::parked_until_text(parked.until, model.now, &model.zone));
    }
    mark(card.queued_prompts > 0, "prompt queued");
    let label = cut_to_width(
        &format!("{} {label}", sign(state.state)),
        columns.saturating_sub(width(&line)).max(columns / 2),
    );
    line.insert(0, StyledText::new(label, style));
    line
}

/// What the agent said last, of a session that waits for a prompt; else what the person asked.
fn last_words(model: &Model, card: &Card, width: usize) -> Vec<StyledLine> {
    /// Enough to know what it is about; the conversation has all.
    const LINES_MAX: usize = 6;
    let said = card.last_assistant_text.as_deref().filter(|_| is_at_rest(card));
    match (said, card.last_user_message.as_deref()) {
        (Some(said), _) => wrapped(said, width, Style::new(), LINES_MAX),
        (None, Some(prompt)) => wrapped(&format!("❯ {prompt}"), width, model.theme.dim(), 2),
        (None, None) => Vec::new(),
    }
}

/// Since when the host of the session is unreachable.
fn unreachable(model: &Model, card: &Card) -> Option<String> {
    card.unreachable_since.map(|at| format!("unreachable since {}", moment(at, model.now, &model.zone)))
}

/// Model, context, cost, turn and changed lines, in as many lines as they need.
fn numbers(model: &Model, card: &Card, columns: usize) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    for number in each_number(model, card) {
        match lines.last_mut().filter(|line| width(line) + NUMBERS_GAP + width(&number) <= columns) {
            Some(line) => {
                line.push(StyledText::unstyled(" ".repeat(NUMBERS_GAP)));
                line.extend(number);
            }
            None => lines.push(number),
        }
    }
    lines
}

fn each_number(model: &Model, card: &Card) -> Vec<StyledLine> {
    let dim = |text: String| vec![StyledText::new(text, model.theme.dim())];
    let turn = match card.current_turn_started_at.filter(|_| !is_at_rest(card)) {
        Some(started) => Some(format!("turn {}, {}", card.turn_count, duration(model.now - started))),
        None => (card.turn_count > 0).then(|| count(card.turn_count, "turn")),
    };
    let changed =
        (card.files_touched_total > 0).then(|| format!("+{} −{}", card.lines_added, card.lines_removed));
    let numbers = [
        card.model.as_ref().map(|_| dim(model_of(card))),
        card.context.as_ref().map(|context| context_line(model, context)),
        card.cost.as_ref().map(|cost| vec![StyledText::unstyled(money(cost.usd_micros))]),
        turn.map(dim),
        changed.map(dim),
    ];
    numbers.into_iter().flatten().collect()
}

/// `███░░░░░  42% of 200.0k`
fn context_line(model: &Model, context: &Context) -> StyledLine {
    let dim = model.theme.dim();
    let Some(percent) = context.percent else {
        return vec![StyledText::new(format!("{} context", short_number(context.tokens)), dim)];
    };
    let window = context.window.map(short_number).unwrap_or_default();
    vec![
        StyledText::new(gauge(percent, 8), model.theme.gauge(percent)),
        StyledText::new(format!("  {percent:.0}% of {window}"), dim),
    ]
}

fn progress(model: &Model, card: &Card) -> Option<StyledLine> {
    let items = &card.progress_items;
    let done = items.iter().filter(|item| item.status == "completed").count();
    let current = items.iter().find(|item| item.status == "in_progress");
    (!items.is_empty()).then(|| {
        let current = current.map(|item| format!("  ▸ {}", item.title)).unwrap_or_default();
        vec![StyledText::new(format!("{done}/{} done{current}", items.len()), model.theme.dim())]
    })
}

fn agents(model: &Model, card: &Card) -> Vec<StyledLine> {
    let mut living: Vec<&SubAgentCard> =
        card.sub_agents.iter().filter(|agent| agent.ended_at.is_none()).collect();
    let hidden = living.len().saturating_sub(LIST_LINES_MAX);
    living.truncate(LIST_LINES_MAX);
    let mut lines: Vec<StyledLine> = living.into_iter().map(|agent| agent_line(model, agent)).collect();
    if hidden > 0 {
        lines.push(vec![StyledText::new(format!("└ and {hidden} more"), model.theme.dim())]);
    }
    lines
}

fn agent_line(model: &Model, agent: &SubAgentCard) -> StyledLine {
    let style = match agent.state {
        SubAgentState::Blocked => model.theme.urgent(),
        SubAgentState::Failed => model.theme.removed(),
        SubAgentState::Working | SubAgentState::Done => {
            model.theme.role(flightdeck_core::view::lens::Role::Working)
        }
    };
    let about = agent.description.as_deref().unwrap_or_default();
    vec![
        StyledText::new(format!("├ ● {}", agent.agent_type), style),
        StyledText::unstyled(format!(" {about}")),
        StyledText::new(
            format!("  {}  {}", agent.label, duration(model.now - agent.started_at)),
            model.theme.dim(),
        ),
    ]
}
