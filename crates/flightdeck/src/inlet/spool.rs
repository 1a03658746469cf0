//! The spool: events that no daemon took, one file each, until one does.
//!
//! A hook writes `<fired_ns>-<id>.json` (see `shim::spill`); the daemon lists them in order, reads, commits, and only
//! then removes. Files that will never parse go to `rejected/`. What the bounds drop is counted in the file `dropped`.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use flightdeck_core::limits::{SPOOL_AGE_MAX, SPOOL_BYTES_MAX, SPOOL_FILES_MAX};
use flightdeck_core::record::EventId;
use flightdeck_core::time::{Millis, Timestamp};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use super::frame::{FRAME_BYTES_MAX, Frame, FrameError};
use crate::private_folder;

/// Where set-aside files lie, inside the spool.
pub const REJECTED: &str = "rejected";
/// Holds how many files the bounds have dropped so far; its lock lets one process at a time enforce them.
const DROPPED: &str = "dropped";
/// Enough refused files to see what went wrong; the rest would only repeat it.
pub const REJECTED_FILES_MAX: usize = 100;
/// Most bytes of refused files.
pub const REJECTED_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// A temporary file older than this was left by a hook that was killed.
const TEMP_AGE_MAX: Millis = Millis::hours(1);

/// One spooled event, known by its name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    pub path: PathBuf,
    pub fired_ns: u64,
    pub id: EventId,
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The disk's fault: worth another try.
    #[error("cannot read {path}")]
    Io { path: PathBuf, source: io::Error },
    /// The file's fault: [`set_aside`] it.
    #[error("{path} holds no event")]
    Poison { path: PathBuf, source: FrameError },
    #[error("{path} is larger than any event")]
    TooLarge { path: PathBuf },
    #[error("{path} holds the command {cmd}, not an event")]
    NotAHook { path: PathBuf, cmd: String },
}

impl ReadError {
    pub fn is_poison(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpoolStats {
    pub files: usize,
    pub bytes: u64,
    pub oldest: Option<Timestamp>,
    /// Dropped by the bounds since the spool was made.
    pub dropped: u64,
    pub rejected: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub files: usize,
    pub bytes: u64,
    pub age: Millis,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { files: SPOOL_FILES_MAX, bytes: SPOOL_BYTES_MAX, age: SPOOL_AGE_MAX }
    }
}

/// `00001794768451273000000-…`: padded, so that names sort by the time they fired.
pub fn file_name(fired_ns: u64, id: EventId) -> String {
    format!("{fired_ns:020}-{id}.json")
}

fn parse_name(name: &str) -> Option<(u64, EventId)> {
    let (fired, id) = name.strip_suffix(".json")?.split_once('-')?;
    let digits = fired.len() == 20 && fired.bytes().all(|b| b.is_ascii_digit());
    let hex = id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !(digits && hex) {
        return None;
    }
    Some((fired.parse().ok()?, EventId::parse(id)?))
}

/// All events in the order they fired. Temporary files, foreign names, links and other users' files are passed over;
/// a spool that does not exist is empty; one that is not ours is an error.
pub fn list(dir: &Path) -> io::Result<Vec<SpoolFile>> {
    match private_folder::open(dir) {
        Ok(folder) => list_open(&folder, dir),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

fn list_open(folder: &OwnedFd, dir: &Path) -> io::Result<Vec<SpoolFile>> {
    let mut files = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let Some((name, (fired_ns, id))) =
            entry.file_name().to_str().ok().and_then(|n| Some((n, parse_name(n)?)))
        else {
            continue;
        };
        // Gone since it was listed: another process drained or dropped it.
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if private_folder::is_our_file(&stat) {
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            files.push(SpoolFile { path: dir.join(name), fired_ns, id, bytes });
        }
    }
    files.sort_unstable_by_key(|f| (f.fired_ns, f.id));
    Ok(files)
}

/// The event in a file. It stays where it is until [`remove`].
pub fn read(file: &SpoolFile) -> Result<Frame, ReadError> {
    let path = || file.path.clone();
    let bytes = read_bounded(&file.path).map_err(|source| ReadError::Io { path: path(), source })?;
    let bytes = bytes.ok_or_else(|| ReadError::TooLarge { path: path() })?;
    let frame = Frame::parse(&bytes).map_err(|source| ReadError::Poison { path: path(), source })?;
    if frame.cmd == "hook" { Ok(frame) } else { Err(ReadError::NotAHook { path: path(), cmd: frame.cmd }) }
}

fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    if !private_folder::is_our_file(&rustix::fs::fstat(&file)?) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    let most = FRAME_BYTES_MAX as u64 + 1;
    std::fs::File::from(file).take(most).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= FRAME_BYTES_MAX).then_some(bytes))
}

/// Takes events out of the spool: call it only once they are committed. Tries every file and reports the first failure.
pub fn remove(files: &[SpoolFile]) -> io::Result<()> {
    let results = files.iter().map(|file| match std::fs::remove_file(&file.path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    });
    results.fold(Ok(()), io::Result::and)
}

