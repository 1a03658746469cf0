//! Files around a session: the repository it works in, and the client's list of its tasks.
//!
//! Data for the card, stored beside the log: it changes no state.

use crate::log::todo::Todo;
use crate::project::Project;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub repository: Option<Repository>,
    /// The client's own list; empty if it has none.
    pub tasks: Vec<Todo>,
}

/// The repository of the working directory, read from its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// `None` if HEAD has no readable name.
    pub branch: Option<String>,
    pub worktree: Option<LinkedWorktree>,
}

/// A worktree that `git worktree add` made beside the main one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedWorktree {
    pub name: String,
    /// Its own folder.
    pub top: String,
    /// The folder of the repository it belongs to.
    pub main: String,
}

impl LinkedWorktree {
    /// The same project in the main repository: `/w/api-fix/web` becomes `/w/api/web`.
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
