//! The shape of what a client writes, and the difference of two.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Name → field → the types it was seen with.
type Fields = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The client starts these hooks and ends without waiting for them: as many as were recorded come, or fewer.
const NOT_WAITED_FOR: [(&str, &str); 1] = [("print_errors", "StopFailure")];

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Shape {
    /// Hook events; `PostToolUse Bash` holds the fields of that tool's response.
    events: Fields,
    /// Transcript lines by `type` and `subtype`.
    lines: Fields,
    /// The live registry; `status` values are under `status=…`.
    registry: Fields,
    /// Scenario → event → how often.
    counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Shape {
    /// Reads what a recorded lab left behind.
    pub(super) fn learn(&mut self, scenario: &str, lab: &Path) -> Result<()> {
        // One in which no event fired was played all the same.
        self.counts.entry(scenario.to_owned()).or_default();
        for payload in documents(&lab.join("hooks"))? {
            self.learn_hook(scenario, &payload);
        }
        for entry in documents(&lab.join("registry"))? {
            learn(&mut self.registry, "entry", &entry);
            let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
            self.registry
                .entry(format!("status={} waitingFor={}", word("status"), word("waitingFor")))
                .or_default();
        }
        let mut transcripts = Vec::new();
        files(&lab.join("home/.claude/projects"), "jsonl", &mut transcripts);
        for text in transcripts.iter().filter_map(|path| fs::read_to_string(path).ok()) {
            for line in text.lines().filter_map(|l| serde_json::from_str::<Map<String, Value>>(l).ok()) {
                let word = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
                let kind =
                    [word("type"), word("subtype")].into_iter().flatten().collect::<Vec<_>>().join(" ");
                learn(&mut self.lines, &kind, &line);
            }
        }
        Ok(())
    }

    fn learn_hook(&mut self, scenario: &str, payload: &Map<String, Value>) {
        let word = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = word("hook_event_name");
        learn(&mut self.events, name, payload);
        *self.counts.entry(scenario.to_owned()).or_default().entry(name.to_owned()).or_default() += 1;
        for part in ["tool_input", "tool_response"] {
            if let Some(Value::Object(fields)) = payload.get(part) {
                learn(&mut self.events, &format!("{name} {} {part}", word("tool_name")), fields);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn has(&self, scenario: &str) -> bool {
        self.counts.contains_key(scenario)
    }

    /// Everything that `more` has, beside what is known; its scenarios in place of older ones of their name.
    pub(super) fn add(&mut self, more: Self) {
        let Self { events, lines, registry, counts } = more;
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

    /// For a run of some scenarios only.
    pub(super) fn keep_scenarios(&mut self, named: &[String]) {
        if !named.is_empty() {
            self.counts.retain(|scenario, _| named.contains(scenario));
        }
    }

    /// What `now` has that this has not, and (after a full run) the other way round.
    pub(super) fn changes(&self, now: &Self, full: bool) -> Vec<String> {
        let mut changes = Vec::new();
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

fn learn(into: &mut Fields, name: &str, object: &Map<String, Value>) {
    let fields = into.entry(name.to_owned()).or_default();
    for (key, value) in object {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        fields.entry(key.clone()).or_default().insert(kind.to_owned());
    }
}

/// The JSON objects in the files of a folder, in order of their names.
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
    fn a_new_event_a_new_field_another_type_and_another_count_are_told() {
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
    fn of_a_hook_that_the_client_does_not_wait_for_fewer_may_come_and_more_are_told() {
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
    fn a_scenario_recorded_later_goes_beside_the_others() {
        let mut known = shape(&[json!({"hook_event_name": "Stop", "n": 1})]);
        let mut more = Shape::default();
        more.learn_hook("menu", json!({"hook_event_name": "Stop", "n": "1"}).as_object().unwrap());
        known.add(more);
        assert!(known.has("turn") && known.has("menu"));
        assert_eq!(known.events["Stop"]["n"].len(), 2);
    }
}