/// Moves a file that will never parse out of the way, where a person can look at it.
pub fn set_aside(file: &SpoolFile) -> io::Result<()> {
    let (Some(dir), Some(name)) = (file.path.parent(), file.path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let rejected = dir.join(REJECTED);
    private_folder::refuse_link(&rejected)?;
    let folder = private_folder::open_or_create(&rejected)?;
    rustix::fs::renameat(rustix::fs::CWD, &file.path, &folder, name)?;
    let bounds = Bounds { files: REJECTED_FILES_MAX, bytes: REJECTED_BYTES_MAX, age: Millis(i64::MAX) };
    let files = list_open(&folder, &rejected)?;
    remove(&files[..surplus(&files, Timestamp::default(), bounds)])
}

pub fn stats(dir: &Path) -> io::Result<SpoolStats> {
    let files = list(dir)?;
    Ok(SpoolStats {
        files: files.len(),
        bytes: files.iter().map(|f| f.bytes).sum(),
        oldest: files.first().map(fired_at),
        dropped: std::fs::read(dir.join(DROPPED)).map_or(0, |text| parse_count(&text)),
        rejected: list(&dir.join(REJECTED))?.len(),
    })
}

/// Drops the oldest events over the bounds, counts them, and clears what killed hooks left. Returns how many it dropped.
/// If another process is at it, that one's work is enough.
pub fn enforce_bounds(dir: &Path, now: Timestamp, bounds: Bounds) -> io::Result<u64> {
    let folder = private_folder::open(dir)?;
    let Some(counter) = lock(&folder)? else { return Ok(0) };
    clear_temps(&folder, now)?;
    let files = list_open(&folder, dir)?;
    let surplus = surplus(&files, now, bounds);
    remove(&files[..surplus])?;
    if surplus > 0 {
        count(&counter.0, surplus as u64)?;
    }
    Ok(surplus as u64)
}

/// The same without a stat for each file, for a hook that somebody waits for: drops what is too many or too old by the
/// names alone. How large they are together is not looked at.
pub fn enforce_count_and_age(dir: &Path, now: Timestamp, bounds: Bounds) -> io::Result<u64> {
    let folder = private_folder::open(dir)?;
    let Some(counter) = lock(&folder)? else { return Ok(0) };
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&folder)? {
        names.extend(entry?.file_name().to_str().ok().and_then(parse_name));
    }
    let is_old = |(fired_ns, _): &(u64, EventId)| now - moment(*fired_ns) > bounds.age;
    let too_many = names.len().saturating_sub(bounds.files);
    if too_many == 0 && !names.iter().any(is_old) {
        return Ok(0);
    }
    names.sort_unstable();
    let surplus = too_many.max(names.partition_point(is_old));
    let gone = |name: &(u64, EventId)| {
        rustix::fs::unlinkat(&folder, file_name(name.0, name.1), AtFlags::empty()).is_ok()
    };
    let dropped = names[..surplus].iter().filter(|name| gone(name)).count() as u64;
    count(&counter.0, dropped)?;
    Ok(dropped)
}

/// The counter, ours until it is dropped. Not left to closing the file: a child that was forked and has not yet become
/// another program would hold it for that long.
struct Held(OwnedFd);

impl Drop for Held {
    fn drop(&mut self) {
        // It goes with the process at the latest.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// `None` if another process has it.
fn lock(folder: &OwnedFd) -> io::Result<Option<Held>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let counter = rustix::fs::openat(folder, DROPPED, flags, Mode::RUSR | Mode::WUSR)?;
    let held = rustix::fs::flock(&counter, FlockOperation::NonBlockingLockExclusive).is_ok();
    Ok(held.then(|| Held(counter)))
}

/// How many of the oldest files are too many, too large or too old.
fn surplus(files: &[SpoolFile], now: Timestamp, bounds: Bounds) -> usize {
    let mut kept = 0;
    let mut bytes: u64 = 0;
    for file in files.iter().rev() {
        bytes = bytes.saturating_add(file.bytes);
        if kept == bounds.files || bytes > bounds.bytes || now - fired_at(file) > bounds.age {
            break;
        }
        kept += 1;
    }
    files.len() - kept
}

fn fired_at(file: &SpoolFile) -> Timestamp {
    moment(file.fired_ns)
}

fn moment(fired_ns: u64) -> Timestamp {
    Timestamp::from_millis(i64::try_from(fired_ns / 1_000_000).unwrap_or(i64::MAX))
}

fn count(counter: &OwnedFd, more: u64) -> io::Result<()> {
    let mut text = [0; 24];
    let len = rustix::io::pread(counter, &mut text, 0)?;
    let total = parse_count(&text[..len]).saturating_add(more);
    rustix::io::pwrite(counter, format!("{total:020}\n").as_bytes(), 0)?;
    Ok(())
}

fn parse_count(text: &[u8]) -> u64 {
    std::str::from_utf8(text).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0)
}

fn clear_temps(folder: impl AsFd, now: Timestamp) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_temp = name.to_str().ok().and_then(|n| parse_name(n.strip_prefix('.')?)).is_some();
        if !is_temp {
            continue;
        }
        let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let written = Timestamp::from_millis(stat.st_mtime.saturating_mul(1000));
        if now - written > TEMP_AGE_MAX {
            // Another process may have cleared it first.
            let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
