//! The first line: how many sessions wait, work and are done, what was spent, and what the person chose to see.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::money;
use super::super::listing::{BoardCounts, Filter, Grouping, Sort, View};
use super::super::model::{ClickTarget, DrawnFrame, Mode, Model};
use super::canvas::{StyledLine, StyledText, put_both, width};

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut DrawnFrame) {
    let mut left = counts(model, area.width);
    left.extend(view_settings(model));
    let mut right = sums(model, area.width);
    let is_wide =
        |left: &StyledLine, right: &StyledLine| width(left) + width(right) >= usize::from(area.width);
    // What the person chose to see comes before our name and the sums.
    if is_wide(&left, &right) {
        left[0] = StyledText::unstyled(" ");
    }
    if is_wide(&left, &right) && !right.is_empty() {
        right = vec![StyledText::new(" ? ", model.theme.accent())];
    }
    put_both(frame, area, &left, &right);
    drawn.hits.push((Rect { x: area.right().saturating_sub(2), width: 2, ..area }, ClickTarget::Help));
}

fn counts(model: &Model, width: u16) -> StyledLine {
    let BoardCounts { waiting, running, done, parked } = model.counts;
    let (theme, is_narrow) = (model.theme, width < 60);
    let name = if is_narrow { " " } else { " flightdeck  " };
    let style = if waiting > 0 { theme.urgent() } else { theme.dim() };
    let words = match (is_narrow, waiting) {
        (true, _) => format!("● {waiting}"),
        (false, 1) => "● 1 needs you".to_owned(),
        (false, _) => format!("● {waiting} need you"),
    };
    let rest = if is_narrow {
        format!(" ▸ {running} ✓ {done}")
    } else {
        format!(" · {running} running · {done} done")
    };
    let rest = match parked {
        1.. if !is_narrow => format!("{rest} · {parked} parked"),
        _ => rest,
    };
    vec![StyledText::new(name, theme.strong()), StyledText::new(words, style), StyledText::unstyled(rest)]
}

/// Only what differs from the usual view.
fn view_settings(model: &Model) -> StyledLine {
    let view_options = &model.view_options;
    let mut words = Vec::new();
    if view_options.filter != Filter::All {
        words.push(format!("only {}", view_options.filter.name()));
    }
    if view_options.sort != Sort::Rank {
        words.push(format!("by {}", view_options.sort.name()));
    }
    // A tree is grouped by project without being asked to.
    let usual = if model.view() == View::Tree { Grouping::Project } else { Grouping::State };
    let grouping = view_options.grouping.in_view(model.view());
    if grouping != usual {
        words.push(grouping.name().to_owned());
    }
    if !view_options.search.is_empty() {
        words.push(format!("/{}", view_options.search));
    }
    words.into_iter().map(|word| StyledText::new(format!("  [{word}]"), model.theme.accent())).collect()
}

fn sums(model: &Model, width: u16) -> StyledLine {
    let (totals, theme) = (&model.totals, model.theme);
    let mut line = Vec::new();
    if model.mode != Mode::Full || width < 60 {
        return line;
    }
    if totals.today_usd_micros > 0 {
        line.push(StyledText::new(format!("{} today", money(totals.today_usd_micros)), theme.dim()));
    }
    if let Some(percent) = totals.five_hour_percent {
        line.push(StyledText::new(format!("   5h {percent:.0}%"), theme.gauge(percent)));
    }
    line.push(StyledText::new("   ? ", theme.accent()));
    line
}
