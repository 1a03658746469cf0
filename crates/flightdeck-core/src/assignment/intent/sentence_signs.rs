//! The signs of one sentence. A sign is looked up only when a rule asks for it, because most signs of most sentences are never needed.

use std::cell::{Cell, OnceCell};

use super::matching::{CandidatePatterns, candidates, matches_sign};
use super::signs::{Sign, Signs};
use super::work_budget::WorkBudget;

/// What it costs to look for the words of all patterns in one byte, in bytes that a pattern could read instead.
const PREPARE_COST: usize = 2;

pub(super) struct SentenceSigns {
    text: String,
    /// The signs that were found.
    said: Cell<Signs>,
    /// The signs that were looked up.
    asked: Cell<Signs>,
    prepared: OnceCell<Prepared>,
    budget: WorkBudget,
}

struct Prepared {
    lowered: Vec<u8>,
    candidates: CandidatePatterns,
}

impl SentenceSigns {
    /// `known` are signs that do not come from the words of the sentence.
    pub(super) fn new(text: &str, known: Signs, budget: &WorkBudget) -> Self {
        let (said, asked) = (Cell::new(known), Cell::new(known));
        Self { text: text.to_owned(), said, asked, prepared: OnceCell::new(), budget: budget.clone() }
    }

    /// The signs of a part of the sentence.
    pub(super) fn of_clause(&self, text: &str) -> Self {
        Self::new(text, Signs::default(), &self.budget)
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
        if self.prepared.get().is_none() && !self.budget.spend(PREPARE_COST * self.text.len()) {
            return false;
        }
        let prepared = self.prepared.get_or_init(|| {
            let lowered = self.text.to_ascii_lowercase().into_bytes();
            Prepared { candidates: candidates(&lowered), lowered }
        });
        matches_sign(&prepared.lowered, &prepared.candidates, sign, &self.budget)
    }
}
