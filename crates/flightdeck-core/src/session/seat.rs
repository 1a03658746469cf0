//! The seat of a session: its process, its terminal and its name.

use serde::{Deserialize, Serialize};

use crate::ids::{HostId, SeatName};
use crate::log::event::Event;
use crate::log::record::{Envelope, Source};
use crate::time::Timestamp;

/// The place that a session occupies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    #[serde(default, skip_serializing_if = "HostId::is_this")]
    pub host: HostId,
    pub pid: Option<u32>,
    pub proc_start: Option<String>,
    #[serde(default)]
    pub pid_ns: Option<String>,
    pub tmux_socket: Option<String>,
    pub pane: Option<String>,
    pub tty: Option<String>,
    pub name: Option<SeatName>,
    /// When the newest event that named the process fired. A late hook of an earlier process does not bring that process back.
    #[serde(rename = "told_at")]
    pub process_seen_at: Timestamp,
    /// Whether that event was a registry entry.
    #[serde(default, rename = "told_by_registry")]
    pub process_seen_in_registry: bool,
}

impl Seat {
    pub(super) fn learn_from(&mut self, event: &Event) {
        let e = &event.envelope;
        if event.fired_at < self.process_seen_at && !e.clock_back {
            return;
        }
        if e.pid.is_some() {
            // If one start time is unknown, the pid alone identifies the process.
            let another_start =
                matches!((&self.proc_start, &e.proc_start), (Some(then), Some(now)) if then != now);
            if self.pid != e.pid || self.host != event.host || another_start {
                // Another process has another terminal, so all facts about the old one are dropped.
                *self = Self::default();
            }
            self.pid = e.pid;
            self.host.clone_from(&event.host);
            replace_if_some(&mut self.proc_start, e.proc_start.as_ref());
            self.process_seen_at = event.fired_at;
            self.process_seen_in_registry = event.source == Source::Registry;
        }
        replace_if_some(&mut self.pid_ns, e.pid_ns.as_ref());
        if self.pid.is_none() && e.names_a_place() {
            self.host.clone_from(&event.host);
        }
        replace_if_some(&mut self.name, e.seat.as_ref());
        if event.source == Source::Registry {
            return self.take_discovered(e);
        }
        replace_if_some(&mut self.tmux_socket, e.tmux_socket.as_ref());
        replace_if_some(&mut self.pane, e.pane.as_ref());
        replace_if_some(&mut self.tty, e.tty.as_ref());
    }

    /// Takes what the process table and tmux say about a process, for facts that no hook has reported. A pane is known only together
    /// with its server.
    fn take_discovered(&mut self, e: &Envelope) {
        self.tty = self.tty.take().or_else(|| e.tty.clone());
        if self.tmux_socket.is_none() && (self.pane.is_none() || self.pane == e.pane) {
            self.tmux_socket.clone_from(&e.tmux_socket);
            replace_if_some(&mut self.pane, e.pane.as_ref());
        }
    }
}

/// Replaces the value if there is a newer one.
pub(crate) fn replace_if_some<T: Clone + PartialEq>(slot: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value
        && slot.as_ref() != Some(value)
    {
        *slot = Some(value.clone());
    }
}
