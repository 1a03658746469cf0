//! Files beside the transcript of a session: the repository it works in, the client's list of its tasks, and its notes about subagents.
//!
//! Data for the card, stored beside the log: it changes no state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::log::todo::Todo;
use crate::project::Project;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionFiles {
    pub repository: Option<Repository>,
    /// The client's own list; empty if it has none.
    pub tasks: Vec<Todo>,
    /// What the client wrote about each subagent, by its id.
    pub agents: BTreeMap<String, AgentNote>,
}

/// The note beside a subagent's transcript (`agent-<id>.meta.json`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentNote {
    /// Empty for a helper of the client, which is no subagent of the person.
    pub agent_type: String,
    pub description: Option<String>,
    /// The call of the main agent that started it.
    pub tool_use_id: Option<String>,
    pub finished: bool,
}

/// The repository of the working directory, read from its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// `None` if HEAD has no readable name.
    pub branch: Option<String>,
    pub worktree: Option<LinkedWorktree>,
}

/// A worktree that `git worktree add` made beside the main one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedWorktree {
    pub name: String,
    /// The folder of the worktree.
    pub top: String,
    /// The folder of the main worktree.
    pub main: String,
}

impl LinkedWorktree {
    /// The same project in the main worktree: `/w/api-fix/web` becomes `/w/api/web`. `None` if the project is not in this worktree.
    pub fn fold(&self, project: &Project) -> Option<Project> {
        let below = project.path.as_deref()?.strip_prefix(&self.top)?;
        (below.is_empty() || below.starts_with('/'))
            .then(|| Project { path: Some(format!("{}{below}", self.main)), ..*project })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_in_a_worktree_is_folded_into_its_repository() {
        let worktree =
            LinkedWorktree { name: "api-fix".into(), top: "/w/api-fix".into(), main: "/w/api".into() };
        let folded = |path: &str| {
            let project = Project { path: Some(path.into()), certain: true };
            worktree.fold(&project).and_then(|p| p.path)
        };
        assert_eq!(folded("/w/api-fix").as_deref(), Some("/w/api"));
        assert_eq!(folded("/w/api-fix/web").as_deref(), Some("/w/api/web"));
        assert_eq!(folded("/w/api-fixed"), None);
        assert_eq!(folded("/w/api"), None);
    }
}
