//! Where a session sits: the process, the terminal, the name it was given.

use serde::{Deserialize, Serialize};

use super::data::keep;
use crate::event::Event;
use crate::record::Source;
use crate::time::Timestamp;

/// The lasting place a session sits in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub pid: Option<u32>,
    pub proc_start: Option<String>,
    #[serde(default)]
    pub pid_ns: Option<String>,
    pub tmux_socket: Option<String>,
    pub pane: Option<String>,
    pub tty: Option<String>,
    pub name: Option<String>,
    /// When the newest word about it fired: a late hook of the old process does not take it back.
    pub told_at: Timestamp,
    /// That word was the client's own list of sessions.
    #[serde(default)]
    pub told_by_registry: bool,
}

impl Seat {
    pub(super) fn take(&mut self, event: &Event) {
        let e = &event.envelope;
        if event.fired_at < self.told_at && !e.clock_back {
            return;
        }
        if e.pid.is_some() {
            // Where a start is not told, the number alone says who it is.
            let another_start =
                matches!((&self.proc_start, &e.proc_start), (Some(then), Some(now)) if then != now);
            if self.pid != e.pid || another_start {
                // Another process sits in another place: nothing of the old one is true of it.
                *self = Self::default();
            }
            self.pid = e.pid;
            keep(&mut self.proc_start, e.proc_start.as_ref());
            self.told_at = event.fired_at;
            self.told_by_registry = event.source == Source::Registry;
        }
        keep(&mut self.pid_ns, e.pid_ns.as_ref());
        keep(&mut self.tmux_socket, e.tmux_socket.as_ref());
        keep(&mut self.pane, e.pane.as_ref());
        keep(&mut self.tty, e.tty.as_ref());
        keep(&mut self.name, e.seat.as_ref());
    }
}
