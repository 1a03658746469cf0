//! The little JSON that a hook needs: pass over a value, find a member, read and write a string.
//!
//! No tree is built and nothing recurses. What is accepted and written is the same as with `serde_json`; the tests compare.

/// The deepest nesting that `serde_json` accepts when it builds values.
pub(crate) const DEPTH_MAX: usize = 127;

/// Reads JSON from left to right. Every method returns `None` where the text ends or is not JSON.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth_max: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth_max: usize::MAX }
    }

    /// The next byte that is not white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'))?;
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The key of the next member of an object, as it is written between its quotes.
    pub(crate) fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.string()?;
        self.expect(b':')?;
        Some(key)
    }

    /// The next string, as it is written between its quotes.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let stop = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f))?;
            self.at += stop + 1;
            match rest.get(stop)? {
                b'"' => return self.bytes.get(start..self.at - 1),
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += match self.bytes.get(self.at)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 1,
            b'u' if self.bytes.get(self.at + 1..self.at + 5)?.iter().all(u8::is_ascii_hexdigit) => 5,
            _ => return None,
        };
        Some(())
    }

    /// Passes over one value and returns it as it is written.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let start = self.at;
        let mut open = Vec::new();
        loop {
            let opened = self.scalar_or_opening()?;
            if let Some(bracket) = opened {
                if open.len() == self.depth_max {
                    return None;
                }
                open.push(bracket);
                if self.peek()? != closing(bracket) {
                    self.before_value(bracket)?;
                    continue;
                }
            }
            // A value has ended, or an empty object or array is about to: close what ends here.
            let mut value_ended = opened.is_none();
            loop {
                let Some(bracket) = open.last().copied() else { return self.bytes.get(start..self.at) };
                match self.next()? {
                    b',' if value_ended => break self.before_value(bracket)?,
                    byte if byte == closing(bracket) => drop(open.pop()),
                    _ => return None,
                }
                value_ended = true;
            }
        }
    }

    /// Passes over a string, number or literal, or over the bracket that opens an object or array and returns that.
    fn scalar_or_opening(&mut self) -> Option<Option<u8>> {
        match self.peek()? {
            bracket @ (b'{' | b'[') => {
                self.at += 1;
                return Some(Some(bracket));
            }
            b'"' => drop(self.string()?),
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => self.number()?,
        }
        Some(None)
    }

    /// In an object a key comes before each value.
    fn before_value(&mut self, bracket: u8) -> Option<()> {
        if bracket == b'{' { self.key().map(drop) } else { Some(()) }
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        self.accept(b"-");
        if !self.accept(b"0") {
            self.digits()?;
        }
        if self.accept(b".") {
            self.digits()?;
        }
        if self.accept(b"eE") {
            self.accept(b"+-");
            self.digits()?;
        }
        Some(())
    }

    fn accept(&mut self, any_of: &[u8]) -> bool {
        let found = self.bytes.get(self.at).is_some_and(|byte| any_of.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.bytes.get(self.at..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}

/// Whether the text is one JSON value and nothing else.
pub(crate) fn is_whole(text: &[u8]) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.value().is_some() && scanner.peek().is_none()
}

/// The text without surrounding white space, if it is one object and its nesting has an end.
pub(crate) fn whole_object(text: &[u8]) -> Option<&[u8]> {
    let mut scanner = Scanner { depth_max: DEPTH_MAX, ..Scanner::new(text) };
    let value = scanner.value()?;
    (value.starts_with(b"{") && scanner.peek().is_none()).then_some(value)
}

/// Calls `each` with key and value of every member of an object, as they are written. Anything else has no members.
pub(crate) fn members<'a>(object: &'a [u8], mut each: impl FnMut(&'a [u8], &'a [u8])) {
    let mut scanner = Scanner::new(object);
    let mut all = || {
        scanner.expect(b'{')?;
        loop {
            let (key, value) = (scanner.key()?, scanner.value()?);
            each(key, value);
            scanner.expect(b',')?;
        }
    };
    let _: Option<()> = all(); // ends at the closing brace
}

/// The value of the last member with this name, as it is written.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut found = None;
    members(object, |key, value| {
        if is_named(key, name) {
            found = Some(value);
        }
    });
    found
}

pub(crate) fn is_named(key: &[u8], name: &str) -> bool {
    key == name.as_bytes() || (key.contains(&b'\\') && unescaped(key).text == name)
}

/// The text of a string, and whether a part of it was not valid text.
pub(crate) struct Unescaped {
    pub(crate) text: String,
    /// True if a lone surrogate, or bytes that are not UTF-8, were replaced by `U+FFFD`.
    pub(crate) repaired: bool,
}

/// The text of a string that [`Scanner::string`] returned.
pub(crate) fn unescaped(string: &[u8]) -> Unescaped {
    let mut out = Unescaped { text: String::with_capacity(string.len()), repaired: false };
    let mut rest = string;
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        out.push_bytes(&rest[..at]);
        rest = out.push_escape(&rest[at..]);
    }
    out.push_bytes(rest);
    out
}

impl Unescaped {
    fn push_bytes(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.repaired |= matches!(text, std::borrow::Cow::Owned(_));
        self.text.push_str(&text);
    }

    /// Returns what follows the escape.
    fn push_escape<'a>(&mut self, escape: &'a [u8]) -> &'a [u8] {
        let (char, len) = match (utf16_unit(escape), escape.get(6..).and_then(utf16_unit)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let joined = 0x10000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                (char::from_u32(joined), 12)
            }
            (Some(unit), _) => (char::from_u32(u32::from(unit)), 6),
            (None, _) => (escape.get(1).copied().map(short_escape), 2),
        };
        self.repaired |= char.is_none();
        self.text.push(char.unwrap_or(char::REPLACEMENT_CHARACTER));
        escape.get(len..).unwrap_or_default()
    }
}

/// The number in `\uXXXX`, if the text begins with one.
fn utf16_unit(escape: &[u8]) -> Option<u16> {
    let hex = std::str::from_utf8(escape.strip_prefix(b"\\u")?.get(..4)?).ok()?;
    u16::from_str_radix(hex, 16).ok()
}

fn short_escape(byte: u8) -> char {
    match byte {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other => char::from(other),
    }
}

/// Appends a string with its quotes.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)) {
        out.extend_from_slice(&rest[..at]);
        write_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
