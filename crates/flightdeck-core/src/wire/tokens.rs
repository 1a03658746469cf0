//! Token counts as the client writes them into transcripts.

use serde::{Deserialize, Serialize};

/// The model of lines that the client created itself, such as an error or an interrupt. They cost nothing.
pub const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Suffix of a model's name for answers at its faster and more expensive speed.
pub const FAST: &str = " (fast)";

/// Tokens of one or more messages, by price class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    pub web_searches: u64,
}

impl Usage {
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that the model read and wrote. This is the size of its context after the message.
    pub fn context_tokens(&self) -> u64 {
        self.tokens()
    }

    pub fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }

    pub fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// Subtracts what was added before.
    pub fn take_back(&mut self, other: &Self) {
        self.combine(other, u64::saturating_sub);
    }

    fn combine(&mut self, other: &Self, op: impl Fn(u64, u64) -> u64) {
        self.input = op(self.input, other.input);
        self.output = op(self.output, other.output);
        self.cache_read = op(self.cache_read, other.cache_read);
        self.cache_write_5m = op(self.cache_write_5m, other.cache_write_5m);
        self.cache_write_1h = op(self.cache_write_1h, other.cache_write_1h);
        self.web_searches = op(self.web_searches, other.web_searches);
    }
}
