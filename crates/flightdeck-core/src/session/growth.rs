//! A growing transcript, the weakest source. It discovers a session that neither a hook nor the registry reported, as
//! working. For any other session it is only a sign of life.

use super::agent::{Activity, AgentState};
use super::main_agent::MainAgent;
use super::shown::{Shown, StateReason};
use super::state::Session;
use crate::log::event::Event;
use crate::log::record::Source;
use crate::rules::Rule;

impl Session {
    pub(super) fn transcript_grew(&mut self, event: &Event) {
        self.started_at = self.started_at.min(event.fired_at);
        self.record_activity(event);
        if self.transcript_path.is_none() {
            self.transcript_path.clone_from(&event.facts.transcript_path);
        }
        // The client writes the last lines after the session's end.
        if self.only_its_transcript_told() && !self.main.state.is_ended() {
            let working = AgentState::Working(Activity::Thinking { after_tool: false });
            self.main.move_to(working, Rule::TranscriptGrew, event.into());
            self.show(event.into(), true);
        }
    }

    fn only_its_transcript_told(&self) -> bool {
        self.shown.source == Source::Transcript
    }

    /// The first hook or registry entry replaces what the transcript implied, so the order of the sources does not matter.
    pub(super) fn forget_transcript_only_state(&mut self, event: &Event) {
        if self.only_its_transcript_told() && matches!(event.source, Source::Hook | Source::Registry) {
            self.main = MainAgent::fresh();
            self.shown = Shown {
                state: self.main.state.clone(),
                since: event.fired_at,
                after: Default::default(),
                source: event.source,
                because: StateReason { seq: event.seq, rule: Rule::Created },
            };
            self.history.clear();
        }
    }
}
