//! Finds the signs of a sentence by the patterns that match it. Patterns are in lower case, and the ASCII letters of the sentence are
//! lowered first: case-insensitive patterns would be three times as expensive to build.
//!
//! One pass of an Aho-Corasick automaton finds which patterns can match a sentence ([`required_words`]). Only these are run, each on its
//! own, and only for the signs that a rule asks for. Each pattern is a complete automaton: one that builds its states while it reads
//! is four times as expensive on text that it has not met. One automaton for all patterns would have too many states.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::automaton::PatternAutomaton;
use super::pattern_set::PatternSet;
use super::patterns::PHRASES;
use super::required_words::{MatchReach, WORD_BYTES_MAX, alternatives, required_words};
use super::shapes;
use super::signs::Sign;
use super::work_budget::WorkBudget;

/// The fixed cost of searching for one pattern, counted as bytes of text. It is added to the bytes that the search may read.
const PATTERN_BYTES: usize = 32;

/// Built at the first use from the patterns of the binary.
#[expect(clippy::expect_used, reason = "the patterns are part of the binary and a test builds them")]
static MATCHER: LazyLock<Matcher> = LazyLock::new(|| Matcher::build().expect("every pattern is right"));

struct Matcher {
    rows: Vec<PatternRow>,
    /// The alternatives of all rows.
    patterns: Vec<PatternPlace>,
    by_sign: [PatternSet; Sign::COUNT],
    words: AhoCorasick,
    /// The patterns that need each word of the automaton.
    by_word: Vec<PatternsOfWord>,
    /// The patterns whose first word is at the start of a sentence.
    by_start: BTreeMap<Vec<u8>, Vec<u16>>,
    /// Patterns that need no word.
    always: PatternSet,
    /// Patterns that need only one word, or none.
    one_word: PatternSet,
}

struct PatternPlace {
    row: usize,
    /// Which alternative of the row it is.
    place: usize,
    reach: MatchReach,
}

/// The patterns that can match a sentence.
pub(super) struct CandidatePatterns {
    patterns: PatternSet,
    /// For each pattern the part of the sentence that a match can be in, by the words that were found.
    parts: Vec<SentencePart>,
}

/// Where the first and the last of the required words begin.
#[derive(Clone, Copy)]
struct SentencePart {
    first: u16,
    last: u16,
}

/// One row of the tables. Its automata are built when a sentence first needs them.
struct PatternRow {
    pattern: &'static str,
    automata: OnceLock<Vec<PatternAutomaton>>,
}

/// The patterns that need a word.
#[derive(Default)]
struct PatternsOfWord {
    first: Vec<u16>,
    /// After the first word.
    last: Vec<u16>,
}

impl Matcher {
    fn build() -> Result<Self, Box<dyn Error>> {
        let (mut rows, mut patterns) = (Vec::new(), Vec::new());
        let mut by_sign = [PatternSet::default(); Sign::COUNT];
        let (mut by_word, mut by_start) =
            (BTreeMap::<Vec<u8>, PatternsOfWord>::new(), BTreeMap::<Vec<u8>, Vec<u16>>::new());
        let (mut always, mut one_word) = (PatternSet::default(), PatternSet::default());
        for (sign, pattern) in all_rows() {
            for (place, alternative) in alternatives(pattern)?.into_iter().enumerate() {
                let index = u16::try_from(patterns.len())?;
                by_sign.get_mut(sign as usize).ok_or("a sign is not counted")?.insert(index)?;
                let words = required_words(&alternative);
                let reach = words.as_ref().map(|words| words.reach).unwrap_or_default();
                patterns.push(PatternPlace { row: rows.len(), place, reach });
                if words.as_ref().is_none_or(|words| words.last.is_empty()) {
                    one_word.insert(index)?;
                }
                let Some(words) = words else {
                    always.insert(index)?;
                    continue;
                };
                for word in words.first {
                    match words.at_start {
                        true => by_start.entry(word).or_default().push(index),
                        false => by_word.entry(word).or_default().first.push(index),
                    }
                }
                words.last.into_iter().for_each(|word| by_word.entry(word).or_default().last.push(index));
            }
            rows.push(PatternRow { pattern, automata: OnceLock::new() });
        }
        let words =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(by_word.keys())?;
        Ok(Self {
            rows,
            patterns,
            by_sign,
            words,
            by_word: by_word.into_values().collect(),
            by_start,
            always,
            one_word,
        })
    }

