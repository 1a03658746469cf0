//! The help: every key of the table, in two columns if there is room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::super::line::fit_to_width;
use super::super::keys::{BINDINGS, Section};
use super::super::model::Model;
use super::canvas::{StyledLine, StyledText, put_line, row};

/// Narrowest help in two columns.
const TWO_COLUMNS_MIN: u16 = 76;

pub(super) fn draw(model: &Model, frame: &mut Buffer, area: Rect) {
    let blocks: Vec<Vec<StyledLine>> = Section::ALL.iter().map(|section| block(model, *section)).collect();
    let is_wide = area.width >= TWO_COLUMNS_MIN;
    let columns: Vec<Vec<StyledLine>> = match is_wide {
        true => vec![blocks[..2].concat(), blocks[2..].concat()],
        false => vec![blocks.concat()],
    };
    let width = area.width / columns.len() as u16;
    for (n, lines) in columns.iter().enumerate() {
        let area = Rect { x: area.x + 2 + width * n as u16, width: width.saturating_sub(3), ..area };
        for (at, line) in lines.iter().enumerate() {
            put_line(frame, row(area, at), line);
        }
    }
}

fn block(model: &Model, section: Section) -> Vec<StyledLine> {
    let mut lines = vec![vec![StyledText::new(section.title(), model.theme.strong())]];
    for binding in BINDINGS.iter().filter(|binding| binding.section == section) {
        lines.push(vec![
            StyledText::new(fit_to_width(binding.shown, 10), model.theme.accent()),
            StyledText::unstyled(binding.about),
        ]);
    }
    lines
}
