//! Everything that the TUI knows. `update` changes it, the views draw it.

use crossterm::event::{KeyCode, KeyEvent};
use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::conversation::ConversationPage;
use flightdeck_core::view::explain::Explanation;
use flightdeck_core::view::timeline::EventPage;
use flightdeck_protocol::terminal::{PaneScreen, SendPrompt};
use jiff::tz::TimeZone;
use ratatui::layout::{Position, Rect, Size};

use super::alike::{self, Bunches, SplitAsks};
use super::answers::{self, Choices};
use super::input::{InputPurpose, TextInput};
use super::keys::{KeyAction, action_of};
use super::listing::{BoardCounts, Listing, ShownCards, View, ViewOptions};
use super::message::DaemonCall;
use super::theme::Theme;
use crate::client::BoardMirror;

/// Narrowest terminal in which the details stand beside the list.
const DETAIL_BESIDE_COLUMNS_MIN: u16 = 76;
/// Narrowest terminal that shows three columns unless the person chose otherwise.
const THREE_COLUMNS_MIN: u16 = 150;
/// An answer key does nothing for this long after its request changed by itself: the press was meant for what was there before.
const SETTLE: Millis = Millis(400);

/// A pause that ends a typed text.
const TYPING_PAUSE: Millis = Millis(700);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Full,
    /// A narrow pane beside other work.
    Sidebar,
    /// Pick one, go to its pane, and close.
    Popup,
}

/// What the lower part of the details shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panel {
    Timeline,
    Conversation,
    Pane,
    Why,
}

impl Panel {
    pub(super) const ALL: [Self; 4] = [Self::Timeline, Self::Conversation, Self::Pane, Self::Why];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Conversation => "conversation",
            Self::Pane => "pane",
            Self::Why => "why",
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Timeline => Self::Conversation,
            Self::Conversation => Self::Pane,
            Self::Pane => Self::Why,
            Self::Why => Self::Timeline,
        }
    }

    fn call(self, session: SessionId) -> DaemonCall {
        match self {
            Self::Timeline => DaemonCall::Timeline(session),
            Self::Conversation => DaemonCall::Conversation(session),
            Self::Pane => DaemonCall::Pane(session),
            Self::Why => DaemonCall::Why(session),
        }
    }
}

#[derive(Debug)]
pub(super) enum PanelContent {
    Timeline(EventPage),
    Conversation(ConversationPage),
    Pane(PaneScreen),
    Why(Box<Explanation>),
    Failed(String),
}

/// What was read about the selected session.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// What `content` is about.
    pub(super) of: Option<(SessionId, Panel)>,
    pub(super) content: Option<PanelContent>,
    /// The session's version that was read; it is read again when it changes.
    version: i64,
    read_at: Timestamp,
    /// At most one call is under way, so that moving fast through the board asks the daemon only for where it ends.
    pub(super) under_way: Option<DaemonCall>,
    /// The whole request, if the card has only a part of it.
    pub(super) whole_ask: Option<Box<AskCard>>,
    whole_ask_tried: Option<AskId>,
}

/// A question at the bottom that the next key answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OpenQuestion {
    /// Whether a request that cannot be undone is allowed: a second press of the same key allows it.
    SecondPress { ask: AskId, key: KeyAction, answer: Box<Answer>, why: String },
    /// Whether to press Esc in the session's pane, or with `stop` to end its client.
    Interrupt { session: SessionId, stop: bool, label: String },
    /// The client would run the text: send it as a command or as text?
    PromptKind(SendPrompt),
    /// The prompt box has a draft: keep it or replace it?
    PromptDraft(SendPrompt),
    /// Which of several suggestions is always allowed?
    Suggestion(AskId),
    /// Until when is the session put aside?
    Park(SessionId),
}

/// An answer that is sent when it is due, unless the person takes it back: to one request, or to several that are alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PendingAnswer {
    pub(super) session: SessionId,
    pub(super) asks: Vec<AskId>,
    pub(super) answer: Box<Answer>,
    pub(super) key: KeyAction,
    /// `allowed: git rebase main`
    pub(super) words: String,
    pub(super) due: Timestamp,
}

