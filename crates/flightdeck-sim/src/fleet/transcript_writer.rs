//! Writes the transcripts of a fleet as the client does: prompts, answers with their usage, tool results.
//!
//! The lines are the client's own (`templates/transcript.jsonl`, cut from the corpus) with the texts of the event;
//! only the token counts are invented.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{SeatProject, SimEvent};
use crate::Map;
use crate::rng::Rng;
use crate::transcripts::iso;

const LINES: &str = include_str!("../../templates/transcript.jsonl");

/// Tokens of instructions, tools and the first files of a project.
const FIRST_TOKENS: RangeInclusive<u64> = 16_000..=90_000;
/// Tokens that a prompt or a tool result adds.
const ADDED_TOKENS: RangeInclusive<u64> = 300..=9_000;
const ANSWER_TOKENS: RangeInclusive<u64> = 60..=2_400;
/// The client compacts before the context window is full.
const CONTEXT_TOKENS_MAX: u64 = 900_000;
const COMPACTED_TOKENS: u64 = 24_000;

/// The transcript files, and the state of each.
#[derive(Debug)]
pub struct TranscriptWriter {
    projects: PathBuf,
    places: Vec<SeatProject>,
    /// By session, then by subagent; `""` is the main agent.
    files: BTreeMap<(String, String), Writing>,
    lines: Lines,
}

/// One captured line of each kind.
#[derive(Clone, Debug)]
struct Lines {
    prompt: Value,
    call: Value,
    result: Value,
    answer: Value,
}

#[derive(Debug)]
struct Writing {
    path: PathBuf,
    model: String,
    context: u64,
    /// The context is in the model's cache.
    cached: bool,
    last_uuid: Value,
    rng: Rng,
}

impl TranscriptWriter {
    /// Writes below `config_dir`, which stands for the client's folder.
    pub fn new(config_dir: impl Into<PathBuf>, places: Vec<SeatProject>) -> Self {
        let projects = config_dir.into().join("projects");
        Self { projects, places, files: BTreeMap::new(), lines: Lines::embedded() }
    }

    /// Writes the lines that the client would have written before this event, and adds the file's path to the event.
    pub fn write(&mut self, event: &mut SimEvent) -> io::Result<()> {
        let main = self.file(event, "");
        let (path, model) = (main.path.to_string_lossy().into_owned(), main.model.clone());
        event.payload.insert("transcript_path".into(), path.into());
        let agent = text(&event.payload, "agent_id").to_owned();
        let lines = self.lines.clone();
        let branch = self.places.iter().find(|place| place.cwd == text(&event.payload, "cwd"));
        let branch = branch.map_or_else(String::new, |place| place.branch.clone());
        let file = self.file(event, &agent);
        if !agent.is_empty() {
            file.model = model;
        }
        if let Some(mut line) = file.next_line(&event.payload, lines) {
            line["gitBranch"] = branch.into();
            file.stamp(&mut line, event, &agent);
            file.append(&line)?;
        }
        if name(&event.payload) == "SessionEnd" {
            self.files.retain(|(session, _), _| *session != event.session_id);
        }
        Ok(())
    }

    fn file(&mut self, event: &SimEvent, agent: &str) -> &mut Writing {
        let projects = &self.projects;
        self.files.entry((event.session_id.clone(), agent.to_owned())).or_insert_with(|| {
            let cwd = text(&event.payload, "cwd");
            let slug: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let (folder, id) = (projects.join(slug), &event.session_id);
            let path = match agent {
                "" => folder.join(format!("{id}.jsonl")),
                agent => folder.join(id).join("subagents").join(format!("agent-{agent}.jsonl")),
            };
            Writing::new(path, id.bytes().chain(agent.bytes()))
        })
    }
}

impl Writing {
    /// The random numbers follow from the id, so that a session has the same usage in every run.
    fn new(path: PathBuf, id: impl Iterator<Item = u8>) -> Self {
        let seed = id.fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut rng = Rng::new(seed);
        let context = rng.skewed(*FIRST_TOKENS.start(), *FIRST_TOKENS.end());
        Self { path, model: String::new(), context, cached: false, last_uuid: Value::Null, rng }
    }

