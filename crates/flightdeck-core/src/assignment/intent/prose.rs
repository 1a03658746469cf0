//! The sentences of a markdown message that a reader would take as said: without code, quotes, tables and markup.

use super::IntentRule;
use super::sentence_signs::SentenceSigns;
use super::signs::{Sign, Signs};
use super::work_budget::WorkBudget;
use crate::limits::{
    INTENT_BYTES_MAX, INTENT_LAST_BYTES_MAX, INTENT_LINES_MAX, INTENT_OPENING_BYTES_MAX,
    INTENT_OPENING_LINES_MAX, INTENT_OPENING_SENTENCES_MAX, INTENT_SENTENCE_BYTES_MAX, INTENT_SENTENCES_MAX,
};

/// The sentences near the end of a message, and those that open it.
pub(super) struct Prose<'a> {
    pub(super) sentences: Vec<Sentence<'a>>,
}

pub(super) struct Sentence<'a> {
    pub(super) signs: SentenceSigns,
    /// With markup, code and quoted words.
    pub(super) written: &'a str,
    /// Part of a list.
    pub(super) item: bool,
    /// One of the first lines of the message.
    pub(super) opening: bool,
    /// The title of a section.
    pub(super) heading: bool,
}

/// The rule that decides, and its sentence.
pub(super) type FoundIntent<'a> = Option<(IntentRule, &'a Sentence<'a>)>;

struct ProseLine<'a> {
    text: &'a str,
    item: bool,
    heading: bool,
    mark: Option<Sign>,
}

/// Marks of finished and of open items in a list of tasks.
const MARKS: [(&str, Sign); 14] = [
    ("[x]", Sign::Done),
    ("[X]", Sign::Done),
    ("✅", Sign::Done),
    ("✔", Sign::Done),
    ("✓", Sign::Done),
    ("☑", Sign::Done),
    ("[ ]", Sign::PartlyDone),
    ("⏳", Sign::PartlyDone),
    ("⏸", Sign::PartlyDone),
    ("🔄", Sign::PartlyDone),
    ("❌", Sign::PartlyDone),
    ("✗", Sign::PartlyDone),
    ("🚧", Sign::PartlyDone),
    ("⬜", Sign::PartlyDone),
];

impl<'a> Prose<'a> {
    pub(super) fn from_message(message: &'a str) -> Self {
        let (lines, budget) = (prose_lines(message), WorkBudget::default());
        let (opening, rest) = lines.split_at(lines.len().min(INTENT_OPENING_LINES_MAX));
        let mut sentences = Vec::with_capacity(INTENT_OPENING_SENTENCES_MAX + INTENT_SENTENCES_MAX);
        opening.iter().for_each(|line| add_sentences(line, true, &budget, &mut sentences));
        let opening = sentences.len();
        // From the end, until there are enough. The sentences of each line are reversed, and then all of them.
        let mut bytes = 0;
        for line in rest.iter().rev().take(INTENT_LINES_MAX) {
            let before = sentences.len();
            if before - opening >= INTENT_SENTENCES_MAX || bytes >= INTENT_LAST_BYTES_MAX {
                break;
            }
            add_sentences(line, false, &budget, &mut sentences);
            let added = sentences.get_mut(before..).unwrap_or_default();
            added.reverse();
            bytes += added.iter().map(|sentence| sentence.signs.text().len()).sum::<usize>();
        }
        sentences.get_mut(opening..).unwrap_or_default().reverse();
        drop_middle(&mut sentences, opening);
        Self { sentences }
    }
}

/// Keeps the first sentences of the opening lines, and the last sentences of the message: as many as fit into the bounds.
fn drop_middle(sentences: &mut Vec<Sentence<'_>>, opening: usize) {
    let last = sentences.iter().rev().take(INTENT_SENTENCES_MAX);
    let last = sentences.len() - count_within(last, INTENT_LAST_BYTES_MAX);
    let opening = sentences.iter().take(opening.min(INTENT_OPENING_SENTENCES_MAX));
    let opening = count_within(opening, INTENT_OPENING_BYTES_MAX);
    if opening < last {
        sentences.drain(opening..last);
    }
}

/// How many of the sentences have at most `max` bytes together.
fn count_within<'a>(sentences: impl Iterator<Item = &'a Sentence<'a>>, max: usize) -> usize {
    let total = sentences.scan(0, |bytes, sentence| {
        *bytes += sentence.signs.text().len();
        Some(*bytes)
    });
    total.take_while(|bytes| *bytes <= max).count()
}

fn add_sentences<'a>(line: &'a str, opening: bool, budget: &WorkBudget, sentences: &mut Vec<Sentence<'a>>) {
    let line = ProseLine::from_text(line);
    split(line.text, |text, written| {
        let counted = counts_a_part(text).then_some(Sign::PartlyDone);
        let known = line.mark.into_iter().chain(counted).fold(Signs::default(), Signs::with);
        let signs = SentenceSigns::new(last_bytes(text, INTENT_SENTENCE_BYTES_MAX), known, budget);
        sentences.push(Sentence { signs, written, item: line.item, opening, heading: line.heading })
    });
}

