//! Makes text from outside safe to show: bounded, without characters that could mislead a terminal or a reader.

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
    let plain = text.bytes().all(|byte| match byte {
        b' ' => !std::mem::replace(&mut after_space, true),
        b'!'..=b'~' => {
            after_space = false;
            true
        }
        _ => false,
    });
    plain && !after_space
}

/// A text of several lines with at most `max` characters in total, cleaned like [`one_line`]; newlines and tabs stay.
pub fn lines(text: &str, max: usize) -> String {
    let mut chars = visible(text.trim());
    let mut out: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// The last `max` characters of a text of several lines, cleaned like [`one_line`]. It begins at the beginning of a word; a cut is marked with `…`.
pub fn last_lines(text: &str, max: usize) -> String {
    let whole: String = visible(text.trim()).collect();
    let total = whole.chars().count();
    let Some((at, _)) =
        total.checked_sub(max).filter(|cut| *cut > 0).and_then(|cut| whole.char_indices().nth(cut))
    else {
        return whole;
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
    fn nothing_a_terminal_would_obey_survives() {
        assert_eq!(one_line("a\u{1b}[31mred\u{1b}[0m b", 50), "ared b");
        assert_eq!(one_line("x\u{1b}]0;owned\u{7}y\u{9b}2Jz", 50), "xyz");
        assert_eq!(one_line("\u{202e}evil\u{0}\u{8}", 50), "evil");
        assert_eq!(lines("a\r\nb\rc", 50), "a\nb\nc");
    }
}
