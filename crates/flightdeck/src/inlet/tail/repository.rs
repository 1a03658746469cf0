//! The repository around a folder, read from its own files: no `git` is run. A few small reads, each with a bound.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use flightdeck_core::limits::NAME_CHARS_MAX;
use flightdeck_core::surroundings::{LinkedWorktree, Repository};
use flightdeck_core::text::one_line;

/// HEAD, `.git` and `commondir` hold one line; a path is at most this long.
const FILE_BYTES_MAX: u64 = 8 * 1024;
/// Folders looked at on the way up.
const DEPTH_MAX: usize = 64;
/// Hex digits of a commit that is checked out by itself.
const COMMIT_CHARS: usize = 7;

/// What was found, and the folder whose `HEAD` says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub repository: Repository,
    pub git_dir: PathBuf,
}

/// The nearest repository at or above a folder. `None` if there is none, or it cannot be read.
pub fn find(folder: &Path) -> Option<Found> {
    if !folder.is_absolute() {
        return None;
    }
    folder.ancestors().take(DEPTH_MAX).find_map(at)
}

fn at(top: &Path) -> Option<Found> {
    let dot_git = top.join(".git");
    let git_dir = match fs::metadata(&dot_git).ok()? {
        about if about.is_dir() => dot_git,
        _ => resolve(top, small_file(&dot_git)?.strip_prefix("gitdir:")?),
    };
    // What has no HEAD is no repository; git looks further up too.
    let head = small_file(&git_dir.join("HEAD"))?;
    let worktree = linked_worktree(top, &git_dir);
    Some(Found { repository: Repository { branch: branch(&head), worktree }, git_dir })
}

fn branch(head: &str) -> Option<String> {
    let head = head.trim();
    let name = match head.strip_prefix("ref:").map(str::trim) {
        // A newer way to store references leaves this for older readers.
        Some("refs/heads/.invalid") => return None,
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
        None if head.len() >= 40 && head.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("detached at {}", &head[..COMMIT_CHARS])
        }
        None => return None,
    };
    Some(one_line(&name, NAME_CHARS_MAX)).filter(|name| !name.is_empty())
}

/// Only the folder of a linked worktree says where the common one is.
fn linked_worktree(top: &Path, git_dir: &Path) -> Option<LinkedWorktree> {
    let common = resolve(git_dir, &small_file(&git_dir.join("commondir"))?);
    let main = if common.file_name()? == ".git" { common.parent()? } else { &common };
    Some(LinkedWorktree {
        name: one_line(git_dir.file_name()?.to_str()?, NAME_CHARS_MAX),
        top: top.to_str()?.to_owned(),
        main: main.to_str()?.to_owned(),
    })
}

/// A path as git writes it, relative to where it stands. `..` is taken out by name: it names folders git made itself.
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

/// The text of a plain file, if it is as short as it should be. Never waits at a pipe.
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

    fn put(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn branch_at(folder: &Path) -> Option<String> {
        find(folder)?.repository.branch
    }

    #[test]
    fn the_branch_is_what_head_says_from_any_folder_below() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("api");
        let below = top.join("src/deep");
        fs::create_dir_all(&below).unwrap();
        put(top.join(".git/HEAD"), "ref: refs/heads/fix/the-parser\n");
        assert_eq!(branch_at(&below).as_deref(), Some("fix/the-parser"));
        put(top.join(".git/HEAD"), "6c3f1de0b7f5b0c7a9a1c2d3e4f5061728394a5b\n");
        assert_eq!(branch_at(&top).as_deref(), Some("detached at 6c3f1de"));
        put(top.join(".git/HEAD"), "ref: refs/heads/.invalid\n");
        assert_eq!(branch_at(&top), None);
    }

    #[test]
    fn a_linked_worktree_names_the_repository_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        let (main, tree) = (dir.path().join("api"), dir.path().join("trees/fix"));
        let admin = main.join(".git/worktrees/fix");
        put(main.join(".git/HEAD"), "ref: refs/heads/main\n");
        put(admin.join("HEAD"), "ref: refs/heads/fix-1\n");
        put(admin.join("commondir"), "../..\n");
        put(tree.join(".git"), &format!("gitdir: {}\n", admin.display()));
        let found = find(&tree.join("src")).unwrap();
        let worktree = found.repository.worktree.unwrap();
        assert_eq!(found.repository.branch.as_deref(), Some("fix-1"));
        assert_eq!((worktree.name.as_str(), Path::new(&worktree.main)), ("fix", main.as_path()));
        assert_eq!((Path::new(&worktree.top), found.git_dir), (tree.as_path(), admin));
        assert_eq!(find(&main).unwrap().repository.worktree, None);
    }

    #[test]
    fn a_submodule_is_a_repository_of_its_own_and_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path().join("api/.git/modules/lib/HEAD"), "ref: refs/heads/lib-main\n");
        put(dir.path().join("api/lib/.git"), "gitdir: ../.git/modules/lib\n");
        let found = find(&dir.path().join("api/lib")).unwrap().repository;
        assert_eq!((found.branch.as_deref(), found.worktree), (Some("lib-main"), None));
    }

    #[test]
    fn what_is_no_repository_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("api");
        put(top.join(".git/HEAD"), "ref: refs/heads/main\n");
        fs::create_dir_all(top.join("a/.git")).unwrap();
        put(top.join("b/.git"), &"x".repeat(100_000));
        put(top.join("c/.git"), "gitdir: /nowhere\n");
        for folder in ["a", "b", "c", "gone/away"] {
            assert_eq!(branch_at(&top.join(folder)).as_deref(), Some("main"), "{folder}");
        }
        assert_eq!(find(Path::new("relative")), None);
        assert_eq!(find(dir.path()).and_then(|f| f.repository.branch).as_deref(), None);
    }
}