    /// The line that the client writes for an event. `None` if it writes none that readers of transcripts need.
    fn next_line(&mut self, payload: &Map, lines: Lines) -> Option<Value> {
        match name(payload) {
            "SessionStart" if payload.contains_key("model") => {
                text(payload, "model").clone_into(&mut self.model);
                None
            }
            "PostModelSwitch" => {
                text(payload, "to_model").clone_into(&mut self.model);
                None
            }
            "PostCompact" => {
                self.context = COMPACTED_TOKENS;
                None
            }
            // The client's own messages are not prompts of a person.
            "UserPromptSubmit" if !text(payload, "prompt").starts_with('<') => {
                let mut line = lines.prompt;
                line["message"]["content"] = payload["prompt"].clone();
                Some(line)
            }
            "PreToolUse" => {
                let mut call = lines.call["message"]["content"][0].clone();
                call["id"] = payload["tool_use_id"].clone();
                call["name"] = payload["tool_name"].clone();
                call["input"] = payload["tool_input"].clone();
                Some(self.answered(lines.call, call))
            }
            "Stop" | "SubagentStop" => {
                let said = json!({"type": "text", "text": payload.get("last_assistant_message")});
                Some(self.answered(lines.answer, said))
            }
            "PostToolUse" | "PostToolUseFailure" => {
                let mut line = lines.result;
                let failed = payload.get("error");
                let result = &mut line["message"]["content"][0];
                result["tool_use_id"] = payload["tool_use_id"].clone();
                result["content"] = failed.cloned().unwrap_or_else(|| "done".into());
                result["is_error"] = failed.is_some().into();
                line["toolUseResult"] = payload.get("tool_response").or(failed).cloned().unwrap_or_default();
                Some(line)
            }
            _ => None,
        }
    }

    /// One model call: it reads the whole context; the part since the last call is new in the cache.
    fn answered(&mut self, mut line: Value, block: Value) -> Value {
        let added = self.rng.skewed(*ADDED_TOKENS.start(), *ADDED_TOKENS.end());
        let (read, new) = if self.cached { (self.context, added) } else { (0, self.context) };
        self.cached = true;
        let said = self.rng.skewed(*ANSWER_TOKENS.start(), *ANSWER_TOKENS.end());
        self.context = read + new + said;
        if self.context > CONTEXT_TOKENS_MAX {
            self.context = COMPACTED_TOKENS;
        }
        let message = &mut line["message"];
        message["id"] = format!("msg_{}", self.rng.hex(24)).into();
        // A session that replaced another names no model; it uses the default one.
        if !self.model.is_empty() {
            message["model"] = self.model.as_str().into();
        }
        message["content"] = json!([block]);
        let usage = &mut message["usage"];
        usage["cache_read_input_tokens"] = read.into();
        usage["cache_creation_input_tokens"] = new.into();
        usage["cache_creation"] = json!({"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": new});
        usage["output_tokens"] = said.into();
        line["requestedModel"] = message["model"].clone();
        line["requestId"] = format!("req_{}", self.rng.hex(24)).into();
        line
    }

    fn stamp(&mut self, line: &mut Value, event: &SimEvent, agent: &str) {
        let uuid = Value::from(self.rng.uuid());
        line["parentUuid"] = std::mem::replace(&mut self.last_uuid, uuid.clone());
        line["uuid"] = uuid;
        line["timestamp"] = iso(event.fired_ms.try_into().unwrap_or(0)).into();
        line["sessionId"] = event.session_id.as_str().into();
        line["cwd"] = event.payload.get("cwd").cloned().unwrap_or_default();
        if !agent.is_empty() {
            line["isSidechain"] = true.into();
            line["agentId"] = agent.into();
        }
    }

    fn append(&self, line: &Value) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        OpenOptions::new().create(true).append(true).open(&self.path)?.write_all(&bytes)
    }
}

