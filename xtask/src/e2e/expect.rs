//! What should be on the screen, and what the board may then say.

use std::time::Duration;

use flightdeck_sim::screen::Screen;

/// The board's states that agree with a reading of the screen. Where the screen leaves open what happened, the step says.
pub(super) fn allowed(screen: &Screen) -> &'static [&'static str] {
    match screen {
        Screen::Starting | Screen::Unknown => &[],
        Screen::Idle => &["idle"],
        Screen::Working => &["thinking", "acting", "delegating", "compacting"],
        Screen::Background => &["waiting_background"],
        Screen::Permission { .. } => &["needs_permission"],
        Screen::Question => &["awaiting_input"],
        Screen::Plan => &["awaiting_approval"],
        // The person opened a menu: the session is what it was.
        Screen::Dialog => &["idle", "interrupted", "error"],
        Screen::Interrupted => &["interrupted"],
        Screen::Error => &["error"],
        Screen::Exited => &["session_ended"],
    }
}

#[derive(Clone, Debug)]
pub(super) struct Expect {
    pub(super) screen: Screen,
    /// Instead of the table's states: narrower, or for a screen that does not tell.
    pub(super) board: Option<&'static [&'static str]>,
    pub(super) within: Duration,
    /// The board may still be a step behind, and agree by chance with what it has not seen yet.
    pub(super) behind: bool,
}

impl Expect {
    fn of(screen: Screen) -> Self {
        Self { screen, board: None, within: Duration::from_secs(20), behind: false }
    }

    pub(super) fn board(self, states: &'static [&'static str]) -> Self {
        Self { board: Some(states), ..self }
    }

    /// No hook tells of it: the board follows the client's registry.
    pub(super) fn by_registry(self) -> Self {
        Self { behind: true, ..self }
    }

    pub(super) fn states(&self) -> &'static [&'static str] {
        self.board.unwrap_or_else(|| allowed(&self.screen))
    }
}

pub(super) fn idle() -> Expect {
    Expect::of(Screen::Idle)
}

pub(super) fn working() -> Expect {
    Expect::of(Screen::Working)
}

pub(super) fn background() -> Expect {
    Expect::of(Screen::Background)
}

pub(super) fn permission(tool: &str) -> Expect {
    Expect::of(Screen::Permission { tool: tool.into(), from_agent: false })
}

pub(super) fn agent_permission(tool: &str) -> Expect {
    Expect::of(Screen::Permission { tool: tool.into(), from_agent: true })
}

pub(super) fn question() -> Expect {
    Expect::of(Screen::Question)
}

pub(super) fn plan() -> Expect {
    Expect::of(Screen::Plan)
}

pub(super) fn dialog() -> Expect {
    Expect::of(Screen::Dialog)
}

/// Esc fires no hook: the board learns of it from the registry.
pub(super) fn interrupted() -> Expect {
    Expect::of(Screen::Interrupted)
}

pub(super) fn error() -> Expect {
    Expect::of(Screen::Error)
}

pub(super) fn exited() -> Expect {
    Expect::of(Screen::Exited)
}
