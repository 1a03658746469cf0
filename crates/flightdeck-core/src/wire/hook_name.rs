//! The 33 hook events of Claude Code 2.1.325: names, first version, and how Flightdeck registers each.
//!
//! One table, used by the ingest, `hooks install`, `docs/events.md` and the simulator.

use std::fmt;

/// How a handler of Flightdeck runs in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookForm {
    /// The client waits: the event must arrive, and in order.
    Sync,
    /// Fire and forget: no latency and no flicker in the client's spinner. While an effort is active, some of these are
    /// registered so that the client waits ([`HookName::takes_verdict`]).
    Async,
    /// The client waits while a person decides.
    Held,
    /// Registering it would change or burden the client.
    Never { why: &'static str },
}

/// One row of the table of events.
#[derive(Clone, Copy, Debug)]
pub struct HookInfo {
    pub name: HookName,
    /// First client version known to accept the name in `settings.json`.
    pub since: (u16, u16, u16),
    pub form: HookForm,
    /// Whether the client ever sends it to an `http` handler.
    pub over_http: bool,
}

macro_rules! hook_events {
    ($($name:ident $kebab:literal since $since:tt $form:expr, http $http:literal;)*) => {
        /// A hook event the client is known to send.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HookName { $($name),* }

        impl HookName {
            pub const ALL: &'static [HookInfo] = &[$(HookInfo {
                name: HookName::$name, since: $since, form: $form, over_http: $http,
            }),*];

            /// As the client writes it.
            pub fn as_str(self) -> &'static str {
                match self { $(HookName::$name => stringify!($name)),* }
            }

            /// As it stands in `POST /hook/<kebab-event>`.
            pub fn kebab(self) -> &'static str {
                match self { $(HookName::$name => $kebab),* }
            }

            pub fn parse(name: &str) -> Option<Self> {
                match name { $(stringify!($name) => Some(HookName::$name),)* _ => None }
            }

            pub fn from_kebab(name: &str) -> Option<Self> {
                match name { $($kebab => Some(HookName::$name),)* _ => None }
            }
        }
    };
}

use HookForm::{Async, Held, Never, Sync};

// Sources for `since`: the client's public changelog; otherwise 2.1.325, the version in which the event was first seen.
hook_events! {
    SessionStart        "session-start"         since (1, 0, 62)   Sync, http false;
    Setup               "setup"                 since (2, 1, 10)   Async, http false;
    InstructionsLoaded  "instructions-loaded"   since (2, 1, 69)   Async, http true;
    UserPromptSubmit    "user-prompt-submit"    since (1, 0, 54)   Sync, http true;
    UserPromptExpansion "user-prompt-expansion" since (2, 1, 325)  Async, http true;
    PreToolUse          "pre-tool-use"          since (1, 0, 48)   Async, http true;
    PermissionRequest   "permission-request"    since (2, 0, 45)   Held, http true;
    PermissionDenied    "permission-denied"     since (2, 1, 89)   Async, http true;
    PostToolUse         "post-tool-use"         since (1, 0, 48)   Async, http true;
    PostToolUseFailure  "post-tool-use-failure" since (2, 1, 33)   Async, http true;
    PostToolBatch       "post-tool-batch"       since (2, 1, 325)  Async, http true;
    Notification        "notification"          since (1, 0, 48)   Async, http true;
    Stop                "stop"                  since (1, 0, 48)   Sync, http true;
    StopFailure         "stop-failure"          since (2, 1, 78)   Sync, http true;
    SubagentStart       "subagent-start"        since (2, 0, 43)   Async, http true;
    SubagentStop        "subagent-stop"         since (1, 0, 48)   Sync, http true;
    PreCompact          "pre-compact"           since (1, 0, 48)   Sync, http true;
    PostCompact         "post-compact"          since (2, 1, 76)   Async, http true;
    PreModelSwitch      "pre-model-switch"      since (2, 1, 325)  Async, http true;
    PostModelSwitch     "post-model-switch"     since (2, 1, 325)  Async, http true;
    TaskCreated         "task-created"          since (2, 1, 84)   Async, http true;
    TaskCompleted       "task-completed"        since (2, 1, 33)   Async, http true;
    TeammateIdle        "teammate-idle"         since (2, 1, 33)   Async, http true;
    Elicitation         "elicitation"           since (2, 1, 76)   Async, http true;
    ElicitationResult   "elicitation-result"    since (2, 1, 76)   Async, http true;
    ConfigChange        "config-change"         since (2, 1, 49)   Async, http true;
    CwdChanged          "cwd-changed"           since (2, 1, 83)   Async, http true;
    FileChanged         "file-changed"          since (2, 1, 83)   Never { why: "does nothing without a list of files to watch" }, http true;
    DirectoryAdded      "directory-added"       since (2, 1, 219)  Async, http true;
    WorktreeCreate      "worktree-create"       since (2, 1, 50)   Never { why: "a handler replaces the client's own worktree creation" }, http true;
    WorktreeRemove      "worktree-remove"       since (2, 1, 50)   Async, http true;
    MessageDisplay      "message-display"       since (2, 1, 152)  Never { why: "runs for every few lines of text" }, http true;
    SessionEnd          "session-end"           since (1, 0, 85)   Sync, http true;
}

impl HookName {
    pub fn info(self) -> &'static HookInfo {
        &Self::ALL[self as usize]
    }

    /// Whether an effort decides about this event or adds context to it. The client waits for our reply to such an event while an effort is
    /// active; otherwise the event is registered async.
    pub fn takes_verdict(self) -> bool {
        matches!(self, HookName::PreToolUse | HookName::PostToolUse | HookName::SubagentStart)
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_async_events_change_their_form_for_an_effort() {
        let taken = HookName::ALL.iter().filter(|info| info.name.takes_verdict());
        let forms: Vec<_> = taken.map(|info| (info.name.as_str(), info.form)).collect();
        assert_eq!(forms, [("PreToolUse", Async), ("PostToolUse", Async), ("SubagentStart", Async)]);
    }

    #[test]
    fn the_table_holds_all_33_events_and_each_finds_itself() {
        assert_eq!(HookName::ALL.len(), 33);
        for info in HookName::ALL {
            assert_eq!(info.name.info().name, info.name);
            assert_eq!(HookName::parse(info.name.as_str()), Some(info.name));
            assert_eq!(HookName::from_kebab(info.name.kebab()), Some(info.name));
        }
    }
}
