//! Reads and replaces a settings file atomically. A reader sees the old or the new text, and a concurrent change is not lost.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, FlockOperation, access, flock};

use super::document::Document;
use super::error::SettingsError;

/// A settings file has a few KB; a thousand times that is a mistake.
pub(super) const SETTINGS_BYTES_MAX: u64 = 16 << 20;
/// The number of links that Linux follows.
const LINKS_MAX: usize = 40;
/// An install takes milliseconds; a process that keeps the lock longer is stuck.
const LOCK_WAIT_SECONDS_MAX: u64 = 5;

/// The text and metadata of the file when we read it.
#[derive(Debug)]
pub(super) struct FileContents {
    pub(super) text: String,
    meta: Metadata,
}

/// Follows links by hand, so that a link to a file that does not exist yet works too.
pub(super) fn real_path(path: &Path) -> Result<PathBuf, SettingsError> {
    let mut real = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::read_link(&real) else { return in_real_folder(path, real) };
        real = real.parent().unwrap_or(Path::new("/")).join(link);
    }
    Err(SettingsError::LinkLoop { path: path.to_owned(), max: LINKS_MAX })
}

/// The same name for the same file, through any links to its folder. Lock and receipt are keyed by it.
fn in_real_folder(path: &Path, real: PathBuf) -> Result<PathBuf, SettingsError> {
    let folder = real.parent().unwrap_or(Path::new("/"));
    match (folder.canonicalize(), real.file_name()) {
        (Ok(folder), Some(name)) => Ok(folder.join(name)),
        (Err(e), _) if e.kind() == io::ErrorKind::NotFound && real == path => Ok(real),
        (Err(e), _) if e.kind() == io::ErrorKind::NotFound => {
            Err(SettingsError::DanglingLink { path: path.to_owned(), target: real })
        }
        (Err(e), _) => Err(SettingsError::io("open", folder)(e)),
        (Ok(_), None) => Err(SettingsError::NotAFile { path: real, found: "a folder" }),
    }
}

/// `None` if there is no such file.
pub(super) fn read(real: &Path) -> Result<Option<FileContents>, SettingsError> {
    let meta = match fs::metadata(real) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(SettingsError::io("read", real)(e)),
    };
    // Opening a pipe would block for ever.
    if !meta.is_file() {
        let found = if meta.is_dir() { "a folder" } else { "a device, pipe or socket" };
        return Err(SettingsError::NotAFile { path: real.to_owned(), found });
    }
    let mut bytes = Vec::new();
    let file = File::open(real).map_err(SettingsError::io("read", real))?;
    file.take(SETTINGS_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(SettingsError::io("read", real))?;
    if bytes.len() as u64 > SETTINGS_BYTES_MAX {
        let (bytes, max) = (meta.len(), SETTINGS_BYTES_MAX);
        return Err(SettingsError::TooLarge { path: real.to_owned(), bytes, max });
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| SettingsError::NotUtf8 { path: real.to_owned(), byte: e.utf8_error().valid_up_to() })?;
    Ok(Some(FileContents { text, meta }))
}

/// Creates the folder if it is missing; true if it was created.
pub(super) fn make_folder(folder: &Path) -> Result<bool, SettingsError> {
    if folder.is_dir() {
        return Ok(false);
    }
    fs::create_dir_all(folder).map_err(SettingsError::io("create", folder))?;
    Ok(true)
}

/// Keeps the lock until dropped.
#[derive(Debug)]
pub(super) struct SettingsLock {
    _folder: File,
}

/// How often a lock that another process holds is tried again: an edit takes a few milliseconds.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Locks the folder itself, so no lock file is left behind and all Flightdeck homes use the same lock.
pub(super) fn lock(folder: &Path) -> Result<SettingsLock, SettingsError> {
    let file = File::open(folder).map_err(SettingsError::io("open", folder))?;
    let deadline = Instant::now() + Duration::from_secs(LOCK_WAIT_SECONDS_MAX);
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(POLL_EVERY);
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(SettingsError::Locked {
                    path: folder.to_owned(),
                    seconds: LOCK_WAIT_SECONDS_MAX,
                });
            }
            // Some network file systems cannot lock folders; the check before the rename still protects the file.
            Ok(()) | Err(_) => return Ok(SettingsLock { _folder: file }),
        }
    }
}

