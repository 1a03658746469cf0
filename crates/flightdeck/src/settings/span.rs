//! Positions of values in the text of a settings file.

use std::ops::Range;

pub(super) type Span = Range<usize>;

/// `"key": value` in an object.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Span,
}

impl Member {
    pub(super) fn span(&self) -> Span {
        self.key_span.start..self.value.end
    }
}
