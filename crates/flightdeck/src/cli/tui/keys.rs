//! The key map: one table for the handler, the line at the bottom and the help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does on the board. In a text field all keys type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyAction {
    Down,
    Up,
    Top,
    Bottom,
    PageDown,
    PageUp,
    Left,
    Right,
    Next,
    Previous,
    Focus,
    Allow,
    Always,
    Deny,
    DenyWithReason,
    OwnWords,
    OneByOne,
    QuestionBefore,
    QuestionAfter,
    Undo,
    Prompt,
    Interrupt,
    EndClient,
    Park,
    Search,
    Filter,
    Sort,
    Grouping,
    View,
    Detail,
    Panel,
    Why,
    ScrollDown,
    ScrollUp,
    Help,
    Redraw,
    Suspend,
    Leave,
    Quit,
}

/// The parts of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Move,
    Answer,
    Session,
    Board,
    Program,
}

impl Section {
    pub(super) const ALL: [Self; 5] = [Self::Move, Self::Session, Self::Answer, Self::Board, Self::Program];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Answer => "Answer the selected request",
            Self::Session => "The selected session",
            Self::Board => "The board",
            Self::Program => "The program",
        }
    }
}

#[derive(Debug)]
pub(super) struct Binding {
    keys: &'static [(KeyCode, KeyModifiers)],
    /// The keys as the help shows them.
    pub(super) shown: &'static str,
    pub(super) action: KeyAction,
    pub(super) section: Section,
    /// What it does, as the help says it.
    pub(super) about: &'static str,
    /// A word for the line at the bottom; empty if it is not listed there.
    pub(super) word: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

const fn key(c: char) -> (KeyCode, KeyModifiers) {
    (KeyCode::Char(c), NONE)
}

const fn ctrl(c: char) -> (KeyCode, KeyModifiers) {
    (KeyCode::Char(c), CTRL)
}

macro_rules! bindings {
    ($($section:ident { $($action:ident [$($key:expr),*] $shown:literal, $about:literal, $word:literal;)* })*) => {
        &[$($(Binding {
            keys: &[$($key),*],
            shown: $shown,
            action: KeyAction::$action,
            section: Section::$section,
            about: $about,
            word: $word,
        }),*),*]
    };
}

/// The order is the order of the help and of the line at the bottom.
pub(super) const BINDINGS: &[Binding] = bindings! {
    Answer {
        Allow [key('y')] "y", "allow, approve or send", "allow";
        Always [key('a')] "a", "always allow as suggested", "always";
        Deny [key('d'), key('N')] "d N", "deny, reject or decline", "deny";
        DenyWithReason [key('D')] "D", "deny and say why", "deny, say why";
        OwnWords [key('r')] "r", "answer in your own words", "own words";
        OneByOne [key('u')] "u", "show alike ones one by one", "one by one";
        QuestionBefore [key('[')] "[", "the question before", "";
        QuestionAfter [key(']')] "]", "the next one; 1-9 choose", "";
        Undo [key('z')] "z", "take an answer back (2 s)", "undo";
    }
    Session {
        Focus [(KeyCode::Enter, NONE)] "Enter", "go to its tmux pane", "pane";
        Prompt [key('p')] "p", "type its next prompt", "prompt";
        Interrupt [key('x')] "x", "interrupt it (asks first)", "interrupt";
        EndClient [key('X')] "X", "end Claude Code (asks)", "";
        Park [key('P')] "P", "park it or take it back", "park";
        Detail [key(' '), key('o')] "Space o", "show or hide its details", "details";
        Panel [(KeyCode::Tab, NONE)] "Tab", "the next panel", "";
        Why [key('e')] "e", "explain its state", "";
        ScrollDown [key('J'), ctrl('e')] "J Ctrl-E", "scroll its details down", "";
        ScrollUp [key('K'), ctrl('y')] "K Ctrl-Y", "scroll its details up", "";
    }
    Move {
        Next [key('n')] "n", "the next that needs you", "next";
        Previous [key('b')] "b", "the one before", "";
        Down [key('j'), (KeyCode::Down, NONE)] "j ↓", "down", "";
        Up [key('k'), (KeyCode::Up, NONE)] "k ↑", "up", "";
        Left [key('h'), (KeyCode::Left, NONE)] "h ←", "the column to the left", "";
        Right [key('l'), (KeyCode::Right, NONE)] "l →", "the column to the right", "";
        Top [key('g'), (KeyCode::Home, NONE)] "g Home", "the first session", "";
        Bottom [key('G'), (KeyCode::End, NONE)] "G End", "the last session", "";
        PageDown [ctrl('d'), (KeyCode::PageDown, NONE)] "Ctrl-D", "half a page down", "";
        PageUp [ctrl('u'), (KeyCode::PageUp, NONE)] "Ctrl-U", "half a page up", "";
    }
    Board {
        Search [key('/')] "/", "fuzzy search", "search";
        Filter [key('f')] "f", "filter by state", "";
        Sort [key('s')] "s", "sort", "";
        Grouping [key('c')] "c", "group", "";
        View [key('v')] "v", "list, columns or tree", "view";
        Leave [(KeyCode::Esc, NONE)] "Esc", "clear search, close", "";
    }
    Program {
        Help [key('?')] "?", "this help", "help";
        Redraw [ctrl('l')] "Ctrl-L", "draw everything again", "";
        Suspend [ctrl('z')] "Ctrl-Z", "suspend; fg continues", "";
        Quit [key('q'), ctrl('c')] "q Ctrl-C", "quit", "quit";
    }
};

/// The action of a key. Shift is part of the letter.
pub(super) fn action_of(event: KeyEvent) -> Option<KeyAction> {
    let pressed = (event.code, event.modifiers - KeyModifiers::SHIFT);
    BINDINGS.iter().find(|binding| binding.keys.contains(&pressed)).map(|binding| binding.action)
}

/// The digit of a key, for options and choices.
pub(super) fn digit_of(event: KeyEvent) -> Option<usize> {
    match event.code {
        KeyCode::Char(c @ '1'..='9') if event.modifiers == NONE => c.to_digit(10).map(|digit| digit as usize),
        _ => None,
    }
}

/// The first key of an action, as it is shown.
pub(super) fn shown_key(action: KeyAction) -> &'static str {
    let binding = BINDINGS.iter().find(|binding| binding.action == action);
    binding.and_then(|binding| binding.shown.split(' ').next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_meaning() {
        let mut keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        let all = keys.len();
        keys.dedup();
        let twice = keys.iter().filter(|key| keys.iter().filter(|other| other == key).count() > 1);
        assert_eq!(twice.collect::<Vec<_>>(), Vec::<&&(KeyCode, KeyModifiers)>::new());
        assert_eq!(keys.len(), all);
        assert!(
            !keys.iter().any(|(code, _)| matches!(code, KeyCode::Char('0'..='9'))),
            "digits choose options"
        );
    }

    #[test]
    fn deny_has_the_key_of_the_page_and_that_of_the_terminal() {
        let of = |c| action_of(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        assert_eq!((of('d'), of('y'), of('#')), (Some(KeyAction::Deny), Some(KeyAction::Allow), None));
        assert_eq!(action_of(KeyEvent::new(KeyCode::Char('N'), KeyModifiers::SHIFT)), Some(KeyAction::Deny));
    }

    #[test]
    fn the_first_shown_key_is_one_of_the_keys() {
        for binding in BINDINGS {
            let shown = shown_key(binding.action);
            let mut names = binding.keys.iter().map(|(code, modifiers)| match (code, *modifiers) {
                (KeyCode::Char(' '), NONE) => "Space".to_owned(),
                (KeyCode::Char(c), CTRL) => format!("Ctrl-{}", c.to_ascii_uppercase()),
                (code, _) => code.to_string(),
            });
            assert!(names.any(|name| name == shown), "{shown}");
        }
    }
}
