//! Directive files (AGENTS.md, CLAUDE.md and configured names) around the files that an agent touches.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files looked at in one call: a tool call touches one, a batch a few.
const FILES_MAX: usize = 64;
/// Folders between a file and the root of its project.
const DEPTH_MAX: usize = 64;
/// Bytes read of a directive. A longer one is cut, with a note.
pub const DIRECTIVE_BYTES_MAX: usize = 64 * 1024;

/// The directives that apply to these files: those in their folders and in the folders above, up to `root`. Real paths, each
/// once, the outermost folder first. A link that leads out of the project is left out: it could show the agent any file.
pub fn discover(files: &[PathBuf], root: &Path, names: &[String]) -> Vec<PathBuf> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let mut folders = BTreeSet::new();
    for file in files.iter().take(FILES_MAX) {
        let file = if file.is_absolute() { file.clone() } else { root.join(file) };
        folders.extend(folders_up_to(&root, &file));
    }
    // A folder sorts before the folders below it.
    let candidates = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in candidates {
        let real = path.canonicalize().ok().filter(|real| real.is_file() && real.starts_with(&root));
        found.extend(real.filter(|real| !found.contains(real)));
    }
    found
}

/// The folders from that of `file` up to `root`; none if the file is elsewhere. The file itself may not exist yet.
fn folders_up_to(root: &Path, file: &Path) -> Vec<PathBuf> {
    let existing = file.ancestors().skip(1).take(DEPTH_MAX).find_map(|folder| folder.canonicalize().ok());
    let Some(folder) = existing.filter(|folder| folder.starts_with(root)) else { return Vec::new() };
    let up = folder.ancestors().take(DEPTH_MAX).take_while(|folder| folder.starts_with(root));
    up.map(Path::to_owned).collect()
}

/// The text of a directive, cut at [`DIRECTIVE_BYTES_MAX`].
pub fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(DIRECTIVE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > DIRECTIVE_BYTES_MAX;
    bytes.truncate(DIRECTIVE_BYTES_MAX);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        text.push_str(&format!("\n(cut here; the whole text is in {})\n", path.display()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Project(tempfile::TempDir);

    impl Project {
        fn with(files: &[&str]) -> Self {
            let project = Self(tempfile::tempdir().unwrap());
            for file in files {
                let path = project.root().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, file).unwrap();
            }
            project
        }

        fn root(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap().join("repo")
        }

        #[track_caller]
        fn check(&self, touched: &[&str], expected: &[&str]) {
            let names = ["AGENTS.md", "CLAUDE.md"].map(str::to_owned);
            let touched: Vec<PathBuf> = touched.iter().map(Into::into).collect();
            let found = discover(&touched, &self.root(), &names);
            let found: Vec<_> =
                found.iter().map(|path| path.strip_prefix(self.root()).unwrap().to_str().unwrap()).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn directives_are_found_from_the_file_up_to_the_root_the_outermost_first() {
        let project = Project::with(&[
            "AGENTS.md",
            "src/CLAUDE.md",
            "src/api/AGENTS.md",
            "docs/AGENTS.md",
            "../AGENTS.md",
        ]);
        project.check(&["src/api/new/file.rs"], &["AGENTS.md", "src/CLAUDE.md", "src/api/AGENTS.md"]);
        project.check(
            &["src/api/a.rs", "src/api/b.rs", "docs/x"],
            &["AGENTS.md", "docs/AGENTS.md", "src/CLAUDE.md", "src/api/AGENTS.md"],
        );
        project.check(&["/etc/hosts", "../outside.rs"], &[]);
        project.check(&[], &[]);
    }

    #[test]
    fn a_file_under_two_names_counts_once_and_a_link_out_of_the_project_not_at_all() {
        let project = Project::with(&["AGENTS.md", "../secret", "src/x"]);
        symlink("AGENTS.md", project.root().join("CLAUDE.md")).unwrap();
        symlink("../../secret", project.root().join("src/AGENTS.md")).unwrap();
        symlink(project.root(), project.root().join("again")).unwrap();
        project.check(&["src/x", "again/src/x"], &["AGENTS.md"]);
    }

    #[test]
    fn a_long_directive_is_cut_with_a_note() {
        let project = Project::with(&["AGENTS.md"]);
        let path = project.root().join("AGENTS.md");
        assert_eq!(read(&path).unwrap(), "AGENTS.md");
        fs::write(&path, "x".repeat(DIRECTIVE_BYTES_MAX)).unwrap();
        assert_eq!(read(&path).unwrap().len(), DIRECTIVE_BYTES_MAX);
        fs::write(&path, "x".repeat(DIRECTIVE_BYTES_MAX + 1)).unwrap();
        assert!(read(&path).unwrap().ends_with("AGENTS.md)\n"));
    }
}