impl PendingAnswer {
    /// One call for each request.
    pub(super) fn calls(&self) -> impl Iterator<Item = DaemonCall> {
        let call = |ask: &AskId| DaemonCall::Answer { ask: ask.clone(), answer: self.answer.clone() };
        self.asks.iter().map(call)
    }
}

/// The sentence in the line at the bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FooterNote {
    pub(super) text: String,
    pub(super) is_refusal: bool,
    pub(super) until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    Connecting,
    Live,
    /// Why there is no connection to the daemon.
    Lost(String),
}

/// The sums in the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) today_usd_micros: u64,
    pub(super) five_hour_percent: Option<f64>,
    pub(super) read_at: Timestamp,
}

/// What a place on the screen stands for, for the mouse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClickTarget {
    Session(SessionId),
    Panel(Panel),
    Detail,
    Parked,
    Help,
}

/// What the last frame contained.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawnFrame {
    pub(super) cursor: Option<Position>,
    pub(super) hits: Vec<(Rect, ClickTarget)>,
    /// The first shown line of the list, or of each column.
    pub(super) tops: [usize; 3],
    /// How far the details can be scrolled.
    pub(super) scroll_max: usize,
    /// Whether the details are scrolled back from their end, as a timeline, and not down from their beginning.
    pub(super) scrolls_back: bool,
    /// The number of sessions that fit a page.
    pub(super) page: usize,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) mode: Mode,
    pub(super) size: Size,
    pub(super) theme: Theme,
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
    pub(super) board: BoardMirror,
    pub(super) link: ConnectionState,
    pub(super) view_options: ViewOptions,
    pub(super) chosen_view: Option<View>,
    pub(super) chosen_detail: Option<bool>,
    pub(super) listing: Listing,
    listing_is_stale: bool,
    /// Counted with the listing.
    pub(super) counts: BoardCounts,
    pub(super) selected: Option<SessionId>,
    /// The place of the selected session in the order. If the session disappears, the one at this place is selected.
    selected_at: usize,
    pub(super) panel: Panel,
    pub(super) scroll: usize,
    pub(super) details: Details,
    pub(super) input: Option<TextInput>,
    pub(super) question: Option<OpenQuestion>,
    pub(super) pending: Option<PendingAnswer>,
    pub(super) note: Option<FooterNote>,
    pub(super) choices: Choices,
    pub(super) split: SplitAsks,
    /// The first of the requests that are alike whose different inputs are all shown.
    pub(super) all_inputs_of: Option<AskId>,
    pub(super) help: bool,
    pub(super) totals: Totals,
    pub(super) drawn: DrawnFrame,
    pub(super) last_click: Option<(SessionId, Timestamp)>,
    /// The requests that an answer key acts on, and since when they are those without a key of the person.
    watched_asks: Vec<AskId>,
    ask_changed_at: Timestamp,
    /// Until then letters are taken for a text whose field did not open.
    typing_until: Timestamp,
    /// The refused key, if it may be pressed again at once.
    refused_key: Option<KeyAction>,
}

impl Model {
    pub(super) fn new(mode: Mode, size: Size, theme: Theme, zone: TimeZone) -> Self {
        let input = (mode == Mode::Popup).then(|| TextInput::new(InputPurpose::Search, ""));
        let view_options = ViewOptions { best_match_first: mode == Mode::Popup, ..ViewOptions::default() };
        Self {
            mode,
            size,
            theme,
            zone,
            now: Timestamp::default(),
            board: BoardMirror::default(),
            link: ConnectionState::Connecting,
            view_options,
            chosen_view: None,
            chosen_detail: None,
            listing: Listing::default(),
            listing_is_stale: true,
            counts: BoardCounts::default(),
            selected: None,
            selected_at: 0,
            panel: Panel::Timeline,
            scroll: 0,
            details: Details::default(),
            input,
            question: None,
            pending: None,
            note: None,
            choices: Choices::default(),
            split: SplitAsks::default(),
            all_inputs_of: None,
            help: false,
            totals: Totals::default(),
            drawn: DrawnFrame::default(),
            last_click: None,
            watched_asks: Vec::new(),
            ask_changed_at: Timestamp::default(),
            typing_until: Timestamp::default(),
            refused_key: None,
        }
    }

