//! The reasons for not pressing a key: as a message and as data.

use flightdeck_protocol::terminal::{Confirm, Draft, TerminalRefusal, TerminalRefusalCode};

use super::tmux::TmuxError;

/// Why a session's terminal is left alone.
#[derive(Debug, thiserror::Error)]
pub enum RefusalReason {
    #[error("the session ended. Resume it in a terminal: {resume}")]
    Ended { resume: String },
    #[error(
        "Flightdeck knows no tmux pane of this session. Go to its terminal, or close it there and resume it: {resume}"
    )]
    NoPane { resume: String },
    #[error(
        "the session runs on {host}, and Flightdeck reaches only the terminals of its own machine: go to its terminal on {host}"
    )]
    AnotherHost { host: String },
    #[error("the session ended on {host}. Resume it in a terminal there: {resume}")]
    EndedOnAnotherHost { host: String, resume: String },
    #[error("the session is not idle ({label}): a prompt is only typed while it waits for one")]
    NotIdle { label: String },
    #[error("only a session that waits for its next prompt can be parked ({label})")]
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

impl RefusalReason {
    pub fn code(&self) -> TerminalRefusalCode {
        use TerminalRefusalCode as Code;
        match self {
            Self::Ended { .. } | Self::EndedOnAnotherHost { .. } => Code::Ended,
            Self::NoPane { .. } | Self::AnotherHost { .. } => Code::NoPane,
            Self::NotIdle { .. } | Self::NotParkable { .. } => Code::NotIdle,
            Self::NotWorking { .. } => Code::NotWorking,
            Self::ConfirmInterrupt { .. } | Self::ConfirmStop => Code::Confirm,
            Self::Command { .. } => Code::Command,
            Self::NoEscape { .. } => Code::NoEscape,
            Self::Draft { .. } | Self::Stashed { .. } | Self::DraftStays { .. } => Code::Draft,
            Self::ShellMode => Code::ShellMode,
            Self::NoBox { .. } => Code::NoPromptBox,
            Self::PaneGone { .. } | Self::PaneDead { .. } => Code::PaneGone,
            Self::PaneInMode { .. }
            | Self::PaneDeaf { .. }
            | Self::PaneSynchronized { .. }
            | Self::Suspended { .. } => Code::PaneNotFree,
            Self::NotInPane { .. } | Self::ProcessGone { .. } => Code::NotInPane,
            Self::Busy => Code::Busy,
            Self::NotSent { .. } => Code::NotSent,
            Self::NotAttached { .. } => Code::NotAttached,
            Self::NoValue { .. } | Self::FocusCommand(_) => Code::FocusCommand,
            Self::ForeignSocket(_) | Self::Tmux(_) => Code::Tmux,
        }
    }

    pub fn details(&self) -> TerminalRefusal {
        let mut details = TerminalRefusal::new(self.code(), self.to_string());
        match self {
            Self::Ended { resume } | Self::NoPane { resume } | Self::EndedOnAnotherHost { resume, .. } => {
                details.resume = Some(resume.clone());
            }
            Self::ConfirmInterrupt { .. } => details.confirm = Some(Confirm::Interrupt),
            Self::ConfirmStop => details.confirm = Some(Confirm::Stop),
            Self::Command { .. } => details.confirm = Some(Confirm::Command),
            Self::Draft { draft } | Self::Stashed { draft } | Self::DraftStays { draft } => {
                details.draft = Some(draft.clone());
                details.choices = self.choices();
            }
            Self::NotAttached { attach } => details.attach = Some(attach.clone()),
            _ => {}
        }
        details
    }

