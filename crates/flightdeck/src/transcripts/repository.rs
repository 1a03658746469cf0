//! Finds the repository of a folder and reads its files without running `git`. A few small reads, each with a bound.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use flightdeck_core::limits::NAME_CHARS_MAX;
use flightdeck_core::text::one_line;
use flightdeck_core::usage::session_files::{LinkedWorktree, Repository};

/// HEAD, `.git` and `commondir` hold one line, at most a path.
const FILE_BYTES_MAX: u64 = 8 * 1024;
/// Most parent folders that are checked.
const DEPTH_MAX: usize = 64;
/// Hex digits shown for a detached commit.
const COMMIT_CHARS: usize = 7;

/// The repository, and the folder that holds its `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRepository {
    pub repository: Repository,
    pub git_dir: PathBuf,
}

/// The nearest repository at or above a folder. `None` if there is none, or it cannot be read.
pub fn find_repository(folder: &Path) -> Option<FoundRepository> {
    if !folder.is_absolute() {
        return None;
    }
    folder.ancestors().take(DEPTH_MAX).find_map(repository_at)
}

fn repository_at(top: &Path) -> Option<FoundRepository> {
    let dot_git = top.join(".git");
    let git_dir = match fs::metadata(&dot_git).ok()? {
        about if about.is_dir() => dot_git,
        _ => resolve(top, small_file(&dot_git)?.strip_prefix("gitdir:")?),
    };
    // A folder without HEAD is not a repository; git continues upwards too.
    let head = small_file(&git_dir.join("HEAD"))?;
    let worktree = linked_worktree(top, &git_dir);
    Some(FoundRepository { repository: Repository { branch: branch(&head), worktree }, git_dir })
}

fn branch(head: &str) -> Option<String> {
    let head = head.trim();
    let name = match head.strip_prefix("ref:").map(str::trim) {
        // The reftable format leaves this for older readers.
        Some("refs/heads/.invalid") => return None,
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
        None if head.len() >= 40 && head.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("detached at {}", &head[..COMMIT_CHARS])
        }
        None => return None,
    };
    Some(one_line(&name, NAME_CHARS_MAX)).filter(|name| !name.is_empty())
}

/// Only the git folder of a linked worktree has a file `commondir`.
fn linked_worktree(top: &Path, git_dir: &Path) -> Option<LinkedWorktree> {
    let common = resolve(git_dir, &small_file(&git_dir.join("commondir"))?);
    let main = if common.file_name()? == ".git" { common.parent()? } else { &common };
    Some(LinkedWorktree {
        name: one_line(git_dir.file_name()?.to_str()?, NAME_CHARS_MAX),
        top: top.to_str()?.to_owned(),
        main: main.to_str()?.to_owned(),
    })
}

/// A path as git writes it, relative to `base`. `..` is resolved without the file system: git itself made these folders.
fn resolve(base: &Path, text: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in base.join(text.trim()).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The text of a regular file within the bound. Never blocks on a pipe.
pub fn small_file(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok().filter(|about| about.is_file())?;
    if about.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_file(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn branch_at(folder: &Path) -> Option<String> {
        find_repository(folder)?.repository.branch
    }

    #[test]
    fn the_branch_in_head_is_found_from_any_folder_below() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("api");
        let below = top.join("src/deep");
        fs::create_dir_all(&below).unwrap();
        write_file(top.join(".git/HEAD"), "ref: refs/heads/fix/the-parser\n");
        assert_eq!(branch_at(&below).as_deref(), Some("fix/the-parser"));
        write_file(top.join(".git/HEAD"), "6c3f1de0b7f5b0c7a9a1c2d3e4f5061728394a5b\n");
        assert_eq!(branch_at(&top).as_deref(), Some("detached at 6c3f1de"));
        write_file(top.join(".git/HEAD"), "ref: refs/heads/.invalid\n");
        assert_eq!(branch_at(&top), None);
    }

    #[test]
    fn a_linked_worktree_names_the_repository_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        let (main, tree) = (dir.path().join("api"), dir.path().join("trees/fix"));
        let admin = main.join(".git/worktrees/fix");
        write_file(main.join(".git/HEAD"), "ref: refs/heads/main\n");
        write_file(admin.join("HEAD"), "ref: refs/heads/fix-1\n");
        write_file(admin.join("commondir"), "../..\n");
        write_file(tree.join(".git"), &format!("gitdir: {}\n", admin.display()));
        let found = find_repository(&tree.join("src")).unwrap();
        let worktree = found.repository.worktree.unwrap();
        assert_eq!(found.repository.branch.as_deref(), Some("fix-1"));
        assert_eq!((worktree.name.as_str(), Path::new(&worktree.main)), ("fix", main.as_path()));
        assert_eq!((Path::new(&worktree.top), found.git_dir), (tree.as_path(), admin));
        assert_eq!(find_repository(&main).unwrap().repository.worktree, None);
    }

    #[test]
    fn a_submodule_is_a_repository_and_not_a_worktree() {
        let dir = tempfile::tempdir().unwrap();
        write_file(dir.path().join("api/.git/modules/lib/HEAD"), "ref: refs/heads/lib-main\n");
        write_file(dir.path().join("api/lib/.git"), "gitdir: ../.git/modules/lib\n");
        let found = find_repository(&dir.path().join("api/lib")).unwrap().repository;
        assert_eq!((found.branch.as_deref(), found.worktree), (Some("lib-main"), None));
    }

    #[test]
    fn folders_that_are_not_a_repository_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("api");
        write_file(top.join(".git/HEAD"), "ref: refs/heads/main\n");
        fs::create_dir_all(top.join("a/.git")).unwrap();
        write_file(top.join("b/.git"), &"x".repeat(100_000));
        write_file(top.join("c/.git"), "gitdir: /nowhere\n");
        for folder in ["a", "b", "c", "gone/away"] {
            assert_eq!(branch_at(&top.join(folder)).as_deref(), Some("main"), "{folder}");
        }
        assert_eq!(find_repository(Path::new("relative")), None);
        assert_eq!(find_repository(dir.path()).and_then(|f| f.repository.branch).as_deref(), None);
    }
}
