//! Controls a session's tmux pane: types a prompt, interrupts the session, brings the pane to the front.
//!
//! Keys that reach the wrong program do harm. So before each key press the pane must contain the session's own process, the
//! session must be in the right state, and the screen must show the prompt box. The behaviour of the real client was measured
//! (decision 0009).

pub mod focus;
pub mod pane;
pub mod prompt_text;
pub mod refusal;
pub mod screen;
pub mod tmux;
pub mod typing;
pub mod watched;

#[cfg(test)]
mod fake_tmux;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub use pane::PaneAddress;
pub use refusal::RefusalReason;
use tmux::TmuxProgram;

/// The daemon's access to terminals.
#[derive(Debug, Default)]
pub struct Terminals {
    pub tmux: TmuxProgram,
    /// Panes that a prompt is being typed into: two prompts must not mix.
    busy: Mutex<BTreeSet<(PathBuf, String)>>,
}

impl Terminals {
    /// Locks a pane until the lock is dropped.
    pub fn lock_pane(&self, place: &PaneAddress) -> Result<PaneLock<'_>, RefusalReason> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let pane = (place.server.clone(), place.pane.clone());
        match busy.insert(pane.clone()) {
            true => Ok(PaneLock { terminals: self, pane }),
            false => Err(RefusalReason::Busy),
        }
    }
}

#[derive(Debug)]
pub struct PaneLock<'a> {
    terminals: &'a Terminals,
    pane: (PathBuf, String),
}

impl Drop for PaneLock<'_> {
    fn drop(&mut self) {
        self.terminals.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_pane_cannot_be_locked_again() {
        let terminals = Terminals::default();
        let place =
            |pane: &str| PaneAddress { server: "/s".into(), pane: pane.into(), pid: 1, proc_start: None };
        let first = terminals.lock_pane(&place("%1")).unwrap();
        let other = PaneAddress { pid: 2, ..place("%1") };
        assert_eq!(terminals.lock_pane(&other).unwrap_err().code().as_str(), "busy");
        assert!(terminals.lock_pane(&place("%2")).is_ok());
        drop(first);
        assert!(terminals.lock_pane(&place("%1")).is_ok());
    }
}
