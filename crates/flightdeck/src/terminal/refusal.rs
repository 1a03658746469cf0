//! The reasons for not pressing a key: as a message and as data.

use serde_json::{Map, Value, json};

use super::tmux::TmuxError;

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("the session ended. Resume it in a terminal: {resume}")]
    Ended { resume: String },
    #[error(
        "Flightdeck knows no tmux pane of this session. Go to its terminal, or close it there and resume it: {resume}"
    )]
    NoPane { resume: String },
    #[error("the session is not idle ({label}): a prompt is only typed while it waits for one")]
    NotIdle { label: String },
    #[error("only a session that waits for its next prompt can be put aside ({label})")]
    NotParkable { label: String },
    #[error("the session is not working ({label}): there is nothing to interrupt")]
    NotWorking { label: String },
    #[error("this interrupts the session's present work ({label}): confirm it")]
    ConfirmInterrupt { label: String },
    #[error("this ends Claude Code and the session: confirm it")]
    ConfirmStop,
    #[error(
        "Claude Code reads this as {what} and not as a prompt: say whether to send it `as` a command or as text"
    )]
    Command { what: String },
    #[error("Claude Code reads {what} as a command if it comes first: put a word in front of it")]
    NoEscape { what: String },
    #[error(
        "the prompt box already has a draft: {draft:?}. Keep it (it is stashed and restored after your prompt), replace it, or go to the terminal"
    )]
    Draft { draft: String },
    #[error(
        "that terminal already has a stashed draft, and a second one would replace it: replace the draft in the box, or go to the terminal"
    )]
    Stashed { draft: String },
    #[error("the draft in the prompt box could not be removed; it is still there: {draft:?}")]
    DraftStays { draft: String },
    #[error("the prompt box is in shell mode (`!`): leave that mode in the terminal first")]
    ShellMode,
    #[error(
        "that terminal does not show the prompt box but something else, perhaps a menu or a dialog: {shows:?}. Close it in the terminal first"
    )]
    NoBox { shows: String },
    #[error("pane {pane} is gone: {said}")]
    PaneGone { pane: String, said: String },
    #[error("the program in pane {pane} has ended")]
    PaneDead { pane: String },
    #[error("pane {pane} is in copy mode or shows a tmux menu: leave it first (q)")]
    PaneInMode { pane: String },
    #[error("pane {pane} has its input disabled (select-pane -d)")]
    PaneDeaf { pane: String },
    #[error("pane {pane} copies its keys to other panes (synchronize-panes): turn that off first")]
    PaneSynchronized { pane: String },
    #[error("the session's process {pid} is not in pane {pane}: the session moved or ended")]
    NotInPane { pane: String, pid: u32 },
    #[error(
        "another program is in front of the session in pane {pane}, an editor or the shell: bring the session back first (fg)"
    )]
    Suspended { pane: String },
    #[error("the session's process {pid} is gone")]
    ProcessGone { pid: u32 },
    #[error("another prompt is being typed into that pane: try again in a moment")]
    Busy,
    #[error(
        "the text was put into the prompt box, but {why}, so Enter was not pressed. Look at the terminal before you send it again"
    )]
    NotSent { why: String },
    #[error("no terminal is attached to that tmux server. Attach one: {attach}")]
    NotAttached { attach: String },
    #[error("focus_command needs {{{name}}}, but this session has none")]
    NoValue { name: &'static str },
    #[error("focus_command failed: {0}")]
    FocusCommand(String),
    #[error("{0} is not a tmux socket of this user")]
    ForeignSocket(String),
    #[error(transparent)]
    Tmux(#[from] TmuxError),
}

impl Refused {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::NoPane { .. } => "no_pane",
            Self::NotIdle { .. } | Self::NotParkable { .. } => "not_idle",
            Self::NotWorking { .. } => "not_working",
            Self::ConfirmInterrupt { .. } | Self::ConfirmStop => "confirm",
            Self::Command { .. } => "command",
            Self::NoEscape { .. } => "no_escape",
            Self::Draft { .. } | Self::Stashed { .. } | Self::DraftStays { .. } => "draft",
            Self::ShellMode => "shell_mode",
            Self::NoBox { .. } => "no_prompt_box",
            Self::PaneGone { .. } | Self::PaneDead { .. } => "pane_gone",
            Self::PaneInMode { .. }
            | Self::PaneDeaf { .. }
            | Self::PaneSynchronized { .. }
            | Self::Suspended { .. } => "pane_not_free",
            Self::NotInPane { .. } | Self::ProcessGone { .. } => "not_in_pane",
            Self::Busy => "busy",
            Self::NotSent { .. } => "not_sent",
            Self::NotAttached { .. } => "nobody_attached",
            Self::NoValue { .. } | Self::FocusCommand(_) => "focus_command",
            Self::ForeignSocket(_) | Self::Tmux(_) => "tmux",
        }
    }

    /// The body of a 409: `error`, `message`, and the data that a program needs to ask the person.
    pub fn json(&self) -> Value {
        let mut body = Map::new();
        body.insert("error".into(), self.code().into());
        body.insert("message".into(), self.to_string().into());
        let mut add = |key: &str, value: Value| drop(body.insert(key.into(), value));
        match self {
            Self::Ended { resume } | Self::NoPane { resume } => add("resume", json!(resume)),
            Self::ConfirmInterrupt { .. } => add("confirm", json!("interrupt")),
            Self::ConfirmStop => add("confirm", json!("stop")),
            Self::Command { .. } => add("confirm", json!("command")),
            Self::Draft { draft } => {
                add("draft", json!(draft));
                add("choices", json!(["keep", "replace"]));
            }
            Self::Stashed { draft } => {
                add("draft", json!(draft));
                add("choices", json!(["replace"]));
            }
            Self::DraftStays { draft } => add("draft", json!(draft)),
            Self::NotAttached { attach } => add("attach", json!(attach)),
            _ => {}
        }
        body.into()
    }
}
