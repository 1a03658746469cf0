//! Pieces of captured sessions, and how a piece becomes the events of a new one.
//!
//! `templates/episodes.jsonl` is made from the corpus by `cut.rs` and embedded in the binary. Every id, path and text that
//! belonged to the captured session is a `{{key}}` there; the shape, the order and the gaps are the client's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::library::Job;
use crate::Map;
use crate::rng::Rng;

const EPISODES: &str = include_str!("../../templates/episodes.jsonl");

/// Where a piece fits into a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TemplateRole {
    Start,
    Prompt,
    /// Between a prompt and its stop.
    Work,
    Stop,
    /// A prompt, everything it causes, and its last stop.
    Turn,
    /// The turn ends here without an event: the person refused or interrupted.
    Cut,
    /// Between turns.
    Between,
    /// The person does not respond, and the client sends a reminder.
    Reminder,
    /// A new session replaces this one.
    Clear,
    Exit,
}

/// What takes the time before an event; it decides the length on a realistic day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wait {
    /// The client's own time: as captured.
    Client,
    Model,
    Tool,
    /// The person reads and answers.
    Answer,
    /// The person thinks of what to ask next.
    NextPrompt,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TemplateStep {
    pub(super) wait: Wait,
    /// Captured milliseconds since the event before.
    pub(super) gap_ms: u64,
    pub(super) payload: Map,
}

impl TemplateStep {
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.payload.get("hook_event_name").is_some_and(|n| n == name)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Template {
    pub(super) name: String,
    pub(super) role: TemplateRole,
    /// The scenario it was cut from.
    pub(super) from: String,
    pub(super) steps: Vec<TemplateStep>,
}

impl Template {
    /// Whether the person is asked before the tool runs. Then the tool should be one that needs a permission.
    pub(super) fn asks(&self) -> bool {
        self.steps.iter().any(|s| s.is_named("PermissionRequest"))
    }

    /// For a step that asks: the key of its call's id, which the request itself does not contain, and the captured decision.
    pub(super) fn request_at(&self, step: usize) -> Option<(&str, CapturedDecision)> {
        let request = &self.steps.get(step).filter(|s| s.is_named("PermissionRequest"))?.payload;
        let of_tool = |s: &&TemplateStep| s.payload.get("tool_name") == request.get("tool_name");
        let calls = self.steps[..step].iter().filter(|s| s.is_named("PreToolUse")).filter(of_tool);
        let same = |s: &&TemplateStep| s.payload.get("tool_input") == request.get("tool_input");
        let call =
            calls.clone().find(same).or_else(|| calls.clone().next_back())?.payload.get("tool_use_id")?;
        let ran = |s: &TemplateStep| s.is_named("PostToolUse") && s.payload.get("tool_use_id") == Some(call);
        let decision = match self.role {
            TemplateRole::Cut => CapturedDecision::Cut,
            _ if self.steps[step..].iter().any(ran) => CapturedDecision::Runs,
            _ => CapturedDecision::Refused,
        };
        Some((call.as_str()?.trim_matches(['{', '}']), decision))
    }

    /// The steps after the request, for a call that began in another capture.
    pub(super) fn after_request(&self) -> impl Iterator<Item = &TemplateStep> {
        self.steps.iter().skip_while(|s| !s.is_named("PermissionRequest")).skip(1)
    }
}

/// The captured person's decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CapturedDecision {
    /// Allowed: the call ran.
    Runs,
    /// Refused with a message: the turn continued without the call.
    Refused,
    /// Refused with Esc: the turn was over.
    Cut,
}

#[expect(clippy::expect_used, reason = "the text is part of the binary and a test parses it")]
pub(super) fn embedded() -> Vec<Template> {
    EPISODES.lines().map(|line| serde_json::from_str(line).expect("templates/episodes.jsonl")).collect()
}

/// Values for the keys of one episode. A missing value is chosen at random from the job and remembered, so that a command is the
/// same in PreToolUse, PermissionRequest and PostToolUse.
pub(super) struct Facts<'a> {
    pub(super) known: BTreeMap<String, String>,
    pub(super) rng: &'a mut Rng,
    pub(super) job: &'a Job,
    pub(super) asks: bool,
}

