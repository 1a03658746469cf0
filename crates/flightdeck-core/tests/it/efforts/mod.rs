//! Efforts: which one a session works on, the heartbeat, handoffs, injections and guard rules, as a fold over the log.

mod calls;
mod events;
mod guards;
mod handoff;
mod texts;
mod windows;

use flightdeck_core::effort::guard::GuardRule;
use flightdeck_core::effort::{
    Carries, EffortChange, EffortOpening, GivenByVerdict, Judged, SkillPhase, SkillSettings, WorkstreamAbout,
};
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::{EffortId, SeatName};
use flightdeck_core::limits::{EFFORT_ENDED_WINDOWS_MAX, INJECTION_CHARS_MAX};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::hook_question::hook_question;
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::view::effort::EffortCard;
use serde_json::{Map, Value, json};

use crate::script::{at_seconds, card, record};

/// A fleet, and every record that was applied to it.
struct Case {
    fleet: Fleet,
    log: Vec<Record>,
    seconds: u32,
}

impl Case {
    fn new() -> Self {
        Self { fleet: Fleet::new(FoldSettings::default()), log: Vec::new(), seconds: 0 }
    }

    fn append(&mut self, mut record: Record) -> Vec<Effect> {
        self.seconds += 1;
        record.seq = self.log.len() as u64 + 1;
        stamp(&mut record, at_seconds(&self.seconds.to_string()), self.fleet.now());
        self.log.push(record.clone());
        self.fleet.apply(&Event::from_record(&record))
    }

    /// A change of an effort, if the fleet accepts it.
    fn change(&mut self, subject: Subject, change: EffortChange) -> Result<(), String> {
        let id = EventId(1000 + self.log.len() as u128);
        let (name, payload) = change.into_record().unwrap();
        let record = Record::noticed_here(Source::User, &name, subject, payload, id);
        self.fleet
            .check_effort_change(&Event::from_record(&record))
            .map_err(|refused| refused.to_string())?;
        self.append(record);
        Ok(())
    }

    fn start_with(&mut self, dir: &str, seat: Option<&str>, settings: SkillSettings) -> EffortId {
        let id = EffortId::new(format!("e-{}", EventId(1000 + self.log.len() as u128)));
        let opening = EffortOpening {
            workstream: dir.to_owned(),
            skill: "implement".to_owned(),
            mode: None,
            seat: seat.map(SeatName::from),
            title: None,
            settings,
            about: WorkstreamAbout::default(),
            metadata: Map::new(),
        };
        self.change(Subject::Effort(id.clone()), EffortChange::EffortStarted(opening)).unwrap();
        id
    }

    fn start(&mut self, dir: &str) -> EffortId {
        self.start_with(dir, None, SkillSettings::default())
    }

    fn on(&mut self, id: &EffortId, change: EffortChange) -> Result<(), String> {
        self.change(Subject::Effort(id.clone()), change)
    }

    /// A hook of session `session`, and what it is answered.
    fn hook(&mut self, session: &str, name: &str, fields: Value) -> Option<Judged> {
        self.hook_with(session, name, fields, json!({}), |_| {})
    }

    fn hook_with(
        &mut self,
        session: &str,
        name: &str,
        fields: Value,
        env: Value,
        edit: impl FnOnce(&mut Record),
    ) -> Option<Judged> {
        let mut payload = Map::from_iter([
            ("session_id".to_owned(), json!(session)),
            ("cwd".to_owned(), json!("/w/api/src")),
            ("hook_event_name".to_owned(), json!(name)),
        ]);
        payload.extend(fields.as_object().unwrap().clone());
        let env = env.as_object().unwrap().clone();
        let n = self.log.len() as u64 + 1;
        let mut hook = record(payload, env, n, at_seconds(&self.seconds.to_string()), self.fleet.now());
        edit(&mut hook);
        let question = hook_question(&hook, "flightdeck");
        self.append(hook);
        self.fleet.judge(&question?)
    }

    fn call(&mut self, session: &str, id: &str) -> Option<Judged> {
        self.hook(session, "PreToolUse", bash(id, "cargo test"))
    }

    /// The hook has the verdict.
    fn written(&mut self, judged: &Judged) {
        self.written_given(judged.given.clone());
    }

    fn written_given(&mut self, given: GivenByVerdict) {
        self.change(Subject::Session("s".into()), EffortChange::VerdictGiven(given)).unwrap();
    }

    fn card(&self, id: &EffortId) -> EffortCard {
        EffortCard::new(self.fleet.effort(id).unwrap(), Some(&self.fleet))
    }
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id})
}

fn rule(json: Value) -> GuardRule {
    serde_json::from_value(json).unwrap()
}

fn denied(judged: Option<Judged>) -> Option<String> {
    judged.unwrap().verdict.deny
}

/// The length of the context that the client gets.
fn context_chars(judged: &Judged) -> usize {
    let json = judged.verdict.to_json(judged.event.as_str()).unwrap();
    json["hookSpecificOutput"]["additionalContext"].as_str().unwrap().chars().count()
}

fn ended_call(id: &str) -> Value {
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": "x"})
}
