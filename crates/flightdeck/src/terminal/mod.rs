//! The person's own terminals: types the next prompt into a session's tmux pane, interrupts it, brings it to the front.
//!
//! Keys that reach the wrong program do harm, so nothing is pressed on trust: the pane must hold the session's own process,
//! the session must be in the right state, and the screen must show the prompt box. Everything here was measured with the
//! real client (decision 0009).

pub mod focus;
pub mod keys;
pub mod pane;
pub mod refused;
pub mod screen;
pub mod tmux;
pub mod words;

#[cfg(test)]
mod fake;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use focus::FocusCommand;
pub use pane::Place;
pub use refused::Refused;
use tmux::Program;

/// What the daemon drives terminals with.
#[derive(Debug, Default)]
pub struct Terminals {
    pub tmux: Program,
    pub focus_command: Option<FocusCommand>,
    /// Panes somebody types into at this moment: two prompts must not mix.
    busy: Mutex<BTreeSet<(PathBuf, String)>>,
}

impl Terminals {
    pub fn new(focus_command: Option<FocusCommand>) -> Self {
        Self { focus_command, ..Self::default() }
    }

    /// The keyboard of a pane, until it is dropped.
    pub fn take_keyboard(&self, place: &Place) -> Result<Keyboard<'_>, Refused> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let pane = (place.server.clone(), place.pane.clone());
        match busy.insert(pane.clone()) {
            true => Ok(Keyboard { terminals: self, pane }),
            false => Err(Refused::Busy),
        }
    }
}

#[derive(Debug)]
pub struct Keyboard<'a> {
    terminals: &'a Terminals,
    pane: (PathBuf, String),
}

impl Drop for Keyboard<'_> {
    fn drop(&mut self) {
        self.terminals.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_do_not_type_into_one_pane_at_once() {
        let terminals = Terminals::default();
        let place = |pane: &str| Place { server: "/s".into(), pane: pane.into(), pid: 1, proc_start: None };
        let first = terminals.take_keyboard(&place("%1")).unwrap();
        let other = Place { pid: 2, ..place("%1") };
        assert_eq!(terminals.take_keyboard(&other).unwrap_err().code(), "busy");
        assert!(terminals.take_keyboard(&place("%2")).is_ok());
        drop(first);
        assert!(terminals.take_keyboard(&place("%1")).is_ok());
    }
}