impl Facts<'_> {
    pub(super) fn fill(&mut self, payload: &Map) -> Map {
        payload.iter().map(|(key, value)| (self.fill_text(key), self.fill_value(value))).collect()
    }

    fn fill_value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(map) => Value::Object(self.fill(map)),
            other => other.clone(),
        }
    }

    fn fill_text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            let Some((key, after)) = after.split_once("}}") else {
                out.push_str("{{");
                rest = after;
                continue;
            };
            out.push_str(&self.value(key));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn value(&mut self, key: &str) -> String {
        if !self.known.contains_key(key) {
            self.draw(key);
        }
        self.known.get(key).cloned().unwrap_or_default()
    }

    /// Sets `key` and everything that must agree with it.
    fn draw(&mut self, key: &str) {
        let (subject, field) = key.rsplit_once('.').unwrap_or((key, ""));
        let job = self.job;
        match (subject.split('.').next().unwrap_or_default(), field) {
            ("prompt_id", _) => {
                let id = self.rng.uuid();
                self.learn(key, id);
            }
            ("call", "id") => {
                let id = format!("toolu_{}", self.rng.hex(24));
                self.learn(key, id);
            }
            ("agent", "id") => {
                let id = format!("a{}", self.rng.hex(16));
                self.learn(key, id);
            }
            ("agent", _) => {
                let task = self.rng.pick(job.repo.subagent_tasks);
                self.learn(&format!("{subject}.description"), task.description);
                self.learn(&format!("{subject}.prompt"), task.prompt);
                self.learn(&format!("{subject}.result"), task.result);
            }
            ("call", "command" | "description" | "stdout" | "error") => {
                let command =
                    self.rng.pick(if self.asks { job.repo.asking_commands } else { job.repo.commands });
                self.learn(&format!("{subject}.command"), command.line);
                self.learn(&format!("{subject}.description"), command.what);
                self.learn(&format!("{subject}.stdout"), command.output);
                self.learn(&format!("{subject}.error"), format!("Exit code 1\n{}", command.failure));
            }
            ("call", _) => {
                let file = self.rng.pick(job.repo.files);
                let root =
                    self.known.get(if self.asks { "home" } else { "cwd" }).cloned().unwrap_or_default();
                self.learn(&format!("{subject}.file_path"), format!("{root}/{}", file.path));
                self.learn(&format!("{subject}.content"), format!("{}\n{}\n", file.before, file.after));
                self.learn(&format!("{subject}.old_string"), file.before);
                self.learn(&format!("{subject}.new_string"), file.after);
            }
            _ => self.draw_text(key),
        }
    }

    fn draw_text(&mut self, key: &str) {
        let job = self.job;
        match key {
            "answer" => {
                let answer = *self.rng.pick(job.answers);
                self.learn(key, answer);
            }
            "plan" => self.learn(key, job.plan),
            "plan_name" => {
                let name = format!("{}-plan-{}", job.repo.name, self.rng.hex(6));
                self.learn(key, name);
            }
            "summary" => {
                self.learn(key, format!("<summary>\n1. Primary request: {}\n</summary>", job.prompts[0]))
            }
            _ if key.starts_with("question") => {
                let question = self.rng.pick(job.repo.questions);
                self.learn("question", question.text);
                self.learn("question.header", question.header);
                for (n, (label, why)) in question.options.iter().enumerate() {
                    self.learn(&format!("question.{}", n + 1), *label);
                    self.learn(&format!("question.{}.why", n + 1), *why);
                }
            }
            _ if key.starts_with("todo") => {
                for (n, (subject, active)) in job.todos.iter().enumerate() {
                    self.learn(&format!("todo.{}", n + 1), *subject);
                    self.learn(&format!("todo.{}.active", n + 1), *active);
                    self.learn(&format!("todo.{}.why", n + 1), job.prompts[0]);
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, key: &str, value: impl Into<String>) {
        self.known.entry(key.to_owned()).or_insert_with(|| value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_pieces_parse_and_stay_small() {
        assert!(EPISODES.len() <= 200_000, "{} bytes ride in the binary", EPISODES.len());
        assert!(embedded().iter().all(|t| !t.steps.is_empty()));
    }
}
