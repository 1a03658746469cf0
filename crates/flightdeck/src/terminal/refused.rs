//! Why a key was not pressed, as a sentence and as data.

use serde_json::{Map, Value, json};

use super::tmux::TmuxError;

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("the session ended. Take it up again in a terminal: {resume}")]
    Ended { resume: String },
    #[error(
        "the session has no tmux pane that Flightdeck knows of. Go to its terminal, or after you closed it there: {resume}"
    )]
    NoPane { resume: String },
    #[error("the session is not idle ({label}): a prompt is only typed while it waits for one")]
    NotIdle { label: String },
    #[error("the session is not at work ({label}): there is nothing to interrupt")]
    NotWorking { label: String },
    #[error("this ends what the session is doing now ({label}): confirm it")]
    ConfirmInterrupt { label: String },
    #[error("this ends the client and with it the session: confirm it")]
    ConfirmStop,
    #[error(
        "the client takes this as {what} and not as a prompt: say whether it is meant `as` a command or as text"
    )]
    Command { what: String },
    #[error("the client takes {what} as a command wherever it stands first: put a word in front of it")]
    NoEscape { what: String },
    #[error(
        "the prompt box already holds a draft: {draft:?}. Keep it (it is set aside and comes back after yours), replace it, or go there"
    )]
    Draft { draft: String },
    #[error(
        "a draft was set aside in that terminal before (stash), and a second one would replace it: replace the draft in the box, or go there"
    )]
    Stashed { draft: String },
    #[error("the draft in the prompt box could not be moved away; it is still there: {draft:?}")]
    DraftStays { draft: String },
    #[error("the prompt box is in shell mode (`!`): leave it there first")]
    ShellMode,
    #[error(
        "that terminal does not show the prompt box but something else, a menu or a dialog perhaps: {shows:?}. Close it there first"
    )]
    NoBox { shows: String },
    #[error("pane {pane} is gone: {said}")]
    PaneGone { pane: String, said: String },
    #[error("the program in pane {pane} has ended")]
    PaneDead { pane: String },
    #[error("pane {pane} is in copy mode or shows a tmux menu: leave that first (q)")]
    PaneInMode { pane: String },
    #[error("pane {pane} takes no input (select-pane -d)")]
    PaneDeaf { pane: String },
    #[error("pane {pane} passes its keys on to its neighbours (synchronize-panes): turn that off first")]
    PaneSynchronized { pane: String },
    #[error("pane {pane} does not hold the session's process {pid}: the session moved or ended")]
    NotInPane { pane: String, pid: u32 },
    #[error(
        "another program is in front of the session in pane {pane}, an editor or the shell: bring it back there first (fg)"
    )]
    Suspended { pane: String },
    #[error("the session's process {pid} is gone")]
    ProcessGone { pid: u32 },
    #[error("another prompt is being typed into that pane right now: try again in a moment")]
    Busy,
    #[error(
        "the text was put into the prompt box, but {why}, so Enter was not pressed. Look there before you send it again"
    )]
    NotSent { why: String },
    #[error("no terminal shows that tmux server now. Open one: {attach}")]
    NobodyAttached { attach: String },
    #[error("focus_command needs {{{name}}}, and this session has none")]
    NoValue { name: &'static str },
    #[error("focus_command failed: {0}")]
    FocusCommand(String),
    #[error("{0} is no tmux socket of yours")]
    ForeignSocket(String),
    #[error(transparent)]
    Tmux(#[from] TmuxError),
}

impl Refused {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::NoPane { .. } => "no_pane",
            Self::NotIdle { .. } => "not_idle",
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
            Self::NobodyAttached { .. } => "nobody_attached",
            Self::NoValue { .. } | Self::FocusCommand(_) => "focus_command",
            Self::ForeignSocket(_) | Self::Tmux(_) => "tmux",
        }
    }

    /// The body of a 409: `error`, `message`, and what a program needs to ask the person.
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
            Self::NobodyAttached { attach } => add("attach", json!(attach)),
            _ => {}
        }
        body.into()
    }
}