    fn candidates(&self, lowered: &[u8]) -> CandidatePatterns {
        let (mut begun, mut complete) = (self.always, self.one_word);
        let starts = (1..=WORD_BYTES_MAX).filter_map(|bytes| lowered.get(..bytes));
        starts.filter_map(|start| self.by_start.get(start)).for_each(|patterns| begun.add_each(patterns));
        let mut parts = vec![SentencePart { first: 0, last: u16::MAX }; self.patterns.len()];
        for word in self.words.find_overlapping_iter(lowered) {
            let Some(needed) = self.by_word.get(word.pattern().as_usize()) else { continue };
            let at = u16::try_from(word.start()).unwrap_or(u16::MAX);
            // The words are found in the order of their ends, so the last word of a match comes after its first one.
            for pattern in &needed.last {
                if begun.contains(*pattern) {
                    complete.add(*pattern);
                    parts.get_mut(usize::from(*pattern)).into_iter().for_each(|part| part.last = at);
                }
            }
            for pattern in &needed.first {
                let Some(part) = parts.get_mut(usize::from(*pattern)) else { continue };
                if !begun.contains(*pattern) {
                    begun.add(*pattern);
                    part.first = at;
                }
                if self.one_word.contains(*pattern) {
                    part.last = at;
                }
            }
        }
        CandidatePatterns { patterns: begun.intersection(&complete), parts }
    }

    fn is_match(
        &self,
        pattern: usize,
        candidates: &CandidatePatterns,
        lowered: &[u8],
        budget: &WorkBudget,
    ) -> bool {
        let found = self.patterns.get(pattern).zip(candidates.parts.get(pattern));
        let Some((PatternPlace { row, place, reach }, part)) = found else { return false };
        let from = reach.before.map_or(0, |before| usize::from(part.first).saturating_sub(before));
        let to = reach.after.map_or(lowered.len(), |after| usize::from(part.last).saturating_add(after));
        let automaton = self.rows.get(*row).and_then(|row| row.automata().get(*place));
        let part = from..to.min(lowered.len());
        budget.spend(PATTERN_BYTES + part.len())
            && automaton.is_some_and(|automaton| automaton.is_match(lowered, part))
    }
}

impl PatternRow {
    #[expect(clippy::expect_used, reason = "the patterns are part of the binary and a test builds them")]
    fn automata(&self) -> &[PatternAutomaton] {
        self.automata.get_or_init(|| automata(self.pattern).expect("every pattern is right"))
    }
}

fn all_rows() -> impl Iterator<Item = (Sign, &'static str)> {
    PHRASES.iter().copied().chain(shapes::all_shapes().map(|shape| (shape.sign, shape.pattern)))
}

fn automata(pattern: &str) -> Result<Vec<PatternAutomaton>, Box<dyn Error>> {
    alternatives(pattern)?.iter().map(PatternAutomaton::build).collect()
}

/// Builds all automata, which takes some tenths of a second.
pub(super) fn build() {
    for row in &MATCHER.rows {
        row.automata();
    }
}

/// The patterns that can match a sentence in lower case.
pub(super) fn candidates(lowered: &[u8]) -> CandidatePatterns {
    MATCHER.candidates(lowered)
}

/// Whether a pattern of this sign matches, among the candidates.
pub(super) fn matches_sign(
    lowered: &[u8],
    candidates: &CandidatePatterns,
    sign: Sign,
    budget: &WorkBudget,
) -> bool {
    let patterns = MATCHER.by_sign.get(sign as usize);
    let possible = patterns.map(|patterns| patterns.intersection(&candidates.patterns)).unwrap_or_default();
    possible.iter().any(|pattern| MATCHER.is_match(pattern, candidates, lowered, budget))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: [&str; 2] = [
        include_str!("../../../tests/data/intents/tune.txt"),
        include_str!("../../../tests/data/intents/fourth_tune.txt"),
    ];

    #[test]
    fn every_pattern_that_matches_is_found_among_the_candidates() {
        let lines =
            MESSAGES.into_iter().flat_map(str::lines).chain(shapes::all_shapes().map(|shape| shape.example));
        for line in lines.map(str::to_ascii_lowercase) {
            let lowered = line.as_bytes();
            let candidates = candidates(lowered);
            for (index, pattern) in MATCHER.patterns.iter().enumerate() {
                let automaton = &MATCHER.rows[pattern.row].automata()[pattern.place];
                let matches = automaton.is_match(lowered, 0..lowered.len());
                let is_candidate = candidates.patterns.iter().any(|candidate| candidate == index);
                let found =
                    is_candidate && MATCHER.is_match(index, &candidates, lowered, &WorkBudget::default());
                assert_eq!(found, matches, "{}: {line}", MATCHER.rows[pattern.row].pattern);
            }
        }
    }

    /// A pattern that needs no word is run on every sentence.
    #[test]
    fn every_pattern_needs_a_word() {
        assert_eq!(MATCHER.always.iter().count(), 0);
    }
}
