//! Makes `templates/episodes.jsonl` from the corpus. Runs only as a test, which fails if the file is stale;
//! `UPDATE_TEMPLATES=1 cargo test -p flightdeck-sim` writes it.

use std::ops::Range;

use serde_json::Value;

use super::template::{Template, TemplateRole, TemplateStep, Wait};
use crate::Map;
use crate::corpus::{self, HookRecord};

/// Longest text kept from a capture: enough to recognise it.
const TEXT_CHARS_MAX: usize = 600;

/// name, role, scenario, hooks (by their index in it)
const CUTS: &[(&str, TemplateRole, &str, Range<usize>)] = &[
    ("start", TemplateRole::Start, "tui_simple", 0..2),
    ("start_instructions_first", TemplateRole::Start, "plan", 0..2),
    ("prompt", TemplateRole::Prompt, "tui_simple", 2..3),
    ("command", TemplateRole::Work, "hot_reload", 1..4),
    ("command_async_hooks", TemplateRole::Work, "async_hooks", 3..6),
    ("two_commands_at_once", TemplateRole::Work, "async_hooks", 10..15),
    ("write_then_edit", TemplateRole::Work, "print_tools", 47..53),
    ("command_fails", TemplateRole::Work, "tool_fail", 3..6),
    ("two_reads_one_fails", TemplateRole::Work, "tool_fail", 8..13),
    ("permission_yes", TemplateRole::Work, "permhook", 24..28),
    ("permission_yes_after_reminder", TemplateRole::Work, "perm_accept", 3..8),
    ("permission_no_with_message", TemplateRole::Work, "permhook", 9..12),
    ("two_permissions_in_turn", TemplateRole::Work, "tui_simple", 15..22),
    ("two_permissions_at_once", TemplateRole::Work, "perm_parallel", 3..10),
    ("question", TemplateRole::Work, "ask", 3..8),
    ("plan", TemplateRole::Work, "plan", 3..10),
    ("todos", TemplateRole::Work, "tasks", 3..21),
    ("stop", TemplateRole::Stop, "tui_simple", 3..4),
    ("stop_server_error", TemplateRole::Stop, "api_errors_tui", 3..4),
    ("stop_rate_limit", TemplateRole::Stop, "api_errors_tui", 7..8),
    ("subagent", TemplateRole::Turn, "subagent", 2..14),
    ("two_subagents", TemplateRole::Turn, "subagent", 14..35),
    ("permission_refused", TemplateRole::Cut, "perm_deny", 3..5),
    ("interrupted_tool", TemplateRole::Cut, "esc_tool", 3..4),
    ("compact", TemplateRole::Between, "compact", 8..12),
    ("model_switch", TemplateRole::Between, "misc_events", 6..8),
    ("idle_reminder", TemplateRole::Reminder, "idle", 4..5),
    ("clear", TemplateRole::Clear, "clear", 4..6),
    ("exit", TemplateRole::Exit, "tui_simple", 24..25),
    ("exit_other", TemplateRole::Exit, "print_simple", 4..5),
];

