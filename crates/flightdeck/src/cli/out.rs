//! Standard output, with colour in a terminal, and errors on standard error.

use std::io::{self, IsTerminal, Write};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Standard output, with the width of the terminal and whether to use colour.
#[derive(Debug)]
pub(super) struct Out {
    stdout: io::Stdout,
    pub(super) colour: bool,
    pub(super) width: usize,
    /// Columns are filled with blanks, so that they stand below each other. A program that reads a pipe has no use for them.
    pub(super) padded: bool,
}

/// The line width in a pipe: nothing is shortened. In a terminal, lines are shortened so that they do not wrap.
const PIPE_WIDTH: usize = 10_000;

/// Columns and rows of a terminal that does not report its size.
const USUAL_SIZE: (usize, usize) = (80, 24);

impl Out {
    pub(super) fn stdout() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let mut out = Self { stdout, colour: terminal && !no_colour, width: PIPE_WIDTH, padded: terminal };
        if terminal {
            out.measure();
        }
        out
    }

    /// Updates the width from the terminal and returns its height.
    pub(super) fn measure(&mut self) -> usize {
        let size = rustix::termios::tcgetwinsize(&self.stdout).ok();
        let or = |told: Option<u16>, usual| told.filter(|n| *n > 0).map_or(usual, usize::from);
        self.width = or(size.map(|s| s.ws_col), USUAL_SIZE.0);
        or(size.map(|s| s.ws_row), USUAL_SIZE.1)
    }

    #[cfg(test)]
    pub(super) fn without_colour(width: usize) -> Self {
        Self { stdout: io::stdout(), colour: false, width, padded: true }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// Starts a thread that ends the program when the reader of its output is gone, even if there is nothing to print, as in
    /// `flightdeck watch | head -1` on a quiet board. A closed pipe is not a failure.
    pub(super) fn end_with_reader() {
        std::thread::spawn(|| {
            let stdout = io::stdout();
            // No event is requested, because errors and hangups are always reported.
            let mut pipe = [PollFd::new(&stdout, PollFlags::empty())];
            while let Ok(0) | Err(Errno::INTR) = poll(&mut pipe, None) {}
            if pipe[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
                std::process::exit(0);
            }
        });
    }

    /// Prints an error with its causes on standard error.
    pub(super) fn error(error: &anyhow::Error) {
        // If standard error is gone too, the error cannot be shown.
        let _ = writeln!(io::stderr(), "flightdeck: {error:#}");
    }

    pub(super) fn note(text: &str) {
        // Without standard error the note is lost, and the command continues.
        let _ = writeln!(io::stderr(), "{text}");
    }

    pub(super) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        Ok(writeln!(self, "{}", escape_controls(&serde_json::to_string_pretty(value)?))?)
    }

    /// Prints one value on one line.
    pub(super) fn json_line(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        Ok(writeln!(self, "{}", escape_controls(&serde_json::to_string(value)?))?)
    }
}

/// Escapes control characters that JSON leaves as they are but a terminal would obey, such as C1 controls and text direction
/// marks. They can only be within strings.
fn escape_controls(json: &str) -> String {
    let is_control = |c: &char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match is_control(&c) {
            true => text += &format!("\\u{:04x}", u32::from(c)),
            false => text.push(c),
        }
    }
    text
}

/// The text with an escape code around it, if the terminal shows colours.
pub(super) fn paint(out: &Out, code: &str, text: &str) -> String {
    if out.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// `flightdeck ls | head` ends with this error; it is not a failure.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}
