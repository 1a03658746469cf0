//! What efforts read and write in the directories of projects. The daemon uses the disk, on threads that may block. A simulation uses
//! memory, so that each seed plays the same way every time.

use std::fmt::Debug;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use flightdeck_core::effort::SkillSettings;
use flightdeck_core::limits::INJECTION_CHARS_MAX;

use crate::config::efforts::EffortSettings;
use crate::skills::directives::SearchRoot;
use crate::skills::{self, directives};

/// A lookup that is under way. Dropping it does not wait for the disk.
pub type Lookup<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The `.gitignore` of the artifacts folder: artifacts are for the agents of this machine. A person who wants them in git deletes it.
const IGNORE_ALL: &str = "*\n";

/// The directories of projects, as efforts use them.
pub trait ProjectFiles: Debug + Send + Sync {
    /// The real path of a directory. `None` if there is no such directory.
    fn real_dir(&self, dir: String) -> Lookup<Option<String>>;
    /// The settings of a skill for its efforts, from the project of `dir` or else from `user`, the client's configuration folder.
    fn skill_settings(
        &self,
        dir: PathBuf,
        user: Option<PathBuf>,
        skill: String,
    ) -> Lookup<Result<SkillSettings, String>>;
    /// Files with these names in the folders from `files` up to `root`, the outermost first.
    fn directives(&self, files: Vec<PathBuf>, root: SearchRoot, names: Vec<String>) -> Lookup<Vec<PathBuf>>;
    /// The real paths of files that are named relative to `dir`, or to a folder above it up to the root of its project. `None` for a file
    /// that does not exist, or that a link places outside the project.
    fn files_of_project(&self, dir: PathBuf, names: Vec<String>) -> Lookup<Vec<Option<PathBuf>>>;
    /// The texts of small files whose real paths are below `root`. `None` for any other file, to which a link may lead: the agent reads that
    /// itself, and its client asks the person.
    fn read_texts(&self, root: SearchRoot, paths: Vec<PathBuf>) -> Lookup<Vec<Option<String>>>;
    /// Whether a slash command may open an effort in this directory.
    fn is_opted_in(&self, settings: EffortSettings, dir: PathBuf) -> Lookup<bool>;
    /// Makes the folder for the files of efforts. A slash command opens an effort only in a directory that has this folder.
    fn make_artifacts_folder(&self, folder: PathBuf) -> Lookup<io::Result<()>>;
    /// Writes a file of an effort into the folder of its artifacts.
    fn write_artifact(&self, folder: PathBuf, name: String, text: String) -> Lookup<io::Result<()>>;
}

/// The files as they are on the disk.
#[derive(Debug)]
pub struct FilesOnDisk;

/// Runs on a thread that may block. `None` if the work panicked.
fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Lookup<Option<T>> {
    let running = tokio::task::spawn_blocking(work);
    Box::pin(async move { running.await.ok() })
}

impl ProjectFiles for FilesOnDisk {
    fn real_dir(&self, dir: String) -> Lookup<Option<String>> {
        let found = on_disk(move || {
            let real = Path::new(&dir).canonicalize().ok().filter(|path| path.is_dir())?;
            real.into_os_string().into_string().ok()
        });
        Box::pin(async move { found.await.flatten() })
    }

    fn skill_settings(
        &self,
        dir: PathBuf,
        user: Option<PathBuf>,
        skill: String,
    ) -> Lookup<Result<SkillSettings, String>> {
        let read = on_disk(move || skills::settings::<SkillSettings>(&dir, user.as_deref(), &skill));
        Box::pin(async move {
            let settings = read.await.ok_or("the skill could not be read")?;
            Ok(settings.map_err(|error| error.to_string())?.unwrap_or_default())
        })
    }

    fn directives(&self, files: Vec<PathBuf>, root: SearchRoot, names: Vec<String>) -> Lookup<Vec<PathBuf>> {
        let found = on_disk(move || directives::discover(&files, &root, &names));
        Box::pin(async move { found.await.unwrap_or_default() })
    }

    fn files_of_project(&self, dir: PathBuf, names: Vec<String>) -> Lookup<Vec<Option<PathBuf>>> {
        let found =
            on_disk(move || names.iter().map(|name| directives::find_in_project(&dir, name)).collect());
        Box::pin(async move { found.await.unwrap_or_default() })
    }

    fn read_texts(&self, root: SearchRoot, paths: Vec<PathBuf>) -> Lookup<Vec<Option<String>>> {
        let read =
            on_disk(move || paths.iter().map(|path| small_text(&root.folder_for(path)?, path)).collect());
        Box::pin(async move { read.await.unwrap_or_default() })
    }

    fn is_opted_in(&self, settings: EffortSettings, dir: PathBuf) -> Lookup<bool> {
        let looked = on_disk(move || settings.is_opted_in(&dir));
        Box::pin(async move { looked.await.unwrap_or(false) })
    }

    fn make_artifacts_folder(&self, folder: PathBuf) -> Lookup<io::Result<()>> {
        unless_it_panics(on_disk(move || make_folder(&folder)))
    }

    fn write_artifact(&self, folder: PathBuf, name: String, text: String) -> Lookup<io::Result<()>> {
        unless_it_panics(on_disk(move || write_file(&folder, &name, text.as_bytes())))
    }
}

fn unless_it_panics(written: Lookup<Option<io::Result<()>>>) -> Lookup<io::Result<()>> {
    Box::pin(async move { written.await.unwrap_or_else(|| Err(io::Error::other("the write broke off"))) })
}

/// A file below `root` that is small enough to be given whole.
fn small_text(root: &Path, path: &Path) -> Option<String> {
    let path = path.canonicalize().ok().filter(|real| real.starts_with(root))?;
    let about = path.metadata().ok()?;
    let small = about.is_file() && about.len() <= 4 * INJECTION_CHARS_MAX as u64;
    small.then(|| fs::read_to_string(path).ok()).flatten()
}

/// The folder belongs to the project, so a link in its place is not followed.
fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("it is not a folder")),
        Err(_) => {
            fs::create_dir(folder)?;
            fs::write(folder.join(".gitignore"), IGNORE_ALL)
        }
    }
}

fn write_file(folder: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    Ok(())
}
