//! Directive files (AGENTS.md, CLAUDE.md and configured names) around the files that an agent touches.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::project_folders;

/// Most files whose directives are searched in one call. A tool call touches one file, a batch of calls a few.
const FILES_MAX: usize = 64;
/// Most folders between a file and the root of its project.
const DEPTH_MAX: usize = 64;
/// Most bytes read of a directive. A longer one is cut, with a note.
pub const DIRECTIVE_BYTES_MAX: usize = 64 * 1024;

/// How far directives are searched upwards, and below which folder files may be given to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchRoot {
    Folder(PathBuf),
    /// The root of the project that this folder belongs to: the nearest folder with `.git` from here up, else the folder itself.
    ProjectOf(PathBuf),
    /// The root of the project that each file belongs to.
    ProjectOfFile,
}

impl SearchRoot {
    /// The real path of the root for this file. `None` if the folder does not exist.
    pub fn folder_for(&self, file: &Path) -> Option<PathBuf> {
        match self {
            Self::Folder(folder) => folder.canonicalize().ok(),
            Self::ProjectOf(dir) => project_root(dir),
            Self::ProjectOfFile => project_root(file.parent()?),
        }
    }

    /// The file that a relative path names.
    fn resolve(&self, file: &Path) -> Option<PathBuf> {
        match self {
            _ if file.is_absolute() => Some(file.to_owned()),
            Self::Folder(dir) | Self::ProjectOf(dir) => Some(dir.join(file)),
            Self::ProjectOfFile => None,
        }
    }
}

/// The real path of the nearest folder with `.git` from here up, or else of the folder itself. `None` if the folder does not exist and no
/// project surrounds it.
fn project_root(dir: &Path) -> Option<PathBuf> {
    let existing = dir.ancestors().take(DEPTH_MAX).find_map(|folder| folder.canonicalize().ok())?;
    let root = project_folders(&existing).last()?;
    if root.join(".git").exists() { Some(root.to_owned()) } else { dir.canonicalize().ok() }
}

/// Finds a file that is named relative to `dir`, or to a folder above it up to the root of its project. Returns the real path of the nearest.
pub fn find_in_project(dir: &Path, name: &str) -> Option<PathBuf> {
    let (dir, root) = (dir.canonicalize().ok()?, project_root(dir)?);
    let in_project = |path: PathBuf| path.canonicalize().ok().filter(|real| real.starts_with(&root));
    from_folder_up_to(&root, &dir).into_iter().find_map(|folder| in_project(folder.join(name)))
}

/// The directives that apply to these files: those in their folders and in the folders above, up to `root`. Each real path is there once, the
/// outermost folder first. A directive behind a link that leads out of the project is left out, because it could be any file.
pub fn discover(files: &[PathBuf], root: &SearchRoot, names: &[String]) -> Vec<PathBuf> {
    let mut folders = BTreeMap::new();
    for file in files.iter().take(FILES_MAX) {
        let Some(file) = root.resolve(file) else { continue };
        let Some(root) = root.folder_for(&file) else { continue };
        folders.extend(folders_up_to(&root, &file).into_iter().map(|folder| (folder, root.clone())));
    }
    // A folder sorts before the folders below it.
    let candidates =
        folders.iter().flat_map(|(folder, root)| names.iter().map(move |name| (folder.join(name), root)));
    let mut found: Vec<PathBuf> = Vec::new();
    for (path, root) in candidates {
        let real = path.canonicalize().ok().filter(|real| real.is_file() && real.starts_with(root));
        found.extend(real.filter(|real| !found.contains(real)));
    }
    found
}

/// The folders from that of `file` up to `root`. Empty if the file is not below `root`. The file itself may not exist yet.
fn folders_up_to(root: &Path, file: &Path) -> Vec<PathBuf> {
    let existing = file.ancestors().skip(1).take(DEPTH_MAX).find_map(|folder| folder.canonicalize().ok());
    existing.map(|folder| from_folder_up_to(root, &folder)).unwrap_or_default()
}

/// The folder and those above it up to `root`, the nearest first. Empty if the folder is not below `root`.
fn from_folder_up_to(root: &Path, folder: &Path) -> Vec<PathBuf> {
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
            let found = discover(&touched, &SearchRoot::Folder(self.root()), &names);
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
    fn without_a_folder_the_search_ends_at_the_root_of_the_project() {
        let project =
            Project::with(&["AGENTS.md", "pkg/AGENTS.md", "pkg/src/x", "docs/build.md", "../AGENTS.md"]);
        let (root, names) = (project.root(), ["AGENTS.md".to_owned()]);
        let found = |from: &SearchRoot| {
            let found = discover(&[root.join("pkg/src/new/x")], from, &names);
            let below = found.iter().map(|path| path.strip_prefix(root.parent().unwrap()).unwrap());
            below.map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let of_package = SearchRoot::ProjectOf(root.join("pkg"));
        assert_eq!(found(&of_package), ["repo/pkg/AGENTS.md"], "no folder above has .git");
        assert_eq!(find_in_project(&root.join("pkg"), "docs/build.md"), None);
        fs::create_dir(root.join(".git")).unwrap();
        for from in [of_package, SearchRoot::ProjectOfFile] {
            assert_eq!(found(&from), ["repo/AGENTS.md", "repo/pkg/AGENTS.md"], "{from:?}");
        }
        assert_eq!(find_in_project(&root.join("pkg"), "docs/build.md"), Some(root.join("docs/build.md")));
        assert_eq!(find_in_project(&root.join("pkg"), "../../AGENTS.md"), None, "out of the project");
        assert_eq!(find_in_project(&root.join("pkg"), "AGENTS.md"), Some(root.join("pkg/AGENTS.md")));
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
