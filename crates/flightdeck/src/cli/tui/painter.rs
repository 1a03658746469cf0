//! Puts a frame on the terminal: only the cells that differ from the last frame, and nothing at all if none does.

use ratatui::backend::Backend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::UnicodeWidthStr;

#[derive(Debug)]
pub(super) struct Painter<B: Backend> {
    backend: B,
    shown: Buffer,
    /// The frame before, whose memory the next one uses.
    spare: Buffer,
    cursor: Option<Position>,
}

impl<B: Backend> Painter<B> {
    pub(super) fn new(backend: B) -> Self {
        Self { backend, shown: Buffer::default(), spare: Buffer::default(), cursor: None }
    }

    /// Forgets what is shown, so that the next frame is drawn completely.
    pub(super) fn forget(&mut self) {
        self.shown = Buffer::default();
    }

    /// An empty frame to draw on.
    pub(super) fn blank_frame(&mut self, size: Size) -> Buffer {
        let mut frame = std::mem::take(&mut self.spare);
        frame.resize(Rect::new(0, 0, size.width, size.height));
        frame.reset();
        frame
    }

    /// True if anything was written. The cursor is shown only where a text is typed.
    pub(super) fn paint(&mut self, frame: Buffer, cursor: Option<Position>) -> Result<bool, B::Error> {
        if frame.area != self.shown.area {
            self.backend.clear()?;
            self.backend.hide_cursor()?;
            (self.shown, self.cursor) = (Buffer::empty(frame.area), None);
        }
        let changed = changed_cells(&self.shown, &frame);
        if changed.is_empty() && cursor == self.cursor {
            self.spare = frame;
            return Ok(false);
        }
        self.backend.draw(changed.into_iter())?;
        match cursor {
            Some(at) => {
                self.backend.set_cursor_position(at)?;
                self.backend.show_cursor()?;
            }
            None if self.cursor.is_some() => self.backend.hide_cursor()?,
            None => {}
        }
        self.backend.flush()?;
        self.spare = std::mem::replace(&mut self.shown, frame);
        self.cursor = cursor;
        Ok(true)
    }

    #[cfg(test)]
    pub(super) fn backend(&self) -> &B {
        &self.backend
    }
}

/// The cells that differ, and the second half of each wide character that a narrow one replaces: not every terminal clears it.
fn changed_cells<'a>(shown: &Buffer, frame: &'a Buffer) -> Vec<(u16, u16, &'a Cell)> {
    let mut changed = shown.diff(frame);
    let was_wide = |x: u16, y: u16| shown.cell((x, y)).is_some_and(|cell| cell.symbol().width() > 1);
    let half = |(x, y, cell): &(u16, u16, &'a Cell)| {
        let replaced = was_wide(*x, *y) && cell.symbol().width() <= 1;
        Some((x + 1, *y, frame.cell((x + 1, *y))?)).filter(|_| replaced)
    };
    let halves: Vec<_> = changed.iter().filter_map(half).collect();
    if !halves.is_empty() {
        changed.extend(halves);
        changed.sort_by_key(|(x, y, _)| (*y, *x));
        changed.dedup_by_key(|(x, y, _)| (*y, *x));
    }
    changed
}

#[cfg(test)]
mod tests {
    use ratatui::backend::TestBackend;
    use ratatui::style::Style;

    use super::*;

    fn frame(text: &str) -> Buffer {
        let mut frame = Buffer::empty(Rect::new(0, 0, 12, 1));
        frame.set_string(0, 0, text, Style::new());
        frame
    }

    #[test]
    fn an_equal_frame_writes_nothing() {
        let mut painter = Painter::new(TestBackend::new(12, 1));
        assert!(painter.paint(frame("日本 a"), None).unwrap());
        assert!(!painter.paint(frame("日本 a"), None).unwrap());
        assert!(painter.paint(frame("日本 b"), None).unwrap());
        assert!(painter.paint(frame("日本 b"), Some(Position::new(3, 0))).unwrap());
        painter.backend().assert_buffer_lines(["日本 b      "]);
        // A narrow character over a wide one leaves no half of what was there before.
        let mut painter = Painter::new(TestBackend::new(12, 1));
        for text in ["abcd", "日本", "x c"] {
            painter.paint(frame(text), None).unwrap();
        }
        painter.backend().assert_buffer_lines(["x c         "]);
        painter.forget();
        assert!(painter.paint(frame("x c"), None).unwrap());
    }
}
