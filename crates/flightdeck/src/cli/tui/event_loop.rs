//! The loop: waits for what happens next, updates the model, carries out commands, draws.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyEventKind};
use flightdeck_protocol::changes::Change;
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::calls;
use super::message::{TuiCommand, TuiMessage};
use super::model::Model;
use super::screen::{TerminalPainter, TuiScreen};
use super::update::update;
use super::view;
use crate::client::{AsyncLiveChanges, LiveChange};
use crate::clock;
use crate::paths::Paths;

/// Shortest time between two frames that no key caused: a busy fleet changes hundreds of times a second.
const FRAME_EVERY: Duration = Duration::from_millis(100);
/// Most changes that are applied at once. More than this wait in the socket until the next frame.
const CHANGES_MAX: usize = 1024;
/// Running times are shown in seconds, so they are drawn once a second.
const TICK: Duration = Duration::from_secs(1);
/// Most replies that wait to be handled. One key may answer many requests that are alike; further replies wait for their turn.
const REPLIES_MAX: usize = 16;
/// Longest wait for an answer that is sent while the program ends.
const LAST_ANSWER_MAX: Duration = Duration::from_secs(3);

/// How soon a frame must be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameDue {
    Not,
    WithNextFrame,
    Now,
}

/// What the loop handles next.
enum NextInput {
    Message(TuiMessage),
    Suspend,
    Resume,
    /// The person left, or the terminal is gone.
    Leave,
}

pub(super) async fn run(mut model: Model, paths: &Paths, started: Option<String>) -> anyhow::Result<()> {
    let screen = TuiScreen::enter()?;
    let (replies, received) = mpsc::channel(REPLIES_MAX);
    if let Some(sentence) = started {
        update(&mut model, clock::now(), TuiMessage::Started(sentence));
    }
    let ended = Loop { model, paths, replies, received, painter: TuiScreen::painter(), due: FrameDue::Now }
        .run(screen)
        .await;
    match ended {
        // The terminal is gone, and the shell that waits for it too.
        Err(error) if is_gone(&error) => Ok(()),
        other => Ok(other?),
    }
}

fn is_gone(error: &io::Error) -> bool {
    let no_device = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    no_device || matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected)
}

struct Loop<'a> {
    model: Model,
    paths: &'a Paths,
    replies: mpsc::Sender<TuiMessage>,
    received: mpsc::Receiver<TuiMessage>,
    painter: TerminalPainter,
    due: FrameDue,
}

impl Loop<'_> {
    async fn run(mut self, mut screen: TuiScreen) -> io::Result<()> {
        let mut sources = InputSources::new(self.paths)?;
        let mut drawn_at = Instant::now() - FRAME_EVERY;
        loop {
            if self.due == FrameDue::Now
                || (self.due == FrameDue::WithNextFrame && drawn_at.elapsed() >= FRAME_EVERY)
            {
                self.draw()?;
                (self.due, drawn_at) = (FrameDue::Not, Instant::now());
            }
            let frame_at = (self.due == FrameDue::WithNextFrame).then(|| drawn_at + FRAME_EVERY);
            let wake_at = self.wake_at();
            let next = sources.next(&mut self.received, frame_at, wake_at).await;
            let commands = match next {
                None => continue,
                Some(NextInput::Message(message)) => self.handle_message(message),
                Some(NextInput::Suspend) => vec![TuiCommand::Suspend],
                Some(NextInput::Resume) => {
                    screen = screen.resume()?;
                    vec![TuiCommand::Redraw]
                }
                Some(NextInput::Leave) => vec![TuiCommand::Quit],
            };
            for command in commands {
                match command {
                    TuiCommand::Call(call) => calls::spawn_call(call, self.paths, &self.replies),
                    TuiCommand::Redraw => self.redraw()?,
                    TuiCommand::Suspend => {
                        screen = screen.suspend()?;
                        self.redraw()?;
                    }
                    TuiCommand::Quit => return self.send_last_answer().await,
                }
            }
        }
    }

    fn handle_message(&mut self, message: TuiMessage) -> Vec<TuiCommand> {
        let is_person = matches!(message, TuiMessage::Key(_) | TuiMessage::Mouse(_) | TuiMessage::Paste(_));
        self.due = match (is_person, self.due) {
            (true, _) | (_, FrameDue::Now) => FrameDue::Now,
            _ => FrameDue::WithNextFrame,
        };
        let mut commands = update(&mut self.model, clock::now(), message);
        // The program ends only after a waiting answer is sent.
        if commands.contains(&TuiCommand::Quit) {
            commands.sort_by_key(|command| *command == TuiCommand::Quit);
        }
        commands
    }

    fn wake_at(&self) -> Option<Instant> {
        let due = self.model.wake_at()?;
        let wait = (due - clock::now()).0.max(0);
        Some(Instant::now() + Duration::from_millis(wait.unsigned_abs()))
    }

    fn redraw(&mut self) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        update(&mut self.model, clock::now(), TuiMessage::Resize(width, height));
        self.painter.forget();
        self.due = FrameDue::Now;
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        self.model.refresh();
        let mut frame = self.painter.blank_frame(self.model.size);
        self.model.drawn = view::draw(&self.model, &mut frame);
        self.painter.paint(frame, self.model.drawn.cursor).map(drop)
    }

    /// Waits until a waiting answer is sent. Otherwise the person's decision would be lost.
    async fn send_last_answer(mut self) -> io::Result<()> {
        let Some(pending) = self.model.pending.take() else {
            tokio::time::timeout(LAST_ANSWER_MAX, self.last_replies()).await.ok();
            return Ok(());
        };
        let answers = pending.calls().map(|call| async move { calls::call_daemon(&call, self.paths).await });
        // If the daemon does not answer, the request stays open and its terminal shows it.
        let _ = tokio::time::timeout(LAST_ANSWER_MAX, join_all(answers)).await;
        Ok(())
    }

    /// Waits until all calls have ended. Each call holds a sender, so the channel closes with the last one.
    async fn last_replies(&mut self) {
        let (unused, _) = mpsc::channel(1);
        self.replies = unused;
        while self.received.recv().await.is_some() {}
    }
}

