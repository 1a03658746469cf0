//! Finds the signs of a sentence by the patterns that match it. Patterns are in lower case, and the ASCII letters of the sentence are
//! lowered first: case-insensitive patterns would be three times as expensive to build.
//!
//! One pass of an Aho-Corasick automaton finds which patterns can match a sentence ([`required_words`]). Only these are run, each on its
//! own, and only for the signs that a rule asks for. One automaton for all patterns was tried: each new text needs new
//! states, which took 40 ms and 16 MB of memory for 4 KB.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::Hir;

use super::pattern_set::PatternSet;
use super::patterns::PHRASES;
use super::required_words::{
    RequiredWords, WORD_BYTES_MAX, alternatives, more_required_words, required_words,
};
use super::shapes;
use super::signs::Sign;
use crate::limits::INTENT_PATTERN_BYTES_MAX;

/// Built at the first use from the patterns of the binary.
#[expect(clippy::expect_used, reason = "the patterns are part of the binary and a test builds them")]
static MATCHER: LazyLock<Matcher> = LazyLock::new(|| Matcher::build().expect("every pattern is right"));

/// The cached states of each pattern's automaton. There is one list for each thread that detects at the same time.
static CACHES: LazyLock<Pool<Vec<Option<Cache>>>> =
    LazyLock::new(|| Pool::new(|| MATCHER.patterns.iter().map(|_| None).collect()));

struct Matcher {
    /// The alternatives of all rows.
    patterns: Vec<DFA>,
    by_sign: [PatternSet; Sign::COUNT],
    words: AhoCorasick,
    /// The patterns that each word of the automaton makes possible.
    by_word: Vec<Possible>,
    /// The patterns that the first letters of a sentence make possible.
    by_start: BTreeMap<Vec<u8>, Vec<u16>>,
    /// Patterns that need no word.
    always: PatternSet,
    /// Patterns that need no more words than one.
    one_word: PatternSet,
}

/// The patterns that a word makes possible.
#[derive(Default)]
struct Possible {
    /// If no other word is needed.
    first: Vec<u16>,
    /// If the first word is there.
    more: Vec<u16>,
}

impl Matcher {
    fn build() -> Result<Self, Box<dyn Error>> {
        let (mut patterns, mut by_sign) = (Vec::new(), [PatternSet::default(); Sign::COUNT]);
        let (mut by_word, mut by_start) =
            (BTreeMap::<Vec<u8>, Possible>::new(), BTreeMap::<Vec<u8>, Vec<u16>>::new());
        let (mut always, mut one_word) = (PatternSet::default(), PatternSet::default());
        for (sign, pattern) in rows() {
            for alternative in alternatives(pattern)? {
                let index = u16::try_from(patterns.len())?;
                patterns.push(automaton(&alternative)?);
                by_sign.get_mut(sign as usize).ok_or("a sign is not counted")?.insert(index)?;
                match required_words(&alternative) {
                    RequiredWords::AtStart(words) => {
                        words.into_iter().for_each(|word| by_start.entry(word).or_default().push(index));
                    }
                    RequiredWords::Anywhere(words) => {
                        words.into_iter().for_each(|word| by_word.entry(word).or_default().first.push(index));
                    }
                    RequiredWords::Unknown => always.insert(index)?,
                }
                match more_required_words(&alternative) {
                    Some(words) => {
                        words.into_iter().for_each(|word| by_word.entry(word).or_default().more.push(index));
                    }
                    None => one_word.insert(index)?,
                }
            }
        }
        let words =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(by_word.keys())?;
        Ok(Self {
            patterns,
            by_sign,
            words,
            by_word: by_word.into_values().collect(),
            by_start,
            always,
            one_word,
        })
    }

    fn candidates(&self, lowered: &[u8]) -> PatternSet {
        let (mut first, mut more) = (self.always, self.one_word);
        for found in self.words.find_overlapping_iter(lowered) {
            let Some(possible) = self.by_word.get(found.pattern().as_usize()) else { continue };
            first.add_each(&possible.first);
            more.add_each(&possible.more);
        }
        let starts = (1..=WORD_BYTES_MAX).filter_map(|bytes| lowered.get(..bytes));
        starts.filter_map(|start| self.by_start.get(start)).for_each(|patterns| first.add_each(patterns));
        first.both(&more)
    }

    fn is_match(&self, pattern: usize, caches: &mut [Option<Cache>], lowered: &[u8]) -> bool {
        let Some((automaton, cache)) = self.patterns.get(pattern).zip(caches.get_mut(pattern)) else {
            return false;
        };
        let cache = cache.get_or_insert_with(|| automaton.create_cache());
        // The search returns no error, because the automaton has neither a quit byte nor a cache limit at which it gives up.
        let end = automaton.try_search_fwd(cache, &Input::new(lowered).earliest(true));
        end.is_ok_and(|end| end.is_some())
    }
}

fn rows() -> impl Iterator<Item = (Sign, &'static str)> {
    PHRASES.iter().copied().chain(shapes::all().map(|shape| (shape.sign, shape.pattern)))
}

/// An automaton that only searches forward and has no capture groups. A `Regex` takes twice the memory.
fn automaton(pattern: &Hir) -> Result<DFA, Box<dyn Error>> {
    let thompson = thompson::Config::new().which_captures(WhichCaptures::None).utf8(false);
    let nfa = thompson::NFA::compiler().configure(thompson).build_from_hir(pattern)?;
    let limits = DFA::config().cache_capacity(INTENT_PATTERN_BYTES_MAX).skip_cache_capacity_check(true);
    Ok(DFA::builder().configure(limits.match_kind(MatchKind::All)).build_from_nfa(nfa)?)
}

/// Builds the patterns, which takes some milliseconds.
pub(super) fn build() {
    LazyLock::force(&MATCHER);
}

/// The patterns that can match a sentence in lower case.
pub(super) fn candidates(lowered: &[u8]) -> PatternSet {
    MATCHER.candidates(lowered)
}

/// Whether a pattern of this sign matches, among the candidates.
pub(super) fn says(lowered: &[u8], candidates: &PatternSet, sign: Sign) -> bool {
    let patterns =
        MATCHER.by_sign.get(sign as usize).map(|patterns| patterns.both(candidates)).unwrap_or_default();
    if patterns.is_empty() {
        return false;
    }
    let mut caches = CACHES.get();
    patterns.iter().any(|pattern| MATCHER.is_match(pattern, &mut caches, lowered))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: [&str; 2] = [
        include_str!("../../../tests/data/intents/tune.txt"),
        include_str!("../../../tests/data/intents/fourth_tune.txt"),
    ];

    #[test]
    fn every_pattern_that_matches_is_a_candidate() {
        let mut caches = CACHES.get();
        let lines = MESSAGES.into_iter().flat_map(str::lines).chain(shapes::all().map(|shape| shape.example));
        for line in lines.map(str::to_ascii_lowercase) {
            let candidates: Vec<_> = candidates(line.as_bytes()).iter().collect();
            let left_out = (0..MATCHER.patterns.len()).filter(|pattern| !candidates.contains(pattern));
            for pattern in left_out {
                assert!(!MATCHER.is_match(pattern, &mut caches, line.as_bytes()), "{pattern}: {line}");
            }
        }
    }

    /// A pattern that needs no word is run on every sentence.
    #[test]
    fn every_pattern_needs_a_word() {
        assert_eq!(MATCHER.always.iter().count(), 0);
    }
}