impl<'a> ProseLine<'a> {
    fn from_text(line: &'a str) -> Self {
        let (text, item) = without_marker(line);
        let (text, mark) = without_mark(text);
        let heading = line.starts_with('#');
        Self { text: last_bytes(text, INTENT_BYTES_MAX), item: item || mark.is_some(), heading, mark }
    }
}

/// The lines outside code blocks, block quotes and tables, from the last [`INTENT_BYTES_MAX`] of the message.
fn prose_lines(message: &str) -> Vec<&str> {
    let from = message.len().saturating_sub(INTENT_BYTES_MAX);
    let (mut fence, mut lines) = (None, Vec::new());
    let mut read = 0;
    for line in message.split_inclusive('\n') {
        read += line.len();
        let text = line.trim_ascii();
        if let Some(mark) = fence_mark(text) {
            // A fence is closed by its own mark only.
            fence = if fence.is_none() { Some(mark) } else { fence.filter(|open| *open != mark) };
        } else if fence.is_none() && read >= from && !text.is_empty() && !text.starts_with(['>', '|']) {
            lines.push(text);
        }
    }
    lines
}

/// The mark of a line that opens or closes a code block. A line that does both is ordinary text.
fn fence_mark(line: &str) -> Option<&str> {
    let (mark, rest) = line.split_at_checked(3)?;
    (matches!(mark, "```" | "~~~") && !rest.contains(mark)).then_some(mark)
}

fn last_bytes(text: &str, max: usize) -> &str {
    let mut from = text.len().saturating_sub(max);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or(text)
}

/// The text of a list item or a heading, and whether it is an item.
fn without_marker(line: &str) -> (&str, bool) {
    if line.starts_with('#') {
        return (line.trim_start_matches('#').trim_start(), false);
    }
    for bullet in ["- ", "* ", "+ ", "• ", "– ", "— ", "‣ ", "◦ ", "· ", "→ ", "▸ "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (rest.trim_start(), true);
        }
    }
    let numbered = line.trim_start_matches(['(', '*']);
    let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    let letters = usize::from(numbered.starts_with(|c: char| c.is_ascii_alphabetic()));
    let after = numbered.get(digits.max(letters)..).filter(|_| digits <= 3 && digits + letters > 0);
    let item =
        after.and_then(|rest| rest.strip_prefix(['.', ')', ':'])).map(|rest| rest.trim_start_matches('*'));
    match item.and_then(|rest| rest.strip_prefix(' ')) {
        Some(rest) => (rest.trim_start(), true),
        None => (line, false),
    }
}

/// The text of a task, and what its mark says.
fn without_mark(line: &str) -> (&str, Option<Sign>) {
    let marked = |(mark, sign): &(&str, Sign)| Some((line.strip_prefix(mark)?.trim_start(), Some(*sign)));
    MARKS.iter().find_map(marked).unwrap_or((line, None))
}

/// Whether it says "3 of 8". "8 of 8" is all, and "0 of 8" counts what is wrong.
fn counts_a_part(text: &str) -> bool {
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let number = |word: Option<&str>| word?.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
    text.match_indices(" of ").any(|(at, of)| {
        let (before, after) = (text.get(..at), text.get(at + of.len()..));
        let part = number(before.and_then(|text| text.split_whitespace().next_back()));
        let all = number(after.and_then(|text| text.trim_start_matches("the ").split_whitespace().next()));
        part.zip(all).is_some_and(|(part, all)| 0 < part && part < all)
    })
}

fn closing(open: char) -> Option<char> {
    match open {
        '`' => Some('`'),
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '「' => Some('」'),
        _ => None,
    }
}

/// Calls `take` with each sentence of a line: without markup, code and quoted words, and as it was written. An
/// apostrophe becomes the plain one.
fn split<'a>(line: &'a str, mut take: impl FnMut(&str, &'a str)) {
    let (mut clean, mut from, mut rest) = (String::with_capacity(line.len()), 0, line);
    let mut take_some = |clean: &mut String, written: &'a str| {
        let text = clean.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '…').trim_end();
        if !text.is_empty() {
            take(text, written.trim());
        }
        clean.clear();
    };
    loop {
        let (plain, from_mark) = rest.split_at(plain_bytes(rest));
        clean.push_str(plain);
        rest = from_mark;
        let Some(c) = rest.chars().next() else { break };
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match closing(c).and_then(|close| rest.split_once(close)) {
            Some((inside, after)) => {
                clean.push_str(if inside.is_empty() { "" } else { "…" });
                rest = after;
            }
            None if c == '*' => {}
            None => clean.push(if c == '’' { '\'' } else { c }),
        }
        if ends_sentence(c, rest) && !(c == '.' && ends_with_abbreviation(&clean)) {
            let end = line.len() - rest.len();
            take_some(&mut clean, line.get(from..end).unwrap_or_default());
            from = end;
        }
    }
    take_some(&mut clean, line.get(from..).unwrap_or_default());
}

