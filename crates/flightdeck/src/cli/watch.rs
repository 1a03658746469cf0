//! `ls --watch` in a terminal: draws the board on the alternate screen, as many rows as fit, and restores the terminal.

use std::io::{self, Write};
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use flightdeck_protocol::changes::{Change, ChangeFrame};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::draw::{TableRow, paint};
use super::out::Out;
use crate::client::{BlockingChanges, ClientError};

/// Shortest time between two drawings: a busy fleet changes a hundred times a second.
pub(super) const REDRAW_EVERY: Duration = Duration::from_millis(250);

/// The durations on the rows count seconds.
const TICK: Duration = Duration::from_secs(1);

/// Changes that were read from the daemon and not yet applied.
const CHANGES_MAX: usize = 256;

/// Switches to the alternate screen, without cursor and without line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The changes as they arrive. The channel ends with the connection.
pub(super) fn receive_in_thread(
    changes: BlockingChanges,
) -> std_mpsc::Receiver<Result<ChangeFrame, ClientError>> {
    let (sender, received) = std_mpsc::sync_channel(CHANGES_MAX);
    // The thread is not joined: it ends with the process or with the daemon.
    std::thread::spawn(move || changes.into_iter().try_for_each(|change| sender.send(change).map_err(drop)));
    received
}

