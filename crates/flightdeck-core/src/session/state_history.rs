//! The states of a session over time, for the overview: one stretch for each state, and one stretch for work of any kind.
//! Single steps would fill the same space within an hour.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::state_name::{Group, StateName};
use crate::limits::STATE_STRETCHES_MAX;
use crate::time::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHistory {
    /// When each stretch began, oldest first.
    begins: VecDeque<(Timestamp, StateName)>,
    /// The oldest stretches were dropped: nothing is known of the time before.
    cut: bool,
}

impl StateHistory {
    pub(crate) fn turn_to(&mut self, state: StateName, at: Timestamp) {
        let works_on = |last: StateName| last.group() == Group::Running && state.group() == Group::Running;
        if self.begins.back().is_some_and(|(_, last)| *last == state || works_on(*last)) {
            return;
        }
        if self.begins.len() == STATE_STRETCHES_MAX {
            self.begins.pop_front();
            self.cut = true;
        }
        self.begins.push_back((at, state));
    }

    /// Begin, end and state of each stretch; the last one has no end.
    pub fn stretches(
        &self,
        started_at: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, Option<Timestamp>, StateName)> {
        let from = move |n: usize, at: Timestamp| if n == 0 && !self.cut { at.min(started_at) } else { at };
        let ends = self.begins.iter().skip(1).map(|(at, _)| Some(*at)).chain([None]);
        self.begins.iter().zip(ends).enumerate().map(move |(n, ((at, state), to))| (from(n, *at), to, *state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_second(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    #[test]
    fn work_is_one_stretch_and_every_wait_has_its_own() {
        let mut strip = StateHistory::default();
        for (second, state) in [
            (1, StateName::Idle),
            (2, StateName::Thinking),
            (3, StateName::Acting),
            (4, StateName::NeedsPermission),
            (5, StateName::Acting),
            (6, StateName::Thinking),
            (7, StateName::Idle),
        ] {
            strip.turn_to(state, at_second(second));
        }
        let told: Vec<_> = strip.stretches(at_second(0)).collect();
        assert_eq!(
            told,
            [
                (at_second(0), Some(at_second(2)), StateName::Idle),
                (at_second(2), Some(at_second(4)), StateName::Thinking),
                (at_second(4), Some(at_second(5)), StateName::NeedsPermission),
                (at_second(5), Some(at_second(7)), StateName::Acting),
                (at_second(7), None, StateName::Idle),
            ]
        );
    }

    #[test]
    fn nothing_is_said_about_a_time_that_was_forgotten() {
        let mut strip = StateHistory::default();
        for second in 0..i64::try_from(STATE_STRETCHES_MAX).unwrap() + 10 {
            let state = if second % 2 == 0 { StateName::Idle } else { StateName::Thinking };
            strip.turn_to(state, at_second(second));
        }
        let told: Vec<_> = strip.stretches(at_second(0)).collect();
        assert_eq!((told.len(), told[0].0), (STATE_STRETCHES_MAX, at_second(10)));
    }
}