    fn choices(&self) -> Option<Vec<Draft>> {
        match self {
            Self::Draft { .. } => Some(vec![Draft::Keep, Draft::Replace]),
            Self::Stashed { .. } => Some(vec![Draft::Replace]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bodies as version 0.1.0 sent them, without their messages.
    #[test]
    fn every_refusal_has_the_code_and_the_data_that_programs_know() {
        let text = String::new;
        let pane = || "%1".to_owned();
        let (resume, draft, attach) = ("r".to_owned(), || "d".to_owned(), "a".to_owned());
        let bodies = [
            (
                RefusalReason::Ended { resume: resume.clone() },
                r#"{"error":"ended","message":"","resume":"r"}"#,
            ),
            (
                RefusalReason::EndedOnAnotherHost { host: text(), resume: resume.clone() },
                r#"{"error":"ended","message":"","resume":"r"}"#,
            ),
            (RefusalReason::NoPane { resume }, r#"{"error":"no_pane","message":"","resume":"r"}"#),
            (RefusalReason::AnotherHost { host: text() }, r#"{"error":"no_pane","message":""}"#),
            (RefusalReason::NotIdle { label: text() }, r#"{"error":"not_idle","message":""}"#),
            (RefusalReason::NotWorking { label: text() }, r#"{"error":"not_working","message":""}"#),
            (
                RefusalReason::ConfirmInterrupt { label: text() },
                r#"{"error":"confirm","message":"","confirm":"interrupt"}"#,
            ),
            (RefusalReason::ConfirmStop, r#"{"error":"confirm","message":"","confirm":"stop"}"#),
            (
                RefusalReason::Command { what: text() },
                r#"{"error":"command","message":"","confirm":"command"}"#,
            ),
            (RefusalReason::NoEscape { what: text() }, r#"{"error":"no_escape","message":""}"#),
            (
                RefusalReason::Draft { draft: draft() },
                r#"{"error":"draft","message":"","draft":"d","choices":["keep","replace"]}"#,
            ),
            (
                RefusalReason::Stashed { draft: draft() },
                r#"{"error":"draft","message":"","draft":"d","choices":["replace"]}"#,
            ),
            (RefusalReason::DraftStays { draft: draft() }, r#"{"error":"draft","message":"","draft":"d"}"#),
            (RefusalReason::ShellMode, r#"{"error":"shell_mode","message":""}"#),
            (RefusalReason::NoBox { shows: text() }, r#"{"error":"no_prompt_box","message":""}"#),
            (RefusalReason::PaneGone { pane: pane(), said: text() }, r#"{"error":"pane_gone","message":""}"#),
            (RefusalReason::PaneDead { pane: pane() }, r#"{"error":"pane_gone","message":""}"#),
            (RefusalReason::PaneInMode { pane: pane() }, r#"{"error":"pane_not_free","message":""}"#),
            (RefusalReason::PaneDeaf { pane: pane() }, r#"{"error":"pane_not_free","message":""}"#),
            (RefusalReason::PaneSynchronized { pane: pane() }, r#"{"error":"pane_not_free","message":""}"#),
            (RefusalReason::NotInPane { pane: pane(), pid: 1 }, r#"{"error":"not_in_pane","message":""}"#),
            (RefusalReason::Suspended { pane: pane() }, r#"{"error":"pane_not_free","message":""}"#),
            (RefusalReason::ProcessGone { pid: 1 }, r#"{"error":"not_in_pane","message":""}"#),
            (RefusalReason::Busy, r#"{"error":"busy","message":""}"#),
            (RefusalReason::NotSent { why: text() }, r#"{"error":"not_sent","message":""}"#),
            (
                RefusalReason::NotAttached { attach },
                r#"{"error":"nobody_attached","message":"","attach":"a"}"#,
            ),
            (RefusalReason::NoValue { name: "tty" }, r#"{"error":"focus_command","message":""}"#),
            (RefusalReason::FocusCommand(text()), r#"{"error":"focus_command","message":""}"#),
            (RefusalReason::ForeignSocket(text()), r#"{"error":"tmux","message":""}"#),
            (RefusalReason::Tmux(TmuxError::TooSlow), r#"{"error":"tmux","message":""}"#),
        ];
        for (refused, body) in bodies {
            let details = refused.details();
            assert_eq!(serde_json::to_value(details.error).unwrap(), details.error.as_str());
            assert_eq!(details.message, refused.to_string());
            let without_message = TerminalRefusal { message: String::new(), ..details };
            assert_eq!(serde_json::to_string(&without_message).unwrap(), body);
        }
    }
}
