//! What a person configured for efforts, and what skills and directories say about theirs.

use std::path::{Path, PathBuf};

use flightdeck_core::effort::SkillSettings;

use super::{App, AppError};

impl App {
    /// Commands beside our own that are neither counted nor denied.
    pub(super) fn exempt_commands(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the skill says about its efforts.
    pub(super) async fn skill_settings(&self, _dir: &Path, _skill: &str) -> Result<SkillSettings, AppError> {
        Ok(SkillSettings::default())
    }

    /// Directive files from these files up to the root, the outermost first.
    pub(super) async fn discover_directives(
        &self,
        _files: Vec<PathBuf>,
        _root: Option<PathBuf>,
        _names: Vec<String>,
    ) -> Vec<String> {
        Vec::new()
    }
}
