//! Walks JSON without building a tree, for lines of which only a few fields matter.
//!
//! Every function returns `None` if the text is not valid JSON. The caller then treats the line as unreadable.

use std::borrow::Cow;

use crate::time::Timestamp;

/// A position in a JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Calls `each` with every key of the object here. `each` must read or [`skip`](Self::skip) the value. The walk ends early if `each`
    /// returns `Some(false)`.
    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, &'a [u8]) -> Option<bool>,
    ) -> Option<()> {
        self.eat(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.eat(b':')?;
            if !each(self, key)? {
                return Some(());
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Reads the string here, with its escapes. Any other value is skipped, and the result is `Some(None)`.
    pub(super) fn text(&mut self) -> Option<Option<&'a [u8]>> {
        if self.peek()? == b'"' {
            return self.string().map(Some);
        }
        self.skip()?;
        Some(None)
    }

    /// Reads the whole number here, at most 32 bits, so that a few numbers can be added without overflow. Anything else counts as zero.
    pub(super) fn count(&mut self) -> Option<u64> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        let digits = self.text.get(start..self.at)?;
        let n = digits.iter().try_fold(0_u64, |n, d| match d {
            b'0'..=b'9' => n.checked_mul(10)?.checked_add(u64::from(d - b'0')),
            _ => None,
        });
        Some(n.unwrap_or(0).min(u64::from(u32::MAX)))
    }

    /// The text of any value.
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        self.text.get(start..self.at)
    }

    /// Calls `each` at every item of the list here; it must read or skip the item.
    pub(super) fn items(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// The first byte of the value here, which determines its type.
    pub(super) fn first_byte(&mut self) -> Option<u8> {
        self.peek()
    }

    /// Skips any value.
    pub(super) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'{' | b'[' => self.skip_nested(),
            _ => {
                let rest = &self.text[self.at..];
                let end =
                    rest.iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'));
                self.at += end.unwrap_or(rest.len());
                Some(())
            }
        }
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match *self.text.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let start = self.at;
        loop {
            let rest = self.text.get(self.at..)?;
            let found = memchr::memchr2(b'"', b'\\', rest)?;
            self.at += found + 1;
            if rest[found] == b'"' {
                return Some(&self.text[start..self.at - 1]);
            }
            // An escaped character never ends the string.
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }
}

/// A JSON string, unescaped. Bytes that are not UTF-8 become `\u{fffd}`.
pub(super) fn string(json: &[u8]) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(String::from_utf8_lossy(inner));
    }
    serde_json::from_str(&String::from_utf8_lossy(json)).ok().map(Cow::Owned)
}

/// A text field of an object.
pub(super) fn text_field<'a>(object: &'a [u8], name: &[u8]) -> Option<Cow<'a, str>> {
    let mut found = None;
    Scan::new(object).members(|s, key| {
        if key == name {
            found = string(s.value()?);
        } else {
            s.skip()?;
        }
        Some(true)
    })?;
    found
}

/// A timestamp as the client writes it.
pub(super) fn timestamp(text: &[u8]) -> Option<Timestamp> {
    Timestamp::parse(std::str::from_utf8(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<(Option<&[u8]>, u64)> {
        let (mut name, mut number) = (None, 0);
        Scan::new(json.as_bytes()).members(|s, key| {
            match key {
                b"name" => name = s.text()?,
                b"n" => number = s.count()?,
                _ => s.skip()?,
            }
            Some(true)
        })?;
        Some((name, number))
    }

    #[test]
    fn finds_fields_past_anything() {
        let json =
            r#" { "x" : [1,{"name":"no","n":9},"}\"]\\"] , "n": 12, "name":"a\"b", "y":{} , "z":-1.5e3}"#;
        assert_eq!(read(json), Some((Some(&br#"a\"b"#[..]), 12)));
    }

    #[test]
    fn what_is_cut_or_wrong_is_refused_and_odd_types_are_empty() {
        let whole = r#"{"name":"a","x":[1,2],"n":7}"#;
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(read(r#"{"name":5,"n":"7"}"#), Some((None, 0)));
        assert_eq!(read("[]"), None);
        assert_eq!(read("{}"), Some((None, 0)));
    }
}
