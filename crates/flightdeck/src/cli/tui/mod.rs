//! `flightdeck tui`: the board in a terminal.
//!
//! One loop waits for keys, changes of the board, replies and timers. Each becomes a [`TuiMessage`](message::TuiMessage). [`update`] changes the model
//! and returns commands. A frame is drawn if anything may have changed, and only what differs from the last frame is written
//! (decision 0029).

mod alike;
mod answering;
mod answers;
mod calls;
mod event_loop;
mod input;
mod keys;
mod listing;
mod message;
mod model;
mod painter;
mod parking;
mod screen;
mod start_daemon;
mod text;
mod theme;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

use std::io::{self, IsTerminal};

use anyhow::bail;
use jiff::tz::TimeZone;
use ratatui::layout::Size;

use self::model::{Mode, Model};
use self::theme::{TerminalBackground, Theme};
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct TuiArgs {
    /// Show a narrow list, for a tmux pane beside your work
    #[arg(long, conflicts_with = "popup")]
    sidebar: bool,
    /// Pick a session, go to its pane and close: for tmux display-popup
    #[arg(long)]
    popup: bool,
    /// Colours for this background [default: as COLORFGBG says, else dark]
    #[arg(long, value_enum)]
    background: Option<TerminalBackground>,
}

pub(super) fn run(args: &TuiArgs, paths: &Paths) -> anyhow::Result<u8> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!("the TUI needs a terminal; for scripts there is `flightdeck ls --json`");
    }
    let started = start_daemon::ensure(paths)?;
    let (width, height) = crossterm::terminal::size()?;
    let theme = Theme::from_environment(args.background, |name| std::env::var(name).ok());
    let model = Model::new(args.mode(), Size { width, height }, theme, TimeZone::system());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(event_loop::run(model, paths, started))?;
    // The thread that reads the terminal may still wait for a key. It ends with the process.
    runtime.shutdown_background();
    Ok(0)
}

impl TuiArgs {
    fn mode(&self) -> Mode {
        match (self.sidebar, self.popup) {
            (true, _) => Mode::Sidebar,
            (_, true) => Mode::Popup,
            _ => Mode::Full,
        }
    }
}
