//! The project of a session. A worktree belongs to its repository's project.

use serde::{Deserialize, Serialize};

/// The folder in which the client creates worktrees.
const CLIENT_WORKTREES: &str = "/.claude/worktrees/";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The folder the session was started in; `None` until an event names one.
    pub path: Option<String>,
    /// Whether `CLAUDE_PROJECT_DIR` named the folder, which is final. A working directory is only a guess.
    pub certain: bool,
}

impl Project {
    pub fn learn_from(&mut self, project_dir: Option<&str>, cwd: Option<&str>) {
        if let Some(dir) = project_dir {
            if !self.certain {
                *self = Self { path: Some(dir.to_owned()), certain: true };
            }
        } else if self.path.is_none() {
            self.path = cwd.map(str::to_owned);
        }
    }

    /// The project's folder: for a worktree made by the client, the folder it was made from.
    pub fn root(&self) -> Option<&str> {
        let path = self.path.as_deref()?;
        Some(path.split_once(CLIENT_WORKTREES).map_or(path, |(root, _)| root))
    }

    pub fn name(&self) -> &str {
        let last = self.root().and_then(|r| r.rsplit('/').find(|part| !part.is_empty()));
        last.unwrap_or("Unknown project")
    }

    pub fn worktree(&self) -> Option<&str> {
        let (_, below) = self.path.as_deref()?.split_once(CLIENT_WORKTREES)?;
        below.split('/').next().filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_of_the_client_is_folded_into_its_project() {
        let mut project = Project::default();
        project.learn_from(None, Some("/home/dev/work/api/.claude/worktrees/fix-1/src"));
        assert_eq!((project.name(), project.worktree()), ("api", Some("fix-1")));
    }

    #[test]
    fn where_it_was_started_wins_over_where_it_is_now() {
        let mut project = Project::default();
        project.learn_from(None, Some("/a/b"));
        project.learn_from(Some("/a"), Some("/a/b"));
        project.learn_from(Some("/elsewhere"), None);
        assert_eq!(project.name(), "a");
    }

    #[test]
    fn a_session_without_a_folder_is_in_unknown_project() {
        assert_eq!(Project::default().name(), "Unknown project");
        assert_eq!(Project { path: Some("/".into()), certain: true }.name(), "Unknown project");
    }
}
