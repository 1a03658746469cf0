//! Screens as text, and what keys do.

mod aside;
pub(in crate::cli) mod fleet;
mod hosts;
mod keys;
mod screens;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::sessions::Snapshot;
use jiff::tz::TimeZone;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use super::message::{Command, Message};
use super::model::{Mode, Model};
use super::painter::Painter;
use super::theme::{Background, Theme};
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
        let theme = Theme { colour: true, background: Background::Dark };
        let model = Model::new(mode, Size { width, height }, theme, TimeZone::UTC);
        let painter = Painter::new(TestBackend::new(width, height));
        let mut bench = Self { model, now: fleet::test_now() - Millis::seconds(1), painter };
        bench.send(Message::Change(Box::new(Change::Snapshot(Snapshot {
            boot: "b".into(),
            n: 1,
            sessions: cards,
        }))));
        bench.draw();
        // Answer keys act only on a request that has been there for a moment.
        bench.wait(1000);
        bench
    }

    fn full(cards: Vec<Card>) -> Self {
        Self::new(Mode::Full, (120, 40), cards)
    }

    fn send(&mut self, message: Message) -> Vec<Command> {
        update(&mut self.model, self.now, message)
    }

    fn wait(&mut self, millis: i64) -> Vec<Command> {
        self.now = self.now + Millis(millis);
        self.send(Message::Tick)
    }

    fn press(&mut self, code: KeyCode) -> Vec<Command> {
        self.send(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    /// Types each character. Returns the commands of the last one, without what is read for the details.
    fn keys(&mut self, keys: &str) -> Vec<Command> {
        let pressed = keys.chars().map(|c| self.press(KeyCode::Char(c))).last();
        without_reading(pressed.unwrap_or_default())
    }

    /// True if anything was written to the terminal.
    fn draw(&mut self) -> bool {
        self.model.refresh();
        let size = self.model.size;
        let mut frame = Buffer::empty(Rect::new(0, 0, size.width, size.height));
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
fn without_reading(commands: Vec<Command>) -> Vec<Command> {
    use super::message::Call;
    let reads = |command: &Command| {
        let Command::Call(call) = command else { return false };
        !matches!(
            call,
            Call::Answer { .. } | Call::Prompt(_) | Call::Interrupt { .. } | Call::Focus(_) | Call::Park(_)
        )
    };
    commands.into_iter().filter(|command| !reads(command)).collect()
}
