//! The panel below the details: timeline, conversation, pane or why.

use flightdeck_core::view::conversation::{ConversationMessage, MessageKind, Speaker};
use flightdeck_core::view::explain::Explanation;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::model::{Model, PanelContent};
use super::super::text::{time_of_day, wrap};
use super::canvas::{Line, Span, put_line, row};
use super::timeline;

/// Draws the end of the panel, or a part before it. Returns how far it can be scrolled back.
pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, scroll: usize) -> usize {
    let (lines, from_top) = lines(model, usize::from(area.width));
    let hidden = lines.len().saturating_sub(usize::from(area.height));
    let scroll = scroll.min(hidden);
    let first = if from_top { scroll } else { hidden - scroll };
    for (n, line) in lines.iter().skip(first).take(usize::from(area.height)).enumerate() {
        put_line(frame, row(area, n), line);
    }
    hidden
}

/// The lines, and whether they are read from the top; otherwise the last ones are the news.
fn lines(model: &Model, width: usize) -> (Vec<Line>, bool) {
    let dim = model.theme.dim();
    let is_current = model
        .details
        .of
        .as_ref()
        .is_some_and(|(id, panel)| Some(id) == model.selected.as_ref() && *panel == model.panel);
    match model.details.content.as_ref().filter(|_| is_current) {
        None => (Vec::new(), true),
        Some(PanelContent::Failed(why)) => (text(why, width, dim), true),
        Some(PanelContent::Timeline(page)) => {
            (timeline::steps(&page.events).iter().map(|step| timeline::line(model, step)).collect(), false)
        }
        Some(PanelContent::Conversation(page)) => match &page.missing {
            Some(why) => (text(why, width, dim), true),
            None => (page.messages.iter().flat_map(|message| said(model, message, width)).collect(), false),
        },
        Some(PanelContent::Pane(screen)) => {
            (screen.rows.iter().map(|row| vec![Span::plain(row.replace('\t', "    "))]).collect(), false)
        }
        Some(PanelContent::Why(why)) => (reasons(model, why, width), true),
    }
}

fn text(text: &str, width: usize, style: Style) -> Vec<Line> {
    wrap(&flightdeck_core::text::plain(text), width)
        .into_iter()
        .map(|line| vec![Span::new(line, style)])
        .collect()
}

fn said(model: &Model, message: &ConversationMessage, width: usize) -> Vec<Line> {
    let theme = model.theme;
    let (mark, style) = match (message.role, message.kind) {
        (Speaker::User, MessageKind::Text) => ("❯ ", theme.strong()),
        (_, MessageKind::Text) => ("", Style::new()),
        (_, MessageKind::Tool) => ("▸ ", theme.dim()),
        (_, MessageKind::Failure) => ("✗ ", theme.removed()),
        (_, MessageKind::Notice) => ("· ", theme.dim()),
    };
    text(&format!("{mark}{}", message.text), width, style)
}

fn reasons(model: &Model, why: &Explanation, width: usize) -> Vec<Line> {
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
