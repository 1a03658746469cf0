//! The open calls and needs of one agent. Facts apply in any order, because most tool hooks are async.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::approval::resolution::NeedKind;
use crate::ids::AskId;
use crate::limits::{CLOSED_CALLS_MAX, CLOSED_CALLS_STAY, DISORDER_MAX, OPEN_CALLS_MAX, OPEN_NEEDS_MAX};
use crate::log::record::Source;
use crate::log::tool::ToolUse;
use crate::time::Timestamp;

/// What a blocked agent waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    pub kind: NeedKind,
    /// `None` if only a notification reported it.
    pub tool: Option<ToolUse>,
    /// The question or message to show.
    pub text: String,
    /// Type of the subagent that asks; `None` for the main agent.
    pub agent_type: Option<String>,
    pub opened_at: Timestamp,
    /// The call it belongs to. A need without a call is closed by the next similar call.
    pub call_id: Option<String>,
    /// The ask that a person may answer, if a PermissionRequest reported one.
    pub ask_id: Option<AskId>,
    /// The source that reported it. A need from the registry is replaced by one from a hook, which has more detail.
    pub source: Source,
    /// The client's registry says that it is not the permission of a call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_no_call: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    calls: Vec<OpenCall>,
    needs: Vec<Need>,
    closed: VecDeque<ClosedCall>,
    /// Everything fired before this belongs to a turn that has ended.
    cleared_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCall {
    tool: ToolUse,
    fired_at: Timestamp,
}

/// Digests that identify a closed call. A large fleet has many, so memory and snapshots hold no texts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Option<u64>, u64, Timestamp)", into = "(Option<u64>, u64, Timestamp)")]
struct ClosedCall {
    id: Option<u64>,
    call: u64,
    fired_at: Timestamp,
}

impl ClosedCall {
    fn new(tool: &ToolUse, fired_at: Timestamp) -> Self {
        Self { id: tool.id_digest(), call: tool.call_digest(), fired_at }
    }
}

impl From<(Option<u64>, u64, Timestamp)> for ClosedCall {
    fn from((id, call, fired_at): (Option<u64>, u64, Timestamp)) -> Self {
        Self { id, call, fired_at }
    }
}

impl From<ClosedCall> for (Option<u64>, u64, Timestamp) {
    fn from(closed: ClosedCall) -> Self {
        (closed.id, closed.call, closed.fired_at)
    }
}

