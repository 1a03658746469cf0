//! What the result of a tool call changes on a card: the edited file and the to-do list.

use std::borrow::Cow;

use serde_json::Value;

use super::scan::{Scan, string, text_field};

/// Everything in one result that shows on a card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult<'a> {
    pub edited: Option<Edited<'a>>,
    pub todos: Option<Todos>,
}

/// A file that the call changed, with the lines that it added and removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited<'a> {
    pub path: Cow<'a, str>,
    pub added: u64,
    pub removed: u64,
}

/// A change of the to-do list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Todos {
    /// The whole list: (id, title, status).
    All(Vec<(String, String, String)>),
    Created {
        id: String,
        title: String,
    },
    Moved {
        id: String,
        status: String,
    },
}

/// `None` if the result changes nothing on a card.
pub(super) fn tool_result(json: &[u8]) -> Option<ToolResult<'_>> {
    let mut result = ToolResult::default();
    let (mut path, mut patch, mut written, mut created) = (None, None, None, false);
    let (mut moved_id, mut moved_to) = (None, None);
    Scan::new(json).members(|s, key| {
        let value = s.value()?;
        match key {
            b"filePath" => path = string(value),
            b"structuredPatch" => patch = Some(value),
            b"content" => written = Some(value),
            b"type" => created = value == b"\"create\"",
            b"newTodos" => result.todos = parse_if_small(value).map(|v| Todos::All(todo_list(&v))),
            b"tasks" => result.todos = parse_if_small(value).map(|v| Todos::All(todo_list(&v))),
            b"task" => result.todos = parse_if_small(value).and_then(|v| created_todo(&v)),
            b"taskId" => moved_id = string(value),
            b"statusChange" => moved_to = text_field(value, b"to"),
            _ => {}
        }
        Some(true)
    })?;
    if let (Some(id), Some(status)) = (moved_id, moved_to) {
        result.todos = Some(Todos::Moved { id: id.into_owned(), status: status.into_owned() });
    }
    // A read file and a shown plan have a path too; only an edit has a patch.
    if let (Some(path), Some(patch)) = (path, patch) {
        let (added, removed) = match created {
            // Counted like the client: text after the last line end is a line too.
            true => (written.and_then(string).map_or(0, |text| text.split('\n').count() as u64), 0),
            false => patched_lines(patch).unwrap_or_default(),
        };
        result.edited = Some(Edited { path, added, removed });
    }
    (result != ToolResult::default()).then_some(result)
}

/// Longest list of to-dos that is read: a hundred of them are a few kilobytes.
const TODOS_BYTES_MAX: usize = 256 * 1024;

fn parse_if_small(json: &[u8]) -> Option<Value> {
    serde_json::from_slice(json.get(..json.len().min(TODOS_BYTES_MAX))?).ok()
}

fn text_of(value: &Value, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|n| value.get(n).filter(|v| !v.is_null()))?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// Items of TodoWrite have no id: their position is used.
fn todo_list(value: &Value) -> Vec<(String, String, String)> {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    let item = |(place, v): (usize, &Value)| {
        let id = text_of(v, &["id"]).unwrap_or_else(|| (place + 1).to_string());
        let status = text_of(v, &["status"]).unwrap_or_else(|| "pending".to_owned());
        Some((id, text_of(v, &["content", "subject"])?, status))
    };
    items.iter().enumerate().filter_map(item).collect()
}

fn created_todo(value: &Value) -> Option<Todos> {
    Some(Todos::Created { id: text_of(value, &["id"])?, title: text_of(value, &["subject", "content"])? })
}

/// Lines added and removed over all hunks.
fn patched_lines(patch: &[u8]) -> Option<(u64, u64)> {
    let (mut added, mut removed) = (0, 0);
    Scan::new(patch).items(|s| {
        s.members(|s, key| {
            if key != b"lines" {
                s.skip()?;
                return Some(true);
            }
            s.items(|s| {
                match s.text()?.and_then(|line| line.first()) {
                    Some(b'+') => added += 1,
                    Some(b'-') => removed += 1,
                    _ => {}
                }
                Some(())
            })?;
            Some(true)
        })
    })?;
    Some((added, removed))
}