    /// The view that is drawn: the chosen one, else columns if the terminal is wide.
    pub(super) fn view(&self) -> View {
        match (self.mode, self.chosen_view) {
            (Mode::Full, Some(view)) => view,
            (Mode::Full, None) if self.size.width >= THREE_COLUMNS_MIN => View::Columns,
            (Mode::Sidebar, Some(View::Tree)) => View::Tree,
            _ => View::List,
        }
    }

    /// Whether the details stand beside the list.
    pub(super) fn has_room_for_detail(&self) -> bool {
        let least = match self.view() {
            View::Columns => THREE_COLUMNS_MIN,
            View::List | View::Tree => DETAIL_BESIDE_COLUMNS_MIN,
        };
        self.mode == Mode::Full && self.size.width >= least
    }

    pub(super) fn shows_detail(&self) -> bool {
        self.chosen_detail.unwrap_or_else(|| self.has_room_for_detail()) && self.selected.is_some()
    }

    pub(super) fn forget_listing(&mut self) {
        self.listing_is_stale = true;
    }

    /// Computes the listing again if the board or the view options changed, and keeps the selection.
    pub(super) fn refresh(&mut self) {
        if std::mem::take(&mut self.listing_is_stale) {
            self.listing = self.new_listing();
            self.counts = BoardCounts::new(self.board.cards());
            self.keep_selection();
        }
        self.watch_ask();
    }

    /// Computes the rows. In a popup and in a tree, requests that are alike are not joined: a popup picks one session, and a tree shows where
    /// each session is.
    fn new_listing(&self) -> Listing {
        let shown = ShownCards::new(self.board.cards(), &self.view_options);
        let bunches = match (self.mode, self.view()) {
            (Mode::Popup, _) | (_, View::Tree) => Bunches::new(),
            _ => alike::bunches(&shown.cards, &self.split, &self.listing.bunches, self.selected.as_ref()),
        };
        Listing::new(&shown, self.view(), &self.view_options, bunches)
    }

    /// If the selected session is gone, the one in its place is selected.
    fn keep_selection(&mut self) {
        let order = &self.listing.order;
        let place = self.selected.as_ref().and_then(|id| order.iter().position(|other| other == id));
        match place {
            Some(at) => self.selected_at = at,
            None => {
                let at = self.selected_at.min(order.len().saturating_sub(1));
                self.selected = order.get(at).cloned();
                (self.selected_at, self.scroll) = (at, 0);
            }
        }
    }

    fn watch_ask(&mut self) {
        let now_shown = self.answered_asks();
        if now_shown != self.watched_asks {
            (self.watched_asks, self.ask_changed_at) = (now_shown, self.now);
        }
    }

    /// Whether the request on the screen changed a moment ago without a key of the person.
    pub(super) fn ask_has_just_changed(&self) -> bool {
        self.now - self.ask_changed_at < SETTLE
    }

    /// Selects a session because the person pressed a key for it.
    pub(super) fn select(&mut self, id: &SessionId) {
        self.select_by_itself(id);
        self.watched_asks = self.answered_asks();
        self.ask_changed_at = Timestamp::default();
    }

    /// Selects a session that the person did not name. Answer keys wait a moment before they act on it.
    pub(super) fn select_by_itself(&mut self, id: &SessionId) {
        if self.selected.as_ref() != Some(id) {
            self.scroll = 0;
        }
        self.selected = Some(id.clone());
        self.selected_at = self.listing.order.iter().position(|other| other == id).unwrap_or(0);
        self.watch_ask();
    }

    pub(super) fn selected_card(&self) -> Option<&Card> {
        self.board.card(self.selected.as_ref()?)
    }

    pub(super) fn selected_at(&self) -> usize {
        self.selected_at
    }

    /// The request of the selected session, whole if it was read.
    pub(super) fn selected_ask(&self) -> Option<&AskCard> {
        let ask = answers::current_ask(self.selected_card()?)?;
        let whole = self.details.whole_ask.as_deref().filter(|whole| whole.id == ask.id);
        Some(whole.unwrap_or(ask))
    }

