//! The shape of a client's events, transcripts and registry, and the differences between two shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Name → field → the types that were recorded.
type Fields = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The client starts these hooks and exits without waiting for them: fewer than recorded may arrive.
const NOT_WAITED_FOR: [(&str, &str); 1] = [("print_errors", "StopFailure")];

/// Nested fields of transcript lines that are compared: token counts, and the result of a compaction.
const INSIDE_LINES: [&str; 4] =
    ["message", "message.usage", "message.usage.cache_creation", "compactMetadata"];
/// Fields of hooks whose content a tool or an MCP server decides; it is not compared.
const FREE_FORM: [&str; 4] = ["tool_input", "tool_response", "requested_schema", "content"];

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Shape {
    /// The events that the client's program lists.
    listed: BTreeSet<String>,
    /// Hook events; `PostToolUse Bash` holds the fields of that tool's response.
    events: Fields,
    /// Transcript lines by `type` and `subtype`.
    lines: Fields,
    /// The live registry; `status` values are under `status=…`.
    registry: Fields,
    /// Scenario → event → count.
    counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Shape {
    /// A shape of which only the listed events are known.
    pub(super) fn of_client(listed: Option<BTreeSet<String>>) -> Self {
        Self { listed: listed.unwrap_or_default(), ..Self::default() }
    }

    /// Listed events that no scenario triggered.
    pub(super) fn unseen(&self) -> Vec<String> {
        self.listed.iter().filter(|name| !self.events.contains_key(*name)).cloned().collect()
    }

    /// Adds the recordings of one lab.
    pub(super) fn learn(&mut self, scenario: &str, lab: &Path) -> Result<()> {
        // A scenario without events counts as played too.
        self.counts.entry(scenario.to_owned()).or_default();
        for payload in documents(&lab.join("hooks"))? {
            self.learn_hook(scenario, &payload);
        }
        for entry in documents(&lab.join("registry"))? {
            learn(&mut self.registry, "entry", &entry, |_| false);
            let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
            self.registry
                .entry(format!("status={} waitingFor={}", word("status"), word("waitingFor")))
                .or_default();
        }
        let mut transcripts = Vec::new();
        files(&lab.join("home/.claude/projects"), "jsonl", &mut transcripts);
        for text in transcripts.iter().filter_map(|path| fs::read_to_string(path).ok()) {
            let lines = text.lines().filter_map(|l| serde_json::from_str::<Map<String, Value>>(l).ok());
            lines.for_each(|line| self.learn_line(&line));
        }
        Ok(())
    }

    fn learn_line(&mut self, line: &Map<String, Value>) {
        let word = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = [word("type"), word("subtype")].into_iter().flatten().collect::<Vec<_>>().join(" ");
        learn(&mut self.lines, &kind, line, |path| INSIDE_LINES.contains(&path));
    }

    fn learn_hook(&mut self, scenario: &str, payload: &Map<String, Value>) {
        let word = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = word("hook_event_name");
        learn(&mut self.events, name, payload, |path| !path.contains('.') && !FREE_FORM.contains(&path));
        *self.counts.entry(scenario.to_owned()).or_default().entry(name.to_owned()).or_default() += 1;
        for part in ["tool_input", "tool_response"] {
            if let Some(Value::Object(fields)) = payload.get(part) {
                learn(&mut self.events, &format!("{name} {} {part}", word("tool_name")), fields, |_| false);
            }
        }
    }

    /// No changes if the client has no list.
    fn list_changes(&self, now: &Self) -> Vec<String> {
        if now.listed.is_empty() {
            return Vec::new();
        }
        let new = now.listed.difference(&self.listed).map(|n| format!("new event the client can send: {n}"));
        let gone =
            self.listed.difference(&now.listed).map(|n| format!("event the client no longer has: {n}"));
        new.chain(gone).collect()
    }

    #[cfg(test)]
    pub(super) fn unknown_events(&self) -> Vec<&str> {
        let listed = self.listed.iter().map(String::as_str);
        listed.filter(|name| flightdeck_core::wire::hook_name::HookName::parse(name).is_none()).collect()
    }

    #[cfg(test)]
    pub(super) fn has(&self, scenario: &str) -> bool {
        self.counts.contains_key(scenario)
    }

    /// Adds everything in `more`. Its scenarios replace older ones of the same name.
    pub(super) fn add(&mut self, more: Self) {
        let Self { listed, events, lines, registry, counts } = more;
        self.listed = listed;
        let parts = [(&mut self.events, events), (&mut self.lines, lines), (&mut self.registry, registry)];
        for (known, more) in parts {
            for (name, fields) in more {
                let known = known.entry(name).or_default();
                for (field, types) in fields {
                    known.entry(field).or_default().extend(types);
                }
            }
        }
        self.counts.extend(counts);
    }

    /// Keeps only these scenarios, for a partial run.
    pub(super) fn keep_scenarios(&mut self, named: &[String]) {
        if !named.is_empty() {
            self.counts.retain(|scenario, _| named.contains(scenario));
        }
    }

    /// What is new in `now`, and (after a full run) what is gone.
    pub(super) fn changes(&self, now: &Self, full: bool) -> Vec<String> {
        let mut changes = self.list_changes(now);
        let parts = [
            ("event", &self.events, &now.events),
            ("line", &self.lines, &now.lines),
            ("registry", &self.registry, &now.registry),
        ];
        for (what, old, new) in parts {
            compare(what, "new", new, old, &mut changes);
            if full {
                compare(what, "gone", old, new, &mut changes);
            }
        }
        let scenarios: BTreeSet<&String> = self.counts.keys().chain(now.counts.keys()).collect();
        for scenario in scenarios {
            let (old, new) = (self.counts.get(scenario), now.counts.get(scenario));
            let changed = count_changes(scenario, old, new);
            if !changed.is_empty() {
                changes.push(format!("scenario {scenario}: {changed}"));
            }
        }
        changes
    }
}

fn count_changes(
    scenario: &str,
    old: Option<&BTreeMap<String, usize>>,
    new: Option<&BTreeMap<String, usize>>,
) -> String {
    let (Some(old), Some(new)) = (old, new) else { return "played on one side only".into() };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let count = |of: &BTreeMap<String, usize>, name: &String| of.get(name).copied().unwrap_or(0);
    let differ = names.into_iter().filter(|n| match NOT_WAITED_FOR.contains(&(scenario, n.as_str())) {
        true => count(new, n) > count(old, n),
        false => count(new, n) != count(old, n),
    });
    differ.map(|n| format!("{n} {} → {}", count(old, n), count(new, n))).collect::<Vec<_>>().join(", ")
}

fn compare(what: &str, how: &str, has: &Fields, lacks: &Fields, changes: &mut Vec<String>) {
    for (name, fields) in has {
        let Some(others) = lacks.get(name) else {
            changes.push(format!("{how} {what} {name}"));
            continue;
        };
        for (field, types) in fields {
            let known = others.get(field).cloned().unwrap_or_default();
            let more: Vec<&str> = types.difference(&known).map(String::as_str).collect();
            if !more.is_empty() {
                changes.push(format!("{how} in {what} {name}: {field} ({})", more.join(", ")));
            }
        }
    }
}

/// Adds the fields of an object, and nested ones where `opens` is true: `effort.level`, `background_tasks[].id`.
fn learn(into: &mut Fields, name: &str, object: &Map<String, Value>, opens: fn(&str) -> bool) {
    learn_fields(into.entry(name.to_owned()).or_default(), "", object, opens);
}

fn learn_fields(
    fields: &mut BTreeMap<String, BTreeSet<String>>,
    prefix: &str,
    object: &Map<String, Value>,
    opens: fn(&str) -> bool,
) {
    for (key, value) in object {
        let path = format!("{prefix}{key}");
        fields.entry(path.clone()).or_default().insert(kind(value).to_owned());
        match value {
            Value::Object(inner) if opens(&path) => learn_fields(fields, &format!("{path}."), inner, opens),
            Value::Array(items) if opens(&path) => {
                let inner = items.iter().filter_map(Value::as_object);
                inner.for_each(|inner| learn_fields(fields, &format!("{path}[]."), inner, opens));
            }
            _ => {}
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The JSON objects in the files of a folder, by file name.
fn documents(folder: &Path) -> Result<Vec<Map<String, Value>>> {
    let mut paths = Vec::new();
    files(folder, "json", &mut paths);
    paths.sort();
    paths.iter().map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?)).collect()
}

fn files(folder: &Path, extension: &str, into: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, extension, into);
        } else if path.extension().is_some_and(|e| e == extension) {
            into.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shape(payloads: &[Value]) -> Shape {
        let mut shape = Shape::default();
        for payload in payloads {
            shape.learn_hook("turn", payload.as_object().unwrap());
        }
        shape
    }

    #[test]
    fn a_new_event_a_new_field_another_type_and_another_count_are_reported() {
        let old = shape(&[json!({"hook_event_name": "Stop", "n": 1, "gone": ""})]);
        let new = shape(&[json!({"hook_event_name": "Stop", "n": "1"}), json!({"hook_event_name": "Nap"})]);
        let told = old.changes(&new, true);
        let expected = [
            "new event Nap",
            "new in event Stop: n (string)",
            "gone in event Stop: gone (string)",
            "gone in event Stop: n (number)",
            "scenario turn: Nap 0 → 1",
        ];
        assert_eq!(told, expected);
        assert!(old.changes(&old, true).is_empty());
    }

    #[test]
    fn an_event_that_no_scenario_triggers_is_compared_by_the_clients_own_list() {
        let client = |names: &[&str]| Shape::of_client(Some(names.iter().map(|n| (*n).to_owned()).collect()));
        let told = client(&["Stop", "Rest"]).changes(&client(&["Stop", "Nap"]), false);
        assert_eq!(told, ["new event the client can send: Nap", "event the client no longer has: Rest"]);
        assert!(client(&["Stop"]).changes(&Shape::of_client(None), false).is_empty());
        assert_eq!(client(&["Stop"]).unseen(), ["Stop"]);
    }

    #[test]
    fn a_nested_field_that_is_new_or_gone_is_reported() {
        let line = |usage: Value| {
            let line = json!({"type": "assistant", "message": {"usage": usage, "content": [{"any": 1}]}});
            let mut shape = Shape::default();
            shape.learn_line(line.as_object().unwrap());
            shape
        };
        let told = line(json!({"input_tokens": 1})).changes(&line(json!({"tokens_in": 1})), true);
        let expected = [
            "new in line assistant: message.usage.tokens_in (number)",
            "gone in line assistant: message.usage.input_tokens (number)",
        ];
        assert_eq!(told, expected);

        let hook = |inner: Value| {
            let tool = json!({"any": inner});
            shape(&[
                json!({"hook_event_name": "Stop", "effort": inner, "tasks": [inner], "tool_input": tool}),
            ])
        };
        let told = hook(json!({"level": "low"})).changes(&hook(json!({"rank": 1})), true);
        let expected = [
            "new in event Stop: effort.rank (number)",
            "new in event Stop: tasks[].rank (number)",
            "gone in event Stop: effort.level (string)",
            "gone in event Stop: tasks[].level (string)",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn fewer_hooks_may_arrive_if_the_client_does_not_wait_and_more_are_reported() {
        let (scenario, event) = NOT_WAITED_FOR[0];
        let times = |of: &str, count: usize| Shape {
            counts: [(of.to_owned(), [(event.to_owned(), count)].into())].into(),
            ..Shape::default()
        };
        assert!(times(scenario, 3).changes(&times(scenario, 0), true).is_empty());
        let more = times(scenario, 3).changes(&times(scenario, 4), true);
        assert_eq!(more, [format!("scenario {scenario}: {event} 3 → 4")]);
        assert_eq!(times("turn", 3).changes(&times("turn", 2), true).len(), 1);
    }

    #[test]
    fn a_scenario_recorded_later_is_added_to_the_others() {
        let mut known = shape(&[json!({"hook_event_name": "Stop", "n": 1})]);
        let mut more = Shape::default();
        more.learn_hook("menu", json!({"hook_event_name": "Stop", "n": "1"}).as_object().unwrap());
        known.add(more);
        assert!(known.has("turn") && known.has("menu"));
        assert_eq!(known.events["Stop"]["n"].len(), 2);
    }
}
