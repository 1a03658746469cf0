//! The first line: how many sessions wait, work and are done, what was spent, and what the person chose to see.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::draw::money;
use super::super::listing::{Filter, Grouping, Sort};
use super::super::model::{Drawn, Hit, Mode, Model};
use super::canvas::{Line, Span, put_both};

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect, drawn: &mut Drawn) {
    let mut left = counts(model, area.width);
    left.extend(wishes(model));
    put_both(frame, area, &left, &sums(model, area.width));
    drawn.hits.push((Rect { x: area.right().saturating_sub(2), width: 2, ..area }, Hit::Help));
}

fn counts(model: &Model, width: u16) -> Line {
    let (waiting, running, done) = model.counts();
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
    let rest = match model.parked() {
        parked @ 1.. if !is_narrow => format!("{rest} · {parked} parked"),
        _ => rest,
    };
    vec![Span::new(name, theme.strong()), Span::new(words, style), Span::plain(rest)]
}

/// Only what differs from the usual view.
fn wishes(model: &Model) -> Line {
    let wishes = &model.wishes;
    let mut words = Vec::new();
    if wishes.filter != Filter::All {
        words.push(format!("only {}", wishes.filter.name()));
    }
    if wishes.sort != Sort::Rank {
        words.push(format!("by {}", wishes.sort.name()));
    }
    if wishes.grouping != Grouping::State {
        words.push(wishes.grouping.name().to_owned());
    }
    if !wishes.search.is_empty() {
        words.push(format!("/{}", wishes.search));
    }
    words.into_iter().map(|word| Span::new(format!("  [{word}]"), model.theme.accent())).collect()
}

fn sums(model: &Model, width: u16) -> Line {
    let (totals, theme) = (&model.totals, model.theme);
    let mut line = Vec::new();
    if model.mode != Mode::Full || width < 60 {
        return line;
    }
    if totals.today_usd_micros > 0 {
        line.push(Span::new(format!("{} today", money(totals.today_usd_micros)), theme.dim()));
    }
    if let Some(percent) = totals.five_hour_percent {
        line.push(Span::new(format!("   5h {percent:.0}%"), theme.gauge(percent)));
    }
    line.push(Span::new("   ? ", theme.accent()));
    line
}
