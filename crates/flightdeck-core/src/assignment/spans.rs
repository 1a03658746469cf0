//! When the agent worked on an assignment and when it waited for the person.

use serde::{Deserialize, Serialize};

use crate::limits::ASSIGNMENT_SPANS_MAX;
use crate::time::{Millis, Timestamp};

/// A stretch of time in which the agent worked, or waited for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpan {
    pub waits: bool,
    pub from: Timestamp,
    pub to: Timestamp,
}

impl TimeSpan {
    pub fn length(&self) -> Millis {
        Millis((self.to - self.from).0.max(0))
    }
}

/// The spans of one assignment, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spans(Vec<TimeSpan>);

impl Spans {
    /// Adds a span. If it continues the last span, the two become one. At the bound, the length of the oldest span is added to the next span
    /// of its kind, so that the sums stay right.
    pub fn push(&mut self, span: TimeSpan) {
        if span.length() == Millis(0) {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.waits == span.waits && last.to == span.from => last.to = span.to,
            _ => self.0.push(span),
        }
        if self.0.len() > ASSIGNMENT_SPANS_MAX {
            let oldest = self.0.remove(0);
            if let Some(next) = self.0.iter_mut().find(|next| next.waits == oldest.waits) {
                next.from = next.from - oldest.length();
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &TimeSpan> {
        self.0.iter()
    }

    pub fn sum(&self, waits: bool) -> Millis {
        Millis(self.0.iter().filter(|span| span.waits == waits).map(|span| span.length().0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(waits: bool, from: i64, to: i64) -> TimeSpan {
        TimeSpan { waits, from: Timestamp::from_millis(from), to: Timestamp::from_millis(to) }
    }

    #[test]
    fn spans_that_follow_each_other_are_one() {
        let mut spans = Spans::default();
        for span in [span(false, 0, 5), span(true, 5, 5), span(false, 5, 9), span(true, 9, 10)] {
            spans.push(span);
        }
        assert_eq!(spans.iter().copied().collect::<Vec<_>>(), [span(false, 0, 9), span(true, 9, 10)]);
    }

    #[test]
    fn the_bound_keeps_the_sums() {
        let mut spans = Spans::default();
        let all = ASSIGNMENT_SPANS_MAX as i64 + 7;
        (0..all).for_each(|n| spans.push(span(n % 2 == 1, n * 10, n * 10 + 10)));
        assert_eq!(spans.iter().count(), ASSIGNMENT_SPANS_MAX);
        assert_eq!(spans.sum(true), Millis(all / 2 * 10));
        assert_eq!(spans.sum(false), Millis((all - all / 2) * 10));
    }
}
