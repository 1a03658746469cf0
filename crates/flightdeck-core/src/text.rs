//! Makes text from outside safe to show: bounded, without characters that could mislead a terminal or a reader.

use std::borrow::Cow;

/// One line of at most `max` characters. Removes control characters, escape sequences and bidi overrides, joins white space
/// to one space, and marks a cut with `…`.
pub fn one_line(text: &str, max: usize) -> String {
    if text.len() <= max && is_plain_line(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(max.saturating_add(3)));
    let mut count = 0;
    let mut space = false;
    for c in visible(text) {
        if c.is_whitespace() {
            space = count > 0;
            continue;
        }
        if count + usize::from(space) + 1 > max {
            out.push('…');
            return out;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
            count += 1;
        }
        out.push(c);
        count += 1;
    }
    out
}

/// Whether the text consists of ASCII words with one space between them. Most ids, names and paths do, and then nothing has to be cleaned.
fn is_plain_line(text: &str) -> bool {
    let mut after_space = true;
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    let plain = eights.iter().all(|eight| match are_between(b'!', *eight) {
        true => {
            after_space = false;
            true
        }
        false => eight.iter().all(|byte| is_plain_after(&mut after_space, *byte)),
    });
    plain && rest.iter().all(|byte| is_plain_after(&mut after_space, *byte)) && !after_space
}

/// Whether this byte may follow in a plain line. `after_space`: the byte before is a space, or there is none.
fn is_plain_after(after_space: &mut bool, byte: u8) -> bool {
    let is_space = byte == b' ';
    let doubled = std::mem::replace(after_space, is_space) && is_space;
    matches!(byte, b' '..=b'~') && !doubled
}

/// A text of several lines with at most `max` characters in total, cleaned like [`one_line`]; newlines and tabs stay.
pub fn lines(text: &str, max: usize) -> String {
    let text = text.trim();
    let first = text.get(..text.len().min(max.saturating_add(1)));
    if let Some(plain) = first.filter(|first| are_plain_lines(first)) {
        let cut = plain.get(..max).filter(|_| plain.len() > max);
        return cut.map_or_else(|| plain.to_owned(), |cut| format!("{cut}…"));
    }
    let mut chars = visible(text);
    let mut out: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Lines of printable ASCII, which need no cleaning. Each byte is a character.
fn are_plain_lines(text: &str) -> bool {
    text.split('\n').all(is_printable_ascii)
}

fn is_printable_ascii(text: &str) -> bool {
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    eights.iter().all(|eight| are_between(b' ', *eight))
        && rest.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether all eight bytes are ASCII from `first` to `~`. They are compared together, because every text of every event is read. The
/// highest bit of a byte is set if the byte is not ASCII, after adding one if it is DEL, and after subtracting `first` if it is less. Only a
/// byte that is not allowed carries into the next one.
fn are_between(first: u8, eight: [u8; 8]) -> bool {
    const ONE_EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST_BITS: u64 = ONE_EACH << 7;
    let bytes = u64::from_le_bytes(eight);
    let one_more = bytes.wrapping_add(ONE_EACH);
    let less = bytes.wrapping_sub(ONE_EACH * u64::from(first));
    (bytes | one_more | less) & HIGHEST_BITS == 0
}

/// The last `max` characters of a text of several lines, cleaned like [`one_line`]. It begins at the beginning of a word; a cut is marked with `…`.
pub fn last_lines(text: &str, max: usize) -> String {
    let text = text.trim();
    let whole = if are_plain_lines(text) { Cow::Borrowed(text) } else { visible(text).collect() };
    let total = whole.chars().count();
    let Some((at, _)) =
        total.checked_sub(max).filter(|cut| *cut > 0).and_then(|cut| whole.char_indices().nth(cut))
    else {
        return whole.into_owned();
    };
    let tail = &whole[at..];
    let word = tail.find(char::is_whitespace).filter(|gap| *gap < tail.len() / 4).unwrap_or(0);
    format!("…{}", tail[word..].trim_start())
}

/// The whole text without escape sequences and control characters, neither cut nor trimmed. For text that becomes a terminal's input.
pub fn without_controls(text: &str) -> String {
    visible(text).collect()
}

/// The characters of `text` without ANSI escape sequences, other controls, and bidirectional overrides.
fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            match c {
                '\u{1b}' => skip_escape(&mut chars),
                '\u{9b}' => skip_csi(&mut chars),
                '\r' if chars.peek() == Some(&'\n') => {}
                '\r' => return Some('\n'),
                '\n' | '\t' => return Some(c),
                '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
                c if c.is_control() => {}
                c => return Some(c),
            }
        }
    })
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        // Strings (OSC, DCS, APC, PM, SOS) run to BEL or ESC \.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{9c}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        Some(_) => {
            chars.next();
        }
        None => {}
    }
}

fn skip_csi(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_keep_the_end_and_begin_at_a_word() {
        assert_eq!(last_lines(" all of it\n", 20), "all of it");
        assert_eq!(last_lines("The first sentence is long. Shall I?", 20), "…is long. Shall I?");
        assert_eq!(last_lines("ab", 2), "ab");
    }

    #[test]
    fn a_line_is_cut_at_its_limit_and_says_so() {
        assert_eq!(one_line("cargo test --all", 10), "cargo test…");
        assert_eq!(one_line("cargo test", 10), "cargo test");
        assert_eq!(one_line("  a\n\n b\t", 10), "a b");
    }

    #[test]
    fn plain_text_keeps_its_shape() {
        assert_eq!(without_controls("  a\tb\r\n\n c \u{1b}[201~\u{3}\n"), "  a\tb\n\n c \n");
    }

    #[test]
    fn printable_ascii_is_recognised_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..10 {
                let mut text = *b"0123456789";
                text[place] = byte;
                let Ok(text) = std::str::from_utf8(&text) else { continue };
                assert_eq!(is_printable_ascii(text), matches!(byte, b' '..=b'~'), "{text:?}");
                let inside = byte == b' ' && (1..9).contains(&place);
                assert_eq!(is_plain_line(text), matches!(byte, b'!'..=b'~') || inside, "{text:?}");
            }
        }
        assert!(is_printable_ascii("") && !is_printable_ascii("a path: /tmp/Größe"));
    }

    /// Text that needs no cleaning is copied, and any other is cleaned character by character.
    #[test]
    fn plain_text_is_cut_like_any_other() {
        for max in 0..14 {
            for text in [
                "",
                "ab",
                "one two\nthree",
                "one two",
                "seven  spaces",
                "  one  two ",
                "one\n\ntwo ",
                "a b\n",
            ] {
                let marked = format!("{}\u{200e}", text.trim());
                assert_eq!(lines(text, max), lines(&marked, max), "{text:?} {max}");
                assert_eq!(last_lines(text, max), last_lines(&marked, max), "{text:?} {max}");
                assert_eq!(one_line(text, max), one_line(&marked, max), "{text:?} {max}");
            }
        }
    }

    #[test]
    fn nothing_a_terminal_would_obey_survives() {
        assert_eq!(one_line("a\u{1b}[31mred\u{1b}[0m b", 50), "ared b");
        assert_eq!(one_line("x\u{1b}]0;owned\u{7}y\u{9b}2Jz", 50), "xyz");
        assert_eq!(one_line("\u{202e}evil\u{0}\u{8}", 50), "evil");
        assert_eq!(lines("a\r\nb\rc", 50), "a\nb\nc");
    }
}
