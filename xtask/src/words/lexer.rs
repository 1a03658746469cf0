//! A source file split into code, comments and strings, line by line.

/// What kind of text a piece of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Code,
    Comment,
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    pub(super) line: usize,
    pub(super) text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    /// TypeScript: three kinds of quotes.
    Script,
    /// CSS: only `/* */`.
    Style,
}

/// The pieces of a file, none longer than its line.
pub(super) fn pieces(text: &str, language: Language) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let (mut at, mut begun, mut line) = (0, 0, 1);
    while at < text.len() {
        let rest = &text[at..];
        if let Some((kind, length)) = comment_or_string(rest, language) {
            push(&mut all, Kind::Code, &mut line, &text[begun..at]);
            push(&mut all, kind, &mut line, &rest[..length]);
            at += length;
            begun = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    push(&mut all, Kind::Code, &mut line, &text[begun..]);
    all
}

fn push<'a>(all: &mut Vec<Piece<'a>>, kind: Kind, line: &mut usize, text: &'a str) {
    for (n, part) in text.split('\n').enumerate() {
        *line += usize::from(n > 0);
        if !part.trim().is_empty() {
            all.push(Piece { kind, line: *line, text: part });
        }
    }
}

/// How long the comment or string is that begins here, if one does.
fn comment_or_string(rest: &str, language: Language) -> Option<(Kind, usize)> {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |n| from + n + end.len());
    if rest.starts_with("/*") {
        return Some((Kind::Comment, until("*/", 2)));
    }
    if language == Language::Style {
        return None;
    }
    if rest.starts_with("//") {
        return Some((Kind::Comment, rest.find('\n').unwrap_or(rest.len())));
    }
    let quote = rest.chars().next()?;
    match (language, quote) {
        (_, '"') | (Language::Script, '\'' | '`') => Some((Kind::Text, quoted(rest, quote))),
        (Language::Rust, '\'') => character(rest).map(|length| (Kind::Text, length)),
        (Language::Rust, 'r') => raw(rest).map(|length| (Kind::Text, length)),
        _ => None,
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (n, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return n + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// `'x'` and `'\n'`; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    match chars.next()?.1 {
        '\\' => Some(quoted(rest, '\'')),
        _ => chars.next().filter(|(_, c)| *c == '\'').map(|(n, _)| n + 1),
    }
}

/// `r"…"`, `r#"…"#`. A name that ends in r is none, because a quote never follows it.
fn raw(rest: &str) -> Option<usize> {
    let hashes = rest[1..].bytes().take_while(|b| *b == b'#').count();
    let begin = 1 + hashes + 1;
    if rest.as_bytes().get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest[begin..].find(&end).map_or(rest.len(), |n| begin + n + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, language: Language) -> Vec<(Kind, usize, &str)> {
        pieces(text, language).into_iter().map(|p| (p.kind, p.line, p.text.trim())).collect()
    }

    #[test]
    fn rust_is_split_into_code_comments_and_strings() {
        let text = "fn a<'x>() { // one \"two\"\n let c = '\"'; r#\"a \"b\"#; \"c // d\" /* e\nf */ }";
        let expected = [
            (Kind::Code, 1, "fn a<'x>() {"),
            (Kind::Comment, 1, "// one \"two\""),
            (Kind::Code, 2, "let c ="),
            (Kind::Text, 2, "'\"'"),
            (Kind::Code, 2, ";"),
            (Kind::Text, 2, "r#\"a \"b\"#"),
            (Kind::Code, 2, ";"),
            (Kind::Text, 2, "\"c // d\""),
            (Kind::Comment, 2, "/* e"),
            (Kind::Comment, 3, "f */"),
            (Kind::Code, 3, "}"),
        ];
        assert_eq!(split(text, Language::Rust), expected);
    }

    #[test]
    fn a_style_sheet_has_only_block_comments() {
        let text = "a { b: url(//c) } /* d */";
        assert_eq!(
            split(text, Language::Style),
            [(Kind::Code, 1, "a { b: url(//c) }"), (Kind::Comment, 1, "/* d */")]
        );
    }
}
