//! The spool: a folder with one file for each event that could not be delivered, until the daemon stores it.
//!
//! A hook writes `<fired_ns>-<id>.json`. The daemon lists the files in order, reads them, commits, and only then removes them.
//! The number of files that the bounds have dropped is in the file `dropped`.

mod write;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

use crate::private_folder;
pub use write::write;

/// A spooled event older than this says nothing about the present.
pub const SPOOL_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Most bytes of the spool while the daemon is down; the oldest events are dropped and counted.
pub const SPOOL_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Most files of the spool, so that listing it stays fast.
pub const SPOOL_FILES_MAX: usize = 50_000;
/// A temporary file older than this was left by a hook that was killed.
pub const TEMP_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// Holds the number of files that the bounds have dropped. Its lock lets one process at a time enforce the bounds.
const DROPPED: &str = "dropped";

/// One spooled event. Everything but its size is in the file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    pub path: PathBuf,
    pub fired_ns: u64,
    pub id: u128,
    pub bytes: u64,
}

impl SpoolFile {
    /// Milliseconds since 1970.
    pub fn fired_ms(&self) -> u64 {
        millis(self.fired_ns)
    }
}

/// How many files the spool may have, how large they may be together, and how old each may be.
#[derive(Clone, Copy, Debug)]
pub struct SpoolBounds {
    pub files: usize,
    pub bytes: u64,
    pub age: Duration,
}

impl Default for SpoolBounds {
    fn default() -> Self {
        Self { files: SPOOL_FILES_MAX, bytes: SPOOL_BYTES_MAX, age: SPOOL_AGE_MAX }
    }
}

impl SpoolBounds {
    fn is_too_old(&self, fired_ns: u64, now_ms: u64) -> bool {
        u128::from(now_ms.saturating_sub(millis(fired_ns))) > self.age.as_millis()
    }

    /// How many of the oldest files are too many, too large or too old. `files` is sorted.
    pub fn surplus(&self, files: &[SpoolFile], now_ms: u64) -> usize {
        let mut kept = 0;
        let mut bytes: u64 = 0;
        for file in files.iter().rev() {
            bytes = bytes.saturating_add(file.bytes);
            if kept == self.files || bytes > self.bytes || self.is_too_old(file.fired_ns, now_ms) {
                break;
            }
            kept += 1;
        }
        files.len() - kept
    }
}

fn millis(ns: u64) -> u64 {
    ns / 1_000_000
}

/// `00001794768451273000000-…`: padded, so that names sort by the time they fired.
pub fn file_name(fired_ns: u64, id: u128) -> String {
    format!("{fired_ns:020}-{id:032x}.json")
}

fn parse_name(name: &str) -> Option<(u64, u128)> {
    let (fired, id) = name.strip_suffix(".json")?.split_once('-')?;
    let digits = fired.len() == 20 && fired.bytes().all(|b| b.is_ascii_digit());
    let hex = id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !(digits && hex) {
        return None;
    }
    Some((fired.parse().ok()?, u128::from_str_radix(id, 16).ok()?))
}