impl Ledger {
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }
    pub fn is_blocked(&self) -> bool {
        !self.needs.is_empty()
    }
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }
    /// Whether this call is open. Its end may have arrived before its start.
    pub fn is_open(&self, tool: &ToolUse) -> bool {
        self.calls
            .iter()
            .any(|c| if tool.id.is_some() { c.tool.id == tool.id } else { c.tool.same_call(tool) })
    }
    /// Whether a need is open for this tool and input, with or without a call.
    pub fn is_asked(&self, tool: &ToolUse) -> bool {
        self.needs.iter().any(|n| n.tool.as_ref().is_some_and(|t| t.same_call(tool)))
    }
    pub fn has_open_call(&self) -> bool {
        !self.calls.is_empty()
    }
    /// When the open calls that started a subagent began, the oldest first.
    pub fn agent_calls(&self) -> impl Iterator<Item = Timestamp> {
        self.calls.iter().filter(|call| call.tool.starts_agent()).map(|call| call.fired_at)
    }
    pub fn newest_call(&self) -> Option<&ToolUse> {
        self.calls.iter().max_by_key(|c| c.fired_at).map(|c| &c.tool)
    }

    /// The most urgent open need; among equally urgent ones the oldest.
    pub fn most_urgent(&self) -> Option<&Need> {
        self.needs.iter().min_by_key(|n| (n.kind, n.opened_at))
    }

    /// PreToolUse. `agent_type` is set inside a subagent.
    pub fn open_call(&mut self, tool: &ToolUse, at: Timestamp, agent_type: Option<&str>) {
        if at < self.cleared_at || self.ended_already(tool) || self.calls.iter().any(|c| c.tool == *tool) {
            return;
        }
        let own = self.adopt_need(tool, at);
        if !own {
            self.close_loose_needs(tool);
        }
        if self.calls.len() == OPEN_CALLS_MAX {
            self.calls.remove(0);
        }
        self.calls.push(OpenCall { tool: tool.clone(), fired_at: at });
        if !own
            && let Some(kind) = asking_kind(tool)
            && !self.was_answered(tool, at)
        {
            self.open_need(need(kind, tool, tool.id.clone(), at, agent_type));
        }
    }

    /// Whether the PermissionRequest of this call arrived before the call and has been answered since.
    fn was_answered(&self, tool: &ToolUse, at: Timestamp) -> bool {
        let call = tool.call_digest();
        self.closed.iter().any(|c| c.id.is_none() && c.call == call && at <= c.fired_at)
    }

    /// Whether the end of this call has arrived. For a subagent, also before the subagent stopped.
    pub fn ended_already(&self, tool: &ToolUse) -> bool {
        let id = tool.id_digest();
        id.is_some() && self.closed.iter().any(|c| c.id == id)
    }

    /// A PermissionRequest may arrive before its own async PreToolUse. The call then takes over the open need.
    fn adopt_need(&mut self, tool: &ToolUse, at: Timestamp) -> bool {
        let waiting = self.needs.iter_mut().find(|n| {
            n.call_id.is_none()
                && n.tool.as_ref().is_some_and(|t| t.same_call(tool))
                && at <= n.opened_at + DISORDER_MAX
        });
        match waiting {
            Some(need) => {
                need.call_id = tool.id.clone();
                need.call_id.is_some()
            }
            None => false,
        }
    }

    /// PermissionRequest: belongs to the first open call with the same tool and input that has no ask yet.
    pub fn open_permission(
        &mut self,
        tool: &ToolUse,
        at: Timestamp,
        agent_type: Option<&str>,
        ask_id: AskId,
    ) {
        let digest = tool.call_digest();
        if at < self.cleared_at || self.closed.iter().any(|c| c.call == digest && at < c.fired_at) {
            return;
        }
        if self.is_repeated_prompt(tool, at) {
            return;
        }
        let asked = |ledger: &Self, id: &Option<String>| {
            ledger.needs.iter().any(|n| n.call_id == *id && n.ask_id.is_some())
        };
        let call = self.calls.iter().find(|c| c.tool.same_call(tool) && !asked(self, &c.tool.id));
        let call_id = call.and_then(|c| c.tool.id.clone());
        if let Some(need) = self.needs.iter_mut().find(|n| n.call_id.is_some() && n.call_id == call_id) {
            // A question or a plan keeps its kind and gets an ask.
            need.ask_id = Some(ask_id);
            return;
        }
        let kind = asking_kind(tool).unwrap_or(NeedKind::Permission);
        self.open_need(Need { ask_id: Some(ask_id), ..need(kind, tool, call_id, at, agent_type) });
    }

    /// Whether a second hook reports the same request: every such call has its ask, the last one from a moment ago.
    fn is_repeated_prompt(&self, tool: &ToolUse, at: Timestamp) -> bool {
        let calls = self.calls.iter().filter(|c| c.tool.same_call(tool)).count();
        let asks = || {
            self.needs
                .iter()
                .filter(|n| n.ask_id.is_some() && n.tool.as_ref().is_some_and(|t| t.same_call(tool)))
        };
        // A question or a plan is open since its call began, and is never asked twice.
        let same = |n: &Need| n.kind != NeedKind::Permission || within_a_moment(n.opened_at, at);
        asks().count() >= calls.max(1) && asks().any(same)
    }

    /// Opens the need of an elicitation once, however many hooks report the dialog.
    pub fn open_elicitation(&mut self, need: Need) {
        let same = |n: &Need| {
            n.kind == need.kind && n.text == need.text && within_a_moment(n.opened_at, need.opened_at)
        };
        if !self.needs.iter().any(same) {
            self.open_need(need);
        }
    }

    /// Opens a need that no call belongs to: from a notification, an elicitation, or the registry.
    pub fn open_need(&mut self, need: Need) {
        self.close_needs_of(Source::Registry);
        if self.needs.len() == OPEN_NEEDS_MAX {
            self.needs.remove(0);
        }
        self.needs.push(need);
    }

    /// PostToolUse, PostToolUseFailure, and each call that a PostToolBatch names.
    pub fn close_call(&mut self, tool: &ToolUse, at: Timestamp) {
        let index = match &tool.id {
            Some(id) => self.calls.iter().position(|c| c.tool.id.as_ref() == Some(id)),
            None => self.calls.iter().position(|c| c.tool.same_call(tool)),
        };
        let closed = index.map(|i| self.calls.remove(i).tool);
        let id = closed.as_ref().and_then(|t| t.id.clone()).or_else(|| tool.id.clone());
        self.needs.retain(|n| n.call_id.is_none() || n.call_id != id);
        self.close_loose_needs(tool);
        let closed = closed.as_ref().unwrap_or(tool);
        if !self.ended_already(closed) {
            self.remember_closed(closed, at);
        }
    }

    fn remember_closed(&mut self, tool: &ToolUse, at: Timestamp) {
        if self.closed.len() == CLOSED_CALLS_MAX {
            self.closed.pop_front();
        }
        self.closed.push_back(ClosedCall::new(tool, at));
    }

    /// Removes and returns the need behind an ask.
    pub fn take_need(&mut self, ask_id: &AskId) -> Option<Need> {
        let at = self.needs.iter().position(|n| n.ask_id.as_deref() == Some(ask_id))?;
        Some(self.needs.remove(at))
    }

    /// A need was answered from Flightdeck. An allowed call stays open until its end arrives.
    pub fn note_answer(&mut self, need: &Need, goes_on: bool, at: Timestamp) {
        let Some(tool) = &need.tool else { return };
        match &need.call_id {
            Some(id) if !goes_on => self.close_call(&ToolUse { id: Some(id.clone()), ..tool.clone() }, at),
            Some(_) => {}
            // The start of the call has not arrived yet, and must not open the need again.
            None => self.remember_closed(tool, at),
        }
    }

    /// A need without a call ends with the next call of the same tool and input.
    fn close_loose_needs(&mut self, tool: &ToolUse) {
        self.needs.retain(|n| n.call_id.is_some() || !n.tool.as_ref().is_some_and(|t| t.same_call(tool)));
    }

    /// PostToolBatch: no call of the batch is open any more, and no need without a call.
    pub fn close_batch(&mut self, calls: &[ToolUse], at: Timestamp) {
        calls.iter().for_each(|tool| self.close_call(tool, at));
        self.needs.retain(|n| n.call_id.is_some() || n.opened_at > at);
    }

    /// The client is busy again: every prompt was answered in the terminal. Open calls stay open.
    pub fn close_needs(&mut self) {
        self.needs.clear();
    }

    pub fn close_needs_of(&mut self, source: Source) {
        self.needs.retain(|n| n.source != source);
    }

    pub fn close_elicitation(&mut self) {
        if let Some(i) = self.needs.iter().position(|n| n.kind == NeedKind::Elicitation) {
            self.needs.remove(i);
        }
    }

    /// The turn is over: nothing that fired before `at` is open, even if it arrives later.
    pub fn clear(&mut self, at: Timestamp) {
        self.calls.retain(|c| c.fired_at > at);
        self.needs.retain(|n| n.opened_at > at);
        self.cleared_at = self.cleared_at.max(at);
        // The late start of such a call fired before the end of this turn. It is recognised by that time, unless a clock is set back.
        self.closed.retain(|c| c.fired_at + CLOSED_CALLS_STAY >= at);
    }

    /// The clock was set back: comparisons with earlier times start over.
    pub fn reset_clock(&mut self, at: Timestamp) {
        self.cleared_at = self.cleared_at.min(at);
    }
}

