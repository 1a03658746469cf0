//! The signs of one sentence. A sign is looked up only when a rule asks for it, because most signs of most sentences are never needed.

use std::cell::{Cell, OnceCell};

use super::matching::{candidates, says};
use super::pattern_set::PatternSet;
use super::signs::{Sign, Signs};

pub(super) struct SentenceSigns {
    text: String,
    /// The signs that were found.
    said: Cell<Signs>,
    /// The signs that were looked up.
    asked: Cell<Signs>,
    prepared: OnceCell<Prepared>,
}

struct Prepared {
    lowered: Vec<u8>,
    candidates: PatternSet,
}

impl SentenceSigns {
    /// `known` are signs that do not come from the words of the sentence.
    pub(super) fn new(text: &str, known: Signs) -> Self {
        let (said, asked) = (Cell::new(known), Cell::new(known));
        Self { text: text.to_owned(), said, asked, prepared: OnceCell::new() }
    }

    /// Without markup, code and quoted words.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn has(&self, sign: Sign) -> bool {
        if !self.asked.get().has(sign) {
            self.asked.set(self.asked.get().with(sign));
            if self.is_said(sign) {
                self.said.set(self.said.get().with(sign));
            }
        }
        self.said.get().has(sign)
    }

    fn is_said(&self, sign: Sign) -> bool {
        let prepared = self.prepared.get_or_init(|| {
            let lowered = self.text.to_ascii_lowercase().into_bytes();
            Prepared { candidates: candidates(&lowered), lowered }
        });
        says(&prepared.lowered, &prepared.candidates, sign)
    }
}
