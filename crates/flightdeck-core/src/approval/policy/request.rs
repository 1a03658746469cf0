//! A permission request as the rules judge it.

use serde_json::{Map, Value};

use crate::approval::caution;
use crate::project::Project;
use crate::wire::clip;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{borrowed_text, flag, object};
use crate::wire::tool_names::{asks_approval, asks_question, main_field};

/// Fields that determine what a call does. Descriptions do not count.
const JUDGED: [&str; 6] = ["command", "file_path", "notebook_path", "url", "query", "skill"];

/// The field of a tool's input that a rule's `match` is compared with. `None` if a rule can only name the tool.
pub(super) fn field_to_match(tool: &str) -> Option<&'static str> {
    main_field(tool).filter(|field| JUDGED.contains(field))
}

/// One permission request, with the facts that decide which rule fits.
#[derive(Clone, Debug)]
pub struct PolicyRequest<'a> {
    pub tool: &'a str,
    /// The text that `match` is compared with.
    pub text: Option<&'a str>,
    /// The folder the session was started in. For a worktree made by the client, the folder it was made from.
    pub project: Option<String>,
    /// Why the request cannot be undone. `None` if it can, or if its tool runs no command.
    pub(super) caution: Option<&'static str>,
    pub(super) is_command: bool,
    pub(super) is_path: bool,
    /// No rule may allow the request: it was clipped, its input or its text is missing, or it asks to leave the sandbox.
    pub(super) is_unclear: bool,
}

impl<'a> PolicyRequest<'a> {
    /// `None` for a question, a plan or a form, which only a person answers, and for a hook that asks nothing.
    pub(crate) fn of_hook(
        hook: &str,
        payload: &'a Map<String, Value>,
        project_dir: Option<&str>,
    ) -> Option<Self> {
        if HookName::parse(hook) != Some(HookName::PermissionRequest) {
            return None;
        }
        let tool = borrowed_text(payload, "tool_name")?;
        if asks_question(tool) || asks_approval(tool) {
            return None;
        }
        let input = object(payload, "tool_input");
        let field = field_to_match(tool);
        let text = field.and_then(|field| borrowed_text(input?, field));
        let unsandboxed = |input: &Map<String, Value>| flag(input, "dangerouslyDisableSandbox");
        Some(Self {
            tool,
            text,
            project: project(project_dir, payload),
            caution: input.and_then(caution::caution_of_input),
            is_command: field == Some("command"),
            is_path: matches!(field, Some("file_path" | "notebook_path")),
            is_unclear: payload.contains_key(clip::MARK)
                || flag(payload, "truncated")
                || input.is_none_or(unsandboxed)
                || (field.is_some() && text.is_none()),
        })
    }

    /// One line for a table.
    pub fn summary(&self) -> String {
        match self.text {
            Some(text) => format!("{}: {text}", self.tool),
            None => self.tool.to_owned(),
        }
    }
}

fn project(project_dir: Option<&str>, payload: &Map<String, Value>) -> Option<String> {
    let mut project = Project::default();
    project.learn_from(project_dir, borrowed_text(payload, "cwd"));
    project.root().map(ToOwned::to_owned)
}