fn asking_kind(tool: &ToolUse) -> Option<NeedKind> {
    if tool.asks_question() {
        Some(NeedKind::Question)
    } else if tool.asks_approval() {
        Some(NeedKind::Plan)
    } else {
        None
    }
}

fn need(
    kind: NeedKind,
    tool: &ToolUse,
    call_id: Option<String>,
    at: Timestamp,
    agent_type: Option<&str>,
) -> Need {
    Need {
        kind,
        text: tool.summary.clone(),
        tool: Some(tool.clone()),
        agent_type: agent_type.map(str::to_owned),
        opened_at: at,
        call_id,
        ask_id: None,
        source: Source::Hook,
        of_no_call: false,
    }
}

impl Need {
    /// What the agent waits for, on one line.
    pub fn label(&self) -> String {
        match (self.kind, &self.agent_type, &self.tool) {
            (NeedKind::Permission, Some(agent), Some(tool)) => {
                format!("{agent} needs permission for {}", tool.name)
            }
            (NeedKind::Permission, Some(agent), None) => format!("{agent} needs permission"),
            (NeedKind::Permission, None, Some(tool)) => format!("Permission for {}", tool.label()),
            (NeedKind::Permission, None, None) => "Permission needed".to_owned(),
            (NeedKind::Plan, Some(agent), _) => format!("{agent} has a plan ready"),
            (NeedKind::Plan, None, _) => "Plan ready".to_owned(),
            (NeedKind::Question | NeedKind::Elicitation, _, _) if self.text.is_empty() => {
                "Awaiting input".to_owned()
            }
            (NeedKind::Question | NeedKind::Elicitation, Some(agent), _) => {
                format!("{agent} asks: {}", self.text)
            }
            (NeedKind::Question | NeedKind::Elicitation, None, _) => self.text.clone(),
        }
    }

    /// A need reported by a notification or a dialog, without a call.
    pub fn without_call(kind: NeedKind, text: String, at: Timestamp, agent_type: Option<&str>) -> Self {
        Self {
            kind,
            tool: None,
            text,
            agent_type: agent_type.map(str::to_owned),
            opened_at: at,
            call_id: None,
            ask_id: None,
            source: Source::Hook,
            of_no_call: false,
        }
    }
}

/// Whether two times are so close that two hooks may report the same fact.
pub(crate) fn within_a_moment(a: Timestamp, b: Timestamp) -> bool {
    (a - b).0.abs() <= DISORDER_MAX.0
}
