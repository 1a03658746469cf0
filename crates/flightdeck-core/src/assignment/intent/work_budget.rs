//! A bound on the time that one message costs.

use std::cell::Cell;
use std::rc::Rc;

use crate::limits::INTENT_WORK_BYTES_MAX;

/// What may still be spent on one message, counted in bytes that patterns read. Only a text in which every clause is a cue uses it up: the
/// sentences that were not read by then have no signs.
#[derive(Clone)]
pub(super) struct WorkBudget(Rc<Cell<usize>>);

impl Default for WorkBudget {
    fn default() -> Self {
        Self(Rc::new(Cell::new(INTENT_WORK_BYTES_MAX)))
    }
}

impl WorkBudget {
    /// Whether there was anything left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(bytes));
        left > 0
    }
}
