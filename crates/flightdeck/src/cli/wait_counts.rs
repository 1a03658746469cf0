//! How many sessions need the person, and how many wait for another reason.

use flightdeck_core::view::card::Card;
use flightdeck_core::view::waiting::WaitKind;

/// Parked sessions and those that work are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitCounts {
    /// They block or ask: the number that every header and line shows.
    pub(super) need: usize,
    failed: usize,
    interrupted: usize,
    idle: usize,
}

impl WaitCounts {
    pub(super) fn new<'a>(cards: impl IntoIterator<Item = &'a Card>) -> Self {
        let mut counts = Self::default();
        cards.into_iter().for_each(|card| counts.add(card, 1));
        counts
    }

    /// Counts the card `n` times: it may stand for several sessions.
    pub(super) fn add(&mut self, card: &Card, n: usize) {
        let Some(waiting) = card.waiting.as_ref().filter(|_| card.parked.is_none()) else { return };
        let count = match waiting.kind {
            _ if waiting.counts => &mut self.need,
            WaitKind::Failed => &mut self.failed,
            WaitKind::Interrupted => &mut self.interrupted,
            WaitKind::Blocks | WaitKind::Asks | WaitKind::Idle => &mut self.idle,
        };
        *count += n;
    }

    /// `1 failed`, `7 idle`: those that wait, but do not need the person.
    pub(super) fn others(&self) -> impl Iterator<Item = String> {
        let others = [(self.failed, "failed"), (self.interrupted, "interrupted"), (self.idle, "idle")];
        others.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"))
    }

    /// `24 + 1 failed + 7 idle`, for the heading of the sessions that wait: 24 need the person, and 8 more wait.
    pub(super) fn after_heading(&self) -> String {
        std::iter::once(self.need.to_string()).chain(self.others()).collect::<Vec<_>>().join(" + ")
    }
}