    /// The sessions whose requests are alike and that the selected line stands for. Empty if it stands for one.
    pub(super) fn selected_bunch(&self) -> Vec<&Card> {
        let members = self.selected.as_ref().and_then(|id| self.listing.bunches.get(id));
        let cards = members.into_iter().flatten().filter_map(|id| self.board.card(id));
        // Some may have been answered since the listing was made.
        let cards: Vec<&Card> = cards.filter(|card| alike::plain_ask(card).is_some()).collect();
        let stands = cards.first().is_some_and(|first| Some(&first.id) == self.selected.as_ref());
        if stands && cards.len() > 1 { cards } else { Vec::new() }
    }

    /// The requests that an answer key acts on.
    fn answered_asks(&self) -> Vec<AskId> {
        let bunch = self.selected_bunch();
        let one = self.selected_card().and_then(answers::current_ask).filter(|_| bunch.is_empty());
        bunch.into_iter().filter_map(alike::plain_ask).chain(one).map(|ask| ask.id.clone()).collect()
    }

    /// Ignores letters for a moment: the person types for a text field that did not open, and these keys must not act on the board. The refused
    /// key itself, if there is one, may be pressed again.
    pub(super) fn swallow_typing(&mut self, refused_key: Option<KeyAction>) {
        (self.typing_until, self.refused_key) = (self.now + TYPING_PAUSE, refused_key);
    }

    /// Whether a letter belongs to a text that is typed into a field that did not open. A pause ends such a text.
    pub(super) fn belongs_to_lost_text(&mut self, key: KeyEvent) -> bool {
        let swallows = self.now < self.typing_until && matches!(key.code, KeyCode::Char(_) | KeyCode::Enter);
        if !swallows || (self.refused_key.is_some() && action_of(key) == self.refused_key) {
            return false;
        }
        self.typing_until = self.now + TYPING_PAUSE;
        true
    }

    pub(super) fn show_note(&mut self, text: impl Into<String>) {
        self.note = Some(self.new_note(text.into(), false));
    }

    pub(super) fn refuse(&mut self, text: impl Into<String>) {
        self.note = Some(self.new_note(text.into(), true));
    }

    fn new_note(&self, text: String, is_refusal: bool) -> FooterNote {
        /// Long enough to read a sentence.
        const SHOWN: Millis = Millis::seconds(8);
        FooterNote { text: flightdeck_core::text::one_line(&text, 400), is_refusal, until: self.now + SHOWN }
    }

    /// The next call that reads the selected session again: if it changed since, but not more often than [`AGAIN_AFTER`].
    pub(super) fn wanted_call(&mut self) -> Option<DaemonCall> {
        /// A busy session changes many times a second.
        const AGAIN_AFTER: Millis = Millis(500);
        if self.link != ConnectionState::Live || self.details.under_way.is_some() || !self.shows_detail() {
            return None;
        }
        if let Some(call) = self.wanted_whole_ask() {
            return Some(call);
        }
        let card = self.selected_card()?;
        let (of, version) = ((card.id.clone(), self.panel), self.version(card));
        let is_same = self.details.of.as_ref() == Some(&of);
        if is_same && (self.details.version == version || self.now - self.details.read_at < AGAIN_AFTER) {
            return None;
        }
        let call = self.panel.call(of.0.clone());
        if !is_same {
            self.details.content = None;
        }
        self.details = Details {
            of: Some(of),
            version,
            read_at: self.now,
            under_way: Some(call.clone()),
            ..std::mem::take(&mut self.details)
        };
        Some(call)
    }

    fn version(&self, card: &Card) -> i64 {
        match self.panel {
            Panel::Timeline | Panel::Conversation => card.last_activity_at.as_millis(),
            // A terminal changes without an event.
            Panel::Pane => self.now.as_millis() / 1000,
            Panel::Why => card.agent_state.since.as_millis(),
        }
    }

    fn wanted_whole_ask(&mut self) -> Option<DaemonCall> {
        let ask = answers::current_ask(self.selected_card()?)?;
        let has_part = super::super::ask_text::is_cut(ask);
        if !has_part || self.details.whole_ask_tried.as_ref() == Some(&ask.id) {
            return None;
        }
        let call = DaemonCall::WholeAsk(ask.id.clone());
        self.details.whole_ask_tried = Some(ask.id.clone());
        self.details.under_way = Some(call.clone());
        Some(call)
    }

    /// When the loop must run even if nothing happens.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        self.pending.as_ref().map(|pending| pending.due)
    }
}
