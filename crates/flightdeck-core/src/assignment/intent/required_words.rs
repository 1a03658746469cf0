//! The words that a pattern needs: a sentence without any of them cannot match it.

use std::cmp::Reverse;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Longest part of a word that is searched for. The first letters rule out most patterns, and keep the automaton small.
pub(super) const WORD_BYTES_MAX: usize = 6;

/// Shortest word that is worth a second look.
const SECOND_WORD_BYTES_MIN: usize = 3;

type Words = Vec<Vec<u8>>;

/// Words that are in every sentence that a pattern matches: one of each list, in this order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequiredWords {
    pub(super) first: Words,
    /// The sentence begins with the first word.
    pub(super) at_start: bool,
    /// Empty if only one word is needed.
    pub(super) last: Words,
    pub(super) reach: MatchReach,
}

/// How many bytes of a match can be before the start of its first word and after the start of its last word. `None`: any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MatchReach {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
}

/// The alternatives of a pattern: the parts between its outermost bars. A part has fewer words and states than the whole. The parser
/// moves what all parts begin with before them (`\ba|\bb` becomes `\b(?:a|b)`), so it is put back.
pub(super) fn alternatives(pattern: &str) -> Result<Vec<Hir>, Box<regex_syntax::Error>> {
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern)?;
    Ok(match parsed.kind() {
        HirKind::Alternation(parts) => plain_words_together(parts),
        HirKind::Concat(parts) => match parts.as_slice() {
            [first, last] => with_first(first, last).unwrap_or_else(|| vec![parsed]),
            _ => vec![parsed],
        },
        _ => vec![parsed],
    })
}

/// The alternatives of `last`, each after `first`.
fn with_first(first: &Hir, last: &Hir) -> Option<Vec<Hir>> {
    let (HirKind::Look(_), HirKind::Alternation(parts)) = (first.kind(), last.kind()) else { return None };
    let parts = plain_words_together(parts).into_iter();
    Some(parts.map(|part| Hir::concat(vec![first.clone(), part])).collect())
}

/// Plain words stay together: they need few states.
fn plain_words_together(parts: &[Hir]) -> Vec<Hir> {
    let (plain, mut shapes): (Vec<_>, Vec<_>) =
        parts.iter().cloned().partition(|part| part.properties().is_literal());
    if !plain.is_empty() {
        shapes.push(Hir::alternation(plain));
    }
    shapes
}

/// `None` if the pattern needs no word: any sentence may match.
pub(super) fn required_words(pattern: &Hir) -> Option<RequiredWords> {
    let parts = match pattern.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(pattern),
    };
    let mut needed: Vec<_> = parts.iter().enumerate().filter_map(with_words).collect();
    if let Some(first) = first_words(pattern) {
        let last = needed.into_iter().skip(1).filter(is_long).max_by_key(|(_, words)| rarity(words));
        let after = last.as_ref().map_or(parts, |(index, _)| parts_from(parts, *index));
        let reach = MatchReach { before: Some(0), after: longest_match(after) };
        let last = last.map(|(_, words)| words).unwrap_or_default();
        return Some(RequiredWords { first, at_start: true, last, reach });
    }
    needed.sort_by_key(|(_, words)| Reverse(rarity(words)));
    let mut rarest: Vec<_> =
        needed.into_iter().enumerate().filter(|(place, part)| *place == 0 || is_long(part)).take(2).collect();
    rarest.sort_by_key(|(_, (index, _))| *index);
    let mut rarest = rarest.into_iter().map(|(_, part)| part);
    let (first_index, first) = rarest.next()?;
    let (last_index, last) = rarest.next().unwrap_or((first_index, Vec::new()));
    let before = longest_match(parts.get(..=first_index).unwrap_or_default());
    let reach = MatchReach { before, after: longest_match(parts_from(parts, last_index)) };
    Some(RequiredWords { first, at_start: false, last, reach })
}

fn with_words((index, part): (usize, &Hir)) -> Option<(usize, Words)> {
    Some((index, required_literals(part)?))
}

/// Whether the words are so long that most sentences have none of them.
fn is_long((_, words): &(usize, Words)) -> bool {
    rarity(words).0 >= SECOND_WORD_BYTES_MIN
}

fn parts_from(parts: &[Hir], index: usize) -> &[Hir] {
    parts.get(index..).unwrap_or_default()
}

