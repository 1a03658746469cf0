//! `*` stands for any text, slashes and spaces too; `?` for one character; all else for itself.

use std::fmt;

use regex::Regex;

use crate::limits::POLICY_TEXT_CHARS_MAX;

#[derive(Clone, Debug)]
pub(super) struct Glob {
    text: String,
    whole: Regex,
    /// The same, with any words before it.
    tail: Regex,
}

impl Glob {
    /// Says why not, as the end of a sentence.
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
        // The spaces of a shell: those of all scripts need tables that this build of `regex` does not carry.
        Ok(Self { text: text.to_owned(), whole: regex("")?, tail: regex(r"(?:.*(?-u:\s))?")? })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    /// From one of its words on: `sudo make` is `make` with something before it.
    pub(super) fn matches_from_a_word(&self, text: &str) -> bool {
        self.tail.is_match(text)
    }

    /// Nothing in it stands for anything else.
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
