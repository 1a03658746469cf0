//! The settings that the rules depend on, and the name and sentence of every rule that moves a session.

use serde::{Deserialize, Serialize};

use crate::limits::DONE_KEEPS;
use crate::notify::NotifyRules;
use crate::time::Millis;

/// The settings that the fold depends on. A replay with other settings may give another board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldSettings {
    /// Hold and show permission requests of `claude -p`, which shows no prompt of its own.
    pub hold_print: bool,
    /// A failed tool moves the session to Needs You instead of only leaving a note.
    pub tool_failure_needs_you: bool,
    pub done_keeps: Millis,
    /// Shown on cards as the host of the seat.
    pub host: Option<String>,
    /// Which notes are made; `None` if there is no target to send them to.
    pub notify: Option<NotifyRules>,
}

impl Default for FoldSettings {
    fn default() -> Self {
        Self {
            hold_print: false,
            tool_failure_needs_you: false,
            done_keeps: DONE_KEEPS,
            host: None,
            notify: None,
        }
    }
}

impl FoldSettings {
    /// Identifies the fold: the version of the code and every setting it depends on. Snapshots of another fold are not used.
    pub fn fold_version(&self) -> String {
        let Self { hold_print, tool_failure_needs_you, done_keeps, host: _, notify: _ } = self;
        format!(
            "{RULES_VERSION} hold_print={hold_print} tool_failure={tool_failure_needs_you} done_ms={}",
            done_keeps.0
        )
    }
}

/// The version of the fold. Raise it when the same log would fold to another fleet: older snapshots are then ignored and the log is replayed.
pub const RULES_VERSION: &str = "26";

macro_rules! rules {
    ($($name:ident $sentence:literal;)*) => {
        /// Why a session is in its state.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule { $($name),* }

        impl Rule {
            pub const ALL: &'static [Rule] = &[$(Rule::$name),*];

            /// The sentence that `flightdeck explain` gives as the reason.
            pub fn sentence(self) -> &'static str {
                match self { $(Rule::$name => $sentence),* }
            }
        }
    };
}

rules! {
    Created "The session was first heard of by an event that sets no state: it is idle and fresh.";
    Started "A session starts at its prompt: idle and fresh.";
    SaidItEnded "The session said that it ended.";
    SetupRan "The client runs its one-time setup.";
    Prompted "A person submitted a prompt: Claude thinks.";
    WokeItself "The client woke itself with a notice, not a person: Claude thinks.";
    ToolStarted "A tool call began.";
    PermissionAsked "The client asks permission: the session waits for a person until that call goes on.";
    QuestionAsked "Claude asks a question with AskUserQuestion.";
    PlanReady "Claude shows a plan with ExitPlanMode and waits for approval.";
    ElicitationOpened "An MCP server asks the person for input.";
    PermissionNotice "A notification says that a prompt is open, and no hook told which.";
    AllowedHere "The person answered from Flightdeck: the call goes on.";
    DeniedHere "The person refused from Flightdeck: Claude reads why.";
    AllowedByPolicy "A rule of the person's policy allowed it: the call goes on.";
    DeniedByPolicy "A rule of the person's policy refused it: Claude reads why.";
    RefusedHere "The person refused from Flightdeck and ended the turn.";
    RefusedInTerminal "The client ended the hook that waited for an answer: the person refused in the terminal.";
    NeedClosed "The call that waited for a person went on: its need is closed.";
    ToolEnded "The tool returned and no other call is open: Claude thinks.";
    OtherToolRuns "The tool returned and another call is still open.";
    ToolInterrupted "The person interrupted the tool.";
    ToolFailed "The tool failed, and the configuration makes that a call for help.";
    IdleNotice "The client says it waits for a prompt.";
    Stopped "The turn ended.";
    StoppedWithAgents "The turn ended with background agents still running.";
    QueueGoesOn "The turn ended and prompts wait in the client's queue: it goes on with them.";
    StopFailed "The turn failed: the model's service gave an error.";
    SubagentStarted "A subagent started: the session delegates.";
    SubagentStopped "A subagent stopped and others still run.";
    LastSubagentStopped "The last running subagent stopped: Claude thinks.";
    CompactionStarted "The context is being compacted.";
    CompactionEnded "Compaction ended: back to what it was before.";
    RegistryBusy "The client's registry says busy, and no hook told: Claude works.";
    RegistryAnswered "The client's registry says busy again: the prompt was answered in the terminal.";
    RegistryWaiting "The client's registry says that it waits for the person.";
    RegistryNextTurn "The client was idle for a moment and is busy again: the old turn was interrupted, and the queued prompts are the next.";
    RegistryIdle "The client's registry says idle: the turn is over.";
    RegistryIdleAway "The client's registry says idle, and Flightdeck's hooks were away during the turn: it ended unheard.";
    InterruptMarked "The transcript has the client's interrupt marker: the person interrupted the turn.";
    StoppedByHook "The transcript says that a hook of the person ended the turn.";
    PromptBlocked "The transcript says that a hook of the person blocked the prompt.";
    RegistryInterrupted "The client's registry says idle though no Stop came: the person interrupted it.";
    RegistryBusyAfterStop "The client is still busy a second after its Stop: a Stop hook sent Claude on.";
    RegistryRevived "The client's registry shows the session alive after its end.";
    TranscriptGrew "Neither a hook nor the client's registry reported it, but its transcript grows: it works.";
    ProcessDied "Its process is gone.";
    AnotherProcess "Another process of the session is the most urgent one now.";
    Replaced "The process went on with another session.";
}
