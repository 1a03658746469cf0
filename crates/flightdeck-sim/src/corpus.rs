//! The captures: what the real client sent, in the order a recorder received it, one folder per scenario.
//!
//! For tests of every crate; the product never reads them (the fake fleet contains its own excerpts).

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Map;

/// One run of the real client.
#[derive(Clone, Debug)]
pub struct CapturedScenario {
    pub name: String,
    /// In order of arrival.
    pub hooks: Vec<HookRecord>,
    pub registry: Vec<RegistryRecord>,
    /// Main and subagent transcripts, sorted.
    pub transcripts: Vec<PathBuf>,
    /// Input of the status line command, if the scenario had one.
    pub status_lines: Vec<Map>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct HookRecord {
    /// Milliseconds since 1970.
    pub t_ms: i64,
    /// The payload as the client wrote it.
    pub event: Map,
    /// The client's variables in the hook's environment; empty for http handlers.
    #[serde(default)]
    pub env: Map,
}

/// A change or removal of one process's registry file.
#[derive(Clone, Debug, Deserialize)]
pub struct RegistryRecord {
    pub t_ms: i64,
    /// `<pid>.json`
    pub file: String,
    pub content: Option<Map>,
}

impl HookRecord {
    pub fn name(&self) -> &str {
        text(&self.event, "hook_event_name")
    }

    pub fn session_id(&self) -> &str {
        text(&self.event, "session_id")
    }
}

impl CapturedScenario {
    /// The hooks of one session, in order.
    pub fn session(&self, session_id: &str) -> impl Iterator<Item = &HookRecord> {
        self.hooks.iter().filter(move |h| h.session_id() == session_id)
    }

    /// Session ids in order of first appearance.
    pub fn session_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for hook in &self.hooks {
            if !ids.contains(&hook.session_id()) {
                ids.push(hook.session_id());
            }
        }
        ids
    }
}

/// The folder of the captures in a source checkout.
pub fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Every scenario, by name.
#[expect(clippy::panic, reason = "only tests read the corpus, and a torn corpus must fail them loudly")]
pub fn scenarios() -> Vec<CapturedScenario> {
    let folders = match fs::read_dir(dir()) {
        Ok(entries) => entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()),
        Err(e) => panic!("cannot read the corpus at {}: {e}", dir().display()),
    };
    let mut all: Vec<CapturedScenario> = folders.map(|folder| read(&folder)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// One scenario by the name of its folder.
#[expect(clippy::panic, reason = "only tests read the corpus, and a misspelt name must fail them loudly")]
pub fn scenario(name: &str) -> CapturedScenario {
    let folder = dir().join(name);
    if !folder.is_dir() {
        panic!("no scenario {name} in {}", dir().display());
    }
    read(&folder)
}

/// The bytes of a transcript, as the client wrote them.
#[expect(clippy::panic, reason = "only tests read the corpus, and a missing file must fail them loudly")]
pub fn transcript(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()))
}

fn read(folder: &Path) -> CapturedScenario {
    let mut transcripts = Vec::new();
    collect_transcripts(&folder.join("transcripts"), &mut transcripts);
    transcripts.sort();
    CapturedScenario {
        name: folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        hooks: lines(&folder.join("hooks.jsonl")),
        registry: lines(&folder.join("sessions-registry.jsonl")),
        transcripts,
        status_lines: lines(&folder.join("statusline.jsonl")),
    }
}

/// A missing file is an empty list: not every scenario recorded all kinds.
#[expect(clippy::panic, reason = "only tests read the corpus, and a torn line must fail them loudly")]
fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let parse = |(number, line): (usize, &str)| match serde_json::from_str(line) {
        Ok(record) => record,
        Err(e) => panic!("{}:{}: {e}", path.display(), number + 1),
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}

fn collect_transcripts(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_transcripts(&path, into);
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            into.push(path);
        }
    }
}

fn text<'a>(map: &'a Map, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_has_named_hooks_in_order_of_arrival() {
        let all = scenarios();
        assert_eq!(all.len(), 34);
        for s in &all {
            assert!(!s.hooks.is_empty(), "{}", s.name);
            assert!(s.hooks.iter().all(|h| !h.name().is_empty() && !h.session_id().is_empty()), "{}", s.name);
            assert!(s.hooks.is_sorted_by_key(|h| h.t_ms) || s.name == "http_hooks", "{}", s.name);
        }
    }

    #[test]
    fn a_scenario_tells_its_sessions_apart() {
        let clear = scenario("clear");
        let ids = clear.session_ids();
        assert_eq!(ids.len(), 2);
        assert_eq!(clear.session(ids[1]).map(HookRecord::name).next(), Some("SessionStart"));
        assert!(clear.registry.iter().any(|r| r.content.is_none()));
        assert_eq!(scenario("subagent").transcripts.len(), 4);
    }
}
