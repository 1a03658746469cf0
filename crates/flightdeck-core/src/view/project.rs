//! A project as it goes over the wire.

use serde::{Deserialize, Serialize};

use crate::project::Project;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Project"))]
pub struct ProjectCard {
    pub name: String,
    pub path: Option<String>,
    pub worktree: Option<String>,
}

impl ProjectCard {
    pub fn new(project: &Project) -> Self {
        Self {
            name: project.name().to_owned(),
            path: project.root().map(str::to_owned),
            worktree: project.worktree().map(str::to_owned),
        }
    }
}
