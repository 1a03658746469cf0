//! One context window of an effort. A window is never resumed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, SessionId, WindowId};
use crate::limits::{WINDOW_CALLS_MAX, WINDOW_FILES_MAX};
use crate::time::Timestamp;

/// Why a window ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum WindowEnd {
    /// The session ended, or its conversation was cleared.
    SessionEnded,
    /// The client compacted the context by itself.
    Compacted,
    /// The agent left a handoff with `effort dehydrate`.
    Dehydrated,
    /// `window.finish` ended it.
    Finished,
    /// The session began again, or continued with another effort or with none.
    Replaced,
    SubagentStopped,
    EffortFinished,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextWindow {
    pub id: WindowId,
    pub session_id: SessionId,
    pub agent_id: Option<AgentId>,
    pub previous: Option<WindowId>,
    /// Calls since the last log entry.
    pub heartbeat: u32,
    /// How full the context was at the last hook, in tenths of a percent.
    pub context_permille: Option<u16>,
    pub loaded_files: Vec<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub end: Option<WindowEnd>,
    pub handed_over: bool,
    /// The newest calls, each with its heartbeat. When the verdict on a call is decided, newer calls may have been counted already.
    pub calls: VecDeque<(String, u32)>,
    /// Guard rules that have fired in this window. A rule with `once` does not fire again.
    pub fired: BTreeSet<String>,
    /// The call for which each rule with `allow` and `once` was used. The same call may be judged twice, by a hook and by `hooks.*`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub allowed: BTreeMap<String, String>,
    /// Messages of guard rules that fired for a script, by rule. The script's reply had no field for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owed: BTreeMap<String, String>,
    /// Whether the effort was introduced to the agent.
    #[serde(default)]
    pub introduced: bool,
    /// Whether the agent was told that the context is nearly full.
    pub warned: bool,
    /// Directives that were given in this window.
    pub told_directives: BTreeSet<String>,
    /// Files that the agent must still be told to read.
    pub preloads: Vec<String>,
}

impl ContextWindow {
    /// Whether the window belongs to this subagent of the session, or without `agent_id` to the session's main agent.
    pub fn is_of(&self, session_id: &SessionId, agent_id: Option<&AgentId>) -> bool {
        self.session_id == *session_id && self.agent_id.as_ref() == agent_id
    }

    /// Counts a call. The verdict on a call without an id uses the newest heartbeat.
    pub fn count_call(&mut self, tool_use_id: Option<&str>) {
        self.heartbeat += 1;
        if let Some(id) = tool_use_id {
            self.calls.push_back((id.to_owned(), self.heartbeat));
            if self.calls.len() > WINDOW_CALLS_MAX {
                self.calls.pop_front();
            }
        }
    }

    /// The heartbeat that a call had.
    pub fn heartbeat_of(&self, tool_use_id: Option<&str>) -> u32 {
        let call = tool_use_id.and_then(|id| self.calls.iter().rev().find(|(call, _)| call == id));
        call.map_or(self.heartbeat, |(_, heartbeat)| *heartbeat)
    }

    /// Whether the call was counted. An exempt call was not.
    pub fn has_counted(&self, tool_use_id: &str) -> bool {
        self.calls.iter().any(|(call, _)| call == tool_use_id)
    }

    /// Whether a rule with `once` has fired in this window, for another call than this one.
    pub fn has_spent(&self, rule: &str, tool_use_id: Option<&str>) -> bool {
        let used_for = self.allowed.get(rule).map(String::as_str);
        self.fired.contains(rule) && (used_for.is_none() || used_for != tool_use_id)
    }

    /// Forgets that a rule has fired: a rule that is removed and saved again is a new one.
    pub(super) fn forget_rule(&mut self, rule: &str) {
        self.fired.remove(rule);
        self.allowed.remove(rule);
        self.owed.remove(rule);
    }

    pub fn load(&mut self, file: &str) {
        if self.loaded_files.len() < WINDOW_FILES_MAX && !self.loaded_files.iter().any(|known| known == file)
        {
            self.loaded_files.push(file.to_owned());
        }
    }

    pub(super) fn close(&mut self, end: WindowEnd, at: Timestamp) {
        if self.ended_at.is_none() {
            self.ended_at = Some(at);
            self.end = Some(end);
        }
    }

    pub fn context_percent(&self) -> Option<f64> {
        self.context_permille.map(|permille| f64::from(permille) / 10.0)
    }
}