/// Refuses a read-only file or folder, because a rename would ignore the mode.
pub(super) fn check_writable(real: &Path, found: Option<&FileContents>) -> Result<(), SettingsError> {
    let folder = folder_of(real);
    let mode = fs::metadata(folder).map_err(SettingsError::io("open", folder))?.mode();
    for (path, mode) in [(folder, Some(mode)), (real, found.map(|found| found.meta.mode()))] {
        // Root can write anywhere, so the write bits are checked as well.
        let Some(mode) = mode else { continue };
        if mode & 0o222 == 0 || access(path, Access::WRITE_OK).is_err() {
            return Err(SettingsError::ReadOnly { path: path.to_owned() });
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum SwapOutcome {
    Done,
    /// Another program wrote to the file after we read it; its text stays.
    Overtaken,
}

/// Replaces the file with `after`; `None` removes it. `before_rename` is for tests.
pub(super) fn replace(
    real: &Path,
    found: Option<&FileContents>,
    after: Option<&str>,
    before_rename: &dyn Fn(),
) -> Result<SwapOutcome, SettingsError> {
    remove_strays(real);
    let Some(after) = after else { return remove(real, found, before_rename) };
    let temp = temp_path(real);
    let swapped = write_temp(&temp, real, found, after).and_then(|()| {
        before_rename();
        if !unchanged(real, found)? {
            return Ok(SwapOutcome::Overtaken);
        }
        fs::rename(&temp, real).map_err(SettingsError::io("replace", real))?;
        Ok(SwapOutcome::Done)
    });
    if !matches!(swapped, Ok(SwapOutcome::Done)) {
        // If this fails, the next install removes it.
        let _ = fs::remove_file(&temp);
    }
    sync_folder(real);
    swapped
}

fn remove(
    real: &Path,
    found: Option<&FileContents>,
    before_rename: &dyn Fn(),
) -> Result<SwapOutcome, SettingsError> {
    before_rename();
    if !unchanged(real, found)? {
        return Ok(SwapOutcome::Overtaken);
    }
    fs::remove_file(real).map_err(SettingsError::io("remove", real))?;
    sync_folder(real);
    Ok(SwapOutcome::Done)
}

fn write_temp(
    temp: &Path,
    real: &Path,
    found: Option<&FileContents>,
    text: &str,
) -> Result<(), SettingsError> {
    let failed = |e| SettingsError::io("write", temp)(e);
    // Private at first: the text may contain keys that the old file's mode protects.
    let mode = if found.is_some() { 0o600 } else { 0o666 };
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(temp).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    if let Some(found) = found {
        keep_owner(&file, real, &found.meta)?;
        let mode = fs::Permissions::from_mode(found.meta.mode() & 0o7777);
        file.set_permissions(mode).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    // Claude Code ignores a file that does not parse, so the written text is read back and checked.
    let back = fs::read_to_string(temp).map_err(failed)?;
    if back != text {
        let why = "the disk returned another text".to_owned();
        return Err(SettingsError::SelfCheck { path: real.to_owned(), why });
    }
    let check = Document::read(&back, temp);
    check.map(|_| ()).map_err(|e| SettingsError::SelfCheck { path: real.to_owned(), why: e.to_string() })
}

fn keep_owner(file: &File, real: &Path, old: &Metadata) -> Result<(), SettingsError> {
    let new = file.metadata().map_err(SettingsError::io("read", real))?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))
        .map_err(|_| SettingsError::OtherOwner { path: real.to_owned() })
}

fn unchanged(real: &Path, found: Option<&FileContents>) -> Result<bool, SettingsError> {
    let now = match read(real) {
        // Another program is writing just now; the next try reads the whole text.
        Err(SettingsError::NotUtf8 { .. }) => return Ok(false),
        now => now?,
    };
    Ok(match (now, found) {
        (None, None) => true,
        (Some(now), Some(found)) => {
            now.text == found.text
                && now.meta.mtime() == found.meta.mtime()
                && now.meta.ino() == found.meta.ino()
        }
        _ => false,
    })
}

fn folder_of(real: &Path) -> &Path {
    real.parent().unwrap_or(Path::new("/"))
}

fn temp_prefix(real: &Path) -> String {
    format!(".{}.flightdeck-", real.file_name().unwrap_or_default().to_string_lossy())
}

fn temp_path(real: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    real.with_file_name(format!("{}{}-{now}.tmp", temp_prefix(real), std::process::id()))
}

/// Removes temporary files. No other process writes under the lock, so a crash left them.
fn remove_strays(real: &Path) {
    let prefix = temp_prefix(real);
    for entry in fs::read_dir(folder_of(real)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".tmp") {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn sync_folder(real: &Path) {
    // A failure is harmless: after a power failure the file has either the old or the new text.
    let _ = File::open(folder_of(real)).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const OLD: &str = "{\"a\": 1}";
    const NEW: &str = "{\"a\": 1, \"b\": 2}";

    fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("settings.json");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder_of(path)).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_crash_before_the_rename_leaves_the_old_text_and_a_temporary_file_that_the_next_edit_removes() {
        let (_dir, path) = folder_with(OLD);
        let found = read(&path).unwrap();
        // A panic skips the clean-up, as a crash would.
        let crash = || replace(&path, found.as_ref(), Some(NEW), &|| panic!("crash"));
        catch_unwind(AssertUnwindSafe(crash)).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), OLD);
        assert_eq!(names(&path).len(), 2, "{:?}", names(&path));
        assert_eq!(replace(&path, found.as_ref(), Some(NEW), &|| ()).unwrap(), SwapOutcome::Done);
        assert_eq!(fs::read_to_string(&path).unwrap(), NEW);
        assert_eq!(names(&path), ["settings.json"]);
    }

    #[test]
    fn a_change_between_read_and_rename_wins() {
        let (_dir, path) = folder_with(OLD);
        let overtaken = |after: Option<&str>, change: &dyn Fn()| {
            let found = read(&path).unwrap();
            assert_eq!(replace(&path, found.as_ref(), after, change).unwrap(), SwapOutcome::Overtaken);
            assert_eq!(names(&path).len(), usize::from(path.exists()));
        };
        overtaken(Some(NEW), &|| fs::write(&path, "{\"a\": 2}").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 2}");
        overtaken(None, &|| fs::write(&path, "{\"a\": 3}").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\": 3}");
        overtaken(Some(NEW), &|| fs::write(&path, b"\xff").unwrap());
        fs::write(&path, OLD).unwrap();
        overtaken(Some(NEW), &|| fs::remove_file(&path).unwrap());
    }

    #[test]
    fn a_file_created_by_another_program_meanwhile_is_not_overwritten() {
        let (_dir, path) = folder_with(OLD);
        fs::remove_file(&path).unwrap();
        let swap = replace(&path, None, Some(NEW), &|| fs::write(&path, OLD).unwrap()).unwrap();
        assert_eq!((swap, fs::read_to_string(&path).unwrap().as_str()), (SwapOutcome::Overtaken, OLD));
    }

    #[test]
    fn the_mode_of_the_file_is_kept() {
        let (_dir, path) = folder_with(OLD);
        for mode in [0o600, 0o640, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let found = read(&path).unwrap();
            assert_eq!(replace(&path, found.as_ref(), Some(OLD), &|| ()).unwrap(), SwapOutcome::Done);
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn a_text_that_does_not_parse_is_never_written() {
        let (_dir, path) = folder_with(OLD);
        let found = read(&path).unwrap();
        let refused = replace(&path, found.as_ref(), Some("{\"a\": 1,}"), &|| ()).unwrap_err();
        assert!(matches!(refused, SettingsError::SelfCheck { .. }), "{refused}");
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(&path).len()), (OLD, 1));
    }

    #[test]
    fn the_lock_lets_one_in_at_a_time() {
        let (dir, _) = folder_with(OLD);
        let inside = Cell::new(false);
        let first = lock(dir.path()).unwrap();
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| lock(dir.path()).map(|_| Instant::now()).unwrap());
            std::thread::sleep(Duration::from_millis(50));
            let released = Instant::now();
            inside.set(true);
            drop(first);
            assert!(waiting.join().unwrap() >= released);
        });
        assert!(inside.get());
    }

    #[test]
    fn links_are_followed_even_to_a_file_that_does_not_exist_yet() {
        use std::os::unix::fs::symlink;
        let (_dir, path) = folder_with(OLD);
        let (link, dangling) = (path.with_file_name("link"), path.with_file_name("dangling"));
        symlink("settings.json", &link).unwrap();
        symlink("link", path.with_file_name("link2")).unwrap();
        symlink("new.json", &dangling).unwrap();
        symlink("loop", path.with_file_name("loop")).unwrap();
        symlink("gone/x.json", path.with_file_name("lost")).unwrap();
        assert_eq!(real_path(&path.with_file_name("link2")).unwrap(), path);
        assert_eq!(real_path(&dangling).unwrap(), path.with_file_name("new.json"));
        let refused = |name: &str| real_path(&path.with_file_name(name)).unwrap_err();
        assert!(matches!(refused("loop"), SettingsError::LinkLoop { .. }));
        assert!(matches!(refused("lost"), SettingsError::DanglingLink { .. }));
    }
}
