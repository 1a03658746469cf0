//! Screens as text, and what keys do.

mod aside;
pub(in crate::cli) mod fleet;
mod hosts;
mod keys;
mod layout;
mod screens;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::sessions::Snapshot;
use jiff::tz::TimeZone;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;

use super::message::{TuiCommand, TuiMessage};
use super::model::{Mode, Model};
use super::painter::Painter;
use super::theme::{TerminalBackground, Theme};
use super::update::update;
use super::view;

/// A TUI without terminal and daemon: keys go in, commands and screens come out.
struct Bench {
    model: Model,
    now: Timestamp,
    painter: Painter<TestBackend>,
}

impl Bench {
    fn new(mode: Mode, (width, height): (u16, u16), cards: Vec<Card>) -> Self {
        let theme = Theme { colour: true, background: TerminalBackground::Dark };
        let model = Model::new(mode, Size { width, height }, theme, TimeZone::UTC);
        let painter = Painter::new(TestBackend::new(width, height));
        let mut bench = Self { model, now: fleet::test_now() - Millis::seconds(1), painter };
        bench.change(Change::Snapshot(Snapshot { boot: "b".into(), n: 1, sessions: cards }));
        bench.draw();
        // Answer keys act only on a request that has been there for a moment.
        bench.wait(1000);
        bench
    }

    fn full(cards: Vec<Card>) -> Self {
        Self::new(Mode::Full, (120, 40), cards)
    }

    fn send(&mut self, message: TuiMessage) -> Vec<TuiCommand> {
        update(&mut self.model, self.now, message)
    }

    fn change(&mut self, change: Change) {
        self.send(TuiMessage::Changes(vec![change]));
    }

    fn wait(&mut self, millis: i64) -> Vec<TuiCommand> {
        self.now = self.now + Millis(millis);
        self.send(TuiMessage::Tick)
    }

    fn press(&mut self, code: KeyCode) -> Vec<TuiCommand> {
        self.send(TuiMessage::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    /// Types each character. Returns the commands of the last one, without what is read for the details.
    fn keys(&mut self, keys: &str) -> Vec<TuiCommand> {
        let pressed = keys.chars().map(|c| self.press(KeyCode::Char(c))).last();
        without_reading(pressed.unwrap_or_default())
    }

    /// True if anything was written to the terminal.
    fn draw(&mut self) -> bool {
        self.model.refresh();
        let mut frame = self.painter.blank_frame(self.model.size);
        self.model.drawn = view::draw(&self.model, &mut frame);
        self.painter.paint(frame, self.model.drawn.cursor).unwrap()
    }

    /// The screen as text. The second cell of a wide character is left out.
    fn screen(&mut self) -> String {
        self.draw();
        let buffer = self.painter.backend().buffer().clone();
        let mut text = String::new();
        for y in 0..buffer.area.height {
            let mut line = String::new();
            let mut x = 0;
            while x < buffer.area.width {
                let symbol = buffer[(x, y)].symbol();
                line += symbol;
                x += super::super::line::columns(symbol).max(1) as u16;
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    fn note(&self) -> &str {
        self.model.note.as_ref().map_or("", |note| note.text.as_str())
    }

    fn selected(&self) -> &str {
        self.model.selected.as_ref().map_or("", |id| id.as_str())
    }
}

/// Without the calls that only read.
fn without_reading(commands: Vec<TuiCommand>) -> Vec<TuiCommand> {
    use super::message::DaemonCall;
    let reads = |command: &TuiCommand| {
        let TuiCommand::Call(call) = command else { return false };
        !matches!(
            call,
            DaemonCall::Answer { .. }
                | DaemonCall::Prompt(_)
                | DaemonCall::Interrupt { .. }
                | DaemonCall::Focus(_)
                | DaemonCall::Park(_)
        )
    };
    commands.into_iter().filter(|command| !reads(command)).collect()
}
