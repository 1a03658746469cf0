//! A tool call, as far as a card needs it: its name, one line about its input, and what it asks of the person.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fnv::Fnv;
use crate::limits::{ID_CHARS_MAX, NAME_CHARS_MAX, TOOL_SUMMARY_CHARS_MAX};
use crate::text::one_line;
use crate::wire::clip::input_digest;
use crate::wire::lenient::{borrowed_text, line, list, object};
use crate::wire::tool_names::{asks_approval, asks_question, changes_files, main_field, starts_agent};

/// Where the client keeps its plans, below the person's home.
const PLANS_FOLDER: &str = "/.claude/plans/";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// `tool_use_id`. A PermissionRequest has none.
    pub id: Option<String>,
    pub name: String,
    pub summary: String,
    /// Hash of the whole input: finds the call that a PermissionRequest belongs to.
    pub digest: u64,
}

impl ToolUse {
    pub fn from_payload(p: &Map<String, Value>) -> Self {
        let name = line(p, "tool_name", NAME_CHARS_MAX).unwrap_or_else(|| "tool".to_owned());
        let summary = object(p, "tool_input").and_then(|input| summary(&name, input)).unwrap_or_default();
        Self { id: line(p, "tool_use_id", ID_CHARS_MAX), summary, digest: input_digest(p), name }
    }

    /// "Bash: cargo test", or only the tool if its input has no summary.
    pub fn label(&self) -> String {
        if self.summary.is_empty() { self.name.clone() } else { format!("{}: {}", self.name, self.summary) }
    }

    pub fn same_call(&self, other: &Self) -> bool {
        self.name == other.name && self.digest == other.digest
    }

    /// A digest of the id, for comparisons.
    pub(crate) fn id_digest(&self) -> Option<u64> {
        self.id.as_ref().map(|id| Fnv::hash_bytes(id.as_bytes()))
    }

    /// A digest of name and input. Two calls have the same digest if [`Self::same_call`] is true for them.
    pub(crate) fn call_digest(&self) -> u64 {
        Fnv::hash_bytes(&[self.name.as_bytes(), &self.digest.to_le_bytes()].concat())
    }

    pub fn asks_question(&self) -> bool {
        asks_question(&self.name)
    }

    pub fn starts_agent(&self) -> bool {
        starts_agent(&self.name)
    }

    /// Whether the call changes files of the project. The file of a plan does not count.
    pub fn changes_files(&self) -> bool {
        changes_files(&self.name) && !self.summary.contains(PLANS_FOLDER)
    }

    pub fn asks_approval(&self) -> bool {
        asks_approval(&self.name)
    }
}

fn summary(tool: &str, input: &Map<String, Value>) -> Option<String> {
    match tool {
        "AskUserQuestion" => question(input),
        // The plan is shown in full; its first line is usually only "# Plan".
        "ExitPlanMode" => None,
        tool => match main_field(tool) {
            Some(field) => line(input, field, TOOL_SUMMARY_CHARS_MAX),
            None => first_text(input),
        },
    }
}

fn question(input: &Map<String, Value>) -> Option<String> {
    let first = list(input, "questions").first()?.as_object()?;
    borrowed_text(first, "question").map(|q| one_line(q, TOOL_SUMMARY_CHARS_MAX))
}

/// The first text among the arguments, for tools that we do not know (MCP).
fn first_text(input: &Map<String, Value>) -> Option<String> {
    let value = input.values().find_map(Value::as_str)?;
    Some(one_line(value, TOOL_SUMMARY_CHARS_MAX))
}