/// Everything that the loop waits for.
struct InputSources {
    keys: EventStream,
    changes: AsyncLiveChanges,
    /// Changes are read from this moment on. Until then they wait in the socket, so that the list is computed once for all of them.
    changes_from: Instant,
    tick: tokio::time::Interval,
    ends: [tokio::signal::unix::Signal; 3],
    stop: tokio::signal::unix::Signal,
    cont: tokio::signal::unix::Signal,
}

impl InputSources {
    fn new(paths: &Paths) -> io::Result<Self> {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            keys: EventStream::new(),
            changes: AsyncLiveChanges::new(paths.clone()),
            changes_from: Instant::now(),
            tick,
            ends: [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ],
            stop: signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
            cont: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
        })
    }

    /// Waits for the next message. Keys come before changes. `None` if only a frame or a waiting answer is due.
    async fn next(
        &mut self,
        received: &mut mpsc::Receiver<TuiMessage>,
        frame_at: Option<Instant>,
        wake_at: Option<Instant>,
    ) -> Option<NextInput> {
        let [interrupt, terminate, hangup] = &mut self.ends;
        let message = tokio::select! {
            biased;
            _ = interrupt.recv() => return Some(NextInput::Leave),
            _ = terminate.recv() => return Some(NextInput::Leave),
            _ = hangup.recv() => return Some(NextInput::Leave),
            _ = self.stop.recv() => return Some(NextInput::Suspend),
            _ = self.cont.recv() => return Some(NextInput::Resume),
            event = self.keys.next() => match event {
                Some(Ok(event)) => from_terminal(event)?,
                // The terminal is gone.
                Some(Err(_)) | None => return Some(NextInput::Leave),
            },
            () = sleep_until_or_forever(frame_at) => return None,
            () = sleep_until_or_forever(wake_at) => TuiMessage::Tick,
            Some(message) = received.recv() => message,
            change = next_after(&mut self.changes, self.changes_from) => match change {
                LiveChange::Change(frame) => self.with_further_changes(frame.change),
                LiveChange::Disconnected { error, .. } => TuiMessage::Lost(error.to_string()),
            },
            _ = self.tick.tick() => TuiMessage::Tick,
        };
        Some(NextInput::Message(message))
    }

    /// This change and all changes that have arrived after it. If the connection is lost after them, the next call reports that.
    fn with_further_changes(&mut self, first: Change) -> TuiMessage {
        let mut changes = vec![first];
        while changes.len() < CHANGES_MAX {
            match self.changes.next_change().now_or_never() {
                Some(LiveChange::Change(frame)) => changes.push(frame.change),
                Some(LiveChange::Disconnected { .. }) | None => break,
            }
        }
        self.changes_from = Instant::now() + FRAME_EVERY;
        TuiMessage::Changes(changes)
    }
}

async fn next_after(changes: &mut AsyncLiveChanges, from: Instant) -> LiveChange {
    sleep_until(from).await;
    changes.next_change().await
}

async fn sleep_until_or_forever(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn from_terminal(event: Event) -> Option<TuiMessage> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(TuiMessage::Key(key)),
        Event::Mouse(event) => Some(TuiMessage::Mouse(event)),
        Event::Paste(text) => Some(TuiMessage::Paste(text)),
        Event::Resize(width, height) => Some(TuiMessage::Resize(width, height)),
        _ => None,
    }
}
