//! A complete automaton that says whether a pattern matches. It stops at the first match, so it has no states after one. Its table
//! takes a quarter of the memory of the one it is made from, so that all patterns fit beside each other.

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use super::required_words::is_at_start;

/// No match can follow.
const DEAD: u16 = 0;
const MATCHED: u16 = 1;

/// Most memory for the states of one pattern while it is built.
const BUILD_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) struct PatternAutomaton {
    /// At the start of a sentence, after a letter or digit, and after any other byte.
    starts: [u16; 3],
    /// Bytes of one class have the same effect. The end of the sentence is the last class.
    classes: [u8; 256],
    class_count: usize,
    /// The next state, for each state and class. There are no rows for [`DEAD`] and [`MATCHED`].
    next: Vec<u16>,
}

impl PatternAutomaton {
    pub(super) fn build(pattern: &Hir) -> Result<Self, Box<dyn Error>> {
        let thompson = thompson::Config::new().which_captures(WhichCaptures::None).utf8(false);
        let nfa = thompson::NFA::compiler().configure(thompson).build_from_hir(pattern)?;
        let anchored = if is_at_start(pattern) { Anchored::Yes } else { Anchored::No };
        let limits = DFA::config().cache_capacity(BUILD_BYTES_MAX).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(limits.match_kind(MatchKind::All)).build_from_nfa(nfa)?;
        let mut builder =
            AutomatonBuilder { cache: dfa.create_cache(), numbers: BTreeMap::new(), states: Vec::new() };
        let mut after = |byte| -> Result<u16, Box<dyn Error>> {
            let start = start::Config::new().anchored(anchored).look_behind(byte);
            let state = dfa.start_state(&mut builder.cache, &start)?;
            builder.number(state)
        };
        let starts = [after(None)?, after(Some(b'a'))?, after(Some(b' '))?];
        let (classes, class_count) = (dfa.byte_classes(), dfa.byte_classes().alphabet_len());
        let mut next = Vec::new();
        let mut done = 0;
        while let Some(state) = builder.states.get(done).copied() {
            for class in classes.representatives(..) {
                let target = match class.as_u8() {
                    Some(byte) => dfa.next_state(&mut builder.cache, state, byte)?,
                    None => dfa.next_eoi_state(&mut builder.cache, state)?,
                };
                next.push(builder.number(target)?);
            }
            done += 1;
        }
        if builder.cache.clear_count() > 0 {
            return Err("a pattern has more states than fit into BUILD_BYTES_MAX".into());
        }
        let classes = std::array::from_fn(|byte| u8::try_from(byte).map_or(0, |byte| classes.get(byte)));
        Ok(Self { starts, classes, class_count, next })
    }

    /// Whether it matches in a part of a sentence.
    pub(super) fn is_match(&self, sentence: &[u8], part: Range<usize>) -> bool {
        let [at_start, after_word, after_other] = self.starts;
        let mut state = match part.start.checked_sub(1).and_then(|before| sentence.get(before)) {
            None => at_start,
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => after_word,
            Some(_) => after_other,
        };
        // A match is seen one byte after its end.
        for byte in sentence.get(part.start..).unwrap_or_default().iter().take(part.len() + 1) {
            if state <= MATCHED {
                break;
            }
            state = self.following(
                state,
                usize::from(self.classes.get(usize::from(*byte)).copied().unwrap_or_default()),
            );
        }
        if state > MATCHED && part.end >= sentence.len() {
            state = self.following(state, self.class_count - 1);
        }
        state == MATCHED
    }

    fn following(&self, state: u16, class: usize) -> u16 {
        let row = usize::from(state - MATCHED - 1) * self.class_count;
        self.next.get(row + class).copied().unwrap_or(DEAD)
    }
}

/// Numbers states in the order in which they are met.
struct AutomatonBuilder {
    cache: Cache,
    numbers: BTreeMap<LazyStateID, u16>,
    states: Vec<LazyStateID>,
}

impl AutomatonBuilder {
    fn number(&mut self, state: LazyStateID) -> Result<u16, Box<dyn Error>> {
        if state.is_dead() {
            return Ok(DEAD);
        }
        if state.is_match() {
            return Ok(MATCHED);
        }
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        let number = u16::try_from(self.states.len())?.checked_add(MATCHED + 1).ok_or("too many states")?;
        self.states.push(state);
        self.numbers.insert(state, number);
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::required_words::alternatives;
    use super::*;

    #[track_caller]
    fn check(pattern: &str, sentence: &str, part: Range<usize>, expected: bool) {
        let automaton = PatternAutomaton::build(&alternatives(pattern).unwrap().remove(0)).unwrap();
        assert_eq!(automaton.is_match(sentence.as_bytes(), part), expected, "{pattern}: {sentence}");
    }

    #[test]
    fn a_match_may_end_where_the_part_ends() {
        check(r"\bfixed\b", "it is fixed", 0..11, true);
        check(r"\bfixed\b", "it is fixed now", 6..11, true);
        check(r"\bfixed\b", "it is fixedx", 6..11, false);
        check(r"fixed$", "it is fixed", 0..11, true);
        check(r"fixed$", "it is fixed now", 0..11, false);
    }

    #[test]
    fn the_byte_before_the_part_is_known() {
        check(r"\bfixed\b", "unfixed", 2..7, false);
        check(r"\bfixed\b", "un-fixed", 3..8, true);
        check(r"^fixed\b", "unfixed", 0..7, false);
        check(r"^fixed\b", "fixed", 0..5, true);
    }

    #[test]
    fn an_empty_part_has_no_match() {
        check(r"\bfixed\b", "", 0..0, false);
    }
}
