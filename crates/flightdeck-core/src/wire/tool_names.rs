//! The client's own tools: which of them ask the person, and which field of their input matters most.

pub(crate) fn asks_question(tool: &str) -> bool {
    tool == "AskUserQuestion"
}

pub(crate) fn asks_approval(tool: &str) -> bool {
    tool == "ExitPlanMode"
}

/// Whether the tool schedules a prompt, which the client sends itself.
pub(crate) fn schedules_prompt(tool: &str) -> bool {
    tool == "CronCreate"
}

/// Whether the tool starts a subagent.
pub(crate) fn starts_agent(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Whether the tool writes to files of the project. A command may do so too, but its text does not tell.
pub(crate) fn changes_files(tool: &str) -> bool {
    matches!(tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit")
}

/// The field of the input that a person would read first.
pub(crate) fn main_field(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" | "Monitor" => "command",
        "Read" | "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        "Grep" | "Glob" => "pattern",
        "WebFetch" => "url",
        "WebSearch" | "ToolSearch" => "query",
        "Agent" | "Task" => "description",
        "Skill" => "skill",
        "TaskCreate" => "subject",
        "TaskUpdate" | "TaskOutput" | "TaskStop" => "taskId",
        "EnterWorktree" => "name",
        _ => return None,
    })
}
