//! Writes texts to the screen, cut to their columns with an ellipsis.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::super::line::{columns, cut_to_width};

/// A text in one style.
#[derive(Clone, Debug)]
pub(super) struct StyledText {
    pub(super) text: String,
    pub(super) style: Style,
}

impl StyledText {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    pub(super) fn unstyled(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }

    pub(super) fn columns(&self) -> usize {
        columns(&self.text)
    }
}

/// One line of several styles.
pub(super) type StyledLine = Vec<StyledText>;

pub(super) fn width(line: &[StyledText]) -> usize {
    line.iter().map(StyledText::columns).sum()
}

/// Writes the span at `x` columns from the left edge of the area's first row, and returns the columns after it.
pub(super) fn draw_styled(frame: &mut Buffer, area: Rect, x: u16, span: &StyledText) -> u16 {
    let room = area.width.saturating_sub(x);
    if room == 0 || area.height == 0 || !frame.area.contains((area.x, area.y).into()) {
        return x;
    }
    let text = cut_to_width(&span.text, usize::from(room));
    let (end, _) = frame.set_stringn(area.x + x, area.y, &text, usize::from(room), span.style);
    end - area.x
}

/// Writes the line from the left edge of the area's first row.
pub(super) fn put_line(frame: &mut Buffer, area: Rect, line: &[StyledText]) -> u16 {
    line.iter().fold(0, |x, span| draw_styled(frame, area, x, span))
}

/// Writes one line at the left and one at the right edge. If both do not fit, the left one is cut.
pub(super) fn put_both(frame: &mut Buffer, area: Rect, left: &[StyledText], right: &[StyledText]) {
    let at = area.width.saturating_sub(width(right) as u16);
    put_line(frame, Rect { width: at.saturating_sub(u16::from(!right.is_empty())), ..area }, left);
    put_line(frame, Rect { x: area.x + at, width: area.width - at, ..area }, right);
}

/// The row of an area, counted from its top.
pub(super) fn row(area: Rect, at: usize) -> Rect {
    let at = u16::try_from(at).unwrap_or(u16::MAX).min(area.height);
    Rect { y: area.y + at, height: u16::from(at < area.height), ..area }
}

/// The first line to show so that the lines from `first` to `last` are visible. Scrolls as little as possible from `top`.
pub(super) fn scrolled(top: usize, first: usize, last: usize, height: usize, total: usize) -> usize {
    let top = top.min(total.saturating_sub(height));
    if first < top {
        return first;
    }
    top.max((last + 1).saturating_sub(height)).min(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_scrolled_only_as_far_as_needed() {
        assert_eq!(scrolled(0, 3, 4, 10, 50), 0);
        assert_eq!(scrolled(0, 12, 13, 10, 50), 4);
        assert_eq!(scrolled(20, 5, 5, 10, 50), 5);
        assert_eq!(scrolled(45, 49, 49, 10, 50), 40);
        assert_eq!(scrolled(3, 0, 20, 10, 50), 0);
    }
}