impl Lines {
    #[expect(clippy::expect_used, reason = "the text is part of the binary and a test parses it")]
    fn embedded() -> Self {
        let mut lines =
            LINES.lines().map(|line| serde_json::from_str(line).expect("templates/transcript.jsonl"));
        let mut next = || lines.next().expect("templates/transcript.jsonl has four lines");
        Self { prompt: next(), call: next(), result: next(), answer: next() }
    }
}

fn name(payload: &Map) -> &str {
    text(payload, "hook_event_name")
}

fn text<'a>(payload: &'a Map, key: &str) -> &'a str {
    payload.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{FleetConfig, SimFleet};
    use super::*;
    use crate::corpus;

    /// The first line of each kind in one capture, without the values of that run.
    fn first_lines() -> String {
        let scenario = corpus::scenarios().into_iter().find(|s| s.name == "perm_accept").unwrap();
        let text = fs::read_to_string(&scenario.transcripts[0]).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let first = |is: &dyn Fn(&Value) -> bool| lines.iter().find(|line| is(line)).unwrap().clone();
        let block = |line: &Value| line["message"]["content"][0]["type"].clone();
        let kinds = [
            first(&|l| l["type"] == "user" && l["message"]["content"].is_string()),
            first(&|l| block(l) == "tool_use"),
            first(&|l| block(l) == "tool_result"),
            first(&|l| block(l) == "text" && l["message"]["stop_reason"] == "end_turn"),
        ];
        kinds.into_iter().map(|line| serde_json::to_string(&blank(line)).unwrap() + "\n").collect()
    }

    fn blank(mut line: Value) -> Value {
        const OF_THE_RUN: [&str; 12] = [
            "promptId",
            "uuid",
            "parentUuid",
            "timestamp",
            "cwd",
            "sessionId",
            "session_id",
            "gitBranch",
            "requestId",
            "requestRef",
            "sourceToolAssistantUUID",
            "toolUseResult",
        ];
        for key in OF_THE_RUN {
            if let Some(value) = line.get_mut(key) {
                *value = Value::Null;
            }
        }
        let message = &mut line["message"];
        if message.get("id").is_some() {
            message["id"] = Value::Null;
        }
        match &mut message["content"] {
            Value::Array(blocks) => {
                for (key, value) in blocks.iter_mut().filter_map(Value::as_object_mut).flatten() {
                    if key != "type" {
                        *value = Value::Null;
                    }
                }
            }
            said => *said = Value::Null,
        }
        line
    }

    #[test]
    fn the_embedded_lines_are_what_the_corpus_gives() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/transcript.jsonl");
        if std::env::var_os("UPDATE_TEMPLATES").is_some() {
            fs::write(path, first_lines()).unwrap();
        }
        let stale =
            "templates/transcript.jsonl is stale: run UPDATE_TEMPLATES=1 cargo test -p flightdeck-sim";
        assert!(fs::read_to_string(path).unwrap() == first_lines(), "{stale}");
    }

    #[test]
    fn every_session_with_an_answer_has_a_transcript_that_its_events_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut fleet = SimFleet::new(FleetConfig { sessions: 12, ..FleetConfig::default() });
        let mut writer = TranscriptWriter::new(dir.path(), fleet.places());
        let (mut answers, mut agents) = (0, 0);
        for mut event in fleet.by_ref().take(3_000) {
            writer.write(&mut event).unwrap();
            let stop = name(&event.payload) == "Stop";
            if !stop {
                agents += usize::from(name(&event.payload) == "SubagentStop");
                continue;
            }
            answers += 1;
            let file = fs::read_to_string(text(&event.payload, "transcript_path")).unwrap();
            let last: Value = serde_json::from_str(file.lines().next_back().unwrap()).unwrap();
            assert_eq!(last["message"]["content"][0]["text"], event.payload["last_assistant_message"]);
            assert_eq!(last["sessionId"], event.session_id);
            assert!(text(last["message"].as_object().unwrap(), "model").starts_with("claude-"), "{last}");
            assert!(last["message"]["usage"]["output_tokens"].as_u64() > Some(0));
        }
        assert!(answers > 20 && agents > 0, "{answers} {agents}");
    }
}
