//! A line that never wraps: texts are measured in terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::out::{Out, paint};

pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The text in at most `width` columns; a shortened text ends with `…`.
pub(super) fn cut_to_width(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let enough = left.checked_sub(c.width().unwrap_or(0));
        left = enough.unwrap_or(0);
        enough.is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    if width == 0 { String::new() } else { kept + "…" }
}

/// The text in exactly `width` columns.
pub(super) fn fit_to_width(text: &str, width: usize) -> String {
    let cut = cut_to_width(text, width);
    let rest = width.saturating_sub(columns(&cut));
    cut + &" ".repeat(rest)
}

/// The text in exactly `width` columns in a terminal, unchanged in a pipe.
pub(super) fn column(out: &Out, text: &str, width: usize) -> String {
    if out.padded { fit_to_width(text, width) } else { text.to_owned() }
}

/// A line that is filled from the left up to the width of the terminal.
pub(super) struct LineBuilder<'a> {
    out: &'a Out,
    text: String,
    room: usize,
}

impl<'a> LineBuilder<'a> {
    pub(super) fn new(out: &'a Out) -> Self {
        Self { out, text: String::new(), room: out.width }
    }

    /// The free columns.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn push(&mut self, text: &str) {
        let text = self.fitting(text);
        self.text += &text;
    }

    pub(super) fn paint(&mut self, code: &str, text: &str) {
        let text = self.fitting(text);
        self.text += &paint(self.out, code, &text);
    }

    /// The part of the text that fits; reduces the free columns.
    fn fitting(&mut self, text: &str) -> String {
        let text = cut_to_width(text, self.room);
        self.room = self.room.saturating_sub(columns(&text));
        text
    }

    pub(super) fn end(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fills_its_columns_exactly() {
        assert_eq!(fit_to_width("ab", 4), "ab  ");
        assert_eq!(fit_to_width("abcdef", 4), "abc…");
        assert_eq!(fit_to_width("äöüß", 4), "äöüß");
        assert_eq!(fit_to_width("日本語", 6), "日本語");
        // Half a wide character does not fit; a blank fills its place.
        assert_eq!(fit_to_width("日本語", 5), "日本…");
        assert_eq!(fit_to_width("日本語", 4), "日… ");
        assert_eq!(fit_to_width("ab", 0), "");
    }
}
