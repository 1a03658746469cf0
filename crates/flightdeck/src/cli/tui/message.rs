//! What happens to the TUI, and what it wants done.

use crossterm::event::{KeyEvent, MouseEvent};
use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::usage::totals::Report;
use flightdeck_core::view::conversation::ConversationPage;
use flightdeck_core::view::explain::Explanation;
use flightdeck_core::view::timeline::EventPage;
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::sessions::ParkSession;
use flightdeck_protocol::terminal::{Focused, PaneScreen, Pressed, SendPrompt};

use crate::client::ClientError;

/// Everything that can happen. `update` handles each without waiting.
#[derive(Debug)]
pub(super) enum TuiMessage {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize(u16, u16),
    /// What the daemon sent since the last message of this kind.
    Changes(Vec<Change>),
    /// The connection is lost; the client tries again by itself.
    Lost(String),
    Reply(Box<Reply>),
    /// Time passed, or an answer that waits is due.
    Tick,
    /// The daemon was started by this program.
    Started(String),
}

/// What the loop does after an update.
#[derive(Debug, PartialEq)]
pub(super) enum TuiCommand {
    Call(DaemonCall),
    Redraw,
    Suspend,
    Quit,
}

/// A request to the daemon. Its reply comes back as a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DaemonCall {
    Answer { ask: AskId, answer: Box<Answer> },
    Prompt(SendPrompt),
    Interrupt { session: SessionId, stop: bool },
    Focus(SessionId),
    Park(ParkSession),
    Timeline(SessionId),
    Conversation(SessionId),
    Pane(SessionId),
    Why(SessionId),
    WholeAsk(AskId),
    Totals,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) call: DaemonCall,
    pub(super) result: Result<ReplyData, ClientError>,
}

#[derive(Debug)]
pub(super) enum ReplyData {
    Answered,
    Pressed(Pressed),
    Focused(Focused),
    Parked,
    Timeline(EventPage),
    Conversation(ConversationPage),
    Pane(PaneScreen),
    Why(Box<Explanation>),
    WholeAsk(Box<AskCard>),
    Totals(Box<Report>),
}
