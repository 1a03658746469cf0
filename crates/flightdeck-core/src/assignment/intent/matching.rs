//! Finds what a sentence says by the words in it. Patterns are in lower case: ASCII letters of the sentence are lowered first,
//! which makes the patterns three times cheaper to build than patterns without regard to case.

use std::sync::LazyLock;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::patterns::PHRASES;
use super::shapes;
use super::signs::{Sign, Signs};
use crate::limits::INTENT_MATCHER_BYTES_MAX;

#[expect(clippy::expect_used, reason = "the patterns are part of the binary and a test builds them")]
static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = rows().map(|(_, pattern)| pattern);
    // Matched as bytes: needs no Unicode tables.
    let mut set = RegexSetBuilder::new(patterns);
    set.unicode(false).dfa_size_limit(INTENT_MATCHER_BYTES_MAX).build().expect("every pattern is right")
});

/// What each pattern says, in the order in which the patterns are built.
static SIGNS: LazyLock<Vec<Sign>> = LazyLock::new(|| rows().map(|(sign, _)| sign).collect());

fn rows() -> impl Iterator<Item = (Sign, &'static str)> {
    PHRASES.iter().copied().chain(shapes::all().map(|shape| (shape.sign, shape.pattern)))
}

/// Builds the patterns, which takes some milliseconds.
pub(super) fn build() {
    LazyLock::force(&PATTERNS);
    LazyLock::force(&SIGNS);
}

pub(super) fn signs(sentence: &str) -> Signs {
    let mut signs = Signs::default();
    for index in PATTERNS.matches(sentence.to_ascii_lowercase().as_bytes()).iter() {
        if let Some(sign) = SIGNS.get(index) {
            signs.add(*sign);
        }
    }
    signs
}
