//! Reads skills and directives from disk: the settings in a SKILL.md, and the AGENTS.md files around the files that an agent
//! touches. All functions block.

pub mod directives;
mod front_matter;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Most bytes read of a SKILL.md. Its front matter is at the beginning and has a few hundred bytes.
const SKILL_BYTES_MAX: u64 = 64 * 1024;
/// Longest name of a skill, which becomes a part of a path.
const SKILL_NAME_CHARS_MAX: usize = 64;
/// Most folders between a directory and the root of its repository.
const DEPTH_MAX: usize = 64;

/// Why the settings of a skill cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    #[error("cannot read {}: {cause}", .path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("the key `flightdeck` in {} is not understood: {why}", .path.display())]
    FrontMatter { path: PathBuf, why: String },
}

/// The key `flightdeck` in the front matter of a skill: from the project of `dir`, else from the person's own skills below
/// `user`, the client's configuration folder. `None` if there is no such skill, or if it has no such key.
pub fn settings<T: DeserializeOwned>(
    dir: &Path,
    user: Option<&Path>,
    skill: &str,
) -> Result<Option<T>, SkillError> {
    let Some(path) = find_skill_file(dir, user, skill) else { return Ok(None) };
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(SKILL_BYTES_MAX).read_to_end(&mut text));
    read.map_err(|cause| SkillError::Read { path: path.clone(), cause })?;
    front_matter::parse(&String::from_utf8_lossy(&text)).map_err(|why| SkillError::FrontMatter { path, why })
}

/// The SKILL.md of a skill, the project's own first.
pub fn find_skill_file(dir: &Path, user: Option<&Path>, skill: &str) -> Option<PathBuf> {
    if !is_name(skill) {
        return None;
    }
    let below = |folder: &Path| folder.join("skills").join(skill).join("SKILL.md");
    let project = project_folders(dir).map(|folder| below(&folder.join(".claude")));
    project.chain(user.map(below)).find(|path| path.is_file())
}

/// Whether the text is the name of a skill and not a path.
fn is_name(skill: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !skill.is_empty() && skill.len() <= SKILL_NAME_CHARS_MAX && skill.chars().all(fits)
}

/// A directory and the folders above it, up to the root of its repository. Only the directory itself outside a repository.
pub fn project_folders(dir: &Path) -> impl Iterator<Item = &Path> {
    let root = dir.ancestors().take(DEPTH_MAX).position(|folder| folder.join(".git").exists());
    dir.ancestors().take(root.unwrap_or(0) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        heartbeat: u32,
    }

    fn write(path: PathBuf, heartbeat: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("---\nname: x\nflightdeck:\n  heartbeat: {heartbeat}\n---\n# X\n"))
            .unwrap();
    }

    #[test]
    fn the_project_comes_before_the_person_and_nearer_folders_before_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let (root, user) = (folder.path().join("repo"), folder.path().join("user"));
        let deep = root.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        let heartbeat = |dir: &Path| {
            settings::<Settings>(dir, Some(&user), "implement").unwrap().map(|settings| settings.heartbeat)
        };
        assert_eq!(heartbeat(&deep), None);
        write(user.join("skills/implement/SKILL.md"), "1");
        assert_eq!(heartbeat(&deep), Some(1));
        write(root.join(".claude/skills/implement/SKILL.md"), "2");
        assert_eq!(heartbeat(&deep), Some(2));
        write(root.join("a/.claude/skills/implement/SKILL.md"), "3");
        assert_eq!(heartbeat(&deep), Some(3));
        assert_eq!(heartbeat(&root), Some(2));
        assert_eq!(heartbeat(folder.path()), Some(1), "a skill in a folder below is not used");
    }

    #[test]
    fn a_mistake_names_the_file_and_a_path_is_no_skill() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join(".claude/skills/fix/SKILL.md"), "soon");
        let said = settings::<Settings>(folder.path(), None, "fix").unwrap_err().to_string();
        assert!(said.contains("skills/fix/SKILL.md") && said.contains("soon"), "{said}");
        for name in ["../fix", "", "a/b", "."] {
            assert_eq!(find_skill_file(folder.path(), None, name), None, "{name}");
        }
    }
}
