//! Finds what a sentence says by the words in it. Patterns are in lower case: ASCII letters of the sentence are lowered first,
//! which makes the patterns three times cheaper to build than patterns without regard to case.

use std::sync::LazyLock;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::patterns::SIGNS;
use super::signs::Signs;

#[expect(clippy::expect_used, reason = "the patterns are part of the binary and a test builds them")]
static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = SIGNS.iter().map(|(_, pattern)| pattern);
    // Matched as bytes: needs no Unicode tables.
    RegexSetBuilder::new(patterns).unicode(false).build().expect("every pattern is right")
});

/// Builds the patterns, which takes some milliseconds.
pub(super) fn build() {
    LazyLock::force(&PATTERNS);
}

pub(super) fn signs(sentence: &str) -> Signs {
    let mut signs = Signs::default();
    for index in PATTERNS.matches(sentence.to_ascii_lowercase().as_bytes()).iter() {
        if let Some((sign, _)) = SIGNS.get(index) {
            signs.add(*sign);
        }
    }
    signs
}
