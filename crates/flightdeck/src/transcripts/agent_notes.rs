//! The client's notes about subagents: `<session>/subagents/agent-<id>.meta.json` beside each transcript.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flightdeck_core::limits::{CARD_PROMPT_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX};
use flightdeck_core::text::one_line;
use flightdeck_core::usage::session_files::AgentNote;
use serde::Deserialize;

use super::repository::small_file;

/// Most notes read of one session: more subagents than a card shows.
const NOTES_MAX: usize = 256;

/// The notes of one session. A file is read again only if it changed.
#[derive(Debug, Default)]
pub(super) struct AgentNotes {
    read: BTreeMap<PathBuf, ReadNote>,
}

/// A file as it was read last.
#[derive(Debug)]
struct ReadNote {
    changed_at: Option<SystemTime>,
    /// The id of the subagent and its note. `None` if the file could not be read.
    found: Option<(String, AgentNote)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct AgentNoteJson {
    agent_type: String,
    description: Option<String>,
    tool_use_id: Option<String>,
    finished: bool,
}

impl AgentNotes {
    /// The notes in the folder, by the id of the subagent. Skips a file that cannot be read: it may be incomplete.
    pub(super) fn read(&mut self, folder: &Path) -> BTreeMap<String, AgentNote> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| agent_of(p).is_some()).collect();
        paths.sort();
        paths.truncate(NOTES_MAX);
        self.read.retain(|path, _| paths.contains(path));
        for path in paths {
            let changed_at = fs::metadata(&path).and_then(|about| about.modified()).ok();
            if self.read.get(&path).is_none_or(|note| note.changed_at != changed_at) {
                let found = agent_of(&path).zip(read_note(&path));
                self.read.insert(path, ReadNote { changed_at, found });
            }
        }
        self.read.values().filter_map(|note| note.found.clone()).collect()
    }
}

fn agent_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".meta.json")?;
    (!name.is_empty() && name.len() <= ID_CHARS_MAX).then(|| name.to_owned())
}

fn read_note(path: &Path) -> Option<AgentNote> {
    let written: AgentNoteJson = serde_json::from_str(&small_file(path)?).ok()?;
    let line = |text: Option<String>, max: usize| {
        text.map(|text| one_line(&text, max)).filter(|text| !text.is_empty())
    };
    Some(AgentNote {
        agent_type: one_line(&written.agent_type, NAME_CHARS_MAX),
        description: line(written.description, CARD_PROMPT_CHARS_MAX),
        tool_use_id: line(written.tool_use_id, ID_CHARS_MAX),
        finished: written.finished,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_by_the_id_in_their_name_and_again_when_they_change() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("agent-a1.meta.json", r#"{"agentType":"Explore","description":"Look","toolUseId":"toolu_1"}"#);
        put("agent-a2.meta.json", r#"{"agentType":""}"#);
        put("agent-a3.meta.json", "{");
        put("agent-a1.jsonl", "");
        let mut notes = AgentNotes::default();
        let read = notes.read(dir.path());
        let explore = AgentNote {
            agent_type: "Explore".into(),
            description: Some("Look".into()),
            tool_use_id: Some("toolu_1".into()),
            finished: false,
        };
        let helper = AgentNote::default();
        assert_eq!(read, BTreeMap::from([("a1".to_owned(), explore.clone()), ("a2".to_owned(), helper)]));
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        put(
            "agent-a1.meta.json",
            r#"{"agentType":"Explore","description":"Look","toolUseId":"toolu_1","finished":true}"#,
        );
        fs::File::open(dir.path().join("agent-a1.meta.json")).unwrap().set_modified(later).unwrap();
        assert_eq!(notes.read(dir.path())["a1"], AgentNote { finished: true, ..explore });
        fs::remove_file(dir.path().join("agent-a1.meta.json")).unwrap();
        assert!(!notes.read(dir.path()).contains_key("a1"));
    }
}
