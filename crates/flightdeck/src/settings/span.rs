//! Positions of values in the text of a settings file.

use std::ops::Range;

pub(super) type ByteSpan = Range<usize>;

/// `"key": value` in an object.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: ByteSpan,
    pub(super) value: ByteSpan,
}

impl Member {
    pub(super) fn span(&self) -> ByteSpan {
        self.key_span.start..self.value.end
    }
}