/// All events in the order they fired. Skips temporary files, other names, links and files of other users. A spool that does
/// not exist is empty; a spool of another user is an error.
pub fn list(dir: &Path) -> io::Result<Vec<SpoolFile>> {
    match private_folder::open(dir) {
        Ok(folder) => list_open(&folder, dir),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Like [`list`], for a folder that is already open.
pub fn list_open(folder: &OwnedFd, dir: &Path) -> io::Result<Vec<SpoolFile>> {
    let mut files = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let Some((name, (fired_ns, id))) =
            entry.file_name().to_str().ok().and_then(|n| Some((n, parse_name(n)?)))
        else {
            continue;
        };
        // The file may be gone by now: another process drained or dropped it.
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if private_folder::is_our_file(&stat) {
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            files.push(SpoolFile { path: dir.join(name), fired_ns, id, bytes });
        }
    }
    files.sort_unstable_by_key(|f| (f.fired_ns, f.id));
    Ok(files)
}

/// Deletes events; call it only after they are committed. Tries every file and returns the first error.
pub fn remove(files: &[SpoolFile]) -> io::Result<()> {
    let results = files.iter().map(|file| match std::fs::remove_file(&file.path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    });
    results.fold(Ok(()), io::Result::and)
}

/// Drops the oldest events over the bounds, counts them, and deletes temporary files of killed hooks. Returns how many events
/// it dropped. Does nothing while another process does the same.
pub fn enforce_bounds(dir: &Path, now_ms: u64, bounds: SpoolBounds) -> io::Result<u64> {
    let folder = private_folder::open(dir)?;
    let Some(counter) = lock(&folder)? else { return Ok(0) };
    clear_temps(&folder, now_ms)?;
    let files = list_open(&folder, dir)?;
    let surplus = bounds.surplus(&files, now_ms);
    remove(&files[..surplus])?;
    if surplus > 0 {
        add_to_count(&counter.0, surplus as u64)?;
    }
    Ok(surplus as u64)
}

/// Like [`enforce_bounds`], but only by the names of the files: the number and the age of events count, their bytes do not. A hook that
/// the client waits for has no time for a stat of each file.
pub fn enforce_count_and_age(dir: &Path, now_ms: u64, bounds: SpoolBounds) -> io::Result<u64> {
    let folder = private_folder::open(dir)?;
    let Some(counter) = lock(&folder)? else { return Ok(0) };
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&folder)? {
        names.extend(entry?.file_name().to_str().ok().and_then(parse_name));
    }
    let is_old = |(fired_ns, _): &(u64, u128)| bounds.is_too_old(*fired_ns, now_ms);
    let too_many = names.len().saturating_sub(bounds.files);
    if too_many == 0 && !names.iter().any(is_old) {
        return Ok(0);
    }
    names.sort_unstable();
    let surplus = too_many.max(names.partition_point(is_old));
    let remove_named = |name: &(u64, u128)| {
        rustix::fs::unlinkat(&folder, file_name(name.0, name.1), AtFlags::empty()).is_ok()
    };
    let dropped = names[..surplus].iter().filter(|name| remove_named(name)).count() as u64;
    add_to_count(&counter.0, dropped)?;
    Ok(dropped)
}

/// The locked counter file. Dropping it unlocks it at once. Closing the file would not be enough: a forked child that has not
/// yet run `exec` keeps it open.
struct LockedCounter(OwnedFd);

impl Drop for LockedCounter {
    fn drop(&mut self) {
        // If this fails, the lock ends with the process.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// `None` if another process has the lock.
fn lock(folder: &OwnedFd) -> io::Result<Option<LockedCounter>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let counter = rustix::fs::openat(folder, DROPPED, flags, Mode::RUSR | Mode::WUSR)?;
    let locked = rustix::fs::flock(&counter, FlockOperation::NonBlockingLockExclusive).is_ok();
    Ok(locked.then(|| LockedCounter(counter)))
}

/// How many events the bounds have dropped since the spool was created.
pub fn dropped_count(dir: &Path) -> u64 {
    std::fs::read(dir.join(DROPPED)).map_or(0, |text| parse_count(&text))
}

fn add_to_count(counter: &OwnedFd, more: u64) -> io::Result<()> {
    let mut text = [0; 24];
    let len = rustix::io::pread(counter, &mut text, 0)?;
    let total = parse_count(&text[..len]).saturating_add(more);
    rustix::io::pwrite(counter, format!("{total:020}\n").as_bytes(), 0)?;
    Ok(())
}

fn parse_count(text: &[u8]) -> u64 {
    std::str::from_utf8(text).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0)
}

fn clear_temps(folder: impl AsFd, now_ms: u64) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_temp = name.to_str().ok().and_then(|n| parse_name(n.strip_prefix('.')?)).is_some();
        if !is_temp {
            continue;
        }
        let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let written_ms = u64::try_from(stat.st_mtime).unwrap_or(0).saturating_mul(1000);
        if u128::from(now_ms.saturating_sub(written_ms)) > TEMP_AGE_MAX.as_millis() {
            // Another process may have deleted it first.
            let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
