//! The terminal while the TUI runs: in raw mode, on the alternate screen, with mouse events and bracketed paste. Dropping it
//! restores the terminal.

use std::io::{self, BufWriter, Stdout, Write};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use rustix::process::{Signal, getpid, kill_process};

use super::painter::Painter;

/// Buffer for a frame, so that it is written in one call: a terminal that gets half a frame flickers.
const FRAME_BYTES: usize = 64 << 10;

pub(super) type TerminalPainter = Painter<CrosstermBackend<BufWriter<Stdout>>>;

#[derive(Debug)]
pub(super) struct TuiScreen;

impl TuiScreen {
    pub(super) fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let screen = Self;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            DisableLineWrap,
            cursor::Hide,
            EnableBracketedPaste,
            EnableMouseCapture
        )?;
        Ok(screen)
    }

    pub(super) fn painter() -> TerminalPainter {
        Painter::new(CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, io::stdout())))
    }

    /// Gives the terminal back to the shell until `fg`.
    pub(super) fn suspend(self) -> io::Result<Self> {
        drop(self);
        kill_process(getpid(), Signal::STOP)?;
        Self::enter()
    }

    /// Sets the terminal's modes again after a SIGSTOP, which cannot be handled: the shell may have changed them.
    pub(super) fn resume(self) -> io::Result<Self> {
        // crossterm sets raw mode only if it believes that the terminal is not raw.
        disable_raw_mode()?;
        std::mem::forget(self);
        Self::enter()
    }
}

impl Drop for TuiScreen {
    fn drop(&mut self) {
        let mut out = io::stdout();
        // Fails if the terminal is gone; then there is nothing to restore.
        let _ = execute!(
            out,
            DisableMouseCapture,
            DisableBracketedPaste,
            EnableLineWrap,
            cursor::SetCursorStyle::DefaultUserShape,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}
