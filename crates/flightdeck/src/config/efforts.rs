//! `[efforts]` of `config.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The folder that makes a directory one for efforts; `effort start` creates it.
const FOLDER: &str = ".flightdeck";
/// A folder of that name with this file in it is Flightdeck's own home.
const DATABASE: &str = "flightdeck.db";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EffortSettings {
    /// Slash commands that open an effort in a directory for efforts.
    pub skills: Vec<String>,
    /// Commands that are neither counted nor denied, as words: `make check` also means `make check -k`.
    pub exempt: Vec<String>,
    /// Names of files with directives.
    pub directives: Vec<String>,
    /// Directories for efforts, beside those with a folder `.flightdeck`.
    pub directories: Vec<PathBuf>,
}

impl Default for EffortSettings {
    fn default() -> Self {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            skills: texts(&["implement", "fix", "brainstorm"]),
            exempt: Vec::new(),
            directives: texts(&["AGENTS.md", "CLAUDE.md"]),
            directories: Vec::new(),
        }
    }
}

impl EffortSettings {
    /// Whether a slash command may open an effort here: the directory, or one above it, is configured or has had efforts.
    pub fn is_opted_in(&self, dir: &Path) -> bool {
        let Ok(dir) = dir.canonicalize() else { return false };
        let listed = |path: &PathBuf| path.canonicalize().is_ok_and(|path| dir.starts_with(path));
        self.directories.iter().any(listed) || dir.ancestors().any(had_efforts)
    }
}

fn had_efforts(dir: &Path) -> bool {
    let folder = dir.join(FOLDER);
    folder.is_dir() && !folder.join(DATABASE).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_takes_part_if_it_or_one_above_is_listed_or_had_efforts() {
        let folder = tempfile::tempdir().unwrap();
        let (repo, deep) = (folder.path().join("repo"), folder.path().join("repo/src"));
        std::fs::create_dir_all(&deep).unwrap();
        let listed = EffortSettings { directories: vec![repo.clone()], ..EffortSettings::default() };
        assert!(listed.is_opted_in(&deep) && !listed.is_opted_in(folder.path()));
        let unlisted = EffortSettings::default();
        assert!(!unlisted.is_opted_in(&deep) && !unlisted.is_opted_in(Path::new("/no/such/folder")));
        std::fs::create_dir(repo.join(".flightdeck")).unwrap();
        assert!(unlisted.is_opted_in(&deep) && unlisted.is_opted_in(&repo));
        // A person may keep Flightdeck's own files in a folder of this name.
        std::fs::write(repo.join(".flightdeck/flightdeck.db"), "").unwrap();
        assert!(!unlisted.is_opted_in(&deep));
    }

    #[test]
    fn settings_that_are_left_out_have_defaults_and_unknown_ones_are_refused() {
        let read = |text: &str| toml::from_str::<EffortSettings>(text);
        assert_eq!(read("").unwrap(), EffortSettings::default());
        let own = read("skills = [\"ship\"]\nexempt = [\"make check\"]").unwrap();
        assert_eq!((own.skills, own.exempt), (vec!["ship".to_owned()], vec!["make check".to_owned()]));
        assert!(read("skill = []").is_err());
    }
}
