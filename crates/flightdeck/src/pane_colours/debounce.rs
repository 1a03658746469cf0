//! Decides when a pane shows another status: a more urgent status at once, a less urgent one after it has lasted for a while. Does no IO:
//! time is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use flightdeck_core::view::lens::FleetStatus;
use flightdeck_core::view::pane_status::PaneKey;
use tokio::time::Instant;

/// How long a less urgent status must last. Between two tools a session works only for a moment, and a colour that followed it would flicker.
pub(super) const DOWNGRADE_AFTER: Duration = Duration::from_secs(2);

/// What each pane shows, and what it will show.
#[derive(Debug, Default)]
pub(super) struct Debouncer {
    panes: BTreeMap<PaneKey, DebouncedPane>,
}

#[derive(Debug, Default)]
struct DebouncedPane {
    /// `None`: the pane shows nothing.
    shown: Option<FleetStatus>,
    /// A less urgent status, and when it is shown.
    pending: Option<(Option<FleetStatus>, Instant)>,
}

impl Debouncer {
    /// Sets the present status of the pane; `None` if no session is in it. Returns whether the pane must show another one at once.
    pub(super) fn set(&mut self, pane: &PaneKey, status: Option<FleetStatus>, now: Instant) -> bool {
        let entry = self.panes.entry(pane.clone()).or_default();
        if status == entry.shown {
            entry.pending = None;
            return false;
        }
        if is_more_urgent(status, entry.shown) {
            *entry = DebouncedPane { shown: status, pending: None };
            return true;
        }
        // The time runs from the first moment at which the status was less urgent, even if it changes again meanwhile.
        let due = entry.pending.map_or(now + DOWNGRADE_AFTER, |(_, due)| due);
        entry.pending = Some((status, due));
        false
    }

    /// When the next pending status is shown.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.panes.values().filter_map(|pane| Some(pane.pending?.1)).min()
    }

    /// Shows every pending status that is due, and returns its panes.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<PaneKey> {
        let mut changed = Vec::new();
        for (key, pane) in &mut self.panes {
            if let Some((status, _)) = pane.pending.take_if(|(_, due)| *due <= now) {
                pane.shown = status;
                changed.push(key.clone());
            }
        }
        changed
    }

    pub(super) fn shown(&self, pane: &PaneKey) -> Option<FleetStatus> {
        self.panes.get(pane)?.shown
    }

    /// Forgets the panes that show nothing and for which no status is pending.
    pub(super) fn clean_up(&mut self) {
        self.panes.retain(|_, pane| pane.shown.is_some() || pane.pending.is_some());
    }
}

/// Whether the first status is more urgent. Any status is more urgent than none. [`FleetStatus`] lists the most urgent first.
fn is_more_urgent(status: Option<FleetStatus>, than: Option<FleetStatus>) -> bool {
    match (status, than) {
        (Some(status), Some(than)) => status < than,
        (status, _) => status.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FleetStatus::{Attention, Checked, Done, Error, Working};

    /// Sets these statuses at these milliseconds, and returns what is shown right after the last of them and at `then`.
    fn shown(steps: &[(u64, Option<FleetStatus>)], then: u64) -> [Option<FleetStatus>; 2] {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let pane = PaneKey { tmux_socket: "/t".into(), pane: "%5".into() };
        let mut debouncer = Debouncer::default();
        for (ms, status) in steps {
            debouncer.take_due(at(*ms));
            debouncer.set(&pane, *status, at(*ms));
        }
        let first = debouncer.shown(&pane);
        debouncer.take_due(at(then));
        [first, debouncer.shown(&pane)]
    }

    #[test]
    fn a_more_urgent_status_shows_at_once_and_a_less_urgent_one_after_two_seconds() {
        assert_eq!(shown(&[(0, Some(Working)), (1, Some(Attention))], 1), [Some(Attention); 2]);
        let calmed = [(0, Some(Attention)), (100, Some(Working))];
        assert_eq!(shown(&calmed, 2099), [Some(Attention); 2]);
        assert_eq!(shown(&calmed, 2100), [Some(Attention), Some(Working)]);
    }

    #[test]
    fn a_status_that_comes_back_within_two_seconds_never_left() {
        let back = [(0, Some(Attention)), (100, Some(Working)), (1900, Some(Attention))];
        assert_eq!(shown(&back, 9000), [Some(Attention); 2]);
    }

    #[test]
    fn the_last_of_several_less_urgent_statuses_shows_two_seconds_after_the_first() {
        let calmer = [(0, Some(Error)), (100, Some(Working)), (1500, Some(Done))];
        assert_eq!(shown(&calmer, 2100), [Some(Error), Some(Done)]);
        assert_eq!(shown(&[(0, Some(Checked)), (100, None)], 2100), [Some(Checked), None]);
    }

    #[test]
    fn the_next_due_time_is_that_of_the_first_pending_status() {
        let (start, mut debouncer) = (Instant::now(), Debouncer::default());
        let pane = |pane: &str| PaneKey { tmux_socket: "/t".into(), pane: pane.into() };
        assert_eq!(debouncer.next_due(), None);
        for (n, name) in ["%1", "%2"].iter().enumerate() {
            debouncer.set(&pane(name), Some(Working), start);
            debouncer.set(&pane(name), None, start + Duration::from_secs(n as u64));
        }
        assert_eq!(debouncer.next_due(), Some(start + DOWNGRADE_AFTER));
        assert_eq!(debouncer.take_due(start + DOWNGRADE_AFTER), [pane("%1")]);
        debouncer.clean_up();
        assert_eq!(debouncer.panes.len(), 1);
    }
}
