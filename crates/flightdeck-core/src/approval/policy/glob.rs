//! Patterns of a policy: `*` matches any text, also slashes and spaces; `?` matches one character.

use std::fmt;

use regex::Regex;

use crate::limits::POLICY_TEXT_CHARS_MAX;

#[derive(Clone, Debug)]
pub(super) struct Glob {
    text: String,
    whole: Regex,
    /// Matches the pattern at the end of a text, after any leading words.
    tail: Regex,
}

impl Glob {
    /// Parses a pattern. The error is the end of a sentence that begins with the name of the setting.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty: leave it out, or write \"*\" for anything".to_owned());
        }
        if text.chars().count() > POLICY_TEXT_CHARS_MAX {
            return Err(format!("is over {POLICY_TEXT_CHARS_MAX} characters long"));
        }
        let mut pattern = String::new();
        for c in text.chars() {
            match c {
                '*' => pattern.push_str(".*"),
                '?' => pattern.push('.'),
                c => pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        let regex = |before: &str| {
            Regex::new(&format!(r"(?s)\A{before}{pattern}\z")).map_err(|e| format!("is not understood: {e}"))
        };
        // ASCII white space only: Unicode classes need tables that this build of `regex` does not contain.
        Ok(Self { text: text.to_owned(), whole: regex("")?, tail: regex(r"(?:.*(?-u:\s))?")? })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    /// Matches a suffix that starts at a word: `make` matches `sudo make`.
    pub(super) fn matches_from_a_word(&self, text: &str) -> bool {
        self.tail.is_match(text)
    }

    /// Whether the pattern has no wildcard.
    pub(super) fn is_exact(&self) -> bool {
        !self.text.contains(['*', '?'])
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
