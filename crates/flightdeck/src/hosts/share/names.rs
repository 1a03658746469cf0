//! Names that a host without payloads may send: of tools, subagents, models, projects and events. Anything else has no name.

use flightdeck_core::project::Project;

/// The client's own tools. A tool of an MCP server is recognised by its form.
const TOOLS: [&str; 49] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "PushNotification",
    "Read",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "SendUserFile",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];
const MCP_TOOL: &str = "mcp__";
const OTHER_TOOL: &str = "tool";

/// Types of the client's own subagents. Its helper has an empty one.
const AGENT_TYPES: [&str; 9] = [
    "",
    "general-purpose",
    "Explore",
    "Plan",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
    "claude",
    "fork",
];
const OTHER_AGENT_TYPE: &str = "agent";

/// How the name of a model begins, after the name of the service that offers it.
const MODEL: &str = "claude-";
/// The client's own lines name this model.
const NO_MODEL: &str = "<synthetic>";
const OTHER_MODEL: &str = "another model";

/// Longest name that is sent: the name of a server's tool is the longest.
const NAME_BYTES_MAX: usize = 128;
const EVENT_NAME_BYTES_MAX: usize = 40;

pub(super) fn tool(name: &str) -> &str {
    let of_a_server = name.strip_prefix(MCP_TOOL).and_then(|rest| rest.split_once("__"));
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let of_a_server = of_a_server.is_some_and(|(server, tool)| is_word(server) && is_word(tool));
    match TOOLS.contains(&name) || (of_a_server && name.len() <= NAME_BYTES_MAX) {
        true => name,
        false => OTHER_TOOL,
    }
}

pub(super) fn agent_type(name: &str) -> &str {
    if AGENT_TYPES.contains(&name) { name } else { OTHER_AGENT_TYPE }
}

/// Without what stands before it: that may be the number of an account.
pub(super) fn model(name: &str) -> &str {
    if name == NO_MODEL {
        return NO_MODEL;
    }
    let own = name.find(MODEL).and_then(|at| name.get(at..)).unwrap_or_default();
    let plain = own.strip_suffix(" (fast)").unwrap_or(own);
    let plain = plain.strip_suffix("[1m]").unwrap_or(plain);
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b':' | b'@');
    match !plain.is_empty() && own.len() <= NAME_BYTES_MAX && plain.bytes().all(fits) {
        true => own,
        false => OTHER_MODEL,
    }
}

/// `/home/dev/work/api` becomes `/api`. A worktree of the client has the name of its project.
pub(super) fn project(path: &str) -> Option<String> {
    let project = Project { path: Some(path.to_owned()), certain: false };
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let name = Some(project.name()).filter(|_| path.starts_with('/') && !path.trim_matches('/').is_empty());
    let name = name.filter(|name| name.len() <= NAME_BYTES_MAX && name.chars().all(fits))?;
    Some(format!("/{name}"))
}

/// A name that a person gave to a seat: one word.
pub(super) fn is_seat(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':' | b'@');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(fits)
}

/// Whether this is how the client names its events: `PreToolUse`.
pub(super) fn is_event(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.len() <= EVENT_NAME_BYTES_MAX
        && name.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_its_name_if_it_is_one_of_the_client_or_of_a_server() {
        for same in ["Bash", "mcp__github__create_issue", "mcp__my-server__a"] {
            assert_eq!(tool(same), same);
        }
        for other in ["hunter2", "rm -rf /", "mcp__a", "mcp__a b__c", "mcp____c", ""] {
            assert_eq!(tool(other), "tool");
        }
    }

    #[test]
    fn a_model_is_sent_without_the_account_that_pays_for_it() {
        for (given, sent) in [
            ("claude-opus-5-5", "claude-opus-5-5"),
            ("claude-opus-5-5[1m]", "claude-opus-5-5[1m]"),
            ("claude-opus-5-5 (fast)", "claude-opus-5-5 (fast)"),
            ("arn:aws:bedrock:eu:123456:profile/us.anthropic.claude-haiku-4-5-v1:0", "claude-haiku-4-5-v1:0"),
            ("<synthetic>", "<synthetic>"),
            ("my secret gateway", "another model"),
            ("claude-and my secret", "another model"),
            ("", "another model"),
        ] {
            assert_eq!(model(given), sent);
        }
    }

    #[test]
    fn of_a_path_the_name_of_its_project_is_sent() {
        for (path, name) in [
            ("/home/ann/api/", Some("/api")),
            ("/home/ann/api/.claude/worktrees/fix-the-leak/src", Some("/api")),
            ("/", None),
            ("no path", None),
            ("/a\nb", None),
        ] {
            assert_eq!(project(path).as_deref(), name);
        }
    }
}
