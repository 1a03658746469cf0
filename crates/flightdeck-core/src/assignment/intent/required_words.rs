//! The words that a pattern needs: a sentence without any of them cannot match it.

use std::cmp::Reverse;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Longest part of a word that is searched for. The first letters rule out most patterns, and keep the automaton small.
pub(super) const WORD_BYTES_MAX: usize = 6;

/// Shortest word that is worth a second look.
const MORE_WORDS_BYTES_MIN: usize = 3;

/// Words of which at least one is in every sentence that a pattern matches.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequiredWords {
    AtStart(Vec<Vec<u8>>),
    Anywhere(Vec<Vec<u8>>),
    /// No word is needed: any sentence may match.
    Unknown,
}

/// The alternatives of a pattern: the parts between its outermost bars. A part has fewer words and states than the whole. The parser
/// moves what all parts begin with before them (`\ba|\bb` becomes `\b(?:a|b)`), so it is put back.
pub(super) fn alternatives(pattern: &str) -> Result<Vec<Hir>, Box<regex_syntax::Error>> {
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern)?;
    Ok(match parsed.kind() {
        HirKind::Alternation(parts) => parts.clone(),
        HirKind::Concat(parts) => match parts.as_slice() {
            [first, last] => with_first(first, last).unwrap_or_else(|| vec![parsed]),
            _ => vec![parsed],
        },
        _ => vec![parsed],
    })
}

/// The alternatives of `last`, each after `first`. Plain words stay together: they need few states.
fn with_first(first: &Hir, last: &Hir) -> Option<Vec<Hir>> {
    let (HirKind::Look(_), HirKind::Alternation(parts)) = (first.kind(), last.kind()) else { return None };
    let (plain, shapes): (Vec<_>, Vec<_>) =
        parts.iter().cloned().partition(|part| part.properties().is_literal());
    let plain = (!plain.is_empty()).then(|| Hir::alternation(plain));
    Some(shapes.into_iter().chain(plain).map(|part| Hir::concat(vec![first.clone(), part])).collect())
}

pub(super) fn required_words(pattern: &Hir) -> RequiredWords {
    let at_start = first_words(pattern).map(RequiredWords::AtStart);
    let anywhere = || words(pattern).map(RequiredWords::Anywhere);
    at_start.or_else(anywhere).unwrap_or(RequiredWords::Unknown)
}

/// The words that a pattern for the start of a sentence begins with.
fn first_words(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let is_first = pattern.properties().look_set_prefix().contains(Look::Start);
    let first = Extractor::new().extract(pattern);
    let literals = first.literals().filter(|_| is_first)?;
    let words: Vec<_> = literals.iter().map(|literal| cut(literal.as_bytes())).collect();
    (!words.is_empty() && words.iter().all(|word| !word.is_empty())).then_some(words)
}

/// Other words of which one is needed too: those of the rarest part after the part that [`required_words`] are in. `None` if all are so short
/// that most sentences have one.
pub(super) fn more_required_words(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let HirKind::Concat(parts) = pattern.kind() else { return None };
    let mut needed: Vec<_> = parts.iter().filter_map(words).collect();
    let first = match first_words(pattern) {
        Some(_) => 0,
        None => needed.iter().enumerate().max_by_key(|(_, words)| rarity(words))?.0,
    };
    needed.remove(first);
    let more = needed.into_iter().max_by_key(|words| rarity(words))?;
    (rarity(&more).0 >= MORE_WORDS_BYTES_MIN).then_some(more)
}

fn words(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    match pattern.kind() {
        HirKind::Literal(literal) => Some(vec![cut(&literal.0)]),
        HirKind::Capture(capture) => words(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => words(&repetition.sub),
        // All parts must match, so the words of one part are enough. The part with the rarest words is chosen.
        HirKind::Concat(parts) => parts.iter().filter_map(words).max_by_key(|words| rarity(words)),
        HirKind::Alternation(parts) => {
            let words: Option<Vec<_>> = parts.iter().map(words).collect();
            Some(words?.into_iter().flatten().collect())
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

fn cut(word: &[u8]) -> Vec<u8> {
    word.iter().copied().take(WORD_BYTES_MAX).collect()
}

/// An estimate of how rare the words are: long words, words in a script that few messages use, and short lists are rarer.
fn rarity(words: &[Vec<u8>]) -> (usize, Reverse<usize>) {
    let rarity = |word: &Vec<u8>| if word.is_ascii() { word.len() } else { WORD_BYTES_MAX };
    (words.iter().map(rarity).min().unwrap_or_default(), Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use super::RequiredWords::*;
    use super::*;

    #[track_caller]
    fn check(pattern: &str, expected: RequiredWords) {
        let [alternative] = alternatives(pattern).unwrap().try_into().unwrap();
        assert_eq!(required_words(&alternative), expected, "{pattern}");
    }

    fn list(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_rarest_needed_words_are_chosen() {
        check(r"\bi(?:'ve)? (?:fixed|moved) it", Anywhere(list(&["fixed", "moved"])));
        check(r"[a-z]+é (?:la|le|les)\b", Anywhere(list(&["é "])));
    }

    #[test]
    fn the_first_words_of_a_sentence_are_needed_at_its_start() {
        check(r"^(?:an? |once )[a-z]+ed\b", AtStart(list(&["an ", "a ", "once "])));
    }

    #[test]
    fn what_may_be_left_out_is_not_needed() {
        check(r"^(?:now )?[a-z]+ed ", Anywhere(list(&["ed "])));
        check(r"^(?:now )?[a-z]*", Unknown);
        check(r"\b(?:next|[0-9]+)\b", Unknown);
    }

    #[test]
    fn the_alternatives_are_the_outermost_parts() {
        assert_eq!(alternatives(r"^next\b|(?:a|b)c").unwrap().len(), 2);
        assert_eq!(alternatives(r"\ba.*b|\bc.*d|\bword|\bother").unwrap().len(), 3);
    }
}