/// How many bytes at the start of a text are taken as they are.
fn plain_bytes(text: &str) -> usize {
    let is_plain = |b: &u8| b.is_ascii() && !matches!(b, b'`' | b'"' | b'*' | b'.' | b'!' | b'?');
    text.bytes().position(|b| !is_plain(&b)).unwrap_or(text.len())
}

fn ends_sentence(c: char, rest: &str) -> bool {
    match c {
        '。' | '？' | '！' => true,
        // "Done 🎉 Thanks!"
        '\u{1F300}'..='\u{1FAFF}' => rest.starts_with(' '),
        '.' | '!' | '?' => {
            let after_marks = rest.trim_start_matches(['*', '_', '"', '”', '»']);
            let is_wide = |next: char| c != '.' && next.is_alphabetic() && !next.is_ascii();
            after_marks.is_empty() || after_marks.starts_with([' ', ')']) || after_marks.starts_with(is_wide)
        }
        _ => false,
    }
}

/// Whether a text ends with a point that ends no sentence.
fn ends_with_abbreviation(text: &str) -> bool {
    [
        "i.e.", "e.g.", " vs.", " incl.", " approx.", " bzw.", " ca.", "z. B.", "z.B.", "d.h.", "p. ej.",
        "p. ex.",
    ]
    .iter()
    .any(|abbreviation| text.ends_with(abbreviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str) -> Vec<String> {
        Prose::from_message(message).sentences.into_iter().map(|s| s.signs.text().to_owned()).collect()
    }

    #[test]
    fn code_quotes_and_tables_are_not_said() {
        let message =
            "Look:\n```js\n// why?\n```\n> Is it?\n| a | b? |\n\nHe wrote \"why?\" in `is_it?()`. Fine.";
        assert_eq!(said(message), ["Look:", "He wrote … in ….", "Fine."]);
    }

    #[test]
    fn a_fence_is_closed_by_its_own_mark() {
        assert_eq!(said("~~~\n```\nwhy?\n~~~\nFine."), ["Fine."]);
        assert_eq!(said("```\nwhy?"), Vec::<String>::new());
        assert_eq!(said("```ls```\nWhy?"), ["…", "Why?"]);
    }

    #[test]
    fn markers_are_no_part_of_a_sentence() {
        assert_eq!(
            said("## Summary\n- **One** thing\n2. Two\n✅ Done!"),
            ["Summary", "One thing", "Two", "Done!"]
        );
    }

    #[test]
    fn of_many_sentences_the_first_and_the_last_are_read() {
        let many: String = (0..100).map(|n| format!("It is {n}. ")).collect();
        let read = said(&many);
        assert_eq!(read.len(), INTENT_OPENING_SENTENCES_MAX + INTENT_SENTENCES_MAX);
        assert_eq!(
            (read[0].as_str(), read[INTENT_OPENING_SENTENCES_MAX].as_str(), read.last().unwrap().as_str()),
            ("It is 0.", "It is 84.", "It is 99.")
        );
        let read = said(&many.replace(". ", ".\n"));
        assert_eq!((read[1].as_str(), read[2].as_str(), read.len()), ("It is 1.", "It is 84.", 18));
    }

    #[test]
    fn long_sentences_are_read_as_far_as_they_fit() {
        let long = "word ".repeat(70);
        let read = said(&format!("Done. {long}.\n{long}.\n{}Last.", format!("{long}.\n").repeat(8)));
        assert!(read.iter().all(|sentence| sentence.len() <= INTENT_SENTENCE_BYTES_MAX));
        let short: Vec<_> = read.iter().map(String::as_str).filter(|sentence| sentence.len() < 10).collect();
        assert_eq!((short, read.len()), (vec!["Done.", "Last."], 7));
    }

    #[test]
    fn a_sentence_ends_before_the_marks_around_it() {
        assert_eq!(said("**Which one?** The first is smaller."), ["Which one?", "The first is smaller."]);
        assert_eq!(said("要先备份吗?大约需要十分钟。"), ["要先备份吗?", "大约需要十分钟。"]);
    }

    #[test]
    fn letters_number_the_items_of_a_list_too() {
        let items: Vec<_> = Prose::from_message("a) one\nB. two\n(3) three\n– four\nA word")
            .sentences
            .iter()
            .map(|s| s.item)
            .collect();
        assert_eq!(items, [true, true, true, true, false]);
    }

    #[test]
    fn an_abbreviation_ends_no_sentence() {
        assert_eq!(said("Done with one part, i.e. the names."), ["Done with one part, i.e. the names."]);
    }

    #[test]
    fn a_point_inside_a_word_ends_no_sentence() {
        assert_eq!(
            said("See a.rs and v1.2 (it works?). 完了しました。次へ"),
            ["See a.rs and v1.2 (it works?", "完了しました。", "次へ"]
        );
    }
}