#[test]
fn the_embedded_pieces_are_what_the_corpus_gives() {
    let cut: String =
        CUTS.iter().map(|c| serde_json::to_string(&template_from_capture(c)).unwrap() + "\n").collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/episodes.jsonl");
    if std::env::var_os("UPDATE_TEMPLATES").is_some() {
        std::fs::write(path, &cut).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(
        kept == cut,
        "templates/episodes.jsonl is stale: run UPDATE_TEMPLATES=1 cargo test -p flightdeck-sim"
    );
}

#[test]
fn nothing_of_the_captured_machine_is_left() {
    let text: String =
        CUTS.iter().map(|c| serde_json::to_string(&template_from_capture(c)).unwrap()).collect();
    for trace in ["/home/dev", "SCRIPT:", "127.0.0.1", "toolu_", "stub", "lab project"] {
        assert!(
            !text.contains(trace),
            "{trace} in {:?}",
            text.split(trace).nth(1).map(|t| &t[..80.min(t.len())])
        );
    }
}

fn template_from_capture((name, role, from, range): &(&str, TemplateRole, &str, Range<usize>)) -> Template {
    let scenario = corpus::scenario(from);
    let hooks = scenario.hooks.clone();
    let keys = TextKeys::from_hooks(&hooks[range.clone()]);
    let step = |n: usize| TemplateStep {
        wait: if n == 0 { Wait::Client } else { wait(hooks[..n].iter().rev(), &hooks[n]) },
        gap_ms: if n == 0 { 0 } else { u64::try_from(hooks[n].t_ms - hooks[n - 1].t_ms).unwrap_or(0) },
        payload: keys.keyed_payload(&hooks[n].event),
    };
    let steps = range.clone().filter(|n| hooks[*n].name() != "MessageDisplay").map(step).collect();
    Template { name: (*name).to_owned(), role: *role, from: (*from).to_owned(), steps }
}

/// What the session waited for before `now`, from the earlier hooks of the same agent.
fn wait<'a>(before: impl Iterator<Item = &'a HookRecord>, now: &HookRecord) -> Wait {
    let agent = |h: &HookRecord| h.event.get("agent_id").cloned();
    let mut before = before.filter(|h| h.session_id() == now.session_id() && agent(h) == agent(now));
    let previous = before.next().map(HookRecord::name).unwrap_or_default();
    let typed = !now.event.get("prompt").and_then(Value::as_str).is_some_and(|p| p.starts_with("<task-"));
    match (previous, now.name()) {
        (_, "UserPromptSubmit") if typed => Wait::NextPrompt,
        (_, "PreCompact" | "PreModelSwitch") => Wait::NextPrompt,
        (_, "SessionEnd") => Wait::NextPrompt,
        ("PermissionRequest", "Notification" | "PermissionRequest") => Wait::Client,
        ("PermissionRequest" | "Notification", _) => Wait::Answer,
        ("PreModelSwitch", "PostModelSwitch") => Wait::Answer,
        // Two at once, the second answered after the first.
        ("PostToolUse", "PostToolUse") if now.event.get("tool_name").is_some_and(|t| t == "Read") => {
            Wait::Answer
        }
        ("PreToolUse", "PostToolUse" | "PostToolUseFailure") if takes_time(now) => Wait::Tool,
        ("UserPromptSubmit" | "PostToolBatch", "PreToolUse" | "Stop" | "StopFailure" | "SubagentStop") => {
            Wait::Model
        }
        ("PreCompact", _) | ("", "PreToolUse") => Wait::Model,
        _ => Wait::Client,
    }
}

fn takes_time(hook: &HookRecord) -> bool {
    hook.event
        .get("tool_name")
        .and_then(Value::as_str)
        .is_some_and(|t| t != "Agent" && !t.starts_with("Task"))
}

/// The texts of a capture and the keys that replace them.
#[derive(Default)]
struct TextKeys {
    /// A string that is equal to the first text becomes the second.
    whole: Vec<(String, String)>,
    /// The first text becomes the second wherever it occurs.
    part: Vec<(String, String)>,
}

