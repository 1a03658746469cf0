//! The main agent of a session: its state, and the event and rule that put it there.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::agent::{Activity, AgentState, IdleReason};
use super::ledger::Ledger;
use super::shown::Trigger;
use crate::ids::AgentId;
use crate::log::event::{Event, EventKind};
use crate::rules::Rule;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MainAgent {
    pub state: AgentState,
    pub rule: Rule,
    /// `seq` of the event that last moved it.
    pub moved_by: u64,
    pub ledger: Ledger,
    /// When the event that last moved it fired; an earlier event moves nothing.
    pub changed_at: Timestamp,
    pub before_compaction: Option<AgentState>,
    /// The registry reported work without detail. A hook that fired after this time has the detail, however late it arrives.
    #[serde(default)]
    pub guessed_after: Option<Timestamp>,
    /// A hook of this session arrived since it began to work: hooks are registered, and an end without a Stop was an Esc.
    pub hooks_reach_us: bool,
    /// Flightdeck's hooks went away at this time, during this turn. Its end may not be reported.
    #[serde(default)]
    pub away_since: Option<Timestamp>,
    /// Digests of the prompts that it has scheduled. The client sends them as if a person had typed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scheduled: Vec<u64>,
    /// Subagents that were launched in the background and have not been heard of yet, each with the subagent that launched it.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub launched: VecDeque<(AgentId, Option<AgentId>)>,
    /// When it last began to work after a rest, however often its activity has changed since. `None` while it rests.
    #[serde(default)]
    pub works_since: Option<Timestamp>,
}

impl MainAgent {
    pub(super) fn fresh() -> Self {
        Self {
            state: AgentState::Idle(IdleReason::Fresh),
            rule: Rule::Created,
            moved_by: 0,
            ledger: Ledger::default(),
            changed_at: Timestamp::default(),
            before_compaction: None,
            guessed_after: None,
            hooks_reach_us: false,
            away_since: None,
            scheduled: Vec::new(),
            launched: VecDeque::new(),
            works_since: None,
        }
    }

    /// Working, and no hook says on what. A hook that fired before the trigger may still say it.
    pub(super) fn guess(&mut self, trigger: Trigger, rule: Rule) {
        let before = self.changed_at;
        self.move_to(AgentState::Working(Activity::Thinking { after_tool: false }), rule, trigger);
        self.guessed_after = Some(before);
    }

    /// Whether a tool event fired before the registry entry and after everything else.
    pub(super) fn has_detail_for(&self, event: &Event) -> bool {
        use EventKind as K;
        let about_work = matches!(
            event.kind,
            K::ToolStarted(_) | K::ToolEnded { .. } | K::BatchEnded(_) | K::PermissionAsked(_)
        );
        about_work && self.guessed_after.is_some_and(|after| after < event.fired_at)
    }

    pub(super) fn move_to(&mut self, to: AgentState, rule: Rule, trigger: Trigger) {
        if to == AgentState::Working(Activity::Compacting) {
            self.before_compaction = Some(self.state.clone());
        }
        match (self.state.is_working(), to.is_working()) {
            (_, false) => self.works_since = None,
            (false, true) => self.works_since = Some(trigger.at),
            (true, true) => {}
        }
        self.state = to;
        self.rule = rule;
        self.moved_by = trigger.seq;
        self.guessed_after = self.guessed_after.filter(|_| trigger.at < self.changed_at).map(|_| trigger.at);
        self.changed_at = self.changed_at.max(trigger.at);
    }

    pub(super) fn tool_in_use(&self) -> Option<String> {
        match &self.state {
            AgentState::Working(Activity::Tool { name, .. }) => Some(name.clone()),
            _ => None,
        }
    }
}