fn longest_match(parts: &[Hir]) -> Option<usize> {
    parts.iter().map(|part| part.properties().maximum_len()).sum()
}

/// Whether a pattern matches only at the start of a sentence.
pub(super) fn is_at_start(pattern: &Hir) -> bool {
    pattern.properties().look_set_prefix().contains(Look::Start)
}

/// The words that a pattern for the start of a sentence begins with.
fn first_words(pattern: &Hir) -> Option<Words> {
    let first = Extractor::new().extract(pattern);
    let literals = first.literals().filter(|_| is_at_start(pattern))?;
    let words: Vec<_> = literals.iter().map(|literal| shortened(literal.as_bytes())).collect();
    (!words.is_empty() && words.iter().all(|word| !word.is_empty())).then_some(words)
}

fn required_literals(pattern: &Hir) -> Option<Words> {
    match pattern.kind() {
        HirKind::Literal(literal) => Some(vec![shortened(&literal.0)]),
        HirKind::Capture(capture) => required_literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_literals(&repetition.sub),
        // All parts must match, so the words of one part are enough. The part with the rarest words is chosen.
        HirKind::Concat(parts) => {
            parts.iter().filter_map(required_literals).max_by_key(|words| rarity(words))
        }
        HirKind::Alternation(parts) => {
            let words: Option<Vec<_>> = parts.iter().map(required_literals).collect();
            Some(words?.into_iter().flatten().collect())
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

fn shortened(word: &[u8]) -> Vec<u8> {
    word.iter().copied().take(WORD_BYTES_MAX).collect()
}

/// An estimate of how rare the words are: long words, words in a script that few messages use, and short lists are rarer.
fn rarity(words: &[Vec<u8>]) -> (usize, Reverse<usize>) {
    let rarity = |word: &Vec<u8>| if word.is_ascii() { word.len() } else { WORD_BYTES_MAX };
    (words.iter().map(rarity).min().unwrap_or_default(), Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn words_of(pattern: &str) -> Option<RequiredWords> {
        let [alternative] = alternatives(pattern).unwrap().try_into().unwrap();
        required_words(&alternative)
    }

    #[track_caller]
    fn check(pattern: &str, first: &[&str], last: &[&str]) {
        let words = words_of(pattern).unwrap();
        assert_eq!((words.first, words.last), (list(first), list(last)), "{pattern}");
    }

    fn list(words: &[&str]) -> Words {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_rarest_needed_words_are_chosen() {
        check(r"\bi(?:'ve)? (?:fixed|moved) it", &["fixed", "moved"], &[" it"]);
        check(r"[a-z]+é (?:la|le|les)\b", &["é "], &[]);
    }

    #[test]
    fn two_words_are_needed_in_their_order() {
        check(r"\bnow\b.*\bfixed\b.*\ba\b", &["now"], &["fixed"]);
        check(r"\bfixed\b.*\bnow\b", &["fixed"], &["now"]);
    }

    #[test]
    fn the_first_words_of_a_sentence_are_needed_at_its_start() {
        check(r"^(?:an? |once )[a-z]+ed\b", &["an ", "a ", "once "], &[]);
        assert!(words_of(r"^once [a-z]+ed\b").unwrap().at_start);
    }

    #[test]
    fn what_may_be_left_out_is_not_needed() {
        check(r"^(?:now )?[a-z]+ed ", &["ed "], &[]);
        assert_eq!(words_of(r"^(?:now )?[a-z]*"), None);
        assert_eq!(words_of(r"\b(?:next|[0-9]+)\b"), None);
    }

    #[test]
    fn a_match_reaches_as_far_as_its_longest_parts() {
        let reach = |pattern: &str| words_of(pattern).unwrap().reach;
        assert_eq!(reach(r"\bi(?:'ve)? fixed\b"), MatchReach { before: Some(10), after: Some(6) });
        assert_eq!(reach(r"\bi fixed\b.*x"), MatchReach { before: Some(7), after: None });
    }

    #[test]
    fn the_alternatives_are_the_outermost_parts() {
        assert_eq!(alternatives(r"^next\b|(?:a|b)c").unwrap().len(), 2);
        assert_eq!(alternatives(r"\ba.*b|\bc.*d|\bword|\bother").unwrap().len(), 3);
        assert_eq!(alternatives(r"\ba.*b|word|other").unwrap().len(), 2);
    }
}
