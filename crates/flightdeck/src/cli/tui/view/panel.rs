//! The panel below the details: timeline, conversation, pane or why.

use flightdeck_core::view::conversation::{ConversationMessage, MessageKind, Speaker};
use flightdeck_core::view::explain::Explanation;
use flightdeck_core::view::timeline::EventPage;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::model::{Model, PanelContent};
use super::super::text::{short_paths, time_of_day, wrap};
use super::canvas::{StyledLine, StyledText, put_both, put_line, row};
use super::timeline;

/// Lines of a conversation that are made above the visible ones, so that the next step back finds them.
const AHEAD_LINES: usize = 20;

/// How far a panel can be scrolled, and whether that is back from its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelScroll {
    pub(super) most: usize,
    pub(super) from_end: bool,
}

/// Draws the end of the panel, or a part before it.
pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, scroll: usize) -> PanelScroll {
    if let Some(PanelContent::Timeline(page)) = current_content(model) {
        return draw_steps(model, frame, area, scroll, page);
    }
    let needed = scroll + usize::from(area.height) + AHEAD_LINES;
    let (lines, from_top) = lines(model, usize::from(area.width), needed);
    let hidden = lines.len().saturating_sub(usize::from(area.height));
    let scroll = scroll.min(hidden);
    let first = if from_top { scroll } else { hidden - scroll };
    for (n, line) in lines.iter().skip(first).take(usize::from(area.height)).enumerate() {
        put_line(frame, row(area, n), line);
    }
    PanelScroll { most: hidden, from_end: !from_top }
}

/// A step is one line, so only the steps that are visible become lines.
fn draw_steps(model: &Model, frame: &mut Buffer, area: Rect, scroll: usize, page: &EventPage) -> PanelScroll {
    let steps = timeline::steps(&page.events);
    let hidden = steps.len().saturating_sub(usize::from(area.height));
    let first = hidden - scroll.min(hidden);
    for (n, step) in steps.iter().skip(first).take(usize::from(area.height)).enumerate() {
        let (left, right) = timeline::line(model, step, usize::from(area.width));
        put_both(frame, row(area, n), &left, &right);
    }
    PanelScroll { most: hidden, from_end: true }
}

/// What was read about the selected session for this panel.
fn current_content(model: &Model) -> Option<&PanelContent> {
    let about = model.details.of.as_ref()?;
    let is_current = Some(&about.0) == model.selected.as_ref() && about.1 == model.panel;
    model.details.content.as_ref().filter(|_| is_current)
}

/// The lines, and whether they are read from the top. If not, the last lines are the newest, and only `needed` lines are made.
fn lines(model: &Model, width: usize, needed: usize) -> (Vec<StyledLine>, bool) {
    let dim = model.theme.dim();
    match current_content(model) {
        // The steps of a timeline are drawn one by one.
        None | Some(PanelContent::Timeline(_)) => (Vec::new(), true),
        Some(PanelContent::Failed(why)) => (text(why, width, dim), true),
        Some(PanelContent::Conversation(page)) => match &page.missing {
            Some(why) => (text(why, width, dim), true),
            None => (last_messages(model, &page.messages, width, needed), false),
        },
        Some(PanelContent::Pane(screen)) => (
            screen.rows.iter().map(|row| vec![StyledText::unstyled(row.replace('\t', "    "))]).collect(),
            false,
        ),
        Some(PanelContent::Why(why)) => (reasons(model, why, width), true),
    }
}

fn text(text: &str, width: usize, style: Style) -> Vec<StyledLine> {
    wrap(&flightdeck_core::text::without_controls(text), width)
        .into_iter()
        .map(|line| vec![StyledText::new(line, style)])
        .collect()
}

fn last_messages(
    model: &Model,
    messages: &[ConversationMessage],
    width: usize,
    needed: usize,
) -> Vec<StyledLine> {
    let mut parts = Vec::new();
    let mut count = 0;
    for message in messages.iter().rev() {
        if count >= needed {
            break;
        }
        let lines = message_lines(model, message, width);
        count += lines.len();
        parts.push(lines);
    }
    parts.into_iter().rev().flatten().collect()
}

fn message_lines(model: &Model, message: &ConversationMessage, width: usize) -> Vec<StyledLine> {
    let theme = model.theme;
    let (mark, style) = match (message.role, message.kind) {
        (Speaker::User, MessageKind::Text) => ("❯ ", theme.strong()),
        (_, MessageKind::Text) => ("", Style::new()),
        (_, MessageKind::Tool) => ("▸ ", theme.dim()),
        (_, MessageKind::Failure) => ("✗ ", theme.removed()),
        (_, MessageKind::Notice) => ("· ", theme.dim()),
    };
    let words = match (message.kind, model.selected_card()) {
        (MessageKind::Tool | MessageKind::Failure, Some(card)) => short_paths(card, &message.text),
        _ => message.text.clone(),
    };
    text(&format!("{mark}{words}"), width, style)
}

fn reasons(model: &Model, why: &Explanation, width: usize) -> Vec<StyledLine> {
    let (theme, because) = (model.theme, &why.because);
    let name = because.name.as_deref().unwrap_or("an event that is no longer in the log");
    let mut lines =
        text(&format!("{} since {}", why.label, time_of_day(why.since, &model.zone)), width, theme.strong());
    lines.extend(text(&format!("because of {name} (event {})", because.seq), width, Style::new()));
    lines.extend(text(&because.rule, width, Style::new()));
    if let Some(found) = &why.intent {
        let sure = format!(
            "{} ({:.0} % sure): {}",
            found.intent.as_str(),
            found.confidence * 100.0,
            found.evidence.line
        );
        lines.extend(text(&sure, width, theme.dim()));
    }
    for step in why.history.iter().rev() {
        let at = time_of_day(step.at, &model.zone);
        let words = format!("{at} {} → {}  {}", step.from.as_str(), step.to.as_str(), step.because.rule);
        lines.extend(text(&words, width, theme.dim()));
    }
    lines
}
