//! A permission request as the rules judge it.

use serde_json::{Map, Value};

use crate::ask::caution;
use crate::project::Project;
use crate::record::Record;
use crate::tool;
use crate::wire::clip;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{flag, object, str};

/// Fields that say what a call does. What is only a description says nothing that could be relied on.
const JUDGED: [&str; 6] = ["command", "file_path", "notebook_path", "url", "query", "skill"];

/// The field of its input that a tool is judged by. `None`: a rule can only name the tool.
pub(super) fn field(tool: &str) -> Option<&'static str> {
    tool::field(tool).filter(|field| JUDGED.contains(field))
}

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub tool: &'a str,
    /// The text that `match` is held against.
    pub text: Option<&'a str>,
    /// Where the session was started; a worktree of the client counts as its project.
    pub project: Option<String>,
    /// Why it cannot be undone, if it runs a command, whatever the tool.
    pub(super) caution: Option<&'static str>,
    pub(super) is_command: bool,
    pub(super) is_path: bool,
    /// Part of it is missing, or it asks for more than its text says.
    pub(super) is_unclear: bool,
}

impl<'a> Request<'a> {
    /// `None` for all that is no plain question of permission: questions, plans and forms are a person's to answer.
    pub fn from_record(record: &'a Record) -> Option<Self> {
        if HookName::parse(&record.name) != Some(HookName::PermissionRequest) {
            return None;
        }
        let payload = &record.payload;
        let tool = str(payload, "tool_name")?;
        if tool::asks_question(tool) || tool::asks_approval(tool) {
            return None;
        }
        let input = object(payload, "tool_input");
        let field = field(tool);
        let text = field.and_then(|field| str(input?, field));
        let unsandboxed = |input: &Map<String, Value>| flag(input, "dangerouslyDisableSandbox");
        Some(Self {
            tool,
            text,
            project: project(record),
            caution: input.and_then(caution::of_input),
            is_command: field == Some("command"),
            is_path: matches!(field, Some("file_path" | "notebook_path")),
            is_unclear: payload.contains_key(clip::MARK)
                || flag(payload, "truncated")
                || input.is_none_or(unsandboxed)
                || (field.is_some() && text.is_none()),
        })
    }

    /// As a person reads it in a table.
    pub fn summary(&self) -> String {
        match self.text {
            Some(text) => format!("{}: {text}", self.tool),
            None => self.tool.to_owned(),
        }
    }
}

fn project(record: &Record) -> Option<String> {
    let mut project = Project::default();
    project.take(record.envelope.project_dir.as_deref(), str(&record.payload, "cwd"));
    project.root().map(ToOwned::to_owned)
}
