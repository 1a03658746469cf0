//! What lies around a session on disk: the repository it works in, and the client's own list of its tasks.
//!
//! Data for the card, beside the log like what transcripts tell: it moves nothing.

use crate::project::Project;
use crate::session::Todo;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub repository: Option<Repository>,
    /// As the client keeps them; empty where it keeps none.
    pub tasks: Vec<Todo>,
}

/// The repository around the working directory, as its own files tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// `None` where HEAD names nothing a person could read.
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
    /// The project folded into the repository it belongs to: `/w/api-fix/web` is `/w/api/web`.
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
