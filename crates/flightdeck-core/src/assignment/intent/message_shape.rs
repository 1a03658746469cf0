//! One pattern for the grammatical form of a sentence, with its example.

use super::signs::Sign;

pub(super) struct MessageShape {
    pub(super) sign: Sign,
    /// A sentence of this shape, as it would be written.
    #[cfg_attr(not(test), expect(dead_code, reason = "explains the pattern, and a test compares them"))]
    pub(super) example: &'static str,
    pub(super) pattern: &'static str,
}

pub(super) const fn shape(sign: Sign, example: &'static str, pattern: &'static str) -> MessageShape {
    MessageShape { sign, example, pattern }
}
