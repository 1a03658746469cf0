//! Writes an event that could not be delivered to the spool.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::process::{Resource, getrlimit};

use super::{SpoolBounds, enforce_bounds, enforce_count_and_age, file_name};
use crate::private_folder;
use crate::stamp::Stamp;

/// On average, one spooled event in this many counts the files of the spool. Not every event can: listing a full spool takes some
/// milliseconds.
const BOUNDS_EVERY: u128 = 64;
/// On average, one event per this many spooled bytes also adds up the file sizes, which costs a stat for each file.
const BOUNDS_EVERY_BYTES: usize = 16 * 1024 * 1024;
/// An event of at least this size always adds up the file sizes, because a few such events fill the spool.
const BOUNDS_ALWAYS_FROM_BYTES: usize = 1024 * 1024;

/// Writes the event under a temporary name and then renames it, so the file is complete or absent. The file is not synced:
/// it has to survive the end of this process, but not a power failure, which ends the session too.
pub fn write(dir: &Path, stamp: &Stamp, frame: &[u8]) -> io::Result<()> {
    let folder = private_folder::open_or_create(dir)?;
    fits_file_limit(frame)?;
    let name = file_name(stamp.fired_ns, stamp.id);
    let temp = format!(".{name}");
    let written = create(&folder, &temp).and_then(|file| {
        write_all(&file, frame)?;
        Ok(rustix::fs::renameat(&folder, &temp, &folder, &name)?)
    });
    if written.is_err() {
        // The temporary file may not have been created.
        let _ = rustix::fs::unlinkat(&folder, &temp, AtFlags::empty());
    }
    match bounds_check(stamp.id, frame.len()) {
        BoundsCheck::Sizes => enforce_bounds(dir, stamp.fired_ms(), SpoolBounds::default())?,
        BoundsCheck::Names => enforce_count_and_age(dir, stamp.fired_ms(), SpoolBounds::default())?,
        BoundsCheck::Skip => 0,
    };
    written
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundsCheck {
    /// Enforce the bounds of bytes, count and age.
    Sizes,
    /// Enforce the bounds of count and age, for which the file names are enough.
    Names,
    Skip,
}

/// Whether this event checks the bounds of the spool. Its id serves as the random number.
fn bounds_check(id: u128, bytes: usize) -> BoundsCheck {
    let events_per_check = (BOUNDS_EVERY_BYTES / bytes.max(1)) as u128;
    if bytes >= BOUNDS_ALWAYS_FROM_BYTES || id.is_multiple_of(events_per_check) {
        BoundsCheck::Sizes
    } else if id.is_multiple_of(BOUNDS_EVERY) {
        BoundsCheck::Names
    } else {
        BoundsCheck::Skip
    }
}

/// A process that exceeds its file size limit (`ulimit -f`) is killed, so the limit is checked first.
fn fits_file_limit(frame: &[u8]) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < frame.len() as u64 => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}

fn create(folder: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?)
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, bytes))?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rarely_added_up_unless_few_events_would_fill_the_spool() {
        let checks = |bytes: usize, wanted: BoundsCheck| {
            (1..=100_000).filter(|id| bounds_check(*id, bytes) == wanted).count()
        };
        assert_eq!((checks(2048, BoundsCheck::Sizes), checks(2048, BoundsCheck::Names)), (12, 1550));
        assert_eq!(checks(512 * 1024, BoundsCheck::Sizes), 100_000 / 32);
        assert_eq!(checks(BOUNDS_ALWAYS_FROM_BYTES, BoundsCheck::Sizes), 100_000);
        assert_eq!(checks(usize::MAX, BoundsCheck::Sizes), 100_000);
    }
}