/// The string at a JSON pointer of an event.
fn text_at(event: &Value, pointer: &str) -> Option<String> {
    event.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

impl TextKeys {
    fn from_hooks(hooks: &[HookRecord]) -> Self {
        let mut keys = Self::default();
        keys.add_ids(hooks);
        for hook in hooks {
            keys.add_texts(&hook.event);
        }
        let fixed = [
            ("Which database should we use?", "{{question}}"),
            ("script-plan-something-happy-gem", "{{plan_name}}"),
            (" If it persists, check your inference gateway (127.0.0.1:34965).", ""),
            ("stub rate limit", "This request would exceed your account's rate limit"),
            ("keep the numbers", "keep the open questions"),
            ("A lab project.", "A project."),
            ("-home-dev-work-demo", "{{slug}}"),
            ("/home/dev/work/demo", "{{cwd}}"),
            ("/home/dev", "{{home}}"),
        ];
        keys.part.extend(fixed.map(|(old, new)| (old.to_owned(), new.to_owned())));
        keys
    }

    fn add_ids(&mut self, hooks: &[HookRecord]) {
        for hook in hooks {
            let id = |key: &str| hook.event.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.add_id(&id("session_id"), &["{{session}}", "{{next_session}}"]);
            self.add_id(&id("prompt_id"), &["{{prompt_id}}", "{{prompt_id.2}}", "{{prompt_id.3}}"]);
            self.add_id(&id("tool_use_id"), &CALLS);
            self.add_id(&id("agent_id"), &["{{agent.1.id}}", "{{agent.2.id}}"]);
        }
    }

    /// Replaces a new id by the next free key of `keys`.
    fn add_id(&mut self, id: &str, keys: &[&str]) {
        if id.is_empty() || self.part.iter().any(|(old, _)| old == id) {
            return;
        }
        let used = |key: &&&str| self.part.iter().any(|(_, new)| new == *key);
        let free = keys.iter().find(|k| !used(k)).expect("more ids in one piece than keys");
        self.part.push((id.to_owned(), (*free).to_owned()));
    }

    fn add_texts(&mut self, event: &Map) {
        let event = Value::Object(event.clone());
        self.add_call_texts(&event);
        self.add_messages(&event);
    }

    /// The texts of a tool call and of its result.
    fn add_call_texts(&mut self, event: &Value) {
        let text = |pointer: &str| text_at(event, pointer);
        let call = self.subject_of(text("/tool_use_id"));
        let tool = text("/tool_name").unwrap_or_default();
        let input = |key: &str| text(&format!("/tool_input/{key}"));
        match tool.as_str() {
            "Bash" => {
                for key in ["command", "description"] {
                    self.replace_whole(input(key), format!("{{{{{call}.{key}}}}}"));
                }
                self.replace_whole(text("/tool_response/stdout"), format!("{{{{{call}.stdout}}}}"));
                self.replace_whole(text("/error"), format!("{{{{{call}.error}}}}"));
            }
            "Read" | "Write" | "Edit" if !input("file_path").is_some_and(|p| p.contains("/plans/")) => {
                for key in ["file_path", "content", "old_string", "new_string"] {
                    self.replace_whole(input(key), format!("{{{{{call}.{key}}}}}"));
                }
                self.replace_whole(text("/tool_response/file/content"), format!("{{{{{call}.content}}}}"));
            }
            "Agent" => {
                let n = call.rsplit('.').next().unwrap_or_default().to_owned();
                self.replace_part(input("description"), format!("{{{{agent.{n}.description}}}}"));
                self.replace_whole(input("prompt"), format!("{{{{agent.{n}.prompt}}}}"));
            }
            "TaskCreate" => {
                let n = if self.part.iter().any(|(_, new)| new == "{{todo.1}}") { "2" } else { "1" };
                if !self.part.iter().any(|(old, _)| Some(old) == input("subject").as_ref()) {
                    self.replace_part(input("subject"), format!("{{{{todo.{n}}}}}"));
                    self.replace_whole(input("activeForm"), format!("{{{{todo.{n}.active}}}}"));
                    self.replace_whole(input("description"), format!("{{{{todo.{n}.why}}}}"));
                }
            }
            "AskUserQuestion" => {
                self.replace_whole(text("/tool_input/questions/0/header"), "{{question.header}}".into());
                for (n, place) in [("1", "0"), ("2", "1")] {
                    let option = |key: &str| text(&format!("/tool_input/questions/0/options/{place}/{key}"));
                    self.replace_part(option("label"), format!("{{{{question.{n}}}}}"));
                    self.replace_whole(option("description"), format!("{{{{question.{n}.why}}}}"));
                }
            }
            "ExitPlanMode" => self.replace_part(input("plan"), "{{plan}}".into()),
            _ => {}
        }
    }

    /// What the person and the agents wrote.
    fn add_messages(&mut self, event: &Value) {
        let text = |pointer: &str| text_at(event, pointer);
        let name = text("/hook_event_name").unwrap_or_default();
        let said = text("/last_assistant_message");
        match name.as_str() {
            "UserPromptSubmit" if !text("/prompt").is_some_and(|p| p.starts_with("<task-")) => {
                self.replace_whole(text("/prompt"), "{{say}}".into())
            }
            "Stop" => self.replace_whole(said, "{{answer}}".into()),
            "SubagentStop" if text("/agent_type").is_some_and(|t| t.is_empty()) => {
                self.replace_whole(said, "{{summary}}".into())
            }
            "SubagentStop" => {
                let agent = self.subject_of(text("/agent_id"));
                self.replace_part(said, format!("{{{{{agent}.result}}}}"));
            }
            _ => {}
        }
    }

    /// The key of an id without `.id`: `call.1`, `agent.2`. Empty if the id is missing or unknown.
    fn subject_of(&self, id: Option<String>) -> String {
        let key = id.and_then(|id| self.key_of(&id)).unwrap_or_default();
        key.replace(".id}}", "").replace("{{", "")
    }

    fn key_of(&self, id: &str) -> Option<String> {
        self.part.iter().find(|(old, _)| old == id).map(|(_, new)| new.clone())
    }

    /// Replaces this text where a string is equal to it.
    fn replace_whole(&mut self, old: Option<String>, new: String) {
        if let Some(old) = old.filter(|o| !o.is_empty() && !self.whole.iter().any(|(seen, _)| seen == o)) {
            self.whole.push((old, new));
        }
    }

    /// Replaces this text wherever it occurs in a string.
    fn replace_part(&mut self, old: Option<String>, new: String) {
        if let Some(old) = old.filter(|o| !o.is_empty() && !self.part.iter().any(|(seen, _)| seen == o)) {
            self.part.push((old, new));
        }
    }

    /// The payload with keys in place of everything that belongs to the captured session.
    fn keyed_payload(&self, event: &Map) -> Map {
        let mut keyed: Map = event.iter().map(|(k, v)| (self.keyed_text(k), self.keyed_value(v))).collect();
        let mode = keyed.get_mut("permission_mode").filter(|m| *m == "default" || *m == "acceptEdits");
        if let Some(mode) = mode {
            *mode = "{{mode}}".into();
        }
        if keyed.get("hook_event_name").is_some_and(|n| n == "SessionStart") && keyed.contains_key("model") {
            keyed.insert("model".into(), "{{model}}".into());
        }
        keyed
    }

    fn keyed_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.keyed_text(text)),
            Value::Array(items) => items.iter().map(|i| self.keyed_value(i)).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(k, v)| (self.keyed_text(k), self.keyed_value(v))).collect())
            }
            other => other.clone(),
        }
    }

    fn keyed_text(&self, text: &str) -> String {
        if let Some((_, new)) = self.whole.iter().find(|(old, _)| old == text) {
            return new.clone();
        }
        let short = if text.chars().count() <= TEXT_CHARS_MAX || text.starts_with("<task-") {
            text.to_owned()
        } else {
            text.chars().take(TEXT_CHARS_MAX).collect::<String>() + "…"
        };
        self.part.iter().fold(short, |text, (old, new)| text.replace(old, new))
    }
}

const CALLS: [&str; 6] =
    ["{{call.1.id}}", "{{call.2.id}}", "{{call.3.id}}", "{{call.4.id}}", "{{call.5.id}}", "{{call.6.id}}"];
