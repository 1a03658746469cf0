//! A transcript that grows: the weakest word. It discovers a session that neither hook nor registry told
//! of, as working; to any other it is a sign of life and nothing else.

use super::{Because, MainAgent, Session, Shown};
use crate::agent::{Activity, AgentState};
use crate::event::Event;
use crate::record::Source;
use crate::rules::Rule;

impl Session {
    pub(super) fn transcript_grew(&mut self, event: &Event) {
        self.started_at = self.started_at.min(event.fired_at);
        self.show_life(event);
        if self.transcript_path.is_none() {
            self.transcript_path.clone_from(&event.facts.transcript_path);
        }
        // The last lines are written after the end.
        if self.only_its_transcript_told() && !self.main.state.is_ended() {
            let working = AgentState::Working(Activity::Thinking { after_tool: false });
            self.main.move_to(working, Rule::TranscriptGrew, event.into());
            self.show(event.into(), true);
        }
    }

    fn only_its_transcript_told(&self) -> bool {
        self.shown.source == Source::Transcript
    }

    /// Whoever knows more begins anew, as if the transcript had come later: the order they come in must not show.
    pub(super) fn forget_the_transcripts_word(&mut self, event: &Event) {
        if self.only_its_transcript_told() && matches!(event.source, Source::Hook | Source::Registry) {
            self.main = MainAgent::fresh();
            self.shown = Shown {
                state: self.main.state.clone(),
                since: event.fired_at,
                after: Default::default(),
                source: event.source,
                because: Because { seq: event.seq, rule: Rule::Created },
            };
            self.history.clear();
        }
    }
}
