//! What a person reads: standard output with colour where a terminal shows it, and complaints on standard error.

use std::io::{self, IsTerminal, Write};

/// Standard output. Knows whether colours make sense and how wide the terminal is.
#[derive(Debug)]
pub(super) struct Out {
    stdout: io::Stdout,
    pub(super) colour: bool,
    pub(super) width: usize,
}

/// A line that is cut is better than one that wraps; a pipe gets all of it.
const PIPE_WIDTH: usize = 10_000;

/// Columns and rows of a terminal that does not say.
const USUAL_SIZE: (usize, usize) = (80, 24);

impl Out {
    pub(super) fn stdout() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let mut out = Self { stdout, colour: terminal && !no_colour, width: PIPE_WIDTH };
        if terminal {
            out.measure();
        }
        out
    }

    /// Takes the terminal's width as it is now, and says its height.
    pub(super) fn measure(&mut self) -> usize {
        let size = rustix::termios::tcgetwinsize(&self.stdout).ok();
        let or = |told: Option<u16>, usual| told.filter(|n| *n > 0).map_or(usual, usize::from);
        self.width = or(size.map(|s| s.ws_col), USUAL_SIZE.0);
        or(size.map(|s| s.ws_row), USUAL_SIZE.1)
    }

    #[cfg(test)]
    pub(super) fn plain(width: usize) -> Self {
        Self { stdout: io::stdout(), colour: false, width }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// An error as a person should read it: what, where, why, on standard error.
    pub(super) fn complain(error: &anyhow::Error) {
        // Nobody is left to tell if this fails too.
        let _ = writeln!(io::stderr(), "flightdeck: {error:#}");
    }

    pub(super) fn note(text: &str) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    pub(super) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        Ok(writeln!(self, "{}", inert(&serde_json::to_string_pretty(value)?))?)
    }

    /// One of many, each on its line.
    pub(super) fn json_line(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        Ok(writeln!(self, "{}", inert(&serde_json::to_string(value)?))?)
    }
}

/// JSON escapes the controls of ASCII. The others, and what turns a line around, steer a terminal as well; outside of
/// strings there are none.
fn inert(json: &str) -> String {
    let steers = |c: &char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match steers(&c) {
            true => text += &format!("\\u{:04x}", u32::from(c)),
            false => text.push(c),
        }
    }
    text
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// `flightdeck ls | head` ends like this; it is no failure.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}