/// Follows the changes until Ctrl-C. `apply` gets every change; `draw` returns the rows for the present terminal size.
pub(super) fn run(
    changes: BlockingChanges,
    out: &mut Out,
    apply: impl FnMut(Change),
    draw: impl FnMut(&Out) -> Vec<TableRow>,
) -> anyhow::Result<u8> {
    let (sender, received) = mpsc::channel(CHANGES_MAX);
    // The thread is not joined: it ends with the process or with the daemon.
    std::thread::spawn(move || {
        for change in changes {
            if sender.blocking_send(change).is_err() {
                return;
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(follow(received, out, apply, draw))
}

async fn follow(
    mut received: mpsc::Receiver<Result<ChangeFrame, ClientError>>,
    out: &mut Out,
    mut apply: impl FnMut(Change),
    mut draw: impl FnMut(&Out) -> Vec<TableRow>,
) -> anyhow::Result<u8> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut suspend = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut redraw = Redraw::new();
    let mut screen = WatchScreen::enter(out)?;
    loop {
        tokio::select! {
            biased;
            _ = interrupt.recv() => return Ok(0),
            _ = terminate.recv() => return Ok(0),
            _ = hangup.recv() => return Ok(0),
            // Ctrl-Z: restore the terminal for the shell, and enter the screen again after `fg`.
            _ = suspend.recv() => {
                drop(screen);
                kill_process(getpid(), Signal::STOP)?;
                screen = WatchScreen::enter(out)?;
                redraw.all_lines();
            }
            () = sleep_until(redraw.drawn_at + REDRAW_EVERY), if redraw.is_due => redraw.draw(out, &mut draw)?,
            frame = received.recv() => {
                let Some(frame) = frame else { anyhow::bail!("the daemon stopped") };
                apply(frame?.change);
                redraw.board_changed();
            }
            // The terminal has rearranged the old lines.
            _ = resized.recv() => redraw.all_lines(),
            _ = tick.tick() => redraw.if_begun(),
        }
    }
}

/// What is on the screen, and whether it must be drawn again.
struct Redraw {
    shown: Vec<String>,
    drawn_at: Instant,
    is_due: bool,
    /// The snapshot, which is the first change, has arrived. Before it there is nothing to draw.
    has_begun: bool,
}

impl Redraw {
    fn new() -> Self {
        Self { shown: Vec::new(), drawn_at: Instant::now(), is_due: false, has_begun: false }
    }

    /// The first board is drawn at once, later changes at most once in [`REDRAW_EVERY`].
    fn board_changed(&mut self) {
        if !self.has_begun {
            (self.has_begun, self.drawn_at) = (true, Instant::now() - REDRAW_EVERY);
        }
        self.is_due = true;
    }

    fn if_begun(&mut self) {
        self.is_due = self.has_begun;
    }

    /// Makes the next frame draw every line, even those that have not changed.
    fn all_lines(&mut self) {
        self.shown.clear();
        self.if_begun();
    }

    fn draw(&mut self, out: &mut Out, rows: &mut impl FnMut(&Out) -> Vec<TableRow>) -> io::Result<()> {
        let height = out.measure();
        let frame = frame(out, rows(out), height);
        if frame != self.shown {
            show(out, &frame)?;
            self.shown = frame;
        }
        (self.is_due, self.drawn_at) = (false, Instant::now());
        Ok(())
    }
}

/// As many rows as the terminal has, from the top. If rows are left out, the last line says how many sessions they are.
fn frame(out: &Out, rows: Vec<TableRow>, height: usize) -> Vec<String> {
    let sessions = |rows: &[TableRow]| rows.iter().filter(|row| row.is_session).count();
    let all = sessions(&rows);
    let too_many = rows.len() > height;
    let mut shown = rows;
    if too_many {
        shown.truncate(height.saturating_sub(1));
        // A heading without a session below it.
        while shown.pop_if(|row| !row.is_session).is_some() {}
    }
    let left = (all - sessions(&shown)) as u64;
    let mut lines: Vec<_> = shown.into_iter().map(|row| row.text).collect();
    if too_many {
        lines.push(paint(out, "2", &format!("… and {left} more")));
    }
    lines.resize(height, String::new());
    lines
}

/// Clears each line before writing it: clearing after writing would delete the last letter at the right edge.
fn show(out: &mut Out, frame: &[String]) -> io::Result<()> {
    let mut screen = "\x1b[H".to_owned();
    for (n, line) in frame.iter().enumerate() {
        screen += if n == 0 { "\x1b[2K" } else { "\r\n\x1b[2K" };
        screen += line;
    }
    out.write_all(screen.as_bytes())?;
    out.flush()
}

/// The terminal in the alternate screen, until dropped.
struct WatchScreen {
    before: Option<Termios>,
}

impl WatchScreen {
    fn enter(out: &mut Out) -> io::Result<Self> {
        // Typed keys must not appear on the screen.
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            // If this fails, typed keys appear on the screen.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &quiet);
        }
        let screen = Self { before };
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(screen)
    }
}

impl Drop for WatchScreen {
    fn drop(&mut self) {
        let mut stdout = io::stdout();
        // Fails if the terminal is gone; then there is nothing to restore.
        let _ = stdout.write_all(LEAVE.as_bytes()).and_then(|()| stdout.flush());
        if let Some(before) = &self.before {
            // Discards what was typed meanwhile: it was not meant for the shell.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(groups: &[(&str, usize)]) -> Vec<TableRow> {
        let group = |(title, sessions): &(&str, usize)| {
            let heading = TableRow { text: format!("{title} {sessions}"), is_session: false };
            let session = |n| TableRow { text: format!("  {title} #{n}"), is_session: true };
            std::iter::once(heading).chain((1..=*sessions).map(session)).collect::<Vec<_>>()
        };
        groups.iter().flat_map(group).collect()
    }

    fn framed(groups: &[(&str, usize)], height: usize) -> Vec<String> {
        frame(&Out::without_colour(80), rows(groups), height)
    }

    #[test]
    fn a_board_that_fits_is_shown_completely_and_fills_the_screen() {
        assert_eq!(
            framed(&[("Needs you", 1), ("Done", 1)], 5),
            ["Needs you 1", "  Needs you #1", "Done 1", "  Done #1", ""]
        );
        assert_eq!(framed(&[("Done", 1)], 2), ["Done 1", "  Done #1"]);
    }

    #[test]
    fn a_long_board_shows_its_top_and_the_number_of_hidden_sessions() {
        let long = framed(&[("Needs you", 20), ("Running", 24), ("Done", 10)], 30);
        assert_eq!(long.len(), 30);
        assert_eq!(long[0], "Needs you 20");
        assert_eq!((long[28].as_str(), long[29].as_str()), ("  Running #7", "… and 27 more"));
    }

    #[test]
    fn a_heading_without_sessions_is_left_out() {
        let cut = framed(&[("Needs you", 2), ("Running", 3)], 5);
        assert_eq!(cut, ["Needs you 2", "  Needs you #1", "  Needs you #2", "… and 3 more", ""]);
        assert_eq!(framed(&[("Needs you", 2)], 1), ["… and 2 more"]);
        assert!(framed(&[("Needs you", 2)], 0).is_empty());
    }
}
